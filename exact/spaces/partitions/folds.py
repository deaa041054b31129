"""Folds of rows in partitions: which row is in which fold tells a hash of its place.

A row's place is the number of its partition and its own number in it, so that nothing has to be
sent or kept. The same rows cut otherwise have other folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .engine import Engine, Staged
from .partition import Block
from .partitioned_rows import PartitionedRows
from .work import Reply, Task

_ODD = 0x9E3779B97F4A7C15
_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # constants of splitmix64
_ALL = (1 << 64) - 1


def fold_numbers(place: int, start: int, count: int, seed: int, folds: int) -> np.ndarray:
    """Return the folds of rows `start` and on of partition number `place`: int array (count,).

    Parameters
    ----------
    place, start, count : int
    seed : int
        >= 0.
    folds : int
        >= 2.
    """
    offset = _scrambled(np.array([_scrambled(np.array([seed], np.uint64))[0] ^ np.uint64(place)]))
    rows = np.arange(start, start + count, dtype=np.uint64)
    mixed = _scrambled(offset + rows)
    return ((mixed >> np.uint64(33)) * np.uint64(folds) >> np.uint64(31)).astype(np.int64)


def _scrambled(x: np.ndarray) -> np.ndarray:
    """Return a bijection of 64-bit numbers that looks random: splitmix64."""
    with np.errstate(over="ignore"):
        x = (x + np.uint64(1)) * np.uint64(_ODD)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(_MIX[0])
        x = (x ^ (x >> np.uint64(27))) * np.uint64(_MIX[1])
    return x ^ (x >> np.uint64(31))


@dataclass(frozen=True, eq=False)
class FoldTask:
    """A task on some of the rows of each partition.

    Parameters
    ----------
    task : Task
        Or `Staged`.
    fold, folds, seed : int
    held_out : bool
        Whether on the rows of the fold, or on all others.
    """

    task: Any
    fold: int
    folds: int
    seed: int
    held_out: bool

    def run(self, blocks: Iterator[Block], index: int) -> Any:
        """Return the task's answer for the chosen rows of one partition."""
        return self.task.run(self._chosen(blocks, index), index)

    def _chosen(self, blocks: Iterator[Block], index: int) -> Iterator[Block]:
        start = 0
        for columns, positive, weight in blocks:
            numbers = fold_numbers(index, start, positive.size, self.seed, self.folds)
            own = (numbers == self.fold) == self.held_out
            start += positive.size
            if own.any():
                chosen = np.ascontiguousarray(columns[:, own])
                yield Block(chosen, positive[own], None if weight is None else weight[own])

    def merge(self, first: Any, second: Any) -> Any:
        """Return the sum of two answers."""
        return self.task.merge(first, second)

    def message(self, left: Any) -> Any:
        """Return the part that the first step tells."""
        return self.task.message(left)

    def merge_messages(self, first: Any, second: Any) -> Any:
        """Return the sum of two of these parts."""
        return self.task.merge_messages(first, second)


@dataclass(frozen=True, eq=False)
class FoldEngine:
    """An engine that runs every task on some of the rows; see `FoldTask` for the parameters."""

    engine: Engine
    fold: int
    folds: int
    seed: int
    held_out: bool

    @property
    def count(self) -> int:
        """The number of partitions."""
        return self.engine.count

    @property
    def kept_numbers(self) -> int:
        """How many numbers a partition may leave behind between two steps."""
        return self.engine.kept_numbers

    def run(self, task: Task, key: np.ndarray) -> Reply[Any]:
        """Return the sum of the answers."""
        return self.engine.run(self._some(task), key)

    def staged(
        self, task: Staged, key: np.ndarray
    ) -> tuple[Reply[Any], Callable[[Any], Reply[Any]]]:
        """Return the sum of the messages, and what answers the second step."""
        return self.engine.staged(self._some(task), key)

    def close(self) -> None:
        """Leave the partitions to whoever has the engine."""

    def _some(self, task: Any) -> FoldTask:
        return FoldTask(task, self.fold, self.folds, self.seed, self.held_out)


def fold_of(rows: PartitionedRows, fold: int, folds: int, seed: int) -> tuple[Any, Any]:
    """Return the rows without one fold, and that fold: two `PartitionedRows`.

    Each is read once for its sizes, sums and box. A pass over either reads all partitions.
    """
    parts = (
        PartitionedRows(FoldEngine(rows.engine, fold, folds, seed, held_out), rows.columns)
        for held_out in (False, True)
    )
    train, test = parts
    return train, test
