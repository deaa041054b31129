"""The regularization path: one problem at many lam, from large to small, certified at each.

The factor of a kernel and the whitening of a structure do not depend on lam, so they are made
once; each solution starts the next one. Rows in partitions stay where they are; few of them are
held in memory from the lam on at which their sums stall.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..certificate.solution import Solution, Status
from ..formulation.formulation import Formulation, formulate
from ..formulation.lam_grid import all_the_pairs, check_lams, lam_grid
from ..formulation.partitioned import dask_too, refuse_other_methods
from ..formulation.penalty_grid import strengthened, unit_penalty
from ..formulation.request import Request
from ..formulation.screening import with_zeros
from ..losses.loss import Loss
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.ordered.ordered_pairs import OrderedPairs
from ..pairs.statistics.concordance import right_share
from ..problem.penalties.penalty import Penalty
from ..spaces.blocked.tiles import Tiles
from ..spaces.gram import Gram, StreamedGram
from ..spaces.kernel import Kernel
from ..spaces.partitions.partitioned_rows import PartitionedRows
from ..tools.checks import check_callback, check_tolerance
from ..tools.threads import small_in_one_thread
from .in_blocks import can_be_held
from .partitions.held import better, held_formulation
from .partitions.path import auc_of, partitioned_formulation, partitioned_grid
from .paths.points import Path, PathPoint
from .solve import PLAIN_KERNELS, choose_solver


@dask_too
@small_in_one_thread
def regularization_path(
    X: object,
    y: object,
    lams: object = None,
    *,
    n_lams: int = 20,
    kernel: str | Kernel = "linear",
    gamma: float | None = None,
    structure: float = 0.0,
    structure_source: str = "full",
    loss: str | Loss = "hinge",
    pairs: AllPairs | PairList | OrderedPairs | None = None,
    positive: object = None,
    sample_weight: np.ndarray | None = None,
    fpr_max: float = 1.0,
    tpr_min: float = 0.0,
    qid: object = None,
    time: object = None,
    event: object = None,
    method: str = "auto",
    tol: float = 1e-6,
    max_time: float | None = None,
    callback: Callable[[PathPoint], object] | None = None,
    n_jobs: int | None = None,
    l1_ratio: float = 0.0,
    groups: object = None,
    sign: object = None,
) -> Path:
    """Solve the pairwise problem at many lam, with a proof of optimality at each.

    Parameters
    ----------
    X, y, kernel, gamma, structure, loss, pairs, positive, sample_weight, method
        The problem, as in `solve`; rows in partitions and dask collections too. The AUC of more
        than a million of these is known to within the pairs of one step of a fine grid.
    lams : array (k,), optional
        > 0; solved from the largest to the smallest, equal ones once. By default `lam_grid`.
    n_lams : int
        Length of the default grid.
    structure_source, fpr_max, tpr_min, qid, time, event, n_jobs
        As in `solve`.
    tol : float
        Relative gap to reach at each lam, > 0.
    max_time : float, optional
        Seconds for the whole path; the first point is always there.
    callback : callable, optional
        Called with each `PathPoint` once it is solved. If it raises `KeyboardInterrupt`, as Ctrl-C
        does, the points so far are returned.
    l1_ratio : float
        In [0, 1]: the penalty is lam ((1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1), from the ridge to
        the lasso. The default grid then begins where the weights leave zero.
    groups, sign
        As in `solve`; groups go with l1_ratio > 0.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If the input cannot be used; the message says what and where.
    """
    request = Request.of(
        None,
        loss,
        pairs,
        positive,
        kernel,
        gamma,
        structure,
        structure_source,
        sample_weight,
        penalty=unit_penalty(l1_ratio, groups, sign),
        fpr_max=fpr_max,
        tpr_min=tpr_min,
        y=y,
        qid=qid,
        time=time,
        event=event,
    )
    return path_of(X, y, request, lams, n_lams, method, tol, max_time, callback)


def path_of(
    X: object,
    y: object,
    request: Request,
    lams: object = None,
    n_lams: int = 20,
    method: str = "auto",
    tol: float = 1e-6,
    max_time: float | None = None,
    callback: Callable[[PathPoint], object] | None = None,
    judged: bool = True,
    held: Gram | None = None,
) -> Path:
    """Return what `regularization_path` does; the training AUC only if `judged`.

    `held` is the space of a kernel on these rows where it was made before, as in `formulate`.
    """
    check_tolerance(tol, max_time)
    check_callback(callback)
    start = time.perf_counter()
    given = None if lams is None else check_lams(lams)
    task = partitioned_formulation(X, y, request)
    if task is None:
        task = formulate(X, y, request, plain_kernel=method in PLAIN_KERNELS, held=held)
    else:
        refuse_other_methods(X, method)
    grid = _grid(task, n_lams) if given is None else given
    unit, task = request.penalty, task.with_penalty(strengthened(request.penalty, float(grid[0])))
    hold = None
    if isinstance(X, PartitionedRows) and method == "auto" and can_be_held(X):
        hold = functools.partial(held_formulation, X, request)
    points, interrupted = _follow(
        task, unit, grid, method, tol, start, max_time, callback, judged, hold
    )
    whole = len(points) == grid.size and not interrupted
    complete = whole and not _stopped(points[-1].solution)
    return Path(points, task, complete, time.perf_counter() - start, interrupted)


def _follow(
    task: Formulation,
    unit: Penalty,
    grid: np.ndarray,
    method: str,
    tol: float,
    start: float,
    max_time: float | None,
    callback: Callable[[PathPoint], object] | None,
    judged: bool,
    hold: Callable[[], Formulation] | None,
) -> tuple[list[PathPoint], bool]:
    """Solve at each lam of the grid, each started from the one before, unless interrupted.

    Where sums over partitions stall, `hold` gives the problem over the same rows in memory.
    """
    points: list[PathPoint] = []
    w: np.ndarray | None = None
    pairs = all_the_pairs(task.meant)
    end = np.inf if max_time is None else start + max_time
    tiles = _kernel_values(task, tol, end)
    for lam in grid:
        if time.perf_counter() >= end and points:
            break
        try:
            now = task.with_penalty(strengthened(unit, float(lam)))
            found = _solved(now, method, tol, end, w)
            stalled = found.status == Status.STALLED and time.perf_counter() < end
            if hold is not None and stalled:  # at smaller lam it would be the same
                task, hold = hold(), None
                now, pairs = task.with_penalty(now.meant.penalty), all_the_pairs(task.meant)
                found = better(found, _solved(now, method, tol, end, found.w))
            solution = with_zeros(now.meant, now.judge(found, tol))
            share = _right_share(now, pairs, solution) if judged else np.nan
            point = PathPoint(float(lam), solution, share)
            points.append(point)
            if callback is not None:
                callback(point)
        except KeyboardInterrupt:
            if not points:
                raise
            return points, True
        if _stopped(solution):
            break
        w = found.w
    del tiles
    return points, points[-1].solution.status == Status.INTERRUPTED


def _solved(
    task: Formulation, method: str, tol: float, end: float, w: np.ndarray | None
) -> Solution:
    """Return the solution of `work` from a start, found before the time `end`."""
    left = None if np.isinf(end) else max(end - time.perf_counter(), 1e-3)
    return choose_solver(task.work, method, tol, left).solve(task.work, w)


def _kernel_values(task: Formulation, tol: float, end: float) -> Tiles | None:
    """Return the tiles that hold a kernel's values; keep the object to share them among all lam."""
    space = task.work.space
    if not isinstance(space, StreamedGram):
        return None
    return space.tiles(tol, lambda: time.perf_counter() > end)


def _grid(task: Formulation, n_lams: int) -> np.ndarray:
    space = task.work.space
    apart = isinstance(space, PartitionedRows)
    return partitioned_grid(space, n_lams) if apart else lam_grid(task.work, n_lams)


def _right_share(task: Formulation, pairs: Any, solution: Solution) -> float:
    if isinstance(task.meant.space, PartitionedRows):
        return auc_of(task.meant.space, solution.w)
    return right_share(pairs, task.meant.space.scores(solution.w))


def _stopped(solution: Solution) -> bool:
    return solution.status in (Status.TIME_LIMIT, Status.INTERRUPTED)
