"""The passes over all rows: score and count, score and pull.

Rows are divided into the same blocks whatever the number of threads. Each thread counts into a
histogram of its own; for whole weights these are exact, so that their sum is the same to the bit
however the blocks were shared out. Pulls are added up in the order of the blocks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...pairs.all_pairs import AllPairs
from ...problem.problem import Problem
from ...spaces.blocks import FEW_COLUMNS, Pull, StreamedRows
from ...spaces.rows import Rows
from ...sums.binned import Extent, Histogram, Marginals, whole_numbers
from ...sums.fused.rows import count_rows, pull_rows
from ...tools.threads import in_parts, workers

HELD_NUMBERS = 1 << 18  # Numbers in a block of rows that are held in memory.

# A thread needs this many rows for each cell of the histogram that it has to itself.
ROWS_A_CELL = 2


class Passes:
    """The rows of a problem in blocks: their slices, and the passes over them."""

    def __init__(self, problem: Problem):
        space, pairs = problem.space, problem.pairs
        assert isinstance(pairs, AllPairs)
        self.problem, self.positive, self.weight = problem, pairs.positive, pairs.weight
        self.whole = whole_numbers(self.weight)
        self.n, self.dim = problem.n, space.dim
        self.guess: np.ndarray | None = None  # of the ends of the scores of the next point
        self.read: Callable[[slice], np.ndarray]
        self.look: Callable[[slice], np.ndarray]
        if isinstance(space, StreamedRows):
            self.slices, self.read, self.offset = list(space.blocks()), space.narrow, space.offset
            self.look = space.look
        else:
            assert isinstance(space, Rows) and isinstance(space.X, np.ndarray)
            X, step = space.X, max(1, HELD_NUMBERS // self.dim)
            self.slices = [slice(at, min(at + step, self.n)) for at in range(0, self.n, step)]
            self.read = self.look = lambda rows: np.ascontiguousarray(X[rows])
            self.offset = np.zeros(self.dim)

    @staticmethod
    def suit(space: object) -> bool:
        """Return whether rows are dense and of so few columns that scores are made twice."""
        dense = isinstance(space, StreamedRows) or (type(space) is Rows and not space.is_sparse)
        return dense and getattr(space, "dim", 0) <= FEW_COLUMNS

    def labelled(self, rows: slice) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the classes and the weights of a block."""
        return self.positive[rows], None if self.weight is None else self.weight[rows]

    def extent(self, w: np.ndarray, every: int) -> Extent:
        """Return the range of the scores of one row in so many, from all over."""
        found = Extent()
        for rows in self.slices:
            some = slice(rows.start, rows.start + -(-(rows.stop - rows.start) // every))
            found.add((self.look(some) - self.offset) @ w, self.positive[some])
        return found

    def counted(self, w: np.ndarray, empty: Histogram) -> Histogram:
        """Return the histogram of all rows at `w` on the grid of an empty one, which it fills."""
        cells = empty.grid.shape[1]
        jobs = min(workers(self.n * self.dim), max(1, self.n // (ROWS_A_CELL * cells)))
        mine = [empty, *(empty.empty() for _ in range(1, jobs if self.whole else 1))]

        def work(rows: slice, worker: int) -> None:
            count_rows(mine[worker], self.read(rows), self.offset, w, *self.labelled(rows))

        in_parts(work, self.slices, len(mine))
        for other in mine[1:]:
            empty.merge(other)
        return empty

    def pulled(self, w: np.ndarray, histogram: Histogram, closed: Marginals) -> Pull:
        """Return the pull of the marginals that the closed histogram gives the rows at `w`."""
        # Made before the threads start, which share it.
        _ = closed.table

        def work(rows: slice, worker: int) -> Pull:
            block, labels = self.read(rows), self.labelled(rows)
            return pull_rows(histogram, closed, block, self.offset, w, *labels)

        return added(self.dim, in_parts(work, self.slices, workers(self.n * self.dim)))


def added(dim: int, parts: list[Pull]) -> Pull:
    """Return the sum of pulls, in their order."""
    into = Pull(dim)
    for part in parts:
        into.merge(part)
    return into
