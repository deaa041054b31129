"""Which pairs the optimum certainly orders as a certified model does; AUC and spread of scores.

The optimum f* is within `radius` of the model f, so that with any common point m

    |(f - f*)(x_i) - (f - f*)(x_j)| <= radius |k_i - k_j| <= radius (|k_i - m| + |k_j - m|):

each score of f* is known up to radius |k_i - m| and one common constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import add
from typing import Any

import numpy as np

from ..errors import InputError, brief
from ..pairs.all_pairs import PairList
from ..pairs.auc import auc
from ..pairs.concordance import concordance, share_between, taken_twice
from ..pairs.ordered_pairs import OrderedPairs
from ..pairs.partitioned_pairs import pairs_here
from ..problem.problem import Problem
from ..spaces.blocks import Block, added_up
from ..spaces.gram import chain_of
from ..spaces.groups import GroupedRows, Whole, whole_partition
from ..spaces.partitions import PartitionedRows
from ..spaces.rows import Space
from ..tools.rounding import UNIT, gamma
from .evaluation import score_ends

ENDS = 1 << 14  # steps of the grid of bounds: four counts are sent for each
STEPS = 1 << 15  # steps of the grid of scores: the AUC is known to about the pairs in one of them
FETCHED_ROWS = 1 << 20  # rows whose scores are fetched for an exact AUC: 9 MB
SLACK = 1e-9  # more than what sums of weights round in a share of the pairs


@dataclass(frozen=True)
class CertifiedOrder:
    """Numbers of pairs whose order at the optimum is certain."""

    n_pairs: int
    n_sure_right: int
    n_sure_wrong: int

    @property
    def n_certified(self) -> int:
        return self.n_sure_right + self.n_sure_wrong


def certified_order(
    problem: Problem, w: np.ndarray, radius: float, slip: float = 0.0
) -> CertifiedOrder:
    """Count the pairs of positive weight whose order at the optimum is certain, each once."""
    space, pairs = problem.space, problem.pairs
    if space.grouped is not None:
        right, wrong = _surely(space.grouped, ordered_counts, w, radius, slip)
    elif space.in_blocks:
        counts = counted_ends(space.labelled(pairs), w, radius, slip)
        right, wrong = surely_above(counts, 1), surely_above(counts, 0)
    else:
        scores, error = space.careful_scores(w)
        low, high = score_range(scores, row_lengths(space), radius, error + slip)
        if isinstance(pairs, PairList):
            i, j = pairs.i[pairs.c > 0], pairs.j[pairs.c > 0]
            right = int(np.count_nonzero(low[i] > high[j]))
            wrong = int(np.count_nonzero(high[i] < low[j]))
        elif isinstance(pairs, OrderedPairs):
            right, wrong = ordered_counts(pairs, low, high)
        else:
            up, used = pairs.positive, pairs.row_mass() > 0
            up, down = up & used, ~up & used
            right, wrong = count_above(low[up], high[down]), count_above(low[down], high[up])
    return CertifiedOrder(problem.n_pairs, right, wrong)


def score_range(
    scores: np.ndarray, lengths: np.ndarray, radius: float, error: np.ndarray | float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds, (n,) each, of the optimum's scores up to one common constant."""
    if not (np.isfinite(radius) and radius >= 0):
        raise InputError(f"radius must be >= 0 and finite, not {brief(radius)}")
    reach = (radius * lengths + error) * (1 + gamma(8))
    low = np.asarray(scores - reach, dtype=float)
    high = np.asarray(scores + reach, dtype=float)
    # Each rounds twice, by at most a unit; moving it by two neighbouring floats covers that.
    for _ in range(2):
        low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    return low, high


def count_above(low: np.ndarray, high: np.ndarray) -> int:
    return int(np.searchsorted(np.sort(high), low, side="left").sum(dtype=np.int64))


def ordered_counts(pairs: OrderedPairs, low: np.ndarray, high: np.ndarray) -> tuple[int, int]:
    """Return the pairs (i, j) with low_i > high_j, and those with high_i < low_j."""
    twice = taken_twice(pairs, pairs.by_row() > 0)
    right = concordance(twice, np.concatenate([low, high])).concordant
    return right, concordance(twice, np.concatenate([high, low])).discordant


def auc_range(
    low: np.ndarray, high: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None
) -> tuple[float, float]:
    """Return bounds of the AUC of all scores between `low` and `high`."""
    worst, best = np.where(positive, low, high), np.where(positive, high, low)
    return auc(worst, positive, weight), auc(best, positive, weight)


def row_lengths(space: Space) -> np.ndarray:
    """Return upper bounds of |k_i - m|, m a point common to all rows, mostly their mean: (n,)."""
    base, n = space.unstructured, space.n
    rows, given, gram = base.held, base.given, base.gram
    if rows is not None and (given is None or not rows.is_sparse):
        return rows.norms
    if rows is not None:  # |x_i - mean|, from |x_i|^2 - 2 x_i'mean + |mean|^2, with its rounding
        matrix, offset = rows.raw, rows.offset
        squares = np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()  # type: ignore[union-attr]
        cross, square = np.asarray(matrix @ offset).ravel(), float(offset @ offset)
        slip = gamma(2 * rows.dim + 16) * (np.sqrt(squares) + np.sqrt(square)) ** 2
        return np.sqrt(np.maximum(squares - 2 * cross + square, 0.0) + slip) * (1 + gamma(4))
    if gram is None:
        return np.full(n, base.reach)
    means, noise = gram.scores(np.full(n, 1 / n)), gram.noise * gram.reach**2
    return kernel_lengths(gram.diagonal(), means, float(means.mean()), n, noise)


def kernel_lengths(
    diagonal: np.ndarray, means: np.ndarray, mean: float, n: int, noise: float
) -> np.ndarray:
    """Return upper bounds of |k_x - m| for rows x, (m,), from k(x, x) and the means of k."""
    size = diagonal + 2 * np.abs(means) + abs(mean)
    top = float(size.max(initial=0.0))
    slip = (gamma(chain_of(n) + n + 16) + 32 * UNIT) * top + 4.1 * noise
    return np.sqrt(np.maximum(diagonal - 2 * means + mean, 0.0) + slip) * (1 + gamma(4))


# Rows in blocks: two classes.


def _ends_at(rows: Any, w: np.ndarray, classes: Any = None) -> np.ndarray:
    """Return the range of each class's scores at `w`: that of the last pass, or of a new one."""
    if rows.last_range is None or not np.array_equal(rows.last_range[0], w):
        rows.last_range = w, score_ends(rows if classes is None else classes, w)
    return rows.last_range[1]


def _by_step(at: np.ndarray, last: int, positive: np.ndarray, mass: Any) -> np.ndarray:
    """Return the rows, or their mass, of each class by the step that they are in: (2, last + 1)."""
    places = np.clip(at, 0, last).astype(np.int64)
    return np.stack([
        np.bincount(places[own], None if mass is None else mass[own], minlength=last + 1)
        for own in (~positive, positive)
    ])  # fmt: skip


def counted_ends(
    rows: Any, w: np.ndarray, radius: float, slip: float = 0.0, weighted: bool = False
) -> np.ndarray:
    """Return the rows of positive weight, or their weight, by class, low or high end of their
    bounds, and step of a grid, rounded outwards: (2, 2, ENDS + 1)."""
    ends = _ends_at(rows, w)
    bottom, top = float(ends.min()), float(ends.max())
    # A radius far beyond the range of the scores must not make the steps of the grid too coarse.
    margin = min(radius * rows.reach, top - bottom)
    bottom, top = bottom - margin, top + margin
    step = (top - bottom) / ENDS or 1.0
    offset, error = rows.offset, rows.score_slip(w) + slip  # tasks are sent: `rows` must not be

    def counted(blocks: Iterator[Block], index: int) -> np.ndarray:
        counts = np.zeros((2, 2, ENDS + 1), dtype=float if weighted else np.int64)
        for columns, positive, weight, *_ in blocks:
            lengths, scores = _lengths(columns, offset), added_up(columns, offset, w)
            ends = score_range(scores, lengths, radius, error)
            for k, (end, outwards) in enumerate(zip(ends, (-1, 1), strict=True)):
                # One step further than the quotient says, which may round.
                at = np.floor((end - bottom) / step) + outwards
                if weighted or weight is None:
                    counts[:, k] += _by_step(at, ENDS, positive, weight)
                else:
                    counts[:, k] += _by_step(at[weight > 0], ENDS, positive[weight > 0], None)
        return counts

    return rows.total(counted, add)


def _lengths(columns: np.ndarray, offset: np.ndarray) -> np.ndarray:
    centred = columns - offset[:, None]
    return np.sqrt(np.einsum("ij,ij->j", centred, centred)) * (1 + gamma(offset.size + 8))


def share_above(counts: np.ndarray, one: int) -> float:
    """Return the share of pairs, by weight, that `surely_above` counts, rounded down."""
    whole = float(counts[one, 0].sum()) * float(counts[1 - one, 1].sum())
    return max(float(surely_above(counts, one)) / whole - SLACK, 0.0)


def surely_above(counts: np.ndarray, one: int) -> Any:
    """Return how many pairs have the row of class `one` surely above the other: its low end in a
    higher step than the other's high end. What was moved to the last steps proves nothing."""
    low, high = counts[one, 0].astype(object), counts[1 - one, 1].astype(object)  # no overflow
    low[0] = high[-1] = 0
    return low[1:] @ np.cumsum(high)[:-1]


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
        slack = 1e-13  # more than these sums of weights can round, relative to one
        low, high = float(plus @ below[:-1]) / whole, float(plus @ below[1:]) / whole
        return max(low - slack, 0.0), min(high + slack, 1.0)

    def as_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        side, step = np.nonzero(self.mass)
        return self.at[step], side == 1, self.mass[side, step]


def counted_scores(rows: PartitionedRows, w: np.ndarray) -> CountedScores:
    """Return how the scores of the weights `w` are spread: a pass over the rows, or two."""
    classes: Any = rows.as_classes()
    ends = _ends_at(rows, w, classes)
    bottom, top = float(ends.min()), float(ends.max())
    step = (top - bottom) / (STEPS - 1) or 1.0  # all scores may be equal
    offset = rows.offset

    def spread(blocks: Iterator[Block], index: int) -> np.ndarray:
        mass = np.zeros((2, STEPS))
        for columns, positive, weight, *_ in blocks:
            at = np.floor((added_up(columns, offset, w) - bottom) / step)
            mass += _by_step(at, STEPS - 1, positive, weight)
        return mass

    at = bottom + step * (np.arange(STEPS) + 0.5) + float(w @ offset)
    return CountedScores(at, classes.total(spread, add))


def auc_of(rows: PartitionedRows, w: np.ndarray) -> float:
    """Return the AUC of weights, of many rows to within the pairs of one step of a fine grid."""
    if rows.grouped is not None:
        return group_concordance(rows.grouped, w)
    if rows.n > FETCHED_ROWS:
        return sum(counted_scores(rows, w).auc_range()) / 2
    offset = rows.offset

    def scored(blocks: Iterator[Block], index: int) -> list[Any]:
        return [(added_up(x, offset, w), up.copy(), weight) for x, up, weight, *_ in blocks]

    found = rows.total(scored, add)
    scores, positive = (np.concatenate([part[k] for part in found]) for k in (0, 1))
    weights = [part[2] for part in found if part[2] is not None]
    return auc(scores, positive, np.concatenate(weights) if weights else None)


def auc_within(rows: PartitionedRows, w: np.ndarray, radius: float) -> tuple[float, float]:
    """Return bounds of the AUC, or concordance, of all weights no farther from `w` than that."""
    if rows.grouped is not None:

        def shares(pairs: OrderedPairs, low: np.ndarray, high: np.ndarray) -> list[float]:
            """What the pairs weigh that are right for all scores within the bounds, or some."""
            return [share * pairs.mass for share in share_between(pairs, low, high)]

        least, most = _surely(rows.grouped, shares, w, radius) / rows.grouped.order.mass
        return max(least - SLACK, 0.0), min(most + SLACK, 1.0)
    counts = counted_ends(rows, w, radius, weighted=rows.facts.weighted)
    return share_above(counts, 1), 1.0 - share_above(counts, 0)


# Rows in blocks: ordered pairs.


def _of_pairs(
    rows: GroupedRows, work: Callable[[OrderedPairs, Whole], Any], none: Any, joined: Any = add
) -> Any:
    """Return the sum of `work(pairs, rows)` over partitions, `none` where one has no pairs."""

    def pairs_work(blocks: Iterator[Any], index: int) -> Any:
        whole = whole_partition(blocks)
        pairs = None if whole is None else pairs_here(whole)
        return none if whole is None or pairs is None else work(pairs, whole)

    return rows.total(pairs_work, joined)


def _surely(
    rows: GroupedRows, counted: Callable[..., Any], w: np.ndarray, radius: float, slip: float = 0.0
) -> np.ndarray:
    """Return the two sums over all groups of what `counted` says of pairs with bounds of scores."""
    offset, error = rows.offset, rows.score_slip(w) + slip

    def bounds(pairs: OrderedPairs, whole: Whole) -> np.ndarray:
        lengths = np.concatenate([_lengths(columns, offset) for columns in whole.columns])
        ends = score_range(whole.scores(offset, w), lengths, radius, error)
        return np.array(counted(pairs, *ends), dtype=object)  # whole numbers of any size

    return _of_pairs(rows, bounds, np.zeros(2, dtype=object))


def group_concordance(rows: GroupedRows, w: np.ndarray) -> float:
    """Return the share of the pairs, by weight, that `w` orders rightly, a tie counting half."""
    offset = rows.offset

    def right(pairs: OrderedPairs, whole: Whole) -> float:
        return concordance(pairs, whole.scores(offset, w)).value * pairs.mass

    return min(_of_pairs(rows, right, 0.0) / rows.order.mass, 1.0)


def paired_range(rows: GroupedRows, w: np.ndarray) -> tuple[float, float]:
    offset = rows.offset

    def reaches(pairs: OrderedPairs, whole: Whole) -> np.ndarray:
        scores = whole.scores(offset, w)[pairs.row_mass() > 0]
        return np.array([-scores.min(), scores.max()])

    least, most = _of_pairs(rows, reaches, np.full(2, -np.inf), np.maximum)
    return -least, most
