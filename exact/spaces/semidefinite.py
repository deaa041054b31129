"""A proof, in floating point, that a matrix is positive semidefinite.

For any lower triangular L and R = A - LL', A >= R >= -|R|: so A + |R| I is semidefinite, whoever
made L. LL' is as large as A, while R is mere rounding, so R must be computed with care. L = H + M,
H rounded to whole multiples, at most 2^20 of them, of a power of two for each row: sums of 2^12
products of H are exact in float64, in any order, and

    R = ((A - HH') - HM') - ML',

where M is 2^-21 of the largest entry of its row, and so is the rounding of the last two products.
"""

from __future__ import annotations

import numpy as np

from ..tools.rounding import UNIT, gamma

BITS = 20  # Bits of the rounded factor: a sum of 2^(52 - 2 BITS) products of them is exact.

ROWS = 256  # Number of rows of the residual that are computed at a time.


def shortfall(A: np.ndarray, shift: float = 0.0) -> float | None:
    """Return an s >= 0 for which A + (shift + s) I is proved positive semidefinite."""
    moved = A.copy()
    np.fill_diagonal(moved, np.nextafter(np.diag(A) + shift, -np.inf))
    try:
        L = np.linalg.cholesky(moved)
    except np.linalg.LinAlgError:
        return None
    missing = residual_norm(moved, L)
    return missing if np.isfinite(missing) else None


def room(A: np.ndarray) -> float:
    """Return a margin above the proof's usual loss to rounding, for a semidefinite matrix (n, n).

    If A minus this margin has a Cholesky factor, the proof for A usually succeeds.
    """
    return 16 * A.shape[0] * UNIT * float(np.abs(A).max())


def residual_norm(A: np.ndarray, L: np.ndarray) -> float:
    """Return an upper bound of the spectral norm of A - LL', L (n, n) lower triangular."""
    n = L.shape[0]
    H = _rounded(L)
    M = L - H  # exact: both are multiples of the last bit of L
    squares = np.zeros(3)  # of the two differences in turn
    for start in range(0, n, ROWS):
        rows, seen = slice(start, min(start + ROWS, n)), slice(0, min(start + ROWS, n))
        left = A[rows, seen] - _exact_product(H[rows, seen], H[seen, seen])
        parts = [left]
        for one, other in ((H, M), (M, L)):
            parts.append(parts[-1] - one[rows, seen] @ other[seen, seen].T)
        for k, part in enumerate(parts):
            # Entries left of the diagonal block also stand for their mirror images.
            squares[k] += 2 * _square(part[:, :start]) + _square(part[:, start:])
    norms = np.sqrt(squares) * (1 + gamma(n * n / 2 + n + 16))
    sizes = [float(np.sqrt(_square(F))) * (1 + gamma(n * n / 2 + 8)) for F in (H, M, L)]
    products = gamma(n + 4) * sizes[1] * (sizes[0] + sizes[2])
    blocks = 2 * UNIT * (n // 2 ** (52 - 2 * BITS)) * sizes[0] ** 2
    whole = norms[2] + 2 * UNIT * float(norms.sum()) + products + blocks
    return float(whole * (1 + gamma(16)) + 1e-290)


def _rounded(L: np.ndarray) -> np.ndarray:
    """Round each row to multiples of 2^-BITS times a power of two above its entries."""
    power = np.frexp(np.abs(L).max(axis=1))[1][:, None] - BITS
    return np.ldexp(np.rint(np.ldexp(L, -power)), power)


def _exact_product(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return one other'. Only the sums over blocks of columns round."""
    columns = 2 ** (52 - 2 * BITS)
    total = one[:, :columns] @ other[:, :columns].T
    for start in range(columns, one.shape[1], columns):
        some = slice(start, start + columns)
        total += one[:, some] @ other[:, some].T
    return total


def _square(part: np.ndarray) -> float:
    return float(np.einsum("ij,ij->", part, part))
