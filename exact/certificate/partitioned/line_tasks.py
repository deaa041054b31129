"""What an evaluation of a smooth loss asks of each partition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...spaces.blocks import Pull
from ...spaces.partitions import Block, Merging, added_up
from ...sums.gathered.gathered import WeighedSums
from ...sums.gathered.lines import Lines, Ruler


@dataclass(frozen=True, eq=False)
class LinesTask(Merging):
    """Counts rows and sums their moments by bin, and keeps the sums of each bin's rows."""

    offset: np.ndarray
    w: np.ndarray
    ruler: Ruler
    weighted: bool
    kept: bool = True

    def run(self, blocks: Iterator[Block], index: int) -> Lines:
        """Return the moments and sums of one partition."""
        found = Lines.over(self.ruler, self.w.size if self.kept else 0, self.weighted)
        for columns, positive, weight in blocks:
            found.add(self.ruler, columns, self.offset, self.w, positive, weight)
        return found

    def message(self, left: Lines) -> Lines:
        """Return the moments alone."""
        return left.moments(self.ruler.powers)

    def together(self) -> None:
        """Return nothing: each partition keeps its own."""


@dataclass(frozen=True, eq=False)
class LinePullTask(Merging):
    """Reads the rows again, and sums them by the marginals that the table gives them."""

    offset: np.ndarray
    w: np.ndarray
    ruler: Ruler
    table: np.ndarray

    def run(self, blocks: Iterator[Block], index: int) -> WeighedSums:
        """Return the pull of one partition."""
        into = Pull(self.w.size)
        steep = np.abs(self.table[..., 1:]).sum(axis=2)
        for columns, positive, weight in blocks:
            scores = added_up(columns, self.offset, self.w)
            c = self.ruler.marginals(scores, positive, weight, self.table)
            side, at, theta = self.ruler.placed(scores, positive)
            # A line's two terms may cancel: what they round goes by their sizes.
            sizes = np.abs(self.table[side, at, 0]) + steep[side, at] * np.abs(theta)
            sizes = sizes if weight is None else weight * sizes
            into.add_columns(columns - self.offset[:, None], c, sizes)
        return WeighedSums(into.total, into.carry, into.size, into.error)
