"""Windows of pairs near the margin, the multipliers over them, and the bundle of cuts."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from aucert.exact import solve
from aucert.exact.certificate.certificate import Certificate
from aucert.exact.certificate.solution import Status
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.problem.line_search import best_on_segment
from aucert.exact.problem.minorant import Minorant
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.solvers import window as windows
from aucert.exact.solvers.cutting_plane import (
    Cuts,
    CuttingPlane,
    Place,
    Segment,
    best_weights,
    combined,
    made_of,
)
from aucert.exact.solvers.finish import ActivePairs
from aucert.exact.solvers.functions import Functions
from aucert.exact.solvers.window import (
    OpenPairs,
    Window,
    multipliers,
    open_window,
)
from aucert.exact.spaces.gram import Gram
from loops import each, seeds
from problems import CLASSES, awkward

KINDS = ("plain", "weights", "pairs", "levels", "one positive", "constant", "duplicates", "wide")
W = np.array([1.0, -0.4, 0.2, 0.3])


def some_problem(kind: str = "plain", lam: float = 0.02, n: int = 60) -> Problem:
    return awkward(kind, lam, n=n)


def window_of(problem: Problem, limit: int, w: Any = None) -> Window:
    scores = np.zeros(problem.n) if w is None else problem.space.scores(w)
    found = open_window(problem, scores, limit)
    assert found is not None
    return found


def rows_of(problem: Problem) -> np.ndarray:
    space: Any = problem.space
    return space.dense()


@each("kind", ["plain", "weights", "pairs"])
@each("limit", [20, 100, 100_000])
def test_a_window_and_the_frozen_pairs_are_all_pairs(kind: str, limit: int) -> None:
    """With alpha = 1[z > 0] in the window, the marginals are those of the hinge itself."""
    problem = some_problem(kind)
    scores, window = problem.space.scores(W), window_of(problem, limit, W)
    assert 0.5 * min(limit, 60) < window.i.size <= limit
    z = 1 - scores[window.i] + scores[window.j]
    mass, c = window.c * (z > 0), window.frozen.copy()
    np.add.at(c, window.i, mass)
    np.add.at(c, window.j, -mass)
    assert c == pytest.approx(problem.sums(scores).c, abs=1e-14)
    if kind == "plain":
        y = problem.pairs.positive
        every = np.sort(np.abs(1 - scores[y][:, None] + scores[~y][None, :]).ravel())
        assert np.sort(np.abs(z)) == pytest.approx(every[: z.size])
        tied = np.where(y, 1.0, 0.0)  # every pair is at the margin
        assert open_window(problem, tied, 100) is None


def test_the_gap_is_primal_less_dual() -> None:
    problem, rng = some_problem(n=40), np.random.default_rng(0)
    pairs = OpenPairs.of(problem, window_of(problem, problem.n_pairs))
    for _ in range(4):
        start = rng.uniform(size=pairs.c.size)
        point = multipliers(pairs, rng.normal(size=4), start, 3.0, 1e-3, max_rounds=1)
        assert point.b.min() >= 0 and point.b.max() <= 1
        g = pairs.pull(point.b)
        dual = float(pairs.c @ point.b) - float(g @ g) / (2 * problem.lam)
        assert problem.objective(point.w) - dual == pytest.approx(point.gap, rel=1e-9, abs=1e-15)


def test_frozen_pairs_stay_and_the_others_are_optimal() -> None:
    """Against CVXPY's answer to the window's own problem, the frozen pairs a linear term."""
    problem = some_problem()
    window, X = window_of(problem, 60, W), rows_of(problem)
    pairs = OpenPairs.of(problem, window)
    point = multipliers(pairs, np.zeros(4), np.zeros(window.i.size), 0.5, 1e-15)
    w = cp.Variable(4)
    loss = window.c @ cp.pos(1 - (X[window.i] - X[window.j]) @ w)
    model = 0.01 * cp.sum_squares(w) - problem.space.pull(window.frozen) @ w + loss
    best = cp.Problem(cp.Minimize(model)).solve(solver=cp.CLARABEL, tol_gap_abs=1e-11)
    w.value = point.w
    assert float(model.value) == pytest.approx(best, abs=1e-9)


def test_a_start_at_the_answer_takes_no_system(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = some_problem(n=40)
    pairs = OpenPairs.of(problem, window_of(problem, problem.n_pairs))
    point = multipliers(pairs, np.zeros(4), np.full(pairs.c.size, 0.5), 2.0, 1e-14)
    solved, system = [], OpenPairs.solve
    monkeypatch.setattr(OpenPairs, "solve", lambda *given: solved.append(1) or system(*given))
    again = multipliers(pairs, point.w, point.b, 1e-3, 1e-12)
    assert again.gap <= 1e-12 and not solved
    multipliers(pairs, np.zeros(4), point.b, 1e-3, 1e-12)
    assert solved


# The linear systems


@each("sparse", [False, True])
@each(("t", "dim", "few"), [(30, 6, 3), (30, 6, 100), (12, 60, 30), (12, 60, 9)])
@each("way", ["auto", "pairs", "coordinates", "products"])
def test_every_way_solves_the_system(way: str, t: int, dim: int, few: int, sparse: bool) -> None:
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


def test_expensive_systems_need_no_matrix_and_overflowing_ones_make_no_step(monkeypatch) -> None:
    monkeypatch.setattr(windows, "EXPENSIVE", 0.0)
    for way in ("_by_pairs", "_by_coordinates"):
        monkeypatch.setattr(OpenPairs, way, lambda *given: pytest.fail("a matrix was formed"))
    problem = some_problem("wide", 1e-2)
    pairs = OpenPairs.of(problem, window_of(problem, problem.n_pairs))
    point = multipliers(pairs, np.zeros(90), np.full(pairs.c.size, 0.5), 2.0, 1e-4)
    assert point.gap <= 1e-4
    rows = np.array([[1e99, 0.0], [0.0, 1e99], [1e99, 1e99]])
    i, j, c = np.array([0, 1]), np.array([2, 2]), np.array([0.5, 0.5])
    system, r = OpenPairs(rows, i, j, c, 1e-3, np.zeros(2)), np.array([1e99, -3e98])
    step, enough = system._by_products(np.array([0, 1]), c / 1e-9, r, 1e-6, 1000)
    assert np.isfinite(step).all() and not enough


# Windows, one after another: the gap ends at rounding.


@each("lam", [1e-1, 1e-3, 1e-5])
@each("kind", CLASSES)
def test_the_gap_ends_at_rounding(kind: str, lam: float) -> None:
    problem = awkward(kind, lam, n=1000)
    found = ActivePairs(tol=1e-11).solve(problem)
    certificate = Certificate.of(problem, found.w, found.witness)
    separable = certificate.primal <= 1e-6  # the gap is then absolute, as in `reaches`
    assert certificate.gap <= max(1e-11 * certificate.primal, 1e-12 * separable), found.history


@pytest.mark.slow
@each("sparse", [False, True])
def test_more_features_than_rows_and_kernels_of_nearly_full_rank_are_solved(sparse: bool) -> None:
    rng = np.random.default_rng(4)
    n, d = (400, 2000) if sparse else (160, 800)
    X, y = rng.normal(size=(n, d)) * (rng.uniform(size=(n, d)) < 0.05), np.arange(n) < 40
    X[y, :20] += 0.3
    tasks = [
        formulate(sp.csr_matrix(X) if sparse else X, y, Request.of(lam)) for lam in (0.1, 1e-3)
    ]
    assert all(task.work.space.dim <= n for task in tasks)
    if sparse:  # 2,000 rows, a rank of about 1,600, hundreds of thousands of open pairs
        y = np.arange(2000) % 3 == 0
        X = rng.normal(size=(2000, 2)) * 0.39
        X[np.arange(2000), np.where(y, 0, 1)] += 0.8 * rng.choice([-1, 1], 2000)
        tasks += [formulate(X, y, Request.of(lam, kernel="rbf", gamma=30.0)) for lam in (0.1, 1e-3)]
        assert tasks[-1].work.space.dim > 1200
    for task in tasks:
        found = task.judge(ActivePairs(tol=1e-11).solve(task.work), 1e-9)
        assert found.status == Status.CERTIFIED and found.w.shape == (task.meant.space.dim,)


def test_more_ties_than_the_first_window_holds_are_no_obstacle() -> None:
    """Tens of thousands of pairs at the margin; of a kernel that is nearly diagonal, thousands."""
    rng = np.random.default_rng(5)
    levels = rng.integers(0, 3, size=(1500, 3)).astype(float)
    y = rng.uniform(size=1500) < 1 / (1 + np.exp(5 - levels.sum(axis=1)))
    problem = linear_problem(levels, y, 1e-3)
    for solver in (ActivePairs(tol=1e-9), CuttingPlane()):
        found = solver.solve(problem)
        assert found.status == Status.CERTIFIED
    s = problem.space.scores(found.w)
    assert (np.abs(1 - s[y][:, None] + s[~y][None, :]) < 1e-6).sum() > 20_000
    X, labels = (part[::3] for part in load_breast_cancer(return_X_y=True))
    train = next(StratifiedKFold(3).split(X, labels))[0]
    asked: Any = {"kernel": "rbf", "gamma": 0.1, "structure": 1.0, "tol": 1e-9}
    kept = solve(StandardScaler().fit_transform(X[train]), 1 - labels[train], 1e-2, **asked)
    assert kept.certificate.reaches(1e-9)


# Cuts


@each("kind", ["plain", "weights", "pairs"])
def test_a_combination_of_slopes_is_feasible(kind: str) -> None:
    problem, rng = some_problem(kind), np.random.default_rng(2)
    cuts = [(0.3, rng.normal(size=4)), (0.5, rng.normal(size=4)), (0.1, np.zeros(4))]
    places = [(x, Place.of(problem, w, problem.space.scores(w), float(w @ w))) for x, w in cuts]
    witness = combined(problem, [(x, made_of(problem, place)) for x, place in places])
    assert isinstance(witness, Minorant) and witness.deficiency <= witness.c_error
    expected = sum(x * problem.sums(problem.space.scores(w)).conjugate for x, w in cuts)
    assert witness.value == pytest.approx(expected, rel=1e-12)
    assert Certificate.of(problem, np.zeros(4), witness).gap >= 0


def test_the_line_search_returns_the_best_of_a_grid() -> None:
    for seed in range(8):
        problem, rng = some_problem(), np.random.default_rng(seed)
        w, target = rng.normal(size=4), rng.normal(size=4) * 3
        found, value = best_on_segment(problem, w, problem.space.scores(w), target, trials=40)
        assert value == pytest.approx(problem.objective(found), rel=1e-14)
        grid = [problem.objective(w + s * (target - w)) for s in np.linspace(0, 1, 1001)]
        assert value <= min(grid) + 1e-3 * (max(grid) - min(grid)) and value <= grid[0]
    for lam in (1e-2, 1e-5, 1e-8):  # from w = 0 the best point is near lam of the way
        problem = some_problem(lam=lam, n=500)
        target = problem.space.pull(problem.sums(np.zeros(500)).c) / lam
        _, value = best_on_segment(problem, np.zeros(4), np.zeros(500), target)
        best = min(problem.objective(step * target) for step in np.geomspace(1e-10, 1, 400))
        assert value <= best + 0.02 * (1 - best)


@each("kernel", [False, True])
def test_cuts_keep_products_and_segments_know_the_objective(kernel: bool) -> None:
    problem = some_problem(lam=0.1)
    if kernel:
        X = rows_of(problem)
        problem = problem.over(Gram(X @ X.T))
    space, rng = problem.space, np.random.default_rng(1)
    functions = Functions(space, 1e-9, lambda: False)
    cuts, points = Cuts(problem, functions), []
    for _ in range(70):
        f = functions.of(space.pull(rng.normal(size=60)) / 60)
        points.append(Place.of(problem, f, functions.scores(f), functions.inner(f, f)))
        cuts.add(points[-1])
    pulls = [space.pull(place.sums.c) for place in points]
    products = np.array([[space.inner(a, b) for a in pulls] for b in pulls]) / problem.lam
    assert cuts.gram[1:, 1:] == pytest.approx(products, abs=1e-9) and not cuts.gram[0].any()
    f, norm2, dual = cuts.combine(1e-9, 1.0)
    assert norm2 == pytest.approx(space.norm2(functions.weights(f)), rel=1e-9)
    assert dual <= problem.objective(functions.weights(points[0].f))
    way = Segment(problem, functions, points[0], f, norm2)
    there = problem.objective(functions.weights(0.7 * points[0].f + 0.3 * f))
    assert way.at(0.3).primal == pytest.approx(there, rel=1e-10)
    share, best = way.best()
    grid = [way.at(t).primal for t in np.linspace(0, 1, 101)]
    assert best.primal <= min(grid) + 0.05 * (max(grid) - min(grid))
    assert best.primal == pytest.approx(way.at(share).primal, rel=1e-12)


@each("seed", seeds(20))
def test_no_weight_of_the_best_combination_can_be_moved(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(2, 30)), int(rng.integers(1, 12))
    G = rng.normal(size=(k, d)) * 10.0 ** rng.uniform(-3, 3)
    G[rng.integers(0, k)] = G[0]
    H = np.pad(G @ G.T, ((1, 0), (1, 0)))
    m = np.concatenate([[0.0], rng.uniform(0, 1, k) * float(H.diagonal().max())])
    start = np.zeros(m.size)
    start[seed % m.size] = 1.0
    x = best_weights(H, m, start, 1e-12)
    assert (x >= 0).all() and x.sum() == pytest.approx(1.0, abs=1e-12)
    slope, unit = H @ x - m, max(float(np.abs(H).max()), 1.0)
    assert float(x @ slope) - slope.min() <= 1e-9 * unit
    kept = best_weights(np.zeros((3, 3)), np.zeros(3), np.array([0.0, 1.0, 0.0]), 1e-12)
    assert kept.tolist() == [0.0, 1.0, 0.0]
