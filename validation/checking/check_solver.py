"""`check_solver`: anybody's fit over the reference problems, judged by certified gaps.

The optimum of every problem is known and proved (`reference_problems`), so judging a fit costs
one evaluation of F and no solve.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ...exact.errors import InputError
from ...exact.losses.registry import LOSSES
from ...exact.tools.checks import check_choice, check_count, check_number
from ..reference.problems import ReferenceProblem, reference_problems
from .diagnosis import likely_causes
from .process import start
from .report import CheckReport, CheckRow, judged

# Called after each problem with the number done, the number in all, and the row.
Progress = Callable[[int, int, CheckRow], object]


def check_solver(
    fit: Callable[..., Any] | str,
    *,
    loss: str = "hinge",
    tol: float = 1e-3,
    max_time: float = 60.0,
    seed: int = 0,
    only: str | Iterable[str] | None = None,
    isolate: bool = True,
    progress: Progress | None = None,
) -> CheckReport:
    """Run a solver over the reference problems, and tell how far each answer is from the optimum.

    Each problem is to minimise F(w) = lam/2 |w|^2 + mean over pairs of loss(w'x_i - w'x_j).

    Parameters
    ----------
    fit : function (X, y, lam) -> w, or str
        X is an array (n, d), y an array (n,) of 1 and 0, lam a number. It returns w (d,), or an
        object with `coef_` or `w`. If it has an argument `sample_weight`, the problems with row
        weights are run too; weights mean repetition. As `"MODULE:FUNCTION"` it is imported by a
        new interpreter, from the current folder first.
    loss : {"hinge", "squared_hinge", "square"}
        The loss that the solver minimises.
    tol : float
        > 0. A problem is solved if F(w) exceeds the optimum by at most this share of it; where
        the optimum is below 1e-6, if by at most tol / 10: F(0) = 1 is then the only scale.
    max_time : float
        Seconds for each problem.
    seed : int
        >= 0. Set before each fit in the generators of `random` and `numpy.random`.
    only : name or names, optional
        Of problems (`overlap:0.1`) or of data (`overlap`).
    isolate : bool
        Run the fit in a process of its own, which can be stopped, cannot print in between, and
        may crash. Where that is impossible, and with False, it runs in this process, and the
        limit is only checked afterwards; `report.isolation` says what was done.
    progress : function, optional
        Called with (done, total, row).

    Returns
    -------
    CheckReport

    Raises
    ------
    InputError
        For a bad argument, or a function that cannot be imported.
    """
    check_choice("loss", loss, LOSSES)
    check_number("tol", tol)
    check_number("max_time", max_time)
    check_count("seed", seed, 0)
    if not (callable(fit) or isinstance(fit, str)):
        raise InputError(f"fit must be a function or 'MODULE:FUNCTION', not {type(fit).__name__}")
    problems = reference_problems(only)
    begin, rows = time.perf_counter(), []
    runner = start(fit, seed, isolate)
    try:
        for problem in problems:
            if problem.sample_weight is not None and "sample_weight" not in runner.takes:
                row = CheckRow(problem, "skipped", *problem.optimum[loss])
            else:
                answer = runner.ask(_request(problem), max_time)
                row = judged(problem, loss, tol, answer)
                row = replace(row, changed=tuple(answer.get("changed", ())))
            rows.append(row)
            if progress is not None:
                progress(len(rows), len(problems), row)
    finally:
        runner.close()
    return CheckReport(
        rows=tuple(rows),
        diagnosis=likely_causes(rows, loss, tol),
        solver=fit if isinstance(fit, str) else getattr(fit, "__qualname__", type(fit).__name__),
        loss=loss,
        tol=float(tol),
        max_time=float(max_time),
        seed=seed,
        isolation=runner.how,
        seconds=time.perf_counter() - begin,
    )


def _request(problem: ReferenceProblem) -> dict[str, Any]:
    """Return the problem as JSON can hold it, without a digit lost."""
    request = {"X": problem.X.tolist(), "y": problem.y.tolist(), "lam": problem.lam}
    if problem.sample_weight is not None:
        request["sample_weight"] = problem.sample_weight.tolist()
    return request
