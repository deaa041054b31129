"""A proof, in floating point, that a matrix is positive semidefinite.

For any lower triangular L and R = A - LL', A >= R >= -|R|: so A + |R| I is semidefinite, whoever
made L. |R| is at most the Frobenius norm of the computed R and the rounding of LL', which is at
most gamma_k |L||L'| entry by entry, k the chain of additions, so gamma_k |L|_F^2 in norm.
"""

from __future__ import annotations

import numpy as np

from .rounding import UNIT, gamma

BLOCK = 64
"""Columns that a product sums at a time, and rows that it makes at a time."""


def shortfall(A: np.ndarray, shift: float = 0.0) -> float | None:
    """Return an s >= 0 for which A + (shift + s) I is proved positive semidefinite.

    Parameters
    ----------
    A : array (n, n)
        Symmetric.
    shift : float
        < 0 where A is to be proved semidefinite by itself: it is if -shift >= s.

    Returns
    -------
    float or None
        None where A + shift I has no Cholesky factor.
    """
    moved = A.copy()
    np.fill_diagonal(moved, np.nextafter(np.diag(A) + shift, -np.inf))
    try:
        L = np.linalg.cholesky(moved)
    except np.linalg.LinAlgError:
        return None
    missing = residual_norm(moved, L)
    return missing if np.isfinite(missing) else None


def room(A: np.ndarray) -> float:
    """Return about twice what the proof loses to rounding, for a semidefinite matrix (n, n).

    Where A less that much has a Cholesky factor, A itself is mostly proved to be semidefinite.
    """
    n, top = A.shape[0], float(np.abs(A).max())
    return 2 * gamma(BLOCK + n // BLOCK + 8) * max(float(np.trace(A)), top) + 4 * n * UNIT * top


def residual_norm(A: np.ndarray, L: np.ndarray) -> float:
    """Return an upper bound of the spectral norm of A - LL'."""
    n, r = L.shape
    squares = 0.0
    for start in range(0, n, 4 * BLOCK):
        rows = slice(start, start + 4 * BLOCK)
        product = np.zeros((min(n, start + 4 * BLOCK) - start, n))
        for first in range(0, r, BLOCK):
            some = slice(first, first + BLOCK)
            product += L[rows, some] @ L[:, some].T
        left = A[rows] - product
        squares += float(np.einsum("ij,ij->", left, left))
    length = float(np.einsum("ij,ij->", L, L)) * (1 + gamma(n * r + 2))
    chain = gamma(BLOCK + r // BLOCK + 4)
    whole = np.sqrt(squares) * (1 + gamma(n * n / 2 + n + 8)) * (1 + 2 * UNIT) + chain * length
    return float(whole * (1 + gamma(8)) + 1e-290)
