"""Folds of grouped rows in partitions, every group whole: its name tells in which fold it is.

Names are hashed. The hashes of all groups, ascending, are cut into as many stretches as there are
folds, of the same number of groups or one less; so only the ends of the stretches are sent, and the
same groups cut otherwise have the same folds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....errors import InputError
from ..chosen.hashing import hashed_names
from ..chosen.some_rows import SomeRowsEngine
from .blocks import GroupedBlock
from .grouped_rows import GroupedRows


@dataclass(frozen=True, eq=False)
class GroupHashesTask:
    """Finds the hashes of the groups."""

    seed: int

    def run(self, blocks: Iterator[Any], index: int) -> np.ndarray:
        """Return those of one partition, ascending."""
        kept = [np.unique(block.group) for block in blocks if block.key.size]
        if not kept:
            return np.zeros(0, np.uint64)
        return np.unique(hashed_names(np.unique(np.concatenate(kept)), self.seed))

    def merge(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return those of both."""
        return np.union1d(first, second)


@dataclass(frozen=True, eq=False)
class ByGroup:
    """Chooses the groups of a fold, or all others."""

    starts: np.ndarray
    fold: int
    seed: int
    held_out: bool

    def chosen(self, blocks: Iterator[GroupedBlock], index: int) -> Iterator[GroupedBlock]:
        """Yield the rows of one partition that are meant."""
        del index
        for columns, weight, group, key in blocks:
            names, place = np.unique(group, return_inverse=True)
            folds = np.searchsorted(self.starts, hashed_names(names, self.seed), side="right") - 1
            at = np.flatnonzero(((folds == self.fold) == self.held_out)[place])
            if at.size:
                own = None if weight is None else weight[at]
                yield GroupedBlock(columns.take(at, axis=1), own, group[at], key[at])


def starts_of_folds(rows: GroupedRows, folds: int, seed: int) -> np.ndarray:
    """Return the least hash of each fold: uint64 (folds,), a pass over the partitions."""
    every: Any = rows.run(GroupHashesTask(seed))
    if every.size < folds:
        raise InputError(
            f"cv = {folds}, but there are {every.size} queries: use at most {every.size} folds"
        )
    return every[np.arange(folds) * every.size // folds]


def fold_of_groups(
    rows: GroupedRows, starts: np.ndarray, fold: int, seed: int
) -> tuple[GroupedRows, GroupedRows]:
    """Return the rows without one fold, and that fold."""
    train, test = (
        GroupedRows(
            SomeRowsEngine(rows.engine, ByGroup(starts, fold, seed, held_out)), rows.columns
        )
        for held_out in (False, True)
    )
    return train, test
