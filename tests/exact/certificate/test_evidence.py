"""Evidence proves what it proves: no planted fault and no word of a solver raises the bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, cast

import numpy as np
import pytest

import aucert.exact as ac
from aucert.exact import AllPairs, PairList
from aucert.exact.certificate.certificate import Minorant
from aucert.exact.certificate.solution import Recorder, Solver
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.problem.risk import Alpha, Marginals, Mix, Scores, Weights
from loops import each, refuses
from proofs import changed

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(20, 2)), np.arange(20) % 4 == 0
LISTED = PairList(np.array([0, 0, 4, 8, 16]), np.array([1, 1, 2, 3, 5]), np.arange(1.0, 6.0))
LAM, WEIGHT, POINT = 0.05, RNG.uniform(0.1, 5, 20), np.array([0.7, 0.3])
LOSSES = ("hinge", "squared_hinge", "square")


def hinge_problem(pairs: AllPairs | PairList | None = None) -> Problem:
    return linear_problem(X, Y, 0.1, "hinge", pairs)


def optimum(problem: Problem) -> float:
    """Return an upper bound of the optimum, tight to about 1e-12."""
    return ac.solve_problem(problem, tol=1e-12).certificate.primal


def forged_as(witness: Any, **lie: object) -> Minorant:
    """Return the witness with other fields in its evidence."""
    return replace(witness, evidence=replace(witness.evidence, **lie))


def bound(problem: Problem, witness: Minorant) -> float:
    """Return the lower bound that the certificate makes of the witness."""
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
