"""The squared hinge over ALL pairs without a sort: exact moments of each bin, O(n).

Scores are placed on a grid of K bins a unit as in `binned`: a_i = floor(K s_i) of a positive row,
b_j = floor(K s_j) of a negative one, theta the rest, and m_ij = b_j - a_i + K. Then the shortfall
has K z_ij = m_ij + theta_j - theta_i exactly, z > 0 where m >= 1, and z < 0 where m <= -1. So with

    alpha_ij = 2 z_ij  where m_ij >= 1, and 0 elsewhere,

which is in the box alpha >= 0 whatever the scores were, all sums over pairs factorise into the
moments sum theta^p of the bins (p = 0, 1, 2), and the marginal of a row is a straight line in its
own theta. Only pairs with m = 0 are not summed exactly: max(0, theta_j - theta_i) is at most
theta_j (1 - theta_i), so that

    mean max(0, z)^2  <=  sums over m >= 1  +  sums over m = 0 of theta_j^2 (1 - theta_i)^2 / K^2,

which is too large by about (density of pairs at the margin) / (36 K^3), while alpha loses about
(density) / (12 K^3). Rows too far out to be near any row of the other class share the last bin.
Their theta is then below 0 or above 1, and the formulas hold as they are.

**Rounding.** Every term that enters a sum over m >= 1 is made of masses and thetas by additions and
products, and each passes through at most `chain` roundings. So the error of a sum is at most
gamma(chain) times the same sum of the magnitudes, which is computed beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...tools.rounding import gamma
from ..binned import Histogram, raise_for
from . import moments_compiled as loops

_NO_WEIGHT = np.zeros(0)


@dataclass(frozen=True, eq=False)
class SquaredMarginals:
    """The closed moments: the line of each bin's marginals, and the sums over all pairs."""

    table: np.ndarray
    value: float
    conjugate: float
    value_rounding: float
    conjugate_rounding: float
    c_error: float
    excess: float


class Moments:
    """Moments of two classes on one grid of bins."""

    def __init__(self, extent: np.ndarray, bins: int, weighted: bool = False):
        self._grid = Histogram(extent, bins)
        self.bins, self.limits, self.seen = self._grid.bins, self._grid.limits, self._grid.seen
        self.weighted = weighted
        self.held = np.zeros((2, self._grid.grid.shape[1], 4 if weighted else 3))

    @property
    def fits(self) -> bool:
        """Whether all scores added so far lie in the range for which the grid was made."""
        return self._grid.fits

    def add(
        self, scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None
    ) -> None:
        """Count a block of rows: scores, classes and row weights (m,)."""
        chosen = _NO_WEIGHT if weight is None else weight
        K, ends = float(self.bins), self.seen.ends
        if not loops.fill(scores, positive, chosen, K, self.limits, self.held, ends):
            raise_for(scores)

    def close(self, parts: int = 0) -> SquaredMarginals:
        """Return the marginals' lines and the sums over all pairs, of so many merged parts."""
        minus, plus = self.held
        table, magnitude = np.zeros_like(self.held[..., :2]), np.zeros(2)
        sums = loops.close(plus, minus, table, magnitude)
        square, linear, doubtful, square_size, linear_size = sums
        mass = float(plus[:, 0].sum()) * float(minus[:, 0].sum())
        K = float(self.bins)
        # In a bin, from bin to bin in three nested sums, and once over all bins; the mass twice.
        longest = float(self.held[..., -1 if self.weighted else 0].max()) + parts
        chain = 3 * gamma(2 * longest + 8 * plus.shape[0] + 64)
        value = (square + doubtful) / K**2 / mass
        conjugate = (2 * linear / K - square / K**2) / mass
        value_rounding = chain * (square_size + doubtful) / K**2 / mass
        conjugate_rounding = chain * (2 * linear_size / K + square_size / K**2) / mass
        table[0] *= -2 / K / mass
        table[1] *= 2 / K / mass
        c_error = chain * 2 * float(magnitude.sum()) / K / mass
        wide = 1 + gamma(64) + chain
        return SquaredMarginals(
            table, value, conjugate, value_rounding * wide, conjugate_rounding * wide,
            c_error * wide, doubtful / K**2 / mass * wide,
        )  # fmt: skip

    def marginals(
        self,
        scores: np.ndarray,
        positive: np.ndarray,
        closed: SquaredMarginals,
        weight: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the signed, normalised marginals of a block of rows: (m,)."""
        out = np.empty(scores.size)
        chosen = _NO_WEIGHT if weight is None else weight
        K = float(self.bins)
        loops.look_up(scores, positive, chosen, K, self.limits, closed.table, out)
        return out
