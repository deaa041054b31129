"""When the Newton equation is preconditioned: once its price has been spent without."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from aucert.approx.newton.truncated_newton import TruncatedNewton
from aucert.exact.certificate.solution import Status
from aucert.exact.losses.registry import SQUARED_HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.problem import Problem, Ridge, pair_problem
from aucert.exact.solvers.descent import Descent
from aucert.exact.spaces.rows import Rows
from loops import each


def problem_of(n: int, dim: int, lam: float = 1e-6) -> Problem:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, dim)) * np.geomspace(1, 0.03, dim), rng.uniform(size=n) < 0.3
    X[:, 0] += y
    return pair_problem(Rows(X), y, AllPairs(), SQUARED_HINGE, Ridge(lam))


@each("scale", [1e-40, 1.0, 1e40])
@each("solver", [TruncatedNewton(), TruncatedNewton(drawn=0), Descent()])
def test_rows_of_any_size_are_solved(scale: float, solver: Any) -> None:
    problem = problem_of(200, 500, 1e-3)
    assert isinstance(problem.space, Rows)
    scaled = replace(problem.over(Rows(scale * problem.space.X)), penalty=Ridge(1e-3 * scale**2))
    assert solver.solve(scaled).status == Status.CERTIFIED


@each("scale", [1e77, 1e90])
def test_rows_that_are_long_for_their_penalty_are_solved(scale: float) -> None:
    problem = problem_of(200, 500, 1e-3)
    assert isinstance(problem.space, Rows)
    for solver in (TruncatedNewton(1e-9), Descent()):
        found = solver.solve(problem.over(Rows(scale * problem.space.X)))
        assert found.certificate.gap <= 1e-9


def test_a_path_agrees_with_single_solutions() -> None:
    problem, lams = problem_of(150, 80), [1e-2, 1e-4, 1e-6]
    for lam, one in zip(lams, TruncatedNewton(1e-9).path(problem, lams), strict=True):
        other = TruncatedNewton(1e-9).solve(replace(problem, penalty=Ridge(lam)))
        assert np.linalg.norm(one.w - other.w) <= one.certificate.radius + other.certificate.radius
