"""Where the time goes: a solve at n = 1e4, and the two re-checks of a certificate at n = 1e6.

Own time of each function, as a share of the whole, from Python's profiler: it charges every call
a little, so short functions look dearer than they are. Run it with

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m aucert.validation.benchmarks.exact.profile
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ....exact.api.solve import solve
from ....exact.certificate.certificate import Certificate
from ....exact.certificate.witness import Witness
from ....exact.problem.problem import linear_problem
from .scale_data import best_of, plane
from .timing import yardstick

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


def show(title: str, function: Callable[[], object], unit: float, repeats: int, rows: int) -> None:
    """Print one table: its title with the time in units, and the dearest functions."""
    seconds = best_of(function, 1 + repeats)
    print(f"{title}: {1e3 * seconds:.1f} ms, {seconds / unit:.3g} x\n")
    print(f"{'function':<58} {'calls':>7} {'share':>7}")
    found = parts(function, repeats)
    for part in found[:rows]:
        print(f"{part.name[:58]:<58} {part.calls:7.4g} {part.share:7.1%}")
    rest = sum(part.share for part in found[rows:])
    print(f"{'all others':<58} {'':>7} {rest:7.1%}\n", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="where the time goes")
    parser.add_argument("--lam", type=float, default=1e-3)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rows", type=int, default=14, help="functions to show")
    parser.add_argument("--shrink", type=int, default=1, help="divide every size, for a trial")
    options = parser.parse_args(arguments)
    lam, repeats, rows = options.lam, options.repeats, options.rows
    print("x = one X@w + one argsort + one X'g at the same size\n")
    X, y = plane(10**4 // options.shrink)
    unit = best_of(yardstick(X, np.ones(2)), 20)
    show(f"solve to 1e-9, n = {len(y)}", lambda: solve(X, y, lam), unit, 4 * repeats, rows)
    A, b = plane(10**6 // options.shrink)
    unit = best_of(yardstick(A, np.ones(2)), 3 + repeats)
    problem, w = linear_problem(A, b, lam), solve(A, b, lam).w
    own = problem.space.scores(w)
    grid = 1 << int(np.ceil(np.log2(2 / WIDTH)))
    witnesses = {
        "sorted": Witness.from_scores(problem, own, WIDTH),
        "binned": Witness.from_weights(problem, w, grid, 1),
    }
    for form, witness in witnesses.items():
        check = lambda witness=witness: Certificate.of(problem, w, witness)  # noqa: E731
        show(f"re-check {form}, n = {len(b)}", check, unit, repeats, rows)


if __name__ == "__main__":
    main()
