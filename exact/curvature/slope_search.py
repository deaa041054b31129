"""The root of a rising slope, loosely: the line search of every Newton method here.

A test on values stalls in the last digits, where differences of values are rounding; the slope
does not. Loose is enough: minimising exactly along a line costs evaluations and gains nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def slope_root(
    slope: Callable[[float], float], start: float, loose: float = 0.3, trials: int = 40
) -> float:
    """Return a length t > 0 at which |slope(t)| <= loose * |start|, or the best bracket's end.

    Parameters
    ----------
    slope : callable
        Derivative along the line at t >= 0, rising with t. The last call is at the t returned,
        unless no trial was good enough.
    start : float
        Its value at 0, < 0; for a start >= 0 the answer is 0.
    loose : float
        Share of the slope that may be left.
    trials : int
        Calls at most.
    """
    if not start < 0:
        return 0.0
    low, high, length = 0.0, np.inf, 1.0
    at_low, at_high = start, np.nan
    for _ in range(trials):
        now = slope(length)
        if abs(now) <= loose * abs(start):
            return length
        if now > 0:
            high, at_high = length, now
        else:
            low, at_low = length, now
        if high == np.inf:
            # The secant through 0 tells how far, but never trust it beyond tenfold.
            reach = length * start / (start - now) if now > start else np.inf
            length = float(np.clip(1.2 * reach, 2 * length, 10 * length))
            continue
        root = low - at_low * (high - low) / (at_high - at_low)
        margin = 0.1 * (high - low)
        length = float(np.clip(root, low + margin, high - margin))
    return low if low > 0 else length
