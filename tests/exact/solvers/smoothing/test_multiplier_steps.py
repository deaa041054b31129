"""Multipliers by quasi-Newton steps: the window's slopes by loops, the optimum by other solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import aucert.exact.solvers.smoothing.multiplier_steps as module
from aucert.exact import solve
from aucert.exact.certificate.solution import Recorder, Status
from aucert.exact.pairs.all_pairs import PairList
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.solvers.smoothing.functions import functions_of
from aucert.exact.solvers.smoothing.limited_memory import LimitedMemory
from aucert.exact.solvers.smoothing.multiplier_steps import MultiplierSteps
from aucert.exact.solvers.smoothing.quasi_newton import QuasiNewton
from aucert.exact.solvers.window.window import open_window
from loops import each


def drawn(kind: str, n: int = 60, d: int = 8) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, d))
    y = X[:, 0] + rng.normal(size=n) > 0.3
    if kind == "ties":
        X = np.round(X)
    if kind == "duplicates":
        X = X[rng.integers(0, n // 3, n)]
    if kind == "one positive":
        y = np.arange(n) == 7
    return (sp.csr_matrix(np.where(np.abs(X) > 0.7, X, 0.0)) if kind == "sparse" else X), y


def started(problem: Problem, tol: float, width: float = 0.3) -> MultiplierSteps:
    recorder = Recorder()
    w = np.zeros(problem.space.dim)
    recorder.offer(w, problem.objective(w))
    functions = functions_of(problem, tol, lambda: False)
    return MultiplierSteps(problem, functions, recorder, tol, w, width)


def after_smoothing(problem: Problem, tol: float) -> MultiplierSteps:
    """The run from where smoothed sums have a gap of about 1e-4."""
    cold = started(problem, tol)
    run = LimitedMemory(problem, cold.functions, cold.recorder, 1e-4)
    run.run(300)
    return MultiplierSteps(problem, cold.functions, cold.recorder, tol, run.f, run.width)


@each("kind", ["plain", "ties", "duplicates", "one positive", "sparse", "list"])
@each("lam", [0.1, 1e-3])
def test_the_multipliers_lead_to_the_optimum_of_another_solver(kind: str, lam: float) -> None:
    X, y = drawn(kind)
    problem = linear_problem(X, y, lam)
    if kind == "list":
        every = np.array([(i, j) for i in np.flatnonzero(y) for j in np.flatnonzero(~y)])
        problem = problem.with_pairs(PairList(*every[::3].T))
    known = by_qp(problem)
    run = after_smoothing(problem, 1e-9)
    reason = run.run()
    found = run.recorder.finish(problem, 1e-9, reason)
    held = found.certificate
    assert held.dual <= known.primal
    assert known.dual <= held.primal
    if kind not in ("ties", "duplicates"):  # whose tied pairs may leave the last digits to others
        assert found.status == Status.CERTIFIED and reason is None


def by_qp(problem: Problem) -> Any:
    """The certificate of the QP over all pairs, which shares no step with ours."""
    from aucert.exact.solvers.qp import QP

    return QP("lifted", "direct", "CLARABEL", tol=1e-6).solve(problem).certificate


@each("kind", ["plain", "ties"])
def test_slopes_and_marginals_are_those_of_a_loop_over_the_pairs(kind: str) -> None:
    X, y = drawn(kind)
    problem = linear_problem(X, y, 0.1)
    run, scores = started(problem, 1e-9), np.random.default_rng(1).normal(size=60)
    window = open_window(problem, scores, 400, 0.5)
    assert window is not None
    a = np.random.default_rng(2).random(window.i.size)
    found = run._slopes(window, a, scores)
    slope = dict(zip(zip(window.i.tolist(), window.j.tolist(), strict=True), a, strict=True))
    c, share = np.zeros(60), 1 / problem.n_pairs
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~y):
            z = 1.0 - (scores[i] - scores[j])
            b = float(z > 0)
            if (i, j) in slope:
                b = min(max(slope[i, j] + z / run.width, 0.0), 1.0)
            c[i], c[j] = c[i] + share * b, c[j] - share * b
    np.testing.assert_allclose(found.c, c, atol=1e-15)


def test_the_factor_is_the_inverse_of_the_hessian_of_the_pairs_on_the_ramp(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = drawn("plain")
    problem = linear_problem(X, y, 0.1)
    monkeypatch.setattr(module, "BLOCK", 37)
    run = started(problem, 1e-9)
    window = open_window(problem, X[:, 0], 300, 0.5)
    assert window is not None
    b = np.random.default_rng(2).choice([0.0, 0.4, 1.0], window.i.size)
    H = 0.1 * np.eye(8)
    for i, j, slope in zip(window.i, window.j, b, strict=True):
        if 0 < slope < 1:
            H += np.outer(X[i] - X[j], X[i] - X[j]) / (problem.n_pairs * run.width)
    run._factor(window, b)
    gradient = np.arange(8.0)
    np.testing.assert_allclose(run.memory.direction(gradient), -np.linalg.solve(H, gradient))


def test_multipliers_of_pairs_are_kept_and_new_pairs_take_their_side() -> None:
    X, y = drawn("plain")
    run = started(linear_problem(X, y, 0.1), 1e-9)
    run.scores = X[:, 0]
    wide, narrow = (open_window(run.problem, run.scores, 9999, h) for h in (1.0, 0.2))
    assert wide is not None and narrow is not None and narrow.i.size < wide.i.size
    z = 1.0 - (run.scores[wide.i] - run.scores[wide.j])
    np.testing.assert_array_equal(run._carried(wide), np.clip(0.5 + z / run.width, 0, 1))
    order = np.argsort(narrow.keys)
    run.keys, run.alpha = narrow.keys[order], np.full(narrow.i.size, 0.25)
    known = np.isin(wide.keys, narrow.keys)
    np.testing.assert_array_equal(run._carried(wide), np.where(known, 0.25, z > 0))


def test_the_quasi_newton_method_goes_on_with_multipliers_where_it_stalls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = drawn("plain", 120, 40)
    problem, rounds = linear_problem(X, y, 1e-2), []
    monkeypatch.setattr(module, "FROM_COORDINATES", 10)
    genuine = MultiplierSteps.run
    monkeypatch.setattr(MultiplierSteps, "run", lambda self: rounds.append(1) or genuine(self))
    found = QuasiNewton(1e-10, max_iter=30).solve(problem)
    known = solve(X, y, 1e-2, tol=1e-9, method="newton").certificate
    assert rounds and found.certificate.reaches(1e-10)
    assert abs(found.certificate.primal - known.primal) <= 2e-9 * known.primal


def test_few_coordinates_kernels_and_wide_gaps_are_left_to_others() -> None:
    assert not MultiplierSteps.suits(linear_problem(*drawn("plain"), 0.1))
    assert MultiplierSteps.suits(linear_problem(np.eye(700), np.arange(700) < 3, 0.1))
