"""Rows that are held, a block at a time: centred once, and multiplied in the long format."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

TOGETHER = 64
"""Rows that are taken as one long row: a loop over few columns costs more than their numbers."""

BLOCK_NUMBERS = 1 << 16
"""Numbers in a block that stays in the cache between two uses, or in the long format."""


def centred_rows(X: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return X - mean, (n, d), and the squared norms of its rows, (n,): the bits of numpy's own.

    Parameters
    ----------
    X : array (n, d)
    mean : array (d,)
    """
    n, d = X.shape
    if not X.flags.c_contiguous or n < TOGETHER:
        out = X - mean
        return out, np.einsum("ij,ij->i", out, out)
    out, squares = np.empty_like(X), np.empty(n)
    whole = n // TOGETHER * TOGETHER
    given, made = (A[:whole].reshape(-1, TOGETHER * d) for A in (X, out))
    offset, step = np.tile(mean, TOGETHER), max(1, BLOCK_NUMBERS // (TOGETHER * d))
    for start in range(0, given.shape[0], step):
        np.subtract(given[start : start + step], offset, out=made[start : start + step])
        some = slice(start * TOGETHER, min(start + step, given.shape[0]) * TOGETHER)
        np.einsum("ij,ij->i", out[some], out[some], out=squares[some])
    np.subtract(X[whole:], mean, out=out[whole:])
    np.einsum("ij,ij->i", out[whole:], out[whole:], out=squares[whole:])
    return out, squares


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
    wide, room = (d, BLOCK_NUMBERS) if dense else (X.nnz // n, max(BLOCK_NUMBERS, d))
    size = max(1, room // max(1, wide))
    return (slice(start, start + size) for start in range(0, n, size))
