"""Ordered pairs whose groups lie whole in partitions of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ..errors import InputError, NoPairError
from ..losses.loss import Loss
from ..spaces.partitions.grouped.blocks import Whole
from ..spaces.partitions.grouped.grouped_rows import GroupedRows
from ..sums.assembled import PairSums
from .ordered.ordered_pairs import OrderedPairs

AWAY = "the rows of partitions stay there: evaluate the problem"


@dataclass(frozen=True, eq=False)
class PartitionedOrder:
    """Ordered pairs within groups, known by their numbers alone; the rows stay in the partitions.

    A pair weighs the product of its rows' weights, which are whole numbers.
    """

    rows: GroupedRows

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.rows.n

    @property
    def mass(self) -> int:
        """What all pairs weigh together."""
        return self.rows.order.mass

    def count(self) -> int:
        """Return the number of pairs of a weight."""
        return self.rows.order.count

    def check(self) -> None:
        """Do nothing: the rows were checked where they were read."""

    def sums(self, scores: np.ndarray, loss: Loss, width: float = 0.0) -> PairSums:
        """Refuse: scores are as long as the data, and never come here."""
        raise InputError(AWAY)

    def row_mass(self) -> NoReturn:
        """Refuse: it is as long as the data."""
        raise InputError(AWAY)


def pairs_here(whole: Whole) -> OrderedPairs | None:
    """Return the pairs of one partition's rows, or None where no two are ordered."""
    weight: Any = None if (whole.weight == 1).all() else whole.weight
    try:
        return OrderedPairs(whole.group, whole.key, weight, weight)
    except NoPairError:
        return None
