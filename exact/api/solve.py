"""`solve`: data in, the certified optimum of the full pairwise problem out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np

from ..certificate.solution import Callback, Solution, Status
from ..errors import InputError
from ..formulation.formulation import Formulation, formulate
from ..losses.registry import get_loss
from ..pairs.all_pairs import AllPairs, PairList
from ..problem.problem import Problem, Ridge, pair_problem, split_labels
from ..solvers.closed_form import SquaredLossSolver
from ..solvers.cutting_plane import CuttingPlane
from ..solvers.newton import Newton
from ..spaces.rows import Rows
from ..tools.checks import check_number
from ..tools.threads import small_in_one_thread

MANY_COORDINATES = 100
"""Coordinates from which cutting planes can be the faster method,"""

LARGEST_HESSIAN = 3000
"""Coordinates above which `auto` forms no Hessian."""

STRONG_PENALTY = 0.03
"""if lam is at least so much of the rows' mean squared norm."""

HELD_NUMBERS = 8_000_000
"""Numbers in X from which its rows are read in blocks rather than copied and centred."""

METHODS = ("auto", "qp", "lifted", "cutting-plane", "newton")


class Solver(Protocol):
    """Parameters and no data."""

    def solve(
        self, problem: Problem, w0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Solution:
        """Return the solution of `problem`."""
        ...


@small_in_one_thread
def solve(
    X: object,
    y: object,
    lam: float,
    *,
    kernel: str = "linear",
    gamma: float | None = None,
    structure: float = 0.0,
    structure_source: str = "full",
    loss: str = "hinge",
    pairs: AllPairs | PairList | None = None,
    positive: object = None,
    sample_weight: np.ndarray | None = None,
    method: str = "auto",
    tol: float = 1e-9,
    max_time: float | None = None,
    callback: Callback | None = None,
) -> Solution:
    """Solve the full pairwise problem, linear or kernel, with a proof of optimality.

    [ScalingUp, eq. (3); SAUC, eq. (12)]: minimise lam/2 (|f|^2 + structure f'Sigma f) + mean over
    pairs of loss(f(x_i) - f(x_j)), Sigma the sum of the two class covariances.

    Parameters
    ----------
    X : array, memory map, `StreamedRows` or sparse matrix (n, d)
        Finite numbers.
    y : array (n,)
        Two kinds of labels.
    lam : float
        > 0.
    kernel : {"linear", "rbf", "laplacian", "precomputed"}
        For "precomputed", X is the Gram matrix (n, n).
    gamma : float, optional
        > 0, of the Gaussian exp(-gamma |x - z|^2) or the Laplacian; 1 / d by default.
    structure : float
        >= 0: the weight of SAUC-SVM's structure relative to |f|^2.
    structure_source : {"full", "sampled"}
        Whether the structure is that of all data or of the listed pairs.
    loss : {"hinge", "squared_hinge", "square"}
    pairs : AllPairs or PairList, optional
        All pairs by default.
    positive : label, optional
        The larger label by default.
    sample_weight : array (n,), optional
        >= 0; a weight means repetition. Only with all pairs.
    method : {"auto", "qp", "lifted", "cutting-plane", "newton"}
        "auto" takes the closed form for the square loss and Newton for the other two, but
        cutting planes for the hinge where there are many coordinates for the rows, or many and
        a strong penalty.
    tol : float
        Relative gap to reach, > 0.
    max_time : float, optional
        Seconds; the best certified point so far is returned. For kernels of many rows the
        certificate itself, a pass over all their values, comes on top.
    callback : callable, optional
        Called with each `Step`.

    Returns
    -------
    Solution
        `w` are the weights of the features, or for kernels the coefficients of k(., x_i); the
        certificate is made in the space meant: the true kernel, the structured norm.

    Raises
    ------
    InputError
        If the input cannot be used; the message says what and where.
    """
    check_tolerance(tol, max_time)
    if sample_weight is not None:
        if pairs is not None:
            raise InputError("give row weights in `pairs` or as `sample_weight`, not both")
        pairs = AllPairs(sample_weight)
    if method in ("auto", "newton"):
        large = streamed_problem(X, y, lam, kernel, structure, loss, pairs, positive)
        if large is not None:
            return choose_solver(large, method, tol, max_time).solve(large, callback=callback)
    shape = (kernel, gamma, structure, structure_source)
    meant = partial(formulate, X, y, lam, loss, pairs, positive, *shape, collapse=True)
    return solve_formulated(meant, method, tol, max_time, callback)[1]


def solve_formulated(
    make: Callable[..., Formulation],
    method: str,
    tol: float,
    max_time: float | None,
    callback: Callback | None,
) -> tuple[Formulation, Solution]:
    """Return the formulation and its solution, within `max_time` seconds for both.

    The features of a large kernel may take half of them; the certificate at the end is a pass
    over all kernel values, which comes on top.

    Parameters
    ----------
    make : callable
        Takes `max_time` by name, as `formulate` does.
    method, tol, max_time, callback
        As `solve`.
    """
    start = time.monotonic()
    task = make(max_time=None if max_time is None else max_time / 2)
    spent, left = time.monotonic() - start, max_time
    if max_time is not None:
        left = max(max_time - spent, max_time / 10)
    solver = choose_solver(task.work, method, tol, left)
    found = task.judge(solver.solve(task.work, callback=callback), tol)
    if max_time is not None and spent > max_time / 2 and found.status == Status.STALLED:
        found = replace(found, status=Status.TIME_LIMIT)  # it was the features that time cut short
    return task, found


def streamed_problem(
    X: object,
    y: object,
    lam: float,
    kernel: str,
    structure: float,
    loss: str,
    pairs: AllPairs | PairList | None,
    positive: object,
) -> Problem | None:
    """Return the problem over rows that are read in blocks, or None where they are better held.

    They are read in blocks if X is a memory map or a `StreamedRows`, or so large that a centred
    copy would be dear; only linear hinge problems over all pairs can be.
    """
    if kernel != "linear" or structure != 0 or loss != "hinge" or isinstance(pairs, PairList):
        return None
    from ..spaces.streamed import StreamedRows

    large = isinstance(X, np.ndarray) and X.ndim == 2 and X.size >= HELD_NUMBERS
    if large or isinstance(X, np.memmap):
        assert isinstance(X, np.ndarray)
        X = StreamedRows(X)
    if not isinstance(X, StreamedRows):
        return None
    mask, _, _ = split_labels(y, positive)
    return pair_problem(X, mask, pairs or AllPairs(), get_loss(loss), Ridge(lam))


def check_tolerance(tol: float, max_time: float | None) -> None:
    """Raise `InputError` unless tol > 0 and max_time > 0 or None."""
    check_number("tol", tol)
    if max_time is not None:
        check_number("max_time", max_time)


def few_cuts_suffice(problem: Problem) -> bool:
    """Whether cutting planes are likely faster than Newton: many coordinates for the rows.

    A Newton step costs dim^3, a cut n dim; the cuts needed grow as lam falls against the rows'
    squared size. Measured in `docs/benchmarks.md`.
    """
    space = problem.space
    if not isinstance(space, Rows):
        return False
    if space.dim > LARGEST_HESSIAN or space.dim**2 > 100 * space.n:
        return True
    if space.dim < MANY_COORDINATES:
        return False
    return problem.lam >= STRONG_PENALTY * float(np.mean(space.norms**2))


def choose_solver(problem: Problem, method: str, tol: float, max_time: float | None) -> Solver:
    """Return the solver that `method` names, or the one that suits the loss.

    Raises
    ------
    InputError
        If the method is unknown or is not one for the loss.
    """
    if method not in METHODS:
        raise InputError(f"unknown method {method!r}: choose one of {', '.join(METHODS)}")
    loss = problem.loss.name
    if method == "auto":
        method = "closed-form" if loss == "square" else "newton"
        if loss == "hinge" and few_cuts_suffice(problem):
            method = "cutting-plane"
    if method == "closed-form":
        return SquaredLossSolver(tol)
    if method == "newton":
        if loss != "hinge":
            return Newton(tol, max_time=max_time)
        from ..solvers.smoothed_newton import SmoothedNewton

        return SmoothedNewton(tol, max_time=max_time)
    if method == "cutting-plane":
        return CuttingPlane(tol, max_time=max_time)
    from ..solvers.qp import QP

    form = "teaching" if method == "qp" else "lifted"
    backend = "OSQP" if form == "teaching" else "CLARABEL"
    interface = "cvxpy" if form == "teaching" else "direct"
    return QP(form, interface, backend, finish=True, tol=tol, max_time=max_time)
