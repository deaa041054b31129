"""The line search of every solver here: the root of a rising slope, loosely.

A test on values stalls in the last digits, where differences of values are rounding; the slope
does not. Loose is enough: minimising exactly along a line costs evaluations and gains nothing.

    try t = 1; then, until the slope is flat enough or the bracket is narrow:
        while no slope is positive: go on to where the secant points, 2 to 10 times as far
        else: try the secant's root, kept away from both ends of the bracket

`best_on_segment` searches between two points whose scores are known, so that a trial costs the sums
over pairs and no product with the data.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .problem import Problem


def root_of_slope(
    slope: Callable[[float], float],
    start: float,
    loose: float = 0.3,
    trials: int = 40,
    *,
    accept: Callable[[float], bool] = lambda t: True,
    limit: float = np.inf,
    narrow: float = 0.0,
    stop: Callable[[], bool] = lambda: False,
) -> float:
    """Return a length t > 0 at which |slope(t)| <= loose * |start|, or the best bracket's end.

    `stop` is asked after each trial: the time may be up, and the length that was tried will do.
    """
    if not start < 0:
        return 0.0
    low, high, t = 0.0, np.inf, 1.0
    at_low, at_high, before = start, np.nan, 0.0
    for _ in range(trials):
        now = slope(t)
        if abs(now) <= loose * abs(start) and accept(t):
            return t
        # An end that stays twice has its slope halved, or secants creep along it (Illinois rule).
        halved = 0.5 if now * before > 0 else 1.0
        if now > 0:
            high, at_high, at_low = t, now, halved * at_low
        else:
            low, at_low, at_high = t, now, halved * at_high
        before = now
        if stop():
            return t
        if low == limit or high - low <= narrow * high < np.inf:
            break
        if high == np.inf:
            # 1.2: an outward trial goes this many times as far as the secant says
            reach = 1.2 * t * start / (start - now) if now > start else np.inf
            # At least twice and at most ten times as far as before: secants can be off.
            t = min(float(np.clip(reach, 2.0 * t, 10.0 * t)), limit)
            continue
        root = low - at_low * (high - low) / (at_high - at_low)
        # 0.05: share of the bracket that a trial keeps from its ends: at a kink a secant is off
        margin = 0.05 * (high - low)
        t = float(np.clip(root, low + margin, high - margin))
    return low if low > 0 else t


def best_on_segment(
    problem: Problem,
    w: np.ndarray,
    scores: np.ndarray,
    target: np.ndarray,
    trials: int = 24,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[np.ndarray, float]:
    """Return the best point found on the way from `w` to `target`, and its objective. F is convex
    along the way, so the sign of its slope tells the side. The target comes first."""
    space, lam = problem.space, problem.lam
    direction, shift = target - w, space.scores(target) - scores
    norm_w, norm_target, norm_shift = (space.norm2(v) for v in (w, target, direction))
    cross = (norm_target - norm_w - norm_shift) / 2
    best_value, best_step = np.inf, 0.0

    def slope(step: float) -> float:
        nonlocal best_value, best_step
        sums = problem.sums(scores + step * shift)
        value = sums.value + lam / 2 * (norm_w + 2 * step * cross + step**2 * norm_shift)
        if value < best_value:
            best_value, best_step = value, step
        return lam * (cross + step * norm_shift) - float(sums.c @ shift)

    first = slope(0.0)
    if not first < 0:
        slope(1.0)  # near the optimum the sign may be rounding
    # Where the first slope is steep, a point that is flat next to it may still be a bad one.
    root_of_slope(
        slope,
        first,
        0.02,
        trials,
        accept=lambda t: t == best_step,
        limit=1.0,
        narrow=1e-3,  # a segment is searched to this share of its slope, or this bracket
        stop=stop,
    )
    found = target if best_step == 1.0 else w + best_step * direction
    return found, problem.objective(found)
