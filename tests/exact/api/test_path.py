"""A path is the cold solutions at each lam, certified each, at less cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.exact import ROCSVM, Path, Status, regularization_path, solve
from aucert.exact.api.path import PathPoint
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.lam_grid import lam_grid, largest_lam
from aucert.exact.formulation.request import Request
from aucert.exact.pairs.all_pairs import PairList
from aucert.exact.pairs.auc import auc
from aucert.exact.problem.problem import linear_problem
from loops import each

RNG = np.random.default_rng(11)
Y = (np.arange(90) % 3 == 0).astype(int)
X = RNG.normal(size=(90, 3)) + 0.6 * Y[:, None]
LAMS = np.geomspace(1.0, 1e-4, 6)


def assert_same_optima(path: Path, cold: list) -> None:
    """Objectives agree within the two certified gaps, and each point is certified."""
    for point, other in zip(path.points, cold, strict=True):
        mine, theirs = point.certificate, other.certificate
        assert point.solution.status == Status.CERTIFIED
        allowed = mine.gap + theirs.gap
        assert abs(mine.primal - theirs.primal) <= allowed
        assert max(mine.dual, theirs.dual) <= min(mine.primal, theirs.primal) + allowed


OPTIONS = [
    {"loss": "hinge"},
    {"loss": "squared_hinge"},
    {"loss": "square"},
    {"loss": "hinge", "structure": 4.0},
    {"loss": "squared_hinge", "kernel": "rbf", "gamma": 0.3},
    {"loss": "hinge", "kernel": "laplacian", "structure": 1.0},
    {"loss": "hinge", "sample_weight": 1.0 + np.arange(90) % 3},
    {"loss": "hinge", "positive": 0},
]


@each("options", OPTIONS, ids=lambda options: "-".join(options))
def test_each_point_is_the_cold_solution_within_the_certified_gaps(options: dict) -> None:
    path = regularization_path(X, Y, LAMS, tol=1e-7, **options)
    cold = [solve(X, Y, lam, tol=1e-7, **options) for lam in LAMS]
    assert path.complete and path.lams.tolist() == LAMS.tolist()
    assert_same_optima(path, cold)
    for point, other in zip(path.points, cold, strict=True):
        radius = point.certificate.radius + other.certificate.radius
        norm2 = formulate(
            X, Y, Request.of(1.0, **{k: v for k, v in options.items() if k != "sample_weight"})
        ).meant.space.norm2(point.solution.w - other.w)
        assert norm2**0.5 <= radius


def test_numbers_of_a_path_are_those_of_its_points() -> None:
    path = regularization_path(X, Y, LAMS)
    assert path.weights.shape == (6, 3)
    new = RNG.normal(size=(7, 3))
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


def test_classes_of_one_mean_and_equal_rows_have_a_grid() -> None:
    mirrored, y = np.concatenate([X, X]), np.arange(180) < 90
    path = regularization_path(mirrored, y, n_lams=3)
    assert path.complete and (path.weights == 0).all()
    path = regularization_path(np.ones((6, 2)), [0, 1] * 3, n_lams=3)
    assert path.lams[0] == 1.0 and (path.weights == 0).all()


def test_when_the_time_is_over_the_points_so_far_are_returned_with_valid_gaps() -> None:
    path = regularization_path(X, Y, LAMS, max_time=1e-9)
    assert not path.complete and len(path.points) == 1
    certificate = path.points[0].certificate
    best = solve(X, Y, LAMS[0], tol=1e-10).certificate.primal
    assert certificate.dual <= best <= certificate.primal


def test_an_interrupt_ends_the_path_with_the_points_so_far() -> None:
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


PRNG = np.random.default_rng(2)
PY = np.arange(40) % 3 == 0
PX = PRNG.normal(size=(40, 4)) + np.array([0.8, 0.0, 0.0, -0.4]) * PY[:, None]
GROUPS = ["a", "a", "b", "b"]
CASES: list[dict[str, Any]] = [
    {"l1_ratio": 1.0},
    {"l1_ratio": 0.5, "groups": GROUPS},
    {"l1_ratio": 0.3, "sign": "nonnegative"},
    {"l1_ratio": 0.0, "sign": [0, 3]},
]


def asked(lam: float, l1_ratio: float, **more: object) -> dict:
    """What `solve` calls the penalty of a point."""
    l2, l1 = lam * (1 - l1_ratio), lam * l1_ratio
    return {"lam": l2, "l1": l1, **more}


@each("case", CASES, ids=str)
def test_each_point_is_what_solve_finds(case: dict) -> None:
    path = regularization_path(PX, PY, [0.02, 0.1], loss="squared_hinge", tol=1e-6, **case)
    assert path.complete and path.lams.tolist() == [0.1, 0.02]
    for point in path.points:
        alone = solve(PX, PY, loss="squared_hinge", tol=1e-6, **asked(point.lam, **case))
        one, other = point.certificate, alone.certificate
        assert point.solution.status == "certified"
        assert max(one.dual, other.dual) <= min(one.primal, other.primal) + 1e-12
        assert (point.solution.zeros_proved is None) == (alone.zeros_proved is None)


@each("case", CASES[:3], ids=str)
def test_the_grid_begins_where_the_weights_leave_zero(case: dict) -> None:
    path = regularization_path(PX, PY, n_lams=3, tol=1e-6, **case)
    top = path.points[0]
    np.testing.assert_allclose(top.solution.w, 0, atol=1e-9)
    assert path.lams[-1] == pytest.approx(1e-3 * top.lam)
    below = solve(PX, PY, tol=1e-7, **asked(0.9 * top.lam, **case))
    assert np.abs(below.w).max() > 1e-3


def test_the_estimator_takes_groups_and_signs() -> None:
    model = ROCSVM(0.01, loss="squared_hinge", l1=0.05, groups=GROUPS, sign=[0], tol=1e-6)
    found = model.fit(PX, PY)
    wanted = solve(PX, PY, 0.01, loss="squared_hinge", l1=0.05, groups=GROUPS, sign=[0], tol=1e-6)
    np.testing.assert_array_equal(found.coef_[0], wanted.w)
    assert found.solution_.zeros_proved is not None
