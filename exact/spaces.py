"""Where f lives: each space knows its rows, their inner products and its own rounding.

A space maps coordinates w to scores f(x_i), maps row weights c back to coordinates (the
adjoint), and measures |f|. Scores are given up to one constant common to all rows: it cancels
in every positive-negative pair, so a space is free to centre its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from .errors import InputError
from .rounding import gamma


class Space(Protocol):
    """A space of functions on n rows."""

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        ...

    @property
    def reach(self) -> float:
        """An upper bound of max_i |k_i|, the norm of a (centred) row as an element of the space."""
        ...

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return f at every row, up to one common constant: (n,)."""
        ...

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return the coordinates of sum_i c_i k_i, for c that sums to zero: (dim,)."""
        ...

    def norm2(self, w: np.ndarray) -> float:
        """Return |f|^2."""
        ...

    def inner(self, w: np.ndarray, other: np.ndarray) -> float:
        """Return the inner product of two functions."""
        ...

    def score_error(self, w: np.ndarray) -> np.ndarray:
        """Return a bound of the rounding in each score of `w`: (n,)."""
        ...

    def dual_norm2(self, c: np.ndarray) -> float:
        """Return |sum_i c_i k_i|^2, or an upper bound of it that is tight."""
        ...

    def dual_norm2_error(self, c: np.ndarray) -> float:
        """Return a bound of the rounding in `dual_norm2`."""
        ...

    def blocks(self) -> Iterator[slice]:
        """Yield the slices of rows that are held at a time: one unless chunked."""
        ...


def check_matrix(X: object, name: str = "X") -> np.ndarray | sp.csr_matrix:
    """Return X as float64, dense or CSR.

    Raises
    ------
    InputError
        If X is not two-dimensional, is empty, is not numeric, or has a value that is not finite;
        the message names the first such row and column.
    """
    if sp.issparse(X):
        matrix = sp.csr_matrix(X, dtype=float)
        values = matrix.data
    else:
        try:
            matrix = np.asarray(X, dtype=float)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name} must be a matrix of numbers: {error}") from None
        values = matrix
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


class Rows:
    """Linear functions f(x) = w'(x - offset) of the rows of a matrix, dense or CSR.

    Parameters
    ----------
    X : array or sparse matrix (n, d)
        Dense rows are centred explicitly (it halves no pair difference and saves digits),
        sparse rows implicitly, so that they stay sparse.

    Raises
    ------
    InputError
        If X is not a finite, non-empty matrix.
    """

    def __init__(self, X: object):
        matrix = check_matrix(X)
        self.n, self.dim = int(matrix.shape[0]), int(matrix.shape[1])
        self.offset: np.ndarray = np.asarray(matrix.mean(axis=0)).ravel()
        if not np.isfinite(self.offset).all():
            raise InputError("X has values so large that their mean overflows: rescale it")
        if isinstance(matrix, np.ndarray):
            self.X: np.ndarray | sp.csr_matrix = matrix - self.offset
            norms = np.sqrt(np.einsum("ij,ij->i", self.X, self.X))
        else:
            self.X = matrix
            norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
            norms += np.linalg.norm(self.offset)
        if not np.isfinite(norms).all():
            raise InputError("X has values whose squares overflow: rescale it")
        self.norms: np.ndarray = norms * (1.0 + gamma(self.dim + 8))
        self.reach = float(self.norms.max())

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are held as CSR."""
        return not isinstance(self.X, np.ndarray)

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return X w less the offset's share: (n,)."""
        scores = np.asarray(self.X @ w)
        return scores - float(self.offset @ w) if self.is_sparse else scores

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return (X - offset)'c, summed block by block so that rounding stays small: (d,)."""
        if self.is_sparse:
            return np.asarray(self.X.T @ c) - self.offset * float(c.sum())
        total, block = np.zeros(self.dim), self._block
        for start in range(0, self.n, block):
            total += c[start : start + block] @ self.X[start : start + block]
        return total

    @property
    def _block(self) -> int:
        """Rows summed at a time: about sqrt(n), which makes the chain of additions shortest."""
        return max(64, int(np.sqrt(self.n)))

    def norm2(self, w: np.ndarray) -> float:
        """Return w'w."""
        return float(w @ w)

    def inner(self, w: np.ndarray, other: np.ndarray) -> float:
        """Return w'other."""
        return float(w @ other)

    def score_error(self, w: np.ndarray) -> np.ndarray:
        """Return gamma_{d+3} |x_i| |w|, a bound of the rounding in each score: (n,)."""
        return gamma(self.dim + 3) * float(np.linalg.norm(w)) * self.norms

    def dual_norm2(self, c: np.ndarray) -> float:
        """Return |pull(c)|^2."""
        return self.norm2(self.pull(c))

    def dual_norm2_error(self, c: np.ndarray) -> float:
        """Return e (2 |pull(c)| + e) and the rounding of the square, e as in `pull_error`."""
        norm2, error = self.dual_norm2(c), self.pull_error(c)
        return error * (2 * float(np.sqrt(norm2)) + error) + gamma(self.dim + 4) * norm2

    def pull_error(self, c: np.ndarray) -> float:
        """Return gamma_k sum_i |c_i| |x_i| >= the error of pull(c), k the chain of additions."""
        chain = self.n if self.is_sparse else self._block + self.n // self._block + 1
        return gamma(chain + 6) * float(np.abs(c) @ self.norms) * (1 + gamma(self.n))

    def rows(self, index: np.ndarray) -> np.ndarray | sp.csr_matrix:
        """Return the named rows, centred where that costs no sparsity."""
        return self.X[index]

    def dense(self) -> np.ndarray:
        """Return all rows, centred, as a dense matrix."""
        chosen = self.rows(np.arange(self.n))
        return chosen if isinstance(chosen, np.ndarray) else chosen.toarray() - self.offset

    def to_input(self, w: np.ndarray) -> np.ndarray:
        """Return the weights of the original features: `w` itself."""
        return w

    def blocks(self) -> Iterator[slice]:
        """Yield the one slice that holds all rows."""
        yield slice(0, self.n)
