"""Where the time goes: a solve at n = 1e4, and the two re-checks of a certificate at n = 1e6.

Own time of each function, as a share of the whole, from Python's profiler: it charges every call
a little, so short functions look dearer than they are.
"""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ....exact.api.solve import solve
from ....exact.certificate.certificate import Certificate
from ....exact.certificate.witness import Witness
from ....exact.problem.problem import linear_problem
from ..harness import Lines, Table, benchmark
from ..measuring.timing import timed, yardstick
from ..problems.scale_data import plane

WIDTH = 1e-4
"""Smoothing of the sorted re-check, as in `scale`."""


@dataclass(frozen=True)
class Part:
    """One function: its name, its calls a run, its own share of the time."""

    name: str
    calls: float
    share: float


def parts(function: Callable[[], object], repeats: int) -> list[Part]:
    """Return the functions that `repeats` calls of `function` spend their time in, dearest first.

    The clock is CPU time.
    """
    function()
    profiler = cProfile.Profile(time.process_time)
    for _ in range(repeats):
        profiler.runcall(function)
    stats = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    whole = sum(entry[2] for entry in stats.values()) or 1.0
    found = [
        Part(_named(key), entry[0] / repeats, entry[2] / whole) for key, entry in stats.items()
    ]
    return sorted(found, key=lambda part: -part.share)


def _named(key: tuple[str, int, str]) -> str:
    """Return module and function, of built-in functions only the latter."""
    file, _, name = key
    return name if file == "~" else f"{Path(file).stem}.{name}"


def table(
    title: str, function: Callable[[], object], unit: float, repeats: int, rows: int
) -> Lines:
    """Yield one table: its title with the time in units, and the dearest functions."""
    seconds = timed(function, 1 + repeats)[1]
    yield Table(
        f"{title}: {1e3 * seconds:.1f} ms, {seconds / unit:.3g} x\n",
        *("function:<58", "calls:7.4g", "share:7.1%"),
    )
    found = parts(function, repeats)
    for part in found[:rows]:
        yield part.name[:58], part.calls, part.share
    yield "all others", None, sum(part.share for part in found[rows:])
    yield ""


@benchmark(rows="functions to show", shrink="divide every size, for a trial")
def main(lam: float = 1e-3, repeats: int = 5, rows: int = 14, shrink: int = 1) -> Lines:
    """Yield the tables."""
    yield "x = one X@w + one argsort + one X'g at the same size\n"
    X, y = plane(10**4 // shrink)
    unit = timed(yardstick(X), 20)[1]
    title = f"solve to 1e-9, n = {len(y)}"
    yield from table(title, lambda: solve(X, y, lam), unit, 4 * repeats, rows)
    A, b = plane(10**6 // shrink)
    unit = timed(yardstick(A), 3 + repeats)[1]
    problem, w = linear_problem(A, b, lam), solve(A, b, lam).w
    own = problem.space.scores(w)
    grid = 1 << int(np.ceil(np.log2(2 / WIDTH)))
    witnesses = {
        "sorted": Witness.from_scores(problem, own, WIDTH),
        "binned": Witness.from_weights(problem, w, grid, 1),
    }
    for form, witness in witnesses.items():
        check = partial(Certificate.of, problem, w, witness)
        yield from table(f"re-check {form}, n = {len(b)}", check, unit, repeats, rows)


if __name__ == "__main__":
    raise SystemExit(main())
