"""SPAM as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from ...exact.classifier.inputs import Matrix, TrainingRows
from ...exact.square_loss.row_average import RowAverage
from ..online.row_stream import Look
from .spam import StochasticProximal
from .square_classifier import SquareClassifier


@dataclass(eq=False, repr=False)
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
    support_ : int array
        The features of nonzero weight, sorted.
    objective_, gap_, lower_bound_ : float
        After `fit`: the objective, how far it is from the optimum at most, and their difference. Of
        a loaded model (`solution_.as_saved`) they are what its file says.
    proved_ : bool
        After `fit`: whether `gap_` is at most 1e-9. Steps of this kind hardly ever come so near,
        save where w = 0 is the optimum.
    certificate_ : Certificate
        After `fit`: the same as a certificate. Its `statement` names the objective and says how far
        at most these weights are from the optimum of it, which after a few passes is far.
    solution_ : OnlineSolution
        After `fit`.
    history_ : list of Pass
    n_iter_ : int
        Steps made.
    intercept_, classes_, n_features_in_, feature_names_in_
        As in `ROCSVM`.
    """

    l1: float = 1e-2
    l2: float = 1e-2
    _: KW_ONLY
    schedule: str = "sqrt"
    t0: float | None = None
    average: bool = False

    _method = StochasticProximal

    def _train(self, data: TrainingRows, callback: Look | None) -> None:
        super()._train(data, callback)
        n_pos = data.positive.sum()
        self._seen = np.array([data.positive.size - n_pos, n_pos])
        self._sums = self._walk.loss.means * self._seen[:, None]

    def _batch(self, rows: Matrix, positive: np.ndarray, first: bool) -> RowAverage | None:
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
