"""The exponential loss."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..errors import InputError, OverflowingError
from ..sums.assembled import PairSums, Whole
from ..sums.convolved import exponential_sums

# exp(-t) is taken for t >= -700; below that it leaves the range of floating point.
LARGEST_EXPONENT = 700.0


@dataclass(frozen=True)
class Exponential:
    """The exponential loss exp(-t); alpha >= 0; dual part alpha - alpha log(alpha).

    Over all pairs it is the loss of RankBoost, and factorises: the mean is the product of the
    positives' mean of exp(-s) and the negatives' mean of exp(s).
    """

    name: str = field(default="exponential", init=False)
    lipschitz: float = field(default=np.inf, init=False)
    smoothness: float = field(default=np.inf, init=False)
    nonincreasing: bool = field(default=True, init=False)

    def value(self, t: np.ndarray) -> np.ndarray:
        """Return exp(-t)."""
        lowest = float(np.min(t, initial=0.0))
        if not lowest >= -LARGEST_EXPONENT:
            raise OverflowingError(
                f"the exponential loss overflows at a margin of {lowest:g}: take smaller "
                "weights, a larger lam or another loss"
            )
        return np.exp(-np.asarray(t))

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        """Return exp(-t); there is no kink to smooth."""
        return self.value(t)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha - alpha log(alpha)."""
        alpha = np.asarray(alpha)
        return alpha - alpha * np.log(np.where(alpha > 0, alpha, 1.0))

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        """Return max(0, alpha)."""
        return np.maximum(0.0, alpha)

    def slip(self, mass: np.ndarray, error: np.ndarray, value: float) -> float:
        """Return what errors of the scores can do to the mean loss: a factor of exp(|e|).

        The error of a pair's margin is at most twice the largest error of a score.
        """
        most = 2.0 * float(np.max(error[mass > 0], initial=0.0))
        if not most <= LARGEST_EXPONENT:
            raise InputError(
                f"scores are known to within {most / 2:g} only: the exponential loss cannot "
                "be bounded, take smaller weights or another loss"
            )
        return value * float(np.expm1(most)) * (1 + 1e-12)

    def all_pairs(self, pairs: Whole, scores: np.ndarray, width: float) -> PairSums:
        """Return the sums over all pairs, from one sum a class: O(n)."""
        return exponential_sums(pairs, scores, LARGEST_EXPONENT)
