"""A path is the cold solutions at each lam, certified each, at less cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import ROCSVM, Path, Status, regularization_path, solve
from aucert.exact.api.path import PathPoint
from aucert.exact.errors import InputError
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.lam_grid import lam_grid, largest_lam
from aucert.exact.formulation.request import Request
from aucert.exact.pairs.all_pairs import PairList
from aucert.exact.pairs.auc import auc
from aucert.exact.problem.problem import linear_problem
from loops import each, seeds
from problems import random_case

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


@pytest.mark.slow
@each("seed", seeds(10))  # each kind of features once
def test_paths_of_awkward_problems_are_the_cold_solutions(seed: int) -> None:
    case = random_case(seed)
    lams = case.lam * np.array([10.0, 3.0, 1.0])
    options = {"loss": case.loss, "pairs": case.pairs, "tol": 1e-7}
    path = regularization_path(case.X, case.y, lams, **options)
    assert_same_optima(path, [solve(case.X, case.y, lam, **options) for lam in lams])


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


def test_scores_of_new_rows_are_those_of_the_estimator_for_a_kernel() -> None:
    new = RNG.normal(size=(7, 3))
    path = regularization_path(X, Y, [0.1], kernel="rbf", tol=1e-9)
    model = ROCSVM(0.1, kernel="rbf").fit(X, Y)
    expected = model.decision_function(new) - model.intercept_[0]
    np.testing.assert_allclose(path.scores(new)[0], expected, rtol=1e-4, atol=1e-6)


def test_sparse_rows_give_the_dense_path() -> None:
    thin = np.where(np.abs(X) > 0.6, X, 0.0)
    dense = regularization_path(thin, Y, LAMS, tol=1e-9)
    sparse = regularization_path(sp.csr_matrix(thin), Y, LAMS, tol=1e-9)
    np.testing.assert_allclose(dense.weights, sparse.weights, rtol=1e-4, atol=1e-6)


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


def test_the_callback_sees_every_point_as_it_comes() -> None:
    seen: list[PathPoint] = []
    path = regularization_path(X, Y, LAMS, callback=seen.append)
    assert len(seen) == 6 and all(a is b for a, b in zip(seen, path.points, strict=True))


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


@each(
    ("options", "message"),
    [
        ({"lams": []}, "lams is empty"),
        ({"lams": [1.0, -1.0]}, "lam must be > 0"),
        ({"lams": ["x"]}, "lams must be numbers"),
        ({"lams": [np.nan]}, "lam must be > 0"),
        ({"lams": None, "n_lams": 0}, "n_lams must be"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_time": 0.0}, "max_time must be"),
        ({"method": "simplex"}, "method must be"),
        ({"structure_source": "half"}, "source must be"),
        ({"sample_weight": np.ones(90), "pairs": PairList(np.array([0]), np.array([1]))}, "both"),
    ],
)
def test_bad_input_of_a_path_is_refused(options: dict, message: str) -> None:
    arguments: dict[str, Any] = {"lams": LAMS} | options
    with pytest.raises(InputError, match=message):
        regularization_path(X, Y, **arguments)
