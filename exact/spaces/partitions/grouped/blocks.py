"""Blocks and partitions of rows that have a group and a key instead of a class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ....errors import InputError
from ....tools.checks import as_numbers
from ....tools.lossless import check_labels
from ..partition import Block, Partition, added_up, held_rows


class GroupedBlock(NamedTuple):
    """Some rows: columns (d, m) float64, weight, and the group and the key of each row (m,)."""

    columns: np.ndarray
    weight: np.ndarray | None
    group: np.ndarray
    key: np.ndarray

    @property
    def positive(self) -> np.ndarray:
        """No row is positive: rows have no class."""
        return np.zeros(self.key.size, dtype=bool)

    def label_bytes(self) -> bytes:
        """Return what a fingerprint reads beside the numbers."""
        return self.key.tobytes() + self.group.tobytes() + str(self.group.dtype).encode()


class Whole(NamedTuple):
    """All rows of a partition: its blocks' columns, and group, key and weight (m,)."""

    columns: list[np.ndarray]
    group: np.ndarray
    key: np.ndarray
    weight: np.ndarray

    def scores(self, offset: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the scores (x - offset)'w: (m,)."""
        return np.concatenate([added_up(columns, offset, w) for columns in self.columns])


def whole_partition(blocks: Iterable[Any]) -> Whole | None:
    """Return all rows of a partition, or None where it is empty."""
    kept = [block for block in blocks if block.key.size]
    if not kept:
        return None
    weight = [np.ones(b.key.size) if b.weight is None else b.weight for b in kept]
    return Whole(
        [block.columns for block in kept],
        np.concatenate([block.group for block in kept]),
        np.concatenate([block.key for block in kept]),
        np.concatenate(weight),
    )


@dataclass(frozen=True, eq=False)
class GroupedPartition:
    """Rows with a group and a key."""

    rows: Partition
    group: Any
    key: Any

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return self.rows.name

    def refuse(self, row: int, column: int | None, value: float) -> NoReturn:
        """Raise `InputError` for a number that is not finite, or a weight (column None)."""
        self.rows.refuse(row, column, value)

    def blocks(self) -> Iterator[Any]:
        """Yield its rows in order, each a `GroupedBlock`."""
        group = named(check_labels(self.group, f"the groups of {self.name}"), self.name)
        key, start = as_numbers(f"the keys of {self.name}", self.key), 0
        for columns, positive, weight in self.rows.blocks():
            rows = slice(start, start + positive.size)
            start += positive.size
            yield GroupedBlock(columns, weight, group[rows], key[rows])
        if group.shape != (start,) or key.shape != (start,):
            raise InputError(
                f"{self.name} has {start} rows, {group.size} groups and {key.size} keys: cut rows, "
                "groups and keys at the same places"
            )


def named(group: np.ndarray, where: str) -> np.ndarray:
    """Return groups as an array of numbers or of words."""
    if group.dtype.kind == "O":
        kinds = {type(one) for one in group.tolist()}
        if kinds - {str}:
            raise InputError(f"the groups of {where} must be numbers or words, all of one type")
        return group.astype(str)
    if group.dtype.kind == "f" and not np.isfinite(group).all():
        row = int(np.argmin(np.isfinite(group)))
        raise InputError(f"the group of row {row} of {where} is {group[row]}: groups have a name")
    return group


def held_groups(name: str, X: Any, group: Any, key: Any, weight: Any = None) -> GroupedPartition:
    """Return a partition of what a caller gave: what makes arrays (m, d), and three of (m,)."""
    none = np.zeros(np.shape(X)[:1], dtype=bool)
    return GroupedPartition(held_rows(name, X, none, weight), group, key)


def cut_groups(
    X: np.ndarray,
    group: np.ndarray,
    key: np.ndarray,
    weight: np.ndarray | None,
    places: list[int],
) -> list[GroupedPartition]:
    """Return the partitions of an array in memory, cut before the rows `places`."""
    ends = pairwise([0, *places, X.shape[0]])
    return [
        held_groups(
            f"partition {k}", X[a:b], group[a:b], key[a:b], None if weight is None else weight[a:b]
        )
        for k, (a, b) in enumerate(ends)
    ]


@dataclass(frozen=True, eq=False)
class ClassesTask:
    """A task about two classes, run on grouped rows: those of a key above `level` are positive."""

    task: Any
    level: float

    def run(self, blocks: Iterator[Any], index: int) -> Any:
        """Return the task's answer for one partition."""
        classes = (Block(b.columns, b.key > self.level, b.weight) for b in blocks)
        return self.task.run(classes, index)

    def merge(self, first: Any, second: Any) -> Any:
        """Return the sum of two answers."""
        return self.task.merge(first, second)
