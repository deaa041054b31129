"""Cross-validation over rows in partitions: what each fold gives along a path."""

from __future__ import annotations

import time

import numpy as np

from ...certificate.partitioned.order import order_task, share_above
from ...certificate.partitioned.spread import counted_scores
from ...errors import InputError
from ...formulation.lam_grid import check_lams
from ...formulation.partitioned import check_request
from ...formulation.request import Request
from ...spaces.partitions.folds import fold_of
from ...spaces.partitions.partitioned_rows import PartitionedRows
from ...tools.checks import check_count, check_tolerance
from ..judged_folds import JudgedFold
from ..path import path_of
from .path import partitioned_grid


def judged_partitions(
    rows: PartitionedRows,
    request: Request,
    lams: object,
    cv: object,
    seed: int,
    n_lams: int,
    method: str,
    tol: float,
    max_time: float | None,
) -> tuple[np.ndarray, list[JudgedFold]]:
    """Return the grid and what each fold gives, one after the other.

    Which row is in which fold tells a hash of its place and of `seed`; folds have about the same
    size, and about the same share of positive rows.

    Raises
    ------
    InputError
        If `cv` is no number of folds, or a fold lacks a class.
    """
    check_tolerance(tol, max_time)
    check_request(request)
    if not isinstance(cv, int | np.integer):
        raise InputError(f"rows in partitions take a number of folds (cv), not {cv!r}")
    check_count("cv", cv, 2)
    start = time.perf_counter()
    grid = partitioned_grid(rows, n_lams) if lams is None else check_lams(lams)
    found = []
    for number in range(int(cv)):
        left = None if max_time is None else max_time - (time.perf_counter() - start)
        share = None if left is None else max(left / (int(cv) - number), 1e-3)
        found.append(_judged(rows, number, int(cv), seed, request, grid, method, tol, share))
    return grid, found


def _judged(
    rows: PartitionedRows,
    number: int,
    folds: int,
    seed: int,
    request: Request,
    grid: np.ndarray,
    method: str,
    tol: float,
    share: float | None,
) -> JudgedFold:
    train, test = _both(rows, number, folds, seed)
    path = path_of(train, None, request, grid, method=method, tol=tol, max_time=share, judged=False)
    judged = []
    for point in path.points:
        w, certificate = point.solution.w, point.certificate
        low, high = counted_scores(test, w).auc_range()
        counts = test.run(order_task(test, w, float(certificate.radius), 0.0, test.facts.weighted))
        right, wrong = (share_above(counts, side) for side in (1, 0))
        relative = certificate.relative_gap
        gap = np.nan if relative is None else relative
        judged.append(((low + high) / 2, right, 1.0 - wrong, gap))
    return JudgedFold(*np.array(judged).T)


def _both(
    rows: PartitionedRows, number: int, folds: int, seed: int
) -> tuple[PartitionedRows, PartitionedRows]:
    """Return the rows without a fold, and the fold; both have both classes."""
    few = f"fold {number} has training or held-out rows of one class only: use fewer folds"
    try:
        both = fold_of(rows, number, folds, seed)
    except InputError as problem:
        if "all partitions are empty" not in str(problem):
            raise
        raise InputError(few) from None
    for part in both:
        if not (part.facts.mass > 0).all():
            raise InputError(few)
    return both
