"""The squared hinge from moments that were gathered over partitions."""

from __future__ import annotations

import numpy as np

from ..gathered.closed import ClosedLines
from ..gathered.lines import Lines, Ruler
from .moments import Moments


def squared_ruler(extent: np.ndarray, bins: int) -> Ruler:
    """Return the grid of `Moments` for scores of this range."""
    grid = Moments(extent, bins)
    low_a, high_a, first = grid.limits
    size = grid.held.shape[1]
    limits = np.array([[first, first + size - 1, first], [low_a, high_a, first + grid.bins]])
    return Ruler(grid.bins, limits, size, extent, powers=2, cut=False)


def closed_squared(ruler: Ruler, found: Lines, whole: bool) -> ClosedLines:
    """Return the marginals' lines and the sums over all pairs."""
    grid = Moments(ruler.extent, ruler.bins, weighted=found.held.shape[2] > 3)
    grid.held = found.held
    closed = grid.close(found.parts)
    return ClosedLines(
        closed.table,
        closed.conjugate,
        closed.conjugate_rounding,
        closed.c_error,
        closed.value,
        closed.value_rounding,
        excess=closed.excess,
    )
