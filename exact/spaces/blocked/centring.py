"""Rows less their mean, and the squares of their norms, in one pass over the memory."""

from __future__ import annotations

import numpy as np

TOGETHER = 64
"""Rows that are taken as one long row: a loop over few columns costs more than their numbers."""

BLOCK_NUMBERS = 1 << 16
"""Numbers in a block that stays in the cache between the two uses."""


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
