"""One call for a sparse QP, whatever solver takes it; its status is passed on, not believed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..tools.interrupts import interruptible

T = TypeVar("T")

# The most iterations: interior points need few, alternating directions many.
CLARABEL_ITERATIONS, OSQP_ITERATIONS = 200, 20_000

LEAST_TIME = 1e-3  # Least time limit in seconds: the packages take zero for no limit.


@dataclass(frozen=True, eq=False)
class QPAnswer:
    """x (m,) as the solver left it, and the status in the solver's own words."""

    x: np.ndarray
    status: str
    n_iter: int


def solve_qp(
    P: sp.spmatrix,
    q: np.ndarray,
    A: sp.spmatrix,
    low: np.ndarray,
    high: np.ndarray,
    backend: str = "CLARABEL",
    tol: float = 1e-12,
    max_iter: int | None = None,
    max_time: float | None = None,
) -> QPAnswer:
    """Minimise x'P x / 2 + q'x subject to low <= A x <= high."""
    direct = direct_backends()
    if backend not in direct:
        raise InputError(f"unknown QP solver {backend!r}: choose one of {', '.join(direct)}")
    return direct[backend](P, q, A, low, high, tol, max_iter, max_time)


def _clarabel(
    P: sp.spmatrix,
    q: np.ndarray,
    A: sp.spmatrix,
    low: np.ndarray,
    high: np.ndarray,
    tol: float,
    max_iter: int | None,
    max_time: float | None,
) -> QPAnswer:
    import clarabel

    A = sp.csr_matrix(A)
    # Clarabel takes cones: equations by themselves, and each side of an inequality as one row.
    equal = low == high
    above, below = ~equal & np.isfinite(high), ~equal & np.isfinite(low)
    rows = sp.vstack([A[equal], A[above], -A[below]], format="csc")
    bounds = np.concatenate([high[equal], high[above], -low[below]])
    cones = []
    if equal.any():
        cones.append(clarabel.ZeroConeT(int(equal.sum())))
    if above.any() or below.any():
        cones.append(clarabel.NonnegativeConeT(int(above.sum() + below.sum())))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    settings.max_iter = max_iter or CLARABEL_ITERATIONS
    settings.max_threads = 1
    if max_time is not None:
        settings.time_limit = max(max_time, LEAST_TIME)
    # Clarabel reads the upper triangle alone.
    half = sp.triu(P, format="csc")

    def work() -> QPAnswer:
        answer = clarabel.DefaultSolver(half, q, rows, bounds, cones, settings).solve()
        return QPAnswer(np.asarray(answer.x), str(answer.status), int(answer.iterations))

    return call_solver("CLARABEL", work)


def _osqp(
    P: sp.spmatrix,
    q: np.ndarray,
    A: sp.spmatrix,
    low: np.ndarray,
    high: np.ndarray,
    tol: float,
    max_iter: int | None,
    max_time: float | None,
) -> QPAnswer:
    import osqp

    parts = {"P": sp.triu(P, format="csc"), "q": q, "A": sp.csc_matrix(A), "l": low, "u": high}
    settings: dict[str, Any] = {
        "eps_abs": tol,
        "eps_rel": tol,
        "max_iter": max_iter or OSQP_ITERATIONS,
    }
    if max_time is not None:
        settings["time_limit"] = max(max_time, LEAST_TIME)

    def work() -> Any:
        solver = osqp.OSQP()
        solver.setup(**parts, verbose=False, polishing=True, **settings)
        return solver.solve(raise_error=False)

    answer = call_solver("OSQP", work)
    x = np.asarray(answer.x, dtype=float)
    # A run that fails may leave no x at all.
    if x.shape != q.shape:
        x = np.full(q.shape, np.nan)
    return QPAnswer(x, str(answer.info.status), int(answer.info.iter))


@dataclass(frozen=True)
class Backend:
    """How a solver of quadratic programs is reached: straight, and through CVXPY."""

    direct: Callable[..., QPAnswer] | None
    tolerances: tuple[str, ...]
    finest: float


# The one list of solvers of quadratic programs.
BACKENDS = {
    "CLARABEL": Backend(_clarabel, ("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12),
    "OSQP": Backend(_osqp, ("eps_abs", "eps_rel"), 1e-8),
    "ECOS": Backend(None, ("abstol", "reltol", "feastol"), 1e-9),
}


def direct_backends() -> dict[str, Callable[..., QPAnswer]]:
    """Return the backends that are reached without CVXPY, by their names."""
    return {name: one.direct for name, one in BACKENDS.items() if one.direct is not None}


ECOS_INTERRUPTED = -4  # ECOS's exit flag after an interrupt.

# For solvers that handle interrupts themselves: two at once put back each other's handler.
_ALONE = threading.Lock()


def call_solver(backend: str, work: Callable[[], T]) -> T:
    """Return what a solver's package returns, and let an interrupt of it end here within seconds.

    Clarabel hears of an interrupt only afterwards, as ECOS does until its iterations begin. OSQP
    and ECOS keep one that comes later to themselves.
    """
    if backend == "CLARABEL":
        return interruptible(work)

    def alone() -> T:
        with _ALONE:
            answer = work()
        if _was_interrupted(backend, answer):
            signal.raise_signal(signal.SIGINT)  # now ours to hear, in whatever is waited for
        return answer

    return interruptible(alone) if backend == "ECOS" else alone()


def _was_interrupted(backend: str, answer: Any) -> bool:
    if backend == "OSQP":
        return answer.info.status == "interrupted"
    if backend == "ECOS":
        return answer["info"]["exitFlag"] == ECOS_INTERRUPTED
    return False
