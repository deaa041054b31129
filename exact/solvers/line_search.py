"""The best point on a segment, in score space: a trial costs the sums, no product with the data."""

from __future__ import annotations

import numpy as np

from ..problem.problem import Problem
from ..tools.root_of_slope import root_of_slope

FLAT = 0.02
"""Share of the first slope at which a point on the segment is good enough."""

NARROW = 1e-3
"""The search ends at a bracket of this relative width, because at a kink no slope is ever flat."""


def best_on_segment(
    problem: Problem,
    w: np.ndarray,
    scores: np.ndarray,
    target: np.ndarray,
    trials: int = 24,
) -> tuple[np.ndarray, float]:
    """Return the best point found on the way from `w` to `target`, and its objective.

    F is convex along the way, so the sign of its slope tells the side. The target comes first.

    Parameters
    ----------
    problem : Problem
    w, target : arrays (dim,)
    scores : array (n,)
        The scores of `w`.
    trials : int
        Evaluations at most.
    """
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
    # Where the first slope is steep, a point that is flat beside it may still be a bad one.
    root_of_slope(
        slope,
        first,
        FLAT,
        trials,
        accept=lambda t: t == best_step,
        limit=1.0,
        narrow=NARROW,
    )
    found = target if best_step == 1.0 else w + best_step * direction
    return found, problem.objective(found)
