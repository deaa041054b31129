"""Rows that are held, a block at a time: centred once, and multiplied in the long format."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from ...errors import InputError
from ...tools.threads import in_parts, one_thread, workers

# Rows that are taken as one long row: a loop over few columns costs more than their numbers.
TOGETHER = 64

# Numbers in a block that stays in the cache between two uses, or in the long format.
BLOCK_NUMBERS = 1 << 16


# Numbers in X from which products with it are shared among threads, and into how many parts.
SHARED, PARTS = 4_000_000, 8

# Largest number of columns for which products of small blocks are made in one call.
FEW_COLUMNS = 100

# Numbers (8 MB) from which a copy is made in memory, and costs three products with a vector: rows
# that need not be centred are then taken as they are.
LARGE = 1_000_000


def held_rows(X: np.ndarray, centred: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows to compute with, their squared norms (n,) and what was taken off them (d,).

    Any offset will do: it cancels in every pair, and saves digits where a column's mean is large
    beside its spread.
    """
    if not centred and X.size >= LARGE and X.flags.c_contiguous:
        mean, moment, squares = surveyed(X)
        if (np.abs(mean) <= np.sqrt(moment / 2)).all():
            return X, squares, np.zeros(X.shape[1])
    elif not centred:
        mean = X.mean(axis=0)
    else:
        return X, np.einsum("ij,ij->i", X, X), np.zeros(X.shape[1])
    return *centred_rows(X, _finite(mean)), mean


def _finite(mean: np.ndarray) -> np.ndarray:
    """Return the means of the columns; refuse those that overflowed."""
    if not np.isfinite(mean).all():
        raise InputError("X has values so large that their mean overflows: rescale it")
    return mean


def surveyed(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return columns' means and mean squares, (d,), and squared norms of rows, (n,): one reading.

    What overflows is infinite.
    """
    (n, d), step = X.shape, max(1, BLOCK_NUMBERS // X.shape[1])
    total, moment, squares = np.zeros(d), np.zeros(d), np.empty(n)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, n, step):
            block = X[start : start + step]
            square, ones = block * block, np.ones(block.shape[0])
            total += ones @ block
            moment += ones @ square
            squares[start : start + step] = square @ np.ones(d)
        return total / n, moment / n, squares


def centred_rows(X: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return X - mean, (n, d), and the squared norms of its rows, (n,): the bits of numpy's own."""
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


def scores_of(X: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return X w, (n,), of many rows in parts that do not depend on the number of threads."""
    if X.size < SHARED or w.ndim != 1:
        return np.asarray(X @ w)
    out, step, jobs = np.empty(X.shape[0]), -(-X.shape[0] // PARTS), workers(X.size)

    def work(start: int, worker: int) -> None:
        out[start : start + step] = X[start : start + step] @ w

    with one_thread():
        in_parts(work, range(0, X.shape[0], step), jobs)
    return out


def pull_of(X: np.ndarray, c: np.ndarray, block: int) -> np.ndarray:
    """Return X'c, (d,), summed so many rows at a time; of many rows in parts as `scores_of`.

    The parts make no chain of additions longer than block + n / block + 7.
    """
    if X.size < SHARED:
        return _pulled(X, c, block)
    blocks, jobs = -(-X.shape[0] // block), workers(X.size)
    step = -(-blocks // PARTS) * block

    def work(start: int, worker: int) -> np.ndarray:
        return _pulled(X[start : start + step], c[start : start + step], block)

    with one_thread():
        parts = in_parts(work, range(0, X.shape[0], step), jobs)
    return sum(parts[1:], parts[0])


def _pulled(X: np.ndarray, c: np.ndarray, block: int) -> np.ndarray:
    n, d = X.shape
    if d <= FEW_COLUMNS and X.flags.c_contiguous and c.flags.c_contiguous:
        whole = n // block * block
        parts = c[:whole].reshape(-1, 1, block) @ X[:whole].reshape(-1, block, d)
        return parts[:, 0].sum(axis=0) + c[whole:] @ X[whole:]
    total = np.zeros(d)
    for start in range(0, n, block):
        total += c[start : start + block] @ X[start : start + block]
    return total


def column_means(X: sp.csr_matrix) -> np.ndarray:
    """Return the means of the columns: (d,)."""
    return _finite(np.asarray(X.T @ np.ones(X.shape[0])) / X.shape[0])


def sparse_norms(X: sp.csr_matrix) -> np.ndarray:
    """Return the norms of the rows: (n,)."""
    squares = sp.csr_matrix((X.data**2, X.indices, X.indptr), X.shape)
    return np.sqrt(np.asarray(squares @ np.ones(X.shape[1])))


def most_numbers(X: sp.csr_matrix) -> tuple[int, int]:
    """Return the most numbers that a row and that a column hold."""
    columns = np.bincount(X.indices, minlength=X.shape[1])
    return int(np.diff(X.indptr).max()), int(columns.max())


def column_sizes(X: np.ndarray | sp.csr_matrix, offset: np.ndarray) -> np.ndarray:
    """Return the largest |x_ik| of each column, plus |offset| where X is sparse: (d,)."""
    if isinstance(X, np.ndarray):
        return np.maximum(X.max(axis=0), -X.min(axis=0))
    return abs(X).max(axis=0).toarray().ravel() + np.abs(offset)


def column_mass(
    X: np.ndarray | sp.csr_matrix, offset: np.ndarray, mass: np.ndarray, block: int
) -> np.ndarray:
    """Return sum_i mass_i |x_ik| of each column, plus |offset|'s where X is sparse: (d,)."""
    if not isinstance(X, np.ndarray):
        return np.asarray(abs(X).T @ mass) + np.abs(offset) * float(mass.sum())
    total = np.zeros(X.shape[1])
    for start in range(0, X.shape[0], block):
        some = slice(start, start + block)
        total += mass[some] @ np.abs(X[some])
    return total


def long_dot(a: np.ndarray, b: np.ndarray) -> float:
    """Return a'b, summed in the long format."""
    return float(a.astype(np.longdouble) @ b.astype(np.longdouble))


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
