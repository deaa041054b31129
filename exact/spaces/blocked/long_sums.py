"""Products with rows in the long format, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

_LONG_NUMBERS = 1 << 16


def long_product(X: np.ndarray | sp.csr_matrix, offset: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return (X - offset) w in the long format, a block of rows at a time: (n,)."""
    long, out = w.astype(np.longdouble), np.empty(X.shape[0], dtype=np.longdouble)
    for rows in _long_blocks(X):
        block = X[rows].astype(np.longdouble)
        out[rows] = (block - offset) @ long if isinstance(block, np.ndarray) else block @ long
    return out if isinstance(X, np.ndarray) else out - (offset * long).sum()


def long_pull(X: np.ndarray | sp.csr_matrix, offset: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return (X - offset)'c in the long format, a block of rows at a time: (d,)."""
    long, out = c.astype(np.longdouble), np.zeros(X.shape[1], dtype=np.longdouble)
    for rows in _long_blocks(X):
        block = X[rows].astype(np.longdouble)
        dense = isinstance(block, np.ndarray)
        out += long[rows] @ (block - offset) if dense else block.T @ long[rows]
    return out if isinstance(X, np.ndarray) else out - offset * long.sum()


def _long_blocks(X: np.ndarray | sp.csr_matrix) -> Iterator[slice]:
    """Yield slices of rows whose numbers stay in the cache in the long format."""
    n, d = X.shape
    dense = isinstance(X, np.ndarray)
    wide, room = (d, _LONG_NUMBERS) if dense else (X.nnz // n, max(_LONG_NUMBERS, d))
    size = max(1, room // max(1, wide))
    return (slice(start, start + size) for start in range(0, n, size))
