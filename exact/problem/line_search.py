"""The line search of every solver here: the root of a rising slope, loosely.

A test on values stalls in the last digits, where differences of values are rounding; the slope
does not. Loose is enough: minimising exactly along a line costs evaluations and gains nothing.

    try t = 1; then, until the slope is flat enough or the bracket is narrow:
        while no slope is positive: go on to where the secant points, 2 to 10 times as far
        else: try the secant's root, kept away from both ends of the bracket

`best_share` searches between two functions whose scores are known, so that a trial costs the sums
over pairs and no product with the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import OverflowingError
from ..sums.assembled import PairSums
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


def best_share(
    problem: Problem,
    scores: np.ndarray,
    target: np.ndarray,
    norms: tuple[float, float, float],
    sums: PairSums | None = None,
    loose: float = 0.02,
    trials: int = 24,
    *,
    accept_any: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[float, float, PairSums]:
    """Return the best share of the way between two functions that was tried, F there, and its sums.
    `norms` are |f|^2, <f, d> and |d|^2, d the way. F is convex along it, so the sign of its slope
    tells the side; where the loss overflows it rises. The target comes first."""
    lam, shift, (norm2, cross, length2) = problem.lam, target - scores, norms
    sums = problem.sums(scores) if sums is None else sums
    best = 0.0, float(sums.value + lam / 2 * norm2), sums

    def slope(t: float) -> float:
        nonlocal best
        try:
            now = problem.sums(target if t == 1.0 else scores + t * shift)
        except OverflowingError:
            return np.inf
        value = float(now.value + lam / 2 * max(norm2 + 2 * t * cross + t**2 * length2, 0.0))
        if value < best[1]:
            best = t, value, now
        return lam * (cross + t * length2) - float(now.c @ shift)

    first = lam * cross - float(sums.c @ shift)
    if first < 0:
        # Where the first slope is steep, a point that is flat next to it may still be a bad one.
        accept: Any = (lambda t: True) if accept_any else (lambda t: t == best[0])
        # 1e-3: a segment is searched to this bracket
        limits: Any = {"accept": accept, "limit": 1.0, "narrow": 1e-3, "stop": stop}
        root_of_slope(slope, first, loose, trials, **limits)
    else:
        slope(1.0)  # near the optimum the sign may be rounding
    return best


def best_on_segment(
    problem: Problem,
    w: np.ndarray,
    scores: np.ndarray,
    target: np.ndarray,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[np.ndarray, float]:
    """Return the best point found on the way from `w` to `target`, and its objective."""
    space = problem.space
    norm_w, norm_target, norm_shift = (space.norm2(v) for v in (w, target, target - w))
    norms = norm_w, (norm_target - norm_w - norm_shift) / 2, norm_shift
    share, *_ = best_share(problem, scores, space.scores(target), norms, stop=stop)
    found = target if share == 1.0 else w + share * (target - w)
    return found, problem.objective(found)
