"""One evaluation of any problem over rows: a slope, and a bound on either side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...certificate.solution import Recorder
from ...problem.minorant import Minorant
from ...problem.problem import Problem

FURTHER = 0.5
"""Share of the tolerance to reach: the rest is left for the certificate's rounding."""


@dataclass(frozen=True, eq=False)
class Look:
    """What one evaluation at `w` tells: the pull of the slopes, and both bounds."""

    w: np.ndarray
    pull: np.ndarray
    primal: float
    dual: float
    bias: float


def look(problem: Problem, recorder: Recorder, w: np.ndarray, width: float) -> Look:
    """Evaluate at `w`, and offer the point and its minorant to the recorder."""
    space, penalty = problem.space, problem.penalty
    scores = space.scores(w)
    sums = problem.risk.sums(scores, width)
    pull = space.pull(sums.c)
    primal = sums.value + penalty.value(space, w).value
    dual = lower_bound(problem, pull, sums.conjugate)
    recorder.offer(w, primal, lambda: Minorant.from_scores(problem, scores, width, 1.0), dual)
    return Look(w, pull, primal, dual, sums.value - sums.conjugate + float(pull @ w))


def lower_bound(problem: Problem, pull: np.ndarray, value: float) -> float:
    """Return about what a minorant of this pull and value proves, rounding aside."""
    penalty, found = problem.penalty, 0.0
    if penalty.l2 > 0:
        left = penalty.residual(pull)
        found = value - float(left @ left) / (2 * penalty.l2)
    shrink = getattr(penalty, "shrink", None)
    return found if shrink is None else max(found, shrink(pull, 0.0) * value)
