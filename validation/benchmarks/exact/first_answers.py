"""First answers after an import, and what estimators cost beside `solve` and scikit-learn.

A first answer comes from a process of its own whose compiler cache is empty. The rest are CPU
seconds in one process, best of several, everything compiled; both sides in the same run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV

from ....exact.api.roc_svm import ROCSVM
from ....exact.api.roc_svm_cv import ROCSVMCV
from ....exact.api.solve import solve
from ...extremes import max
from ..harness import Lines, Table, benchmark
from ..measuring.timing import timed
from ..problems.scale_data import reading

FIRST = """
import sys, time
import numpy as np
import aucert.exact as exact
rng = np.random.default_rng(0)
n, d = {n}, {d}
X = rng.normal(size=(n, d))
y = X[:, 0] + rng.normal(size=n) > 0
solve, best_subset = exact.solve, exact.best_subset
start, cpu = time.perf_counter(), time.process_time()
found = {call}
print(time.process_time() - cpu, time.perf_counter() - start, "numba" in sys.modules)
"""

CALLS = {
    "solve": ("solve(X, y, lam=1e-3, tol=1e-6)", 5),
    "solve, squared hinge": ("solve(X, y, lam=1e-3, tol=1e-6, loss='squared_hinge')", 5),
    "best_subset, k = 8": ("best_subset(X, y, k=8, ridge=1e-3)", 30),
}
"""What is asked for, and of how many columns."""

LAMS = np.geomspace(1.0, 1e-4, 10)
"""The candidates of the cross-validation, as many as `LogisticRegressionCV` tries."""


def first_answer(call: str, n: int, d: int) -> tuple[float, float, str]:
    """Return CPU and wall seconds of a first call, and whether it needed the compiler."""
    with TemporaryDirectory() as cache:
        found = subprocess.run(
            [sys.executable, "-c", FIRST.format(n=n, d=d, call=call)],
            env={
                **os.environ,
                "NUMBA_CACHE_DIR": cache,
                "PYTHONPATH": str(Path(__file__).parents[4]),
            },
            capture_output=True,
            text=True,
            check=True,
        )
    cpu, wall, compiled = found.stdout.split()
    return float(cpu), float(wall), "compiled" if compiled == "True" else "plain"


def drawn(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return normal rows and labels that a few columns tell."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, X[:, : min(d, 5)].sum(axis=1) + 2 * rng.normal(size=n) > 0


def fits(n: int, d: int, repeats: int) -> Iterator[float | str]:
    """Yield the seconds of `ROCSVM.fit` and of `solve`, and their ratio; one call more compiles."""
    X, y = drawn(n, d)
    model, fit = timed(lambda: ROCSVM(lam=1e-3, tol=1e-6).fit(X, y), repeats + 1)
    _, solved = timed(lambda: solve(X, y, lam=1e-3, tol=1e-6), repeats + 1)
    yield from (fit, solved, fit / solved, str(model.status_))


def searches(n: int, d: int, repeats: int) -> Iterator[float | str]:
    """Yield the seconds of `ROCSVMCV` and of `LogisticRegressionCV` on the same rows."""
    X, y = drawn(n, d)
    model, ours = timed(lambda: ROCSVMCV(lams=LAMS, cv=5, random_state=0).fit(X, y), repeats)
    how: dict[str, Any] = {"Cs": LAMS.size, "cv": 5, "scoring": "roc_auc"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (ConvergenceWarning, FutureWarning))  # type: ignore[arg-type]
        _, theirs = timed(lambda: LogisticRegressionCV(**how).fit(X, y), repeats)
    worst = max(np.nan_to_num(model.cv_path_.fold_gap).ravel().tolist())
    yield from (ours, theirs, ours / theirs, f"gaps of at most {worst:.1e}")


def squared(n: int, repeats: int) -> Iterator[tuple[Any, ...]]:
    """Yield the squared hinge's seconds at three tolerances, in readings of the same rows."""
    X, y = drawn(n, 2)
    _, unit = timed(reading(X), repeats + 1)
    for tol in (1e-3, 1e-6, 1e-9):
        how: dict[str, Any] = {"loss": "squared_hinge", "tol": tol, "n_jobs": 1}
        found, seconds = timed(partial(solve, X, y, 1e-3, **how), repeats)
        gap = found.certificate.relative_gap
        told = (seconds, unit, seconds / unit, f"{found.status}, gap {gap or 0.0:.1e}")
        yield (f"squared hinge to {tol:g} over a reading, {n} x 2", *told)


@benchmark(
    n="largest number of rows of the first answers",
    rows="of the fit",
    searched="rows of the cross-validation",
    columns="of the cross-validation",
)
def main(
    n: int = 100_000,
    rows: int = 10_000_000,
    searched: int = 100_000,
    columns: int = 50,
    repeats: int = 2,
) -> Lines:
    """Yield the tables."""
    yield Table(
        "First answer of a new process, empty compiler cache; seconds after the import",
        *("asked:<24", "rows:>8d", "CPU:8.3f", "wall:8.3f", "by:>9"),
    )
    for size in (n // 100, n // 10, n):
        for name, (call, d) in CALLS.items():
            yield name, size, *first_answer(call, size, d)
    columns_of = ("ours:8.3f", "beside:8.3f", "ratio:7.2f", "proved:")
    yield Table("\nCPU seconds of whole pieces of work", "work:<52", *columns_of)
    yield f"ROCSVM.fit over solve, {rows} x 2", *fits(rows, 2, repeats)
    name = f"ROCSVMCV over LogisticRegressionCV, {searched} x {columns}"
    yield name, *searches(searched, columns, repeats)
    yield from squared(rows, repeats)


if __name__ == "__main__":
    raise SystemExit(main())
