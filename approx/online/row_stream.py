"""What the online methods share: rows as plain arrays, the order of draws, what a run returns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...exact.certificate.certificate import Certificate
from ...exact.certificate.solution import Status
from ...exact.errors import InputError
from ...exact.square_loss.convex_square import ConvexSquare, Judged
from ...exact.square_loss.row_average import RowAverage
from ...exact.tools.lossless import as_float64
from ...exact.tools.rounding import UNIT, Bound

Look = Callable[["Pass"], object]


class RowArrays(NamedTuple):
    """Rows for compiled loops: entry k of row i, lo <= k < hi, has column indices[k - base].

    lo and hi are indptr[i] and indptr[i + 1]; base is lo where all rows share one list of columns
    (dense) and zero else (CSR).
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    dense: bool

    @classmethod
    def of(cls, X: np.ndarray | sp.csr_matrix) -> RowArrays:
        """Return the arrays of a checked matrix; duplicate entries of a CSR one are summed."""
        n, d = X.shape
        if isinstance(X, np.ndarray):
            data = np.ascontiguousarray(X, dtype=float).ravel()
            return cls(data, np.arange(d, dtype=np.uint32), np.arange(n + 1) * d, True)
        matrix = sp.csr_matrix(X)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        # Without a sign the compiled loops need not ask whether a column counts from the end.
        columns = matrix.indices.astype(np.uint32)
        return cls(np.asarray(matrix.data), columns, matrix.indptr.astype(np.int64), False)

    @property
    def longest(self) -> float:
        """The largest Euclidean norm of a row."""
        if self.data.size == 0:
            return 0.0
        squares = np.append(np.square(self.data), 0.0)
        sums = np.add.reduceat(squares, self.indptr[:-1])
        return float(np.sqrt(sums[np.diff(self.indptr) > 0].max(initial=0.0)))


LARGEST = 1e60
"""Largest number allowed in the rows: steps and proofs for the square loss take fourth powers."""


def from_rows(X: np.ndarray | sp.csr_matrix, positive: np.ndarray) -> RowAverage:
    """Return the mean square loss over all pairs with the rows as they are, not centred.

    The loss does not depend on the origin, but the path of an online method does, and one that
    sees a row at a time cannot centre: dense and sparse rows take the same path this way.

    Parameters
    ----------
    X : array or CSR matrix (n, d)
    positive : bool array (n,)
        With rows of both classes.

    Raises
    ------
    InputError
        If a class is missing, or the numbers are so large that the methods would overflow.
    """
    n_pos = int(positive.sum())
    if not 0 < n_pos < positive.size:
        raise InputError("the rows are of one class: pairs need both")
    if abs(X).max() > LARGEST:
        raise InputError("X has values so large that their powers overflow: rescale it")
    mass = np.where(positive, 1 / n_pos, 1 / (positive.size - n_pos))
    means = np.stack([np.asarray(X.T @ (mass * side)) for side in (~positive, positive)])
    return RowAverage(X, positive, mass, means, n_pos / positive.size)


def draw_rows(loss: RowAverage, rng: np.random.Generator, size: int) -> np.ndarray:
    """Return `size` rows drawn with replacement, in proportion to their weights."""
    chance = loss.mass * np.where(loss.positive, loss.share, 1 - loss.share)
    if np.ptp(chance) <= 1e-12 * chance.max():
        return rng.integers(chance.size, size=size)
    return rng.choice(chance.size, size=size, p=chance / chance.sum())


def start_at(w0: np.ndarray | None, dim: int) -> np.ndarray:
    """Return a fresh copy of the start, zero by default, or raise `InputError`."""
    if w0 is None:
        return np.zeros(dim)
    w = np.array(as_float64(w0, "w0"))
    if w.shape != (dim,) or not np.isfinite(w).all():
        raise InputError(f"w0 must be {dim} finite numbers")
    return w


@dataclass(frozen=True)
class Pass:
    """One line of history: after n_iter steps; objective and gap as in `OnlineSolution`."""

    n_iter: int
    seconds: float
    objective: float
    gap: float


@dataclass(frozen=True, eq=False)
class OnlineSolution:
    """What an online method returns.

    Attributes
    ----------
    w : array (d,)
    objective : float
        The mean square loss over all pairs plus the penalties.
    gap : float
        Proved, rounding included: `objective` is at most this far above the optimum of that
        problem.
    n_iter : int
    seconds : float
        Without the looks after the passes.
    history : list of Pass
        One line a pass if asked for, else the last only.
    status : Status
        "iteration_limit" after all passes, or "time_limit".
    certificate : Certificate, optional
        The same, as all estimators have it: with the objective in words.
    as_saved : bool
        True where it was read from a file: then the gap is what the file says.
    """

    w: np.ndarray
    objective: float
    gap: float
    n_iter: int
    seconds: float
    history: list[Pass] = field(default_factory=list)
    status: Status = Status.ITERATION_LIMIT
    certificate: Certificate | None = None
    as_saved: bool = field(default=False, init=False, compare=False)


def run_passes(
    problem: ConvexSquare,
    walk: Iterator[tuple[int, np.ndarray]],
    callback: Look | None,
    max_time: float | None = None,
) -> OnlineSolution:
    """Run a method to its end and judge its answer.

    Parameters
    ----------
    problem : ConvexSquare
        What the answers are judged by.
    walk : iterator of (n_iter, w)
        One item a pass.
    callback : function of a `Pass`, optional
        Called after each pass; each look costs about as much as a pass.
    max_time : float, optional
        Seconds for the passes: none is begun after that.

    Raises
    ------
    InputError
        If the answer is not finite.
    """
    history: list[Pass] = []
    certificate: Certificate | None = None
    seconds, n_iter, w = 0.0, 0, np.zeros(problem.loss.dim)
    status = Status.ITERATION_LIMIT
    start = time.perf_counter()
    for n_iter, w in walk:
        seconds += time.perf_counter() - start
        if callback is not None:
            line, certificate = _judge(problem, w, n_iter, seconds)
            history.append(line)
            callback(history[-1])
        if max_time is not None and seconds > max_time:
            status = Status.TIME_LIMIT
            break
        start = time.perf_counter()
    if certificate is None:
        line, certificate = _judge(problem, w, n_iter, seconds)
        history.append(line)
    last = history[-1]
    return OnlineSolution(
        w, last.objective, last.gap, n_iter, seconds, history, status, certificate
    )


def _judge(
    problem: ConvexSquare, w: np.ndarray, n_iter: int, seconds: float
) -> tuple[Pass, Certificate]:
    with np.errstate(over="ignore", invalid="ignore"):
        judged = problem.judged(w)
        gap = problem.gap_of(judged)
    if not np.isfinite(judged.value):
        raise InputError("the steps diverged: take a shorter step, or scale the features")
    return Pass(n_iter, seconds, float(judged.value), gap), certificate_of(problem, judged)


def certificate_of(problem: ConvexSquare, judged: Judged) -> Certificate:
    """Return the certificate of weights that were judged; outside a ball its primal is infinite."""
    inside = np.isfinite(judged.error)
    value, error = (judged.value, judged.error) if inside else (np.inf, 0.0)
    l2 = float(problem.loss.lam)
    above = Bound(float(value), error * (1 + 2 * UNIT))
    return Certificate.from_bounds(above, Bound(float(judged.lower), 0.0), l2, problem.in_words)
