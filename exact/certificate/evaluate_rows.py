"""The forms of the sums behind `Evaluation`: sorted or binned in memory, binned over blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import InputError
from ..losses.registry import HINGE, SQUARED_HINGE
from ..pairs.all_pairs import AllPairs
from ..problem.problem import Problem
from ..spaces.partitions.partitioned_rows import PartitionedRows
from ..spaces.rows import Rows
from ..spaces.streamed import StreamedRows
from ..sums.assembled import PairSums
from ..sums.binned import half_width
from .blocks.kept import Kept
from .blocks.passes import Passes
from .blocks.squared import SquaredInBlocks
from .blocks.streamed import Streamed
from .evaluation import Evaluation, Line, noted
from .partitioned.evaluate import Partitioned
from .partitioned.losses import smooth_over_partitions

__all__ = ["InMemory", "Kept", "Streamed", "binned_at", "blocked", "loss_at"]

FINE = 1 << 14
"""Bins a unit, at least, where the loss of weights that no solver has made is asked for."""

SMOOTH_FINE = 1 << 11
"""The same for a smooth loss over partitions, whose bins are sent: it needs fewer."""


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


def blocked(problem: Problem, bins: int) -> Streamed | Kept | Partitioned:
    """Return the evaluator over blocks, where it keeps the scores of wide rows, or partitions."""
    if isinstance(problem.space, PartitionedRows):
        return Partitioned(problem, bins)
    return Streamed(problem, bins) if Passes.suit(problem.space) else Kept(problem, bins)


def binned_at(problem: Problem, w: np.ndarray, bins: int, half: int) -> Evaluation:
    """Return the evaluation at `w` from a given grid of bins, wherever the rows are.

    Parameters
    ----------
    problem : Problem
        Hinge over all pairs of rows, or squared hinge over all pairs of streamed ones, or any loss
        of ours over all pairs of rows in partitions.
    w : array (dim,)
    bins : int
        Bins a unit, a power of two.
    half : int
        Half width of the smoothing in bins.
    """
    if isinstance(problem.space, PartitionedRows) and problem.loss != HINGE:
        known = noted(problem, w, bins)
        return smooth_over_partitions(problem).at(w, bins) if known is None else known
    if problem.loss == SQUARED_HINGE:
        return SquaredInBlocks(problem).at(w, bins)
    apart = isinstance(problem.space, StreamedRows | PartitionedRows)
    if Passes.suit(problem.space) or apart:
        known = noted(problem, w, bins, half)
        return blocked(problem, bins).with_bins(w, bins, half) if known is None else known
    if not isinstance(problem.space, Rows):
        raise InputError("binned dual points are for rows, not for another space")
    return InMemory(problem, bins).at(w, 2 * half / bins)


def loss_at(problem: Problem, w: np.ndarray, bins: int) -> Evaluation:
    """Return an evaluation at `w` for its loss: any smoothing will do, and a finer grid than given.

    A solver takes a grid no finer than its own point needs. At other points the bound of the loss
    would be too large by far more than its rounding says.
    """
    known = noted(problem, w, bins)
    smooth = isinstance(problem.space, PartitionedRows) and problem.loss != HINGE
    fine = SMOOTH_FINE if smooth else FINE
    return binned_at(problem, w, max(bins, fine), 0) if known is None else known
