"""Moments by bin with the rows' own sums: marginals that are a line in theta, in one pass.

As `gathered`, for losses whose marginals are not one number a bin: per unit of weight

    c = table[class, bin, 0] + table[class, bin, 1] theta,

theta what flooring the score to its bin has left, so that the pull is a sum over classes and bins
of table[.., 0] S0 + table[.., 1] S1, S0 the sum of the weighted rows x - offset of a bin and S1 the
same times theta. A table with the first column alone is a step function.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...tools.rounding import UNIT, gamma
from ..binned import NO_WEIGHT, raise_for
from . import gathered_compiled, lines_compiled
from .gathered import WeighedSums


@dataclass(frozen=True, eq=False)
class Ruler:
    """Bins of scores, one scale for each class."""

    bins: int
    limits: np.ndarray
    size: int
    extent: np.ndarray
    powers: int
    cut: bool

    def placed(
        self, scores: np.ndarray, positive: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return classes (0 or 1), places and theta of rows, as the compiled loop counts them."""
        side = positive.astype(np.int64)
        scaled = float(self.bins) * scores
        floors, ends = np.floor(scaled), self.limits[side]
        bins = np.minimum(np.maximum(floors, ends[:, 0]), ends[:, 1])
        theta = scaled - bins
        if self.cut:
            theta[bins != floors] = 0.0
        return side, (bins - ends[:, 2]).astype(np.int64), theta

    def marginals(
        self,
        scores: np.ndarray,
        positive: np.ndarray,
        weight: np.ndarray | None,
        table: np.ndarray,
    ) -> np.ndarray:
        """Return the marginals (m,) of rows for a table (2, size, powers)."""
        side, at, theta = self.placed(scores, positive)
        lines = table[side, at]
        c = lines[:, 0] if self.powers == 1 else lines[:, 0] + lines[:, 1] * theta
        return c if weight is None else weight * c

    def holds(self, ends: np.ndarray) -> bool:
        """Return whether scores of this range, as `Extent.ends`, lie in the one assumed."""
        outside = (ends[::2] < self.extent[::2]) | (ends[1::2] > self.extent[1::2])
        return not outside.any()


@dataclass(eq=False)
class Lines:
    """Moments of rows by class and bin, and the sums of these rows."""

    held: np.ndarray
    ends: np.ndarray
    rows: int
    sums: np.ndarray
    theta: np.ndarray
    parts: int = 1

    @classmethod
    def over(cls, ruler: Ruler, dim: int, weighted: bool) -> Lines:
        """Return empty moments for rows of `dim` columns; 0 where only moments are wanted."""
        shape = (2, ruler.size, ruler.powers, dim + 1) if dim else (2, 0, 1, 1)
        ends = np.array([np.inf, -np.inf, np.inf, -np.inf])
        held = np.zeros((2, ruler.size, 4 if weighted else 3))
        return cls(held, ends, 0, np.zeros(shape), np.zeros((2, 2)))

    def add(
        self,
        ruler: Ruler,
        columns: np.ndarray,
        offset: np.ndarray,
        w: np.ndarray,
        positive: np.ndarray,
        weight: np.ndarray | None,
    ) -> None:
        """Count a block of rows, columns (d, m), by their scores (x - offset) w."""
        chosen = NO_WEIGHT if weight is None else weight
        K, limits = float(ruler.bins), ruler.limits
        if not lines_compiled.gather_lines(
            columns, offset, w, positive, chosen, K, limits, ruler.cut, self.held, self.sums,
            self.ends,
        ):  # fmt: skip
            with np.errstate(all="ignore"):
                raise_for(K * (w @ (columns - offset[:, None])))
        self.rows += positive.size

    def merge(self, other: Lines) -> Lines:
        """Add the moments of another one."""
        self.held += other.held
        self.sums += other.sums
        self.theta += other.theta
        self.ends[::2] = np.minimum(self.ends[::2], other.ends[::2])
        self.ends[1::2] = np.maximum(self.ends[1::2], other.ends[1::2])
        self.rows += other.rows
        self.parts += other.parts
        return self

    def moments(self, powers: int) -> Lines:
        """Return the moments alone, of theta by bin only where `powers` is 2."""
        held, theta = self.held, self.held[:, :, 1:3].sum(axis=1)
        if powers == 1:
            held = np.ascontiguousarray(held[:, :, ::3])
        return Lines(held, self.ends, self.rows, np.zeros((2, 0, 1, 1)), theta, self.parts)

    @property
    def longest(self) -> float:
        """The most rows in a bin, with what adding up the partitions rounds."""
        counted = self.held.shape[2] in (2, 4)
        return float(self.held[..., -1 if counted else 0].max()) + self.parts

    def weighed(self, table: np.ndarray, chain: float) -> WeighedSums:
        """Return the pull of these rows for a table of marginals."""
        d = self.sums.shape[3] - 1
        total, carry, entries = np.zeros(d), np.zeros(d), table.size
        flat = self.sums.reshape(2, -1, d + 1)
        weights = np.ascontiguousarray(table.reshape(2, -1))
        size = float(gathered_compiled.weigh(weights, flat, total, carry))
        # Differences, products with weight and theta, plain sums in a bin; the norms' own rounding.
        chained = gamma(chain + self.parts + 8)
        size *= 1 + gamma(chain + self.parts + d + entries + 16)
        across = gamma(8) + (entries * UNIT) ** 2
        return WeighedSums(total, carry, size, (chained + across * (1 + chained)) * size)
