"""Which rows are read in blocks, and which are held: the quicker and the smaller of the two."""

from __future__ import annotations

import numpy as np

from ..formulation.partitioned import partitioned_problem
from ..formulation.request import Request
from ..losses.registry import HINGE, SQUARED_HINGE
from ..problem.problem import Problem
from ..spaces.partitions.partitioned_rows import PartitionedRows
from ..tools.lossless import on_disk

# Numbers in X from which its rows are read in blocks rather than copied and centred.
HELD_NUMBERS = 8_000_000

WIDE_ROWS = 500  # columns from which rows are held while they are few enough

# Numbers in X (1.6 GB) up to which its rows are held where there are many coordinates.
COPIED_NUMBERS = 200_000_000

# Rows from which they are read in blocks, as scores in bins cost less than sorted ones; and the
# same for rows of few numbers, whose products cost little beside the sorting.
HELD_ROWS, HELD_ROWS_OF_FEW, FEW = 200_000, 100_000, 5

# Rows that are looked at, and the share of different ones among them from which rows are read in
# blocks: bins cannot tell tied scores apart, and held rows that are equal count as one. A part of
# the rows is enough for the bins to stall.
LOOKED_AT, MOSTLY_DIFFERENT = 1024, 0.95


def streamed_problem(X: object, y: object, request: Request) -> Problem | None:
    """Return the problem over rows that are read in blocks, or None where they are better held.

    In blocks if X is a memory map, a `StreamedRows`, or an array that is hard to copy, or of many
    rows that differ. Only linear problems over all pairs support this, of the hinge or its
    square.
    """
    apart = partitioned_problem(X, y, request)
    if apart is not None:
        return apart
    if not (request.is_plain and request.loss in (HINGE, SQUARED_HINGE)):
        return None
    from ..spaces.streamed import StreamedRows

    if isinstance(X, np.ndarray) and X.ndim == 2 and not np.ma.isMaskedArray(X):
        X = StreamedRows(X) if isinstance(X, np.memmap) or _better_in_blocks(X) else X
    if not isinstance(X, StreamedRows):
        return None
    return Problem(X, request.risk(request.mask(y)), request.penalty)


def can_be_held(X: object) -> bool:
    """Return whether rows that were read in blocks or partitions are few enough to be held.

    What can change on disk is never held.
    """
    if isinstance(X, PartitionedRows):
        return X.n * X.dim < HELD_NUMBERS
    return isinstance(X, np.ndarray) and not on_disk(X) and X.size < HELD_NUMBERS


def _better_in_blocks(X: np.ndarray) -> bool:
    n, dim = X.shape
    if dim >= WIDE_ROWS and X.size <= COPIED_NUMBERS:
        # Without a Hessian there are many products, and those with held rows are quicker.
        return False
    if X.size >= HELD_NUMBERS:
        return True
    least = min(HELD_ROWS, HELD_ROWS_OF_FEW) if dim <= FEW else HELD_ROWS
    return n >= least and _mostly_differ(X)


def _mostly_differ(X: np.ndarray) -> bool:
    """Return whether almost all rows of some that are drawn differ from each other."""
    if X.dtype.kind not in "biuf" or not X.size:
        return True  # `StreamedRows` says what is wrong
    at = np.unique(np.random.default_rng(0).integers(0, len(X), LOOKED_AT))
    return len(np.unique(X[at], axis=0)) >= MOSTLY_DIFFERENT * at.size
