"""The squared hinge."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..sums.assembled import PairSums, Whole, assembled
from ..sums.swept import centred, squared_roundings, swept
from ..tools.rounding import unit_of


@dataclass(frozen=True)
class SquaredHinge:
    """The squared hinge max(0, 1 - t)^2; alpha >= 0; dual part alpha - alpha^2 / 4.

    [Nonlinear, eq. (2), eq. (5)], p = 2.
    """

    name: str = field(default="squared_hinge", init=False)
    lipschitz: float = field(default=np.inf, init=False)
    smoothness: float = field(default=2.0, init=False)
    nonincreasing: bool = field(default=True, init=False)

    def value(self, t: np.ndarray) -> np.ndarray:
        """Return max(0, 1 - t)^2."""
        return np.maximum(0.0, 1.0 - t) ** 2

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        """Return 2 max(0, 1 - t); there is no kink to smooth."""
        return 2.0 * np.maximum(0.0, 1.0 - t)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha - alpha^2 / 4."""
        return alpha - alpha**2 / 4.0

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        """Return max(0, alpha)."""
        return np.maximum(0.0, alpha)

    def shrunk_dual(self, total: float, conjugate: float) -> tuple[float, float]:
        """Return p, q: the conjugate sum of s alpha is s p - s^2 q; see `losses.loss`."""
        return total, total - conjugate

    def all_pairs(self, pairs: Whole, scores: np.ndarray, width: float) -> PairSums:
        """Return the sums over all pairs, from sorted scores."""
        t, b, size = centred(scores, pairs.positive)
        side = swept(t, b, *pairs.sides(), squared=True, fast=pairs.compiled(t, b))
        slips = squared_roundings(pairs.n, size, unit_of(scores))
        return assembled(pairs, side, *slips, linear=False)
