"""Linear functions of grouped rows in partitions: pairs are the rows of one group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ....errors import InputError, NoPairError
from ..engine import Engine
from ..facts import Facts
from ..partition import Source
from ..partitioned_rows import PartitionedRows
from ..thinning import Drawn
from .blocks import ClassesTask, held_groups
from .counts import GroupedFactsTask, OrderCounts, check_groups_whole
from .drawn import DrawnGroups, GroupsTask, assembled_groups

# What is to be done where a group is split.
SORT = "sort the rows by their group and cut them between groups"

MANY_GROUPS = 200  # Groups from which a sample consists of whole groups.


class GroupedRows(PartitionedRows):
    """Rows in partitions with a group and a key each; every group lies whole in one partition.

    Parameters
    ----------
    source : sequence of tuples, or Engine
        For each partition (X, group, key) or (X, group, key, weight): numbers (m, d), what names
        the groups (m,), numbers or words, finite numbers (m,), whose larger one should have the
        larger score, and weights (m,). Anything that has the methods of `Partition` may stand in
        place of a tuple. All are read by this process.
    columns : list of str, optional
        Names of the features.
    told : str, optional
        What is to be done where a group is split, as part of a sentence.

    Attributes
    ----------
    order : OrderCounts
    groups : int

    Raises
    ------
    InputError
        If the rows are not finite numbers, there are none, no two of one group are ordered, or a
        group is split.
    """

    arrays = ("X", "group", "key")
    held = staticmethod(held_groups)

    def __init__(self, source: Source | Engine, columns: list[str] | None = None, told: str = SORT):
        self.order = OrderCounts()
        super().__init__(source, columns)
        self.groups = check_groups_whole(self.order.names, told)
        self.order.names = {}
        if self.order.mass == 0:
            raise NoPairError(
                "no pair is ordered: a group needs an upper row above a lower one, both of weight"
            )

    def first_pass(self) -> Facts:
        """Return the facts, and keep the counts of pairs."""
        found = self.run(GroupedFactsTask())
        self.order = found.order
        return found.facts

    def as_classes(self) -> Callable[[Any], Any]:
        """Return `run` for tasks about two classes: rows of the larger key are the positive ones.

        Raises
        ------
        InputError
            If there are not two kinds of keys.
        """
        if self.order.keys.size != 2:
            raise InputError(
                f"a classifier needs two kinds of labels, and these rows have "
                f"{'more' if self.order.keys.size > 2 else 'one'}: use solve"
            )
        level = float(self.order.keys[0])
        return lambda task: self.run(ClassesTask(task, level))

    def drawn_groups(self, size: int) -> DrawnGroups:
        """Return about `size` rows: whole groups where there are many."""
        return self._taken(min(1.0, size / self.n), self.groups >= MANY_GROUPS)

    def all_rows(self) -> DrawnGroups:
        """Return all rows, in the order of the partitions."""
        return self._taken(1.0, True)

    def _taken(self, share: float, whole: bool) -> DrawnGroups:
        parts = self.run(GroupsTask(share, whole))
        if not parts:
            none: Any = np.zeros(0)
            return DrawnGroups(np.zeros((0, self.dim)), none, none, None)
        return assembled_groups(parts)

    def drawn(self, share_neg: float, share_pos: float) -> Drawn:
        """Refuse: rows have no class."""
        raise _no_class()

    def named(self, negative: np.ndarray, positive: np.ndarray) -> NoReturn:
        """Refuse: rows have no class."""
        raise _no_class()


def _no_class() -> InputError:
    return InputError(
        "rows with groups have no class: drawn pairs are for all pairs of two classes"
    )
