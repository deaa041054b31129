"""Folds of rows in partitions: which row is in which fold tells its number within its class.

The rows of a class are numbered through all partitions. Of each run of as many rows as there are
folds each fold has one, and a hash tells with which of them it begins. So folds have the same
number of rows of each class, or one less, nothing has to be sent or kept, and the same rows cut
otherwise have the same folds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..partition import Block
from ..partitioned_rows import PartitionedRows
from .hashing import hashed_numbers
from .some_rows import SomeRowsEngine


def rows_of_fold(side: int, start: int, count: int, seed: int, folds: int, fold: int) -> np.ndarray:
    """Return which of the rows number `start` to `start + count - 1` of a class a fold has."""
    first, last = start // folds, -(-(start + count) // folds)
    turns = hashed_numbers(side, first, last - first, seed, folds)
    at = np.arange(first, last) * folds - start + (turns + fold) % folds
    return at[(at >= 0) & (at < count)]


@dataclass(frozen=True, eq=False)
class ByNumber:
    """Chooses the rows of a fold, or all others, by their numbers within their class."""

    before: dict[int, tuple[int, int]]
    fold: int
    folds: int
    seed: int
    held_out: bool

    def chosen(self, blocks: Iterator[Block], index: int) -> Iterator[Block]:
        """Yield the rows of one partition that are meant."""
        seen = list(self.before[index])
        for columns, positive, weight in blocks:
            own = np.full(positive.size, not self.held_out)
            for side in (0, 1):
                rows = np.flatnonzero(positive == bool(side))
                members = rows_of_fold(
                    side, seen[side], rows.size, self.seed, self.folds, self.fold
                )
                own[rows[members]] = self.held_out
                seen[side] += rows.size
            at = np.flatnonzero(own)  # taking rows by a mask costs ten times as much
            if at.size:
                chosen = columns.take(at, axis=1)
                yield Block(chosen, positive[at], None if weight is None else weight[at])


def fold_of(rows: PartitionedRows, fold: int, folds: int, seed: int) -> tuple[Any, Any]:
    """Return the rows without one fold, and that fold: two `PartitionedRows`.

    Each is read once for its sizes, sums and box. A pass over either reads all partitions.
    """
    parts = (
        PartitionedRows(
            SomeRowsEngine(rows.engine, ByNumber(rows.before(), fold, folds, seed, held_out)),
            rows.columns,
        )
        for held_out in (False, True)
    )
    train, test = parts
    return train, test
