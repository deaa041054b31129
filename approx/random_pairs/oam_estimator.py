"""OAM as a scikit-learn classifier."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from itertools import pairwise

import numpy as np

from ...exact.certificate.certificate import Certificate
from ...exact.certificate.from_scores import full_certificate
from ...exact.certificate.solution import Callback, Recorder, Status
from ...exact.classifier.inputs import Matrix, TrainingRows
from ...exact.classifier.threshold import get_rule
from ...exact.losses.registry import HINGE
from ...exact.pairs.all_pairs import AllPairs
from ...exact.problem.penalties.ridge import LARGEST_LAM, SMALLEST_LAM
from ...exact.problem.problem import Ridge, pair_problem
from ...exact.spaces.rows import Rows
from ...exact.tools.checks import check_count, check_number
from ..online.online_classifier import OnlineClassifier
from .oam import OnlineAUC

ROWS = 2048
"""Rows taken at a time; sparse rows are made dense in blocks of this size."""


@dataclass(eq=False, repr=False)
class OAM(OnlineClassifier):
    """Online AUC maximisation: each row meets a buffer of the other class. (Zhao et al., 2011)

    [Nonlinear, Section 5.2] uses it as a rival, on Nyström features: see
    `aucert.approx.pipelines.noam`. It is made for one pass over a stream, and starts from
    the objective

        |w|^2 / 2 + C sum over all positive-negative pairs of max(0, 1 - w'(x_i - x_j)),

    whose optimum its updates do not reach: `certificate_` says how far from it they end, and
    `aucert.exact.certify` says the same for any lam. Standardise the features first. The updates
    are written out in `aucert.approx.random_pairs.oam`.

    Parameters
    ----------
    C : float
        > 0. The larger, the further a single row moves the weights: choose it by cross-validation.
    update : {"sequential", "gradient"}
    n_buffer : int
        Rows kept of each class.
    radius : float, optional
        > 0, the largest |w| allowed; by default there is none.
    average : bool
        Whether to use the mean of the weights over all rows instead of the last ones.
    max_epochs : int
        Passes of `fit` over the rows, each in a new random order.
    threshold : {"equal-error", "midpoint", "youden", "accuracy"} or callable
        The rule that sets the intercept, see `ROCSVM`: from the training scores in `fit`, and
        from those of the buffers in `partial_fit`.
    max_time : float, optional
        Seconds for the passes.
    random_state : int, RandomState or None
        Draws the order and the buffers.

    Attributes
    ----------
    coef_ : array (1, n_features_in_)
    intercept_ : array (1,)
        Minus the threshold; zero until rows of both classes have come.
    classes_ : array (2,)
        The negative and the positive label.
    certificate_ : Certificate
        After `fit`: of the objective above divided by C n_pos n_neg, which is the ROC-SVM's with
        lam = 1 / (C n_pos n_neg), among all weights, those outside of `radius` too.
    stream_ : Stream
        Weights, their mean, and the buffers.
    status_ : Status
        After `fit`.
    n_iter_ : int
        Rows taken.
    n_features_in_, feature_names_in_
        As in `RankSVM`.
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
        rows, positive, _ = data
        rng, recorder = self._begin(rows), Recorder(self.max_time, callback)
        recorder.best_primal = recorder.best_dual = math.nan  # there is no objective
        self.status_ = Status.ITERATION_LIMIT
        for part in self._parts(positive.size, rng):
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

    def _parts(self, n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the rows of all passes, some at a time, each pass in a new order."""
        for _ in range(self.max_epochs):
            yield from np.array_split(rng.permutation(n), math.ceil(n / ROWS))

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
