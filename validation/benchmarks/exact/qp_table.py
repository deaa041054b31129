"""Seconds and true gap of every QP form and solver, by the number of pairs.

OSQP's rows stand there even where it does not certify.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from ....exact.api.solve import Solver, choose_solver
from ....exact.errors import InputError
from ....exact.problem.problem import Problem, linear_problem
from ....exact.solvers.qp import BACKENDS, QP
from ...data.datasets import load
from ..harness import Lines, Table, benchmark
from ..problems.samples import standardised

FORMS = (("teaching", "cvxpy"), ("lifted", "cvxpy"), ("lifted", "direct"))


def wdbc_problem(rows: int, lam: float) -> Problem:
    """Return the hinge problem of the first `rows` rows of standardised wdbc, in seeded order."""
    X, positive = standardised(load("wdbc"))
    chosen = np.random.default_rng(0).permutation(len(X))[:rows]
    return linear_problem(X[chosen], positive[chosen].astype(int), lam, "hinge")


def solvers() -> Iterator[tuple[str, str, str, Solver]]:
    """Yield form, interface, backend and solver of every row of the table."""
    for form, interface in FORMS:
        for backend in BACKENDS:
            if interface == "direct" and backend == "ECOS":
                continue
            yield form, interface, backend, QP(form, interface, backend)
    yield "lifted", "direct", "OSQP, then finish", QP("lifted", "direct", "OSQP", finish=True)


@benchmark()
def main(rows: tuple[int, ...] = (40, 130, 300, 569), lam: float = 1e-2) -> Lines:
    """Yield the table."""
    yield Table(
        f"wdbc, standardised, hinge over all pairs, lam = {lam:g}; gaps are recomputed",
        *("pairs:7d", "form:>13", "through:>8", "solver:>18", "s:8.2f", "true rel. gap:14.1e"),
    )
    for n in rows:
        problem = wdbc_problem(n, lam)
        for *what, solver in solvers():
            yield problem.n_pairs, *what, *_measured(problem, solver)
        best = choose_solver(problem, "auto", 1e-9, None)
        yield problem.n_pairs, "cutting-plane", "direct", "", *_measured(problem, best)


def _measured(problem: Problem, solver: Solver) -> tuple[float, float | str]:
    """Return the seconds by the clock, and the relative gap or why there is none."""
    start = time.perf_counter()
    try:
        gap = solver.solve(problem).certificate.relative_gap
        found = "undefined" if gap is None else gap
    except InputError as error:
        found = "not installed" if "not installed" in str(error) else "refused: too large"
    return time.perf_counter() - start, found


if __name__ == "__main__":
    raise SystemExit(main())
