"""What an evaluation asks of each partition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...spaces.blocked.pull import CHAIN, Pull
from ...spaces.partitions.partition import Block, added_up
from ...sums.binned import Extent, Histogram, Marginals
from ...sums.gathered.gathered import Gathered, WeighedSums


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
class GatherTask:
    """Counts rows by the bins of their scores, and keeps the sums of each bin's rows.

    Parameters
    ----------
    grid : Grid
    kept : bool
        Whether sums are kept; without them there are only counts.
    """

    grid: Grid
    kept: bool = True

    def run(self, blocks: Iterator[Block], index: int) -> Gathered:
        """Return the counts and sums of one partition."""
        grid, histogram = self.grid, self.grid.histogram()
        found = Gathered.over(histogram, grid.w.size if self.kept else 0)
        for columns, positive, weight in blocks:
            found.add(histogram, columns, grid.offset, grid.w, positive, weight)
        return found

    def merge(self, first: Gathered, second: Gathered) -> Gathered:
        """Return the counts and sums of both."""
        return first.merge(second)

    def message(self, left: Gathered) -> Gathered:
        """Return the counts alone."""
        return left.counts()

    def merge_messages(self, first: Gathered, second: Gathered) -> Gathered:
        """Return the counts of both."""
        return first.merge(second)


@dataclass(frozen=True, eq=False)
class Weighing:
    """The second step: what the rows of each bin pull, for a table of marginals.

    Parameters
    ----------
    table : array (2, size)
    chain : float
        As `Gathered.weighed`.
    """

    table: np.ndarray
    chain: float

    def answer(self, left: Gathered) -> WeighedSums:
        """Return the pull of what was gathered."""
        return left.weighed(self.table, self.chain)

    def merge(self, first: WeighedSums, second: WeighedSums) -> WeighedSums:
        """Return the pull of both."""
        return first.merge(second)


@dataclass(frozen=True, eq=False)
class PullTask:
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
            centred = columns - grid.offset[:, None]
            into.rows += c.size
            into.size += float(np.abs(c) @ np.sqrt(np.einsum("ij,ij->j", centred, centred)))
            for start in range(0, c.size, CHAIN):
                some = slice(start, start + CHAIN)
                into.add(centred[:, some] @ c[some])
        return WeighedSums(into.total, into.carry, into.size, into.error)

    def merge(self, first: WeighedSums, second: WeighedSums) -> WeighedSums:
        """Return the pull of both."""
        return first.merge(second)
