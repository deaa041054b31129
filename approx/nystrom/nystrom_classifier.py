"""What the classifiers on Nyström features share: the map, and the function that it stands for."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ...exact.classifier.base import AUCClassifier
from ...exact.classifier.inputs import Matrix
from .nystrom import Nystrom


@dataclass(eq=False, repr=False)
class NystromClassifier(AUCClassifier):
    """Base of the classifiers that are linear in Nyström features.

    [Nonlinear, Algorithm 1]: choose landmarks, map the rows, train on the mapped rows. A subclass
    adds the parameters that say which landmarks.
    """

    _: KW_ONLY
    kernel: str = "rbf"
    gamma: float | None = None
    rcond: float = 1e-12
    random_state: int | np.random.RandomState | None = None

    def _fit_map(self, rows: Matrix, positive: np.ndarray, **chosen: Any) -> np.ndarray:
        """Choose the landmarks, set `nystrom_`, and return the features of the rows: (n, r)."""
        self.nystrom_ = Nystrom(self.kernel, gamma=self.gamma, rcond=self.rcond, **chosen)
        return self.nystrom_.fit(rows, positive).map_.transform(rows)

    def _set_function(
        self, w: np.ndarray, rows: Matrix, positive: np.ndarray, weight: np.ndarray | None = None
    ) -> None:
        """Set `dual_coef_` and what `_set_weights` sets, for weights `w` of the features."""
        self.dual_coef_ = self.nystrom_.map_.coefficients(w).reshape(1, -1)
        self._set_weights(w, rows, positive, weight)

    def _scores(self, X: Matrix) -> np.ndarray:
        """Return f at checked rows, without the intercept."""
        return self.nystrom_.map_.transform(X) @ self.coef_[0]
