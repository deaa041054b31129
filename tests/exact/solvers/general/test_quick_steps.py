"""The parabola of the square loss, pair by pair, and the steps that begin at its minimum."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.certificate.solution import Recorder
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.solvers.general import quick_steps
from aucert.exact.solvers.general.quick_steps import parabola
from aucert.exact.solvers.newton import Newton
from loops import each

LAM = 0.03


def rows(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n + d)
    y = np.arange(n) % 3 == 0
    return rng.normal(size=(n, d)) + 0.7 * y[:, None], y


def some_pairs(name: str, y: np.ndarray) -> AllPairs | PairList | None:
    rng = np.random.default_rng(1)
    if name == "weights":
        return AllPairs(rng.integers(0, 4, y.size) + (np.arange(y.size) < 2))
    if name == "list":
        return PairList(rng.choice(np.flatnonzero(y), 50), rng.choice(np.flatnonzero(~y), 50))
    return None


def pairwise(problem: Problem, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return g and S, summed over the pairs one by one."""
    g, S = np.zeros(X.shape[1]), LAM * np.eye(X.shape[1])
    pairs = problem.pairs
    if isinstance(pairs, PairList):
        listed = list(zip(pairs.i, pairs.j, pairs.c, strict=True))
    else:
        mass, y = pairs.row_mass(), pairs.positive
        listed = [(i, j, mass[i] * mass[j]) for i in np.flatnonzero(y) for j in np.flatnonzero(~y)]
    for i, j, c in listed:
        d = X[i] - X[j]
        g += 2 * c * d
        S += 2 * c * np.outer(d, d)
    return g, S


@each("name", ["all", "weights", "list"])
def test_the_start_is_the_optimum_of_the_square_loss(name: str) -> None:
    X, y = rows(40, 5)
    problem = linear_problem(X, y, LAM, "squared_hinge", pairs=some_pairs(name, y))
    g, S = pairwise(problem, X)
    start = parabola(problem)
    assert start is not None and start.everywhere
    # Sums of some 400 terms: their rounding is far below 1e-10 of the answer.
    np.testing.assert_allclose(start.w, np.linalg.solve(S, g), rtol=1e-10)
    np.testing.assert_allclose(start.inverse(g), np.linalg.solve(S, g), rtol=1e-10)
    np.testing.assert_allclose(start.scores, problem.space.scores(start.w), rtol=0, atol=0)


@each("name", ["all", "weights", "list"])
@each("sparse", [False, True])
def test_with_many_coordinates_it_is_the_optimum_along_the_slope(
    name: str, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick_steps, "FEW_COORDINATES", 0)
    X, y = rows(40, 5)
    given = sp.csr_matrix(X) if sparse else X
    problem = linear_problem(given, y, LAM, "squared_hinge", pairs=some_pairs(name, y))
    g, S = pairwise(problem, X)
    start = parabola(problem)
    assert start is not None and not start.everywhere
    np.testing.assert_allclose(start.w, g * (g @ g) / (g @ S @ g), rtol=1e-10)
    np.testing.assert_allclose(start.scores, problem.space.scores(start.w), rtol=1e-10, atol=1e-12)


def test_a_thinned_class_keeps_rows_that_weigh_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick_steps, "SOME", 2)
    monkeypatch.setattr(quick_steps, "SOME_A_COORDINATE", 0)
    X, y = rows(40, 3)
    weight = np.zeros(40)
    weight[[3, 7]] = 1.0  # a positive and a negative row
    start = parabola(linear_problem(X, y, LAM, "squared_hinge", pairs=AllPairs(weight)))
    assert start is not None and np.isfinite(start.w).all()


def test_equal_means_have_no_start() -> None:
    X = np.array([[1.0, 2.0], [-1.0, -2.0], [1.0, 2.0], [-1.0, -2.0]])
    assert parabola(linear_problem(X, np.array([1, 1, 0, 0]), LAM, "squared_hinge")) is None


@each("d", [2, 30, 70])
def test_newton_needs_few_steps_from_there(d: int) -> None:
    """Few coordinates or few rows: steps with H formed; else those of L-BFGS; all to 1e-9."""
    X, y = rows(600, d)
    solution = Newton(1e-9).solve(linear_problem(X, y, LAM, "squared_hinge"))
    assert solution.certificate.reaches(1e-9)
    assert solution.n_iter <= (40 if d == 30 else 10)


def test_points_and_bounds_that_are_offered_are_true() -> None:
    X, y = rows(600, 12)
    problem, recorder = linear_problem(X, y, LAM, "squared_hinge"), Recorder()
    quick_steps.quick_steps(problem, recorder, 1e-6, 30)
    best = Newton(1e-11).solve(problem).certificate
    assert recorder.best_w is not None
    assert recorder.best_primal == pytest.approx(problem.objective(recorder.best_w), rel=1e-12)
    assert recorder.best_primal >= best.dual
    assert recorder.best_dual <= best.primal
    assert recorder.near(1e-6)
