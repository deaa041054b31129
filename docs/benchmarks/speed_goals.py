"""The goals of the page on speed: what is measured, next to its goal and to its rival.

    python docs/benchmarks/peers.py --only rows --page docs/benchmarks.md

CPU seconds of one thread, from the data to the certificate. Where a goal is missed, the row says
which functions take the time.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import common as c
import pair_problems
import scale
from aucert import exact
from aucert.validation.data.real_data import real_data_folder

Call = Callable[[], Any]

LONGEST = 60.0  # seconds after which a solve is given up

LOSSES = ("hinge", "squared_hinge", "logistic")


def solving(X: Any, y: Any, lam: float, tol: float = 1e-6, **asked: Any) -> Call:
    """Return the call that solves with one thread."""
    return partial(exact.solve, X, y, lam, tol=tol, n_jobs=1, max_time=LONGEST, **asked)


def spent(call: Call) -> float:
    """Return the least CPU seconds of a call, infinite where it did not prove what was asked."""
    found, seconds = c.once(call)
    if seconds < 5.0:
        found, seconds = c.timed(call, 3 if seconds < 1.0 else 1)
    solution = getattr(found, "status", None)
    return np.inf if solution not in (None, exact.Status.CERTIFIED) else seconds


def profile(call: Call) -> str:
    """Return the three functions that take most of the time themselves, and their shares."""
    watched, start = cProfile.Profile(), time.process_time()
    while time.process_time() < start + 0.2:
        watched.runcall(call)
    stats: Any = pstats.Stats(watched)
    total = sum(entry[2] for entry in stats.stats.values())
    most = sorted(stats.stats.items(), key=lambda item: -item[1][2])[:3]
    names = (f"{Path(file).stem}.{name.strip('<>')} {entry[2] / total:.0%}"
             for (file, _, name), entry in most)  # fmt: skip
    return ", ".join(name.removeprefix("~.") for name in names)


def row(
    what: str,
    value: float,
    unit: str,
    goal: float,
    calls: tuple[Call, ...] = (),
    above: bool = False,
) -> c.Row:
    """Return one row: `above` where more is better."""
    met = value >= goal if above else value <= goal
    return {"row": what, "measured": float(f"{value:.3g}"), "goal": goal, "unit": unit,
            "met": "yes" if met else "no",
            "most of the time": "" if met else "; ".join(map(profile, calls))}  # fmt: skip


def against(what: str, calls: list[Call], rival: float, name: str, goal: float) -> c.Row:
    """Return the row of the slowest of our calls over what a rival takes."""
    taken = [spent(call) for call in calls]
    worst = calls[int(np.argmax(taken))]
    return row(what, max(taken) / rival, f"x {name}", goal, (worst,))


def of_peers(goals: list[c.Row]) -> Iterator[c.Row]:
    """Yield the rows that the table of peers has already: their rivals are timed there."""
    level = sum(goal["level or ahead"] == "yes" for goal in goals)
    if goals:
        yield row(f"level or ahead of peers, of {len(goals)}", level, "", 30, above=True)
    X, y = c.plane(1000)
    for to, goal in (("1e-3", 1.5), ("1e-6", 1.5), ("1e-9", 2.0)):
        for found in goals:
            if (found["data"], found["loss"], found["to"]) == ("1e3 x 2", "hinge", to):
                ratio = found["ours / theirs"]
                yield row(f"1e3 x 2, hinge, {to}", np.nan if ratio is None else ratio,
                          "x best peer", goal, (solving(X, y, 1e-2, float(to)),))  # fmt: skip


def squared(few: Callable[[int], int], lbfgs: Callable[..., Any]) -> Iterator[c.Row]:
    """Yield the squared hinge next to scipy's L-BFGS on the same sums."""
    for what, X, y in (
        ("1e4 x 20", *c.plain(few(10_000), 20)),
        ("1e4 x 300", *c.plain(few(10_000), 300)),
        ("1e5 x 300", *c.plain(few(100_000), 300)),
        ("sparse 1e5 x 5e4", *c.sparse(few(100_000), few(50_000))),
    ):
        problem = exact.linear_problem(X, y, 1e-2, "squared_hinge")
        lower = exact.solve(X, y, 1e-2, loss="squared_hinge", tol=1e-9).certificate.dual
        theirs = min((seconds for seconds, w in lbfgs(X, y, problem, 2, LONGEST)
                      if problem.objective(w) <= (1 + 1e-6) * lower), default=np.nan)  # fmt: skip
        call = solving(X, y, 1e-2, loss="squared_hinge")
        yield against(f"{what}, squared hinge, 1e-6", [call], theirs, "L-BFGS", 1.1)


def of_logistic_regression(few: Callable[[int], int]) -> Iterator[c.Row]:
    """Yield the rows next to `LogisticRegression().fit` on the same rows."""
    X, y = c.plane(few(1_000_000))
    rival = c.timed(partial(LogisticRegression().fit, X, y), 2)[1]
    for tol, goal in ((1e-6, 0.25), (1e-9, 0.6)):
        calls = [solving(X, y, lam, tol) for lam in (1e-1, 1e-3, 1e-5)]
        yield against(
            f"1e6 x 2, hinge, worst lam, {tol:g}", calls, rival, "LogisticRegression", goal
        )
    for n, d, goals in ((100_000, 20, (1.5, 1.2, 1.0)), (1000, 10, (2.0, 1.5, 5.0))):
        X, y = c.plain(few(n), d)
        rival = c.timed(partial(LogisticRegression().fit, X, y), 3)[1]
        for loss, goal in zip(LOSSES, goals, strict=True):
            call = solving(X, y, 1e-3, loss=loss)
            yield against(f"{n:.0e} x {d}, {loss}, 1e-6".replace("e+0", "e"), [call], rival,
                          "LogisticRegression", goal)  # fmt: skip


def in_seconds(few: Callable[[int], int]) -> Iterator[c.Row]:
    """Yield the rows that are to take so many seconds."""
    for n, d, most in ((100_000, 20, 0.1), (1_000_000, 10, 0.25)):
        call = solving(*c.plain(few(n), d), 1e-3, 1e-9, loss="logistic")
        what = f"{n:.0e} x {d}, logistic, 1e-9".replace("e+0", "e")
        yield row(what, spent(call), "s", most, (call,))
    for (n, p, rows, tol), most in zip(pair_problems.QUERIES[:2], (0.05, 0.03), strict=True):
        X, grade, qid = pair_problems.graded(few(n), p, rows)
        call = solving(X, grade, 1e-3, tol, qid=qid)
        yield row(f"ranking, {n} x {p}, {rows} rows per query", spent(call), "s", most, (call,))
    X, y = pair_problems.labelled(1000, 10, 2)
    rng = np.random.default_rng(0)
    ordered = exact.ordinal_pairs(np.round(X[:, :3].sum(axis=1) + rng.normal(size=len(X))))
    i, j = (rng.choice(np.flatnonzero(y == k), 50_000) for k in (1, 0))
    for loss in LOSSES:
        for what, call in (("ordered", solving(X, None, 1e-3, loss=loss, pairs=ordered)),
                           ("5e4 listed", solving(X, y, 1e-3, loss=loss,
                                                  pairs=exact.PairList(i, j)))):  # fmt: skip
            yield row(f"{what} pairs of 1000 rows, {loss}", spent(call), "s", 0.05, (call,))
    W = sp.random(2000, 50_000, density=1e-3, random_state=0, format="csr")
    noise = 0.01 * np.random.default_rng(2).normal(size=2000)
    text = np.asarray(W[:, :50].sum(axis=1)).ravel() + noise > 0.02
    for tol, most in ((1e-3, 3.0), (1e-6, 10.0)):
        call = solving(W, text, 1e-4, tol)
        what = f"text, 2000 x 50,000, hinge, {tol:.0e}".replace("e-0", "e-")
        yield row(what, spent(call), "s", most, (call,))
    if real_data_folder() is not None:
        call = solving(*scale.covtype(few(258_565)), 1e-5, 1e-9)
        yield row("covtype 258,565 x 54, hinge, lam 1e-5, 1e-9", spent(call), "s", 2.0, (call,))
    call = solving(*scale.tailed("whole", few(500_000)), 1e-3, 1e-9)
    yield row("heavy ties, 5e5 x 10, hinge, 1e-9", spent(call), "s", 3.0, (call,))
    X, y = c.plain(few(2000), 5)
    parts = [(X[k : k + 5], y[k : k + 5]) for k in range(0, len(X), 5)]
    for loss in ("logistic", "smooth_hinge"):
        call = solving(exact.PartitionedRows(parts), None, 1e-3, loss=loss)
        yield row(f"partitions of 5 rows, {loss}, 1e-6", spent(call), "s", 1.0, (call,))


def large(few: Callable[[int], int], quick: bool) -> Iterator[c.Row]:
    """Yield a kernel of full rank, a memory map and two threads."""
    X, y = c.curved(few(10_000))
    R = scale.unit(X, scale.RBF)
    call = solving(X, y, 1e-3, **scale.RBF)
    yield row("Gaussian, 1e4 rows of full rank, 1e-6", spent(call) / R, "builds", 2.0, (call,))
    found = [one["in R"] for one in scale.mapped(quick) if one["threads"] == 1]
    yield row("1e8 mapped rows, worst lam, 1e-6", max(found), "readings", 7.0)
    X, y = c.plane(few(10_000_000))
    one, two = (c.timed(partial(exact.solve, X, y, 1e-3, tol=1e-6, n_jobs=jobs), 2,
                        time.perf_counter)[1] for jobs in (1, 2))  # fmt: skip
    yield row("two threads, 1e7 x 2, by the clock", one / two, "x", 1.5, above=True)


FIRST = """
import time
clock = time.process_time
start = clock()
from aucert import exact
print(clock() - start)
import numpy as np
{at_once}
rng = np.random.default_rng(0)
def spent(n, loss):
    X = rng.normal(size=(n, 5))
    y = X[:, 0] + rng.normal(size=n) > 0
    start = clock()
    exact.solve(X, y, lam=1e-3, tol=1e-6, loss=loss)
    first = clock()
    exact.solve(X, y, lam=1e-3, tol=1e-6, loss=loss)
    return first - start, 2 * first - start - clock()
one = spent(1000, "hinge")
every = [spent(n, loss) for n in (1000, 100_000) for loss in {losses}]
print(one[0], one[1] + sum(extra for _, extra in every))
"""


def fresh(at_once: bool) -> list[float]:
    """Return seconds of the import, of a first fit, and of all first fits beyond their second."""
    compiling = "from aucert.exact.tools.compiling import compile_at_once; compile_at_once()"
    with TemporaryDirectory() as cache:
        script = FIRST.format(losses=LOSSES, at_once=compiling if at_once else "")
        env = {**os.environ, "NUMBA_CACHE_DIR": cache}
        ask: dict[str, Any] = {"env": env, "capture_output": True, "text": True, "check": True}
        return [
            float(x) for x in subprocess.run([sys.executable, "-c", script], **ask).stdout.split()
        ]


def starting(repeats: int) -> Iterator[c.Row]:
    """Yield what a fresh process with an empty compiler cache takes."""
    imported, first, waited = (
        min(x) for x in zip(*(fresh(False) for _ in range(repeats)), strict=True)
    )
    yield row("import aucert.exact", imported, "s", 0.3)
    yield row("first fit of a fresh process, 1000 rows", first, "s", 0.05)
    yield row("waiting for compilers: 3 losses, 1e3 and 1e5 rows", waited, "s", 2.0)
    if repeats > 1:
        yield row("the same, if all is compiled at once", fresh(True)[2], "s", 2.0)


def rows(
    quick: bool, goals: list[c.Row], lbfgs: Callable[..., Any], work: list[c.Row]
) -> Iterator[c.Row]:
    """Yield every goal, met or not."""
    few = c.fewer(quick)
    yield from of_peers(goals)
    yield from squared(few, lbfgs)
    yield from in_seconds(few)
    yield from of_logistic_regression(few)
    yield from large(few, quick)
    yield from starting(1 if quick else 3)
    taken = {one["who"]: one["s"] for one in work}
    if "aucert ROCSVMCV" in taken:
        ratio = taken["aucert ROCSVMCV"] / taken["LogisticRegressionCV"]
        yield row("ROCSVMCV, 1e5 x 50", ratio, "x LogisticRegressionCV", 1.2)
