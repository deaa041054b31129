"""The only entrance for data: rows become a matrix of float64 here, once.

A sparse matrix is copied and made canonical (entries stored in several parts are summed, in
float64, and indices sorted): norms, kernels and hashes read entries one by one and would count each
part as an entry. Data on disk are copied too, as they may change between two readings. The caller's
data are never written to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..tools.lossless import as_float64, place_of, promoted_exactly


def check_matrix(X: object, name: str = "X") -> np.ndarray | sp.csr_matrix:
    """Return X as float64: dense, or CSR in canonical form.

    Sparse input is copied, and so are data on disk, which may change between two readings. A dense
    float64 array in memory is returned as it is.

    Parameters
    ----------
    X : array, data frame or sparse matrix (n, d)
        Of finite real numbers that float64 can hold.
    name : str
        What messages call the matrix.

    Raises
    ------
    InputError
        If X is not two-dimensional, is empty, is not numeric, is masked, has a number that float64
        cannot hold, or one that is not finite; the message names the first such row and column.
    """
    if sp.issparse(X):
        matrix: Any = canonical(X, name)
        values = matrix.data
    else:
        matrix = values = as_float64(X, name, "a matrix of numbers")
    if matrix.ndim != 2:
        raise InputError(
            f"{name} must be a matrix, one row a sample; it has {matrix.ndim} dimension(s)"
        )
    if 0 in matrix.shape:
        raise InputError(f"{name} is empty: its shape is {matrix.shape}")
    if not np.isfinite(values).all():
        row, column = _first_bad(matrix)
        raise InputError(
            f"{name} has a value that is not finite in row {row}, column {column} (from 0): "
            "remove or impute it first"
        )
    return matrix


def _first_bad(matrix: np.ndarray | sp.csr_matrix) -> tuple[int, int]:
    if isinstance(matrix, np.ndarray):
        row, column = np.argwhere(~np.isfinite(matrix))[0]
    else:
        coo = matrix.tocoo()
        at = int(np.flatnonzero(~np.isfinite(coo.data))[0])
        row, column = coo.row[at], coo.col[at]
    return int(row), int(column)


def canonical(X: Any, name: str = "X") -> sp.csr_matrix:
    """Return a copy of a sparse matrix as CSR of float64: no repeated, no zero entries, sorted.

    Entries become float64 before the repeated ones are summed (truth values stay such).

    Raises
    ------
    InputError
        If the entries are no real numbers that float64 can hold, or the indices are out of range.
    """
    if X.ndim != 2:
        raise InputError(f"{name} must be a matrix, one row a sample; it has {X.ndim} dimension(s)")
    kind = np.dtype(getattr(X, "dtype", object)).kind
    if kind == "c":
        raise InputError(f"{name} must be a matrix of numbers; it holds complex ones")
    if kind not in "fiub":
        raise InputError(f"{name} must be a matrix of numbers, not of {X.dtype}")
    copy = _own(X, name)
    if kind == "b":
        copy.sum_duplicates()

    def place(at: int) -> str:
        entries = copy.tocoo()
        return place_of((int(entries.row[at]), int(entries.col[at])))

    held = promoted_exactly(copy.data, name, place)
    if copy.format == "coo":
        made = sp.coo_matrix((held, (copy.row, copy.col)), shape=copy.shape).tocsr()
    else:
        made = type(copy)((held, copy.indices, copy.indptr), shape=copy.shape).tocsr()
    made.sum_duplicates()
    made.eliminate_zeros()
    return made


def _own(X: Any, name: str) -> Any:
    """Return a copy with checked indices: CSR, CSC or, of the other formats, COO."""
    given = X if X.format in ("csr", "csc") else X.tocoo()
    try:
        # Rebuilt from its arrays: the flags that a matrix caches may be out of date.
        if given.format == "coo":
            parts = (given.data, (given.row, given.col))
            return sp.coo_matrix(parts, shape=given.shape, copy=True)
        make = sp.csr_matrix if given.format == "csr" else sp.csc_matrix
        parts = (given.data, given.indices, given.indptr)
        copy = make(parts, shape=given.shape, copy=True)
        copy.check_format(full_check=True)
        return copy
    except (ValueError, IndexError) as error:
        raise InputError(f"{name} is no valid sparse matrix: {error}") from None
