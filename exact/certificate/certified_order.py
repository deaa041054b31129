"""Which pairs the optimum certainly orders as a certified model does.

The optimum f* is within `radius` of the model f, so by Cauchy-Schwarz, with any common point m,

    |(f - f*)(x_i) - (f - f*)(x_j)| <= radius |k_i - k_j| <= radius (|k_i - m| + |k_j - m|).

So each score of f* is known up to radius |k_i - m| and one common constant, and one sort counts the
pairs whose order is then certain, without listing pairs. A structured norm is never below the plain
one, so plain lengths serve there too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from ..pairs.all_pairs import PairList
from ..pairs.auc import auc
from ..pairs.ordered.ordered_pairs import OrderedPairs
from ..problem.problem import Problem
from ..spaces.blocks import StreamedRows
from ..spaces.gram import Gram, StreamedGram, chain_of
from ..spaces.groups import GroupedRows
from ..spaces.partitions import PartitionedRows
from ..spaces.rows import Rows, Space
from ..structured import Structured
from ..tools.rounding import UNIT, gamma
from .partitioned.grouped.order import GroupOrderTask, ordered_counts
from .partitioned.order import order_task, score_range, surely_above

GRID = 1 << 16  # Number of steps of the grid on which rows read in blocks are counted.


@dataclass(frozen=True)
class CertifiedOrder:
    """Numbers of pairs whose order at the optimum is certain."""

    n_pairs: int
    n_right: int
    n_wrong: int

    @property
    def n_certified(self) -> int:
        """Pairs that the optimum is sure to order as the model does."""
        return self.n_right + self.n_wrong


def certified_order(
    problem: Problem, w: np.ndarray, radius: float, slip: float = 0.0
) -> CertifiedOrder:
    """Count the pairs whose order at the optimum is certain."""
    if isinstance(problem.space, StreamedRows):
        return _streamed_order(problem, problem.space, w, radius)
    if isinstance(problem.space, GroupedRows):
        space, error = problem.space, problem.space.score_slip(w) + slip
        found = space.run(GroupOrderTask(space.offset, w, radius, error))
        return CertifiedOrder(problem.n_pairs, *found)
    if isinstance(problem.space, PartitionedRows):
        counts = problem.space.run(order_task(problem.space, w, radius, slip))
        return CertifiedOrder(problem.n_pairs, surely_above(counts, 1), surely_above(counts, 0))
    scores, error = problem.space.careful_scores(w)
    low, high = score_range(scores, row_lengths(problem.space), radius, error + slip)
    pairs = problem.pairs
    if isinstance(pairs, PairList):
        right = int(np.count_nonzero(low[pairs.i] > high[pairs.j]))
        wrong = int(np.count_nonzero(high[pairs.i] < low[pairs.j]))
    elif isinstance(pairs, OrderedPairs):
        right, wrong = ordered_counts(pairs, low, high)
    else:
        positive = pairs.positive
        right = count_above(low[positive], high[~positive])
        wrong = count_above(low[~positive], high[positive])
    return CertifiedOrder(problem.n_pairs, right, wrong)


def _streamed_order(
    problem: Problem, space: StreamedRows, w: np.ndarray, radius: float
) -> CertifiedOrder:
    """Count over blocks of rows, with the bounds rounded outwards to a grid of `GRID` steps."""

    def bounds(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        block = space.block(rows)
        centred = block - space.offset
        lengths = np.sqrt(np.einsum("ij,ij->i", centred, centred)) * (1 + gamma(space.dim + 8))
        return score_range(space.scores_of(block, w), lengths, radius, space.score_slip(w))

    ends = [(low.min(), high.max()) for low, high in map(bounds, space.blocks())]
    bottom, top = min(x for x, _ in ends), max(x for _, x in ends)
    step = (top - bottom) / GRID or 1.0
    counts = np.zeros((2, 2, GRID + 3), dtype=np.int64)  # class; low or high; step
    for rows in space.blocks():
        low, high = bounds(rows)
        # One step further than the quotient says, which may round.
        at = (np.floor((low - bottom) / step) - 1, np.ceil((high - bottom) / step) + 1)
        for side in (0, 1):
            own = problem.pairs.positive[rows] == bool(side)
            for end in (0, 1):
                places = np.clip(at[end][own], 0, GRID + 2).astype(np.int64)
                counts[side, end] += np.bincount(places, minlength=GRID + 3)

    def above(one: int, other: int) -> int:
        below = np.concatenate([[0], np.cumsum(counts[other, 1])[:-1]])
        return sum(int(x) * int(y) for x, y in zip(counts[one, 0], below, strict=True) if x)

    return CertifiedOrder(problem.n_pairs, above(1, 0), above(0, 1))


def count_above(low: np.ndarray, high: np.ndarray) -> int:
    """Return the number of (i, j) with low[i] > high[j], by one sort."""
    return int(np.searchsorted(np.sort(high), low, side="left").sum(dtype=np.int64))


def auc_range(
    low: np.ndarray, high: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None
) -> tuple[float, float]:
    """Return bounds of the AUC (ties one half) of all scores between `low` and `high`."""
    worst, best = np.where(positive, low, high), np.where(positive, high, low)
    return auc(worst, positive, weight), auc(best, positive, weight)


def row_lengths(space: Space) -> np.ndarray:
    """Return upper bounds of |k_i - m|, m a point common to all rows, mostly their mean: (n,)."""
    if isinstance(space, Structured):
        return row_lengths(cast(Space, space.base))
    if isinstance(space, Rows):
        return _sparse_lengths(space) if type(space) is Rows and space.is_sparse else space.norms
    if not isinstance(space, Gram | StreamedGram):
        return np.full(space.n, space.reach)
    diagonal = np.diag(space.K) if isinstance(space, Gram) else space.kernel.diagonal(space.X)
    means = space.scores(np.full(space.n, 1 / space.n))
    return kernel_lengths(
        diagonal, means, float(means.mean()), space.n, space.noise * space.reach**2
    )


def kernel_lengths(
    diagonal: np.ndarray, means: np.ndarray, mean: float, n: int, noise: float
) -> np.ndarray:
    """Return upper bounds of |k_x - m| for rows x: (m,).

    |k_x - m|^2 = k(x, x) - 2 mean_i k(x, x_i) + mean_ij k(x_i, x_j), the means over n rows.
    """
    size = diagonal + 2 * np.abs(means) + abs(mean)
    top = float(size.max(initial=0.0))
    slip = (gamma(chain_of(n) + n + 16) + 32 * UNIT) * top + 4.1 * noise
    return np.sqrt(np.maximum(diagonal - 2 * means + mean, 0.0) + slip) * (1 + gamma(4))


def _sparse_lengths(space: Rows) -> np.ndarray:
    """Return |x_i - mean|, from |x_i|^2 - 2 x_i'mean + |mean|^2, with its rounding."""
    matrix, offset = space.raw, space.offset
    squares = np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()  # type: ignore[union-attr]
    cross, square = np.asarray(matrix @ offset).ravel(), float(offset @ offset)
    whole = (np.sqrt(squares) + np.sqrt(square)) ** 2
    slip = gamma(2 * space.dim + 16) * whole
    return np.sqrt(np.maximum(squares - 2 * cross + square, 0.0) + slip) * (1 + gamma(4))
