"""Which pairs of rows in partitions the optimum certainly orders as a model near it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...spaces.partitions import Block, PartitionedRows, added_up
from ...tools.rounding import gamma

# Steps of the grid on which bounds are counted; a partition sends four counts for each.
STEPS = 1 << 13

SLACK = 1e-9  # More than what sums of weights round in a share of the pairs.


def score_range(
    scores: np.ndarray, lengths: np.ndarray, radius: float, error: np.ndarray | float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds, (n,) each, of the optimum's scores up to one common constant."""
    if not (np.isfinite(radius) and radius >= 0):
        raise InputError(f"radius must be >= 0 and finite, not {radius!r}")
    reach = (radius * lengths + error) * (1 + gamma(8))
    low = np.asarray(scores - reach, dtype=float)
    high = np.asarray(scores + reach, dtype=float)
    # Each rounds twice, by at most a unit; moving it by two neighbouring floats covers that.
    for _ in range(2):
        low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    return low, high


@dataclass(frozen=True, eq=False)
class OrderTask:
    """Counts rows by the bounds of their scores, rounded outwards to a grid."""

    offset: np.ndarray
    w: np.ndarray
    radius: float
    error: float
    bottom: float
    step: float
    weighted: bool = False

    def run(self, blocks: Iterator[Block], index: int) -> np.ndarray:
        """Return counts by class, low or high end, and step: (2, 2, STEPS + 1)."""
        counts = np.zeros((2, 2, STEPS + 1), dtype=float if self.weighted else np.int64)
        for columns, positive, weight in blocks:
            centred = columns - self.offset[:, None]
            lengths = np.sqrt(np.einsum("ij,ij->j", centred, centred))
            lengths *= 1 + gamma(self.w.size + 8)
            scores = added_up(columns, self.offset, self.w)
            ends = score_range(scores, lengths, self.radius, self.error)
            for k, (end, outwards) in enumerate(zip(ends, (-1, 1), strict=True)):
                # One step further than the quotient says, which may round.
                at = np.floor((end - self.bottom) / self.step) + outwards
                places = np.clip(at, 0, STEPS).astype(np.int64)
                for side in (0, 1):
                    own = positive == bool(side)
                    mass = weight[own] if self.weighted and weight is not None else None
                    counts[side, k] += np.bincount(places[own], mass, minlength=STEPS + 1)
        return counts

    def merge(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the counts of both."""
        first += second
        return first


def order_task(
    space: PartitionedRows, w: np.ndarray, radius: float, slip: float, weighted: bool = False
) -> OrderTask:
    """Return the task for scores of `w`, each known up to its rounding and `slip`."""
    far = space.reach * float(np.linalg.norm(w))
    bottom, top = -far, far
    if space.last_range is not None and np.array_equal(space.last_range[0], w):
        ends = space.last_range[1]
        bottom, top = float(ends.min()), float(ends.max())
    # A radius far beyond the range of the scores must not make the steps of the grid too coarse.
    margin = min(radius * space.reach, top - bottom)
    bottom, top = bottom - margin, top + margin
    step = (top - bottom) / STEPS or 1.0
    error = space.score_slip(w) + slip
    return OrderTask(space.offset, w, radius, error, bottom, step, weighted)


def share_above(counts: np.ndarray, one: int) -> float:
    """Return the share of pairs, by weight, that `surely_above` counts, rounded down."""
    low, high = counts[one, 0].astype(float), counts[1 - one, 1].astype(float)
    whole = float(low.sum()) * float(high.sum())
    low[0] = high[STEPS] = 0.0
    below = np.concatenate([[0.0], np.cumsum(high)[:-1]])
    return max(float(low @ below) / whole - SLACK, 0.0)


def surely_above(counts: np.ndarray, one: int) -> int:
    """Return how many pairs have the row of class `one` surely above that of the other class.

    Its low end counts only where it is in a higher step than the other's high end. What was moved
    to the last steps proves nothing: low ends may have been moved up, high ends down.
    """
    low, high = counts[one, 0].copy(), counts[1 - one, 1].copy()
    low[0] = high[STEPS] = 0
    below = np.concatenate([[0], np.cumsum(high)[:-1]])
    return sum(int(x) * int(y) for x, y in zip(low, below, strict=True) if x)
