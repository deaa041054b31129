"""How solvers stop: time, interruption, warm starts, reproducibility."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.api.solve import solve
from aucert.exact.certificate.certificate import Certificate
from aucert.exact.certificate.solution import Status, Step
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.solvers.closed_form import SquaredLossSolver
from aucert.exact.solvers.cutting_plane import CuttingPlane
from aucert.exact.solvers.descent import Descent
from aucert.exact.solvers.finish import ActivePairs
from loops import each

RNG = np.random.default_rng(0)
X = RNG.normal(size=(110, 5))
Y = X[:, 0] + RNG.normal(size=110) > 0.5
SOLVERS = {
    "cutting-plane": (CuttingPlane(), "hinge"),
    "active-pairs": (ActivePairs(limit=20_000), "hinge"),
    "descent": (Descent(), "squared_hinge"),
    "closed-form": (SquaredLossSolver(), "square"),
}


def problem_of(loss: str, lam: float = 1e-4) -> Problem:
    return linear_problem(X, Y, lam, loss)


@each("name", SOLVERS)
def test_every_solver_certifies_and_says_who_it_is(name: str) -> None:
    solver, loss = SOLVERS[name]
    problem = problem_of(loss)
    solution = solver.solve(problem)
    assert solution.status == Status.CERTIFIED and solution.certificate.reaches(1e-9)
    assert solution.method == name and solution.n_iter == len(solution.history) > 0
    assert solution.seconds > 0
    again = Certificate.of(problem, solution.w, solution.witness, solver.tol)
    assert again == solution.certificate
    careful = Certificate.of(problem, solution.w, solution.witness)
    assert careful.rounding <= solution.certificate.rounding
    assert abs(careful.gap - again.gap) <= careful.rounding + again.rounding


@each("name", SOLVERS)
def test_the_same_run_twice_gives_the_same_bits(name: str) -> None:
    solver, loss = SOLVERS[name]
    one, two = solver.solve(problem_of(loss)), solver.solve(problem_of(loss))
    assert np.array_equal(one.w, two.w) and np.array_equal(one.witness.c, two.witness.c)
    assert one.certificate == two.certificate and one.n_iter == two.n_iter


@each("name", ["cutting-plane", "descent"])
def test_a_time_limit_returns_the_best_certified_point(name: str) -> None:
    solver, loss = SOLVERS[name]
    limited = type(solver)(max_time=1e-9)  # type: ignore[call-arg]
    solution = limited.solve(problem_of(loss))
    assert solution.status == Status.TIME_LIMIT and solution.n_iter == 1
    full = solver.solve(problem_of(loss)).certificate
    assert solution.certificate.dual <= full.primal <= solution.certificate.primal
    assert solution.certificate.primal <= 1.0 + 1e-12  # no worse than zero weights


def test_an_iteration_limit_is_reported() -> None:
    solution = CuttingPlane(max_iter=1, finish_from=0).solve(problem_of("hinge"))
    assert solution.status == Status.ITERATION_LIMIT and solution.n_iter == 1
    solution = Descent(max_iter=1).solve(problem_of("squared_hinge"))
    assert solution.status == Status.ITERATION_LIMIT and solution.n_iter == 2  # the start is one


@each("name", SOLVERS)
def test_the_callback_sees_bounds_that_only_improve(name: str) -> None:
    solver, loss = SOLVERS[name]
    steps: list[Step] = []
    solution = solver.solve(problem_of(loss), callback=steps.append)
    assert steps == solution.history
    assert [step.n_iter for step in steps] == list(range(1, len(steps) + 1))
    primals, duals = [s.primal for s in steps], [s.dual for s in steps]
    assert primals == sorted(primals, reverse=True) and duals == sorted(duals)
    seconds = [s.seconds for s in steps]
    assert seconds == sorted(seconds)


@each("after", [1, 2])
@each("name", SOLVERS)
def test_an_interruption_returns_a_valid_certificate(name: str, after: int) -> None:
    solver, loss = SOLVERS[name]
    full = solver.solve(problem_of(loss))
    if full.n_iter < after:
        pytest.skip("done before that")

    def stop(step: Step) -> None:
        if step.n_iter == after:
            raise KeyboardInterrupt

    try:
        solution = solver.solve(problem_of(loss), callback=stop)
    except KeyboardInterrupt:  # it would end the whole test run
        pytest.fail(f"{name} lets the interruption through: its best point is lost")
    assert solution.n_iter == after
    assert solution.status in (Status.INTERRUPTED, Status.CERTIFIED)
    assert solution.status == Status.CERTIFIED or not solution.certificate.reaches(1e-9)
    assert solution.certificate.dual <= full.certificate.primal
    assert solution.certificate.primal >= full.certificate.dual


@each("name", ["cutting-plane", "active-pairs", "descent"])
def test_a_warm_start_at_the_optimum_is_kept(name: str) -> None:
    solver, loss = SOLVERS[name]
    cold = solver.solve(problem_of(loss))
    warm = solver.solve(problem_of(loss), w0=cold.w)
    assert warm.status == Status.CERTIFIED
    assert warm.n_iter <= cold.n_iter
    room = warm.certificate.rounding + cold.certificate.rounding  # of two values of one F
    assert warm.certificate.primal <= cold.certificate.primal + room


def test_a_warm_start_is_never_left_for_worse() -> None:
    problem = problem_of("hinge")
    w0 = solve(X, Y, 1e-4).w * 1.1
    stopped = CuttingPlane(max_iter=1, finish_from=0).solve(problem, w0=w0)
    assert stopped.certificate.primal <= problem.objective(w0)


@each("name", SOLVERS)
def test_sparse_rows_give_the_same_optimum(name: str) -> None:
    solver, loss = SOLVERS[name]
    thin = np.where(np.abs(X) > 0.8, X, 0.0)
    dense = solver.solve(linear_problem(thin, Y, 1e-2, loss))
    sparse = solver.solve(linear_problem(sp.csr_matrix(thin), Y, 1e-2, loss))
    assert dense.status == sparse.status == Status.CERTIFIED
    slack = dense.certificate.gap + sparse.certificate.gap + dense.certificate.rounding
    assert abs(dense.certificate.primal - sparse.certificate.primal) <= slack
    reach = dense.certificate.radius + sparse.certificate.radius
    assert np.linalg.norm(dense.w - sparse.w) <= reach


@each("loss", ["squared_hinge", "square"])
def test_collinear_large_features_at_a_small_lam_end_without_an_error(loss: str) -> None:
    """The matrix 2 M + lam I is singular to rounding; any certified point will do."""
    features = np.repeat(X[:40, :1], 2, axis=1) * 1e6
    solution = solve(features, Y[:40], 1e-12, loss=loss, max_time=5)
    assert solution.certificate.gap >= 0
