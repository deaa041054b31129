"""Online AUC maximisation with buffers, by sequential or gradient updates: OAM.

Zhao, Hoi, Jin and Yang (2011), which [Nonlinear, Section 5.2] runs on Nyström features as NOAM.
Rows come one by one. Of each class a reservoir keeps at most N rows, at any time a uniform sample
of those that came. A row x with the sign s = +1 or -1 meets the rows b of the other class's
buffer, d = s (x - b), with the weight c = (C / 2) max(1, rows of the other class so far / N):

    sequential    for one b after the other:  w <- w + min(c, max(0, 1 - w'd) / |d|^2) d,
    gradient      w <- w + c sum of the d with w'd <= 1,    w held while they are summed.

The updates do not reach the optimum of any objective: the method is for one pass over a stream. The
factor 1/2 belongs to the paper's objective, which counts each pair from both its rows. It is taken
from public implementations of the method, because the paper itself was not at hand.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from itertools import pairwise

import numpy as np

from ..exact.certificate.certificate import Certificate, full_certificate
from ..exact.certificate.solution import Callback, Recorder, Status
from ..exact.errors import InputError
from ..exact.estimators.base import Matrix, TrainingRows
from ..exact.estimators.thresholds import get_rule
from ..exact.losses.registry import HINGE
from ..exact.pairs.all_pairs import AllPairs
from ..exact.problem.penalties import LARGEST_LAM, SMALLEST_LAM
from ..exact.problem.problem import Ridge, pair_problem
from ..exact.spaces.rows import LARGEST_REACH, Rows
from ..exact.tools.arrays import check_choice, check_count, check_number, out_of_range
from ..exact.tools.compiling import compiled
from .online import OnlineClassifier

UPDATES = ("sequential", "gradient")


@compiled
def _pass(
    X, positive, draws, w, mean, buffer_pos, buffer_neg, seen, C, sequential, radius
):  # pragma: no cover - compiled
    """Take the rows one by one; `seen` holds the rows so far, positive and negative."""
    change = np.empty(w.size)
    for t in range(X.shape[0]):
        x = X[t]
        side = 0 if positive[t] else 1
        seen[side] += 1
        sign = 1.0 - 2.0 * side
        mine, other = (buffer_pos, buffer_neg) if side == 0 else (buffer_neg, buffer_pos)
        others, capacity = seen[1 - side], other.shape[0]
        at = seen[side] - 1 if seen[side] <= mine.shape[0] else int(draws[t] * seen[side])
        if at < mine.shape[0]:
            mine[at] = x
        weight = C / 2 * max(1.0, others / capacity)
        change[:] = 0.0
        for k in range(min(others, capacity)):
            z, norm2 = 0.0, 0.0
            for p in range(w.size):
                step = sign * (x[p] - other[k, p])
                z += w[p] * step
                norm2 += step * step
            if sequential:
                if z < 1.0 and norm2 > 0.0:
                    tau = min(weight, (1.0 - z) / norm2)
                    for p in range(w.size):
                        w[p] += tau * sign * (x[p] - other[k, p])
            elif z <= 1.0:
                for p in range(w.size):
                    change[p] += weight * sign * (x[p] - other[k, p])
        norm2 = 0.0
        for p in range(w.size):
            w[p] += change[p]
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
    """Where a run stands."""

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
        > 0: bounds |w| by projection after each row. By default |w| is not bounded.
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
        pos, neg = np.zeros((self.n_buffer, dim)), np.zeros((self.n_buffer, dim))
        return Stream(np.zeros(dim), np.zeros(dim), pos, neg, np.zeros(2, dtype=np.int64))

    def learn(self, stream: Stream, X: np.ndarray, positive: np.ndarray, draws: np.ndarray) -> None:
        """Take the rows (m, d) in their order, and change `stream`; they may be of one class.

        `draws` (m,) in [0, 1) are for the reservoirs. Raises `InputError` where sizes do not fit or
        numbers overflow: C is too large then.
        """
        if X.shape != (positive.size, stream.w.size) or draws.shape != (positive.size,):
            raise InputError(
                f"rows {X.shape}, {positive.size} labels and {draws.size} draws do not fit a "
                f"stream of {stream.w.size} features"
            )
        if X.size and max(X.max(), -X.min()) > LARGEST_REACH:
            raise out_of_range(X, "so large that their squares overflow")
        rows, limit = np.ascontiguousarray(X, dtype=float), self.radius
        radius, sequential = np.inf if limit is None else float(limit), self.update == "sequential"
        _pass(
            rows, positive, draws, stream.w, stream.mean, stream.buffer_pos, stream.buffer_neg,
            stream.seen, float(self.C), sequential, radius,
        )  # fmt: skip
        if not np.isfinite(stream.w).all():
            raise InputError("the weights overflow: take a smaller C, or a radius")


ROWS = 2048  # rows taken at a time; sparse rows are made dense in blocks of this size


@dataclass(eq=False, repr=False)
class OAM(OnlineClassifier):
    """Online AUC maximisation: each row meets a buffer of the other class. (Zhao et al., 2011)

    [Nonlinear, Section 5.2] uses it as a rival, on Nyström features: see
    `aucert.approx.pipelines.noam`. It is made for one pass over a stream, and starts from
    the objective

        |w|^2 / 2 + C sum over all positive-negative pairs of max(0, 1 - w'(x_i - x_j)),

    whose optimum its updates, written out in `aucert.approx.oam`, do not reach: `certificate_` says
    how far from it they end. Standardise the features first.

    Parameters
    ----------
    C : float
        > 0. The larger, the further a single row moves the weights: choose it by cross-validation.
    update, n_buffer, radius
        As in `OnlineAUC`.
    average : bool
        Whether to use the mean of the weights over all rows instead of the last ones.
    max_epochs : int
        Passes of `fit` over the rows, each in a new random order.
    threshold, max_time
        As in `ROCSVM`; `partial_fit` cuts the scores of the buffers.
    random_state : int, RandomState or None
        Draws the order and the buffers.

    Attributes
    ----------
    intercept_ : array (1,)
        Minus the threshold; zero until rows of both classes have come.
    certificate_ : Certificate
        After `fit`: of the objective above divided by C n_pos n_neg, which is the ROC-SVM's with
        lam = 1 / (C n_pos n_neg), among all weights, those outside of `radius` too.
    stream_ : Stream
        Weights, their mean, and the buffers.
    status_ : Status
        After `fit`.
    n_iter_ : int
        Rows taken.
    All others as in `RankSVM`.
    """

    C: float = 0.01
    _: KW_ONLY
    update: str = "sequential"
    n_buffer: int = 100
    radius: float | None = None
    average: bool = False
    max_epochs: int = 1

    def _check_parameters(self) -> None:
        self._method()

    def _train(self, data: TrainingRows, callback: Callback | None) -> None:
        rows, positive, *_ = data
        rng, recorder = self._begin(rows), Recorder(self.max_time, callback)
        recorder.best_primal = recorder.best_dual = math.nan  # an objective is missing
        self.status_ = Status.ITERATION_LIMIT
        n = positive.size
        for _ in range(self.max_epochs):  # each pass in a new order, some rows at a time
            for part in np.array_split(rng.permutation(n), math.ceil(n / ROWS)):
                self._take(rows[part], positive[part], rng)
                recorder.step(self.n_iter_)
            if recorder.out_of_time:
                self.status_ = Status.TIME_LIMIT
                break
        self._set_weights(self._point(), rows, positive)
        self.certificate_ = self._certificate(rows, positive)

    def _certificate(self, rows: Matrix, positive: np.ndarray) -> Certificate:
        """Return how far the weights are from the optimum of the objective of the paper.

        It costs a few sorts of the scores, and no step of the method.
        """
        n_pos = int(positive.sum())
        lam = 1 / (float(self.C) * n_pos * (positive.size - n_pos))
        ridge = Ridge(min(max(lam, SMALLEST_LAM), LARGEST_LAM))
        problem = pair_problem(Rows(rows), positive, AllPairs(), HINGE, ridge)
        found = full_certificate(problem, self.coef_[0])
        words = f"the mean hinge over all pairs + {ridge.l2!r} |w|^2 / 2"
        return replace(found, objective=words)

    def _shortfall(self) -> str | None:
        if self.status_ != Status.TIME_LIMIT:
            return None
        return "the time ran out before the last row: raise max_time"

    def _learn(self, rows: Matrix, positive: np.ndarray, first: bool) -> None:
        if first:
            self._begin(rows)
        rng = self._batch_rng()
        for a, b in pairwise([*range(0, positive.size, ROWS), positive.size]):
            self._take(rows[a:b], positive[a:b], rng)
        self.coef_ = self._point().reshape(1, -1)
        self.intercept_ = np.array([0.0 - self._buffer_threshold()])

    def _begin(self, rows: Matrix) -> np.random.Generator:
        """Begin a stream; return the generator of `fit`."""
        self.stream_, self.n_iter_ = self._method().start(rows.shape[1]), 0
        return np.random.default_rng(self._draw_seed())

    def _method(self) -> OnlineAUC:
        check_count("max_epochs", self.max_epochs)
        if self.max_time is not None:
            check_number("max_time", self.max_time)
        return OnlineAUC(self.C, self.update, self.n_buffer, self.radius)

    def _take(self, rows: Matrix, positive: np.ndarray, rng: np.random.Generator) -> None:
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        self._method().learn(self.stream_, dense, positive, rng.random(positive.size))
        self.n_iter_ += positive.size

    def _point(self) -> np.ndarray:
        return (self.stream_.mean if self.average else self.stream_.w).copy()

    def _buffer_threshold(self) -> float:
        """Return the rule's threshold for the buffers, a row weighing those it stands for."""
        stream, seen = self.stream_, self.stream_.seen
        sizes = np.minimum(seen, stream.buffer_pos.shape[0])
        if not seen.all():
            return 0.0
        rows = np.vstack([stream.buffer_pos[: sizes[0]], stream.buffer_neg[: sizes[1]]])
        positive = np.arange(rows.shape[0]) < sizes[0]
        weight = np.repeat(seen / sizes, sizes)
        return float(get_rule(self.threshold)(self._scores(rows), positive, weight))
