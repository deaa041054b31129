from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aucert.approx import Adamax, GradientDescent, draw_pairs
from aucert.exact.api.solve import choose_solver
from aucert.exact.certificate.certificate import Minorant, dual_value
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.rows import Rows
from loops import each, first_fast

LOSSES = ["hinge", "squared_hinge", "square"]


def overlapping(n: int = 40, d: int = 3, lam: float = 0.05, loss: str = "hinge") -> Problem:
    rng = np.random.default_rng(0)
    y = (np.arange(n) % 3 == 0).astype(int)
    return linear_problem(rng.normal(size=(n, d)) + 0.7 * y[:, None], y, lam, loss)


def incomplete(problem: Problem, n_pairs: int = 60) -> Problem:
    return problem.with_pairs(draw_pairs(problem.pairs.positive, n_pairs, 0))


def one_pair(x: list[float], lam: float = 0.5) -> Problem:
    """A positive row at x and a negative one at 0: F(w) = lam/2 |w|^2 + max(0, 1 - w'x)."""
    return linear_problem(np.array([x, [0.0] * len(x)]), [1, 0], lam)


def points(solver, problem: Problem, steps: int) -> list[np.ndarray]:
    """w after 1, 2, ... steps."""
    return [replace(solver, max_iter=k).solve(problem).w for k in range(1, steps + 1)]


def optimum(problem: Problem) -> float:
    """The optimum, from below, to 1e-9."""
    solution = choose_solver(problem, "auto", 1e-9, None).solve(problem)
    assert solution.status == Status.CERTIFIED
    return solution.certificate.dual


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


def test_the_textbook_scales_each_coordinate_by_its_own_norm() -> None:
    solver = Adamax(step=0.1, beta1=0.5, beta2=0.5, tol=0, keep="last")
    w1, w2 = points(solver, one_pair([2.0, 1.0]), 2)
    np.testing.assert_allclose(w1, [0.1, 0.1], rtol=1e-14)
    # g = (0.05 - 2, 0.05 - 1), m = (-0.5 - 0.975, -0.25 - 0.475), u = (1.95, 0.95), bias 3/4.
    expected = [0.1 + 0.1 / 0.75 * 1.475 / 1.95, 0.1 + 0.1 / 0.75 * 0.725 / 0.95]
    np.testing.assert_allclose(w2, expected, rtol=1e-14)


def test_the_scalar_variant_scales_all_coordinates_by_one_norm() -> None:
    solver = Adamax(step=0.1, beta1=0.5, beta2=0.5, tol=0, keep="last", variant="scalar-norm")
    w1, w2 = points(solver, one_pair([2.0, 1.0]), 2)
    np.testing.assert_allclose(w1, [0.1, 0.05], rtol=1e-14)
    # g = (0.05 - 2, 0.025 - 1), m = (-0.5 - 0.975, -0.25 - 0.4875), u = 1.95, bias 3/4.
    expected = [0.1 + 0.1 / 0.75 * 1.475 / 1.95, 0.05 + 0.1 / 0.75 * 0.7375 / 1.95]
    np.testing.assert_allclose(w2, expected, rtol=1e-14)


def test_two_gradient_steps_by_hand_with_a_falling_step() -> None:
    solver = GradientDescent(step=0.5, decay=1.0, tol=0, keep="last")
    w1, w2 = (float(w[0]) for w in points(solver, one_pair([1.0]), 2))
    assert w1 == pytest.approx(0.5, rel=1e-14)
    assert w2 == pytest.approx(0.5 + 0.5 / 2 * (1 - 0.25), rel=1e-14)


@each("loss", LOSSES)
@each("listed", [False, True])
def test_the_gradient_is_that_of_differences(loss: str, listed: bool) -> None:
    problem = overlapping(loss=loss)
    problem = incomplete(problem) if listed else problem
    w = np.array([0.3, -0.2, 0.5])
    solver = GradientDescent(step=1e-3, max_iter=1, tol=0, keep="last")
    gradient = (w - solver.solve(problem, w).w) / 1e-3
    h = 1e-7  # no margin is within h of the hinge's kink here
    slopes = [
        (problem.objective(w + h * e) - problem.objective(w - h * e)) / (2 * h) for e in np.eye(3)
    ]
    np.testing.assert_allclose(gradient, slopes, atol=1e-7)


def test_the_hinge_step_is_equation_8_pair_by_pair() -> None:
    problem = incomplete(overlapping())
    space, pairs, w = problem.space, problem.pairs, np.array([0.3, -0.2, 0.5])
    assert isinstance(space, Rows) and isinstance(pairs, PairList)
    differences = np.asarray(space.X[pairs.i] - space.X[pairs.j])
    active = 1 - differences @ w > 0
    gradient = -(differences * active[:, None]).mean(axis=0) + problem.lam * w
    solver = GradientDescent(step=0.1, max_iter=1, tol=0, keep="last")
    np.testing.assert_allclose(solver.solve(problem, w).w, w - 0.1 * gradient, rtol=1e-13)


@each("loss", first_fast(LOSSES))
@each(
    "solver", [Adamax(step=0.05), pytest.param(GradientDescent(step=0.1), marks=pytest.mark.slow)]
)
def test_both_reach_a_certified_optimum(loss: str, solver) -> None:
    solver = replace(solver, decay=0.5, tol=1e-4, max_iter=20_000)
    for problem in (overlapping(loss=loss), incomplete(overlapping(loss=loss))):
        solution = solver.solve(problem)
        assert solution.status == Status.CERTIFIED
        assert solution.certificate.relative_gap is not None
        assert solution.certificate.relative_gap <= 1e-4
        assert solution.certificate.primal <= optimum(problem) * (1 + 1.01e-4)


@pytest.mark.slow
@each(
    "solver",
    [
        Adamax(step=0.1, decay=0.5),
        pytest.param(
            Adamax(step=0.1, decay=0.5, variant="scalar-norm", step_tol=0), marks=pytest.mark.slow
        ),
        pytest.param(GradientDescent(step=1 / 0.05, decay=1.0), marks=pytest.mark.slow),
    ],
)
def test_the_error_vanishes_as_the_steps_grow(solver) -> None:
    problem = incomplete(overlapping())
    best = optimum(problem)
    errors = [
        replace(solver, tol=0, max_iter=k).solve(problem).certificate.primal / best - 1
        for k in (10, 300, 10_000)
    ]
    assert errors[0] > 10 * errors[1] > 100 * errors[2]
    assert -1e-9 < errors[2] < 1e-4


@each("steps", [1, 5, 50, 500])
@each("loss", LOSSES)
@each("listed", [False, True])
def test_the_gap_is_never_below_the_true_error(steps: int, loss: str, listed: bool) -> None:
    problem = overlapping(loss=loss)
    problem = incomplete(problem) if listed else problem
    certificate = Adamax(step=0.05, max_iter=steps, tol=0).solve(problem).certificate
    solved = choose_solver(problem, "auto", 1e-9, None).solve(problem).certificate
    assert certificate.gap >= certificate.primal - solved.primal
    assert certificate.dual <= solved.primal


@pytest.mark.slow
def test_the_average_of_slopes_proves_what_no_single_slope_does() -> None:
    problem = incomplete(overlapping())
    space, w, single = problem.space, np.zeros(3), -np.inf
    for t in range(1, 2001):
        scores = space.scores(w)
        witness = Minorant.from_scores(problem, scores)
        single = max(single, dual_value(problem, witness)[0])
        w = w - 0.1 / t**0.5 * (problem.lam * w - space.pull(problem.sums(scores).c))
    solver = GradientDescent(step=0.1, decay=0.5, tol=0, max_iter=2000)
    best = optimum(problem)
    assert best - solver.solve(problem).certificate.dual < 0.05 * (best - single)


def test_all_pairs_drawn_once_give_the_same_descent_as_all_pairs() -> None:
    full = overlapping()
    drawn = full.with_pairs(draw_pairs(full.pairs.positive, full.n_pairs, 0, replace=False))
    solver = Adamax(step=0.05, tol=0, max_iter=30, keep="last")
    np.testing.assert_allclose(solver.solve(full).w, solver.solve(drawn).w, rtol=1e-10)


def test_row_weights_mean_repetition() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(12, 2)), np.arange(12) % 2
    weight = rng.integers(1, 4, size=12)
    weighted = linear_problem(X, y, 0.1, "squared_hinge", AllPairs(weight.astype(float)))
    repeated = linear_problem(
        np.repeat(X, weight, axis=0), np.repeat(y, weight), 0.1, "squared_hinge"
    )
    solver = Adamax(step=0.05, tol=0, max_iter=50, keep="last")
    np.testing.assert_allclose(solver.solve(weighted).w, solver.solve(repeated).w, rtol=1e-9)


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


@pytest.mark.slow
def test_it_stops_where_the_gap_is_within_tol_and_starts_no_run_at_the_optimum() -> None:
    problem = overlapping(loss="squared_hinge")
    first = Adamax(step=0.05, tol=1e-6, decay=0.5, max_iter=20_000).solve(problem)
    assert first.status == Status.CERTIFIED and 0 < first.n_iter < 20_000
    again = Adamax(step=0.05, tol=1e-6).solve(problem, w0=first.w)
    assert again.status == Status.CERTIFIED and again.n_iter == 0
    np.testing.assert_array_equal(again.w, first.w)


@each("loss", ["squared_hinge", "square"])
def test_a_step_that_diverges_ends_the_run_with_the_best_point(loss: str) -> None:
    problem = overlapping(loss=loss)
    solution = GradientDescent(step=1e6, max_iter=1000).solve(problem)
    assert solution.status == Status.STALLED and solution.n_iter < 1000
    assert np.isfinite(solution.w).all() and solution.certificate.primal <= 1 + 1e-12


def test_an_interrupt_and_a_time_limit_leave_a_certified_best_point() -> None:
    def interrupt(line) -> None:
        if line.n_iter == 3:
            raise KeyboardInterrupt

    stopped = Adamax(tol=0).solve(overlapping(), callback=interrupt)
    assert stopped.status == Status.INTERRUPTED and stopped.n_iter == 3
    timed = Adamax(tol=0, max_iter=10**6, max_time=0.05).solve(overlapping())
    assert timed.status == Status.TIME_LIMIT and timed.certificate.gap > 0


def test_the_true_kernel_is_refused() -> None:
    problem = overlapping()
    with pytest.raises(InputError, match="needs rows"):
        Adamax().solve(problem.over(Gram(np.eye(problem.n))))


def test_pairs_weigh_what_the_list_says() -> None:
    problem = overlapping(loss="square")
    i, j = np.flatnonzero(problem.pairs.positive)[:2], np.flatnonzero(~problem.pairs.positive)[:2]
    thrice = PairList(np.repeat(i, [3, 1]), np.repeat(j, [3, 1]))
    weighted = PairList(i, j, np.array([3.0, 1.0]))
    solver = GradientDescent(step=0.1, tol=0, max_iter=20, keep="last")
    one, other = (solver.solve(problem.with_pairs(p)).w for p in (thrice, weighted))
    np.testing.assert_allclose(one, other, rtol=1e-12)
