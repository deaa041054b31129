"""Blocks and partitions of rows that have a group and a key instead of a class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from operator import add
from typing import Any, NamedTuple, NoReturn, Self, cast

import numpy as np

from ..errors import InputError, NoPairError
from ..sums.tree import NO_PAIR, Arrangement, partners
from ..tools.arrays import check_one_type
from . import partitions
from .blocks import Block, Drawn, added_up, merged
from .partitions import Engine, Facts, PartitionedRows, Source, facts_of, hashed_names

SORT = "sort the rows by their group and cut them between groups"


class Whole(NamedTuple):
    """All rows of a partition: its blocks' columns, and group, key and weight (m,)."""

    columns: list[np.ndarray]
    group: np.ndarray
    key: np.ndarray
    weight: np.ndarray

    def scores(self, offset: np.ndarray, w: np.ndarray) -> np.ndarray:
        return np.concatenate([added_up(columns, offset, w) for columns in self.columns])


def whole_partition(blocks: Iterable[Any]) -> Whole | None:
    """Return all rows of a partition, or None where it is empty."""
    kept = [block for block in blocks if block.key.size]
    if not kept:
        return None
    weight = [np.ones(b.key.size) if b.weight is None else b.weight for b in kept]
    labels = [block.group for block in kept], [block.key for block in kept], weight
    return Whole([block.columns for block in kept], *map(np.concatenate, labels))


@dataclass(eq=False)
class OrderCounts:
    mass: int = 0  # what all pairs weigh together
    count: int = 0
    names: dict[int, np.ndarray] = field(default_factory=dict)  # of each partition's groups
    keys: np.ndarray = field(default_factory=lambda: np.zeros(0))  # two kinds, and one more

    def merge(self, other: OrderCounts) -> OrderCounts:
        mass, count = self.mass + other.mass, self.count + other.count
        keys = np.union1d(self.keys, other.keys)[:3]
        return OrderCounts(mass, count, self.names | other.names, keys)


def counted_pairs(group: np.ndarray, key: np.ndarray, weight: np.ndarray) -> tuple[int, int]:
    """Return what all pairs weigh together, and their number."""
    if not (weight == np.floor(weight)).all():
        raise InputError("row weights of ordered pairs in partitions must be whole numbers")
    codes, ranks = (np.unique(one, return_inverse=True)[1] for one in (group, key))
    at = Arrangement.of(codes, ranks, weight > 0)
    placed = weight[at.order]
    largest = float(np.bincount(at.group, placed).max()) * float(placed.max())
    # 1 << 40: sums of grid scores, weighted so, stay below 2^63
    if not largest < 1 << 40:
        raise InputError(
            f"the pairs of one row weigh {largest:.3g} together, more than can be counted exactly: "
            "use smaller groups or weights"
        )
    masses = placed.astype(np.int64), (placed > 0).astype(np.int64)
    weighed, count = (sum((mass * partners(at, mass)).tolist()) for mass in masses)
    return weighed, count


def grouped_facts(blocks: Iterator[Any], index: int) -> tuple[Facts, OrderCounts]:
    """Return the facts of one partition and its pairs' counts, and refuse what has no order."""
    seen: list[Any] = []

    def noted() -> Iterator[Any]:
        for block in blocks:
            seen.append(block._replace(columns=np.zeros((0, 0))))
            yield block

    facts, whole = facts_of(noted(), index), whole_partition(seen)
    if whole is None:
        return facts, OrderCounts()
    fine = np.isfinite(whole.key)
    if not fine.all():
        key, row = whole.key[~fine][0], f"row {int(np.argmin(fine))} of partition {index}"
        raise InputError(f"the key of {row} is {key}: keys are finite")
    mass, count = counted_pairs(whole.group, whole.key, whole.weight)
    names = {index: np.unique(whole.group)}
    return facts, OrderCounts(mass, count, names, np.unique(whole.key)[:3])


class GroupedRows(PartitionedRows):
    """Rows in partitions with a group and a key each; all of a group lie in one partition.

    Parameters
    ----------
    source : sequence of tuples, or Engine
        For each partition (X, group, key) or (X, group, key, weight): numbers (m, d), what names
        the groups (m,), numbers or words, finite numbers (m,), whose larger one should have the
        larger score, and weights (m,). Otherwise, and `columns`, as in `PartitionedRows`.
    advice : str, optional
        What is to be done where a group is split, as part of a sentence.

    Raises
    ------
    InputError
        If the rows are not finite numbers, there are none, no two of one group are ordered, or a
        group is split.
    """

    arrays = ("X", "group", "key")

    def __init__(
        self, source: Source | Engine, columns: list[str] | None = None, advice: str = SORT
    ):
        self._advice = advice
        super().__init__(source, columns)

    def _measure(self) -> None:
        super()._measure()
        names, self.order.names = self.order.names, {}
        check_one_type({f"partition {k}": found for k, found in names.items()}, "the groups")
        every = np.concatenate(list(names.values()))
        place = np.repeat(list(names), [found.size for found in names.values()])
        order = np.argsort(every, kind="stable")
        every, place = every[order], place[order]
        twice = np.flatnonzero(every[1:] == every[:-1])
        if twice.size:
            k = int(twice[0])
            one, other = sorted(place[k : k + 2].tolist())
            raise InputError(
                f"group {every[k].item()!r} is split: it lies in partition {one} and in partition "
                f"{other} (from 0), and pairs are within a partition: {self._advice}"
            )
        self.groups = int(every.size)
        if self.order.mass == 0:
            raise NoPairError(NO_PAIR)

    @property
    def grouped(self) -> GroupedRows:
        return self

    def first_pass(self) -> Facts:
        facts, self.order = self.total(grouped_facts, lambda *both: tuple(map(merged, *both)))
        return facts

    def as_classes(self) -> Any:
        """Return rows of two classes: those of the larger of two keys are the positive ones."""
        if self.order.keys.size != 2:
            found = "more" if self.order.keys.size > 2 else "one"
            raise InputError(f"a classifier needs two kinds of labels, not {found}: use solve")
        classes, level = copy(self), float(self.order.keys[0])

        def as_two(blocks: Iterator[Any], index: int) -> Iterator[Block]:
            return (Block(b.columns, b.key > level, b.weight) for b in blocks)

        classes.chosen = (*self.chosen, as_two)
        return classes

    def folds(self, count: int, seed: int) -> Iterator[tuple[Self, Self]]:
        """Yield the rows without each fold, and that fold; the groups' names say which."""

        def hashes(blocks: Iterator[Any], index: int) -> np.ndarray:
            kept = [hashed_names(np.unique(b.group), seed) for b in blocks if b.key.size]
            return np.unique(np.concatenate([np.zeros(0, np.uint64), *kept]))

        def of_fold(starts: Any, fold: int, block: Block, seen: Any, index: int) -> np.ndarray:
            names, place = np.unique(np.asarray(block.group), return_inverse=True)
            folds = np.searchsorted(starts, hashed_names(names, seed), side="right") - 1
            return np.flatnonzero((folds == fold)[place])

        every: Any = self.total(hashes, np.union1d)
        n = every.size
        if n < count:
            raise InputError(f"cv = {count}, but there are {n} queries: use at most {n} folds")
        starts = every[np.arange(count) * n // count]  # the least hash of each fold
        for fold in range(count):
            yield self._split(partial(of_fold, starts, fold))

    def all_rows(self) -> Drawn:
        """Return all rows, in the order of the partitions."""
        return self.drawn_groups(self.n)

    def drawn_groups(self, size: int) -> Drawn:
        """Return about `size` rows, the same ones however they are cut: whole groups of many."""
        steps, share = 1 << 30, min(1.0, size / self.n)  # a share is one of so many steps
        most, whole = int(share * steps), self.groups >= 200  # of fewer groups, rows are drawn

        def places(block: Block, seen: np.ndarray, index: int) -> np.ndarray:
            group = np.asarray(block.group)
            if share >= 1:
                return np.arange(group.size)
            if not whole:
                numbers = partitions.hashed_numbers(index, int(seen.sum()), group.size, 0, steps)
                return np.flatnonzero(numbers < most)
            names, at = np.unique(group, return_inverse=True)
            return np.flatnonzero((hashed_names(names, 0) % np.uint64(steps) < most)[at])

        parts = self.total(partial(partitions.rows_taken, places), add)
        if not parts:
            none: Any = np.zeros(0)
            return Drawn(np.zeros((0, self.dim)), none, None, none, none)
        return partitions.assembled(parts)

    def drawn(self, share_neg: float, share_pos: float) -> NoReturn:
        raise InputError("rows with groups have no class: drawn pairs are for two classes")

    named = cast(Any, drawn)
