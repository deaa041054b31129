"""One evaluation of a hinge problem at given weights: loss, marginals' mass and pull, in any form.

Three forms of the pair sums, one interface: sorted (`problem.sums`, in memory) and binned in
memory, both here, and binned over blocks of rows (`blocks/`, `partitioned/`).

A smoothed evaluation at width delta has alpha = clip(z / delta + 1/2, 0, 1). With g its pull the
smoothed objective has gradient lam w - g, and the gap splits into

    primal - dual = bias + |lam w - g|^2 / (2 lam),   bias = mean of max(0, z) - alpha z >= 0.

An evaluation over blocks of rows is not made again for the certificate of that very point. It
comes with bounds of all its roundings, and is a function of the rows, the labels, the
weights w and the grid alone. The evaluators of this room write down each one that they make, as a
copy, under the bytes of w. What a solver does with the evaluation that it was handed changes
nothing here, and what a solver claims about a point is never looked at. The same holds for the last
sums over pairs that `sums_at` made in memory, under the scores themselves. See
`docs/decisions/0011-notes-of-evaluations.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..pairs.all_pairs import AllPairs
from ..problem.problem import Problem
from ..spaces.rows import Rows
from ..sums.assembled import PairSums
from ..sums.binned import half_width
from ..tools.rounding import gamma


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What one evaluation at the weights `w` tells.

    Attributes
    ----------
    w : array (dim,)
    loss : float
        Mean loss; from bins an upper bound.
    total : float
        The mean of dual(alpha): for the hinge, of alpha.
    pull : array (dim,)
        g = sum_ij c_ij alpha_ij (x_i - x_j).
    loss_rounding, total_rounding, pull_error : float
        Bounds of their rounding; that of `pull` in the Euclidean norm.
    width : float
        Smoothing actually used, in units of score.
    bins, half : int
        Bins a unit and half width in bins; 0 bins where the sums are sorted.
    """

    w: np.ndarray
    loss: float
    total: float
    pull: np.ndarray
    loss_rounding: float
    total_rounding: float
    pull_error: float
    width: float
    bins: int = 0
    half: int = 0

    @property
    def bias(self) -> float:
        """The cost of smoothing: the mean of max(0, z) - alpha z, >= 0 up to rounding."""
        return max(self.loss - self.total + float(self.w @ self.pull), 0.0)

    def primal(self, lam: float) -> float:
        """Return F(w)."""
        return self.loss + lam / 2 * float(self.w @ self.w)

    def primal_rounding(self, lam: float) -> float:
        """Return a bound of the rounding in `primal`."""
        size = float(self.w @ self.w)
        sums = gamma(self.w.size + 8) * (lam * size + abs(self.loss))
        return (self.loss_rounding + sums) * (1 + gamma(8))

    def scale(self, lam: float) -> float:
        """Return the best factor in [0, 1] by which to shrink alpha."""
        norm2 = float(self.pull @ self.pull)
        return min(1.0, lam * self.total / norm2) if norm2 > 0 else 1.0

    def dual(self, lam: float, scale: float = 1.0) -> float:
        """Return the lower bound that scale * alpha proves."""
        return scale * self.total - scale**2 * float(self.pull @ self.pull) / (2 * lam)

    def dual_rounding(self, lam: float, scale: float = 1.0) -> float:
        """Return a bound of the rounding in `dual`."""
        norm, error = float(np.linalg.norm(self.pull)), self.pull_error
        square = error * (2 * norm + error) + gamma(self.w.size + 8) * norm**2
        size = scale * self.total + scale**2 * norm**2 / (2 * lam)
        rounding = scale * self.total_rounding + scale**2 * square / (2 * lam) + gamma(8) * size
        return rounding * (1 + gamma(16))


class Line(Protocol):
    """The smoothed objective along w + t p."""

    def slope(self, t: float) -> float:
        """Return its derivative at t."""
        ...

    def at(self, t: float) -> Evaluation:
        """Return the evaluation at t."""
        ...


class Evaluator(Protocol):
    """A problem's evaluations in one form of the sums."""

    problem: Problem

    def at(self, w: np.ndarray, width: float) -> Evaluation:
        """Return the evaluation at `w`, smoothed by about `width`."""
        ...

    def line(self, start: Evaluation, p: np.ndarray, width: float) -> Line:
        """Return the line from `start.w` along `p`."""
        ...


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

    def knows(self, w: np.ndarray) -> bool:
        """Return whether `w` is the very array whose scores were used last."""
        return self._known is not None and self._known[0] is w

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
        half = half_width(width, self.bins) if self.bins else 0
        width = 2 * half / self.bins if self.bins else width
        # The hinge has slope one, and both scores of a pair may be off.
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
        # Whoever evaluates at this very array next needs no product with the data.
        self.evaluator._known = w, moved
        return self.evaluator._evaluation(w, sums, self.width)


@dataclass(frozen=True, eq=False)
class Note:
    """An evaluation and its origin; `point` holds the bytes of its w."""

    problem: Problem
    point: bytes
    found: Evaluation


@dataclass(frozen=True, eq=False)
class SumsNote:
    """Sums over pairs, and the very problem, scores and width that they are of.

    `point` holds the bytes of w where the scores were made of it here.
    """

    problem: Problem
    scores: np.ndarray
    width: float
    sums: PairSums
    point: bytes | None = None


_NOTES: ContextVar[list[Note] | None] = ContextVar("notes", default=None)
_LAST_SUMS: ContextVar[list[SumsNote] | None] = ContextVar("last sums", default=None)


@contextmanager
def noting() -> Iterator[None]:
    """Within this block evaluations are noted; they are discarded at its end."""
    token, last = _NOTES.set([]), _LAST_SUMS.set([])
    try:
        yield
    finally:
        _NOTES.reset(token)
        _LAST_SUMS.reset(last)


def within_a_solve() -> bool:
    """Whether evaluations are written down just now."""
    return _NOTES.get() is not None


def note(problem: Problem, found: Evaluation) -> Evaluation:
    """Write down a copy of an evaluation that was just made, and return it."""
    notes = _NOTES.get()
    if notes is not None:
        copy = replace(found, w=_fixed(found.w), pull=_fixed(found.pull))
        notes.append(Note(problem, copy.w.tobytes(), copy))
    return found


def noted(problem: Problem, w: np.ndarray, bins: int, half: int | None = None) -> Evaluation | None:
    """Return the evaluation at `w` on grids of `bins`, or None if there is none.

    Parameters
    ----------
    problem : Problem
        The very object.
    w : array (dim,)
    bins : int
        Bins a unit.
    half : int, optional
        Half width of the smoothing; if None any will do, as for the value of the loss.
    """
    point = np.asarray(w, dtype=float).tobytes()
    for one in _NOTES.get() or ():
        # By the bytes of w, not by its value: -0.0 and 0.0 count as two points.
        same = one.problem is problem and one.point == point and one.found.bins == bins
        if same and half in (None, one.found.half):
            return one.found
    return None


def sums_at(problem: Problem, scores: np.ndarray, width: float) -> PairSums:
    """Return the risk's sums at `scores` (n,), and note them, the last ones alone, read-only."""
    notes = _LAST_SUMS.get()
    if notes is None:
        return problem.risk.sums(scores, width)
    return _sums_noted(problem, _fixed(scores), width, notes, None)


def sums_of(problem: Problem, w: np.ndarray, width: float) -> tuple[np.ndarray, PairSums]:
    """Return the scores (n,) of `w` and what `sums_at` does; both are read-only."""
    scores, notes = problem.space.scores(w), _LAST_SUMS.get()
    if notes is None:
        return scores, problem.risk.sums(scores, width)
    scores.flags.writeable = False
    return scores, _sums_noted(problem, scores, width, notes, w.tobytes())


def _sums_noted(
    problem: Problem, scores: np.ndarray, width: float, notes: list[SumsNote], point: bytes | None
) -> PairSums:
    notes.clear()  # what overflows leaves none
    found = problem.risk.sums(scores, width)
    found.c.flags.writeable = False
    notes.append(SumsNote(problem, scores, width, found, point))
    return found


def noted_scores(problem: Problem, w: np.ndarray) -> np.ndarray | None:
    """Return the scores of `w` if the last sums were made of that very point, or None."""
    point = np.asarray(w, dtype=float).tobytes()
    for last in _LAST_SUMS.get() or ():
        if last.problem is problem and last.point == point:
            return last.scores
    return None


def noted_sums(problem: Problem, scores: np.ndarray, width: float) -> PairSums | None:
    """Return the sums at `scores` if they were the last made of this very problem, or None."""
    for last in _LAST_SUMS.get() or ():
        same = last.problem is problem and last.width == width
        if same and np.array_equal(last.scores, scores):
            return last.sums
    return None


def _fixed(values: np.ndarray) -> np.ndarray:
    copy = np.array(values, dtype=float)
    copy.flags.writeable = False
    return copy
