"""What a regularization path costs: warm starts and a shared factor against cold solves.

The ratio of CPU seconds in one run, with the steps of the solver beside it; both sides are
certified to the same tolerance at every lam, and their optima compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....exact.api.path import lam_grid, regularization_path
from ....exact.api.solve import solve
from ....exact.problem.problem import linear_problem
from ...data.datasets import load
from ...extremes import max
from ..harness import Lines, Table, benchmark
from ..samples import standardised
from ..timing import timed


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
    path, warm_seconds = timed(lambda: regularization_path(X, y, lams, tol=tol, **options))
    cold, cold_seconds = timed(
        lambda: [solve(X, y, float(lam), tol=tol, **options) for lam in path.lams]
    )
    warm = [point.solution for point in path.points]
    excess = 0.0
    for mine, theirs in zip(warm, cold, strict=True):
        a, b = mine.certificate, theirs.certificate
        allowed = a.gap + b.gap + a.rounding + b.rounding
        excess = max(excess, abs(a.primal - b.primal) / allowed)
    return Cost(
        warm_seconds,
        cold_seconds,
        sum(solution.n_iter for solution in warm),
        sum(solution.n_iter for solution in cold),
        all(solution.certificate.reaches(tol) for solution in [*warm, *cold]),
        excess,
    )


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
        cost = measure(X, y, lam_grid(linear_problem(X, y, 1.0), lams), tol, **how)
        shown = " ".join(str(value) for value in how.values())
        times = cost.warm, cost.cold, cost.warm / cost.cold
        verdict = "certified" if cost.certified else "NOT CERTIFIED"
        yield name, shown, *times, cost.warm_steps, cost.cold_steps, cost.excess, verdict


if __name__ == "__main__":
    raise SystemExit(main())
