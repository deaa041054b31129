"""Counts by bin with the rows' own sums: an evaluation in one pass over the rows.

All rows of a class in one bin have the same marginal per unit of weight, c = table[class, bin], so

    sum_i c_i (x_i - offset) = sum over classes and bins of table[class, bin] * S[class, bin],

S the sum of the weighted rows x_i - offset of the bin. S is gathered while the counts are; the
marginals are known only when all rows are counted, but then no row is needed again. A row's term
passes through as many additions as its bin has rows, and one for each partition that is added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...tools.rounding import UNIT, gamma
from ..binned import Histogram, Marginals, raise_for
from . import gathered_compiled as loops

_NO_WEIGHT = np.zeros(0)


@dataclass(eq=False)
class Gathered:
    """Counts of rows by class and bin, and the sums of these rows."""

    grid: np.ndarray
    ends: np.ndarray
    rows: int
    sums: np.ndarray
    parts: int = 1

    @classmethod
    def over(cls, histogram: Histogram, dim: int, sums: np.ndarray | None = None) -> Gathered:
        """Return empty counts for the grid of a histogram and rows of `dim` columns.

        `sums` are zeros (2, size, dim + 1) to fill, if given.
        """
        size = histogram.grid.shape[1]
        ends = np.array([np.inf, -np.inf, np.inf, -np.inf])
        if sums is None:
            sums = np.zeros((2, size, dim + 1)) if dim else np.zeros((2, 0, 0))
        return cls(np.zeros_like(histogram.grid), ends, 0, sums)

    def add(
        self,
        histogram: Histogram,
        columns: np.ndarray,
        offset: np.ndarray,
        w: np.ndarray,
        positive: np.ndarray,
        weight: np.ndarray | None,
    ) -> None:
        """Count a block of rows, columns (d, m), by their scores (x - offset) w."""
        chosen = _NO_WEIGHT if weight is None else weight
        K, limits = float(histogram.bins), histogram.limits
        if not loops.gather(
            columns, offset, w, positive, chosen, K, limits, self.grid, self.sums, self.ends
        ):
            with np.errstate(all="ignore"):
                raise_for(K * (w @ (columns - offset[:, None])))
        self.rows += positive.size

    def merge(self, other: Gathered) -> Gathered:
        """Add the counts of another one."""
        self.grid += other.grid
        self.sums += other.sums
        self.ends[::2] = np.minimum(self.ends[::2], other.ends[::2])
        self.ends[1::2] = np.maximum(self.ends[1::2], other.ends[1::2])
        self.rows += other.rows
        self.parts += other.parts
        return self

    def counts(self) -> Gathered:
        """Return the counts alone."""
        return Gathered(self.grid, self.ends, self.rows, np.zeros((2, 0, 0)), self.parts)

    def weighed(self, table: np.ndarray, chain: float) -> WeighedSums:
        """Return the pull of these rows for a table of marginals (2, size)."""
        d = self.sums.shape[2] - 1
        total, carry = np.zeros(d), np.zeros(d)
        size = float(loops.weigh(table, self.sums, total, carry))
        # Differences, products with the weight and plain sums in a bin; the norms' own rounding.
        chained = gamma(chain + self.parts + 4)
        size *= 1 + gamma(chain + self.parts + d + 2 * table.size + 16)
        across = gamma(8) + (2 * table.size * UNIT) ** 2
        return WeighedSums(total, carry, size, (chained + across * (1 + chained)) * size)


@dataclass(eq=False)
class WeighedSums:
    """A pull, total + carry; sum of |c_i| |x_i - offset|; a bound of its error; and its parts."""

    total: np.ndarray
    carry: np.ndarray
    size: float
    error: float
    parts: int = 1

    @property
    def value(self) -> np.ndarray:
        """The sum: (d,)."""
        return self.total + self.carry

    def merge(self, other: WeighedSums) -> WeighedSums:
        """Add the pull of other rows."""
        new = self.total + other.total
        part = new - self.total
        slip = (self.total - (new - part)) + (other.total - part)  # two-sum: exact
        self.total, self.carry = new, self.carry + other.carry + slip
        self.size += other.size
        self.error += other.error
        self.parts += other.parts
        return self

    def bound(self) -> float:
        """Return a bound of |value - true|: the parts' own, and that of adding them up."""
        merged = gamma(4) + (4 * self.parts * UNIT) ** 2
        return (self.error + merged * self.size) * (1 + gamma(self.parts + 8))


def closed(histogram: Histogram, found: Gathered, half: int, whole: bool) -> Marginals:
    """Return the marginals of counts that were added up over partitions."""
    histogram.grid, histogram.rows, histogram.parts = found.grid, found.rows, found.parts
    return histogram.close(half, whole)
