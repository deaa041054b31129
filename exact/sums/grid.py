"""Marginals of the smoothed hinge without rounding: integer sums of scores on a fine grid.

alpha = clip(z / width + 1/2, 0, 1) is feasible whatever the scores, so the scores may first be
rounded to a grid of width / (2 half). Every sum is then one of whole numbers below 2^63, and the
marginals are exact up to one division. In floating point the same sums lose (range / width) digits.
"""

from __future__ import annotations

import numpy as np

from ..tools.plain.sorted import whole_ramps as plain_ramps
from .assembled import SideSums
from .orders import both_orders
from .sorted_compiled import merged_hinge
from .sorted_compiled import whole_ramps as compiled_ramps

# Least number of rows for the compiled loops: from here on they win (`docs/benchmarks.md`).
COMPILED_FROM = 100

HALF = 1 << 40  # The most grid steps in half a width.


def on_grid(
    t: np.ndarray, b: np.ndarray, width: float
) -> tuple[np.ndarray, np.ndarray, int] | None:
    """Return t and b as whole numbers of steps, and the half width in steps, or None.

    The pair has alpha = clip((B_j - T_i) / (2 half) + 1/2, 0, 1).
    """
    size = max(float(np.abs(t).max()), float(np.abs(b).max())) + width
    half = HALF
    # Sums reach (n_pos + n_neg) * |grid number|; keep them below 2^61, and each number
    # below 2^52, so that it is one float.
    while half >= 1 and size / width * 2 * half * (t.size + b.size + 512) >= 2.0**61:
        half //= 2
    if half < 1:
        return None
    step = 2 * half / width
    T = np.floor(t * step).astype(np.int64)
    B = np.floor(b * step).astype(np.int64)
    return T, B, half


def grid_ramps(
    t: np.ndarray, b: np.ndarray, t_order: np.ndarray, b_order: np.ndarray, width: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the marginals u (n_pos,) and v (n_neg,) of alpha on a grid, or None."""
    numbers = on_grid(t, b, width)
    if numbers is None:
        return None
    T, B, half = numbers
    u, v = np.empty(t.size, dtype=np.int64), np.empty(b.size, dtype=np.int64)
    ramps = compiled_ramps if t.size + b.size >= COMPILED_FROM else plain_ramps
    ramps(T, B, t_order, b_order, half, u, v)
    return u / (2.0 * half), v / (2.0 * half)


def counted_sides(t: np.ndarray, b: np.ndarray, width: float) -> SideSums:
    """Return the hinge's sums over all pairs, for weights of one and width > 0, compiled."""
    t_order, b_order = both_orders(t, b)
    ramps = grid_ramps(t, b, t_order, b_order, width)
    hard = merged_hinge(
        t, b, np.ones(t.size), np.ones(b.size), t_order, b_order, 0.0 if ramps else width
    )
    return SideSums(hard.value, *ramps, True) if ramps else hard
