"""The forms of the sums behind `Evaluation`: sorted or binned in memory, binned over blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from ..errors import InputError
from ..losses.registry import SQUARED_HINGE
from ..pairs.all_pairs import AllPairs
from ..problem.problem import Problem
from ..spaces.rows import Rows
from ..spaces.streamed import Pull, StreamedRows
from ..sums.assembled import PairSums
from ..sums.binned import Extent, Histogram
from ..sums.pair_sums_binned import half_width, whole_numbers
from ..tools.rounding import UNIT, gamma
from .blocks.squared import SquaredInBlocks
from .evaluation import Evaluation, Line

SKIPPED = 16
"""The first guess of the range of scores uses every sixteenth block of rows."""


class InMemory:
    """Evaluations through scores that are held: sorted sums, or bins.

    Parameters
    ----------
    problem : Problem
        Hinge, over `Rows`.
    bins : int
        Bins a unit, a power of two; 0 for sorted sums.
    """

    def __init__(self, problem: Problem, bins: int = 0):
        assert isinstance(problem.space, Rows)
        self.space, self.bins = problem.space, bins
        if isinstance(problem.pairs, AllPairs):
            form = "binned" if bins else problem.pairs.form
            problem = problem.with_pairs(replace(problem.pairs, form=form, bins=bins or 1))
        self.problem = problem
        self._known: tuple[np.ndarray, np.ndarray] | None = None

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return the scores of `w`, remembered from the last call."""
        if self._known is None or self._known[0] is not w:
            self._known = w, self.space.scores(w)
        return self._known[1]

    def at(self, w: np.ndarray, width: float) -> Evaluation:
        """Return the evaluation at `w`."""
        scores = self.scores(w)
        return self._evaluation(w, self.problem.sums(scores, width), width)

    def _evaluation(self, w: np.ndarray, sums: PairSums, width: float) -> Evaluation:
        half = half_width(width, self.bins)
        width = 2 * half / self.bins if self.bins else width
        slip = 2 * self.space.score_slip(w)
        error = self.space.pull_error(sums.c) + self.space.reach * sums.rounding
        return Evaluation(
            w,
            sums.value,
            sums.conjugate,
            self.space.pull(sums.c),
            sums.value_rounding + slip,
            sums.conjugate_rounding,
            error,
            width,
            self.bins,
            half,
        )

    def line(self, start: Evaluation, p: np.ndarray, width: float) -> Line:
        """Return the line from `start.w` along `p`, searched in score space."""
        return _ScoreLine(self, start.w, p, width)


class _ScoreLine:
    def __init__(self, evaluator: InMemory, w: np.ndarray, p: np.ndarray, width: float):
        self.evaluator, self.w, self.p, self.width = evaluator, w, p, width
        self.scores, self.shift = evaluator.scores(w), evaluator.space.scores(p)
        self.inner, self.norm2 = float(w @ p), float(p @ p)
        self.last: tuple[float, np.ndarray, PairSums] | None = None

    def slope(self, t: float) -> float:
        problem = self.evaluator.problem
        moved = self.scores + t * self.shift
        sums = problem.sums(moved, self.width)
        self.last = t, moved, sums
        return problem.lam * (self.inner + t * self.norm2) - float(sums.c @ self.shift)

    def at(self, t: float) -> Evaluation:
        if self.last is None or self.last[0] != t:
            self.slope(t)
        assert self.last is not None
        _, moved, sums = self.last
        w = self.w + t * self.p
        self.evaluator._known = w, moved
        return self.evaluator._evaluation(w, sums, self.width)


class Streamed:
    """Evaluations over blocks of rows: two passes, and nothing kept but two histograms.

    Parameters
    ----------
    problem : Problem
        Hinge over all pairs, over `StreamedRows`.
    bins : int
        Bins a unit, a power of two.
    """

    def __init__(self, problem: Problem, bins: int):
        assert isinstance(problem.space, StreamedRows) and isinstance(problem.pairs, AllPairs)
        self.problem, self.space, self.bins = problem, problem.space, bins
        self.weight = problem.pairs.weight
        self.whole = whole_numbers(self.weight)
        self._guess: np.ndarray | None = None

    def at(self, w: np.ndarray, width: float) -> Evaluation:
        """Return the evaluation at `w`."""
        return self.with_bins(w, self.bins, half_width(width, self.bins))

    def line(self, start: Evaluation, p: np.ndarray, width: float) -> Line:
        """Return the line from `start.w` along `p`; every trial is an evaluation."""
        return _FullLine(self, start.w, p, width)

    def with_bins(self, w: np.ndarray, bins: int, half: int) -> Evaluation:
        """Return the evaluation at `w` for a given grid."""
        space = self.space
        histogram = self._filled(w, bins, half)
        closed = histogram.close(half, self.whole)
        into = Pull(space.dim)
        for rows, positive, weight in self._blocks():
            block = space.block(rows)
            scores = space.scores_of(block, w)
            space.pull_of(block, histogram.marginals(scores, positive, closed, weight), into)
        mass, slip = closed.mass, space.score_slip(w)
        error = into.error + closed.slip * into.size
        total = closed.total / mass
        return Evaluation(
            w,
            closed.value / mass,
            total,
            into.value,
            closed.value_rounding / mass + 2 * slip + gamma(8) * closed.value / mass,
            (closed.slip + gamma(16)) * total,
            error + UNIT * float(np.linalg.norm(into.value)),
            2 * half / histogram.bins,
            histogram.bins,
            half,
        )

    def _filled(self, w: np.ndarray, bins: int, half: int) -> Histogram:
        """Return the histogram of all rows; a correctly guessed range saves a pass."""
        for skipped in (SKIPPED, 1):  # a few blocks may contain only one class
            if self._guess is None:
                found = Extent()
                for rows, positive, _ in islice(self._blocks(), 0, None, skipped):
                    found.add(self.space.scores_of(self.space.block(rows), w), positive)
                self._guess = found.widened(0.3) if np.isfinite(found.ends).all() else None
        assert self._guess is not None
        while True:
            histogram = Histogram(self._guess, bins, half)
            for rows, positive, weight in self._blocks():
                scores = self.space.scores_of(self.space.block(rows), w)
                histogram.add(scores, positive, weight)
            self._guess = histogram.seen.widened(0.02)
            if histogram.fits:
                return histogram

    def _blocks(self) -> Iterator[tuple[slice, np.ndarray, np.ndarray | None]]:
        for rows in self.space.blocks():
            weight = None if self.weight is None else self.weight[rows]
            yield rows, self.problem.pairs.positive[rows], weight


class _FullLine:
    def __init__(self, evaluator: Streamed, w: np.ndarray, p: np.ndarray, width: float):
        self.evaluator, self.w, self.p, self.width = evaluator, w, p, width
        self.last: tuple[float, Evaluation] | None = None

    def slope(self, t: float) -> float:
        found = self.evaluator.at(self.w + t * self.p, self.width)
        self.last = t, found
        return float(self.p @ (self.evaluator.problem.lam * found.w - found.pull))

    def at(self, t: float) -> Evaluation:
        if self.last is None or self.last[0] != t:
            self.slope(t)
        assert self.last is not None
        return self.last[1]


def binned_at(problem: Problem, w: np.ndarray, bins: int, half: int) -> Evaluation:
    """Return the evaluation at `w` from a given grid of bins, for rows in memory or in blocks.

    Parameters
    ----------
    problem : Problem
        Hinge over all pairs of rows, or squared hinge over all pairs of streamed ones.
    w : array (dim,)
    bins : int
        Bins a unit, a power of two.
    half : int
        Half width of the smoothing in bins.
    """
    if problem.loss == SQUARED_HINGE:
        return SquaredInBlocks(problem).at(w, bins)
    if isinstance(problem.space, StreamedRows):
        return Streamed(problem, bins).with_bins(w, bins, half)
    if not isinstance(problem.space, Rows):
        raise InputError("binned dual points are for rows, not for another space")
    return InMemory(problem, bins).at(w, 2 * half / bins)
