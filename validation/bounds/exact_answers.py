"""The exact answer that bounds and claims are judged by, with its certificate."""

from __future__ import annotations

import numpy as np

from ...exact import HINGE, AllPairs, PairList, Problem, Ridge, Rows, Solution, Status, pair_problem
from ...exact.api.solve import choose_solver
from ...exact.certificate.solution import Solver
from ...exact.solvers.cutting_plane import CuttingPlane
from ...exact.spaces.rows import Space
from ..data.labelled_data import Dataset
from ..extremes import highest, lowest


def hinge_problem(
    data: Dataset, lam: float, pairs: AllPairs | PairList | None = None, space: Space | None = None
) -> Problem:
    """Return [ScalingUp, eq. (3)] on a data set: linear unless another space is given."""
    space = Rows(data.X) if space is None else space
    return pair_problem(space, data.is_positive, pairs or AllPairs(), HINGE, Ridge(lam))


def mean_loss(problem: Problem, w: np.ndarray) -> float:
    """Return the mean loss over the pairs of a problem, without the penalty."""
    return problem.sums(problem.space.scores(w)).value


def solved(solver: Solver, problem: Problem) -> Solution:
    """Return the solution; solvers keep their best point on Ctrl-C, but a claim has to stop."""
    solution = solver.solve(problem)
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return solution


def optimum(problem: Problem, tol: float = 1e-9) -> Solution:
    """Return the optimum by cutting planes; its certificate says how near it is."""
    solution = solved(CuttingPlane(tol=tol), problem)
    if not solution.certificate.reaches(highest(tol, 1e-6)):
        raise RuntimeError(f"not solved: {solution.status.advice}")
    return solution


def overlap(first: Solution, second: Solution) -> bool:
    """Whether the two certified intervals [dual, primal] have a common point."""
    a, b = first.certificate, second.certificate
    return highest(a.dual, b.dual) <= lowest(a.primal, b.primal)


def certified(problem: Problem, tol: float) -> Solution:
    """Return the optimum up to a certified gap of `tol`, or raise `RuntimeError`."""
    solution = solved(choose_solver(problem, "auto", tol, None), problem)
    check_gap(solution, tol)
    return solution


def check_gap(solution: Solution, tol: float) -> None:
    """Raise `RuntimeError` if a certified gap above `tol` is left."""
    certificate = solution.certificate
    if certificate.gap > tol:
        raise RuntimeError(f"a gap of {certificate.gap:.1g} is left: {solution.status.advice}")
