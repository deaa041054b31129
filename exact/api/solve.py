"""`solve`: data in, the certified optimum out.

`solve_request` is `solve` for a request that was made before, by `solve_large` in blocks or whole.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from ..certificate.solution import Callback, Solution, Status
from ..certificate.trivial import warn_if_trivial
from ..formulation.formulation import Formulation, formulate
from ..formulation.partitioned import dask_too, refuse_method
from ..formulation.request import Request
from ..formulation.screening import with_zeros
from ..losses.loss import Loss
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.ordered.ordered_pairs import OrderedPairs
from ..problem.penalties.penalty import Penalty
from ..problem.penalties.ridge import Ridge
from ..solvers.choose import NAMES, Solver, choose_solver
from ..spaces.kernel import Kernel
from ..spaces.partitions.partitioned_rows import PartitionedRows
from ..tools.checks import check_tolerance
from ..tools.threads import small_in_one_thread
from .in_blocks import can_be_held, streamed_problem
from .partitions.held import better, held_rows

# Methods that solve a kernel machine without features.
PLAIN_KERNELS = ("auto", "descent", "cutting-plane")

METHODS = NAMES  # What `method` may be.

__all__ = ["METHODS", "Solver", "choose_solver", "solve", "solve_formulated"]


@dask_too
@small_in_one_thread
def solve(
    X: object,
    y: object,
    lam: float | None = None,
    *,
    kernel: str | Kernel = "linear",
    gamma: float | None = None,
    structure: float = 0.0,
    structure_source: str = "full",
    loss: str | Loss = "hinge",
    pairs: AllPairs | PairList | OrderedPairs | None = None,
    positive: object = None,
    sample_weight: np.ndarray | None = None,
    l1: float = 0.0,
    groups: object = None,
    sign: object = None,
    penalty: Penalty | None = None,
    qid: object = None,
    time: object = None,
    event: object = None,
    method: str = "auto",
    tol: float = 1e-9,
    max_time: float | None = None,
    callback: Callback | None = None,
    fpr_max: float = 1.0,
    tpr_min: float = 0.0,
    n_jobs: int | None = None,
    worst_of: object = None,
) -> Solution:
    """Solve the full pairwise problem, linear or kernel, with a proof of optimality.

    [ScalingUp, eq. (3); SAUC, eq. (12)]: minimise lam/2 (|f|^2 + structure f'Sigma f) + mean over
    pairs of loss(f(x_i) - f(x_j)), Sigma the sum of the two class covariances.

    Parameters
    ----------
    X : array, memory map, `StreamedRows`, `PartitionedRows` or sparse matrix (n, d)
        Finite numbers.
    y : array (n,)
        Two kinds of labels; grades with `qid`; None with `time`, `OrderedPairs` or
        `PartitionedRows`, whose labels lie with the rows.
    lam : float, optional
        > 0; 0 is allowed where l1 > 0. Or give `penalty`.
    kernel : {"linear", "rbf", "laplacian", "precomputed"} or Kernel
        For "precomputed", X is the Gram matrix (n, n). An object of one's own needs what
        `aucert.exact.spaces.kernel.Kernel` lists.
    gamma : float, optional
        > 0, of the Gaussian exp(-gamma |x - z|^2) or the Laplacian; 1 / d by default.
    structure : float
        >= 0: the weight of SAUC-SVM's structure relative to |f|^2.
    structure_source : {"full", "sampled"}
        Whether the structure is that of all data or of the listed pairs.
    loss : {"hinge", "squared_hinge", "square", "logistic", "smooth_hinge", "exponential"} or Loss
        An object of one's own needs what `aucert.exact.losses.loss.Loss` lists.
    pairs : AllPairs, PairList or OrderedPairs, optional
        All pairs by default.
    positive : label, optional
        The larger label by default.
    sample_weight : array (n,), optional
        >= 0; a weight means repetition. Not with `pairs`. With `qid`, `time` or `worst_of` whole
        numbers below 2^52, or such multiples of one power of two.
    l1 : float
        >= 0: adds l1 |w|_1 (the elastic net) or, with `groups`, the group lasso. This, `sign` and
        `penalty` are for linear problems without structure.
    groups : array (d,), optional
        The group of each feature.
    sign : "nonnegative" or int array, optional
        w >= 0 for all features, or for those columns.
    penalty : Penalty, optional
        Another penalty instead of `lam`, `l1`, `groups` and `sign`; see
        `aucert.exact.problem.penalties.penalty`.
    qid : array (n,), optional
        The query of each row: pairs are rows of one query, the larger grade above. Neither this
        nor `time` goes with `fpr_max` or `tpr_min`; `structure` is the scatter of all rows of two
        grades. Dask's collections hold each query whole in one partition.
    time, event : arrays (n,), optional
        Times, and whether the event was seen: an earlier event is above what comes later.
    method : {"auto", "closed-form", "cutting-plane", "descent", "qp", "lifted", "proximal"}
        "auto" takes the closed form for the square loss, the descent for other losses with the
        ridge, and for everything else the proximal method. Of rows in partitions "descent" keeps
        to sums over them; "auto" fetches few rows where these stall.
    tol : float
        Relative gap to reach, > 0.
    max_time : float, optional
        Seconds; the best certified point so far is returned. For kernels of many rows the
        certificate itself, a pass over all their values, comes on top.
    callback : callable, optional
        Called with each `Step`.
    fpr_max : float
        In (0, 1]: count only the fpr_max n_neg highest negatives, so that the objective is that of
        the partial AUC up to this false positive rate. A float is taken as the decimal number that
        it prints.
    tpr_min : float
        In [0, 1): count only the (1 - tpr_min) n_pos lowest positives.
    n_jobs : int, optional
        Threads for passes over many rows, no number depends on them; -1 for all processors. The
        linear algebra then takes one. By default all where that pays, within the bounds set already
        (`OMP_NUM_THREADS`).
    worst_of : array (n,), optional
        The group of each row: the largest of the groups' means counts, each over its own pairs.

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
    request = Request.of(
        lam,
        loss,
        pairs,
        positive,
        kernel,
        gamma,
        structure,
        structure_source,
        sample_weight,
        l1,
        groups,
        sign,
        penalty,
        fpr_max,
        tpr_min,
        y=y,
        qid=qid,
        time=time,
        event=event,
        worst_of=worst_of,
    )
    solution = solve_request(X, y, request, method, tol, max_time, callback)
    if request.is_partial:
        warn_if_trivial(request.loss, solution.certificate, tol)
    return solution


def solve_request(
    X: object,
    y: object,
    request: Request,
    method: str = "auto",
    tol: float = 1e-9,
    max_time: float | None = None,
    callback: Callback | None = None,
) -> Solution:
    """Return what `solve` does, for a request that was made before."""
    check_tolerance(tol, max_time)
    found = solve_large(X, y, request, method, tol, max_time, callback)
    if found is not None:
        return found
    return solve_formulated(X, y, request, method, tol, max_time, callback, collapse=True)[1]


def solve_large(
    X: object,
    y: object,
    request: Request,
    method: str,
    tol: float,
    max_time: float | None,
    callback: Callback | None,
) -> Solution | None:
    """Return the solution by reading the rows in blocks, or None where they are better held.

    Rows that could be held are, if the bins cannot prove what is asked for. Of rows in partitions
    method "descent" keeps the solution of the bins: proof files over partitions are made of bins.
    """
    if method not in ("auto", "descent"):
        refuse_method(X, method)
        return None
    start, large = time.monotonic(), streamed_problem(X, y, request)
    if large is None:
        return None
    found = choose_solver(large, method, tol, max_time).solve(large, callback=callback)
    if found.status != Status.STALLED or not can_be_held(X):
        return found
    left = None if max_time is None else max_time - (time.monotonic() - start)
    if left is not None and left <= 0:
        return found
    if isinstance(X, PartitionedRows):
        if method != "auto":
            return found
        X, y, request = held_rows(X, request)
    again = solve_formulated(X, y, request, method, tol, left, callback, collapse=True)[1]
    return better(found, again)


def solve_formulated(
    X: object,
    y: object,
    request: Request,
    method: str,
    tol: float,
    max_time: float | None,
    callback: Callback | None,
    collapse: bool = False,
) -> tuple[Formulation, Solution]:
    """Return the formulation and its solution, within `max_time` seconds for both.

    The features of a large kernel may take half of them; the certificate at the end is a pass
    over all kernel values, which comes on top.
    """
    start = time.monotonic()
    half, cuts = None if max_time is None else max_time / 2, method in PLAIN_KERNELS
    task = formulate(X, y, request, collapse, half, plain_kernel=cuts)
    spent, left = time.monotonic() - start, max_time
    if max_time is not None:
        left = max(max_time - spent, max_time / 10)
    solver = choose_solver(task.work, method, tol, left)
    found = task.judge(solver.solve(task.work, callback=callback), tol)
    if max_time is not None and spent > max_time / 2 and found.status == Status.STALLED:
        found = replace(found, status=Status.TIME_LIMIT)  # it was the features that time cut short
    ridge = isinstance(request.penalty, Ridge)  # the one penalty that makes no weight zero
    return task, found if ridge else with_zeros(task.meant, found)
