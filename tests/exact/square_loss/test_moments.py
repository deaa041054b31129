from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.api.solve import solve
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.solvers import closed_form
from aucert.exact.solvers.closed_form import SquaredLossSolver
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss.row_average import moments
from loops import costly_slow, each, first_fast
from pairwise import differences, mean_square, pair_weights


def draw(seed: int = 0, n: int = 21, d: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 3 == 0
    return rng.normal(size=(n, d)) + positive[:, None] * 0.7, positive


def square_problem(X, positive, lam, weight=None) -> Problem:
    return linear_problem(X, positive.astype(int), lam, "square", AllPairs(weight))


def optimum(X, positive, lam, weight=None) -> np.ndarray:
    """The minimiser, from the normal equations over the pairs."""
    D, c = differences(X, positive), pair_weights(positive, weight)
    return np.linalg.solve(2 * (D.T * c) @ D + lam * np.eye(X.shape[1]), 2 * D.T @ c)


@each("form", ["dense", "sparse", "weighted", "shifted"])
def test_the_closed_form_is_the_mean_over_pairs(form) -> None:
    X, positive = draw()
    weight = np.random.default_rng(1).integers(0, 3, size=21) * 1.0 if form == "weighted" else None
    X = X + 1e4 if form == "shifted" else X
    rows = Rows(sp.csr_matrix(X) if form == "sparse" else X)
    found = moments(rows, positive, AllPairs(weight))
    D, c = differences(X, positive), pair_weights(positive, weight)
    np.testing.assert_allclose(found.M, (D.T * c) @ D, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.delta, c @ D, rtol=1e-8)
    w = np.array([0.3, -0.2, 0.5, 0.1])
    value = w @ found.M @ w - 2 * w @ found.delta + 1
    assert value == pytest.approx(mean_square(X, positive, w, weight), rel=1e-9)


@each("form", [np.array, sp.csr_matrix])
def test_moments_of_some_columns_are_a_part_of_all(form) -> None:
    X, positive = draw()
    rows = Rows(form(X))
    whole = moments(rows, positive, AllPairs())
    columns = np.array([3, 1])
    part = moments(rows, positive, AllPairs(), columns)
    np.testing.assert_allclose(part.delta, whole.delta[columns], rtol=1e-12)
    np.testing.assert_allclose(part.sigma, whole.sigma[np.ix_(columns, columns)], rtol=1e-12)


def test_the_size_bounds_the_values_before_centring() -> None:
    X, positive = draw()
    for rows in (Rows(X + 7), Rows(sp.csr_matrix(X + 7))):
        size = moments(rows, positive, AllPairs()).size
        assert size is not None
        assert (size >= np.abs(X + 7).max(axis=0) * (1 - 1e-12)).all()
        assert (size <= 3 * np.abs(X + 7).max(axis=0)).all()


@each("dense_limit", [2000, 0], ids=["direct", "conjugate gradients"])
@each("lam", [1e-4, 1.0])
@each("weighted", [False, True])
def test_the_solver_finds_the_minimum_over_pairs_and_proves_it(dense_limit, lam, weighted) -> None:
    X, positive = draw()
    weight = np.arange(21) % 4 + 0.5 if weighted else None
    solution = SquaredLossSolver(dense_limit=dense_limit).solve(
        square_problem(X, positive, lam, weight)
    )
    np.testing.assert_allclose(solution.w, optimum(X, positive, lam, weight), rtol=1e-6)
    assert solution.status == Status.CERTIFIED


def test_a_pair_list_is_solved_over_its_own_pairs() -> None:
    X, positive = draw()
    i, j = np.array([0, 3, 3, 6]), np.array([1, 2, 2, 4])
    problem = linear_problem(X, positive.astype(int), 0.1, "square", PairList(i, j))
    D = X[i] - X[j]
    expected = np.linalg.solve(2 * D.T @ D / 4 + 0.1 * np.eye(4), 2 * D.mean(axis=0))
    solution = SquaredLossSolver().solve(problem)
    np.testing.assert_allclose(solution.w, expected, rtol=1e-6)
    assert solution.status == Status.CERTIFIED


def test_another_loss_is_refused() -> None:
    X, positive = draw()
    with pytest.raises(InputError, match="square loss"):
        SquaredLossSolver().solve(linear_problem(X, positive.astype(int), 1.0, "hinge"))


@each("most", [2_000_000, 0])
@each("power", [-150, -60, 60, 150])
def test_listed_pairs_are_solved_whatever_the_unit_of_the_features(
    power: int, most: int, monkeypatch
) -> None:
    monkeypatch.setattr(closed_form, "LISTED_NUMBERS", most)  # 0: by conjugate gradients
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 3 == 0
    pairs = PairList(rng.choice(np.flatnonzero(y), 60), rng.choice(np.flatnonzero(~y), 60))
    plain = solve(X, y, 2.0**-7, loss="square", pairs=pairs)
    unit = 2.0**power
    scaled = solve(X * unit, y, 2.0**-7 * unit**2, loss="square", pairs=pairs)
    assert scaled.status == "certified"
    np.testing.assert_array_equal(scaled.w * unit, plain.w)


@pytest.mark.slow
@each("far", costly_slow([1.0, 1e5, 1e7, 1e9], {1e7}))
@each("seed", first_fast(range(4)))
@each("most", [2_000_000, 0])
def test_listed_pairs_of_dependent_or_far_rows_leave_a_solution(
    seed: int, far: float, most: int, monkeypatch
) -> None:
    monkeypatch.setattr(closed_form, "LISTED_NUMBERS", most)  # 0: by conjugate gradients
    rng = np.random.default_rng(seed)
    y = np.arange(8) % 3 == 0
    X = rng.normal(size=(8, 6))[rng.integers(0, 3, 8)]  # three different rows
    X[0] *= far
    pairs = PairList(rng.choice(np.flatnonzero(y), 20), rng.choice(np.flatnonzero(~y), 20))
    for lam in (1e-3, 1e-6, 1e-9):
        found = solve(X, y, lam, loss="square", pairs=pairs)
        assert np.isfinite(found.w).all()
        assert found.certificate.primal <= 1 + found.certificate.rounding  # F(0) = 1
        if far == 1.0:
            assert found.status == "certified"
