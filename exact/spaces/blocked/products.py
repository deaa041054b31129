"""Products with a kernel matrix, summed in blocks so that chains of roundings stay short."""

from __future__ import annotations

import numpy as np

from ...tools.rounding import gamma, short_chain

COLUMN_BLOCK = 128  # Number of columns that a product with K sums at a time.

BLOCK_BYTES = 64 * 2**20  # Memory that a block of a streamed Gram matrix may take.


def blocked_product(K: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return K w in the format of w, with chains of additions of `chain_of` the columns."""
    total = np.zeros(K.shape[0], dtype=w.dtype)
    for start in range(0, K.shape[1], COLUMN_BLOCK):
        columns = slice(start, start + COLUMN_BLOCK)
        total += K[:, columns].astype(w.dtype, copy=False) @ w[columns]
    return total


def chain_of(n: int) -> int:
    """Return the longest chain of roundings in a `blocked_product` over n columns."""
    return COLUMN_BLOCK + n // COLUMN_BLOCK + 4


def mass_of(w: np.ndarray, lengths: np.ndarray) -> float:
    """Return an upper bound of sum_i r_i |w_i|."""
    return float(np.abs(w) @ lengths) * (1 + gamma(w.size + 4))


def norm_chain(n: int) -> int:
    """Return the longest chain of roundings in w'K w, summed as in `Gram.norm2`."""
    return chain_of(n) + short_chain(n) + 8
