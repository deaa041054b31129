"""The binned form of the pair sums, for scores in memory: O(n), no sort.

The value is an upper bound of the mean hinge; the marginals are those of the scores rounded down to
the grid, so they are feasible on any grid.
"""

from __future__ import annotations

import numpy as np

from ..tools.rounding import UNIT, gamma
from .assembled import PairSums
from .binned import Extent, Histogram


def half_width(width: float, bins: int) -> int:
    """Return the smoothing `width` as a half width in bins: at least one, or 0 for none."""
    return max(1, round(width * bins / 2)) if width > 0 else 0


def whole_numbers(weight: np.ndarray | None) -> bool:
    """Whether row weights are whole numbers, so that sums of them are exact."""
    return weight is None or bool(np.all(weight == np.floor(weight)))


def binned_hinge(
    scores: np.ndarray,
    positive: np.ndarray,
    weight: np.ndarray | None,
    width: float,
    bins: int,
) -> PairSums:
    """Return the hinge's sums over all pairs at `scores` (n,), from `bins` bins a unit.

    Parameters
    ----------
    scores : array (n,)
    positive : bool array (n,)
    weight : array (n,) or None
        Row weights; None for one each.
    width : float
        Smoothing of the slope, rounded to an even number of bins.
    bins : int
        A power of two.
    """
    half = half_width(width, bins)
    extent = Extent()
    extent.add(scores, positive)
    histogram = Histogram(extent.ends, bins, half)
    histogram.add(scores, positive, weight)
    closed = histogram.close(half, whole_numbers(weight))
    c = histogram.marginals(scores, positive, closed, weight)
    value, total = closed.value / closed.mass, closed.total / closed.mass
    size = float(np.abs(extent.ends).max())
    value_rounding = closed.value_rounding / closed.mass + gamma(8) * value + 4 * UNIT * size
    total_rounding = (closed.slip + gamma(16)) * total
    return PairSums(value, c, total, total, value_rounding, 2 * total_rounding, total_rounding)
