"""`solve`: data in, the certified optimum out; `solve_problem` takes a problem already stated."""

from __future__ import annotations

import math
import time as clock
from dataclasses import replace
from typing import Any

import numpy as np

from ..certificate.certificate import warn_if_trivial
from ..certificate.solution import Callback, Solution, Status
from ..errors import InputError, brief
from ..formulation.formulation import Formulation, formulate
from ..formulation.request import Options, Request, dask_too, partitioned_problem, refuse_method
from ..formulation.screening import zeros_proved
from ..losses.registry import HINGE, SQUARED_HINGE, Loss
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.ordered_pairs import OrderedPairs
from ..problem.penalties import Penalty
from ..problem.problem import Problem
from ..solvers.choose import check_method, choose_solver
from ..spaces.blocks import StreamedRows
from ..spaces.kernels import Kernel
from ..spaces.partitions import PartitionedRows
from ..spaces.rows import Space, partitions_of
from ..structured import Structured
from ..tools.arrays import as_float64, on_disk
from ..tools.threads import limited, small_in_one_thread

PLAIN_KERNELS = ("auto", "descent", "cutting-plane")  # solve a kernel machine without features
STREAM_FROM_NUMBERS = 8_000_000  # numbers in X from which blocks cost less than a centred copy
STREAM_FROM_ROWS = 200_000  # rows from which bins cost less than sorting
# Columns from which rows in memory are quicker: each product is a pass over the blocks, or two.
WIDE = {HINGE.name: 500, SQUARED_HINGE.name: 100}
MOSTLY_DIFFERENT = 0.95  # share of different ones for blocks: bins cannot tell tied scores apart


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
    X : array, memory map, sparse matrix or dask array (n, d), `StreamedRows`, `PartitionedRows`
        Finite numbers.
    y : array (n,)
        Labels of two kinds; grades with `qid`; None with `time`, `OrderedPairs` or
        `PartitionedRows`, which holds its labels.
    lam : float, optional
        > 0; 0 is allowed where l1 > 0. Or give `penalty`.
    kernel : {"linear", "rbf", "laplacian", "precomputed"} or Kernel
        For "precomputed", X is the Gram matrix (n, n). Your own has the methods of `Kernel`.
    gamma : float, optional
        > 0, of the Gaussian exp(-gamma |x - z|^2) or the Laplacian; 1 / d by default.
    structure : float
        >= 0: the weight of SAUC-SVM's structure (of all data) relative to |f|^2.
    loss : {"hinge", "squared_hinge", "square", "logistic", "smooth_hinge", "exponential"} or Loss
        Your own has the methods of `aucert.exact.losses.registry.Loss`.
    pairs, positive : AllPairs, PairList or OrderedPairs; label, optional
        All pairs, and the larger label, by default.
    sample_weight : array (n,), optional
        >= 0; a weight means repetition. Not with `pairs`. With `qid`, `time` or `worst_of` whole
        numbers below 2^52, or such multiples of one power of two.
    l1, groups : float, array (d,), optional
        l1 >= 0: adds l1 |w|_1 (the elastic net) or, given the group of each feature, the group
        lasso. `l1`, `sign` and `penalty` are for linear problems without structure.
    sign : "nonnegative" or int array, optional
        w >= 0 for all features, or for those columns.
    penalty : Penalty, optional
        Instead of `lam`, `l1`, `groups`, `sign`; see `aucert.exact.problem.penalties`.
    qid : array (n,), optional
        The query of each row, in one partition of a dask collection: a pair is two rows of one
        query, the larger grade above. Like `time`, not with `fpr_max` or `tpr_min`; `structure` is
        then the scatter of all rows of two grades.
    time, event : arrays (n,), optional
        Times, and whether the event was seen: a row with an event is above rows of later times.
    method : {"auto", "closed-form", "cutting-plane", "descent", "qp", "lifted", "proximal"}
        "auto" takes the closed form for the square loss, the descent for other losses with the
        ridge, the proximal method for all else, and loads rows in partitions, if they fit, where
        sums over them stall; "descent" does not.
    tol : float
        Relative gap to reach, > 0.
    max_time : float, optional
        Seconds; then the best certified point is returned. The solver has at least a tenth of
        them. A kernel's certificate, a pass over all its values, and listing a QP come on top.
    callback : callable, optional
        Called with each `Step`.
    fpr_max, tpr_min : float
        In (0, 1] and [0, 1): only the fpr_max n_neg highest negatives and (1 - tpr_min) n_pos
        lowest positives count, as in the partial AUC between these rates. A float means the decimal
        number that it prints.
    n_jobs : int, optional
        Threads for passes over many rows, -1 for all; the linear algebra then uses one. By default
        all if that pays, within limits like `OMP_NUM_THREADS`. No result depends on it.
    worst_of : array (n,), optional
        The group of each row: minimises the largest mean loss over the pairs within one group.

    Returns
    -------
    Solution
        `w` are weights of features, or for kernels coefficients of k(., x_i); the certificate is
        about the problem as stated: the true kernel, the structured norm.

    Raises
    ------
    InputError
        If the input cannot be used; the message says what and where.
    """
    request = Request.of(
        lam, loss, pairs=pairs, positive=positive, kernel=kernel, gamma=gamma, structure=structure,
        sample_weight=sample_weight, l1=l1, groups=groups, sign=sign, penalty=penalty,
        fpr_max=fpr_max, tpr_min=tpr_min, y=y, qid=qid, time=time, event=event, worst_of=worst_of,
    )  # fmt: skip
    options = Options(method=method, tol=tol, max_time=max_time, callback=callback, n_jobs=n_jobs)
    solution = solve_request(X, y, request, options)
    if request.is_partial:
        warn_if_trivial(request.loss, solution.certificate, tol)
    return solution


def solve_problem(
    problem: Problem,
    w0: np.ndarray | None = None,
    *,
    method: str = "auto",
    tol: float = 1e-9,
    max_time: float | None = None,
    callback: Callback | None = None,
    n_jobs: int | None = None,
) -> Solution:
    """Solve a problem that is already stated: minimise penalty(f) + risk(f).

    Parameters
    ----------
    problem : Problem
        Of `linear_problem`, `pair_problem` or `ordered_problem`, or made from your own parts.
        `solve` makes one of data, and solves kernels in features if that is faster.
    w0 : array (dim,), optional
        Where to start. The answer does not depend on it.
    method, tol, max_time, callback, n_jobs
        As in `solve`.

    Raises
    ------
    InputError
        If the method cannot solve the problem, or its norm has a structure, which needs `solve`.
    """
    if not isinstance(problem, Problem):
        raise InputError(f"problem must be a Problem, not {brief(problem)}: see linear_problem")
    options = Options(method=method, tol=tol, max_time=max_time, callback=callback, n_jobs=n_jobs)
    with limited(problem.n * problem.space.dim, n_jobs):
        return solved(problem, options, w0)


def solved(problem: Problem, options: Options, w0: np.ndarray | None = None) -> Solution:
    if isinstance(problem.space, Structured):
        raise InputError("this norm has a structure: give the data to solve, with structure=")
    w0 = None if w0 is None else problem.check_weights(w0)
    solver = choose_solver(problem, options.method, options.tol, options.max_time)
    return with_zeros(problem, solver.solve(problem, w0, callback=options.callback))


def with_zeros(problem: Problem, solution: Solution) -> Solution:
    zeros = zeros_proved(problem, solution.w, solution.witness, solution.certificate)
    return replace(solution, zeros_proved=zeros)


def solve_request(X: object, y: object, request: Request, options: Options) -> Solution:
    return formulate_and_solve(X, y, request, options, collapse=True)[1]


def formulate_and_solve(
    X: object, y: object, request: Request, options: Options, collapse: bool = False
) -> tuple[Formulation | None, Solution]:
    """Return the formulation (None where rows are read in blocks) and the solution; with `collapse`
    equal rows are one. Where sums by bin stall, rows that fit into memory are solved there, but not
    partitions by "descent": their proof files are made of bins."""
    check_method(options.method)
    start, streamed = clock.monotonic(), None
    if options.method in ("auto", "descent"):
        streamed = streamed_problem(X, y, request)
    else:
        refuse_method(X, options.method)
    if streamed is None:
        return _in_memory(X, y, request, options.after(clock.monotonic() - start), collapse)
    found = solved(streamed, options)
    apart = partitions_of(X)
    for_proof = apart is not None and options.method == "descent"
    if for_proof or found.status != Status.STALLED or not can_be_held(X):
        return None, found
    if options.max_time is not None:
        left = options.max_time - (clock.monotonic() - start)
        if left <= 0:
            return None, replace(found, status=Status.TIME_LIMIT)
        options = replace(options, max_time=left)
    if apart is not None:
        X, y, request = loaded(apart, request)
    elif isinstance(X, np.ndarray) and on_disk(X):  # blocks are compared with the first reading
        space: Any = streamed.space
        X = np.concatenate([space.block(rows) for rows in space.blocks()])
    return None, better(found, _in_memory(X, y, request, options, collapse=True)[1])


def _in_memory(
    X: object, y: object, request: Request, options: Options, collapse: bool
) -> tuple[Formulation, Solution]:
    """Return the formulation of rows in memory, features in half of the time, and its solution."""
    start = clock.monotonic()
    half = None if options.max_time is None else options.max_time / 2
    task = formulate(X, y, request, collapse, half, plain_kernel=options.method in PLAIN_KERNELS)
    spent = clock.monotonic() - start
    solver = choose_solver(task.work, options.method, options.tol, options.after(spent).max_time)
    found = task.judge(solver.solve(task.work, callback=options.callback), options.tol)
    cut_short = task.factor is not None and half is not None and spent > half
    if cut_short and found.status == Status.STALLED:  # there was no time for all features
        found = replace(found, status=Status.TIME_LIMIT)
    return task, with_zeros(task.meant, found)


def streamed_problem(X: object, y: object, request: Request) -> Problem | None:
    """Return the problem over rows read in blocks, or None for others and all but plain hinges."""
    apart = partitioned_problem(X, y, request)
    if apart is not None:
        return apart
    if not (request.is_plain and request.loss in (HINGE, SQUARED_HINGE)):
        return None
    if isinstance(X, np.ndarray) and X.ndim == 2 and not np.ma.isMaskedArray(X):
        X = _in_blocks(X, request.loss)
    if not (isinstance(X, Space) and X.in_blocks):
        return None
    return Problem(X, request.risk(request.mask(y)), request.penalty)


def can_be_held(X: Any) -> bool:
    known = isinstance(X, np.ndarray) or partitions_of(X) is not None
    return known and math.prod(X.shape) < STREAM_FROM_NUMBERS


def _in_blocks(X: np.ndarray, loss: Loss) -> np.ndarray | StreamedRows:
    """Return an array that is better read in blocks as such rows, and any other as it is."""
    if isinstance(X, np.memmap):
        return StreamedRows(X)
    n, dim = X.shape
    if dim >= WIDE[loss.name] and X.size <= 200_000_000:  # 1.6 GB
        return X
    least = STREAM_FROM_ROWS // (2 if dim <= 5 else 1)  # few columns: bins pay sooner
    many = X.size >= STREAM_FROM_NUMBERS
    if not X.size or (not many and n < least):
        return X
    if X.dtype.kind not in "biuf":
        X = as_float64(X, "X", "a matrix of numbers")  # once, not in every pass
    at = np.unique(np.random.default_rng(0).integers(0, n, 1024))  # do these rows differ?
    differ = many or len(np.unique(X[at], axis=0)) >= MOSTLY_DIFFERENT * at.size
    return StreamedRows(X) if differ else X


def loaded(
    rows: PartitionedRows, request: Request
) -> tuple[np.ndarray, np.ndarray | None, Request]:
    """Return all rows, their labels (None for grouped ones), and the request for them: a pass."""
    if rows.grouped is not None:
        found = rows.grouped.all_rows()
        pairs = OrderedPairs(found.group, found.key, found.weight, found.weight)
        return found.rows, None, replace(request, pairs=pairs, positive=None)
    X, positive, weight, *_ = rows.drawn(1.0, 1.0)
    return X, positive, replace(request, pairs=AllPairs(weight), positive=True)


def better(one: Solution, last: Solution) -> Solution:
    """Return the one with the smaller proved gap; if time ended the last one, it ended both."""
    if one.certificate.gap >= last.certificate.gap:
        return last
    return replace(one, status=last.status) if last.status == Status.TIME_LIMIT else one
