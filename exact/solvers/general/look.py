"""One evaluation of any problem over rows: a slope, and a bound on either side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...certificate.notes import sums_of
from ...certificate.solution import Recorder
from ...errors import OverflowingError
from ...problem.minorant import Minorant
from ...problem.problem import Problem
from ...sums.assembled import PairSums

FURTHER = 0.5  # Share of the tolerance to reach: the rest is left for the certificate's rounding.


@dataclass(frozen=True, eq=False)
class Look:
    """What one evaluation at `w` tells: the pull of the slopes, and both bounds.

    Where the loss overflows `primal` is infinite, and nothing else is known.
    """

    w: np.ndarray
    pull: np.ndarray
    primal: float
    dual: float
    bias: float

    @property
    def finite(self) -> bool:
        """Whether the loss is within the range of floating point there."""
        return bool(np.isfinite(self.primal))


def look(problem: Problem, recorder: Recorder, w: np.ndarray, width: float) -> Look:
    """Evaluate at `w`, and offer the point and its minorant to the recorder."""
    space, penalty = problem.space, problem.penalty
    try:
        scores, sums = sums_of(problem, w, width)
    except OverflowingError:
        return Look(w, np.zeros_like(w), np.inf, -np.inf, np.inf)
    pull = space.pull(sums.c)
    primal = sums.value + penalty.value(space, w).value
    dual = lower_bound(problem, pull, sums.conjugate)
    # Zero is a bound without any minorant: one that proves less is not worth its risk to overflow.
    recorder.offer(w, primal, lambda: _witness(problem, sums, scores, width), max(dual, 0.0))
    return Look(w, pull, primal, dual, sums.value - sums.conjugate + float(pull @ w))


def offer_zero(problem: Problem, recorder: Recorder) -> None:
    """Start from zero, and offer it: of a mean over pairs no sums are needed there."""
    recorder.w0 = np.zeros(problem.space.dim)
    recorder.offer(recorder.w0, float(np.asarray(problem.loss.value(np.zeros(1)))[0]))


def _witness(problem: Problem, sums: PairSums, scores: np.ndarray, width: float) -> Minorant:
    """Return the minorant at these scores; a certificate makes it more carefully if need be."""
    if hasattr(problem.risk, "careful_sums"):
        return Minorant.of_sums(problem, sums, scores, width, 1.0)
    return Minorant.from_scores(problem, scores, width, 1.0)


def lower_bound(problem: Problem, pull: np.ndarray, value: float) -> float:
    """Return about what a minorant of this pull and value proves, rounding aside."""
    penalty, found = problem.penalty, 0.0
    if penalty.l2 > 0:
        left = penalty.residual(pull)
        found = value - float(left @ left) / (2 * penalty.l2)
    shrink = getattr(penalty, "shrink", None)
    return found if shrink is None else max(found, shrink(pull, 0.0) * value)
