"""Paths of problems over rows in partitions: their grid, their AUC, and the formulation."""

from __future__ import annotations

import numpy as np

from ...certificate.partitioned.class_tasks import MomentsTask
from ...certificate.partitioned.grouped.evaluate import OfGroups
from ...certificate.partitioned.grouped.order import PairedExtentTask, group_concordance
from ...certificate.partitioned.spread import auc_between
from ...certificate.partitioned.tasks import ExtentTask
from ...formulation.formulation import Formulation
from ...formulation.lam_grid import grid_below
from ...formulation.partitioned import partitioned_problem
from ...formulation.request import Request
from ...spaces.partitions.grouped.grouped_rows import GroupedRows
from ...spaces.partitions.partitioned_rows import PartitionedRows


def partitioned_formulation(X: object, y: object, request: Request) -> Formulation | None:
    """Return the formulation over rows in partitions, or None if `X` is anything else."""
    problem = partitioned_problem(X, y, request)
    return None if problem is None else Formulation(problem, problem, np.copy)


def partitioned_grid(rows: PartitionedRows, n_lams: int) -> np.ndarray:
    """Return the default grid, as `formulation.lam_grid.lam_grid` does: two passes over the rows.

    The mean difference over the pairs of two classes is that of the classes' means; over the pairs
    within queries it is the pull of the hinge at zero, where no pair has its margin.
    """
    offset, none = rows.offset, np.zeros(rows.dim)
    if isinstance(rows, GroupedRows):
        problem = partitioned_problem(rows, None, Request.of(1.0))
        assert problem is not None
        low, high = rows.run(PairedExtentTask(offset, OfGroups(problem).at(none).pull))
        return grid_below(high - low, rows.reach, n_lams)
    sums = rows.run(MomentsTask(offset, none))
    means = sums.vectors[:, 0] / sums.numbers[:, :1]
    ends = rows.run(ExtentTask(offset, means[1] - means[0])).ends
    return grid_below(float(ends[1] - ends[2]), rows.reach, n_lams)


def auc_of(rows: PartitionedRows, w: np.ndarray) -> float:
    """Return the AUC of weights, of many rows to within the pairs of one step of a fine grid.

    Where rows have queries, return the concordance.
    """
    if isinstance(rows, GroupedRows):
        return group_concordance(rows, w)
    low, high = auc_between(rows, w)
    return (low + high) / 2
