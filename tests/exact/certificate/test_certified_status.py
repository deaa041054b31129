"""Hard arithmetic: what is called certified is so in exact arithmetic, or is not called so."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.api.solve import solve
from aucert.exact.certificate.certificate import Certificate, Minorant
from aucert.exact.certificate.solution import Solution, Status
from aucert.exact.errors import InputError
from aucert.exact.estimators.base import shortfall_of
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Ridge, linear_problem, pair_problem
from aucert.exact.spaces.gram import Gram
from aucert.exact.tools.rounding import Bound
from loops import each, first_fast
from naive import exact, primal_value, weighted_pairs

GRID = np.array([[0.5], [-0.25], [1.0], [0.125]])
LABELS = np.array([1, 0, 1, 0])


@each("offset", first_fast([1e10, 1e8]))
@each("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_certified_is_true_on_sparse_rows_far_from_the_origin(seed: int, offset: float) -> None:
    """Sparse rows are centred only implicitly, so that their scores lose digits.

    The dense form of the same rows gives a lower bound that is good to 1e-12.
    """
    X, y = np.random.default_rng(seed).normal(size=(20, 3)) + offset, np.arange(20) % 3 == 0
    solution = solve(sp.csr_matrix(X), y, 1e-2, tol=1e-9, max_time=5)
    pairs = weighted_pairs(y.tolist(), AllPairs())
    value = primal_value(exact(X), pairs, "hinge", Fraction(1e-2), exact(solution.w))
    lower = solve(X, y, 1e-2, tol=1e-11).certificate
    short = float(value) - lower.primal
    assert solution.certificate.gap >= short
    if solution.status == Status.CERTIFIED:
        assert short <= 1e-9 * float(value)


@each("size", [1e8, 1e9, 1e12])
def test_gap_holds_where_the_kernel_matrix_cancels(size: float) -> None:
    """Coefficients along the null space of K cancel in w'K w, to an error of any size.

    The optimum is at most F(0) = 1, so the gap of a point is at least lam / 2 |f|^2 - 1.
    """
    rng = np.random.default_rng(0)
    positive = np.arange(6) < 3
    for _ in range(10):
        features = np.round(rng.normal(size=(6, 2)) * 8)
        space = Gram(features @ features.T / 64)
        problem = pair_problem(space, positive, AllPairs(), HINGE, Ridge(1.0))
        base = rng.normal(size=6)
        w = base * np.sqrt(10 / (base @ space.K @ base)) + size * np.linalg.svd(space.K)[2][-1]
        found = Certificate.of(problem, w, Minorant.from_scores(problem, np.zeros(6)))
        exact_w = exact(w)
        scores = [sum(k * x for k, x in zip(row, exact_w, strict=True)) for row in exact(space.K)]
        norm2 = sum(x * s for x, s in zip(exact_w, scores, strict=True))
        assert float(norm2) / 2 - 1 <= found.gap


@each("size", [1e-170, 1e160, 1e308])
@each("listed", [False, True])
def test_only_ratios_of_weights_matter(size: float, listed: bool) -> None:
    """A common factor of all weights changes nothing, be it 1e308: or it is refused."""
    i, j = np.array([0, 2]), np.array([1, 3])
    plain = PairList(i, j) if listed else AllPairs()
    expected = solve(GRID, LABELS, 1.0, pairs=plain).certificate
    try:
        scaled = PairList(i, j, np.full(2, size)) if listed else AllPairs(np.full(4, size))
        found = solve(GRID, LABELS, 1.0, pairs=scaled).certificate
    except InputError as error:
        assert "weight" in str(error)
        return
    assert found.primal == pytest.approx(expected.primal, rel=1e-9)


def test_underflow_of_the_penalty_makes_no_bound() -> None:
    """w'w is zero in floating point, lam / 2 w'w is 1.1e-13 at lam = 1e308: or it is refused."""
    X, w = np.zeros((2, 1000)), np.full(1000, 1.5e-162)
    X[0] = 1.0
    for lam in (1e100, 1e308):
        try:
            problem = linear_problem(X, [True, False], lam)
        except InputError as error:
            assert "lam = 1e+308 is above 1e+100" in str(error)
            continue
        found = Certificate.of(problem, w, Minorant.from_scores(problem, problem.space.scores(w)))
        value = 1 - sum(exact(w)) + Fraction(lam) / 2 * sum(x**2 for x in exact(w))
        assert value <= Fraction(found.primal)


def test_underflow_makes_no_bound() -> None:
    """x = +-0.6e-162 and lam = 1e-323: with d = 1.2e-162, d^2 / lam is about 0.146.

    The optimum 1 - d^2 / (2 lam) is about 0.927, yet d^2 is zero in floating point.
    """
    X = np.array([[0.6e-162], [-0.6e-162]])
    lam = 1e-323
    difference = Fraction(X[0, 0]) - Fraction(X[1, 0])
    optimum = 1 - difference**2 / (2 * Fraction(lam))
    try:
        problem = linear_problem(X, [1, 0], lam)
    except InputError:
        return
    witness = Minorant.from_marginals(problem, np.ones(1), np.ones(1))
    found = Certificate.of(problem, np.zeros(1), witness)
    assert found.dual <= float(optimum)


@each("seed", [0, 4, 6])
def test_separated_rows_at_a_tiny_lam_have_a_certificate(seed: int) -> None:
    """The loss is zero and its computed value may be a rounding below: no root of that."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + rng.normal(size=40) > 0
    found = solve(X + 100 * y[:, None], y, 1e-30, loss="squared_hinge", max_time=5).certificate
    assert np.isfinite(found.rounding) and found.gap >= 0


@each("negative", [1e-9, 3e-9])
def test_a_kernel_matrix_with_a_negative_eigenvalue_makes_no_false_claim(negative: float) -> None:
    """With k(x_4, x_4) < 0 its score is free: F(w) = 0 at no cost, below any dual bound.

    Refused as a kernel matrix, or charged for; never a library error over the user's data.
    """
    K = np.diag([1.0, 1.0, 1.0, -negative])
    positive = np.array([True, True, False, False])
    try:
        problem = pair_problem(Gram(K), positive, AllPairs(), HINGE, Ridge(1.0))
    except InputError:
        return
    w = np.array([0.0, 0.0, 0.0, 10.0 / negative])
    found = Certificate.of(problem, w, Minorant.from_scores(problem, np.zeros(4)))
    assert found.gap >= 0


@each("loss", ["hinge", "squared_hinge", "square"])
@each("scale", [1e-6, 1.0, 1e6])
def test_scaling_the_features_scales_lam(scale: float, loss: str) -> None:
    """Multiplying X by s and lam by s^2 leaves the optimum as it is."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 3 == 0
    plain = solve(X, y, 0.01, loss=loss).certificate
    scaled = solve(X * scale, y, 0.01 * scale**2, loss=loss).certificate
    assert plain.reaches(1e-9) and scaled.reaches(1e-9)
    assert scaled.primal == pytest.approx(plain.primal, rel=3e-9)


@each("loss", ["hinge", "squared_hinge", "square"])
def test_a_common_offset_changes_nothing(loss: str) -> None:
    rng = np.random.default_rng(3)
    X, y = np.round(rng.normal(size=(30, 3)) * 64) / 64, np.arange(30) % 3 == 0
    plain = solve(X, y, 0.01, loss=loss).certificate
    moved = solve(X + 1e8, y, 0.01, loss=loss).certificate  # exact: 1e8 + k / 64 is a float
    assert moved.reaches(1e-9)
    assert moved.primal == pytest.approx(plain.primal, rel=3e-9)


def test_a_gap_includes_its_rounding_and_so_does_what_is_said_of_it() -> None:
    """Bounds 1.8e-10 apart are not certified to 1e-9 where their rounding is 2e-9."""
    problem = linear_problem(GRID, LABELS, 1.0)
    w = np.zeros(1)
    certificate = Certificate.from_bounds(Bound(1.0, 2e-9), Bound(1.0 - 1.8e-10, 0.0), 1.0)
    witness = Minorant.from_scores(problem, problem.space.scores(w))
    solution = Solution(w, witness, certificate, Status.STALLED, 1, 0.0)
    assert not certificate.reaches(1e-9)
    said = shortfall_of(solution, 1e-9)
    assert said is not None and shortfall_of(replace(solution, status=Status.CERTIFIED), 1) is None
    number = float(said.split("the gap is ")[1].split(" ")[0])
    assert certificate.gap <= number < 2.3e-9
