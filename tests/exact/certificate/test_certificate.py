"""What a certificate says is true: of any point, with any dual point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from aucert.exact.api.solve import choose_solver
from aucert.exact.certificate.certificate import Certificate, Minorant, evaluated_with
from aucert.exact.certificate.solution import Solution
from aucert.exact.errors import CertificateError
from aucert.exact.losses.registry import LOSSES
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, Ridge, linear_problem, pair_problem
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.rows import Rows
from aucert.exact.tools.rounding import Bound
from loops import each, seeds


def random_problem(rng: np.random.Generator, loss: str, listed: bool) -> Problem:
    """Return a small problem: any scale, dense or sparse, ties, weights with zeros."""
    n, d = int(rng.integers(2, 25)), int(rng.integers(1, 5))
    positive = np.zeros(n, dtype=bool)
    positive[rng.permutation(n)[: rng.integers(1, n)]] = True
    X = rng.normal(size=(n, d))
    X = (np.round(X) if rng.integers(2) else X) * 10.0 ** rng.integers(-4, 5)
    if listed:
        m = int(rng.integers(1, 40))
        i, j = rng.choice(np.flatnonzero(positive), m), rng.choice(np.flatnonzero(~positive), m)
        pairs: AllPairs | PairList = PairList(i, j, rng.uniform(0.1, 2, m))
    else:
        weight = rng.integers(0, 4, n).astype(float)
        weight[[np.flatnonzero(positive)[0], np.flatnonzero(~positive)[0]]] = 1
        pairs = AllPairs(weight if rng.integers(2) else None)
    space = Rows(sp.csr_matrix(X) if rng.integers(2) else X)
    return pair_problem(space, positive, pairs, LOSSES[loss], Ridge(10.0 ** rng.uniform(-6, 2)))


def random_witness(rng: np.random.Generator, problem: Problem) -> Minorant:
    """Return a dual point from scores, marginals or alpha: what the problem takes."""
    kinds = ["scores", "alpha" if isinstance(problem.pairs, PairList) else "scores"]
    if problem.loss.name == "hinge" and isinstance(problem.pairs, AllPairs):
        kinds.append("marginals")
    kind = kinds[rng.integers(len(kinds))]
    if kind == "alpha":
        assert isinstance(problem.pairs, PairList)
        return Minorant.from_alpha(problem, rng.normal(size=problem.pairs.i.size) * 2)
    if kind == "marginals":
        u, v = rng.uniform(size=problem.n_pos), rng.uniform(size=problem.n_neg)
        size = 10.0 ** rng.uniform(-3, 1)
        return Minorant.from_marginals(problem, size * u / u.sum(), size * v / v.sum())
    scores = np.round(rng.normal(size=problem.n) * 3) / 2
    width = 0.0 if rng.integers(2) else 10.0 ** rng.uniform(-12, 2)
    scale = None if rng.integers(2) else rng.uniform()
    return Minorant.from_scores(problem, scores, width, scale)


def random_weights(rng: np.random.Generator, problem: Problem) -> np.ndarray:
    """Return coordinates whose scores are of any size around one."""
    return rng.normal(size=problem.space.dim) * 10.0 ** rng.uniform(-3, 2) / problem.space.reach


def best(problem: Problem) -> Solution:
    """Return the optimum to many digits."""
    return choose_solver(problem, "auto", 1e-12, 5.0).solve(problem)


@given(seed=st.integers(0, 2**32), loss=st.sampled_from(sorted(LOSSES)), listed=st.booleans())
@settings(max_examples=150, deadline=None)
def test_gap_is_never_negative(seed: int, loss: str, listed: bool) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, loss, listed)
    if problem.space.reach == 0:
        return
    for _ in range(5):
        w, witness = random_weights(rng, problem), random_witness(rng, problem)
        found = Certificate.of(problem, w, witness)  # raises below minus its rounding
        assert found.gap >= 0 and found.dual <= found.primal


@each("loss", LOSSES)
@each("n", [10, 1000])
@pytest.mark.long_digits
def test_rounding_is_small_on_ordinary_data(n: int, loss: str) -> None:
    rng = np.random.default_rng(1)
    problem = linear_problem(rng.normal(size=(n, 3)), np.arange(n) % 3 == 0, 0.1, loss)
    witness = Minorant.from_scores(problem, rng.normal(size=n))
    assert Certificate.of(problem, rng.normal(size=3), witness).rounding < 1e-10


@each("listed", [False, True])
@each("loss", LOSSES)
@each("seed", seeds(8))
def test_gap_and_radius_bound_the_truth(seed: int, loss: str, listed: bool) -> None:
    rng = np.random.default_rng([7, seed])
    problem = random_problem(rng, loss, listed)
    optimum = best(problem)
    if problem.space.reach == 0 or not optimum.certificate.reaches(1e-8):
        pytest.skip("no reference: constant features, or an optimum not found to 1e-8")
    lower = optimum.certificate.dual
    for _ in range(10):
        w, witness = random_weights(rng, problem), random_witness(rng, problem)
        found = Certificate.of(problem, w, witness)
        assert found.dual <= optimum.certificate.primal
        assert found.gap >= found.primal - optimum.certificate.primal
        assert found.primal >= lower
        away = float(np.sqrt(problem.space.norm2(w - optimum.w)))
        assert found.radius >= away - optimum.certificate.radius


@each("loss", ["hinge", "squared_hinge"])
@each("size", [1e-3, 1e-1, 10.0])
def test_gap_grows_with_the_distance_from_the_optimum(size: float, loss: str) -> None:
    rng = np.random.default_rng(3)
    problem = linear_problem(rng.normal(size=(40, 3)), np.arange(40) % 3 == 0, 0.1, loss)
    optimum = best(problem)
    moved = optimum.w + size * rng.normal(size=3)
    found = Certificate.of(problem, moved, optimum.witness)
    rise = problem.objective(moved) - problem.objective(optimum.w)
    assert found.gap == pytest.approx(optimum.certificate.gap + rise, rel=1e-12, abs=1e-11)
    # Strong convexity: the objective rises by at least lam / 2 times the squared distance.
    assert found.gap >= 0.1 / 2 * float((moved - optimum.w) @ (moved - optimum.w)) * (1 - 1e-6)


@each("loss", LOSSES)
def test_the_same_problem_in_features_and_in_its_kernel(loss: str) -> None:
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(15, 3)), np.arange(15) % 3 == 0
    rows = linear_problem(X, y, 0.1, loss)
    kernel = rows.over(Gram(X @ X.T))
    coefficients = rng.normal(size=15)
    scores = rng.normal(size=15)
    one = Certificate.of(rows, X.T @ coefficients, Minorant.from_scores(rows, scores))
    two = Certificate.of(kernel, coefficients, Minorant.from_scores(kernel, scores))
    assert one.primal == pytest.approx(two.primal, rel=1e-12)
    assert one.dual == pytest.approx(two.dual, rel=1e-12)


@each("loss", LOSSES)
def test_the_best_scale_is_the_best(loss: str) -> None:
    rng = np.random.default_rng(4)
    problem = linear_problem(rng.normal(size=(12, 2)), np.arange(12) % 2 == 0, 0.05, loss)
    scores, w = rng.normal(size=12), np.zeros(2)
    chosen = Certificate.of(problem, w, Minorant.from_scores(problem, scores)).dual
    for scale in np.linspace(0, 1, 101):
        other = Minorant.from_scores(problem, scores, scale=float(scale))
        assert Certificate.of(problem, w, other).dual <= chosen + 1e-12


@each("loss", ["squared_hinge", "square"])
def test_at_its_own_slope_the_gap_is_the_squared_gradient(loss: str) -> None:
    """F(w) - D(alpha(w)) = |lam w - pull(c)|^2 / (2 lam): Fenchel holds with equality there."""
    rng = np.random.default_rng(6)
    problem = linear_problem(rng.normal(size=(20, 3)), np.arange(20) % 4 == 0, 0.3, loss)
    w = rng.normal(size=3)
    scores = problem.space.scores(w)
    own = Minorant.from_scores(problem, scores, scale=1.0)
    primal, dual = evaluated_with(problem, w, own)[0]
    gradient = 0.3 * w - problem.space.pull(problem.sums(scores).c)
    apart = primal.value - dual.value
    assert apart == pytest.approx(float(gradient @ gradient) / 0.6, rel=1e-10)


def test_a_primal_that_is_lost_in_rounding_reaches_nothing() -> None:
    found = Certificate.from_bounds(Bound(1e-20, 1e-15), Bound(0.0, 0.0), 1.0)
    assert found.relative_gap == 1.0 and not found.reaches(1e-6)
    nothing = Certificate.from_bounds(Bound(0.0, 0.0), Bound(0.0, 0.0), 1.0)
    assert nothing.relative_gap is None and nothing.gap == 0.0 and nothing.reaches(0.0)


def test_a_tolerance_below_the_rounding_is_not_reached() -> None:
    found = Certificate.from_bounds(Bound(1.0, 1e-6), Bound(1.0 - 1e-12, 0.0), 1.0)
    assert not found.reaches(1e-9) and found.reaches(1e-5)


def test_radius_includes_the_rounding() -> None:
    assert Certificate.from_bounds(Bound(1.0, 0.25), Bound(0.75, 0.0), 4.0).radius == pytest.approx(
        0.5
    )


@each(("primal", "dual", "rounding"), [(1.0, 1.5, 0.1), (np.nan, 0.0, 1.0), (1.0, 0.0, np.nan)])
def test_a_gap_below_its_rounding_is_an_error(primal: float, dual: float, rounding: float) -> None:
    with pytest.raises(CertificateError, match="false"):
        Certificate.from_bounds(Bound(primal, rounding), Bound(dual, 0.0), 1.0)


def test_a_witness_is_made_again_to_the_same_numbers() -> None:
    rng = np.random.default_rng(8)
    problem = linear_problem(rng.normal(size=(12, 2)), np.arange(12) % 2 == 0, 0.05)
    witness = Minorant.from_scores(problem, rng.normal(size=12), 0.3)
    again = replace(witness, c=witness.c.copy()).renewed(problem)
    assert np.array_equal(again.c, witness.c) and again.value == witness.value
