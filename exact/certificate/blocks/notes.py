"""Evaluations made at a point are not made again for the certificate of that very point.

An evaluation comes with bounds of all its roundings, and is a function of the rows, the labels, the
weights w and the grid alone. The evaluators of this room write down each one that they make, as a
copy, under the bytes of w. What a solver does with the evaluation that it was handed changes
nothing here, and what a solver claims about a point is never looked at. See
`docs/decisions/0010-notes-of-evaluations.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np

from ...problem.problem import Problem
from ..evaluation import Evaluation


@dataclass(frozen=True, eq=False)
class Note:
    """An evaluation and what it was made of; `point` holds the bytes of its w."""

    problem: Problem
    point: bytes
    found: Evaluation


_NOTES: ContextVar[list[Note] | None] = ContextVar("notes", default=None)


@contextmanager
def noting() -> Iterator[None]:
    """Within, evaluations are written down; they are forgotten at the end."""
    token = _NOTES.set([])
    try:
        yield
    finally:
        _NOTES.reset(token)


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
        same = one.problem is problem and one.point == point and one.found.bins == bins
        if same and half in (None, one.found.half):
            return one.found
    return None


def _fixed(values: np.ndarray) -> np.ndarray:
    copy = np.array(values, dtype=float)
    copy.flags.writeable = False
    return copy
