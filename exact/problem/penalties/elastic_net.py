"""The elastic net, l2 / 2 |w|^2 + l1 |w|_1; with l2 = 0 the lasso."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...tools.rounding import gamma
from .penalty import FeaturePenalty, check_weights, fraction


@dataclass(frozen=True)
class ElasticNet(FeaturePenalty):
    """l2/2 |w|^2 + l1 |w|_1; C is the cube of half side l1.

    Parameters
    ----------
    l2 : float
        >= 0; zero, the lasso, only where l1 > 0.
    l1 : float
        >= 0.
    """

    l2: float
    l1: float

    def __post_init__(self) -> None:
        l2, l1 = check_weights(self.l2, self.l1)
        object.__setattr__(self, "l2", l2)
        object.__setattr__(self, "l1", l1)

    def support(self, w: np.ndarray) -> float:
        """Return l1 |w|_1."""
        return self.l1 * float(np.abs(w).sum())

    def residual(self, g: np.ndarray) -> np.ndarray:
        """Return sign(g_k) max(|g_k| - l1, 0)."""
        return np.sign(g) * np.maximum(np.abs(g) - self.l1, 0.0)

    def zeros(self, g: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Return where the weight is zero for every pull within `error` (dim,) of g: |g_k| < l1."""
        return (np.abs(g) + error) * (1 + gamma(4)) < self.l1

    def shrink(self, g: np.ndarray, error: float) -> float:
        """Return min(1, l1 / (|g|_inf + error)), rounded down."""
        return fraction(self.l1, float(np.abs(g).max(initial=0.0)) + error)
