"""SHT-AUC as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Protocol, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...exact.certificate.certificate import Certificate
from ...exact.classifier.base import AUCClassifier
from ...exact.classifier.inputs import TrainingRows, draw_seed
from ...exact.errors import InputError
from ...exact.pairs.all_pairs import AllPairs
from ...exact.spaces.rows import Rows
from ...exact.square_loss.row_average import RowAverage
from ...exact.square_loss.support import objective_above, sparse_floor
from ...exact.tools.rounding import Bound, above
from .sht_auc import StochasticHardThresholding
from .sparse_solution import Epoch, Stop

PROVED = 1e-9
"""Largest gap at which the features are called proved; the scale is F(0) = 1."""


class SparseBound(Protocol):
    """A lower bound of the objective over all weights with at most k nonzeros."""

    @property
    def k(self) -> int:
        """Nonzeros, at most."""
        ...

    @property
    def ridge(self) -> float:
        """The penalty is ridge/2 |w|^2."""
        ...

    @property
    def lower(self) -> float:
        """The bound."""
        ...

    def gap_of(self, w: np.ndarray) -> float:
        """Return how far the objective at `w` is above the bound, rounding included."""
        ...


@dataclass(eq=False, repr=False)
class SHTAUC(AUCClassifier):
    """A linear model of at most k features for AUC, by stochastic hard thresholding.

    [SHT, eq. (3), Algorithm 1]: minimise over w with at most k nonzeros

        mean over all positive-negative pairs of (1 - w'(x_i - x_j))^2.

    Standardise the features first: the first step goes along the difference of the class means, so
    the features chosen depend on their units. The answer is local: `stationarity_` says how near it
    is to a fixed point. The problem is not convex, so the lower bound in `certificate_` is that of
    a convex relaxation. `StochasticHardThresholding` lists the departures from the paper.

    Parameters
    ----------
    k : int
        Features to keep, >= 1. If there are no more than that, nothing is thresholded.
    n_blocks : int
        m; with several blocks each epoch makes as many steps, but the iterates never settle. The
        blocks have equally many rows, whatever their weights.
    step : "auto" or float
        "auto" is 1 / the largest curvature of a block.
    max_epochs : int
        Passes over the rows.
    mode : {"right", "authors"}
        "authors" is the configuration of the published experiments, which keeps k - 1 features
        and does hardly more than rank them by the difference of the class means.
    tol : float
        Stationarity at which to stop; 0 for never.
    refine : {"none", "refit", "swaps"}
        "none" leaves the answer as it is, as in the paper. "refit" takes the optimum on its
        features. "swaps" also exchanges features, one at a time, as long as that helps, and mostly
        ends at the best ones, see `refine_weights`.
    threshold : {"equal-error", "midpoint", "youden", "accuracy"} or callable
        The rule that sets the intercept from the training scores, see
        `aucert.exact.classifier.threshold`.
    max_time : float, optional
        Seconds.
    random_state : int, RandomState or None
        Draws the blocks; it plays no part where there is one.

    Attributes
    ----------
    coef_ : array (1, n_features_in_)
    support_ : int array
        The features of nonzero weight, sorted.
    objective_ : float
        The mean square loss over all pairs.
    stationarity_ : float
        In [0, 2], zero at a fixed point; see `SparseSolution`.
    lower_bound_ : float
        No weights with at most k nonzeros have a lower objective. From a relaxation where there
        are few features, else zero; `judge` takes a better one.
    gap_ : float
        At least objective_ - lower_bound_, rounding included. Of a loaded model
        (`solution_.as_saved`) both are what its file says, until `judge` makes them anew.
    certificate_ : Certificate
        Of the same bounds. Where the bound is zero its `statement` says that much and no more.
    proved_ : bool
        Whether gap_ is at most 1e-9: then no other features are better by more than that.
    solution_ : SparseSolution
    status_ : Stop
    n_iter_ : int
        Steps made.
    history_ : list of Epoch
    intercept_, classes_, n_features_in_, feature_names_in_
        As in `ROCSVM`.
    """

    k: int = 8
    _: KW_ONLY
    n_blocks: int = 1
    step: float | str = "auto"
    max_epochs: int = 5000
    mode: str = "right"
    tol: float = 1e-4
    refine: str = "none"
    random_state: int | np.random.RandomState | None = None

    def _solver(self, seed: int = 0) -> StochasticHardThresholding:
        names = ("k", "n_blocks", "step", "max_epochs", "tol", "mode", "max_time", "refine")
        given = {name: getattr(self, name) for name in names}
        return StochasticHardThresholding(**given, seed=seed)

    def _check_parameters(self) -> None:
        self._solver()

    def _train(self, data: TrainingRows, callback: Callable[[Epoch], object] | None) -> None:
        rows, positive, weight = data
        solver = self._solver(draw_seed(self.random_state))
        loss = RowAverage.of(Rows(rows), positive, AllPairs(weight))
        self.solution_ = solver.solve(loss, callback=callback)
        self.support_, self.stationarity_ = self.solution_.support, self.solution_.stationarity
        self.objective_, self.status_ = self.solution_.objective, self.solution_.status
        self.n_iter_, self.history_ = self.solution_.n_iter, self.solution_.history
        self._set_bound(sparse_floor(loss, self.k), objective_above(loss, self.solution_.w))
        self._set_weights(self.solution_.w, rows, positive, weight)

    def judge(self, best: SparseBound) -> Self:
        """Set `lower_bound_`, `gap_` and `proved_` by a bound that somebody has computed.

        Parameters
        ----------
        best : BestSubset, or another `SparseBound`
            Of the data of the training, for this k or a larger one, without a penalty: what
            `aucert.exact.best_subset` returns, stopped early or not. It does not change the model.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If the bound is of another problem.
        """
        check_is_fitted(self)
        if best.ridge != 0 or best.k < self.k:
            raise InputError(
                f"the bound is for k = {best.k} and ridge = {best.ridge:g}; "
                f"this model needs one for k = {self.k} and ridge = 0"
            )
        gap = best.gap_of(self.coef_[0])
        if abs(best.lower + gap - self.objective_) > 1e-6 * (1 + self.objective_):
            raise InputError("the bound is of other data than the model was trained on")
        if best.lower > self.lower_bound_ or self.solution_.as_saved:
            self._set_bound(best.lower, best.lower + gap)
        return self

    def _set_bound(self, lower: float, upper: float) -> None:
        """Set what is proved by bounds of the optimum and of the objective, rounding included."""
        self.lower_bound_ = lower
        self.gap_ = (upper if np.isfinite(upper) else self.objective_) - lower
        # The upper bound is of the rows as given; the objective is of the centred ones.
        error = max(above(upper - self.objective_), 0.0)
        words = f"the mean square loss over all pairs among weights with {self.k} nonzeros at most"
        self.certificate_ = Certificate.from_bounds(
            Bound(self.objective_, error), Bound(lower, 0.0), 0.0, words
        )
        self.proved_ = bool(upper - lower <= PROVED)

    def _shortfall(self) -> str | None:
        awaited = [Stop.STATIONARY]
        if (self.n_blocks or 1) > 1 or self.mode == "authors":
            awaited.append(Stop.EPOCH_LIMIT)  # neither is meant to settle
        if self.status_ in awaited:
            return None
        return (
            f"the stationarity is {self.stationarity_:.1e}, not within tol={self.tol:g}. "
            f"{self.status_.advice}"
        )
