"""The logistic loss."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..sums.assembled import PairSums, Whole
from ..sums.convolved import convolved, few_pairs


@dataclass(frozen=True)
class Logistic:
    """The logistic loss log(1 + exp(-t)); alpha in [0, 1]; dual part the entropy of alpha.

    The dual part is -alpha log(alpha) - (1 - alpha) log(1 - alpha). Over the pairs of a query this
    is the loss of RankNet.
    """

    name: str = field(default="logistic", init=False)
    lipschitz: float = field(default=1.0, init=False)
    smoothness: float = field(default=0.25, init=False)
    nonincreasing: bool = field(default=True, init=False)
    centre: float = field(default=0.0, init=False)
    reach: float = field(default=44.0, init=False)

    def value(self, t: np.ndarray) -> np.ndarray:
        """Return log(1 + exp(-t))."""
        return np.maximum(0.0, -t) + np.log1p(np.exp(-np.abs(t)))

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        """Return 1 / (1 + exp(t)); there is no kink to smooth."""
        small = np.exp(-np.abs(t))
        return np.where(t > 0, small, 1.0) / (1.0 + small)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        """Return -alpha log(alpha) - (1 - alpha) log(1 - alpha)."""
        alpha = np.asarray(alpha)
        upper = alpha * np.log(np.where(alpha > 0, alpha, 1.0))
        return -upper - (1.0 - alpha) * np.log1p(-np.where(alpha < 1, alpha, 0.0))

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha clipped to [0, 1]."""
        return np.clip(alpha, 0.0, 1.0)

    def beside_step(self, x: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return alpha - step and dual(alpha) - dual(1) step at t = x; see `sums.convolved`.

        The smaller of alpha and 1 - alpha is formed without a subtraction, so that it keeps its
        relative accuracy.
        """
        small = np.exp(-np.abs(x))
        small = small / (1.0 + small)
        rest = np.where(step == 0.5, 0.0, np.where(step > 0.5, -small, small))
        return rest, self.dual(small)

    def tail(self, distance: float) -> float:
        """Return at least log(1 + exp(-t)) - max(0, -t) where |t| >= `distance`."""
        return float(np.exp(-distance)) * (1 + 1e-12)

    def all_pairs(self, pairs: Whole, scores: np.ndarray, width: float) -> PairSums | None:
        """Return the sums over all pairs by one convolution, or None where the pairs are few."""
        return None if few_pairs(pairs) else convolved(pairs, scores, self, width)
