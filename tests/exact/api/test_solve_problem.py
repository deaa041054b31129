"""A problem that is already stated is solved as `solve` solves its data."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

from aucert.exact import (
    HINGE,
    SQUARED_HINGE,
    ElasticNet,
    InputError,
    Mean,
    OrderedPairs,
    Problem,
    Ridge,
    Rows,
    Status,
    linear_problem,
    ordered_problem,
    solve,
    solve_problem,
)
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Options, Request

RNG = np.random.default_rng(3)
Y = np.arange(60) % 3 == 0
X = RNG.normal(size=(60, 3)) + Y[:, None]


def test_stated_problems_have_the_optimum_of_their_data() -> None:
    found = solve_problem(linear_problem(X, Y, 0.01), np.ones(3), tol=1e-9)
    assert found.status == Status.CERTIFIED
    assert found.certificate.primal == pytest.approx(solve(X, Y, 0.01).certificate.primal)
    qid = np.arange(60) // 6
    ranked = solve_problem(ordered_problem(X, Y, 0.01, qid=qid), method="descent")
    assert ranked.certificate.primal == pytest.approx(solve(X, Y, 0.01, qid=qid).certificate.primal)
    sparse = solve_problem(
        replace(linear_problem(X, Y, 1.0, SQUARED_HINGE), penalty=ElasticNet(0.0, 0.05)), tol=1e-8
    )
    assert sparse.zeros_proved is not None


def test_what_cannot_be_solved_is_refused_in_a_sentence() -> None:
    meant = formulate(X, Y, Request.of(0.1, structure=2.0)).meant
    with pytest.raises(InputError, match="structure"):
        solve_problem(meant)
    pairs = OrderedPairs(np.zeros(60, int), Y.astype(float))
    with pytest.raises(InputError, match="ordered"):
        solve_problem(Problem(Rows(X), Mean(pairs, HINGE), Ridge(0.1)), method="qp")


def test_options_are_checked_once_and_stay() -> None:
    wrong: dict[str, Any] = {"tol": 0.0, "max_time": -1.0, "callback": 3, "n_jobs": 0}
    for name, value in wrong.items():
        with pytest.raises(InputError, match=name):
            Options(**{name: value})
    with pytest.raises(FrozenInstanceError):
        Options().tol = 1.0  # type: ignore[misc]
