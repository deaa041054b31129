"""How the scores of rows in partitions are spread: counts by class on a fine grid.

From these come the AUC, up to the pairs of one step, and the threshold of a model. The scores of
few rows are fetched, and their AUC is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...pairs.auc import auc
from ...spaces.groups import GroupedRows
from ...spaces.partitions import Block, PartitionedRows, added_up
from .tasks import ExtentTask

# Steps of the grid: the AUC is then known to about the share of pairs in one of them.
STEPS = 1 << 15

# Rows whose scores are fetched for an exact AUC: 9 MB, and 8 MB more with weights.
FETCHED_ROWS = 1 << 20


@dataclass(frozen=True, eq=False)
class CountedScores:
    """Weight of each class by the step of its scores."""

    at: np.ndarray
    mass: np.ndarray

    def auc_range(self) -> tuple[float, float]:
        """Return bounds of the AUC: the pairs of one step may be in any order."""
        minus, plus = self.mass
        below = np.concatenate([[0.0], np.cumsum(minus)])
        whole = float(plus.sum()) * float(minus.sum())
        # More than these sums of weights can round, relative to one.
        slack = 1e-13
        low, high = float(plus @ below[:-1]) / whole, float(plus @ below[1:]) / whole
        return max(low - slack, 0.0), min(high + slack, 1.0)

    def as_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return scores, classes and weights of rows that are spread so."""
        side, step = np.nonzero(self.mass)
        return self.at[step], side == 1, self.mass[side, step]


@dataclass(frozen=True, eq=False)
class SpreadTask:
    """Counts rows by the step of their scores."""

    offset: np.ndarray
    w: np.ndarray
    bottom: float
    step: float

    def run(self, blocks: Iterator[Block], index: int) -> np.ndarray:
        """Return the weights by class and step."""
        mass = np.zeros((2, STEPS))
        for columns, positive, weight in blocks:
            scores = added_up(columns, self.offset, self.w)
            at = np.floor((scores - self.bottom) / self.step)
            places = np.clip(at, 0, STEPS - 1).astype(np.int64)
            for side in (0, 1):
                own = positive == bool(side)
                more = None if weight is None else weight[own]
                mass[side] += np.bincount(places[own], more, minlength=STEPS)
        return mass

    def merge(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the weights of both."""
        first += second
        return first


def counted_scores(space: PartitionedRows, w: np.ndarray) -> CountedScores:
    """Return how the scores of the weights `w` are spread: a pass over the rows, or two.

    Rows with groups must have two kinds of keys: the larger one is the positive class.
    """
    run = space.as_classes() if isinstance(space, GroupedRows) else space.run
    last = space.last_range
    if last is not None and np.array_equal(last[0], w):
        ends = last[1]
    else:
        ends = run(ExtentTask(space.offset, w)).ends
    bottom, top = float(ends.min()), float(ends.max())
    # All scores may be equal.
    step = (top - bottom) / (STEPS - 1) or 1.0
    mass = run(SpreadTask(space.offset, w, bottom, step))
    at = bottom + step * (np.arange(STEPS) + 0.5) + float(w @ space.offset)
    return CountedScores(at, mass)


@dataclass(frozen=True, eq=False)
class ScoresTask:
    """Fetches the score, the class and the weight of each row."""

    offset: np.ndarray
    w: np.ndarray

    def run(self, blocks: Iterator[Block], index: int) -> list[Block]:
        """Return the scores of one partition in the place of its columns."""
        return [
            Block(added_up(columns, self.offset, self.w), positive.copy(), weight)
            for columns, positive, weight in blocks
        ]

    def merge(self, first: list[Block], second: list[Block]) -> list[Block]:
        """Return both."""
        return first + second


def auc_between(space: PartitionedRows, w: np.ndarray) -> tuple[float, float]:
    """Return bounds of the AUC of the weights `w`: the AUC itself, twice, where rows are few.

    A tie counts one half. Of more rows than `FETCHED_ROWS` the pairs of one step of the grid may be
    in any order.
    """
    if space.n > FETCHED_ROWS:
        return counted_scores(space, w).auc_range()
    found = space.run(ScoresTask(space.offset, w))
    scores, positive = (np.concatenate([part[k] for part in found]) for k in (0, 1))
    weights = [part.weight for part in found if part.weight is not None]
    share = auc(scores, positive, np.concatenate(weights) if weights else None)
    return share, share
