"""Seconds and true gap of every QP form and solver, by the number of pairs.

OSQP's rows stand there even where it does not certify. Run it with

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m aucert.validation.benchmarks.exact.qp_table
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

import numpy as np

from ....exact.api.solve import Solver, choose_solver
from ....exact.errors import InputError
from ....exact.problem.problem import Problem, linear_problem
from ....exact.solvers.qp import BACKENDS, QP
from ...data.datasets import wdbc

FORMS = (("teaching", "cvxpy"), ("lifted", "cvxpy"), ("lifted", "direct"))


def wdbc_problem(rows: int, lam: float) -> Problem:
    """Return the hinge problem of the first `rows` rows of standardised wdbc, in seeded order."""
    data = wdbc()
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    chosen = np.random.default_rng(0).permutation(len(X))[:rows]
    return linear_problem(X[chosen], data.is_positive[chosen].astype(int), lam, "hinge")


def solvers() -> Iterator[tuple[str, str, str, Solver]]:
    """Yield form, interface, backend and solver of every row of the table."""
    for form, interface in FORMS:
        for backend in BACKENDS:
            if interface == "direct" and backend == "ECOS":
                continue
            yield form, interface, backend, QP(form, interface, backend)
    yield "lifted", "direct", "OSQP, then finish", QP("lifted", "direct", "OSQP", finish=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="QP forms and solvers on wdbc")
    parser.add_argument("--rows", type=int, nargs="+", default=[40, 130, 300, 569])
    parser.add_argument("--lam", type=float, default=1e-2)
    options = parser.parse_args(arguments)
    print(f"wdbc, standardised, hinge over all pairs, lam = {options.lam:g}; gaps are recomputed")
    print(f"{'pairs':>7} {'form':>13} {'through':>8} {'solver':>18} {'s':>8} {'true rel. gap':>14}")
    for rows in options.rows:
        problem = wdbc_problem(rows, options.lam)
        for form, interface, backend, solver in solvers():
            _row(problem, form, interface, backend, solver)
        _row(problem, "cutting-plane", "direct", "", choose_solver(problem, "auto", 1e-9, None))


def _row(problem: Problem, form: str, interface: str, backend: str, solver: Solver) -> None:
    start = time.perf_counter()
    try:
        certificate = solver.solve(problem).certificate
        gap = "undefined" if certificate.relative_gap is None else f"{certificate.relative_gap:.1e}"
    except InputError as error:
        gap = "not installed" if "not installed" in str(error) else "refused: too large"
    seconds = time.perf_counter() - start
    print(
        f"{problem.n_pairs:7d} {form:>13} {interface:>8} {backend:>18} {seconds:8.2f} {gap:>14}",
        flush=True,
    )


if __name__ == "__main__":
    main()
