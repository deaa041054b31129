"""Paths of penalties with an l1, groups or signs: each point is what `solve` finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.exact import ROCSVM, regularization_path, solve
from aucert.exact.errors import InputError
from aucert.exact.formulation.lam_grid import strengthened
from aucert.exact.problem.penalties import ElasticNet
from loops import each

RNG = np.random.default_rng(2)
Y = np.arange(40) % 3 == 0
X = RNG.normal(size=(40, 4)) + np.array([0.8, 0.0, 0.0, -0.4]) * Y[:, None]
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
    path = regularization_path(X, Y, [0.02, 0.1], loss="squared_hinge", tol=1e-6, **case)
    assert path.complete and path.lams.tolist() == [0.1, 0.02]
    for point in path.points:
        alone = solve(X, Y, loss="squared_hinge", tol=1e-6, **asked(point.lam, **case))
        one, other = point.certificate, alone.certificate
        assert point.solution.status == "certified"
        assert max(one.dual, other.dual) <= min(one.primal, other.primal) + 1e-12
        assert (point.solution.zeros_proved is None) == (alone.zeros_proved is None)


@each("case", CASES[:3], ids=str)
def test_the_grid_begins_where_the_weights_leave_zero(case: dict) -> None:
    path = regularization_path(X, Y, n_lams=3, tol=1e-6, **case)
    top = path.points[0]
    np.testing.assert_allclose(top.solution.w, 0, atol=1e-9)
    assert path.lams[-1] == pytest.approx(1e-3 * top.lam)
    below = solve(X, Y, tol=1e-7, **asked(0.9 * top.lam, **case))
    assert np.abs(below.w).max() > 1e-3


def test_paths_of_ordered_pairs_have_penalties_too() -> None:
    qid, grade = np.arange(40) % 4, np.round(X[:, 0] + RNG.normal(size=40))
    path = regularization_path(X, grade, n_lams=3, qid=qid, l1_ratio=1.0, tol=1e-5)
    assert path.complete and not path.points[0].solution.w.any()
    assert path.points[0].certificate.radius is None


def test_what_makes_no_sense_is_refused() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"l1_ratio": 1.5}, "l1_ratio"),
        ({"groups": GROUPS}, "l1_ratio > 0"),
        ({"l1_ratio": 0.5, "groups": [0]}, "4 features"),
        ({"l1_ratio": 0.5, "kernel": "rbf"}, "linear kernel"),
        ({"sign": "positive"}, "nonnegative"),
    ]
    for wrong, why in cases:
        with pytest.raises(InputError, match=why):
            regularization_path(X, Y, [0.1], **wrong)
    with pytest.raises(InputError, match="penalties of this library"):
        strengthened(object(), 1.0)
    assert strengthened(ElasticNet(2.0, 3.0), 0.5) == ElasticNet(1.0, 1.5)


def test_the_estimator_takes_groups_and_signs() -> None:
    model = ROCSVM(0.01, loss="squared_hinge", l1=0.05, groups=GROUPS, sign=[0], tol=1e-6)
    found = model.fit(X, Y)
    wanted = solve(X, Y, 0.01, loss="squared_hinge", l1=0.05, groups=GROUPS, sign=[0], tol=1e-6)
    np.testing.assert_array_equal(found.coef_[0], wanted.w)
    assert found.solution_.zeros_proved is not None
