"""The regularization path: one problem at many lam, certified at each; each starts the next one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np

from ..certificate.certificate import Certificate
from ..certificate.evaluation import class_sums, loss_at, score_ends
from ..certificate.order import auc_of, paired_range
from ..certificate.solution import Solution, Status
from ..errors import InputError, brief
from ..formulation.formulation import Formulation, formulate
from ..formulation.request import Options, Request, dask_too, partitioned_problem, refuse_method
from ..losses.registry import HINGE
from ..pairs.concordance import right_share
from ..pairs.ordered_pairs import OrderedPairs
from ..problem.penalties import ElasticNet, GroupLasso, Penalty, Ridge, Sign, penalty_from
from ..problem.problem import Problem
from ..problem.risk import least_margin
from ..problem.tail import Tail
from ..spaces.gram import Gram
from ..spaces.partitions import PartitionedRows
from ..tools.arrays import as_float64, check_count, check_number
from ..tools.compiling import drop_half_imported
from ..tools.threads import small_in_one_thread
from .solve import PLAIN_KERNELS, better, can_be_held, choose_solver, loaded, with_zeros

STOPPED = (Status.TIME_LIMIT, Status.INTERRUPTED)


@dataclass(frozen=True, eq=False)
class PathPoint:
    """One lam of a path: its solution, and the AUC of the training rows, row weights counted, or
    their concordance; auc is NaN if it was not asked for."""

    lam: float
    solution: Solution
    auc: float

    @property
    def certificate(self) -> Certificate:
        return self.solution.certificate


@dataclass(frozen=True, eq=False)
class Path:
    """Solutions at falling lam.

    Attributes
    ----------
    points : list of PathPoint, largest lam first
    task : Formulation
        The problem at the largest lam; all others differ in lam alone.
    complete, interrupted : bool
        Not complete after a time limit, or Ctrl-C, which interrupts: the last gap is valid, smaller
        lam are missing.
    seconds : float
    """

    points: list[PathPoint]
    task: Formulation
    complete: bool
    seconds: float
    interrupted: bool = False

    @property
    def lams(self) -> np.ndarray:
        """The lam of each point, falling: (k,)."""
        return np.array([point.lam for point in self.points])

    @property
    def weights(self) -> np.ndarray:
        """Weights of the features, or coefficients of k(., x_i) for kernels: (k, dim)."""
        return np.array([point.solution.w for point in self.points])

    @property
    def aucs(self) -> np.ndarray:
        """AUC of the training rows: (k,)."""
        return np.array([point.auc for point in self.points])

    @property
    def gaps(self) -> np.ndarray:
        """Certified gaps: (k,)."""
        return np.array([point.certificate.gap for point in self.points])

    def to_dict(self) -> dict[str, Any]:
        """Return each lam's certificate and AUC as JSON can hold them; `aucert plot` draws them."""
        keys = ("primal", "dual", "gap", "relative_gap", "rounding")
        points = [
            {"lam": point.lam, "auc": None if np.isnan(point.auc) else float(point.auc)}
            | {key: getattr(point.certificate, key) for key in keys}
            | {"status": str(point.solution.status)}
            for point in self.points
        ]
        loss = self.task.meant.loss.name
        return {"path": points, "loss": loss, "complete": self.complete, "seconds": self.seconds}

    def scores(self, X: object) -> np.ndarray:
        """Return the scores at each lam, (k, m), of rows (m, d), or (m, n) if precomputed."""
        return np.array([self.task.evaluate(point.solution.w, X) for point in self.points])


@dask_too
@small_in_one_thread
def regularization_path(
    X: object,
    y: object,
    lams: object = None,
    *,
    n_lams: int = 20,
    method: str = "auto",
    tol: float = 1e-6,
    max_time: float | None = None,
    callback: Callable[[PathPoint], object] | None = None,
    n_jobs: int | None = None,
    l1_ratio: float = 0.0,
    groups: object = None,
    sign: object = None,
    **asked: Any,
) -> Path:
    """Solve the pairwise problem at many lam, with a proof of optimality at each.

    Parameters
    ----------
    X, y, method, n_jobs, groups, sign, **asked
        As in `solve`, like its errors and other arguments but `lam`, `l1`, `penalty`, `worst_of`.
        Above a million rows in partitions, AUC is known up to pairs within a step of a fine grid.
    lams : array (k,), optional
        > 0; solved from the largest to the smallest, equal ones once. By default `lam_grid`.
    n_lams : int
        Length of the default grid, at most 100,000.
    tol : float
        Relative gap to reach at each lam, > 0.
    max_time : float, optional
        Seconds for the whole path; the first point is always computed.
    callback : callable, optional
        Called with each `PathPoint` once it is solved. If it raises `KeyboardInterrupt`, as Ctrl-C
        does, the points so far are returned.
    l1_ratio : float
        In [0, 1]: the penalty is lam ((1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1), from the ridge to
        the lasso. The default grid then begins at the lam below which some weight is not zero.
        > 0 with `groups`.
    """
    request = Request.of(None, penalty=unit_penalty(l1_ratio, groups, sign), y=y, **asked)
    if request.worst_of is not None:
        raise InputError("a path is not for the worst of several groups: solve at each lam")
    options = Options(method=method, tol=tol, max_time=max_time, callback=callback, n_jobs=n_jobs)
    return path_of(X, y, request, lams, n_lams, options)


def path_of(
    X: object,
    y: object,
    request: Request,
    lams: object,
    n_lams: int,
    options: Options,
    judged: bool = True,
    held: Gram | None = None,
) -> Path:
    """Return what `regularization_path` does; the training AUC only if `judged`."""
    start = time.perf_counter()
    end = np.inf if options.max_time is None else start + options.max_time
    method, tol = options.method, options.tol
    grid: Any = None if lams is None else check_lams(lams)
    apart = partitioned_problem(X, y, request)
    if apart is None:
        task = formulate(X, y, request, plain_kernel=method in PLAIN_KERNELS, held=held)
    else:
        if method not in ("auto", "descent"):
            refuse_method(X, method)
        task = Formulation(apart, apart)
    if grid is None and apart is None:
        grid = lam_grid(task.work, n_lams)
    elif grid is None:
        grid = partitioned_grid(cast(PartitionedRows, X), n_lams)
    first = task = task.with_penalty(strengthened(request.penalty, float(grid[0])))
    to_hold = method == "auto" and apart is not None and can_be_held(X)
    gram = task.work.space.gram  # a kernel's values, held for all lam
    shared = None if gram is None else gram.product(tol, lambda: time.perf_counter() > end)

    def solution_of(now: Formulation, w: np.ndarray | None) -> Solution:
        left = None if np.isinf(end) else max(end - time.perf_counter(), 1e-3)
        return choose_solver(now.work, method, tol, left).solve(now.work, w)

    points: list[PathPoint] = []
    w, interrupted = None, False
    try:
        for lam in grid:
            if points and (points[-1].solution.status in STOPPED or time.perf_counter() >= end):
                break
            now = task.with_penalty(strengthened(request.penalty, float(lam)))
            found = solution_of(now, w)
            if to_hold and found.status == Status.STALLED and time.perf_counter() < end:
                # Where sums over partitions stall, few rows are held in memory from there on.
                to_hold, task = False, formulate(*loaded(cast(PartitionedRows, X), request))
                now = task.with_penalty(now.meant.penalty)
                found = better(found, solution_of(now, found.w))
            w, solution = found.w, with_zeros(now.meant, now.judge(found, tol))
            share, rows = np.nan, now.meant.space
            if judged and rows.apart is not None:
                share = auc_of(rows.apart, solution.w)
            elif judged:
                share = right_share(all_the_pairs(now.meant), rows.scores(solution.w))
            points.append(PathPoint(float(lam), solution, share))
            if options.callback is not None:
                options.callback(points[-1])
    except KeyboardInterrupt:
        if not points:
            raise
        drop_half_imported()
        interrupted = True
    del shared
    last = points[-1].solution
    interrupted |= last.status == Status.INTERRUPTED
    complete = len(points) == grid.size and not interrupted and last.status not in STOPPED
    return Path(points, first, complete, time.perf_counter() - start, interrupted)


def unit_penalty(l1_ratio: float, groups: object = None, sign: object = None) -> Penalty:
    """Return (1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1, of groups or signs where these are given."""
    share = check_number("l1_ratio", l1_ratio, 0.0, 1.0, closed="both")
    if groups is not None and share == 0:
        raise InputError("groups need l1_ratio > 0: it is the weight of their norms")
    return penalty_from(1.0 - share, share, groups, sign)


def strengthened(penalty: object, strength: float) -> Penalty:
    if isinstance(penalty, Ridge):
        return Ridge(penalty.lam * strength)
    if isinstance(penalty, Sign):
        inner: Any = strengthened(penalty.penalty, strength)
        return replace(penalty, penalty=inner)
    if isinstance(penalty, ElasticNet | GroupLasso):
        return replace(penalty, l2=penalty.l2 * strength, l1=penalty.l1 * strength)
    raise InputError(f"a path is for the penalties of this library, not {brief(penalty)}")


def lam_grid(problem: Problem, n_lams: int) -> np.ndarray:
    """Return falling lam, evenly spaced in their logarithm. A penalty with l1 begins where zero
    becomes optimal: where the pull g at zero scores, the one subgradient there, lies in lam C."""
    penalty = problem.penalty
    l1 = penalty.penalty if isinstance(penalty, Sign) else penalty
    if not isinstance(l1, ElasticNet | GroupLasso) or l1.l1 == 0:
        return spaced(largest_lam(problem), n_lams)
    g = problem.space.pull(problem.sums(np.zeros(problem.n)).c)
    g = penalty.cut(g) if isinstance(penalty, Sign) else g
    parts = np.abs(g) / l1.l1 if isinstance(l1, ElasticNet) else l1.norms(g) / l1.radii
    return spaced(float(parts.max(initial=0.0)) or 1.0, n_lams, 1e-3)


def spaced(top: float, n_lams: int, share: float = 1e-5) -> np.ndarray:
    """Return the default grid, from its largest lam down to this share of it."""
    count = check_count("n_lams", n_lams)
    if count > 100_000:  # each is a problem, whose weights are kept
        raise InputError(f"n_lams must be at most 100000, not {count}")
    return np.geomspace(1.0, share, count) * top


def largest_lam(problem: Problem) -> float:
    """Return the lam from which on the hinge's optimum only shrinks: max_ij delta'(x_i - x_j),
    delta the mean difference over the pairs, is the least lam at which no pair exceeds its margin
    at delta / lam. For the other losses it is a scale."""
    space, pairs = problem.space, all_the_pairs(problem)
    mass = pairs.row_mass()
    if isinstance(pairs, OrderedPairs):  # no pair has its margin where all scores are zero
        scores = space.scores(space.pull(pairs.sums(np.zeros(pairs.n), HINGE).c))
        widest = float(np.ptp(scores[mass > 0]))
    else:
        scores = space.scores(space.pull(np.where(pairs.positive, mass, -mass)))
        widest = -least_margin(pairs, -scores, -scores)
    return lam_below(widest, space.reach)


def lam_below(widest: float, reach: float) -> float:
    if widest > 1e-14 * reach**2:
        return widest
    return reach**2 if reach > 0 else 1.0


def check_lams(lams: object) -> np.ndarray:
    values = as_float64(lams, "lams").ravel()
    if values.size == 0:
        raise InputError("lams is empty: give at least one lam")
    for lam in values:
        Ridge(float(lam))
    return np.unique(values)[::-1]


def all_the_pairs(problem: Problem) -> Any:
    """Return the pairs of a mean, and for partial AUC all pairs."""
    return problem.risk.mean.pairs if isinstance(problem.risk, Tail) else problem.pairs


def partitioned_grid(rows: PartitionedRows, n_lams: int) -> np.ndarray:
    none = np.zeros(rows.dim)
    if rows.grouped is not None:
        problem: Any = partitioned_problem(rows, None, Request.of(1.0))
        low, high = paired_range(rows.grouped, loss_at(problem, none, 1).pull)
    else:
        sums = rows.total(partial(class_sums, rows.offset, none, None))
        means = sums.vectors[:, 0] / sums.numbers[:, :1]
        _, high, low, _ = score_ends(rows, means[1] - means[0])
    return spaced(lam_below(float(high - low), rows.reach), n_lams)
