"""RankSVM: the squared hinge over all pairs by truncated Newton, on the rows themselves."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from ...exact.certificate.solution import Callback
from ...exact.classifier.base import AUCClassifier, shortfall_of
from ...exact.classifier.inputs import TrainingRows
from ...exact.formulation.formulation import formulate
from ...exact.formulation.request import Request
from ...exact.losses.registry import SQUARED_HINGE
from ...exact.pairs.all_pairs import AllPairs
from ...exact.problem.problem import Ridge
from .truncated_newton import TruncatedNewton


@dataclass(eq=False, repr=False)
class NewtonClassifier(AUCClassifier):
    """Base of the classifiers trained by `TruncatedNewton`."""

    lam: float = 1e-3
    _: KW_ONLY
    tol: float = 1e-9
    max_iter: int = 200

    def _check_parameters(self) -> None:
        self._solver()

    def _shortfall(self) -> str | None:
        return shortfall_of(self.solution_, self.tol)

    def _solver(self) -> TruncatedNewton:
        Ridge(self.lam)
        return TruncatedNewton(self.tol, self.max_iter, max_time=self.max_time)

    def _solve(self, features: TrainingRows, callback: Callback | None) -> np.ndarray:
        """Solve the problem over the rows of features, keep the solution, and return w."""
        rows, positive, weight = features
        request = Request.of(self.lam, SQUARED_HINGE, AllPairs(weight), True)
        task = formulate(rows, positive, request)
        found = self._solver().solve(task.work, callback=callback)
        self._keep_solution(task.judge(found, self.tol))
        return self.solution_.w


@dataclass(eq=False, repr=False)
class RankSVM(NewtonClassifier):
    """The linear ranking SVM of two classes, solved in the primal.

    [Nonlinear, eq. (5)] with p = 2 and the rows themselves for features: minimise over w

        lam/2 |w|^2 + mean over all positive-negative pairs of max(0, 1 - w'(x_i - x_j))^2.

    Standardise the features first. The paper's sum over the pairs with a factor C means
    lam = 1 / (C n_pos n_neg); see `aucert.exact.problem.scalings`.

    Parameters
    ----------
    lam : float
        > 0, weight of the penalty against the mean loss.
    tol : float
        Relative gap to reach, > 0.
    max_iter : int
        As in `TruncatedNewton`.
    threshold : {"equal-error", "midpoint", "youden", "accuracy"} or callable
        As in `ROCSVM`.
    max_time : float, optional
        Seconds; the best point so far is kept, with its gap.

    Attributes
    ----------
    coef_ : array (1, n_features_in_)
    certificate_ : Certificate
        How far `coef_` is from the optimum, at most.
    intercept_, classes_, solution_, status_, n_iter_, history_, n_features_in_, feature_names_in_
        As in `ROCSVM`.
    """

    def _train(self, data: TrainingRows, callback: Callback | None) -> None:
        self._set_weights(self._solve(data, callback), *data)
