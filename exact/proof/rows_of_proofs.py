"""Rows of a proof file: anything that the checker can read in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..spaces.streamed import Source
from ..tools.lossless import as_float64

BLOCK = 1 << 16  # Rows that are read at a time.


class RowBlocks:
    """Any source of row slices, seen as a matrix that is read slice by slice."""

    ndim = 2

    def __init__(self, source: Source):
        self.source, self.shape = source, tuple(source.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> np.ndarray:
        return np.asarray(self.source[rows])


def as_rows(X: Any) -> np.ndarray | RowBlocks:
    """Return X as something that the checker can read in blocks of rows."""
    if sp.issparse(X):
        raise InputError("a proof file is for dense rows: give X.toarray(), if it fits")
    if hasattr(X, "shape") and hasattr(X, "__getitem__") and not hasattr(X, "__array__"):
        rows: np.ndarray | RowBlocks = RowBlocks(X)
    else:
        rows = np.asarray(X)
        if rows.dtype.kind not in "fiub":
            raise InputError(f"X must be a matrix of numbers, not of {rows.dtype}")
        if type(X) not in (np.ndarray, np.memmap):  # these the checker promotes, block by block
            rows = as_float64(X, "X", "a matrix of numbers")
    if len(rows.shape) != 2 or 0 in rows.shape:
        raise InputError(f"X must be a non-empty matrix; its shape is {rows.shape}")
    return rows


def middle(X: np.ndarray | RowBlocks) -> np.ndarray:
    """Return the mean of the rows, about: any offset is right, a central one saves digits."""
    total = np.zeros(X.shape[1])
    for start in range(0, len(X), BLOCK):
        block = np.asarray(X[start : start + BLOCK], dtype=float)
        # What is not finite is for the checker to refuse, by its right name.
        total += np.nan_to_num(block, posinf=0.0, neginf=0.0).sum(axis=0) / len(X)
    return total
