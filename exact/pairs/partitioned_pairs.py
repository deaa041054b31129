"""Pairs of rows that lie in partitions, with their labels or groups: only numbers are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, cast

import numpy as np

from ..errors import InputError, NoPairError
from ..spaces.groups import GroupedRows, Whole
from ..spaces.partitions import Facts
from .all_pairs import AllPairs
from .ordered_pairs import OrderedPairs


@dataclass(frozen=True, eq=False)
class PartitionedPairs(AllPairs):
    """All pairs, known by their numbers alone; the labels stay in the partitions."""

    facts: Any = None

    def check(self) -> None:
        if self.n_pos in (0, self.n):
            present = "positive" if self.n_pos else "negative"
            raise InputError(f"all {self.n} rows are {present}: pairs need both classes")
        if not (self.facts.mass > 0).all():
            raise InputError("each class needs a row of positive weight")
        if not np.isfinite(self.facts.mass).all():
            raise InputError("the row weights are so large that their sum overflows: rescale them")

    @property
    def positive(self) -> np.ndarray:
        raise InputError("this needs the labels of all rows, which stay in their partitions")

    @property
    def n(self) -> int:
        return self.facts.n

    @property
    def n_pos(self) -> int:
        return self.facts.n_pos

    def count(self) -> int:
        minus, plus = self.facts.used.tolist()
        return minus * plus

    def on(self, positive: np.ndarray) -> NoReturn:
        raise InputError("the labels of rows in partitions lie with the rows: give no others")

    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the summed weight of each class, as one row of it."""
        minus, plus = self.facts.mass
        return np.array([plus]), np.array([minus])


def pairs_in(facts: Facts) -> PartitionedPairs:
    pairs = PartitionedPairs(facts=facts)
    pairs.check()
    return pairs


@dataclass(frozen=True, eq=False)
class PartitionedOrder:
    """Ordered pairs within groups, known by their numbers alone; the rows stay apart."""

    rows: GroupedRows

    @property
    def n(self) -> int:
        return self.rows.n

    @property
    def mass(self) -> int:
        return self.rows.order.mass

    def count(self) -> int:
        return self.rows.order.count

    def sums(self, *of: object) -> NoReturn:
        raise InputError("the rows of partitions stay there: evaluate the problem")

    row_mass = cast(Any, sums)


def pairs_here(whole: Whole) -> OrderedPairs | None:
    """Return the pairs of one partition's rows, or None where no two are ordered."""
    weight = None if (whole.weight == 1).all() else whole.weight
    try:
        return OrderedPairs(whole.group, whole.key, weight, weight)
    except NoPairError:
        return None
