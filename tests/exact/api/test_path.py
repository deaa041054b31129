"""A path is the cold solutions at each lam, certified each, wherever the rows are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.exact import GroupedRows, PartitionedRows, Path, Status, regularization_path, solve
from aucert.exact.api.path import PathPoint
from aucert.exact.certificate import order as spread
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.lam_grid import lam_grid, largest_lam
from aucert.exact.formulation.request import Request
from aucert.exact.pairs.all_pairs import PairList
from aucert.exact.pairs.auc import auc
from aucert.exact.problem.problem import linear_problem
from aucert.exact.spaces.partitions import LocalEngine, Reply, Task
from cutting import CUTS, cut, cut_groups, queried_rows, some_rows
from loops import each, first_fast

RNG = np.random.default_rng(11)
Y = (np.arange(90) % 3 == 0).astype(int)
X = RNG.normal(size=(90, 4)) + np.array([0.8, 0.0, 0.0, -0.4]) * Y[:, None]
LAMS = np.geomspace(1.0, 1e-4, 4)
GROUPS = ["a", "a", "b", "b"]
OPTIONS: list[dict[str, Any]] = [
    {"loss": "hinge"},
    {"loss": "squared_hinge"},
    {"loss": "square"},
    {"loss": "hinge", "structure": 4.0},
    {"loss": "squared_hinge", "kernel": "rbf", "gamma": 0.3},
    {"loss": "hinge", "kernel": "laplacian", "structure": 1.0},
    {"loss": "hinge", "sample_weight": 1.0 + np.arange(90) % 3},
    {"loss": "hinge", "positive": 0},
]
PENALTIES: list[dict[str, Any]] = [
    {"l1_ratio": 1.0},
    {"l1_ratio": 0.5, "groups": GROUPS},
    {"l1_ratio": 0.3, "sign": "nonnegative"},
    {"l1_ratio": 0.0, "sign": [0, 3]},
]


def assert_same_optima(one: Path, other: list[Any], room: float = 0.0) -> None:
    """Each optimum is between both bounds: objectives differ by the certified gaps at most."""
    for near, far in zip(one.points, other, strict=True):
        a, b = near.certificate, far.certificate
        assert near.solution.status == Status.CERTIFIED
        assert abs(a.primal - b.primal) <= a.gap + b.gap + room * a.primal
        assert max(a.dual, b.dual) <= min(a.primal, b.primal) + room * a.primal


def asked(lam: float, l1_ratio: float, **more: object) -> dict[str, Any]:
    """What `solve` calls the penalty of a point."""
    return {"lam": lam * (1 - l1_ratio), "l1": lam * l1_ratio, **more}


@each("options", OPTIONS, ids=lambda options: "-".join(options))
def test_each_point_is_the_cold_solution_within_the_certified_gaps(options: dict) -> None:
    path = regularization_path(X, Y, LAMS, tol=1e-7, **options)
    cold = [solve(X, Y, lam, tol=1e-7, **options) for lam in LAMS]
    assert path.complete and path.lams.tolist() == LAMS.tolist()
    assert_same_optima(path, cold)
    shape = {k: v for k, v in options.items() if k != "sample_weight"}
    space = formulate(X, Y, Request.of(1.0, **shape)).meant.space
    for point, other in zip(path.points, cold, strict=True):
        radius = point.certificate.radius + other.certificate.radius
        assert space.norm2(point.solution.w - other.w) ** 0.5 <= radius


@each("case", PENALTIES, ids=str)
def test_so_is_each_point_of_another_penalty_whose_grid_begins_at_zero(case: dict) -> None:
    path = regularization_path(X, Y, [0.02, 0.1], loss="squared_hinge", tol=1e-6, **case)
    assert path.complete and path.lams.tolist() == [0.1, 0.02]
    how = {"loss": "squared_hinge", "tol": 1e-6}
    alone = [solve(X, Y, **how, **asked(lam, **case)) for lam in path.lams]
    assert_same_optima(path, alone, 1e-12)
    for point, other in zip(path.points, alone, strict=True):
        assert (point.solution.zeros_proved is None) == (other.zeros_proved is None)
    if case["l1_ratio"] > 0:  # the grid begins where the weights leave zero
        path = regularization_path(X, Y, n_lams=3, tol=1e-6, **case)
        np.testing.assert_allclose(path.points[0].solution.w, 0, atol=1e-9)
        assert path.lams[-1] == pytest.approx(1e-3 * path.lams[0])
        below = solve(X, Y, tol=1e-7, **asked(0.9 * path.lams[0], **case))
        assert np.abs(below.w).max() > 1e-3


def test_numbers_of_a_path_are_those_of_its_points() -> None:
    path, new = regularization_path(X, Y, LAMS), RNG.normal(size=(7, 4))
    for k, point in enumerate(path.points):
        np.testing.assert_array_equal(path.weights[k], point.solution.w)
        assert path.gaps[k] == point.certificate.gap
        assert path.aucs[k] == auc(X @ point.solution.w, Y == 1)
        expected = (new - X.mean(axis=0)) @ point.solution.w
        np.testing.assert_allclose(path.scores(new)[k], expected, rtol=1e-12, atol=1e-14)


@each("listed", [False, True])
@each("structure", [0.0, 2.0])
def test_from_the_largest_lam_on_the_hinge_only_shrinks(listed: bool, structure: float) -> None:
    pairs = PairList(np.array([0, 3, 6]), np.array([1, 2, 4])) if listed else None
    problem = formulate(X, Y, Request.of(1.0, pairs=pairs, structure=structure)).work
    top = largest_lam(problem)
    options = {"pairs": pairs, "structure": structure, "tol": 1e-12}
    at, above = (solve(X, Y, lam, **options) for lam in (top, 3 * top))
    reach = at.certificate.radius + 3 * above.certificate.radius
    assert np.linalg.norm(3 * above.w - at.w) <= reach < 1e-4
    below = solve(X, Y, top / 3, **options).w
    assert np.abs(below - 3 * at.w).max() > 1e-3 * np.abs(at.w).max()


def test_the_default_grid_starts_there_and_falls_evenly_to_a_share() -> None:
    problem = linear_problem(X, Y, 1.0)
    path = regularization_path(X, Y, n_lams=5, loss="squared_hinge")
    np.testing.assert_array_equal(path.lams, lam_grid(problem, 5))
    assert path.lams[0] == largest_lam(problem)
    np.testing.assert_allclose(path.lams[1:] / path.lams[:-1], 10**-1.25, rtol=1e-12)
    mirrored, y = np.concatenate([X, X]), np.arange(180) < 90  # classes of one mean
    path = regularization_path(mirrored, y, n_lams=3)
    assert path.complete and (path.weights == 0).all()
    path = regularization_path(np.ones((6, 2)), [0, 1] * 3, n_lams=3)
    assert path.lams[0] == 1.0 and (path.weights == 0).all()


def test_out_of_time_and_interrupted_the_points_so_far_are_returned_with_valid_gaps() -> None:
    path = regularization_path(X, Y, LAMS, max_time=1e-9)
    assert not path.complete and len(path.points) == 1
    certificate = path.points[0].certificate
    best = solve(X, Y, LAMS[0], tol=1e-10).certificate.primal
    assert certificate.dual <= best <= certificate.primal

    def stop_at_second(point: PathPoint) -> None:
        if point.lam == LAMS[1]:
            monkey.setattr("aucert.exact.api.path.choose_solver", interrupted)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as monkey:
        path = regularization_path(X, Y, LAMS, callback=stop_at_second)
        assert path.lams.tolist() == LAMS[:2].tolist() and not path.complete
        with pytest.raises(KeyboardInterrupt):
            regularization_path(X, Y, LAMS)


# Rows in partitions.


@pytest.mark.slow
@each("places", first_fast(CUTS))
@each("kind", ["ties", "sorted by class", "weighted"])
def test_however_rows_are_cut_the_optima_are_those_in_memory(places: list[int], kind: str) -> None:
    X, y = some_rows()
    weight = np.arange(1200) % 3 / 2 if kind == "weighted" else None
    if kind == "ties":
        X = np.round(X)
    elif kind == "sorted by class":  # the first partitions have no positive row
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    lams, parts = [1.0, 0.01, 1e-4], PartitionedRows(cut(X, y, weight, places))
    apart = regularization_path(parts, None, lams, tol=1e-6)
    held = regularization_path(X, y, lams, tol=1e-8, sample_weight=weight)
    assert_same_optima(apart, held.points)
    for point in apart.points:
        assert point.auc == pytest.approx(auc(X @ point.solution.w, y, weight), abs=1e-12)


@each("places", [[], [500, 500, 900]])
@each("weighted", [False, True])
@each("loss", ["hinge", "logistic"])
def test_queries_have_the_path_in_memory(places: list[int], weighted: bool, loss: str) -> None:
    X, query, grade, weight = queried_rows(1200, 20, weighted)
    grade[500:900] = 1.0  # a partition without a pair
    X[[540, 720]] += 100.0  # these are in no pair, and the grid knows nothing of them
    rows = GroupedRows(cut_groups(X, query, grade, weight, places))
    how: dict[str, Any] = {"n_lams": 4, "loss": loss}
    apart = regularization_path(rows, None, tol=1e-6, **how)
    # A pair weighs the product of the weights of its rows, as repetition has it.
    held = regularization_path(X, grade, tol=1e-8, qid=query, sample_weight=weight, **how)
    np.testing.assert_allclose(apart.lams, held.lams, rtol=1e-9)
    assert_same_optima(apart, held.points, 1e-8)  # lam differ in the last digits
    np.testing.assert_allclose(apart.aucs, held.aucs, atol=2e-3)


@each("weighted", [False, True])
def test_the_auc_of_many_rows_is_within_a_step(weighted: bool, monkeypatch) -> None:
    X, y = some_rows()
    X = np.round(X)  # many ties
    weight = np.random.default_rng(0).random(1200) if weighted else None
    rows, w = PartitionedRows(cut(X, y, weight, [300, 700])), np.array([1.0, 0.5, -2.0])
    expected = auc(X @ w, y, weight)
    assert spread.auc_of(rows, w) == pytest.approx(expected, abs=1e-13)
    monkeypatch.setattr(spread, "FETCHED_ROWS", 1199)
    low, high = spread.counted_scores(rows, w).auc_range()
    assert low < expected < high and spread.auc_of(rows, w) == (low + high) / 2


class Interrupted(LocalEngine):
    """Ctrl-C while a pass is at work: after so many passes."""

    passes = 1 << 30

    def run(self, task: Task, key: np.ndarray) -> Reply:
        self.passes -= 1
        if self.passes < 0:
            self.passes = 1 << 30
            raise KeyboardInterrupt
        return super().run(task, key)


def test_an_interrupt_of_a_pass_ends_the_path_with_the_points_so_far() -> None:
    X, y = some_rows()
    lams = [1.0, 0.1, 0.01]
    optima = [point.certificate for point in regularization_path(X, y, lams, tol=1e-9).points]
    counts = set()
    for passes in range(1, 30, 3):
        rows = PartitionedRows(cut(X, y, None, [300, 700]))
        rows.engine = Interrupted(rows.engine.partitions)
        rows.engine.passes = passes
        try:
            found = regularization_path(rows, None, lams, tol=1e-4)
        except KeyboardInterrupt:
            counts.add(0)
            continue
        counts.add(len(found.points))
        assert found.interrupted != found.complete
        for point, best in zip(found.points, optima, strict=False):
            held = point.certificate
            assert held.dual <= best.primal and best.dual <= held.primal
    assert len(counts) > 2
