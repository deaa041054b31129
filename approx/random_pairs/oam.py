"""Online AUC maximisation with buffers, by sequential or gradient updates: OAM.

Zhao, Hoi, Jin and Yang (2011), which [Nonlinear, Section 5.2] runs on Nyström features as NOAM.
Rows come one by one. Of each class a reservoir keeps at most N rows, at any time a uniform sample
of those that came. A row x with the sign s = +1 or -1 meets the rows b of the other class's
buffer, d = s (x - b), with the weight c = (C / 2) max(1, rows of the other class so far / N):

    sequential    for one b after the other:  w <- w + min(c, max(0, 1 - w'd) / |d|^2) d,
    gradient      w <- w + c sum of the d with w'd <= 1,    w held while they are summed.

The updates reach the optimum of no objective: the method is made for one pass over a stream. The
factor 1/2 belongs to the paper's objective, which counts each pair from both its rows. It is taken
from public implementations of the method, because the paper itself was not at hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...exact.errors import InputError
from ...exact.spaces.rows import LARGEST_REACH
from ...exact.tools.checks import check_choice, check_count, check_number
from ...exact.tools.compiling import compiled

UPDATES = ("sequential", "gradient")


@compiled
def _meet(w, change, x, buffer, size, sign, weight, sequential):  # pragma: no cover - compiled
    """Change `w` for a row that meets `size` rows of a buffer; `change` is room for d numbers."""
    for p in range(w.size):
        change[p] = 0.0
    for k in range(size):
        z = 0.0
        norm2 = 0.0
        for p in range(w.size):
            step = sign * (x[p] - buffer[k, p])
            z += w[p] * step
            norm2 += step * step
        if sequential:
            if z < 1.0 and norm2 > 0.0:
                tau = min(weight, (1.0 - z) / norm2)
                for p in range(w.size):
                    w[p] += tau * sign * (x[p] - buffer[k, p])
        elif z <= 1.0:
            for p in range(w.size):
                change[p] += weight * sign * (x[p] - buffer[k, p])
    if not sequential:
        for p in range(w.size):
            w[p] += change[p]


@compiled
def _keep(buffer, seen, x, draw):  # pragma: no cover - compiled
    """Offer row number `seen` (from 1) of a class to its reservoir; `draw` is in [0, 1)."""
    at = seen - 1 if seen <= buffer.shape[0] else int(draw * seen)
    if at < buffer.shape[0]:
        for p in range(x.size):
            buffer[at, p] = x[p]


@compiled
def _pass(
    X, positive, draws, w, mean, buffer_pos, buffer_neg, seen, C, sequential, radius
):  # pragma: no cover - compiled
    """Take the rows one by one; `seen` holds the rows so far, positive and negative."""
    change = np.empty(w.size)
    for t in range(X.shape[0]):
        x = X[t]
        mine = 0 if positive[t] else 1
        seen[mine] += 1
        if mine == 0:
            _keep(buffer_pos, seen[0], x, draws[t])
            other, others, sign = buffer_neg, seen[1], 1.0
        else:
            _keep(buffer_neg, seen[1], x, draws[t])
            other, others, sign = buffer_pos, seen[0], -1.0
        capacity = other.shape[0]
        weight = C / 2 * max(1.0, others / capacity)
        _meet(w, change, x, other, min(others, capacity), sign, weight, sequential)
        norm2 = 0.0
        for p in range(w.size):
            norm2 += w[p] * w[p]
        if norm2 > radius * radius:
            shrink = radius / np.sqrt(norm2)
            for p in range(w.size):
                w[p] *= shrink
        total = seen[0] + seen[1]
        for p in range(w.size):
            mean[p] += (w[p] - mean[p]) / total


@dataclass(eq=False)
class Stream:
    """Where a run stands.

    Attributes
    ----------
    w, mean : array (d,)
        The weights, and their mean over all rows so far.
    buffer_pos, buffer_neg : array (N, d)
        The first min(seen, N) rows count.
    seen : int array (2,)
        Positive and negative rows so far.
    """

    w: np.ndarray
    mean: np.ndarray
    buffer_pos: np.ndarray
    buffer_neg: np.ndarray
    seen: np.ndarray


@dataclass(frozen=True)
class OnlineAUC:
    """OAM: what it does to a stream of rows.

    Parameters
    ----------
    C : float
        > 0. Each pair weighs C / 2, times the rows that one in the buffer stands for.
    update : {"sequential", "gradient"}
    n_buffer : int
        N, rows kept of each class.
    radius : float, optional
        > 0: keeps |w| at most this long, by projection after each row. By default nothing does.
    """

    C: float = 0.1
    update: str = "sequential"
    n_buffer: int = 100
    radius: float | None = None

    def __post_init__(self) -> None:
        check_number("C", self.C)
        check_choice("update", self.update, UPDATES)
        check_count("n_buffer", self.n_buffer)
        if self.radius is not None:
            check_number("radius", self.radius)

    def start(self, dim: int) -> Stream:
        """Return a stream of rows with `dim` features, of which none has come yet."""
        check_count("dim", dim)
        pos, neg = np.zeros((self.n_buffer, dim)), np.zeros((self.n_buffer, dim))
        return Stream(np.zeros(dim), np.zeros(dim), pos, neg, np.zeros(2, dtype=np.int64))

    def learn(self, stream: Stream, X: np.ndarray, positive: np.ndarray, draws: np.ndarray) -> None:
        """Take the rows in their order, and change `stream`.

        Parameters
        ----------
        stream : Stream
        X : array (m, d)
        positive : bool array (m,)
            All rows may be of one class: they meet those in the buffer.
        draws : array (m,)
            In [0, 1), one a row, for the reservoirs.

        Raises
        ------
        InputError
            If the sizes do not fit together, the squares of the rows overflow, or the weights do:
            C is too large then.
        """
        if X.shape != (positive.size, stream.w.size) or draws.shape != (positive.size,):
            raise InputError(
                f"rows {X.shape}, {positive.size} labels and {draws.size} draws do not fit a "
                f"stream of {stream.w.size} features"
            )
        if X.size and max(X.max(), -X.min()) > LARGEST_REACH:
            raise InputError("X has values so large that their squares overflow: rescale it")
        _pass(
            np.ascontiguousarray(X, dtype=float),
            positive,
            draws,
            stream.w,
            stream.mean,
            stream.buffer_pos,
            stream.buffer_neg,
            stream.seen,
            float(self.C),
            self.update == "sequential",
            np.inf if self.radius is None else float(self.radius),
        )
        if not np.isfinite(stream.w).all():
            raise InputError("the weights overflow: take a smaller C, or a radius")
