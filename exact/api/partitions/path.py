"""Paths of problems over rows in partitions: their grid, their AUC, and the formulation."""

from __future__ import annotations

import numpy as np

from ...certificate.partitioned.class_tasks import MomentsTask
from ...certificate.partitioned.spread import counted_scores
from ...certificate.partitioned.tasks import ExtentTask
from ...formulation.formulation import Formulation
from ...formulation.lam_grid import grid_below
from ...formulation.partitioned import partitioned_problem
from ...formulation.request import Request
from ...spaces.partitions.partitioned_rows import PartitionedRows


def partitioned_formulation(X: object, y: object, request: Request) -> Formulation | None:
    """Return the formulation over rows in partitions, or None if `X` is anything else."""
    problem = partitioned_problem(X, y, request)
    return None if problem is None else Formulation(problem, problem, np.copy)


def partitioned_grid(rows: PartitionedRows, n_lams: int) -> np.ndarray:
    """Return the default grid, as `formulation.lam_grid.lam_grid` does: two passes over the rows.

    The mean difference over the pairs is that of the classes' means.
    """
    offset, none = rows.offset, np.zeros(rows.dim)
    sums = rows.run(MomentsTask(offset, none))
    means = sums.vectors[:, 0] / sums.numbers[:, :1]
    ends = rows.run(ExtentTask(offset, means[1] - means[0])).ends
    return grid_below(float(ends[1] - ends[2]), rows.reach, n_lams)


def auc_of(rows: PartitionedRows, w: np.ndarray) -> float:
    """Return the AUC of weights, to within the pairs of one step of a fine grid."""
    low, high = counted_scores(rows, w).auc_range()
    return (low + high) / 2
