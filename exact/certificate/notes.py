"""Notes of evaluations, so that no certificate makes again what a solver has just made.

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

import numpy as np

from ..problem.problem import Problem
from ..sums.assembled import PairSums
from .evaluation import Evaluation


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
    """Return the evaluation at `w` on grids of `bins`, or None if there is none."""
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
