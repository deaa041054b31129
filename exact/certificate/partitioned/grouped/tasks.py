"""What an evaluation of ordered pairs asks of each partition: the sums of its own groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....losses.loss import Loss
from ....pairs.ordered.ordered_pairs import OrderedPairs
from ....pairs.partitioned_pairs import pairs_here
from ....spaces.blocks import Pull
from ....spaces.groups import Whole, whole_partition
from ....spaces.partitions import Merging
from ....sums.gathered.gathered import WeighedSums
from ....sums.tree import WholeHingeSums, whole_hinge
from ....tools.rounding import UNIT, gamma


@dataclass(eq=False)
class GroupSums:
    """What some partitions answer."""

    pull: WeighedSums
    rows: int = 0
    mass: int = 0
    whole: WholeHingeSums = field(default_factory=WholeHingeSums)
    smooth: np.ndarray = field(default_factory=lambda: np.zeros(6))

    def merge(self, other: GroupSums) -> GroupSums:
        """Add the answer of other partitions."""
        self.pull.merge(other.pull)
        self.rows += other.rows
        self.mass += other.mass
        self.whole.merge(other.whole)
        self.smooth = self.smooth + other.smooth
        return self


@dataclass(frozen=True, eq=False)
class _GroupTask(Merging, ABC):
    """Sums over the pairs of whole groups."""

    offset: np.ndarray
    w: np.ndarray

    def run(self, blocks: Iterator[Any], index: int) -> GroupSums:
        """Return the sums of one partition."""
        none = np.zeros(self.w.size)
        found = GroupSums(WeighedSums(none, none.copy(), 0.0, 0.0))
        whole = whole_partition(blocks)
        if whole is None:
            return found
        found.rows = whole.key.size
        pairs = pairs_here(whole)
        if pairs is not None:
            found.mass = pairs.mass
            c, relative = self.summed(pairs, whole.scores(self.offset, self.w), found)
            found.pull = _pulled(whole, self.offset, c, relative)
        return found

    @abstractmethod
    def summed(
        self, pairs: OrderedPairs, scores: np.ndarray, found: GroupSums
    ) -> tuple[np.ndarray, float]:
        """Fill in the sums; return c (m,) and a bound of its relative rounding."""


@dataclass(frozen=True, eq=False)
class GroupHingeTask(_GroupTask):
    """The hinge's sums in whole numbers, on a grid that all partitions share."""

    k: int
    half: int

    def summed(
        self, pairs: OrderedPairs, scores: np.ndarray, found: GroupSums
    ) -> tuple[np.ndarray, float]:
        """Return 2 half c, whole numbers but for one rounding each."""
        mass = np.empty(scores.size, dtype=np.int64)
        mass[pairs.arrangement.order] = np.maximum(pairs.a, pairs.b)  # one weight a row
        net, found.whole = whole_hinge(pairs.arrangement, mass, scores, self.k, self.half)
        return net.astype(float), UNIT


@dataclass(frozen=True, eq=False)
class GroupLossTask(_GroupTask):
    """The sums of another loss."""

    loss: Loss

    def summed(
        self, pairs: OrderedPairs, scores: np.ndarray, found: GroupSums
    ) -> tuple[np.ndarray, float]:
        """Return c times what the pairs weigh."""
        sums, mass = pairs.sums(scores, self.loss), float(pairs.mass)
        found.smooth = mass * np.array(
            [
                sums.value,
                sums.conjugate,
                abs(sums.value) + abs(sums.conjugate) + abs(sums.total),
                sums.value_rounding,
                sums.conjugate_rounding,
                sums.rounding,
            ]
        )
        return mass * sums.c, 4 * UNIT


def _pulled(whole: Whole, offset: np.ndarray, c: np.ndarray, relative: float) -> WeighedSums:
    """Return the pull of rows with the factors `c` (m,), each known to a relative error."""
    into, start = Pull(offset.size), 0
    for columns in whole.columns:
        own = c[start : start + columns.shape[1]]
        start += own.size
        into.add_columns(columns - offset[:, None], own, np.abs(own))
    wide = 1 + gamma(into.rows + offset.size + 16)  # the size is a rounded sum itself
    return WeighedSums(into.total, into.carry, into.size, into.error + relative * into.size * wide)
