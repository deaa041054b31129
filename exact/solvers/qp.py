"""The ROC-SVM dual as a quadratic program: as printed for teaching, lifted and sparse for use.

This is the one file that writes all pairs down. Each form raises `TooLargeError` above its limit of
pairs; the message names a method without one. No solver's status is believed: alpha is clipped
into its box and the gap is computed anew.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..certificate.certificate import Minorant, dual_value
from ..certificate.solution import Recorder, Status
from ..certificate.solver import Solver
from ..curvature.line_search import best_on_segment
from ..errors import InputError, TooLargeError
from ..losses.registry import HINGE
from ..pairs.all_pairs import AllPairs, PairList
from ..problem.problem import Problem
from ..spaces.gram import Gram
from ..spaces.gram_factor import factor_gram
from ..spaces.rows import Rows
from .active_pairs import ActivePairs
from .qp_backends import BACKENDS, call_solver, direct_backends, solve_qp
from .window.window import Window
from .window.window_qp import window_qp

TEACHING_LIMIT = 5_000  # Pairs that the teaching form holds: it writes every pair difference down.

LIFTED_LIMIT = 200_000  # Pairs that the lifted form holds.

CVXPY_OSQP_ITERATIONS = 10_000  # Iterations of OSQP at most where CVXPY starts it.


@dataclass(frozen=True)
class QP(Solver):
    """Solve the dual of a hinge problem as a QP."""

    form: str = "lifted"
    interface: str = "cvxpy"
    backend: str = "CLARABEL"
    finish: bool = False
    tol: float = 1e-9
    solver_tol: float = 1e-9
    max_time: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.form not in ("teaching", "lifted"):
            raise InputError(f"form must be teaching or lifted, not {self.form!r}")
        if self.interface not in ("cvxpy", "direct"):
            raise InputError(f"interface must be cvxpy or direct, not {self.interface!r}")
        if self.backend not in BACKENDS:
            raise InputError(f"unknown QP solver {self.backend!r}: choose {', '.join(BACKENDS)}")
        if self.interface == "direct" and self.form == "teaching":
            raise InputError("the teaching form is written in CVXPY: use interface='cvxpy'")
        if self.interface == "direct" and self.backend not in direct_backends():
            raise InputError(f"{self.backend} is reached through CVXPY: use interface='cvxpy'")

    @property
    def method(self) -> str:
        """The form and the backend."""
        return f"{self.form}-{self.backend.lower()}"

    def check(self, problem: Problem) -> None:
        """Raise `InputError` for another loss or space, `TooLargeError` for too many pairs."""
        check_size(problem, self.form)

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Solve the QP; the start is only a point to compare with."""
        listed = enumerate_pairs(problem.pairs)
        # alpha = 1 is feasible for any data. Its F is a guess of the optimum, which scales the
        # program.
        _offer(problem, listed, np.ones(listed.i.size), recorder)
        unit = recorder.best_primal
        if self.form == "teaching":
            alpha = teaching_dual(problem, listed, self.backend, self.solver_tol)
        elif self.interface == "cvxpy":
            alpha = lifted_dual(problem, listed, self.backend, self.solver_tol, unit)
        else:
            parts = window_qp(problem, _whole(problem, listed), unit)
            answer = solve_qp(*parts, self.backend, self.solver_tol, max_time=self.max_time)
            alpha = answer.x[: listed.i.size]
        if alpha is not None and np.isfinite(alpha).all():
            _offer(problem, listed, np.clip(alpha, 0.0, 1.0), recorder)
        recorder.step()
        if self.finish and isinstance(problem.space, Rows) and not recorder.near(self.tol / 2):
            finish = ActivePairs(tol=self.tol, max_time=recorder.time_left)
            return finish.run(problem, recorder)
        return None


def check_size(problem: Problem, form: str) -> None:
    """Raise `InputError` or `TooLargeError` unless the form can hold the problem."""
    if problem.loss != HINGE:
        raise InputError(f"the QP forms are for the hinge, not {problem.loss.name}")
    if form == "lifted" and not isinstance(problem.space, Rows):
        raise InputError("the lifted QP needs rows: factor the kernel first")
    if not isinstance(problem.space, Rows | Gram):
        raise InputError("the teaching QP needs rows or a Gram matrix")
    limit = TEACHING_LIMIT if form == "teaching" else LIFTED_LIMIT
    if problem.n_pairs > limit:
        raise TooLargeError(
            f"{problem.n_pairs} pairs are more than the {limit} that the {form} QP can hold: "
            "use method='cutting-plane', which never writes a pair down"
        )


def enumerate_pairs(pairs: AllPairs | PairList) -> PairList:
    """Return all pairs as a list: [SAUC, eq. (10)]'s vec(alpha), positive row by positive row."""
    if isinstance(pairs, PairList):
        return pairs
    a, b = pairs.sides()
    positive = pairs.positive
    rows_pos, rows_neg = np.flatnonzero(positive), np.flatnonzero(~positive)
    i = np.repeat(rows_pos, rows_neg.size)
    j = np.tile(rows_neg, rows_pos.size)
    return PairList(i, j, np.outer(a, b).ravel(), positive)


def teaching_dual(
    problem: Problem, listed: PairList, backend: str, solver_tol: float
) -> np.ndarray | None:
    """Return alpha (m,) of the dual as the papers print it. [SAUC, eq. (3), eq. (9), eq. (19)]

    max  sum_k alpha_k - 1/2 sum_kl alpha_k alpha_l <d_k, d_l>,   0 <= alpha_k <= C_k,

    with d_k = x_i - x_j the k-th pair difference and C_k = c_k / lam (all pairs: C = 1 / (lam N)).
    Returned in units of C, so within [0, 1].

    Over a `Gram` space the inner products are those of its kernel; with the deformed kernel of
    `woodbury.deformed_gram` this is SAUC-SVM's dual.

    Differs from the paper: 1. k(x_i - x_j, x_u - x_v) is right for the linear kernel only; the
    right inner product has four terms.
    """
    import cvxpy as cp

    space = problem.space
    assert isinstance(space, Rows | Gram)
    X = space.dense() if isinstance(space, Rows) else factor_gram(space.K).features
    differences = X[listed.i] - X[listed.j]
    C = listed.c / problem.lam
    alpha = cp.Variable(listed.i.size)
    objective = cp.Maximize(cp.sum(alpha) - 0.5 * cp.sum_squares(differences.T @ alpha))
    program = cp.Problem(objective, [alpha >= 0, alpha <= C])
    value = _run(program, alpha, backend, solver_tol)
    if value is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(C > 0, value / C, 0.0)


def lifted_dual(
    problem: Problem, listed: PairList, backend: str, solver_tol: float, unit: float = 1.0
) -> np.ndarray | None:
    """Return alpha (m,) in [0, 1] of the lifted dual, through CVXPY.

    min |v|^2 / 2 - sum_k c_k alpha_k / F
    s.t.  u = A'(c alpha) / scale,  v = X'u scale / sqrt(lam F),

    with u and v variables, so that nothing has pairs times coordinates entries. `unit` is F, a
    guess of the optimum: with it u and the objective are of order one.
    """
    import cvxpy as cp

    _, q, A, low, _ = window_qp(problem, _whole(problem, listed), unit)
    size, m = q.size, listed.i.size
    x = cp.Variable(size)
    dim = problem.space.dim
    equations = A[:-m]
    program = cp.Problem(
        cp.Minimize(0.5 * cp.sum_squares(x[size - dim :]) + q[:m] @ x[:m]),
        [equations @ x == low[:-m], x[:m] >= 0, x[:m] <= 1],
    )
    value = _run(program, x, backend, solver_tol)
    return None if value is None else value[:m]


def _run(program: Any, variable: Any, backend: str, solver_tol: float) -> np.ndarray | None:
    """Return the variable's value after solving, or None where the solver left none."""
    import cvxpy as cp

    if backend not in cp.installed_solvers():
        raise InputError(f"{backend} is not installed here: use CLARABEL or OSQP")
    options: dict[str, Any] = dict.fromkeys(BACKENDS[backend].tolerances, solver_tol)
    if backend == "OSQP":
        options["max_iter"] = CVXPY_OSQP_ITERATIONS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # inaccurate answers are judged by their gap
        try:
            data, chain, inverse = program.get_problem_data(backend, solver_opts=options)
            answer = call_solver(
                backend, lambda: chain.solve_via_data(program, data, solver_opts=options)
            )
            program.unpack_results(answer, chain, inverse)
        except cp.SolverError:
            return None
    return None if variable.value is None else np.asarray(variable.value)


def _whole(problem: Problem, listed: PairList) -> Window:
    """Return the window that holds every pair."""
    return Window(listed.i, listed.j, listed.c, np.zeros(problem.n), 0.0, True)


def _offer(problem: Problem, listed: PairList, alpha: np.ndarray, recorder: Recorder) -> None:
    """Offer the primal and dual points of `alpha` to the recorder."""
    c = listed.marginals(alpha)
    if isinstance(problem.pairs, PairList):
        witness = Minorant.from_alpha(problem, alpha)
    else:
        u, v = c[problem.pairs.positive], -c[~problem.pairs.positive]
        witness = Minorant.from_marginals(problem, np.maximum(u, 0.0), np.maximum(v, 0.0))
    # At the optimum w is the pull over lam; until then the way there has a better point.
    target = problem.space.pull(c) / problem.lam
    start = recorder.best_w
    assert start is not None
    found, primal = best_on_segment(problem, start, problem.space.scores(start), target)
    recorder.offer(found, primal, witness, dual_value(problem, witness)[0])
