"""Smooth losses from counts that were gathered over partitions, by the same convolution.

Scores are rounded down here, not to the nearest bin: theta is in [0, 1) and the moments of its
differences are the same. Rows far beyond all rows of the other class get the last bin, where alpha
is zero or one; what their pairs lose is the tail.
"""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...tools.rounding import UNIT, gamma
from ..binned import LARGEST_BIN
from ..gathered.closed import ClosedLines
from ..gathered.lines import Lines, Ruler
from .bins import LARGEST_GRID, Bins
from .contract import Smooth
from .convolved import mean_sums

# Rows get the last bin from so many bins beyond the reach of a loss on. Flooring moves them by
# less.
BESIDE = 8.0


def smooth_ruler(extent: np.ndarray, bins: int, loss: Smooth) -> Ruler:
    """Return a grid for scores of this range, its bins doubled in width until it is not too
    large."""
    while True:
        K = float(bins)
        reach = loss.reach + BESIDE / K
        plus = np.clip(extent[:2], extent[2] + loss.centre - reach, extent[3] + loss.centre + reach)
        minus = np.clip(extent[2:], plus[0] - loss.centre - reach, plus[1] - loss.centre + reach)
        a, b, shift = np.floor(K * plus), np.floor(K * minus), round(loss.centre * K)
        first = min(b[0], a[0] - shift)
        size = max(b[1], a[1] - shift) - first + 1
        if size <= LARGEST_GRID and K * float(np.abs(extent).max()) < LARGEST_BIN:
            break
        if bins == 1:
            raise InputError("the scores are so far apart that no grid of bins holds them")
        bins //= 2
    limits = np.array([[*b, first], [*a, first + shift]])
    return Ruler(bins, limits, int(size), extent, powers=1, cut=True)


def closed_smooth(ruler: Ruler, found: Lines, whole: bool, loss: Smooth) -> ClosedLines:
    """Return the marginals by bin and the sums over all pairs."""
    chain = found.longest + 8
    slip = 0.0 if whole else gamma(chain)
    K = float(ruler.bins)
    count_b, count_a = np.ascontiguousarray(found.held[..., 0])
    bins = Bins.counted(K, round(loss.centre * K), count_a, count_b, slip)
    mean, (mass_a, mass_b) = mean_sums(bins, loss), bins.masses
    table = np.stack([-mean.sums.v, mean.sums.u])[..., None] / (mass_a * mass_b)
    first, second = (found.theta / np.array([mass_b, mass_a])[:, None]).T
    square = max(float(second.sum() - 2 * first[0] * first[1]), 0.0) / K**2
    along = gamma(2 * (chain + ruler.size) + 24) + 2 * slip
    size = float(second.sum() + 2 * first[0] * first[1]) / K**2
    curved = loss.smoothness / 2
    extra = curved * square + loss.tail(loss.reach)
    return ClosedLines(
        table,
        mean.conjugate,
        mean.conjugate_rounding,
        mean.rounding + 4 * UNIT * 2 * mean.total,
        extra,
        mean.conjugate_rounding + curved * along * size + gamma(8) * extra,
        mean.total,
        extra,
    )
