"""The matrices of differences of pairs of rows.

With d_k = x_i - x_j, sum_k c_k d_k d_k' = X'L X, L the Laplacian of the pairs' graph on the rows.
"""

from __future__ import annotations

from functools import reduce
from operator import iadd
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpotrf, dpotrs

from ..errors import InputError
from .rows import Rows, in_threads


class PairGraph:
    """L = D - A - A', A the pairs' weights and D their sums by row, without forming L."""

    def __init__(self, i: np.ndarray, j: np.ndarray, c: np.ndarray, n: int):
        self.down = sp.csr_matrix((c, (i, j)), shape=(n, n))
        self.up = self.down.T  # the same numbers, read as CSC
        self.degree = (np.bincount(i, c, n) + np.bincount(j, c, n)).astype(float)

    def times(self, X: Any) -> Any:
        """Return L X for X of n rows: an array (n,) or (n, d), or a sparse matrix."""
        if sp.issparse(X):
            return sp.diags(self.degree) @ X - self.down @ X - self.up @ X
        out = (self.degree * X.T).T
        out -= self.down @ X
        out -= self.up @ X
        return out


def differences_gram(space: Rows, i: np.ndarray, j: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return sum_k share_k d_k d_k' for d_k = x_i - x_j: (dim, dim)."""
    # Sparse rows are not centred: far from the origin the Laplacian would cancel.
    # 20: up to which differences are cheaper than finding out which rows recur
    if space.dim > 20 and not space.is_sparse:
        touched, place = np.unique(np.concatenate([i, j]), return_inverse=True)
        if 2 * touched.size <= i.size:  # few rows, many pairs: X'L X
            X, (p, q) = space.rows(touched), np.split(place, 2)
            return np.asarray(X.T @ PairGraph(p, q, share, touched.size).times(X))
    root = np.sqrt(share)[:, None]
    if space.given is not None and not space.is_sparse:
        return _dense_gram(space.X, i, j, root)
    D: Any = space.rows(i) - space.rows(j)
    if isinstance(D, np.ndarray):
        D *= root
        return D.T @ D
    D = D.multiply(root).tocsr()
    return np.asarray((D.T @ D).todense())


def _dense_gram(X: np.ndarray, i: np.ndarray, j: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Return the sum of d_k d_k' over pairs, d_k = root_k (x_i - x_j): (dim, dim). Pairs are taken
    so many at a time that their differences stay in the cache. They are divided into parts that do
    not depend on the number of threads, and the parts added up in order."""
    dim, m = X.shape[1], i.size
    size = max(dim, (1 << 17) // dim)  # numbers in the differences that are held at a time
    if m <= size:
        D = (X[i] - X[j]) * root
        return D.T @ D
    # 16, 1 << 22: parts of the pairs, and numbers in the matrices of all
    step = -(-m // max(1, min(16, (1 << 22) // dim**2)))

    def work(first: int) -> np.ndarray:
        total = np.zeros((dim, dim))
        for start in range(first, min(first + step, m), size):
            some = slice(start, min(start + size, first + step, m))
            D = X[i[some]]
            D -= X[j[some]]
            D *= root[some]
            total += D.T @ D
        return total

    # 32: of the linear algebra in the time of one number of a pass over rows
    return reduce(iadd, in_threads(work, range(0, m, step), m * dim**2 // 32))


def factored(H: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor of H, with a ridge where rounding made it indefinite."""
    ridge = 1e-14 * float(np.abs(np.diag(H)).sum())
    while np.isfinite(ridge):
        factor, failed = dpotrf(H)
        if not failed:
            return factor
        H.flat[:: H.shape[0] + 1] += ridge
        ridge = 100 * ridge or 1.0
    raise InputError("the features are so large that their curvature overflows: rescale them")


def solved(factor: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Return H^-1 r for the factor of H, and r (dim,)."""
    return np.asarray(dpotrs(factor, np.ravel(r))[0])
