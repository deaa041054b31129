"""What a regularization path costs: warm starts and a shared factor against cold solves.

The ratio of CPU seconds in one run, with the steps of the solver beside it; both sides are
certified to the same tolerance at every lam, and their optima compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....exact.api.path import regularization_path
from ....exact.api.solve import solve
from ....exact.formulation.lam_grid import lam_grid
from ....exact.problem.problem import linear_problem
from ...data.datasets import load
from ...extremes import max
from ..harness import Lines, Table, benchmark
from ..measuring.timing import timed
from ..problems.samples import standardised


def measure(
    X: Any, y: np.ndarray, lams: np.ndarray, tol: float, **options: Any
) -> Iterator[float | str]:
    """Yield the columns from the seconds on: of the path over `lams`, and of solving each cold.

    The difference is the largest of the objectives over the sum of their gaps and rounding.
    """
    path, warm_seconds = timed(lambda: regularization_path(X, y, lams, tol=tol, **options))
    cold, cold_seconds = timed(
        lambda: [solve(X, y, float(lam), tol=tol, **options) for lam in path.lams]
    )
    warm, excess = [point.solution for point in path.points], 0.0
    for mine, theirs in zip(warm, cold, strict=True):
        a, b = mine.certificate, theirs.certificate
        allowed = a.gap + b.gap
        excess = max(excess, abs(a.primal - b.primal) / allowed)
    yield from (warm_seconds, cold_seconds, warm_seconds / cold_seconds)
    yield from (sum(solution.n_iter for solution in way) for way in (warm, cold))
    reached = all(solution.certificate.reaches(tol) for solution in [*warm, *cold])
    yield from (excess, "certified" if reached else "NOT CERTIFIED")


def problems(rows: int) -> Iterator[tuple[str, np.ndarray, np.ndarray, dict[str, Any]]]:
    """Yield name, rows, labels and options."""
    X, positive = standardised(load("wdbc"))
    y = positive.astype(int)
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


@benchmark(lams="length of the grid", rows="of the drawn data")
def main(lams: int = 20, tol: float = 1e-6, rows: int = 5000) -> Lines:
    """Yield the table."""
    yield Table(
        f"{lams} lam from the largest to 1e-5 of it, relative gap {tol:g} at each;\n"
        "CPU seconds; difference of the optima as a share of the sum of their certified gaps",
        *("data:>12", "options:>34", "warm s:8.2f", "cold s:8.2f", "warm/cold:10.2f"),
        *("steps:6d", "cold:6d", "difference:11.1e", "reached:"),
    )
    for name, X, y, how in problems(rows):
        grid = lam_grid(linear_problem(X, y, 1.0), lams)
        shown = " ".join(str(value) for value in how.values())
        yield name, shown, *measure(X, y, grid, tol, **how)


if __name__ == "__main__":
    raise SystemExit(main())
