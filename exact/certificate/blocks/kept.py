"""Evaluations over blocks of wide rows: the scores are kept, so that trials on a line read no row.

A score is a small part of a wide row. So an evaluation reads the rows twice, for the scores and for
the pull, and a point on a line only once, for the pull.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from ...problem.problem import Problem
from ...spaces.blocks import Pull, StreamedRows
from ...sums.binned import Extent, Histogram, Marginals, half_width
from ...tools.rounding import UNIT, gamma
from ...tools.threads import in_parts, one_thread, workers
from ..evaluation import Evaluation, Line
from ..notes import note
from .passes import Passes, added
from .streamed import assembled


class Kept:
    """Evaluations over blocks of rows, through scores that are kept."""

    def __init__(self, problem: Problem, bins: int):
        assert isinstance(problem.space, StreamedRows)
        self.problem, self.space, self.bins = problem, problem.space, bins
        self.passes = Passes(problem)
        self._known: tuple[np.ndarray, np.ndarray, float] | None = None

    def rebinned(self, bins: int) -> Kept:
        """Return an evaluator with this many bins; it shares what this one knows of the rows."""
        other = copy(self)
        other.bins = bins
        return other

    def at(self, w: np.ndarray, width: float) -> Evaluation:
        """Return the evaluation at `w`."""
        return self.with_bins(w, self.bins, half_width(width, self.bins))

    def with_bins(self, w: np.ndarray, bins: int, half: int) -> Evaluation:
        """Return the evaluation at `w` for a given grid."""
        scores, slip = self.scores(w)
        return self.evaluated(w, scores, slip, *self.closed(scores, bins, half), half)

    def line(self, start: Evaluation, p: np.ndarray, width: float) -> Line:
        """Return the line from `start.w` along `p`, searched in score space."""
        return _KeptLine(self, start.w, p, width)

    def scores(self, w: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the scores of `w`, remembered from the last point, and a bound of their error."""
        if self._known is None or not np.array_equal(self._known[0], w):
            # A copy, as the caller may write into its w.
            self._known = np.array(w), self.products(w), self.space.score_slip(w)
        return self._known[1:]

    def products(self, w: np.ndarray) -> np.ndarray:
        """Return the scores of `w`: (n,)."""
        out, jobs = np.empty(self.passes.n), workers(self.passes.n * self.passes.dim)

        def work(rows: slice, worker: int) -> None:
            out[rows] = self.space.scores_of(self.space.block(rows), w)

        # The blocks are shared out among threads, so that the linear algebra takes one in each.
        with one_thread():
            in_parts(work, self.passes.slices, jobs)
        return out

    def closed(self, scores: np.ndarray, bins: int, half: int) -> tuple[Histogram, Marginals]:
        """Return the histogram of the scores, and its marginals."""
        positive, weight, extent = self.passes.positive, self.passes.weight, Extent()
        extent.add(scores, positive)
        histogram = Histogram(extent.ends, bins, half)
        histogram.add(scores, positive, weight)
        return histogram, histogram.close(half, self.passes.whole)

    def marginals(self, scores: np.ndarray, histogram: Histogram, closed: Marginals) -> np.ndarray:
        """Return the signed marginals of the rows: (n,)."""
        return histogram.marginals(scores, self.passes.positive, closed, self.passes.weight)

    def evaluated(
        self,
        w: np.ndarray,
        scores: np.ndarray,
        slip: float,
        histogram: Histogram,
        closed: Marginals,
        half: int,
    ) -> Evaluation:
        """Return the evaluation at `w`, whose scores are within `slip` of those given."""
        c = self.marginals(scores, histogram, closed)

        def work(rows: slice, worker: int) -> Pull:
            into = Pull(self.passes.dim)
            self.space.pull_of(self.space.block(rows), c[rows], into, rows)
            return into

        with one_thread():
            jobs = workers(self.passes.n * self.passes.dim)
            into = added(self.passes.dim, in_parts(work, self.passes.slices, jobs))
        return note(self.problem, assembled(w, histogram, closed, half, into, slip))


class _KeptLine:
    def __init__(self, evaluator: Kept, w: np.ndarray, p: np.ndarray, width: float):
        self.evaluator, self.w, self.p = evaluator, w.copy(), p.copy()
        self.half = half_width(width, evaluator.bins)
        self.scores, self.slip = evaluator.scores(w)
        self.shift, self.shift_slip = evaluator.products(p), evaluator.space.score_slip(p)
        self.inner, self.norm2 = float(w @ p), float(p @ p)
        self.last: tuple[float, np.ndarray, Histogram, Marginals] | None = None

    def slope(self, t: float) -> float:
        moved = self.scores + t * self.shift
        histogram, closed = self.evaluator.closed(moved, self.evaluator.bins, self.half)
        self.last = t, moved, histogram, closed
        c = self.evaluator.marginals(moved, histogram, closed)
        lam = self.evaluator.problem.lam
        return lam * (self.inner + t * self.norm2) - float(c @ self.shift)

    def at(self, t: float) -> Evaluation:
        if self.last is None or self.last[0] != t:
            self.slope(t)
        assert self.last is not None
        _, moved, histogram, closed = self.last
        w, slip = self.w + t * self.p, self.moved_slip(t)
        # These scores have gathered more rounding than a product would; their own bound says so.
        self.evaluator._known = w.copy(), moved, slip
        return self.evaluator.evaluated(w, moved, slip, histogram, closed, self.half)

    def moved_slip(self, t: float) -> float:
        """Return a bound of |scores + t shift - (scores of the rounded w + t p)|.

        That of both scores, of the two operations a score, and of the two a weight.
        """
        top = float(np.abs(self.scores).max()) + abs(t) * float(np.abs(self.shift).max())
        size = float(np.linalg.norm(self.w)) + abs(t) * float(np.linalg.norm(self.p))
        rounding = 2 * UNIT * (top + self.evaluator.space.reach * size)
        return (self.slip + abs(t) * self.shift_slip + rounding) * (1 + gamma(self.w.size + 16))
