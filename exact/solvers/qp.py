"""The ROC-SVM dual as a quadratic program: as printed for teaching, lifted and sparse for use.

This is the one file that writes all pairs down, up to a limit of each form. No solver's status is
believed: alpha is clipped into its box and the gap is computed anew.
"""

from __future__ import annotations

import signal
import threading
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..certificate.certificate import dual_value
from ..certificate.solution import Recorder, Solver, Status
from ..errors import InputError, TooLargeError
from ..losses.registry import HINGE
from ..pairs.all_pairs import AllPairs, PairList
from ..problem.problem import Problem, best_on_segment
from ..problem.risk import Alpha
from ..spaces.factor import factor_gram
from ..tools.arrays import check_choice
from .finish import ActivePairs, clipped_minorant

LIMITS = {"teaching": 5_000, "lifted": 200_000}  # pairs: the first writes every difference down
ALONE = threading.Lock()  # solvers that handle interrupts put back each other's handler
BACKENDS = {  # the solvers, and their names for tolerances
    "CLARABEL": ("tol_gap_abs", "tol_gap_rel", "tol_feas"),
    "OSQP": ("eps_abs", "eps_rel"),
    "ECOS": ("abstol", "reltol", "feastol"),
}


@dataclass(frozen=True)
class QP(Solver):
    form: str = "lifted"
    backend: str = "CLARABEL"
    finish: bool = False
    tol: float = 1e-9
    solver_tol: float = 1e-9
    max_time: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("form", self.form, LIMITS)
        check_choice("backend", self.backend, BACKENDS)

    @property
    def method(self) -> str:
        return f"{self.form}-{self.backend.lower()}"

    def check(self, problem: Problem) -> None:
        if problem.loss != HINGE:
            raise InputError(f"the QP forms are for the hinge, not {problem.loss.name}")
        if self.form == "lifted" and problem.space.held is None:
            raise InputError("the lifted QP needs rows: factor the kernel first")
        gram = problem.space.gram
        if problem.space.held is None and (gram is None or gram.K is None):
            raise InputError("the teaching QP needs rows or a Gram matrix")
        if problem.n_pairs > LIMITS[self.form]:
            raise TooLargeError(
                f"{problem.n_pairs} pairs are more than the {LIMITS[self.form]} of the {self.form} "
                "QP: take cutting-plane, which never writes a pair down"
            )

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        listed = enumerate_pairs(problem.pairs)
        # alpha = 1 is feasible for any data; its F is a guess of the optimum, which scales the QP.
        _offer(problem, listed, np.ones(listed.i.size), recorder)
        if not recorder.out_of_time:
            made = teaching_dual if self.form == "teaching" else lifted_dual
            alpha = self._solved(*made(problem, listed, recorder.best_primal), recorder)
            if alpha is not None and np.isfinite(alpha).all():
                _offer(problem, listed, np.clip(alpha, 0.0, 1.0), recorder)
        recorder.step()
        ends = recorder.near(self.tol / 2) or recorder.out_of_time
        if self.finish and problem.space.held is not None and not ends:
            return ActivePairs(tol=self.tol).run(problem, recorder)
        return Status.TIME_LIMIT if recorder.out_of_time else None

    def _solved(self, program: Any, variable: Any, box: Any, recorder: Recorder) -> Any:
        """Return the variable in units of its box after solving, or None where there is none."""
        import cvxpy as cp

        backend = self.backend
        if backend not in cp.installed_solvers():
            raise InputError(f"{backend} is not installed here: use CLARABEL or OSQP")
        options: dict[str, Any] = dict.fromkeys(BACKENDS[backend], self.solver_tol)
        if backend == "OSQP":
            options["max_iter"] = 10_000  # of OSQP at most
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # inaccurate answers are judged by their gap
            try:
                data, chain, inverse = program.get_problem_data(backend, solver_opts=options)
                if recorder.max_time is not None and backend != "ECOS":
                    options["time_limit"] = recorder.time_left  # after the program was set up
                with ALONE:
                    answer = chain.solve_via_data(program, data, solver_opts=options)
                hand_on_interrupt(backend, answer)
                program.unpack_results(answer, chain, inverse)
            except cp.SolverError:
                return None
        if variable.value is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(box > 0, np.asarray(variable.value) / box, 0.0)


def hand_on_interrupt(backend: str, answer: Any) -> None:
    """Raise KeyboardInterrupt if the solver swallowed one."""
    stopped = backend == "OSQP" and answer.info.status == "interrupted"
    stopped |= backend == "ECOS" and answer["info"]["exitFlag"] == -4  # after an interrupt
    if stopped:
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler) and threading.current_thread() is threading.main_thread():
            handler(signal.SIGINT, None)  # what Python would have called: commands count on it
        raise KeyboardInterrupt


def enumerate_pairs(pairs: AllPairs | PairList) -> PairList:
    """Return all pairs as a list: [SAUC, eq. (10)]'s vec(alpha), positive row by positive row."""
    if isinstance(pairs, PairList):
        return pairs
    rows_pos, rows_neg = pairs.places
    i, j = np.repeat(rows_pos, rows_neg.size), np.tile(rows_neg, rows_pos.size)
    return PairList(i, j, np.outer(*pairs.sides).ravel(), pairs.positive)


def teaching_dual(problem: Problem, listed: PairList, unit: float) -> tuple[Any, Any, np.ndarray]:
    """Return the dual as the papers print it, its variable, and C. [SAUC, eq. (3), (9), (19)]

    max  sum_k alpha_k - 1/2 sum_kl alpha_k alpha_l <d_k, d_l>,   0 <= alpha_k <= C_k,

    with d_k = x_i - x_j the k-th pair difference and C_k = c_k / lam (all pairs: C = 1 / (lam N)).
    Over a `Gram` space the inner products are those of its kernel; with the deformed kernel of
    `structured.deformed_gram` this is SAUC-SVM's dual. Differs from the paper: 1. k(x_i - x_j, x_u
    - x_v) is right for the linear kernel only; the right inner product has four terms.
    """
    import cvxpy as cp

    space: Any = problem.space
    X = factor_gram(space.gram.K).features if space.held is None else space.held.dense()
    differences = X[listed.i] - X[listed.j]
    C = listed.c / problem.lam
    alpha = cp.Variable(listed.i.size)
    objective = cp.Maximize(cp.sum(alpha) - 0.5 * cp.sum_squares(differences.T @ alpha))
    return cp.Problem(objective, [alpha >= 0, alpha <= C]), alpha, C


def lifted_dual(problem: Problem, listed: PairList, unit: float) -> tuple[Any, Any, float]:
    """Return the lifted dual, its variable alpha, and 1.

    min |v|^2 / 2 - sum_k c_k alpha_k / F
    s.t.  u = A'(c alpha) / scale,  v = X'u scale / sqrt(lam F),

    with u and v variables, so that nothing has pairs times coordinates entries. `unit` is F, a
    guess of the optimum: with it u and the objective are of order one.
    """
    import cvxpy as cp

    space: Any = problem.space.held
    m, primal = listed.i.size, max(unit, 1e-300)  # F may be zero
    touched, place = np.unique(np.concatenate([listed.i, listed.j]), return_inverse=True)
    ratio = listed.c / float(listed.c.max())
    # The most that the pairs of one row can carry: divided by it marginals are of order one.
    spread = max(float(np.bincount(place, weights=np.tile(ratio, 2)).max()), 1.0)
    signs = np.concatenate([ratio, -ratio]) / spread
    incidence = sp.csr_matrix((signs, (place, np.tile(np.arange(m), 2))), shape=(touched.size, m))
    gain = float(listed.c.max()) * spread / np.sqrt(problem.lam * primal)
    rows = sp.csr_matrix(space.rows(touched).T * gain)
    alpha, u, v = cp.Variable(m), cp.Variable(touched.size), cp.Variable(space.dim)
    program = cp.Problem(
        cp.Minimize(0.5 * cp.sum_squares(v) - (listed.c / primal) @ alpha),
        [incidence @ alpha == u, rows @ u == v, alpha >= 0, alpha <= 1],
    )
    return program, alpha, 1.0


def _offer(problem: Problem, listed: PairList, alpha: np.ndarray, recorder: Recorder) -> None:
    c, given = listed.marginals(alpha), isinstance(problem.pairs, PairList)
    witness = problem.risk.minorant(Alpha(alpha)) if given else clipped_minorant(problem, c)
    # At the optimum w is the pull over lam; until then the way there has a better point.
    target = problem.space.pull(c) / problem.lam
    start: Any = recorder.best_w
    scores = problem.space.scores(start)
    found, primal = best_on_segment(problem, start, scores, target, lambda: recorder.out_of_time)
    recorder.offer(found, primal, witness, dual_value(problem, witness).value)
