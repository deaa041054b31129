"""Cutting planes and what they are made of: bundle, window, line search."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from aucert.exact.api.solve import solve
from aucert.exact.certificate.certificate import Certificate
from aucert.exact.certificate.solution import Status, Step
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.line_search import best_on_segment
from aucert.exact.problem.problem import Problem, linear_problem
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
from aucert.exact.solvers.window import Window, open_window
from aucert.exact.spaces.gram import Gram
from loops import each, seeds

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 3)), np.arange(60) % 4 == 0
KINDS = ["all", "weighted", "listed"]


def problem_of(kind: str, lam: float = 1e-2) -> Problem:
    rng = np.random.default_rng(7)
    pairs: AllPairs | PairList = AllPairs()
    if kind == "weighted":
        pairs = AllPairs(rng.integers(0, 4, 60).astype(float))
    elif kind == "listed":
        i, j = rng.choice(np.flatnonzero(Y), 200), rng.choice(np.flatnonzero(~Y), 200)
        pairs = PairList(i, j, rng.uniform(0.5, 2, 200))
    return linear_problem(X, Y, lam, "hinge", pairs)


@each("kind", KINDS)
def test_the_bundle_alone_agrees_with_the_window(kind: str) -> None:
    problem = problem_of(kind)
    bundle = CuttingPlane(tol=1e-7, finish_from=0).solve(problem)
    window = ActivePairs(limit=10_000).solve(problem)
    assert bundle.certificate.reaches(1e-7) and window.certificate.reaches(1e-9)
    slack = bundle.certificate.gap + window.certificate.gap + bundle.certificate.rounding
    assert abs(bundle.certificate.primal - window.certificate.primal) <= slack


@each("kind", KINDS)
def test_a_combination_of_slopes_is_feasible(kind: str) -> None:
    problem, rng = problem_of(kind), np.random.default_rng(2)
    cuts = [(0.3, rng.normal(size=3)), (0.5, rng.normal(size=3)), (0.1, np.zeros(3))]
    places = [(x, Place.of(problem, w, problem.space.scores(w), float(w @ w))) for x, w in cuts]
    witness = combined(problem, [(x, made_of(problem, place)) for x, place in places])
    assert witness.deficiency <= witness.c_error
    expected = sum(x * problem.sums(problem.space.scores(w)).conjugate for x, w in cuts)
    assert witness.value == pytest.approx(expected, rel=1e-12)
    assert Certificate.of(problem, np.zeros(3), witness).gap >= 0


@each("kind", KINDS)
@each("limit", [20, 100, 100_000])
def test_a_window_and_its_frozen_pairs_are_all_pairs(kind: str, limit: int) -> None:
    """With alpha = 1[z > 0] in the window, the marginals are those of the hinge itself."""
    problem = problem_of(kind)
    scores = problem.space.scores(np.array([1.0, -0.4, 0.2]))
    window = open_window(problem, scores, limit)
    assert isinstance(window, Window) and 0 < window.i.size <= limit
    z = 1 - scores[window.i] + scores[window.j]
    mass = window.c * (z > 0)
    c = window.frozen.copy()
    np.add.at(c, window.i, mass)
    np.add.at(c, window.j, -mass)
    sums = problem.sums(scores)
    assert c == pytest.approx(sums.c, abs=1e-14)


def test_the_window_holds_the_pairs_nearest_the_margin() -> None:
    problem = problem_of("all")
    scores = problem.space.scores(np.array([1.0, -0.4, 0.2]))
    window = open_window(problem, scores, 50)
    assert window is not None
    z = np.abs(1 - scores[Y][:, None] + scores[~Y][None, :]).ravel()
    inside = np.abs(1 - scores[window.i] + scores[window.j])
    assert np.sort(inside) == pytest.approx(np.sort(z)[: inside.size])
    assert inside.size > 30


def test_no_window_where_too_many_pairs_are_tied() -> None:
    problem = linear_problem(np.round(X), Y, 1e-2)
    scores = np.where(Y, 1.0, 0.0)  # every pair is at the margin
    assert open_window(problem, scores, 100) is None


def test_heavy_ties_are_solved_all_the_same() -> None:
    rng = np.random.default_rng(3)
    levels, y = rng.integers(0, 3, size=(300, 3)).astype(float), rng.uniform(size=300) < 0.3
    solution = CuttingPlane().solve(linear_problem(levels, y, 1e-3))
    assert solution.status == Status.CERTIFIED


@each("seed", seeds(8))
def test_the_line_search_returns_the_best_of_a_grid(seed: int) -> None:
    problem, rng = problem_of("all"), np.random.default_rng(seed)
    w, target = rng.normal(size=3), rng.normal(size=3) * 3
    found, value = best_on_segment(problem, w, problem.space.scores(w), target, trials=40)
    assert value == pytest.approx(problem.objective(found), rel=1e-14)
    grid = [problem.objective(w + s * (target - w)) for s in np.linspace(0, 1, 1001)]
    assert value <= min(grid) + 1e-3 * (max(grid) - min(grid))
    assert value <= grid[0]


def test_a_run_without_progress_stops_and_says_so() -> None:
    """lam / |x|^2 = 1e-14: if floating point is at its end, hundreds of cuts will not help."""
    rows, y = np.random.default_rng(0).normal(size=(30, 3)) * 1e6, np.arange(30) % 3 == 0
    gaps: list[float] = []

    def watch(step: Step) -> None:
        gaps.append(step.gap)
        stuck = len(gaps) > 200 and gaps[-1] > 0.99 * gaps[-150]
        assert not stuck, f"150 cuts without progress at a gap of {step.gap:g}, and still cutting"

    solution = CuttingPlane().solve(linear_problem(rows, y, 1e-2), callback=watch)
    assert solution.status in (Status.CERTIFIED, Status.STALLED)


def test_more_pairs_tied_at_the_margin_than_a_window_holds_are_no_obstacle() -> None:
    """A nearly diagonal kernel puts thousands of pairs at the margin: the window widens."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::3], y[::3]
    train = next(StratifiedKFold(3).split(X, y))[0]
    rows = StandardScaler().fit_transform(X[train])
    found = solve(rows, 1 - y[train], 1e-2, kernel="rbf", gamma=0.1, structure=1.0, tol=1e-9)
    assert found.certificate.reaches(1e-9)


@each("kernel", [False, True])
def test_cuts_keep_products_and_segments_know_the_objective(kernel: bool) -> None:
    problem = problem_of("all", 0.1)
    if kernel:
        problem = problem.over(Gram(X @ X.T))
    space, rng = problem.space, np.random.default_rng(1)
    functions = Functions(space, 1e-9, lambda: False)
    cuts, points = Cuts(problem, functions), []
    for _ in range(70):
        f = functions.of(space.pull(rng.normal(size=60)) / 60)
        scores = functions.scores(f)
        points.append(Place.of(problem, f, scores, functions.inner(f, f)))
        cuts.add(points[-1])
    pulls = [space.pull(place.sums.c) for place in points]
    products = np.array([[space.inner(a, b) for a in pulls] for b in pulls]) / problem.lam
    assert cuts.gram[1:, 1:] == pytest.approx(products, abs=1e-9) and not cuts.gram[0].any()
    f, norm2, dual = cuts.combine(1e-9, 1.0)
    assert norm2 == pytest.approx(space.norm2(functions.weights(f)), rel=1e-9)
    assert dual <= problem.objective(functions.weights(points[0].f))
    way = Segment(problem, functions, points[0], f, norm2)
    assert way.at(0.3).primal == pytest.approx(
        problem.objective(functions.weights(0.7 * points[0].f + 0.3 * f)), rel=1e-10
    )
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


def test_one_point_of_the_simplex_stays() -> None:
    assert best_weights(np.zeros((1, 1)), np.zeros(1), np.ones(1), 1e-12).tolist() == [1.0]
    x = best_weights(np.zeros((3, 3)), np.zeros(3), np.array([0.0, 1.0, 0.0]), 1e-12)
    assert x.tolist() == [0.0, 1.0, 0.0]
