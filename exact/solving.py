"""`solve`: data in, the certified optimum of the full pairwise problem out."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .cutting_plane import CuttingPlane
from .errors import InputError
from .formulation import formulate
from .newton import Newton
from .pairs import AllPairs, PairList
from .parameters import check_number
from .problem import Problem
from .solution import Callback, Solution
from .squared_loss import SquaredLossSolver

METHODS = ("auto", "qp", "lifted", "cutting-plane", "newton")


class Solver(Protocol):
    """Parameters and no data."""

    def solve(
        self, problem: Problem, w0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Solution:
        """Return the solution of `problem`."""
        ...


def solve(
    X: object,
    y: object,
    lam: float,
    *,
    kernel: str = "linear",
    gamma: float | None = None,
    structure: float = 0.0,
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
    X : array or sparse matrix (n, d)
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
    loss : {"hinge", "squared_hinge", "square"}
    pairs : AllPairs or PairList, optional
        All pairs by default.
    positive : label, optional
        The larger label by default.
    sample_weight : array (n,), optional
        >= 0; a weight means repetition. Only with all pairs.
    method : {"auto", "qp", "lifted", "cutting-plane", "newton"}
        "auto" takes cutting planes for the hinge, Newton for the squared hinge and the closed
        form for the square loss.
    tol : float
        Relative gap to reach, > 0.
    max_time : float, optional
        Seconds; the best certified point so far is returned.
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
    task = formulate(X, y, lam, loss, pairs, positive, kernel, gamma, structure)
    solver = choose_solver(task.work, method, tol, max_time)
    return task.judge(solver.solve(task.work, callback=callback), tol)


def check_tolerance(tol: float, max_time: float | None) -> None:
    """Raise `InputError` unless tol > 0 and max_time > 0 or None."""
    check_number("tol", tol)
    if max_time is not None:
        check_number("max_time", max_time)


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
        method = {"hinge": "cutting-plane", "squared_hinge": "newton"}.get(loss, "closed-form")
    if method == "closed-form":
        return SquaredLossSolver(tol)
    if method == "newton":
        return Newton(tol, max_time=max_time)
    if method == "cutting-plane":
        return CuttingPlane(tol, max_time=max_time)
    from .qp import QP

    form = "teaching" if method == "qp" else "lifted"
    backend = "OSQP" if form == "teaching" else "CLARABEL"
    interface = "cvxpy" if form == "teaching" else "direct"
    return QP(form, interface, backend, finish=True, tol=tol, max_time=max_time)
