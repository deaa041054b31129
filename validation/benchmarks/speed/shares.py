"""What a solve spends its time on: reading in, products, sums, Hessians, windows, the proof.

Each stage is a few functions of the library, watched while a solve runs. A stage that is called by
another one counts for that: the sums of the certificate are part of the proof.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from ....exact.api import solve as solving
from ....exact.certificate.blocks.kept import Kept
from ....exact.certificate.blocks.passes import Passes
from ....exact.certificate.solution import Recorder
from ....exact.curvature import curvature, newton_equation
from ....exact.problem.risk import Mean
from ....exact.solvers import newton
from ....exact.solvers.active_pairs import ActivePairs
from ....exact.solvers.smoothing.levels import Levels
from ....exact.spaces.rows import Rows as HeldRows
from ..harness import Table
from ..problems.scale_data import plane
from .cases import Effort, cases
from .race import clocked
from .sheets import Rows, Sheet

STAGES: dict[str, tuple[tuple[object, str], ...]] = {
    "reading in": ((solving, "formulate"), (solving, "streamed_problem")),
    "products": ((HeldRows, "scores"), (HeldRows, "pull"), (Kept, "products")),
    "sums": (
        (Mean, "sums"),
        (curvature.MergedCurvature, "__init__"),
        (Passes, "extent"),
        (Passes, "counted"),
        (Passes, "pulled"),
        (Kept, "closed"),
        (Kept, "evaluated"),
    ),
    "Hessians": ((Levels, "hessian"), (newton, "hessian"), (newton_equation.Conditioning, "step")),
    "windows": ((ActivePairs, "run"),),
    "proof": ((Recorder, "finish"),),
}
"""The functions of each stage, as owner and name."""

LARGE = 1_000_000
"""Rows of the problem that is read in blocks."""

SHORT, AGAIN = 0.1, 9
"""What takes less than the first number of seconds is watched so often; the best run counts."""


def sheet() -> Sheet:
    """Return the table without rows."""
    columns = [f"{stage}:11.0%" for stage in STAGES]
    return Sheet(
        "shares",
        Table(
            "what a solve spends its time on, one thread; evaluations are calls of the sums",
            *("data:<18", "loss:<14", "tol:6.0e", "s:9.3g", "evaluations:12d"),
            *columns,
            "all else:9.0%",
        ),
    )


def rows(effort: Effort) -> Rows:
    """Yield a row for each problem and tolerance."""
    for case in cases():
        X, y, _, _ = case.split(effort)
        for loss in case.losses:
            yield from _shared(case.called(effort), X, y, case.lam, loss, effort)
    X, y = plane(effort.rows(LARGE))
    yield from _shared(f"{len(y):.0e} x 2", X, y, 1e-3, "hinge", effort)


def _shared(name: str, X: Any, y: np.ndarray, lam: float, loss: str, effort: Effort) -> Rows:
    for tol in (1e-3, 1e-9):
        call = partial(solving.solve, X, y, lam, loss=loss, tol=tol, n_jobs=1)
        _, seconds = clocked(call, effort.repeats)
        runs = [_watched(call) for _ in range(AGAIN if seconds < SHORT else effort.repeats)]
        whole, by_stage, calls = min(runs, key=lambda one: one[0])
        shares = [by_stage.get(stage, 0.0) / whole for stage in STAGES]
        yield name, loss, tol, seconds, calls, *shares, 1.0 - sum(shares)


def _watched(call: Callable[[], object]) -> tuple[float, dict[str, float], int]:
    """Return the CPU seconds of a call, those of each stage, and the calls of the sums."""
    spent: dict[str, float] = {}
    calls = 0

    def counting(stage: str) -> None:
        nonlocal calls
        calls += stage == "sums"

    with watching(spent, counting):
        start = time.process_time()
        call()
        return time.process_time() - start, spent, calls


@contextmanager
def watching(spent: dict[str, float], told: Callable[[str], None]) -> Iterator[None]:
    """Within, `spent` gains the CPU seconds of the outermost stages; `told` hears of each call."""
    inside = False

    def watched(stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(work)
        def timed(*args: Any, **options: Any) -> Any:
            nonlocal inside
            told(stage)
            if inside:
                return work(*args, **options)
            inside, start = True, time.process_time()
            try:
                return work(*args, **options)
            finally:
                inside = False
                spent[stage] = spent.get(stage, 0.0) + time.process_time() - start

        return timed

    with ExitStack() as stack:
        for stage, functions in STAGES.items():
            for owner, name in functions:
                made = watched(stage, getattr(owner, name))
                stack.enter_context(patch.object(owner, name, made))
        yield
