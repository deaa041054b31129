"""The root of a rising slope, loosely: the line search of every solver here.

A test on values stalls in the last digits, where differences of values are rounding; the slope
does not. Loose is enough: minimising exactly along a line costs evaluations and gains nothing.

    try t = 1; then, until the slope is flat enough or the bracket is narrow:
        while no slope is positive: go on to where the secant points, 2 to 10 times as far
        else: try the secant's root, kept away from both ends of the bracket
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

BEYOND = 1.2
"""An outward trial goes this many times as far as the secant says, to bracket the root at last."""

LEAST_GROWTH, MOST_GROWTH = 2.0, 10.0
"""An outward trial is within these multiples of the one before: secants can be far off."""

MARGIN = 0.05
"""Share of the bracket that a trial keeps from its ends: at a kink a secant tells little."""


def root_of_slope(
    slope: Callable[[float], float],
    start: float,
    loose: float = 0.3,
    trials: int = 40,
    *,
    accept: Callable[[float], bool] = lambda t: True,
    limit: float = np.inf,
    narrow: float = 0.0,
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
    accept : callable
        Whether a t whose slope is flat enough may be returned, for callers that want more.
    limit : float
        Largest t, >= 1; it is the answer where the slope is still negative there.
    narrow : float
        Width of the bracket, relative to its upper end, at which to stop.
    """
    if not start < 0:
        return 0.0
    low, high, t = 0.0, np.inf, 1.0
    at_low, at_high, before = start, np.nan, 0.0
    for _ in range(trials):
        now = slope(t)
        if abs(now) <= loose * abs(start) and accept(t):
            return t
        # An end that stays twice has its slope halved, lest secants creep along it (Illinois rule).
        halved = 0.5 if now * before > 0 else 1.0
        if now > 0:
            high, at_high, at_low = t, now, halved * at_low
        else:
            low, at_low, at_high = t, now, halved * at_high
        before = now
        if low == limit or high - low <= narrow * high < np.inf:
            break
        if high == np.inf:
            reach = BEYOND * t * start / (start - now) if now > start else np.inf
            t = min(float(np.clip(reach, LEAST_GROWTH * t, MOST_GROWTH * t)), limit)
            continue
        root = low - at_low * (high - low) / (at_high - at_low)
        margin = MARGIN * (high - low)
        t = float(np.clip(root, low + margin, high - margin))
    return low if low > 0 else t
