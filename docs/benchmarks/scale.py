"""The full pairwise problem at scale: what `solve` takes, in readings of the rows.

    python docs/benchmarks/scale.py --page docs/benchmarks.md

CPU seconds, one thread, from the data to the certificate. R is one blocked reading X'(X w) of the
same rows in the same run, without a sort; for a kernel it is one build of its matrix. The columns
1e-03, 1e-06 and 1e-09 are the seconds to that relative gap. GB is the peak of anonymous memory next
to the data.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import common as c
from aucert.exact import solve
from aucert.exact.spaces.kernels import Gaussian
from aucert.validation.data.datasets import load_real, real_data_folder

GAMMA = 0.1
LONGEST = 120.0  # seconds that a solve may take
WARM = 400_000  # rows of a solve that loads or compiles every loop of many rows


def tailed(kind: str, n: int, d: int = 10) -> c.Labelled:
    """Return rows with heavy tails, ties, columns of different sizes, or a few large entries."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, d))
    y = Z @ np.linspace(1, 0.1, d) + rng.normal(size=n) > 1
    if kind == "outliers":
        Z[rng.integers(0, n, max(n // 1000, 3)), 0] *= 1e8
    elif kind == "cauchy":
        Z = rng.standard_cauchy((n, d)) + y[:, None]
    else:
        Z = np.round(2 * Z) if kind == "whole" else Z * 10.0 ** np.linspace(-6, 6, d)
    return Z, y


def covtype(n: int) -> c.Labelled:
    """Return covtype's rows, standardised by their largest entry."""
    data = load_real("covtype", real_data_folder() or Path())
    return data.X[:n] / np.abs(data.X).max(axis=0).clip(1e-300), data.is_positive[:n]


LAMS = (1e-1, 1e-3, 1e-5)
TOLS = (1e-3, 1e-6, 1e-9)
RBF: dict[str, Any] = {"kernel": "rbf", "gamma": GAMMA}

CASES: tuple[tuple[Any, ...], ...] = (
    ("two features", 1000, c.plane, LAMS[1:2]),
    ("two features", 100_000, c.plane, LAMS[1:2]),
    ("two features", 1_000_000, c.plane, LAMS),
    ("two features", 10_000_000, c.plane, LAMS[1:2]),
    ("squared hinge", 1_000_000, c.plane, LAMS[1:2], {"loss": "squared_hinge"}),
    ("logistic", 1_000_000, partial(c.plain, d=10), LAMS[1:2], {"loss": "logistic"}),
    ("20 features", 100_000, partial(c.plain, d=20), LAMS[1:2]),
    ("300 features", 10_000, partial(c.plain, d=300), (1e-2,)),
    ("300 features", 100_000, partial(c.plain, d=300), (1e-2,)),
    ("2000 features", 10_000, partial(c.plain, d=2000), (1.0, 1e-2)),
    ("sparse, 60 a row", 100_000, lambda n: c.sparse(n, n // 2), (1e-4,)),
    ("wide sparse rows", 2000, lambda n: c.sparse(n, 25 * n), (1e-4,)),
    ("whole numbers", 500_000, lambda n: tailed("whole", n), (1e-3,)),
    *((kind, 100_000, partial(tailed, kind), (1e-2,))
      for kind in ("cauchy", "outliers", "unscaled")),
    ("Gaussian, full rank", 5000, c.curved, LAMS, {"kernel": "rbf", "gamma": GAMMA}),
    ("covtype", 258_565, covtype, (1e-5,)),
)  # fmt: skip
"""Name, rows, how they are drawn, lam, and what else is asked."""


def unit(X: Any, asked: dict[str, Any]) -> float:
    """Return R, or the seconds of one build of a kernel's matrix."""
    if not asked.get("kernel"):
        return c.timed(c.reading(X), 3)[1]
    kernel = Gaussian(GAMMA)
    return c.timed(lambda: [kernel(X[k : k + 500], X).sum() for k in range(0, len(X), 500)])[1]


def regimes(quick: bool) -> Iterator[c.Row]:
    """Yield what a solve takes to each gap, regime by regime; `proved` is the gap at the last."""
    for name, n, draw, lams, *more in CASES:
        if name == "covtype" and (quick or real_data_folder() is None):
            continue
        X, y = draw(c.fewer(quick)(n))
        asked: dict[str, Any] = more[0] if more else {}
        R = unit(X, asked)
        for lam in lams[: 1 if quick else None]:
            row = {"regime": name, "n": X.shape[0], "d": X.shape[1], "lam": lam}
            for tol in TOLS:
                call = partial(solve, X, y, lam, tol=tol, n_jobs=1, max_time=LONGEST, **asked)
                found, row[f"{tol:.0e}"] = c.timed(call)
            yield {**row, "R": R, "1e-06 in R": row["1e-06"] / R, "proved": c.proved(found)}


def threads(quick: bool, sizes: tuple[int, ...] = (10**5, 10**6, 10**7)) -> Iterator[c.Row]:
    """Yield seconds by the clock with one and two threads, and whether their bits differ."""
    for n in sizes[: 1 if quick else None]:
        X, y = c.plane(c.fewer(quick)(n))
        solved = {jobs: c.timed(partial(solve, X, y, 1e-3, tol=1e-6, n_jobs=jobs), 2,
                              time.perf_counter) for jobs in (1, 2)}  # fmt: skip
        (one, alone), (two, both) = solved[1], solved[2]
        same = np.array_equal(one.w, two.w) and one.certificate == two.certificate
        yield {"n": len(y), "one thread, s": alone, "two threads, s": both,
               "one / two": alone / both, "same bits": "yes" if same else "NO"}  # fmt: skip


def mapped(quick: bool) -> Iterator[c.Row]:
    """Yield a memory-mapped problem of 1e8 rows of float32, with one and two threads."""
    n = c.fewer(quick)(10**8)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        X, y = np.lib.format.open_memmap(path, "w+", np.float32, (n, 2)), np.empty(n, dtype=bool)
        rng = np.random.default_rng(0)
        for start in range(0, n, 1 << 17):
            size = min(1 << 17, n - start)
            some = rng.random(size) < 0.2
            X[start : start + size] = rng.normal(size=(size, 2)) + some[:, None] * [1.0, 0.5]
            y[start : start + size] = some
        X.flush()
        X = np.load(path, mmap_mode="r")
        solve(X[:WARM], y[:WARM], 1e-3, tol=1e-6)
        for jobs, clock in ((1, time.process_time), (2, time.perf_counter)):
            R = c.timed(c.reading(X), 1, clock)[1]
            for lam in LAMS[: 1 if quick else None]:
                call = partial(solve, X, y, lam, tol=1e-6, n_jobs=jobs)
                with c.watching() as memory:
                    found, seconds = c.timed(call, clock=clock, enough=0.0)
                yield {"n": n, "lam": lam, "threads": jobs, "s": seconds, "in R": seconds / R,
                       "GB": memory.peak / 1e9, "proved": c.proved(found)}  # fmt: skip


main = c.command({"regimes": regimes, "threads": threads, "mapped": mapped}, __doc__)

if __name__ == "__main__":
    main()
