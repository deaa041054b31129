"""Cross-validation over rows in partitions: what each fold gives along a path."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from ...certificate.partitioned.grouped.order import group_share_between
from ...certificate.partitioned.order import order_task, share_above
from ...certificate.partitioned.tasks import ExtentTask
from ...errors import InputError, NoPairError, NoRowsError
from ...formulation.lam_grid import check_lams
from ...formulation.partitioned import check_request
from ...formulation.request import Request
from ...spaces.partitions.chosen.folds import fold_of
from ...spaces.partitions.grouped.folds import fold_of_groups, starts_of_folds
from ...spaces.partitions.grouped.grouped_rows import GroupedRows
from ...spaces.partitions.partitioned_rows import PartitionedRows
from ...tools.checks import check_count, check_tolerance
from ..path import path_of
from ..paths.judged_folds import JudgedFold, raise_if_interrupted
from .path import auc_of, partitioned_grid


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

    Which row is in which fold tell `seed` and its number within its class, or the name of its
    group: folds have the same rows however the rows are cut. They have the same number of each
    class, or of groups, which stay whole; or one less.
    """
    check_tolerance(tol, max_time)
    check_request(request)
    if not isinstance(cv, int | np.integer):
        raise InputError(f"rows in partitions take a number of folds (cv), not {cv!r}")
    check_count("cv", cv, 2)
    start = time.perf_counter()
    grid = partitioned_grid(rows, n_lams) if lams is None else check_lams(lams)
    found = []
    for number, (train, test) in enumerate(_parts(rows, int(cv), seed)):
        left = None if max_time is None else max_time - (time.perf_counter() - start)
        share = None if left is None else max(left / (int(cv) - number), 1e-3)
        found.append(_judged(train, test, request, grid, method, tol, share))
    return grid, found


def _judged(
    train: PartitionedRows,
    test: PartitionedRows,
    request: Request,
    grid: np.ndarray,
    method: str,
    tol: float,
    share: float | None,
) -> JudgedFold:
    path = path_of(train, None, request, grid, method=method, tol=tol, max_time=share, judged=False)
    raise_if_interrupted(path)
    judged = []
    for point in path.points:
        w, certificate = point.solution.w, point.certificate
        least, most = _range_of_share(test, w, float(certificate.radius))
        relative = certificate.relative_gap
        gap = np.nan if relative is None else relative
        judged.append((auc_of(test, w), least, most, gap))
    return JudgedFold(*np.array(judged).T)


def _range_of_share(rows: PartitionedRows, w: np.ndarray, radius: float) -> tuple[float, float]:
    """Return bounds of the AUC, or concordance, of all weights no farther from `w` than that."""
    if isinstance(rows, GroupedRows):
        return group_share_between(rows, w, radius)
    # Else the bounds are counted on a grid of the box of the rows, which is far too wide.
    rows.last_range = w, rows.run(ExtentTask(rows.offset, w)).ends
    counts = rows.run(order_task(rows, w, radius, 0.0, rows.facts.weighted))
    return share_above(counts, 1), 1.0 - share_above(counts, 0)


def _parts(
    rows: PartitionedRows, folds: int, seed: int
) -> Iterator[tuple[PartitionedRows, PartitionedRows]]:
    """Yield the rows without each fold, and the fold."""
    if isinstance(rows, GroupedRows):
        return _parts_by_group(rows, folds, seed)
    return _parts_by_class(rows, folds, seed)


def _parts_by_group(
    rows: GroupedRows, folds: int, seed: int
) -> Iterator[tuple[GroupedRows, GroupedRows]]:
    """Yield the rows without each fold, and the fold; groups stay whole."""
    starts = starts_of_folds(rows, folds, seed)
    for number in range(folds):
        try:
            yield fold_of_groups(rows, starts, number, seed)
        except NoPairError:
            raise InputError(f"fold {number} has no pair of rows: use fewer folds") from None


def _parts_by_class(
    rows: PartitionedRows, folds: int, seed: int
) -> Iterator[tuple[PartitionedRows, PartitionedRows]]:
    """Yield the rows without each fold, and the fold; both have both classes."""
    for number in range(folds):
        few = f"fold {number} has training or held-out rows of one class only: use fewer folds"
        try:
            train, test = fold_of(rows, number, folds, seed)
        except NoRowsError:
            raise InputError(few) from None
        if not all((part.facts.mass > 0).all() for part in (train, test)):
            raise InputError(few)
        yield train, test
