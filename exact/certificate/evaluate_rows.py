"""Which form of the sums evaluates a problem: in memory, over blocks of rows, over partitions."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..losses.registry import HINGE, SQUARED_HINGE
from ..problem.problem import Problem
from ..spaces.blocks import StreamedRows
from ..spaces.groups import GroupedRows
from ..spaces.partitions import PartitionedRows
from ..spaces.rows import Rows
from .blocks.kept import Kept
from .blocks.passes import Passes
from .blocks.squared import SquaredInBlocks
from .blocks.streamed import Streamed
from .evaluation import Evaluation, InMemory
from .notes import noted
from .partitioned.evaluate import Partitioned
from .partitioned.grouped.evaluate import OfGroups
from .partitioned.losses import smooth_over_partitions

__all__ = ["Kept", "Streamed", "binned_at", "blocked", "loss_at"]

FINE = 1 << 14  # Minimum bins per unit for the loss of weights that no solver made.

# The same for a smooth loss over partitions, whose bins are sent: it needs fewer.
SMOOTH_FINE = 1 << 11


def blocked(problem: Problem, bins: int) -> Streamed | Kept | Partitioned:
    """Return the evaluator over blocks, where it keeps the scores of wide rows, or partitions."""
    if isinstance(problem.space, PartitionedRows):
        return Partitioned(problem, bins)
    return Streamed(problem, bins) if Passes.suit(problem.space) else Kept(problem, bins)


def binned_at(problem: Problem, w: np.ndarray, bins: int, half: int) -> Evaluation:
    """Return the evaluation at `w` from a given grid of bins, wherever the rows are."""
    if isinstance(problem.space, GroupedRows):
        known = noted(problem, w, bins, half)
        return OfGroups(problem).with_grid(w, bins, half) if known is None else known
    if isinstance(problem.space, PartitionedRows) and problem.loss != HINGE:
        known = noted(problem, w, bins)
        return smooth_over_partitions(problem).at(w, bins) if known is None else known
    if problem.loss == SQUARED_HINGE:
        return SquaredInBlocks(problem).at(w, bins)
    apart = isinstance(problem.space, StreamedRows | PartitionedRows)
    if Passes.suit(problem.space) or apart:
        known = noted(problem, w, bins, half)
        return blocked(problem, bins).with_bins(w, bins, half) if known is None else known
    if not isinstance(problem.space, Rows):
        raise InputError("binned dual points are for rows, not for another space")
    return InMemory(problem, bins).at(w, 2 * half / bins)


def loss_at(problem: Problem, w: np.ndarray, bins: int) -> Evaluation:
    """Return an evaluation at `w` for its loss: any smoothing will do, and a finer grid than given.

    A solver takes a grid no finer than its own point needs. At other points the bound of the loss
    would be too large by far more than its rounding says.
    """
    known = noted(problem, w, bins)
    if isinstance(problem.space, GroupedRows):
        return OfGroups(problem).at(w) if known is None else known
    return binned_at(problem, w, max(bins, fine_bins(problem)), 0) if known is None else known


def fine_bins(problem: Problem) -> int:
    """Return the bins a unit from which the bound of a loss is close enough for any purpose."""
    smooth = isinstance(problem.space, PartitionedRows) and problem.loss != HINGE
    return SMOOTH_FINE if smooth else FINE
