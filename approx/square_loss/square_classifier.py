"""What SPAM, SOLAM and FSAUC share as classifiers: what is kept of a run and of its rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, fields
from typing import ClassVar

import numpy as np

from ...exact.certificate.solution import Status
from ...exact.classifier.inputs import Matrix, TrainingRows
from ...exact.errors import InputError
from ...exact.square_loss.row_average import RowAverage
from ..hard_thresholding.sht_estimator import PROVED
from ..online.online_classifier import OnlineClassifier
from ..online.row_stream import Look, from_rows
from .fsauc import MultiStageSaddle
from .solam import StochasticSaddle
from .spam import StochasticProximal


def bare_rows(rows: Matrix, positive: np.ndarray) -> RowAverage:
    """Return rows for a method that looks neither at their masses nor at the means and share."""
    return RowAverage(rows, positive, np.zeros(0), np.zeros((2, 0)), 0.5)


@dataclass(eq=False, repr=False)
class SquareClassifier(OnlineClassifier):
    """Base of the estimators for the square loss over all pairs with a convex penalty.

    `fit` makes `max_passes` n steps, each on a row drawn at random; `partial_fit` makes a step on
    each of its rows, in the order they have. A subclass names its solver, all of whose parameters
    but the seed are its own.
    """

    _: KW_ONLY
    step: float | str = "auto"
    max_passes: int = 20

    _method: ClassVar[type[StochasticProximal | StochasticSaddle | MultiStageSaddle]]

    def _solver(self, seed: int = 0) -> StochasticProximal | StochasticSaddle | MultiStageSaddle:
        names = [field.name for field in fields(self._method) if field.name != "seed"]
        return self._method(**{name: getattr(self, name) for name in names}, seed=seed)

    def _check_parameters(self) -> None:
        self._solver()

    def _train(self, data: TrainingRows, callback: Look | None) -> None:
        rows, positive, _ = data
        solver, loss = self._solver(self._draw_seed()), from_rows(rows, positive)
        self._walk = solver.begin(loss, np.zeros(loss.dim), self.max_passes * positive.size)
        self.solution_ = solver.run(self._walk, callback)
        self.objective_, self.gap_ = self.solution_.objective, self.solution_.gap
        self.lower_bound_ = float(np.nextafter(self.objective_ - self.gap_, -np.inf))
        self.certificate_ = self.solution_.certificate
        self.proved_ = bool(self.gap_ <= PROVED)
        self.history_, self.n_iter_ = self.solution_.history, self.solution_.n_iter
        self.status_ = self.solution_.status
        self._set_weights(self.solution_.w, rows, positive)
        self.support_ = np.flatnonzero(self.coef_[0])

    def _shortfall(self) -> str | None:
        if self.status_ != Status.TIME_LIMIT:
            return None
        return "the time ran out before the last pass: raise max_time"

    def _learn(self, rows: Matrix, positive: np.ndarray, first: bool) -> None:
        loss = self._batch(rows, positive, first)
        if first:
            steps = self._stream_steps(positive.size)
            self._walk = self._solver().begin(loss, np.zeros(rows.shape[1]), steps)
        elif loss is not None:
            self._walk.visit(loss)
        if loss is not None:
            self._walk.take(np.arange(positive.size))
        self.n_iter_ = self._walk.n_iter
        self._keep_batch(self._walk.answer, rows, positive)

    def _batch(self, rows: Matrix, positive: np.ndarray, first: bool) -> RowAverage | None:
        """Return the rows of a batch as the method wants them; None where it has to wait."""
        return bare_rows(rows, positive)

    def _stream_steps(self, n: int) -> int:
        """Return the steps that a stream is laid out for, whose first batch has `n` rows."""
        return self.max_passes * n

    def _keep_batch(self, w: np.ndarray, rows: Matrix, positive: np.ndarray) -> None:
        """Set the weights after a batch; the intercept stays where the batch has one class."""
        if not np.isfinite(w).all():
            raise InputError("the steps diverged: take a shorter step, or scale the features")
        if positive.any() and not positive.all():
            self._set_weights(w, rows, positive)
        else:
            self.coef_ = np.array(w, dtype=float).reshape(1, -1)
            self.intercept_ = getattr(self, "intercept_", np.zeros(1))
        self.support_ = np.flatnonzero(self.coef_[0])
