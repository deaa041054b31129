"""Seconds to an excess of 1e-3, 1e-6 and 1e-9, everybody judged by our proved lower bound.

The excess of weights w is F(w) / p - 1, F over all pairs and p the lower bound that our certificate
proves: nobody's own word is taken, ours neither, whose rows say when the proof was there.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ....exact.api.solve import solve
from ....exact.problem.problem import linear_problem
from ...extremes import min
from ..harness import Table
from ..measuring.timing import best_cpu, timed
from .cases import Case, Effort, cases
from .rivals import RIVALS, NotRun, Rival, Task
from .sheets import Row, Rows, Sheet

TOLERANCES = (1e-3, 1e-6, 1e-9)

OURS = "aucert, proved"

FINEST = 1e-11
"""Relative gap to which the lower bound is made."""

SHORT = 0.02
"""Seconds below which a run is repeated until it has lasted so long."""

LONG = 1.0
"""Seconds from which a peer's run is made once."""

T = TypeVar("T")


def sheet() -> Sheet:
    """Return the table without rows."""
    return Sheet(
        "peers",
        Table(
            "CPU seconds, one thread, until F is within 1e-3, 1e-6, 1e-9 of the proved lower bound",
            *("data:<22", "loss:<14", "lam:6.0e", "who:<28", "1e-3:8.2g", "1e-6:8.2g"),
            *("1e-9:8.2g", "excess:8.0e", "note:"),
        ),
    )


def rows(effort: Effort) -> Rows:
    """Yield the rows of the table."""
    for case in cases():
        X, y, _, _ = case.split(effort)
        for loss in case.losses:
            yield from raced(case, X, y, loss, effort)


def raced(case: Case, X: Any, y: np.ndarray, loss: str, effort: Effort) -> Rows:
    """Yield our row and those of the peers on one objective."""
    head = (case.called(effort), loss, case.lam)
    problem = linear_problem(X, y, case.lam, loss)
    limit = 3 * effort.longest
    best = solve(X, y, case.lam, loss=loss, tol=FINEST, n_jobs=1, max_time=limit).certificate
    lower = best.dual
    yield (*head, *ours(X, y, case.lam, loss, effort))
    for rival in RIVALS:
        if loss in rival.losses:
            yield (*head, *judged(rival, Task(X, y, problem), lower, effort))


def clocked(function: Callable[[], T], repeats: int) -> tuple[T, float]:
    """Return what a function returns and its CPU seconds, the better of `repeats` runs."""
    found, seconds = timed(function, repeats)
    if seconds < SHORT and repeats > 1:
        seconds = min(seconds, best_cpu(function, repeats, SHORT))
    return found, seconds


def ours(X: Any, y: np.ndarray, lam: float, loss: str, effort: Effort) -> Row:
    """Return what `solve` takes from the data to the certificate, by tolerance."""
    seconds: list[float | None] = []
    proved, note = np.inf, ""
    for tol in TOLERANCES:
        call = partial(solve, X, y, lam, loss=loss, tol=tol, n_jobs=1)
        found, spent = clocked(call, effort.repeats)
        held = found.certificate
        seconds.append(spent if held.reaches(tol) else None)
        proved, note = held.gap / held.primal, found.method
    return OURS, *seconds, proved, note


def judged(rival: Rival, task: Task, lower: float, effort: Effort) -> Row:
    """Return when a rival's points were within each tolerance, and the least excess."""
    points: list[tuple[float, float]] = []
    note = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the excess says more than their warnings
            for seconds, excess in _points(rival, task, lower, effort):
                points.append((seconds, excess))
                if excess <= TOLERANCES[-1]:
                    break
    except NotRun as reason:
        note = str(reason) if not points else ""
    reached = [
        min([seconds for seconds, excess in points if excess <= tol], default=None)
        for tol in TOLERANCES
    ]
    return rival.name, *reached, min([e for _, e in points], default=None), note


def _points(
    rival: Rival, task: Task, lower: float, effort: Effort
) -> Iterator[tuple[float, float]]:
    """Yield CPU seconds and excess of the points of a rival's runs."""
    F = task.problem.objective
    for run in rival.runs(task):
        start = time.process_time()
        found, spent = run(), time.process_time() - start
        if effort.repeats > 1 and spent < LONG:
            found, again = clocked(run, effort.repeats)
            spent = min(spent, again)
        if isinstance(found, list):
            yield from ((seconds, F(w) / lower - 1) for seconds, w in found)
        else:
            yield spent, F(found) / lower - 1
        if spent > effort.longest:
            return
