"""What certificates say is true: no evidence raises a bound; bounds, orders, and the exact mode."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, cast

import numpy as np
import pytest
import scipy.sparse as sp

import aucert.exact as ac
import naive
from aucert.exact import AllPairs, PairList, linear_problem
from aucert.exact.certificate.certificate import Minorant, evaluated_with
from aucert.exact.certificate.order import auc_range, certified_order, row_lengths
from aucert.exact.certificate.solution import Recorder, Solver
from aucert.exact.losses.registry import LOSSES
from aucert.exact.pairs.auc import auc
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Alpha, Evidence, Marginals, Mix, Scores, Weights
from aucert.exact.spaces.kernels import Gaussian
from aucert.exact.tools.rounding import Bound
from loops import each, refuses, seeds
from naive import exact
from own_parts import GradientDescent
from problems import some_pairs
from proofs import changed

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(20, 2)), np.arange(20) % 4 == 0
LISTED = PairList(np.array([0, 0, 4, 8, 16]), np.array([1, 1, 2, 3, 5]), np.arange(1.0, 6.0))
LAM, WEIGHT, POINT = 0.05, RNG.uniform(0.1, 5, 20), np.array([0.7, 0.3])


def hinge_problem(pairs: AllPairs | PairList | None = None) -> Problem:
    return linear_problem(X, Y, 0.1, "hinge", pairs)


def optimum(problem: Problem) -> float:
    """Return an upper bound of the optimum, tight to about 1e-12."""
    return ac.solve_problem(problem, tol=1e-12).certificate.primal


def forged_as(witness: Any, **lie: object) -> Minorant:
    return replace(witness, evidence=replace(witness.evidence, **lie))


def bound(problem: Problem, witness: Minorant) -> float:
    return ac.Certificate.of(problem, np.zeros(2), witness).dual


@each("pairs", [AllPairs(), LISTED], ids=["all", "listed"])
@each(
    "lie",
    [
        {"value": 10.0},
        {"deficiency": -1.0},
        {"c_error": -1.0, "value_error": -1.0},
        {"c": np.zeros(20)},
        {"c": np.where(Y, 1.0, -1.0)},
        {"c": np.full(20, np.nan)},
    ],
    ids=["value", "deficiency", "rounding", "no c", "large c", "nan c"],
)
def test_claims_beside_the_evidence_change_nothing(lie: dict, pairs: AllPairs | PairList) -> None:
    problem = hinge_problem(pairs)
    honest = Minorant.from_scores(problem, X @ np.array([1.0, -0.5]), 0.7)
    assert bound(problem, replace(honest, **lie)) == bound(problem, honest)


@each("factor", [1.5, 3.0, 100.0])
def test_marginals_past_the_caps_never_beat_the_optimum(factor: float) -> None:
    problem = hinge_problem()
    c = ac.solve(X, Y, 0.1, tol=1e-12).witness.c
    for forged in (Minorant(factor * c, 10.0), Minorant(np.where(Y, factor * c, c), 10.0)):
        assert bound(problem, forged) <= optimum(problem)


ONLY = "marginals prove a bound only for the hinge over all"
MADE = Minorant.from_scores(hinge_problem(), X @ np.array([1.0, -0.5]), 0.7).c
WIDTHS: list[Any] = [-1.0, np.nan, np.inf, 1e308, np.ones(2)]
REFUSED: list[tuple[Any, Any, Any]] = [
    (LISTED, Marginals(np.zeros(5), np.zeros(15)), ONLY),
    (LISTED, Minorant(np.zeros(20), 0.0), ONLY),
    ("squared_hinge", Minorant(np.zeros(20), 0.0), ONLY),
    ("square", Minorant(np.zeros(20), 0.0), ONLY),
    (None, Minorant(-MADE, 1.0), r"marginal u\[0\] is -"),
    (None, Minorant(changed(MADE, 1, 0.25), 1.0), r"marginal v\[0\] is -0.25"),
    (None, Minorant(changed(MADE, 4, np.nan), 1.0), r"u\[1\] is"),
    (None, Minorant(changed(MADE, 4, np.inf), 1.0), r"marginal u\[1\] is"),
    *((None, Minorant(np.zeros(shape), 0.0), "rows") for shape in ((3,), (19,), (21,), (20, 1))),
    *((None, Minorant(np.zeros(0), 0.0, evidence=Marginals(np.full(5, u), np.full(15, v))),
       "add up to one") for u, v in ((1e300, 1.0), (1.0, 1e300))),
    (None, Alpha(np.zeros(75)), "belongs to a pair list"),
    (LISTED, Alpha(np.zeros(4)), "5 pairs, but alpha"),
    (LISTED, Alpha(changed(np.zeros(5), 2, np.nan)), "pair 2 is nan"),
    (None, Mix(((1.0, Weights(np.zeros(2), 4, 1)),)), "cannot be mixed"),
    *((None, Mix(((share, Scores(X[:, 0])),)), "share >= 0") for share in (-0.1, np.nan)),
    (None, Mix(((0.5, Scores(X[:, 0])), (0.5000000000000001, Scores(X[:, 0])))), "more than one"),
    (None, Mix(((1.0, Scores(X[:, 0])), (2.0**-60, Scores(X[:, 0])))), "more than one"),
    (None, Mix(()), "needs parts"),
    *((loss, Scores(scores), "rows, but scores")
      for loss in LOSSES for scores in (np.zeros(21), np.ones(()))),
    *((loss, Scores(np.where(Y, wrong, 0.0)), "score")
      for loss in LOSSES for wrong in (np.nan, np.inf)),
    *((loss, Scores(X[:, 0], 0.0, scale), "scale")
      for loss in LOSSES for scale in (1 + 2.0**-52, np.nan, cast(float, np.ones(20)))),
    *((loss, Scores(X[:, 0], width), "width must be")
      for loss in ("hinge", "square") for width in WIDTHS),
]  # fmt: skip


@each(("of", "given", "said"), REFUSED)
def test_evidence_that_is_none_is_refused(of: Any, given: Any, said: str) -> None:
    """At a width of 1e308 sums overflowed, and a certificate called its own bound false."""
    problem = linear_problem(X, Y, 0.1, of) if isinstance(of, str) else hinge_problem(of)
    refuses(said, ac.Certificate.with_minorant, problem, np.zeros(2), given)


@each("loss", ["hinge", "squared_hinge", "square"])
@each("outside", [-3.0, 5.0, 1e6])
def test_alpha_outside_its_box_never_beats_the_optimum(outside: float, loss: str) -> None:
    # At a large lam the pull costs little, so that an alpha past its box would pay.
    problem = linear_problem(X, Y, 100.0, loss, LISTED)
    inside, made = (problem.risk.minorant(Alpha(np.full(5, size))) for size in (1.0, outside))
    assert bound(problem, made) <= optimum(problem)
    assert bound(problem, forged_as(inside, alpha=np.full(5, outside))) == bound(problem, made)


LIES = [*(("scale", x) for x in (1.02, -1.0, np.nan)), ("half", -5), ("bins", 0), ("bins", 3)]


@each("streamed", [False, True])
def test_forged_evidence_in_bins_is_refused(streamed: bool) -> None:
    problem = linear_problem(X, Y, 10.0).over(ac.StreamedRows(X) if streamed else ac.Rows(X))
    witness = problem.risk.minorant(Weights(np.array([0.1, 0.1]), 1 << 14, 1))
    for name, value in LIES:
        refuses(f"{name} must be", bound, problem, forged_as(witness, **{name: value}))


def test_a_binned_dual_point_proves_nothing_for_another_problem() -> None:
    witness = hinge_problem().risk.minorant(Weights(np.zeros(2), 1 << 10, 1))
    for problem in (hinge_problem(LISTED), linear_problem(X, Y, 0.1, "squared_hinge")):
        refuses("hinge over all pairs", bound, problem, witness)
    kernel = hinge_problem().over(ac.Gram(X @ X.T))
    with pytest.raises(ac.InputError, match="binned dual points are for rows"):
        ac.Certificate.of(kernel, np.zeros(20), forged_as(witness, w=np.zeros(20)))


@dataclass(frozen=True)
class Hostile(Solver):
    """Hands over one point and one evidence, and says that both are the best there are."""

    proof: Any
    tol: float = 1e-6

    def check(self, problem: Problem) -> None:
        """Take any problem."""

    def run(self, problem: Problem, recorder: Recorder) -> None:
        recorder.offer(POINT, -1e9, self.proof, 1e9)


def problem_of(loss: str) -> Problem:
    return linear_problem(X, Y, LAM, loss, AllPairs(WEIGHT))


SCORES = problem_of("hinge").space.scores(POINT)


@cache
def top_of(loss: str) -> Fraction:
    """An upper bound of the optimum: F at a strong point, exactly."""
    best = ac.solve_problem(problem_of(loss), tol=1e-9)
    return ac.ExactCertificate.of(problem_of(loss), best.w, best.witness).primal


TRUE: dict[str, Any] = {
    "its own scores": Scores(SCORES),
    "smoothed ones": Scores(SCORES, 0.5),
    "smoothed over far more than all": Scores(SCORES, 1e150),
    "others": Scores(RNG.normal(size=20) * 30, 0.0, 0.4),
    "signs": Scores(SCORES > 0),
    "in single precision": Scores(SCORES.astype(np.float32), 0.3),
    "a mixture": Mix(((0.3, Scores(SCORES)), (0.6, Scores(-SCORES)))),
    "a function that makes them": lambda: Scores(SCORES),
}


@each("loss", LOSSES)
@each("name", TRUE)
def test_evidence_proves_no_more_than_is_true(name: str, loss: str) -> None:
    found = Hostile(TRUE[name]).solve(problem_of(loss))
    held = found.certificate
    value = ac.ExactCertificate.of(problem_of(loss), POINT, found.witness).primal
    assert Fraction(held.dual) <= top_of(loss)
    assert abs(value - Fraction(held.primal)) <= Fraction(held.rounding)


def test_what_is_no_evidence_is_refused() -> None:
    for given in (object(), lambda: 3.0):
        refuses("no minorant of a", Hostile(given).solve, problem_of("hinge"))


def test_what_is_written_after_the_offer_is_what_is_judged() -> None:
    problem, handed = problem_of("hinge"), SCORES.copy()

    @dataclass(frozen=True)
    class Late(Hostile):
        def run(self, problem: Problem, recorder: Recorder) -> None:
            super().run(problem, recorder)
            handed[:] = 100.0 * np.where(Y, -1, 1)

    held = Late(Scores(handed)).solve(problem).certificate
    assert Fraction(held.dual) <= top_of("hinge")
    assert held.dual == Hostile(Scores(handed)).solve(problem).certificate.dual


PROBLEM = linear_problem(X, Y, 0.1, "square")


@each(
    ("primal", "dual", "reached", "missed", "relative"),
    [
        (Bound(1e-20, 1e-15), Bound(0.0, 0.0), 1.0, 1e-6, 1.0),  # lost in rounding
        (Bound(0.0, 0.0), Bound(0.0, 0.0), 0.0, -1.0, None),  # nothing: any share of it is reached
        (Bound(1.0, 1e-6), Bound(1.0 - 1e-12, 0.0), 1e-5, 1e-9, 1e-6),
        (Bound(1.0, 2e-9), Bound(1.0 - 1.8e-10, 0.0), 3e-9, 1e-9, 2.18e-9),
        (Bound(np.inf, 0.0), Bound(0.25, 0.0), np.nan, 1.0, None),  # a constraint is broken
    ],
)  # fmt: skip
def test_a_tolerance_is_reached_with_the_rounding_included(primal, dual, reached, missed, relative):
    found = ac.Certificate.from_bounds(primal, dual, 1.0)
    assert found.relative_gap == (relative and pytest.approx(relative, rel=1e-5))
    assert np.isnan(reached) or found.reaches(reached)
    assert missed < 0 or not found.reaches(missed)


@each(("primal", "dual", "rounding"), [(1.0, 1.5, 0.1), (np.nan, 0.0, 1.0), (1.0, 0.0, np.nan)])
def test_a_gap_below_its_rounding_is_an_error(primal: float, dual: float, rounding: float) -> None:
    with pytest.raises(ac.CertificateError, match="false"):
        ac.Certificate.from_bounds(Bound(primal, rounding), Bound(dual, 0.0), 1.0)


def test_the_radius_is_never_less_than_the_bounds_prove() -> None:
    """In fractions: lam/2 radius^2 >= primal - dual, and no number is inside the raw ones."""
    rng = np.random.default_rng(0)
    for _ in range(1000):
        primal = float(10.0 ** rng.uniform(-12, 3))
        dual = primal * float(1 - 10.0 ** rng.uniform(-16, 0))
        over, under, lam = (10.0 ** rng.uniform([-20, -20, -9], [-3, -3, 3])).tolist()
        found = ac.Certificate.from_bounds(Bound(primal, over), Bound(dual, under), lam)
        upper = Fraction(primal) + Fraction(over)
        lower = max(Fraction(dual) - Fraction(under), Fraction(0))
        assert Fraction(lam) / 2 * Fraction(found.radius) ** 2 >= upper - lower
        assert Fraction(found.primal) >= upper and Fraction(found.dual) <= lower
        assert Fraction(found.gap) >= Fraction(found.primal) - Fraction(found.dual)
        assert found.radius <= float(np.sqrt(2 * found.gap / lam)) * (1 + 1e-15)


class Moved(ac.Rows):
    """One pair whose margin seems to be 1 and is 1 - z, with scores that may be off by e."""

    z, e = 2.0**-66, 1e-9

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([1.0, self.z], dtype=np.longdouble), np.full(2, self.e)

    def norm2(self, w: np.ndarray) -> float:
        return 0.0


@each("loss", ["square", "squared_hinge"])
def test_errors_of_scores_act_on_the_loss_as_it_is_and_not_as_it_is_computed(loss: str) -> None:
    """The computed loss is 0, the true one (z + 2e)^2: 4 z e of that the loss at 0 cannot see."""
    space, pairs = Moved(np.array([[0.0], [1.0]])), PairList(np.array([0]), np.array([1]))
    problem = ac.pair_problem(space, np.array([True, False]), pairs, LOSSES[loss], ac.Ridge(1.0))
    witness = ac.Minorant.from_scores(problem, np.zeros(2))
    found, _ = evaluated_with(problem, np.zeros(1), witness)[0]
    true = (Fraction(Moved.z) + 2 * Fraction(Moved.e)) ** 2
    assert abs(Fraction(found.value) - true) <= Fraction(found.error)


def test_underflow_of_the_penalty_makes_no_bound() -> None:
    """w'w is zero in floating point, lam / 2 w'w is 1.1e-13 at lam = 1e308: that is refused."""
    Z, w, lam = np.zeros((2, 1000)), np.full(1000, 1.5e-162), 1e100
    Z[0] = 1.0
    problem = linear_problem(Z, [True, False], lam)
    found = ac.Certificate.of(problem, w, ac.Minorant.from_scores(problem, problem.space.scores(w)))
    value = 1 - sum(exact(w)) + Fraction(lam) / 2 * naive.norm2(exact(w))
    assert value <= Fraction(found.primal)
    for wrong in (1e308, 1e-323):
        refuses("lam", linear_problem, Z, [True, False], wrong)


@each(
    ("given", "status"),
    [
        ({}, ac.Status.CERTIFIED),
        ({"max_iter": 1}, ac.Status.STALLED),
        ({"word": ac.Status.STALLED}, ac.Status.CERTIFIED),  # a reason stands where the gap is open
        ({"max_iter": 1, "word": ac.Status.ITERATION_LIMIT}, ac.Status.ITERATION_LIMIT),
        ({"max_time": 1e-9}, ac.Status.TIME_LIMIT),
    ],
)
def test_the_certificate_decides_the_status(given: dict[str, Any], status: ac.Status) -> None:
    found = GradientDescent(**given).solve(PROBLEM)
    assert (found.status, found.method) == (status, "gradient descent")


def test_a_deadline_holds_for_the_parts_too() -> None:
    assert Recorder().time_left is None and Recorder().part().max_time is None
    assert not Recorder().near(1e-3) and not Recorder().near(np.inf)  # it has no point yet
    recorder = Recorder(10.0)
    time.sleep(0.01)
    assert 5 < (recorder.part().max_time or 0.0) <= 9.99
    assert Recorder(1e-9).time_left == 1e-3


DRAWN = np.random.default_rng(3)
UPPER = np.arange(40) % 4 == 0
ROWS = DRAWN.normal(size=(40, 3)) + 0.7 * UPPER[:, None] + 5.0
ALL = [(i, j) for i in np.flatnonzero(UPPER) for j in np.flatnonzero(~UPPER)]


@each("listed", [False, True])
@each("radius", [0.0, 0.02, 0.1, 0.5])
def test_the_count_is_that_of_each_pair(radius: float, listed: bool) -> None:
    """A pair that is listed twice counts twice."""
    chosen = [(0, 1), (0, 1), (4, 2), (8, 3), (8, 39)] if listed else ALL
    pairs = PairList(*np.array(chosen).T) if listed else AllPairs()
    w, lengths = np.array([0.4, -0.3, 0.5]), np.linalg.norm(ROWS - ROWS.mean(axis=0), axis=1)
    found = certified_order(linear_problem(ROWS, UPPER, 0.1, pairs=pairs), w, radius)
    i, j = np.array(chosen).T
    apart, doubt = ROWS[i] @ w - ROWS[j] @ w, radius * (lengths[i] + lengths[j])
    right, wrong = (apart > doubt).sum(), (-apart > doubt).sum()
    assert (found.n_sure_right, found.n_sure_wrong) == (right, wrong)
    assert found.n_certified == right + wrong <= found.n_pairs == len(chosen)
    refuses("radius", certified_order, linear_problem(ROWS, UPPER, 0.1), w, float("nan"))


def test_lengths_are_those_of_the_centred_rows_in_every_space() -> None:
    K, C = Gaussian(0.3)(ROWS, ROWS), np.eye(40) - 1 / 40
    thin = np.where(ROWS > 5.2, ROWS, 0.0)
    centred = np.sqrt(np.diag(C @ K @ C))
    of_rows = np.linalg.norm(thin - thin.mean(axis=0), axis=1)
    for space, true in (
        (ac.Gram(K), centred),
        (ac.Gram(K, check=False), centred),
        (ac.Gram.of_kernel(Gaussian(0.3), ROWS, held=False), centred),
        (ac.Rows(thin), of_rows),
        (ac.Rows(sp.csr_matrix(thin)), of_rows),
    ):
        assert (row_lengths(space) >= true * (1 - 1e-15)).all()
        np.testing.assert_allclose(row_lengths(space), true, rtol=1e-6)


@each("weight", [None, 1.0 + np.arange(40) % 3], ids=["plain", "weights"])
def test_the_range_of_the_auc_holds_every_scores_between(weight: np.ndarray | None) -> None:
    scores, doubt = DRAWN.normal(size=40), 0.4 * DRAWN.random(40)
    low, high = auc_range(scores - doubt, scores + doubt, UPPER, weight)
    some = scores + doubt * DRAWN.uniform(-1, 1, size=(200, 40))
    found = [auc(row, UPPER, weight) for row in some]
    assert low <= min(found) and max(found) <= high and high - low < 0.5
    assert set(auc_range(scores, scores, UPPER, weight)) == {auc(scores, UPPER, weight)}


def drawn(seed: int, listed: bool = False) -> tuple[np.ndarray, np.ndarray, float, Any]:
    """Rows with ties, an offset or of far scales, and pairs of every kind."""
    rng = np.random.default_rng([77, seed])
    n, d, kind = int(rng.integers(2, 12)), int(rng.integers(1, 4)), seed % 4
    positive = np.arange(n) < rng.integers(1, n)
    X = rng.normal(size=(n, d)) + 0.7 * positive[:, None]
    X = np.round(X) if kind == 1 else X
    X = X + 1e6 * (kind == 2)
    X = X * 10.0 ** rng.integers(-30, 30, size=d) if kind == 3 else X
    return X, positive, float(10.0 ** rng.uniform(-4, 2)), some_pairs(rng, positive, listed or None)


def exact_weights(pairs: AllPairs | PairList, positive: np.ndarray) -> list[naive.Pair]:
    """The pairs, their weights adding up to one exactly."""
    listed = naive.weighted_pairs(positive.tolist(), pairs)
    mass = sum(c for _, _, c in listed)
    return [(i, j, c / mass) for i, j, c in listed]


def best_scaled(X: Any, pairs: list[naive.Pair], loss: str, lam: float, alpha: Any) -> Fraction:
    """The dual value of the best multiple s alpha, s in [0, 1], or zero."""
    total = sum(c * a for (*_, c), a in zip(pairs, alpha, strict=True))
    curvature = total - naive.dual_value(exact(X), pairs, loss, Fraction(lam), alpha)
    if total <= 0:  # the value of s alpha is s total - s^2 curvature
        return Fraction(0)
    s = Fraction(1) if curvature <= 0 else min(Fraction(1), total / (2 * curvature))
    return max(s * total - s**2 * curvature, Fraction(0))


def proved(problem: ac.Problem, w: np.ndarray, evidence: Evidence) -> ac.ExactCertificate:
    return ac.ExactCertificate.of(problem, w, problem.risk.minorant(evidence))


@each("kind", ["scores", "alpha", "weights"])
@each("loss", LOSSES)
@each("seed", seeds(24))
def test_both_bounds_are_those_of_the_definitions(seed: int, loss: str, kind: str) -> None:
    loss = "hinge" if kind == "weights" else loss  # bins are for the hinge
    X, positive, lam, pairs = drawn(seed, listed=kind == "alpha")
    pairs = AllPairs() if kind == "weights" else pairs
    rng, (n, d) = np.random.default_rng(seed), X.shape
    w = rng.normal(size=d) * 10.0 ** rng.integers(-3, 3)
    problem, listed = linear_problem(X, positive, lam, loss, pairs), exact_weights(pairs, positive)
    if kind == "alpha":
        given = rng.uniform(0, 1, len(listed))
        found, alpha = proved(problem, w, Alpha(given)), exact(given)
    else:
        half, at = 3 * (seed % 2), np.full(d, 0.3)
        scores, width = rng.normal(size=n), float(rng.choice([0.0, 0.3, 2.0**-40]))
        evidence: Evidence = Scores(scores, width, 0.5)
        true = exact(scores)
        if kind == "weights":
            evidence, width = Weights(at, 64, half), 2 * half / 64
            true = naive.products(exact(X), exact(at))
        found = proved(problem, w, evidence)
        alpha = naive.alphas(true, listed, loss, Fraction(width))
    assert found.primal == naive.primal_value(exact(X), listed, loss, Fraction(lam), exact(w))
    assert found.dual == best_scaled(X, listed, loss, lam, alpha)


@each("seed", seeds(12))
def test_feasible_marginals_prove_what_their_alpha_proves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, positive = rng.normal(size=(6, 2)), np.arange(6) < 2
    # Each class weighs a power of two, so that the marginals are floats.
    weight = np.concatenate([rng.permutation([1.0, 3.0]), rng.permutation([2.0, 1.0, 0.0, 5.0])])
    problem = linear_problem(X, positive, 0.5, pairs=AllPairs(weight))
    listed = exact_weights(problem.pairs, positive)
    alpha = (rng.integers(0, 17, len(listed)) / 16).tolist()
    c = np.array(naive.marginals(exact(alpha), listed, 6), dtype=float)
    found = proved(problem, np.zeros(2), Marginals(c[:2], -c[2:]))
    assert found.dual == best_scaled(X, listed, "hinge", 0.5, exact(alpha))


def test_floats_are_rounded_outward() -> None:
    third, tiny, none = Fraction(1, 3), Fraction(1, 10**400), Fraction(0)
    found = ac.ExactCertificate(2 * third, third, Fraction(3))
    assert math.nextafter(found.primal_float, 0) < 2 * third < Fraction(found.primal_float)
    assert Fraction(found.gap_float) > third
    assert Fraction(found.dual_float) < third < Fraction(math.nextafter(found.dual_float, 1))
    assert found.relative_gap == 0.5
    assert 0 <= Fraction(found.radius) ** 2 - Fraction(2, 9) < Fraction(1, 2**52)
    digits = found.in_digits()
    assert Fraction(digits["primal"]) > 2 * third and Fraction(digits["dual"]) < third
    assert ac.ExactCertificate(tiny, none, third).primal_float == 5e-324
    assert ac.ExactCertificate(1 / tiny, tiny, third).primal_float == math.inf
    assert ac.ExactCertificate(1 / tiny, 1 / tiny, third).dual_float == sys.float_info.max
    assert ac.ExactCertificate(none, none, third).relative_gap is None


def test_too_many_numbers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.eye(4), np.array([1, 0, 1, 0])
    monkeypatch.setattr(sys.modules[ac.ExactCertificate.__module__], "MOST_NUMBERS", 15)
    with pytest.raises(ac.TooLargeError, match="16 numbers are too many"):
        ac.exact_certificate(linear_problem(X, y, 1.0), ac.solve(X, y, 1.0))
