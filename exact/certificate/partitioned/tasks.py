"""What an evaluation asks of each partition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...spaces.blocks import Pull
from ...spaces.partitions import Block, Merging, added_up, block_memory
from ...sums.binned import Extent, Histogram, Marginals
from ...sums.gathered.gathered import Gathered, WeighedSums
from ...sums.gathered.lines import Lines
from ...sums.gathered.whole import WholePull, WholeSums

# Sums by bin of no more numbers than this (4 MB) are made in memory that is used again.
KEPT_SUMS = 1 << 19


@dataclass(frozen=True, eq=False)
class ExtentTask:
    """Finds the range of each class's scores."""

    offset: np.ndarray
    w: np.ndarray

    def run(self, blocks: Iterator[Block], index: int) -> Extent:
        """Return the range in one partition."""
        found = Extent()
        for columns, positive, _ in blocks:
            found.add(self.w @ (columns - self.offset[:, None]), positive)
        return found

    def merge(self, first: Extent, second: Extent) -> Extent:
        """Return the range of both."""
        first.ends[::2] = np.minimum(first.ends[::2], second.ends[::2])
        first.ends[1::2] = np.maximum(first.ends[1::2], second.ends[1::2])
        return first


@dataclass(frozen=True, eq=False)
class Grid:
    """Weights and the grid for their scores: what every worker must agree on."""

    offset: np.ndarray
    w: np.ndarray
    extent: np.ndarray
    bins: int
    half: int

    def histogram(self) -> Histogram:
        """Return an empty histogram."""
        return Histogram(self.extent, self.bins, self.half)


@dataclass(frozen=True, eq=False)
class GatherTask(Merging):
    """Counts rows by the bins of their scores, and keeps the sums of each bin's rows."""

    grid: Grid
    kept: bool = True
    exponents: np.ndarray | None = None

    def run(self, blocks: Iterator[Block], index: int) -> Gathered:
        """Return the counts and sums of one partition."""
        grid, histogram = self.grid, self.grid.histogram()
        sums = None
        if self.kept:
            rows, columns = 2 * histogram.grid.shape[1], grid.w.size + 1
            if rows * columns <= KEPT_SUMS:  # fresh memory costs more than to clear what is there
                sums = block_memory("sums").array(rows, columns).reshape(2, -1, columns)
                sums.fill(0.0)
        found = Gathered.over(histogram, grid.w.size if self.kept else 0, sums)
        for columns, positive, weight in blocks:
            found.add(histogram, columns, grid.offset, grid.w, positive, weight)
        return found

    def message(self, left: Gathered) -> Gathered:
        """Return the counts alone."""
        return left.counts()

    def together(self) -> WholeSums | None:
        """Return what adds up the sums of partitions exactly."""
        exponents = self.exponents if self.kept else None
        return None if exponents is None else WholeSums(exponents)


@dataclass(frozen=True, eq=False)
class Weighing(Merging):
    """The second step: what the rows of each bin pull, for a table of marginals."""

    table: np.ndarray
    chain: float

    def answer(self, left: Gathered | Lines | WholeSums) -> WeighedSums | WholePull:
        """Return the pull of what was gathered."""
        return left.weighed(self.table, self.chain)


@dataclass(frozen=True, eq=False)
class PullTask(Merging):
    """Reads the rows again, and sums them by the marginals of their bins."""

    grid: Grid
    closed: Marginals

    def run(self, blocks: Iterator[Block], index: int) -> WeighedSums:
        """Return the pull of one partition."""
        grid, histogram = self.grid, self.grid.histogram()
        into = Pull(grid.w.size)
        for columns, positive, weight in blocks:
            scores = added_up(columns, grid.offset, grid.w)
            c = histogram.marginals(scores, positive, self.closed, weight)
            into.add_columns(columns - grid.offset[:, None], c, np.abs(c))
        return WeighedSums(into.total, into.carry, into.size, into.error)
