"""What a regularization path costs: warm starts and a shared factor against cold solves.

The ratio of CPU seconds in one run, with the steps of the solver beside it; both sides are
certified to the same tolerance at every lam, and their optima compared. Run it with

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m aucert.validation.benchmarks.exact.path
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....exact.api.path import lam_grid, regularization_path
from ....exact.api.solve import solve
from ....exact.problem.problem import linear_problem
from ...data.datasets import load
from ...extremes import max


@dataclass(frozen=True)
class Cost:
    """Seconds and steps of both ways, and how far apart their optima are.

    Attributes
    ----------
    warm, cold : float
        CPU seconds of the whole grid.
    warm_steps, cold_steps : int
    certified : bool
        Whether both reached the tolerance at every lam.
    excess : float
        Largest difference of the objectives over the sum of their certified gaps and rounding.
    """

    warm: float
    cold: float
    warm_steps: int
    cold_steps: int
    certified: bool
    excess: float


def measure(X: Any, y: np.ndarray, lams: np.ndarray, tol: float, **options: Any) -> Cost:
    """Return the cost of the path over `lams`, and of solving each from nothing."""
    start = time.process_time()
    path = regularization_path(X, y, lams, tol=tol, **options)
    middle = time.process_time()
    cold = [solve(X, y, float(lam), tol=tol, **options) for lam in path.lams]
    end = time.process_time()
    warm = [point.solution for point in path.points]
    excess = 0.0
    for mine, theirs in zip(warm, cold, strict=True):
        a, b = mine.certificate, theirs.certificate
        allowed = a.gap + b.gap + a.rounding + b.rounding
        excess = max(excess, abs(a.primal - b.primal) / allowed)
    return Cost(
        middle - start,
        end - middle,
        sum(solution.n_iter for solution in warm),
        sum(solution.n_iter for solution in cold),
        all(solution.certificate.reaches(tol) for solution in [*warm, *cold]),
        excess,
    )


def problems(rows: int) -> Iterator[tuple[str, np.ndarray, np.ndarray, dict[str, Any]]]:
    """Yield name, rows, labels and options."""
    data = load("wdbc")
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    y = data.is_positive.astype(int)
    for loss in ("hinge", "squared_hinge"):
        yield "wdbc", X, y, {"loss": loss}
        yield "wdbc", X, y, {"loss": loss, "structure": 10.0}
    rng = np.random.default_rng(0)
    labels = (rng.random(rows) < 0.2).astype(int)
    drawn = rng.normal(size=(rows, 20))
    drawn[:, :5] += 0.5 * labels[:, None]
    for loss in ("hinge", "squared_hinge"):
        yield f"normal {rows}", drawn, labels, {"loss": loss}
    few = rng.permutation(len(y))[:250]
    yield "wdbc 250", X[few], y[few], {"loss": "squared_hinge", "kernel": "rbf"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="warm path against cold solves")
    parser.add_argument("--lams", type=int, default=20, help="length of the grid")
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--rows", type=int, default=5000, help="of the drawn data")
    options = parser.parse_args(arguments)
    print(
        f"{options.lams} lam from the largest to 1e-5 of it, relative gap {options.tol:g} at each;"
    )
    print("CPU seconds; difference of the optima as a share of the sum of their certified gaps")
    print(
        f"{'data':>12} {'options':>34} {'warm s':>8} {'cold s':>8} {'warm/cold':>10} "
        f"{'steps':>6} {'cold':>6} {'difference':>11}"
    )
    for name, X, y, how in problems(options.rows):
        lams = lam_grid(linear_problem(X, y, 1.0), options.lams)
        cost = measure(X, y, lams, options.tol, **how)
        shown = " ".join(str(value) for value in how.values())
        print(
            f"{name:>12} {shown:>34} {cost.warm:8.2f} {cost.cold:8.2f} "
            f"{cost.warm / cost.cold:10.2f} {cost.warm_steps:6d} {cost.cold_steps:6d} "
            f"{cost.excess:11.1e}  {'certified' if cost.certified else 'NOT CERTIFIED'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
