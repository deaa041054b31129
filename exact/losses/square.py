"""The square loss."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..sums.assembled import PairSums, Whole, assembled
from ..sums.swept import centred, square_sides, squared_roundings
from ..tools.rounding import unit_of


@dataclass(frozen=True)
class Square:
    """The square (1 - t)^2; any alpha; dual part alpha - alpha^2 / 4.

    [SHT, eq. (3)]
    """

    name: str = field(default="square", init=False)
    lipschitz: float = field(default=np.inf, init=False)
    smoothness: float = field(default=2.0, init=False)
    nonincreasing: bool = field(default=False, init=False)

    def value(self, t: np.ndarray) -> np.ndarray:
        """Return (1 - t)^2."""
        return (1.0 - t) ** 2

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        """Return 2 (1 - t); there is no kink to smooth."""
        return 2.0 * (1.0 - t)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha - alpha^2 / 4."""
        return alpha - alpha**2 / 4.0

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha: every value is feasible."""
        return alpha

    def shrunk_dual(self, total: float, conjugate: float) -> tuple[float, float]:
        """Return p, q: the conjugate sum of s alpha is s p - s^2 q; see `losses.loss`."""
        return total, total - conjugate

    def all_pairs(self, pairs: Whole, scores: np.ndarray, width: float) -> PairSums:
        """Return the sums over all pairs, from the class moments: O(n)."""
        t, b, size = centred(scores, pairs.positive)
        side = square_sides(t, b, *pairs.sides())
        slips = squared_roundings(pairs.n, size, unit_of(scores), moments=True)
        return assembled(pairs, side, *slips, linear=False)
