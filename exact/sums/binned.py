"""Sums over ALL pairs without a sort: the scores rounded down to a grid of bins, O(n).

With K bins a unit (a power of two), a_i = floor(K s_i) on positive rows and b_j = floor(K s_j) on
negative ones, the integer ``m_ij = b_j - a_i + K`` tells the pair's shortfall
``K z_ij = m_ij + theta_j - theta_i`` up to the residuals theta in [0, 1). Then

    alpha_ij = clip(m_ij / (2 half) + 1/2, 0, 1),   or 1[m_ij >= 1] for half = 0,

is in the hinge's box whatever the scores were, so its marginals are feasible without tolerance:
they are sums of counts. m >= 1 means z > 0 and m <= -1 means z < 0; only pairs with m = 0 are
uncertain. For those ``K max(0, z) = max(0, theta_j - theta_i) <= theta_j (1 - theta_i)``, so the
value is a rigorous upper bound of the mean hinge, too large by about (density of pairs at the
margin) / (12 K^2), and a bin needs to keep only its mass and its sum of theta. Rows are seen a
block at a time, in any order: `add` all blocks, `close`, then `marginals` of each block.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import InputError
from ..tools.rounding import UNIT, gamma
from . import binned_compiled as loops
from .assembled import PairSums
from .fused.rows_compiled import QUANTUM

LARGEST_GRID = 1 << 22  # Largest number of bins; each takes 32 bytes in the two histograms.

# Bin numbers stay below this, so that floats hold all their sums and differences exactly.
LARGEST_BIN = 2.0**51

NO_WEIGHT = np.zeros(0)  # Stands for weights of one each.

# Sums of rounded residuals are exact in any order while no bin holds more rows than this.
EXACT_MASS = 2.0**53 * QUANTUM


class Extent:
    """The range of each class's scores, a block at a time."""

    def __init__(self) -> None:
        self.ends = np.array([np.inf, -np.inf, np.inf, -np.inf])

    def add(self, scores: np.ndarray, positive: np.ndarray) -> None:
        """Widen the range by a block of scores (m,), or raise `InputError` for one not finite."""
        if not loops.extent(scores, positive, self.ends):
            raise_for(scores)

    def widened(self, share: float) -> np.ndarray:
        """Return the ends, moved outwards by `share` of each range."""
        low, high = self.ends[[0, 2]], self.ends[[1, 3]]
        margin = share * (high - low) + 1e-9
        return np.ravel(np.column_stack([low - margin, high + margin]))

    def merge(self, other: Extent) -> None:
        """Widen the range by that of other rows."""
        for k, of_two in enumerate((min, max, min, max)):
            self.ends[k] = of_two(self.ends[k], other.ends[k])


def _mass(grid: np.ndarray, whole: bool) -> tuple[float, float]:
    """Return the summed mass, and a bound of the largest of a bin; whole numbers are exact."""
    if not whole:
        return loops.mass(grid)
    mass = float(grid[:, 0].sum())
    return mass, mass if mass <= EXACT_MASS else float(grid[:, 0].max())


def raise_for(scores: np.ndarray) -> None:
    """Raise `InputError` for the first score that is not finite or overflows the grid."""
    row = int(np.argmin(np.isfinite(scores)))
    raise InputError(f"a score is {scores[row]}: scores must be finite and within reach of a grid")


@dataclass(frozen=True, eq=False)
class Marginals:
    """The closed histogram: the marginals of each bin, and the sums over all pairs."""

    u: np.ndarray
    v: np.ndarray
    value: float
    value_rounding: float
    excess: float
    total: float
    mass: float
    slip: float

    @cached_property
    def table(self) -> np.ndarray:
        """-v and +u over the mass: (2, size)."""
        table = np.empty((2, self.u.size))
        np.divide(self.v, -self.mass, out=table[0])
        np.divide(self.u, self.mass, out=table[1])
        return table


class Histogram:
    """Counts of two classes on one grid of bins."""

    def __init__(self, extent: np.ndarray, bins: int, half: int = 0, largest: int = LARGEST_GRID):
        if not 1 <= bins < 1 << 63 or bins & (bins - 1):
            raise InputError(f"bins must be a power of two below 2^63, not {bins}")
        self.bins, self.extent = bins, extent
        while True:
            low_a, high_a, low_b, high_b = np.floor(self.bins * extent)
            K = float(self.bins)
            # Rows beyond these ends have m >= edge, or m <= -edge, with all of the other class.
            edge = max(half, 1)
            a_low = min(max(low_a, low_b + K - edge), high_a)
            a_high = max(min(high_a, high_b + K + edge), a_low)
            size = a_high - a_low + 2 * edge + 1
            top = np.abs(K * extent).max() + K + edge
            if (size <= largest and top < LARGEST_BIN) or self.bins == 1:
                break
            self.bins //= 2
        if not (size <= max(largest, 1 << 10) and top < LARGEST_BIN):
            raise InputError("the scores are so far apart that no grid of bins holds them")
        self.limits = np.array([a_low, a_high, a_low - K - edge])
        # For each bin its mass and its sum of theta; the negatives come first.
        self.grid = np.zeros((2, int(size), 2))
        # Bins by which negatives lie above the grid, and positives below it, from fused loops.
        self.over = np.zeros(2)
        self.rows = self.plain = self.parts = 0  # all rows, those of `add`, merged histograms
        self.seen = Extent()

    def empty(self) -> Histogram:
        """Return an empty histogram on the same grid, to be filled with other rows and merged."""
        other = copy(self)
        other.grid, other.over = np.zeros_like(self.grid), np.zeros(2)
        other.rows = other.plain = other.parts = 0
        other.seen = Extent()
        return other

    def merge(self, other: Histogram) -> None:
        """Add the counts of other rows on the same grid."""
        if other.bins != self.bins or not np.array_equal(other.limits, self.limits):
            raise InputError("histograms on different grids cannot be merged")
        self.grid += other.grid
        self.over += other.over
        self.rows, self.plain = self.rows + other.rows, self.plain + other.plain
        self.parts += other.parts + 1
        self.seen.merge(other.seen)

    @property
    def fits(self) -> bool:
        """Whether all scores added so far lie in the range for which the grid was made."""
        low, high = self.seen.ends[[0, 2]], self.seen.ends[[1, 3]]
        return bool((low >= self.extent[[0, 2]]).all() and (high <= self.extent[[1, 3]]).all())

    def add(
        self, scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None
    ) -> None:
        """Count a block of rows: scores, classes and row weights (m,)."""
        chosen = NO_WEIGHT if weight is None else weight
        K, seen = float(self.bins), self.seen.ends
        if not loops.fill(scores, positive, chosen, K, self.limits, self.grid, seen):
            raise_for(scores)
        self.rows += scores.size
        self.plain += scores.size

    def close(self, half: int, whole: bool) -> Marginals:
        """Return the marginals by bin and the sums over all pairs."""
        minus, plus = self.grid
        u, v = np.empty(plus.shape[0]), np.empty(plus.shape[0])
        (mass_a, most_a), (mass_b, most_b) = _mass(plus, whole), _mass(minus, whole)
        whole = whole and 2 * (half + 1) * max(mass_a, mass_b) < 2.0**53
        ramp = loops.whole_ramps if whole else loops.ramps
        ramp(minus[:, 0], half, u)
        ramp(plus[::-1, 0], half, v[::-1])
        value, counted, residual = self._summed()
        exact = whole and 2 * half & (2 * half - 1) == 0 and 2 * half * mass_a * mass_b < 2.0**53
        total = plus[:, 0] @ u if exact else loops.dot(plus[:, 0], u)  # exact sums round nothing
        # Whole numbers are counted exactly, and so are sums of rounded residuals. Others are summed
        # plainly within a bin (at most `longest` terms, and a sum a part), compensated over bins.
        longest = self.parts + (max(most_a, most_b) if whole else float(self.rows))
        if np.abs(self.over).max() >= 2.0**53:
            longest = float(self.rows + self.parts)
        elif self.plain == 0 and whole and max(most_a, most_b) <= EXACT_MASS:
            longest = 0.0
        slip = gamma(4) if whole else gamma(2 * self.rows + self.parts + 8)
        across = gamma(16) + (plus.shape[0] * UNIT) ** 2
        chain = gamma(longest + 16)
        rounding = (across + slip) * counted + (across + chain + slip) * residual
        if self.plain < self.rows:  # each pair holds two rounded residuals
            rounding += QUANTUM * mass_a * mass_b * (1 + gamma(16))
        # Of pairs with m = 0 the value has theta_j (1 - theta_i), and the hinge at least zero.
        doubtful = np.maximum(minus[:, 1] * (plus[:, 0] - plus[:, 1]), 0.0).sum() * (1 + 1e-9)
        return Marginals(
            u, v, value / self.bins, rounding / self.bins, float(doubtful) / self.bins,
            float(total), mass_a * mass_b, slip,
        )  # fmt: skip

    def _summed(self) -> tuple[float, float, float]:
        """Return what `loops.summed` does, the clipped rows' bins counted with the end bins."""
        minus, plus = self.grid
        ends = minus[-1], plus[int(self.limits[0] - self.bins - self.limits[2])]
        before = [float(end[1]) for end in ends]
        for end, over in zip(ends, self.over, strict=True):
            end[1] += over
        try:
            return loops.summed(plus, minus)
        finally:
            for end, theta in zip(ends, before, strict=True):
                end[1] = theta

    def marginals(
        self,
        scores: np.ndarray,
        positive: np.ndarray,
        closed: Marginals,
        weight: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the signed, normalised marginals of a block of rows: (m,)."""
        out = np.empty(scores.size)
        chosen = NO_WEIGHT if weight is None else weight
        table = closed.table
        loops.look_up(scores, positive, chosen, float(self.bins), self.limits, table, out)
        return out


def half_width(width: float, bins: int) -> int:
    """Return the smoothing `width` as a half width in bins: at least one, or 0 for none."""
    return max(1, round(width * bins / 2)) if width > 0 else 0


def whole_numbers(weight: np.ndarray | None) -> bool:
    """Whether row weights are whole numbers, so that sums of them are exact."""
    return weight is None or bool(np.all(weight == np.floor(weight)))


def binned_hinge(
    scores: np.ndarray,
    positive: np.ndarray,
    weight: np.ndarray | None,
    width: float,
    bins: int,
) -> PairSums:
    """Return the hinge's sums over all pairs at `scores` (n,), from `bins` bins a unit.

    `width`, the smoothing of the slope, is rounded to an even number of bins.
    """
    half = half_width(width, bins)
    extent = Extent()
    extent.add(scores, positive)
    histogram = Histogram(extent.ends, bins, half)
    histogram.add(scores, positive, weight)
    closed = histogram.close(half, whole_numbers(weight))
    c = histogram.marginals(scores, positive, closed, weight)
    value, total = closed.value / closed.mass, closed.total / closed.mass
    size = float(np.abs(extent.ends).max())
    value_rounding = closed.value_rounding / closed.mass + gamma(8) * value + 4 * UNIT * size
    total_rounding = (closed.slip + gamma(16)) * total
    return PairSums(
        value, c, total, total, value_rounding, 2 * total_rounding, total_rounding,
        excess=closed.excess / closed.mass * (1 + gamma(4)),
    )  # fmt: skip
