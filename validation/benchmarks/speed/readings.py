"""What a solve takes in readings of its rows, regime by regime, and how it grows.

R is one blocked reading X'(Xw) of the same rows in the same run, without a sort; of a kernel one
build of its matrix. Whatever a solver does, it reads the rows: R is the floor of every time here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ....exact.api.solve import solve
from ..exact.hard_regimes import build, curved, plain, sparse
from ..harness import Table
from ..measuring.timing import best_cpu, on_the_clock, timed
from ..problems.scale_data import plane, reading
from .cases import Effort
from .race import TOLERANCES, clocked
from .sheets import Row, Rows, Sheet

Draw = Callable[[int], tuple[Any, np.ndarray]]

GAMMA = 0.1

_COLUMNS = ("n:9d", "d:6d", "lam:7.0e", "tol:6.0e", "s:9.3g", "R:9.3g", "times:9.3g", "proved:8.1e")


def roofline() -> Sheet:
    """Return the table of regimes without rows."""
    return Sheet(
        "roofline", Table("solve in readings R, one thread, CPU time", "regime:<22", *_COLUMNS)
    )


def scaling() -> Sheet:
    """Return the table of growth without rows."""
    heading = "one size grows at a time, to a proved gap of 1e-6, one thread, CPU time"
    return Sheet("scaling", Table(heading, "grows:<14", *_COLUMNS))


def threads() -> Sheet:
    """Return the table of threads without rows."""
    heading = "seconds by the clock, to a proved gap of 1e-6, two features, lam = 1e-3"
    return Sheet("threads", Table(heading, "n:9d", "threads:8d", "s:9.3g", "one / these:12.2f"))


def roofline_rows(effort: Effort) -> Rows:
    """Yield the regimes of the roofline, at each tolerance."""
    regimes: tuple[tuple[str, int, Draw, float, dict[str, Any]], ...] = (
        ("two features", 1000, plane, 1e-3, {}),
        ("two features", 100_000, plane, 1e-3, {}),
        ("two features", 1_000_000, plane, 1e-3, {}),
        ("two features", 10_000_000, plane, 1e-3, {}),
        ("squared hinge", 1_000_000, plane, 1e-3, {"loss": "squared_hinge"}),
        ("20 features", 100_000, partial(_plain, 20), 1e-3, {}),
        ("300 features", 10_000, partial(_plain, 300), 1e-2, {}),
        ("300 features", 100_000, partial(_plain, 300), 1e-2, {}),
        ("2000 features", 10_000, partial(_plain, 2000), 1e-2, {}),
        ("sparse, 60 a row", 100_000, _sparse, 1e-4, {}),
        ("Gaussian, full rank", 5000, curved, 1e-3, {"kernel": "rbf", "gamma": GAMMA}),
    )
    for name, n, draw, lam, options in regimes:
        X, y = draw(effort.rows(n))
        unit = _unit(X, options)
        solve(
            X, y, lam, tol=TOLERANCES[-1], n_jobs=1, max_time=effort.longest, **options
        )  # compiles
        for tol in TOLERANCES:
            yield name, *_measured(X, y, lam, tol, unit, effort, options)


def scaling_rows(effort: Effort) -> Rows:
    """Yield how a solve grows with rows, features, a falling lam, and the rows of a kernel."""
    for n in (1000, 10_000, 100_000, 1_000_000, 10_000_000):
        yield "rows, d = 2", *_solved(plane, effort.rows(n), 1e-3, effort)
    for n in (1000, 10_000, 100_000, 1_000_000):
        yield "rows, d = 20", *_solved(partial(_plain, 20), effort.rows(n), 1e-3, effort)
    for d in (2, 10, 50, 100, 300, 1000):
        yield "features", *_solved(partial(_plain, d), effort.rows(10_000), 1e-2, effort)
    for lam in (1.0, 1e-2, 1e-4, 1e-6, 1e-8):
        yield "lam", *_solved(partial(_plain, 20), effort.rows(100_000), lam, effort)
    options = {"kernel": "rbf", "gamma": GAMMA}
    for n in (500, 1000, 2000, 4000, 8000):
        yield "kernel rows", *_solved(curved, effort.rows(n), 1e-3, effort, options)


def threads_rows(effort: Effort) -> Rows:
    """Yield what a second thread saves, by the clock."""
    for n in (100_000, 1_000_000, 10_000_000):
        X, y = plane(effort.rows(n))
        one: float | None = None
        for jobs in (1, 2):
            call = partial(solve, X, y, 1e-3, tol=TOLERANCES[1], n_jobs=jobs)
            _, seconds = on_the_clock(call, max(effort.repeats, 2))
            one = seconds if one is None else one
            yield len(y), jobs, seconds, one / seconds


def _plain(d: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    return plain(n, d)


def _sparse(n: int) -> tuple[Any, np.ndarray]:
    return sparse(n, n // 2)


def _unit(X: Any, options: dict[str, Any]) -> float:
    """Return R, or the time of a kernel's matrix."""
    if options.get("kernel"):
        return timed(lambda: build(X, GAMMA), 2)[1]
    if isinstance(X, np.ndarray):
        return best_cpu(reading(X), 3)
    w = np.ones(X.shape[1])
    return best_cpu(lambda: X.T @ (X @ w), 3)


def _measured(
    X: Any,
    y: np.ndarray,
    lam: float,
    tol: float,
    unit: float,
    effort: Effort,
    options: dict[str, Any],
) -> Row:
    call = partial(solve, X, y, lam, tol=tol, n_jobs=1, max_time=10 * effort.longest, **options)
    found, seconds = clocked(call, effort.repeats)
    held = found.certificate
    proved = held.gap / held.primal
    return (*X.shape, lam, tol, seconds, unit, seconds / unit, proved)


def _solved(
    draw: Draw, n: int, lam: float, effort: Effort, options: dict[str, Any] | None = None
) -> Iterator[Any]:
    X, y = draw(n)
    asked = options or {}
    yield from _measured(X, y, lam, TOLERANCES[1], _unit(X, asked), effort, asked)
