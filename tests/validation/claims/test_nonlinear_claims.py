"""The claims of [Nonlinear]: their verdicts, the cycle by hand, and that they notice a mistake."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from aucert.approx.newton.truncated_newton import TruncatedNewton
from aucert.validation import suite
from aucert.validation.claims import nonlinear
from aucert.validation.report.row import Row
from loops import each


def run(name: str, seed: int = 0) -> Row:
    return suite.run([name], seed=seed).rows[0]


def test_the_cycle_is_exact_and_of_length_three() -> None:
    row = run("full-newton-steps-converge")
    assert row.details["length of the cycle"] == 3
    assert sorted(row.details["objectives on the cycle"]) == pytest.approx(
        [3.02653, 4.59846, 461.2925], rel=1e-5
    )
    assert row.details["the optimum, certified"] == pytest.approx(2.570228, abs=1e-6)


def test_steps_cut_short_find_no_optimum_on_the_same_rows_either() -> None:
    """Conjugate gradients stopped at a tenth of the gradient, two unknowns, full steps from 0."""
    pairs, C = np.array(nonlinear.differences(), float), float(nonlinear.C)
    w, values = np.zeros(2), []
    for _ in range(300):
        margins = 1 - pairs @ w
        active = pairs[margins > 0]
        H = np.eye(2) + 2 * C * active.T @ active
        gradient = w - 2 * C * active.sum(axis=0) + 2 * C * active.T @ active @ w
        step, residual = np.zeros(2), -gradient
        direction = residual
        while np.linalg.norm(residual) > 0.1 * np.linalg.norm(gradient):
            length = residual @ residual / (direction @ H @ direction)
            step = step + length * direction
            fresh = residual - length * (H @ direction)
            direction = fresh + fresh @ fresh / (residual @ residual) * direction
            residual = fresh
        w = w + step
        values.append(w @ w / 2 + C * np.square(np.maximum(0, 1 - pairs @ w)).sum())
    best = run("full-newton-steps-converge").details["the optimum, certified"]
    assert min(values[100:]) > best + 0.1


def test_the_rational_newton_step_is_the_library_s() -> None:
    problem = nonlinear.fixture()
    w = (Fraction(0), Fraction(0))
    full = TruncatedNewton(forcing=1e-12, line_search=False)
    for n_iter in range(2, 7):
        w = nonlinear.exact_newton(w)
        solution = replace(full, max_iter=n_iter).solve(problem)
        np.testing.assert_allclose(solution.w, [float(part) for part in w], 1e-9, 1e-12)
        value = float(nonlinear.exact_objective(w))
        assert solution.certificate.primal / problem.lam == pytest.approx(value)


# Planted mistakes: each must turn a verdict round.


def test_the_right_factor_in_print_would_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nonlinear, "PRINTED_FACTOR", 2.0)
    assert run("gradient-as-printed").verdict == "holds"


def test_full_steps_would_converge_for_a_small_c(monkeypatch: pytest.MonkeyPatch) -> None:
    cost = Fraction(1, 1000)
    right = nonlinear.fixture
    monkeypatch.setattr(nonlinear, "C", cost)
    monkeypatch.setattr(nonlinear, "fixture", lambda: right(float(cost)))
    assert run("full-newton-steps-converge").verdict == "holds"


@pytest.mark.slow
@each("broken", [{"line_search": False}, {"paper_literal": True}])
def test_the_printed_method_in_place_of_the_right_one_is_noticed(
    monkeypatch: pytest.MonkeyPatch, broken: dict[str, bool]
) -> None:
    def printed(problem: Any, tol: float) -> Any:
        return TruncatedNewton(tol=tol, max_iter=100, **broken).solve(problem)

    monkeypatch.setattr(nonlinear, "certified", printed)
    assert run("newton-with-a-line-search-converges").verdict == "fails"


def test_a_solver_that_stops_early_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = nonlinear.NBAUC
    monkeypatch.setattr(nonlinear, "NBAUC", lambda lam, **rest: right(lam, **{**rest, "tol": 1e-3}))
    assert run("nbauc-reaches-its-optimum").verdict == "fails"


def test_the_right_gradient_does_not_solve_for_half_of_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nonlinear, "TruncatedNewton", lambda tol, **rest: TruncatedNewton(tol=tol))
    assert run("printed-gradient-solves-for-half-of-c").verdict == "fails"
