"""Evaluations over blocks of rows: two passes each, and nothing of the size of a column kept."""

from __future__ import annotations

from copy import copy

import numpy as np

from ...problem.problem import Problem
from ...spaces.blocks import Pull, StreamedRows
from ...spaces.rows import Rows
from ...sums.binned import Histogram, Marginals, half_width
from ...tools.rounding import UNIT, gamma
from ..evaluation import Evaluation, Evaluator, Line
from ..notes import note
from .passes import Passes

SKIPPED = 16  # The first guess of the range of scores uses one row in sixteen.


def assembled(
    w: np.ndarray, histogram: Histogram, closed: Marginals, half: int, into: Pull, slip: float
) -> Evaluation:
    """Return the evaluation that a closed histogram and its pull make."""
    mass = closed.mass
    total, loss = closed.total / mass, closed.value / mass
    error = into.error + closed.slip * into.size
    return Evaluation(
        w,
        loss,
        total,
        into.value,
        closed.value_rounding / mass + 2 * slip + gamma(8) * loss,
        (closed.slip + gamma(16)) * total,
        error + UNIT * float(np.linalg.norm(into.value)),
        2 * half / histogram.bins,
        histogram.bins,
        half,
        closed.excess / mass * (1 + gamma(4)),
    )


class Streamed:
    """Evaluations over blocks of rows: two passes, and nothing kept but two histograms."""

    def __init__(self, problem: Problem, bins: int):
        assert isinstance(problem.space, StreamedRows | Rows)
        self.problem, self.space, self.bins = problem, problem.space, bins
        self.passes = Passes(problem)

    def rebinned(self, bins: int) -> Streamed:
        """Return the evaluator of so many bins, which shares what this one knows of the rows."""
        other = copy(self)
        other.bins = bins
        return other

    def at(self, w: np.ndarray, width: float) -> Evaluation:
        """Return the evaluation at `w`."""
        return self.with_bins(w, self.bins, half_width(width, self.bins))

    def line(self, start: Evaluation, p: np.ndarray, width: float) -> Line:
        """Return the line from `start.w` along `p`; every trial is an evaluation."""
        return FullLine(self, start.w, p, width)

    def with_bins(self, w: np.ndarray, bins: int, half: int) -> Evaluation:
        """Return the evaluation at `w` for a given grid."""
        histogram = self._filled(w, bins, half)
        closed = histogram.close(half, self.passes.whole)
        into = self.passes.pulled(w, histogram, closed)
        found = assembled(w, histogram, closed, half, into, self.space.score_slip(w))
        return note(self.problem, found)

    def _filled(self, w: np.ndarray, bins: int, half: int) -> Histogram:
        """Return the histogram of all rows; a correctly guessed range saves a pass."""
        for skipped in (SKIPPED, 1):  # a few blocks may contain only one class
            if self.passes.guess is None:
                found = self.passes.extent(w, skipped)
                self.passes.guess = found.widened(0.3) if np.isfinite(found.ends).all() else None
        assert self.passes.guess is not None
        while True:
            histogram = self.passes.counted(w, Histogram(self.passes.guess, bins, half))
            self.passes.guess = histogram.seen.widened(0.02)
            if histogram.fits:
                return histogram


class FullLine:
    """A line each of whose points takes an evaluation."""

    def __init__(self, evaluator: Evaluator, w: np.ndarray, p: np.ndarray, width: float):
        self.evaluator, self.w, self.p, self.width = evaluator, w, p, width
        self.last: tuple[float, Evaluation] | None = None

    def slope(self, t: float) -> float:
        """Return the derivative at t."""
        found = self.evaluator.at(self.w + t * self.p, self.width)
        self.last = t, found
        return float(self.p @ (self.evaluator.problem.lam * found.w - found.pull))

    def at(self, t: float) -> Evaluation:
        """Return the evaluation at t."""
        if self.last is None or self.last[0] != t:
            self.slope(t)
        assert self.last is not None
        return self.last[1]
