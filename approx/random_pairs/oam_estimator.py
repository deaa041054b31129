"""OAM as a scikit-learn classifier."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...exact.certificate.solution import Status, Step
from ...exact.classifier.base import Matrix
from ...exact.classifier.threshold import Rule, get_rule
from ...exact.tools.checks import check_count, check_number
from ...exact.tools.interrupts import ends_on_interrupt
from ..online.online_classifier import OnlineClassifier
from .oam import OnlineAUC, Stream

ROWS = 2048
"""Rows that are taken at a time; sparse ones are made dense so many at a time."""


class OAM(OnlineClassifier):
    """Online AUC maximisation: each row meets a buffer of the other class. (Zhao et al., 2011)

    [Nonlinear, Section 5.2] uses it as a rival, on Nyström features: see
    `aucert.approx.pipelines.noam`. It is made for one pass over a stream and has no objective
    that it would reach, hence no certificate of its own; `aucert.exact.certify` tells how far its
    weights are from the optimum for any lam. Standardise the features first. The updates are
    written out in `aucert.approx.random_pairs.oam`.

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
        Whether to use the mean of the weights over all rows in the place of the last ones.
    max_epochs : int
        Passes of `fit` over the rows, each in a new random order.
    threshold : {"equal-error", "midpoint", "youden", "accuracy"} or callable
        The rule that sets the intercept, see `ROCSVM`: from the training scores in `fit`, and
        from those of the buffers in `partial_fit`.
    max_time : float, optional
        Seconds for the passes.
    random_state : int, RandomState or None
        Of the order and the buffers.

    Attributes
    ----------
    coef_ : array (1, n_features_in_)
    intercept_ : array (1,)
        Minus the threshold; zero until rows of both classes have come.
    classes_ : array (2,)
        The negative and the positive label.
    stream_ : Stream
        Weights, their mean, and the buffers.
    status_ : Status
        After `fit`.
    n_iter_ : int
        Rows taken.
    n_features_in_, feature_names_in_
        As in `RankSVM`.
    """

    stream_: Stream
    status_: Status

    def __init__(
        self,
        C: float = 0.01,
        *,
        update: str = "sequential",
        n_buffer: int = 100,
        radius: float | None = None,
        average: bool = False,
        max_epochs: int = 1,
        threshold: str | Rule = "equal-error",
        max_time: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.C = C
        self.update = update
        self.n_buffer = n_buffer
        self.radius = radius
        self.average = average
        self.max_epochs = max_epochs
        self.threshold = threshold
        self.max_time = max_time
        self.random_state = random_state

    @ends_on_interrupt
    def fit(self, X: object, y: object, callback: Callable[[Step], object] | None = None) -> OAM:
        """Pass over the rows, each time in a new random order.

        Parameters
        ----------
        X : array or sparse matrix (n, d)
            Finite numbers; sparse rows are made dense a few at a time.
        y : array (n,)
            Labels of two kinds.
        callback : function of a `Step`, optional
            Called after every few thousand rows; primal and dual are not known.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a parameter or the input cannot be used, or the weights overflow.

        Warns
        -----
        ConvergenceWarning
            If the time ran out.
        """
        method = self._method()
        rows, positive, _ = self._check_fit(X, y)
        rng = np.random.default_rng(self._draw_seed())
        self.stream_, self.n_iter_ = method.start(rows.shape[1]), 0
        self.status_ = Status.ITERATION_LIMIT
        start = time.perf_counter()
        for _ in range(self.max_epochs):
            order = rng.permutation(positive.size)
            for part in np.array_split(order, math.ceil(order.size / ROWS)):
                self._learn(method, rows[part], positive[part], rng)
                seconds = time.perf_counter() - start
                if callback is not None:
                    callback(Step(self.n_iter_, seconds, math.nan, math.nan))
                if self.max_time is not None and seconds > self.max_time:
                    self.status_ = Status.TIME_LIMIT
                    break
            if self.status_ == Status.TIME_LIMIT:
                warnings.warn(
                    "the time ran out before the last row: raise max_time",
                    ConvergenceWarning,
                    stacklevel=2,
                )
                break
        self._set_weights(self._point(), rows, positive)
        return self

    def partial_fit(self, X: object, y: object, classes: object = None) -> OAM:
        """Take these rows in the order they have.

        Parameters
        ----------
        X : array or sparse matrix (m, d)
            Any number of rows, of one class or of both.
        y : array (m,)
        classes : array (2,), optional
            Both labels; needed in the first call, unless `fit` came before.

        Returns
        -------
        self

        Raises
        ------
        InputError
            As `fit`.
        """
        method, first = self._method(), not self._begun()
        rows, positive = self._check_batch(X, y, classes)
        if first:
            self._draw_seed()
            self.stream_, self.n_iter_ = method.start(rows.shape[1]), 0
        rng = self._batch_rng()
        for a, b in pairwise([*range(0, positive.size, ROWS), positive.size]):
            self._learn(method, rows[a:b], positive[a:b], rng)
        self.__dict__.pop("status_", None)
        self.coef_ = self._point().reshape(1, -1)
        self.intercept_ = np.array([0.0 - self._buffer_threshold()])
        return self

    def _method(self) -> OnlineAUC:
        check_count("max_epochs", self.max_epochs)
        if self.max_time is not None:
            check_number("max_time", self.max_time)
        return OnlineAUC(self.C, self.update, self.n_buffer, self.radius)

    def _learn(
        self, method: OnlineAUC, rows: Matrix, positive: np.ndarray, rng: np.random.Generator
    ) -> None:
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        method.learn(self.stream_, dense, positive, rng.random(positive.size))
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
