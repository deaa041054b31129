"""The multiplier method over a window of pairs, and the linear systems in it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.solvers import window as windows
from aucert.exact.solvers.window import (
    LAST,
    LAST_PRODUCTS,
    OpenPairs,
    Window,
    multipliers,
    open_window,
)
from aucert.exact.spaces.rows import Rows
from loops import each, seeds
from naive import weighted_pairs
from reference import reference_optimum

KINDS = ["plain", "weighted", "listed", "levels", "one_positive", "constant", "repeated", "wide"]


def some_problem(kind: str, lam: float, seed: int = 0) -> Problem:
    """Return a problem of at most 40 rows."""
    rng = np.random.default_rng([5, seed])
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 4 == 0
    X[y] += 0.5
    pairs: AllPairs | PairList = AllPairs()
    if kind == "weighted":
        pairs = AllPairs(rng.integers(0, 3, 40) + (np.arange(40) < 5))
    elif kind == "listed":
        i, j = rng.choice(np.flatnonzero(y), 90), rng.choice(np.flatnonzero(~y), 90)
        pairs = PairList(i, j, rng.integers(0, 3, 90) + 0.5)
    elif kind == "levels":
        X = np.clip(np.round(X), -1, 1)
    elif kind == "one_positive":
        y = np.arange(40) == 3
    elif kind == "constant":
        X[:, 1] = 7.0
    elif kind == "repeated":
        X, y = np.tile(X[:10], (4, 1)), np.tile(y[:10], 4)
    elif kind == "wide":
        X = rng.normal(size=(40, 70)) + X[:, :1]
    return linear_problem(X, y, lam, "hinge", pairs)


def whole(problem: Problem) -> Window:
    window = open_window(problem, np.zeros(problem.n), problem.n_pairs)
    assert window is not None
    return window


@each("lam", [1.0, 1e-2, 1e-4])
@each("kind", KINDS)
def test_the_optimum_over_all_pairs_is_that_of_cvxpy(kind: str, lam: float) -> None:
    problem = some_problem(kind, lam)
    pairs = OpenPairs.of(problem, whole(problem))
    start = np.full(pairs.c.size, 0.5)
    point = multipliers(pairs, np.zeros(problem.space.dim), start, 2.0, 1e-15)
    assert point.gap <= 1e-13
    listed = [
        (i, j, float(c))
        for i, j, c in weighted_pairs(problem.pairs.positive.tolist(), problem.pairs, float)
    ]
    assert isinstance(problem.space, Rows)
    value, _ = reference_optimum(np.asarray(problem.space.raw), listed, lam, "hinge")
    assert problem.objective(point.w) == pytest.approx(value, rel=1e-8, abs=1e-12)
    assert problem.objective(point.w) <= value * (1 + 1e-11) + 1e-13


@each("seed", seeds(4))
def test_the_gap_is_primal_less_dual(seed: int) -> None:
    problem, rng = some_problem("plain", 0.02, seed), np.random.default_rng(seed)
    pairs = OpenPairs.of(problem, whole(problem))
    start = rng.uniform(size=pairs.c.size)
    point = multipliers(pairs, rng.normal(size=3), start, 3.0, 1e-3, max_rounds=1)
    assert point.b.min() >= 0 and point.b.max() <= 1
    g = pairs.pull(point.b)
    dual = float(pairs.c @ point.b) - float(g @ g) / (2 * problem.lam)
    assert problem.objective(point.w) - dual == pytest.approx(point.gap, rel=1e-9, abs=1e-15)


def test_frozen_pairs_stay_and_the_others_are_optimal() -> None:
    """Against CVXPY's answer to the window's own problem, the frozen pairs a linear term."""
    import cvxpy as cp

    problem = some_problem("plain", 0.02)
    scores = problem.space.scores(np.array([0.6, 0.2, -0.1]))
    window = open_window(problem, scores, 60)
    assert window is not None
    pairs = OpenPairs.of(problem, window)
    point = multipliers(pairs, np.zeros(3), np.zeros(window.i.size), 0.5, 1e-15)
    w = cp.Variable(3)
    assert isinstance(problem.space, Rows)
    X = np.asarray(problem.space.X)
    loss = window.c @ cp.pos(1 - (X[window.i] - X[window.j]) @ w)
    fixed = problem.space.pull(window.frozen)
    model = 0.01 * cp.sum_squares(w) - fixed @ w + loss
    best = cp.Problem(cp.Minimize(model)).solve(solver=cp.CLARABEL, tol_gap_abs=1e-11)
    w.value = point.w
    assert float(model.value) == pytest.approx(best, abs=1e-9)


def test_a_start_at_the_answer_takes_no_system(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = some_problem("plain", 1e-2)
    pairs = OpenPairs.of(problem, whole(problem))
    point = multipliers(pairs, np.zeros(3), np.full(pairs.c.size, 0.5), 2.0, 1e-14)
    solved = []
    system = OpenPairs.solve
    monkeypatch.setattr(OpenPairs, "solve", lambda *given: solved.append(1) or system(*given))
    again = multipliers(pairs, point.w, point.b, 1e-3, 1e-12)
    assert again.gap <= 1e-12 and not solved
    multipliers(pairs, np.zeros(3), point.b, 1e-3, 1e-12)
    assert solved


# The linear systems


@each("sparse", [False, True])
@each(("t", "dim", "few"), [(30, 6, 3), (30, 6, 100), (12, 60, 30), (12, 60, 9)])
@each("way", ["auto", "pairs", "coordinates", "products"])
def test_every_way_solves_the_same_system(
    way: str, t: int, dim: int, few: int, sparse: bool
) -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(t, dim))
    i, j = rng.integers(0, t // 3, 120), rng.integers(t // 3, t, 120)
    c, lam, sigma = rng.uniform(0.5, 2, 120) / 120, 1e-2, 0.3
    system = OpenPairs(sp.csr_matrix(rows) if sparse else rows, i, j, c, lam, np.zeros(dim))
    active, r = rng.permutation(120)[:few], rng.normal(size=dim)
    D, weight = (rows[i] - rows[j])[active], c[active] / sigma
    expected = np.linalg.solve(lam * np.eye(dim) + D.T @ (weight[:, None] * D), r)
    if way == "auto":
        found = system.solve(active, sigma, r)
    elif way == "products":
        found, enough = system._by_products(active, weight, r, 1e-12, 1000)
        assert enough
    else:
        found = getattr(system, f"_by_{way}")(active, weight, r)
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-7 * np.abs(expected).max())


def test_expensive_systems_are_solved_without_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "EXPENSIVE", 0.0)
    for way in ("_by_pairs", "_by_coordinates"):
        monkeypatch.setattr(OpenPairs, way, lambda *given: pytest.fail("a matrix was formed"))
    problem = some_problem("wide", 1e-2)
    pairs = OpenPairs.of(problem, whole(problem))
    point = multipliers(pairs, np.zeros(70), np.full(pairs.c.size, 0.5), 2.0, 1e-4)
    assert point.gap <= 1e-4


def test_a_system_that_overflows_makes_no_step_and_no_warning() -> None:
    rows = np.array([[1e99, 0.0], [0.0, 1e99], [1e99, 1e99]])
    i, j, c = np.array([0, 1]), np.array([2, 2]), np.array([0.5, 0.5])
    system = OpenPairs(rows, i, j, c, 1e-3, np.zeros(2))
    active, r = np.array([0, 1]), np.array([1e99, -3e98])
    step, enough = system._by_products(active, c / 1e-9, r, LAST, LAST_PRODUCTS)
    assert np.isfinite(step).all() and not enough
