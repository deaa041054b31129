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

    def pull_error(self, c: np.ndarray) -> float:
        """Return a bound e such that the computed |pull(c)| is within e of the exact one."""
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

    def pull_error(self, c: np.ndarray) -> float:
        """Return gamma_k sum_i |c_i| |x_i| with k the longest chain of additions."""
        chain = self.n if self.is_sparse else self._block + self.n // self._block + 1
        return gamma(chain + 6) * float(np.abs(c) @ self.norms) * (1 + gamma(self.n))

    def blocks(self) -> Iterator[slice]:
        """Yield the one slice that holds all rows."""
        yield slice(0, self.n)


class Gram:
    """Functions f = sum_i w_i k(., x_i) given by the kernel matrix of the rows.

    [ScalingUp, eq. (9)]. Coordinates are the coefficients, and ``|f|^2 = w'K w``.

    Parameters
    ----------
    K : array (n, n)
        Symmetric, positive semidefinite.

    Raises
    ------
    InputError
        If K is not square, symmetric to rounding, finite, or has a clearly negative eigenvalue.
    """

    def __init__(self, K: object):
        matrix = check_matrix(K, "K")
        if not isinstance(matrix, np.ndarray):
            matrix = matrix.toarray()
        if matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"K must be square; its shape is {matrix.shape}")
        self.n = self.dim = int(matrix.shape[0])
        top = float(np.abs(matrix).max())
        if float(np.abs(matrix - matrix.T).max()) > 1e-10 * top:
            row, column = np.unravel_index(np.abs(matrix - matrix.T).argmax(), matrix.shape)
            raise InputError(f"K is not symmetric: see entries ({row}, {column}) and its mirror")
        self.K = (matrix + matrix.T) / 2
        self._check_semidefinite(top)
        self.reach = float(np.sqrt(max(np.diag(self.K).max(), 0.0))) * (1.0 + gamma(4))

    def _check_semidefinite(self, top: float) -> None:
        shift = 1e-9 * max(top, np.finfo(float).tiny) * self.n
        try:
            np.linalg.cholesky(self.K + shift * np.eye(self.n))
        except np.linalg.LinAlgError:
            raise InputError(
                "K has a negative eigenvalue, so it is no kernel matrix: no dual bound is valid"
            ) from None

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return K w: (n,)."""
        return self.K @ w

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return c: the coordinates are the coefficients."""
        return c

    def norm2(self, w: np.ndarray) -> float:
        """Return w'K w."""
        return max(float(w @ (self.K @ w)), 0.0)

    def inner(self, w: np.ndarray, other: np.ndarray) -> float:
        """Return w'K other."""
        return float(w @ (self.K @ other))

    def score_error(self, w: np.ndarray) -> np.ndarray:
        """Return gamma_{n+3} max_ij |K_ij| sum_i |w_i|, the same for each score: (n,)."""
        return np.full(self.n, gamma(self.n + 3) * self.reach**2 * float(np.abs(w).sum()))

    def pull_error(self, c: np.ndarray) -> float:
        """Return the square root of gamma_{2n+6} max_ij |K_ij| (sum_i |c_i|)^2."""
        return float(np.sqrt(gamma(2 * self.n + 6))) * self.reach * float(np.abs(c).sum())

    def blocks(self) -> Iterator[slice]:
        """Yield the one slice that holds all rows."""
        yield slice(0, self.n)
