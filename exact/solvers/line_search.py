"""Line searches in score space: no product with the data, one evaluation of the sums a trial."""

from __future__ import annotations

import numpy as np

from ..problem.problem import Problem


def best_on_segment(
    problem: Problem,
    w: np.ndarray,
    scores: np.ndarray,
    target: np.ndarray,
    trials: int = 24,
) -> tuple[np.ndarray, float]:
    """Return the best point found on the way from `w` to `target`, and its objective.

    F is convex along the way, so the sign of its slope tells the side. The target itself comes
    first; then secants of the slope, kept inside the bracket.

    Parameters
    ----------
    problem : Problem
    w, target : arrays (dim,)
    scores : array (n,)
        The scores of `w`.
    trials : int
        Evaluations at most.
    """
    space = problem.space
    direction = target - w
    shift = space.scores(target) - scores
    norm_w, norm_target = space.norm2(w), space.norm2(target)
    norm_shift = space.norm2(direction)
    cross = (norm_target - norm_w - norm_shift) / 2

    def look(step: float) -> tuple[float, float]:
        sums = problem.sums(scores + step * shift)
        norm2 = norm_w + 2 * step * cross + step**2 * norm_shift
        slope = problem.lam * (cross + step * norm_shift) - float(sums.c @ shift)
        return sums.value + problem.lam / 2 * norm2, slope

    best_step, (best_value, first) = 0.0, look(0.0)
    low, high, step = 0.0, 1.0, 1.0
    at_low, at_high = first, np.inf
    for _ in range(trials):
        value, slope = look(step)
        if value < best_value:
            best_step, best_value = step, value
        # An end that stays has its slope halved, lest secants creep along it (Illinois rule).
        if slope > 0:
            high, at_high, at_low = step, slope, at_low / (2.0 if at_high < np.inf else 1.0)
        else:
            low, at_low, at_high = step, slope, at_high / 2.0
        flat = best_step == step and abs(slope) < 0.02 * abs(first)
        if low == 1.0 or high - low < 1e-3 * high or flat:
            break
        # At a kink the slope is any subgradient, and the secant is then worth no more than this.
        part = at_low / (at_low - at_high) if at_low < 0 else 0.5
        step = low + (high - low) * float(np.clip(part, 0.05, 0.95))
    found = target if best_step == 1.0 else w + best_step * direction
    return found, problem.objective(found)
