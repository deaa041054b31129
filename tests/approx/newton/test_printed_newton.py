"""[Nonlinear, Algorithm 2] as printed: full steps cycle, and its gradient belongs to half of C."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aucert.approx.newton.truncated_newton import TruncatedNewton
from aucert.exact.certificate.solution import Status
from aucert.exact.losses.registry import SQUARED_HINGE
from aucert.exact.problem.problem import Problem, Ridge, linear_problem, pair_problem
from aucert.exact.problem.scalings import lam_from_C
from aucert.exact.spaces.rows import Rows
from loops import each
from problems import Case, random_case

# Four rows on which full Newton steps cycle; [Nonlinear, eq. (5)] with p = 2 and C = 10.
CYCLE_X = np.array([[3.0, 1.0], [-4.0, 4.0], [-4.0, 3.0], [2.0, 1.0]])
CYCLE_Y = [1, 1, 0, 0]
CYCLE_LAM = lam_from_C(10.0, 4, "nonlinear-2")


def squared_hinge(case: Case) -> Problem:
    return pair_problem(Rows(case.X), case.positive, case.pairs, SQUARED_HINGE, Ridge(case.lam))


def cycle_problem(C: float = 10.0) -> Problem:
    return linear_problem(CYCLE_X, CYCLE_Y, lam_from_C(C, 4, "nonlinear-2"), "squared_hinge")


def printed_objective(w: np.ndarray, C: float = 10.0) -> float:
    """Return 1/2 |w|^2 + C sum hinge^2 on the four rows, a sum and not a mean."""
    margins = (CYCLE_X[:2, None] - CYCLE_X[None, 2:]) @ w
    return float(w @ w) / 2 + C * float((np.maximum(0, 1 - margins) ** 2).sum())


def test_full_steps_cycle_with_period_three_on_four_rows() -> None:
    problem = cycle_problem()
    full = TruncatedNewton(forcing=1e-12, line_search=False, max_iter=60)
    solution = full.solve(problem)
    values = [step.primal / CYCLE_LAM for step in solution.history]
    np.testing.assert_allclose(values[-3:], values[-6:-3], rtol=1e-9)
    np.testing.assert_allclose(sorted(values[-3:]), [3.02653, 4.59846, 461.2925], rtol=1e-5)
    assert solution.status == Status.ITERATION_LIMIT
    assert solution.certificate.primal / CYCLE_LAM == pytest.approx(values[-1], rel=1e-9)


def test_the_line_search_ends_the_cycle_at_the_optimum() -> None:
    solution = TruncatedNewton(tol=1e-12, forcing=1e-12).solve(cycle_problem())
    assert solution.certificate.reaches(1e-10)
    assert printed_objective(solution.w) == pytest.approx(2.570228, abs=5e-7)
    assert solution.certificate.primal / CYCLE_LAM == pytest.approx(printed_objective(solution.w))
    values = [step.primal for step in solution.history]
    assert values == sorted(values, reverse=True)


@each("seed", [0, 3, 5, 13])
def test_the_printed_gradient_converges_to_the_optimum_for_half_of_c(seed: int) -> None:
    problem = replace(squared_hinge(random_case(seed)), penalty=Ridge(0.1))
    literal = TruncatedNewton(tol=1e-12, paper_literal=True, max_iter=500).solve(problem)
    half = TruncatedNewton(tol=1e-12).solve(replace(problem, penalty=Ridge(0.2)))
    right = TruncatedNewton(tol=1e-12).solve(problem)
    np.testing.assert_allclose(literal.w, half.w, atol=1e-5 * float(np.linalg.norm(half.w)))
    assert np.linalg.norm(literal.w - right.w) > 1e-2 * np.linalg.norm(right.w)
    assert literal.n_iter > right.n_iter


def test_the_printed_gradient_is_not_believed() -> None:
    literal = TruncatedNewton(paper_literal=True, max_iter=500).solve(cycle_problem())
    assert literal.status == Status.STALLED  # its own gradient is zero
    assert literal.certificate.relative_gap is not None and literal.certificate.relative_gap > 0.05
    assert printed_objective(literal.w) > 2.8
    best = TruncatedNewton().solve(cycle_problem(5.0))
    np.testing.assert_allclose(literal.w, best.w, rtol=1e-3)


def test_the_printed_gradient_decides_when_the_printed_method_stops() -> None:
    loose, tight = (
        TruncatedNewton(tol=tol, paper_literal=True).solve(cycle_problem()) for tol in (1e-3, 1e-9)
    )
    assert loose.status == tight.status == Status.STALLED
    for solution, tol in ((loose, 1e-3), (tight, 1e-9)):
        D = (CYCLE_X[:2, None] - CYCLE_X[None, 2:]).reshape(-1, 2)
        printed = solution.w - 10.0 * D.T @ np.maximum(0, 1 - D @ solution.w)
        gap = float(printed @ printed) * CYCLE_LAM / 2  # |lam times it|^2 / (2 lam)
        assert 1e-4 * tol < gap / solution.certificate.primal <= 0.1 * tol
