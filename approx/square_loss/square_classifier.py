"""What SPAM, SOLAM and FSAUC share as classifiers: what is kept of a run and of its rows."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...exact.certificate.solution import Status
from ...exact.classifier.base import Matrix
from ...exact.errors import InputError
from ...exact.square_loss.row_average import RowAverage
from ...exact.tools.interrupts import ends_on_interrupt
from ..hard_thresholding.sht_estimator import PROVED
from ..online.online_classifier import OnlineClassifier
from ..online.row_stream import Look, OnlineSolution, Pass, from_rows
from .fsauc import MultiStageSaddle
from .solam import StochasticSaddle
from .spam import StochasticProximal

JUDGED = ("objective_", "gap_", "lower_bound_", "proved_")
"""What is known of the weights after `fit`, and not of those that `partial_fit` made of them."""


def bare_rows(rows: Matrix, positive: np.ndarray) -> RowAverage:
    """Return rows for a method that looks neither at their masses nor at the means and share."""
    return RowAverage(rows, positive, np.zeros(0), np.zeros((2, 0)), 0.5)


class SquareClassifier(OnlineClassifier):
    """Base of the estimators for the square loss over all pairs with a convex penalty."""

    support_: np.ndarray
    objective_: float
    gap_: float
    lower_bound_: float
    proved_: bool
    solution_: OnlineSolution
    history_: list[Pass]
    status_: Status
    _seen: np.ndarray
    _sums: np.ndarray

    @ends_on_interrupt
    def fit(self, X: object, y: object, callback: Look | None = None) -> SquareClassifier:
        """Make `max_passes` n steps, each on a row drawn at random.

        Parameters
        ----------
        X : array or sparse matrix (n, d)
            Finite numbers; sparse input is taken as CSR and stays sparse.
        y : array (n,)
            Labels of two kinds.
        callback : function of a `Pass`, optional
            Called after each pass, or each stage of FSAUC; a look costs about as much as a pass.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a parameter or the input cannot be used, or the steps diverge; scikit-learn's own
            checks of X and y raise plain `ValueError`.

        Warns
        -----
        ConvergenceWarning
            If the time ran out.
        """
        self._solver(0)
        rows, positive, _ = self._check_fit(X, y)
        loss = from_rows(rows, positive)
        self._seen = np.array([positive.size - positive.sum(), positive.sum()])
        self._sums = loss.means * self._seen[:, None]
        self.solution_ = self._run(loss, self._draw_seed(), callback)
        self.objective_, self.gap_ = self.solution_.objective, self.solution_.gap
        self.lower_bound_ = float(np.nextafter(self.objective_ - self.gap_, -np.inf))
        self.proved_ = bool(self.gap_ <= PROVED)
        self.history_, self.n_iter_ = self.solution_.history, self.solution_.n_iter
        self.status_ = self.solution_.status
        self._set_weights(self.solution_.w, rows, positive)
        self.support_ = np.flatnonzero(self.coef_[0])
        if self.status_ == Status.TIME_LIMIT:
            text = "the time ran out before the last pass: raise max_time"
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        return self

    def _solver(self, seed: int) -> StochasticProximal | StochasticSaddle | MultiStageSaddle:
        """Return the solver with the parameters of this estimator, or raise `InputError`."""
        raise NotImplementedError

    def _run(self, loss: RowAverage, seed: int, callback: Look | None) -> OnlineSolution:
        """Solve, and keep the state that `partial_fit` goes on with."""
        raise NotImplementedError

    def _absorb(self, rows: Matrix, positive: np.ndarray, first: bool) -> RowAverage | None:
        """Count the rows of a batch, and return them with the means of all rows seen.

        None as long as a class has not been seen.
        """
        if first:
            self._seen, self._sums = np.zeros(2), np.zeros((2, rows.shape[1]))
        self._seen = self._seen + np.array([(~positive).sum(), positive.sum()])
        sides = np.stack([~positive, positive]).astype(float)
        self._sums = self._sums + np.stack([np.asarray(rows.T @ side) for side in sides])
        if not self._seen.all():
            return None
        means = self._sums / self._seen[:, None]
        share = float(self._seen[1] / self._seen.sum())
        return RowAverage(rows, positive, np.ones(positive.size), means, share)

    def _keep_batch(self, w: np.ndarray, rows: Matrix, positive: np.ndarray) -> None:
        """Set the weights after a batch; the intercept stays where the batch has one class."""
        for name in ("solution_", "status_", "history_", *JUDGED):
            self.__dict__.pop(name, None)
        if not np.isfinite(w).all():
            raise InputError("the steps diverged: take a shorter step, or scale the features")
        if positive.any() and not positive.all():
            self._set_weights(w, rows, positive)
        else:
            self.coef_ = np.array(w, dtype=float).reshape(1, -1)
            self.intercept_ = getattr(self, "intercept_", np.zeros(1))
        self.support_ = np.flatnonzero(self.coef_[0])
