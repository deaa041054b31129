from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aucert.approx import Adamax, GradientDescent, draw_pairs
from aucert.exact.api.solve import choose_solver
from aucert.exact.certificate.solution import Status
from aucert.exact.problem.problem import Problem, linear_problem
from loops import each

LOSSES = ["hinge", "squared_hinge", "square"]


def overlapping(n: int = 40, d: int = 3, lam: float = 0.05, loss: str = "hinge") -> Problem:
    rng = np.random.default_rng(0)
    y = (np.arange(n) % 3 == 0).astype(int)
    return linear_problem(rng.normal(size=(n, d)) + 0.7 * y[:, None], y, lam, loss)


def one_pair(x: list[float], lam: float = 0.5) -> Problem:
    """A positive row at x and a negative one at 0: F(w) = lam/2 |w|^2 + max(0, 1 - w'x)."""
    return linear_problem(np.array([x, [0.0] * len(x)]), [1, 0], lam)


def points(solver, problem: Problem, steps: int) -> list[np.ndarray]:
    """w after 1, 2, ... steps."""
    return [replace(solver, max_iter=k).solve(problem).w for k in range(1, steps + 1)]


def test_three_textbook_steps_by_hand() -> None:
    solver = Adamax(step=0.5, beta1=0.5, beta2=0.5, tol=0, keep="last")
    w1, w2, w3 = (float(w[0]) for w in points(solver, one_pair([1.0]), 3))
    # g(w) = w/2 - 1[w < 1].   t = 1: g = -1, m = -1/2, u = 1, bias 1/2.
    assert w1 == pytest.approx(0.5 / (1 / 2) * (1 / 2), rel=1e-14)
    # t = 2: g = -3/4, m = -1/4 - 3/8 = -5/8, u = max(1/2, 3/4) = 3/4, bias 3/4.
    assert w2 == pytest.approx(1 / 2 + 0.5 / (3 / 4) * (5 / 8) / (3 / 4), rel=1e-14)
    # w2 = 19/18 is past the kink. t = 3: g = 19/36, m = -5/16 + 19/72 = -7/144,
    # u = max(3/8, 19/36) = 19/36, bias 7/8.
    assert w3 == pytest.approx(19 / 18 + 0.5 / (7 / 8) * (7 / 144) / (19 / 36), rel=1e-14)
    solver = GradientDescent(step=0.5, decay=1.0, tol=0, keep="last")  # a falling step
    w1, w2 = (float(w[0]) for w in points(solver, one_pair([1.0]), 2))
    assert w1 == pytest.approx(0.5, rel=1e-14)
    assert w2 == pytest.approx(0.5 + 0.5 / 2 * (1 - 0.25), rel=1e-14)


def test_the_scalar_variant_scales_all_coordinates_by_one_norm() -> None:
    solver = Adamax(step=0.1, beta1=0.5, beta2=0.5, tol=0, keep="last")
    w1, w2 = points(solver, one_pair([2.0, 1.0]), 2)  # the textbook: each by its own
    np.testing.assert_allclose(w1, [0.1, 0.1], rtol=1e-14)
    # g = (0.05 - 2, 0.05 - 1), m = (-0.5 - 0.975, -0.25 - 0.475), u = (1.95, 0.95), bias 3/4.
    expected = [0.1 + 0.1 / 0.75 * 1.475 / 1.95, 0.1 + 0.1 / 0.75 * 0.725 / 0.95]
    np.testing.assert_allclose(w2, expected, rtol=1e-14)
    w1, w2 = points(replace(solver, variant="scalar-norm"), one_pair([2.0, 1.0]), 2)
    np.testing.assert_allclose(w1, [0.1, 0.05], rtol=1e-14)
    # g = (0.05 - 2, 0.025 - 1), m = (-0.5 - 0.975, -0.25 - 0.4875), u = 1.95, bias 3/4.
    expected = [0.1 + 0.1 / 0.75 * 1.475 / 1.95, 0.05 + 0.1 / 0.75 * 0.7375 / 1.95]
    np.testing.assert_allclose(w2, expected, rtol=1e-14)


@each("loss", LOSSES)
@each("listed", [False, True])
def test_the_gradient_is_that_of_differences(loss: str, listed: bool) -> None:
    problem, w = problem_of(loss, listed), np.array([0.3, -0.2, 0.5])
    solver = GradientDescent(step=1e-3, max_iter=1, tol=0, keep="last")
    gradient = (w - solver.solve(problem, w).w) / 1e-3
    h = 1e-7  # no margin is within h of the hinge's kink here
    slopes = [
        (problem.objective(w + h * e) - problem.objective(w - h * e)) / (2 * h) for e in np.eye(3)
    ]
    np.testing.assert_allclose(gradient, slopes, atol=1e-7)


def test_best_is_kept_unless_last_is_asked_for() -> None:
    problem = one_pair([1.0])
    solver = GradientDescent(step=1.9, tol=0, max_iter=4)  # jumps over the optimum w = 1
    best, last = solver.solve(problem), replace(solver, keep="last").solve(problem)
    assert best.certificate.primal < last.certificate.primal
    least = min(line.primal for line in best.history)
    assert 0 <= best.certificate.primal - least <= best.certificate.rounding
    assert last.certificate.primal == pytest.approx(last.history[-1].primal)


@pytest.mark.slow
def test_the_scalar_variant_stops_by_step_size_and_the_textbook_does_not() -> None:
    problem = overlapping()
    scalar = Adamax(step=0.01, variant="scalar-norm", tol=0, max_iter=3000).solve(problem)
    assert scalar.status == Status.STALLED and scalar.n_iter < 3000
    textbook = Adamax(step=0.01, tol=0, max_iter=3000).solve(problem)
    assert textbook.status == Status.ITERATION_LIMIT and textbook.n_iter == 3000
    own = Adamax(step=0.01, tol=0, step_tol=1e-3, max_iter=3000).solve(problem)
    assert own.status == Status.STALLED and own.n_iter < 3000


def test_an_interrupt_and_a_time_limit_leave_a_certified_best_point() -> None:
    def interrupt(line) -> None:
        if line.n_iter == 3:
            raise KeyboardInterrupt

    stopped = Adamax(tol=0).solve(overlapping(), callback=interrupt)
    assert stopped.status == Status.INTERRUPTED and stopped.n_iter == 3
    timed = Adamax(tol=0, max_iter=10**6, max_time=0.05).solve(overlapping())
    assert timed.status == Status.TIME_LIMIT and timed.certificate.gap > 0


def problem_of(loss: str, listed: bool) -> Problem:
    whole = overlapping(loss=loss)
    return whole.with_pairs(draw_pairs(whole.pairs.positive, 60, 0)) if listed else whole


@each("loss", LOSSES)
@each("listed", [False, True])
def test_the_gap_is_never_below_the_true_error_and_reaches_what_is_asked(
    loss: str, listed: bool
) -> None:
    problem = problem_of(loss, listed)
    solved = choose_solver(problem, "auto", 1e-9, None).solve(problem).certificate
    for steps in (1, 5, 50, 500):
        certificate = Adamax(step=0.05, max_iter=steps, tol=0).solve(problem).certificate
        assert certificate.gap >= certificate.primal - solved.primal
        assert certificate.dual <= solved.primal
    for solver in (Adamax(step=0.05), *([] if loss == "hinge" else [GradientDescent(step=0.1)])):
        found = replace(solver, decay=0.5, tol=1e-4, max_iter=20_000).solve(problem)
        gap = found.certificate.relative_gap
        assert found.status == Status.CERTIFIED and gap is not None and gap <= 1e-4
        assert found.certificate.primal <= solved.dual * (1 + 1.01e-4)
    if loss != "hinge":  # a step that diverges ends the run with the best point
        found = GradientDescent(step=1e6, max_iter=1000).solve(problem)
        assert found.status == Status.STALLED and found.n_iter < 1000
        assert np.isfinite(found.w).all() and found.certificate.primal <= 1 + 1e-12
