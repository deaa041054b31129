"""What is found out about groups in partitions once: their names, and how many pairs there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....errors import InputError
from ....tools.lossless import check_one_type
from ..facts import Facts, FactsTask
from .blocks import whole_partition

# The pairs of one row weigh less than this, so that sums of grid scores stay below 2^63.
LARGEST_MASS = 1 << 40

NO_COLUMNS = np.zeros((0, 0))

KINDS = 2  # So many different keys are remembered, and one more.


@dataclass(eq=False)
class OrderCounts:
    """Of some partitions."""

    mass: int = 0
    count: int = 0
    top: int = 1
    names: dict[int, np.ndarray] = field(default_factory=dict)
    keys: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def merge(self, other: OrderCounts) -> OrderCounts:
        """Return the counts of both."""
        keys = np.union1d(self.keys, other.keys)[: KINDS + 1]
        return OrderCounts(
            self.mass + other.mass,
            self.count + other.count,
            max(self.top, other.top),
            self.names | other.names,
            keys,
        )


def counted_pairs(group: np.ndarray, key: np.ndarray, weight: np.ndarray) -> tuple[int, int, int]:
    """Return what all pairs weigh, their number, and a bound of what those of one row weigh."""
    if not (weight == np.floor(weight)).all():
        raise InputError(
            "row weights of ordered pairs in partitions must be whole numbers: multiply them"
        )
    codes, ranks = (np.unique(one, return_inverse=True)[1] for one in (group, key))
    order = np.lexsort((ranks, codes))
    codes, ranks = codes[order], ranks[order]
    first = np.ones(codes.size, dtype=bool)
    first[1:] = codes[1:] != codes[:-1]
    block = first.copy()
    block[1:] |= ranks[1:] != ranks[:-1]
    starts = np.flatnonzero(first)
    largest = float(np.add.reduceat(weight[order], starts).max()) * float(weight.max())
    if not largest < LARGEST_MASS:
        raise InputError(
            f"the pairs of one row weigh {largest:.3g} together, more than can be counted exactly: "
            "use smaller groups or weights"
        )
    totals = []
    for mass in (weight[order].astype(np.int64), (weight[order] > 0).astype(np.int64)):
        before = np.cumsum(mass) - mass
        group_of, block_of = np.cumsum(first) - 1, np.cumsum(block) - 1
        below = before[np.flatnonzero(block)][block_of] - before[starts][group_of]
        products = mass * below
        high, low = int((products >> 32).sum()), int((products & 0xFFFFFFFF).sum())
        totals.append((high << 32) + low)
    return totals[0], totals[1], max(1, int(largest))


@dataclass(eq=False)
class GroupedFacts:
    """The facts of rows in partitions, and the counts of their ordered pairs."""

    facts: Facts
    order: OrderCounts


class GroupedFactsTask:
    """Finds the facts and counts the pairs, and refuses what cannot be ordered."""

    rows = FactsTask()

    def run(self, blocks: Iterator[Any], index: int) -> GroupedFacts:
        """Return the facts of one partition."""
        seen: list[Any] = []

        def noted() -> Iterator[Any]:
            for block in blocks:
                seen.append(block._replace(columns=NO_COLUMNS))
                yield block

        facts = self.rows.run(noted(), index)
        return GroupedFacts(facts, self._order(seen, index))

    def _order(self, seen: list[Any], index: int) -> OrderCounts:
        whole = whole_partition(seen)
        if whole is None:
            return OrderCounts()
        if not np.isfinite(whole.key).all():
            row = int(np.argmin(np.isfinite(whole.key)))
            raise InputError(
                f"the key of row {row} of partition {index} is {whole.key[row]}: keys are finite"
            )
        mass, count, top = counted_pairs(whole.group, whole.key, whole.weight)
        names = {index: np.unique(whole.group)}
        return OrderCounts(mass, count, top, names, np.unique(whole.key)[: KINDS + 1])

    def merge(self, first: GroupedFacts, second: GroupedFacts) -> GroupedFacts:
        """Return the facts of both."""
        both = self.rows.merge(first.facts, second.facts)
        return GroupedFacts(both, first.order.merge(second.order))


def check_groups_whole(names: dict[int, np.ndarray], told: str) -> int:
    """Return the number of groups."""
    check_one_type({f"partition {k}": found for k, found in names.items()}, "the groups")
    if not names:
        return 0
    every = np.concatenate(list(names.values()))
    place = np.repeat(list(names), [found.size for found in names.values()])
    order = np.argsort(every, kind="stable")
    every, place = every[order], place[order]
    twice = np.flatnonzero(every[1:] == every[:-1])
    if twice.size:
        k = int(twice[0])
        one, other = sorted((int(place[k]), int(place[k + 1])))
        raise InputError(
            f"group {every[k].item()!r} is split: it lies in partition {one} and in partition "
            f"{other} (from 0), and pairs are within a partition: {told}"
        )
    return int(every.size)
