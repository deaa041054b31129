"""Line searches in score space: no product with the data, one evaluation of the sums a trial."""

from __future__ import annotations

import numpy as np

from .problem import Problem


def best_on_segment(
    problem: Problem,
    w: np.ndarray,
    scores: np.ndarray,
    target: np.ndarray,
    trials: int = 24,
) -> tuple[np.ndarray, float]:
    """Return the best point found on the way from `w` to `target`, and its objective.

    F is convex along the way, so the sign of its slope tells the side: bisection, after a first
    look at the target itself.

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

    best_step, best_value = 0.0, look(0.0)[0]
    low, high, step = 0.0, 1.0, 1.0
    for _ in range(trials):
        value, slope = look(step)
        if value < best_value:
            best_step, best_value = step, value
        if slope > 0:
            high = step
        else:
            low = step
        if low == 1.0 or high - low < 1e-3 * high:
            break
        step = (low + high) / 2
    found = target if best_step == 1.0 else w + best_step * direction
    return found, problem.objective(found)
