"""SPAM and SOLAM as scikit-learn classifiers; FSAUC is in `fsauc_estimator`."""

from __future__ import annotations

import numpy as np

from ...exact.classifier.threshold import Rule
from ...exact.errors import InputError
from ...exact.square_loss.row_average import RowAverage
from ..online.row_stream import Look, OnlineSolution, run_passes
from .fsauc_estimator import FSAUC
from .solam import SaddleWalk, StochasticSaddle
from .spam import ProximalWalk, StochasticProximal
from .square_classifier import SquareClassifier, bare_rows

__all__ = ["FSAUC", "SOLAM", "SPAM"]


class SPAM(SquareClassifier):
    """A linear model for AUC with an l1 or l2 penalty, or both, by stochastic proximal steps.

    [SHT, section IV]: minimise over w

        mean over all positive-negative pairs of (1 - w'(x_i - x_j))^2 + l1 |w|_1 + l2/2 |w|^2.

    Standardise the features first. The answer is an approximate one; `gap_` proves how near.
    The departures from the paper are listed at `aucert.approx.square_loss.spam.StochasticProximal`.

    Parameters
    ----------
    l1, l2 : float
        >= 0, weights of the penalties against the mean loss.
    schedule : {"sqrt", "linear", "constant"}
        Step t has the length step / sqrt(t), step / (t + t0), or step.
    step : "auto" or float
        > 0.
    t0 : float, optional
        >= 0.
    average : bool
        Take the mean of all points, which is hardly ever sparse, and not the last one.
    max_passes : int
    threshold : {"equal-error", "midpoint", "youden", "accuracy"} or callable
        The rule that sets the intercept from the training scores, see `ROCSVM`; in `partial_fit`
        from those of the last batch that had both classes.
    max_time : float, optional
        Seconds of `fit`, looked at after each pass (each stage of FSAUC); there is one at least.
    random_state : int, RandomState or None
        Draws the rows.

    Attributes
    ----------
    coef_ : array (1, n_features_in_)
    intercept_ : array (1,)
        Minus the threshold.
    classes_ : array (2,)
        The negative and the positive label.
    support_ : int array
        The features of nonzero weight, sorted.
    objective_, gap_, lower_bound_ : float
        After `fit`: the objective, how far it is from the optimum at most, and their difference. Of
        a loaded model (`solution_.as_saved`) they are what its file says.
    proved_ : bool
        After `fit`: whether `gap_` is at most 1e-9. Steps of this kind hardly ever come so near,
        save where w = 0 is the optimum.
    solution_ : OnlineSolution
        After `fit`.
    history_ : list of Pass
    n_iter_ : int
        Steps made.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only where X has column names.
    """

    _walk: ProximalWalk

    def __init__(
        self,
        l1: float = 1e-2,
        l2: float = 1e-2,
        *,
        schedule: str = "sqrt",
        step: float | str = "auto",
        t0: float | None = None,
        average: bool = False,
        max_passes: int = 20,
        threshold: str | Rule = "equal-error",
        max_time: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.l1 = l1
        self.l2 = l2
        self.schedule = schedule
        self.step = step
        self.t0 = t0
        self.average = average
        self.max_passes = max_passes
        self.threshold = threshold
        self.max_time = max_time
        self.random_state = random_state

    def _solver(self, seed: int) -> StochasticProximal:
        names = ("l1", "l2", "schedule", "step", "t0", "average", "max_passes", "max_time")
        return StochasticProximal(**{name: getattr(self, name) for name in names}, seed=seed)

    def _run(self, loss: RowAverage, seed: int, callback: Look | None) -> OnlineSolution:
        solver = self._solver(seed)
        self._walk = ProximalWalk(solver, loss, np.zeros(loss.dim))
        return run_passes(solver.problem(loss), solver.passes(self._walk), callback, self.max_time)

    def partial_fit(self, X: object, y: object, classes: object = None) -> SPAM:
        """Make a step on each of these rows, in the order they have.

        The class means and shares are those of all rows so far, these included; until both
        classes have been seen the rows are only counted.

        Parameters
        ----------
        X : array or sparse matrix (m, d)
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
        solver, first = self._solver(0), not self._begun()
        rows, positive = self._check_batch(X, y, classes)
        loss = self._absorb(rows, positive, first)
        if first:
            self._walk = ProximalWalk(solver, None, np.zeros(rows.shape[1]))
        if loss is not None:
            self._walk.visit(loss)
            self._walk.take(np.arange(positive.size))
        self.n_iter_ = self._walk.n_iter
        self._keep_batch(self._walk.answer, rows, positive)
        return self


class SOLAM(SquareClassifier):
    """A linear model for AUC in an l2 ball, as a saddle point, a row a step.

    [SHT, section IV]: minimise over |w| <= radius

        mean over all positive-negative pairs of (1 - w'(x_i - x_j))^2.

    Standardise the features first. The departures from the paper are listed at
    `aucert.approx.square_loss.solam.StochasticSaddle`.

    Parameters
    ----------
    radius : float
        > 0.
    step : "auto" or float
        > 0, the paper's xi: step t has the length step / sqrt(t).
    share : {"running", "exact"}
        The share of the positive rows among those seen so far, or among all.
    max_passes : int
    threshold, max_time, random_state
        As in `SPAM`.

    Attributes
    ----------
    coef_, intercept_, classes_, support_, objective_, gap_, lower_bound_, proved_,
    solution_, history_, n_iter_, n_features_in_, feature_names_in_
        As in `SPAM`.
    """

    _walk: SaddleWalk

    def __init__(
        self,
        radius: float = 1.0,
        *,
        step: float | str = "auto",
        share: str = "running",
        max_passes: int = 20,
        threshold: str | Rule = "equal-error",
        max_time: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.radius = radius
        self.step = step
        self.share = share
        self.max_passes = max_passes
        self.threshold = threshold
        self.max_time = max_time
        self.random_state = random_state

    def _solver(self, seed: int) -> StochasticSaddle:
        names = ("radius", "step", "share", "max_passes", "max_time")
        return StochasticSaddle(**{name: getattr(self, name) for name in names}, seed=seed)

    def _run(self, loss: RowAverage, seed: int, callback: Look | None) -> OnlineSolution:
        solver = self._solver(seed)
        self._walk = SaddleWalk(solver, loss, np.zeros(loss.dim))
        return run_passes(solver.problem(loss), solver.passes(self._walk), callback, self.max_time)

    def partial_fit(self, X: object, y: object, classes: object = None) -> SOLAM:
        """Make a step on each of these rows, in the order they have.

        Parameters
        ----------
        X : array or sparse matrix (m, d)
        y : array (m,)
        classes : array (2,), optional
            Both labels; needed in the first call, unless `fit` came before.

        Returns
        -------
        self

        Raises
        ------
        InputError
            As `fit`; and with ``share="exact"``, which needs all rows.
        """
        solver, first = self._solver(0), not self._begun()
        if self.share == "exact":
            raise InputError('share="exact" needs all rows: take "running", or fit')
        rows, positive = self._check_batch(X, y, classes)
        if first:
            self._walk = SaddleWalk(solver, None, np.zeros(rows.shape[1]))
        self._walk.visit(bare_rows(rows, positive))
        self._walk.take(np.arange(positive.size))
        self.n_iter_ = self._walk.n_iter
        self._keep_batch(self._walk.answer, rows, positive)
        return self
