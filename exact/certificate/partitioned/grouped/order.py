"""Which pairs of grouped rows the optimum certainly orders, and their concordance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....pairs.ordered.ordered_pairs import OrderedPairs
from ....pairs.partitioned_pairs import pairs_here
from ....pairs.statistics.concordance import concordance, share_between
from ....spaces.groups import GroupedRows, Whole, whole_partition
from ....tools.rounding import gamma
from ..order import SLACK, score_range


@dataclass(frozen=True, eq=False)
class GroupOrderTask:
    """Counts the pairs whose order is certain: with the upper row above, and with it below."""

    offset: np.ndarray
    w: np.ndarray
    radius: float
    error: float

    def run(self, blocks: Iterator[Any], index: int) -> Any:
        """Return both counts for one partition."""
        whole = whole_partition(blocks)
        pairs = None if whole is None else pairs_here(whole)
        if whole is None or pairs is None:
            return 0, 0
        return self.counted(pairs, *self._ends(whole))

    def counted(self, pairs: OrderedPairs, low: np.ndarray, high: np.ndarray) -> Any:
        """Return both counts for scores between bounds."""
        return ordered_counts(pairs, low, high)

    def _ends(self, whole: Whole) -> tuple[np.ndarray, np.ndarray]:
        lengths = np.concatenate([self._lengths(columns) for columns in whole.columns])
        scores = whole.scores(self.offset, self.w)
        return score_range(scores, lengths, self.radius, self.error)

    def _lengths(self, columns: np.ndarray) -> np.ndarray:
        centred = columns - self.offset[:, None]
        return np.sqrt(np.einsum("ij,ij->j", centred, centred)) * (1 + gamma(self.w.size + 8))

    def merge(self, first: Any, second: Any) -> Any:
        """Return the counts of both."""
        return first[0] + second[0], first[1] + second[1]


@dataclass(frozen=True, eq=False)
class GroupShareTask(GroupOrderTask):
    """Sums what the pairs weigh that are right for all scores within the bounds, and for some."""

    def counted(self, pairs: OrderedPairs, low: np.ndarray, high: np.ndarray) -> Any:
        """Return both weights, a tie counting one half."""
        least, most = share_between(pairs, low, high)
        return least * pairs.mass, most * pairs.mass


def group_share_between(rows: GroupedRows, w: np.ndarray, radius: float) -> tuple[float, float]:
    """Return bounds of `group_concordance` for all weights within `radius` of `w`."""
    task = GroupShareTask(rows.offset, w, radius, rows.score_slip(w))
    least, most = (share / rows.order.mass for share in rows.run(task))
    return max(least - SLACK, 0.0), min(most + SLACK, 1.0)


def ordered_counts(pairs: OrderedPairs, low: np.ndarray, high: np.ndarray) -> tuple[int, int]:
    """Return the pairs (i, j) with low_i > high_j, and those with high_i < low_j.

    Each row enters twice: as an upper row with one of its bounds, and as a lower row with the
    other.
    """
    upper, lower = np.zeros((2, pairs.n), dtype=np.int64)
    order, none = pairs.arrangement.order, np.zeros(pairs.n, dtype=np.int64)
    upper[order], lower[order] = pairs.a > 0, pairs.b > 0
    twice = OrderedPairs(
        np.tile(np.asarray(pairs.group), 2),
        np.tile(pairs.key, 2),
        np.concatenate([upper, none]),
        np.concatenate([none, lower]),
        form=pairs.form,
    )
    right = concordance(twice, np.concatenate([low, high])).concordant
    return right, concordance(twice, np.concatenate([high, low])).discordant


@dataclass(frozen=True, eq=False)
class ConcordanceTask:
    """Sums what the pairs in the right order weigh, a tie counting one half."""

    offset: np.ndarray
    w: np.ndarray

    def run(self, blocks: Iterator[Any], index: int) -> float:
        """Return the weight of one partition's pairs that are in order."""
        whole = whole_partition(blocks)
        pairs = None if whole is None else pairs_here(whole)
        if whole is None or pairs is None:
            return 0.0
        return concordance(pairs, whole.scores(self.offset, self.w)).value * pairs.mass

    def merge(self, first: float, second: float) -> float:
        """Return both."""
        return first + second


def group_concordance(rows: GroupedRows, w: np.ndarray) -> float:
    """Return the share of the pairs, by weight, that `w` orders rightly, a tie counting half."""
    return min(rows.run(ConcordanceTask(rows.offset, w)) / rows.order.mass, 1.0)


@dataclass(frozen=True, eq=False)
class PairedExtentTask:
    """Finds the range of the scores of all rows that are in a pair."""

    offset: np.ndarray
    w: np.ndarray

    def run(self, blocks: Iterator[Any], index: int) -> tuple[float, float]:
        """Return the least and the largest score; infinite ones where there is no pair."""
        whole = whole_partition(blocks)
        pairs = None if whole is None else pairs_here(whole)
        if whole is None or pairs is None:
            return float("inf"), float("-inf")
        scores = whole.scores(self.offset, self.w)[pairs.row_mass() > 0]
        return float(scores.min()), float(scores.max())

    def merge(self, first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
        """Return the range of both."""
        return min(first[0], second[0]), max(first[1], second[1])
