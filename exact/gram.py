"""Functions given by their kernel matrix: held in memory, or made block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .errors import InputError
from .kernels import Kernel
from .rounding import LONG_UNIT, UNIT, gamma, short_chain, short_sum
from .spaces import check_matrix

COLUMN_BLOCK = 128
"""Columns that a product with K sums at a time."""

BLOCK_BYTES = 64 * 2**20
"""Memory that a block of a streamed Gram matrix may take."""


def blocked_product(K: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return K w in the format of w, with chains of additions of `chain_of` the columns."""
    total = np.zeros(K.shape[0], dtype=w.dtype)
    for start in range(0, K.shape[1], COLUMN_BLOCK):
        columns = slice(start, start + COLUMN_BLOCK)
        total += K[:, columns].astype(w.dtype, copy=False) @ w[columns]
    return total


def chain_of(n: int) -> int:
    """Return how many roundings in a row a `blocked_product` over n columns has at most."""
    return COLUMN_BLOCK + n // COLUMN_BLOCK + 4


def norm_chain(n: int) -> int:
    """Return how many roundings in a row w'K w has at most, summed as `Gram.norm2` does."""
    return chain_of(n) + short_chain(n) + 8


def kernel_noise(w: np.ndarray, reach: float) -> float:
    """Return what the rounding of a known kernel's values, 8 units each, does to w'K w."""
    return 8 * UNIT * (reach * float(np.abs(w).sum())) ** 2


class Gram:
    """Functions f = sum_i w_i k(., x_i) given by the kernel matrix of the rows.

    [ScalingUp, eq. (9)]. Coordinates are the coefficients, and ``|f|^2 = w'K w``.

    Parameters
    ----------
    K : array (n, n)
        Symmetric, positive semidefinite.
    check : bool
        Whether to test K; not needed for the matrix of a known kernel.

    Raises
    ------
    InputError
        If K is not square, symmetric to rounding, finite, or has a clearly negative eigenvalue.
    """

    def __init__(self, K: object, check: bool = True):
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
        self.reach = float(np.sqrt(max(np.diag(self.K).max(), 0.0))) * (1.0 + gamma(4))
        self._shift = self._check_semidefinite(top) if check else None

    def _check_semidefinite(self, top: float) -> float:
        """Return how far below zero rounding may have moved an eigenvalue of K."""
        unit = self.n * UNIT * max(top, np.finfo(float).tiny)
        for shift in (unit, 8 * unit, 64 * unit):
            try:
                np.linalg.cholesky(self.K + shift * np.eye(self.n))
            except np.linalg.LinAlgError:
                continue
            return shift
        least = float(np.linalg.eigvalsh(self.K)[0])
        raise InputError(
            f"K has a negative eigenvalue ({least:.2g}), so it is no kernel matrix and no "
            f"dual bound is valid: add {-2 * least:.2g} to its diagonal, or use another kernel"
        )

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return K w, summed in blocks of columns so that rounding stays small: (n,)."""
        return blocked_product(self.K, w)

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return c: the coordinates are the coefficients."""
        return c

    def norm2(self, w: np.ndarray) -> float:
        """Return w'K w, summed in the long format: large coefficients cancel."""
        return max(float(short_sum(w * self._long_scores(w))), 0.0)

    def norm2_error(self, w: np.ndarray) -> float:
        """Return gamma_k |w|'|K| |w|, k the chain of additions, and what K lacks to be >= 0."""
        size = float(np.abs(w) @ (self._magnitude() @ np.abs(w))) * (1 + gamma(2 * self.n))
        shift = self._shift
        lack = kernel_noise(w, self.reach) if shift is None else shift * float(w @ w)
        return gamma(norm_chain(self.n), LONG_UNIT) * size + UNIT * self.norm2(w) + lack

    def dual_norm2(self, c: np.ndarray) -> float:
        """Return c'K c."""
        return self.norm2(c)

    def dual_norm2_error(self, c: np.ndarray) -> float:
        """Return `norm2_error`."""
        return self.norm2_error(c)

    def _magnitude(self) -> np.ndarray:
        return self.K if self.K.min() >= 0 else np.abs(self.K)

    def _long_scores(self, w: np.ndarray) -> np.ndarray:
        used = np.flatnonzero(w)
        return blocked_product(self.K[:, used], w[used].astype(np.longdouble))

    def inner(self, w: np.ndarray, other: np.ndarray) -> float:
        """Return w'K other."""
        return float((w * self.scores(other)).sum())

    def score_error(self, w: np.ndarray) -> np.ndarray:
        """Return gamma_k |K| |w|, k the chain of additions: (n,)."""
        return gamma(chain_of(self.n)) * (self._magnitude() @ np.abs(w)) * (1 + gamma(self.n))

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores in the long format, and a bound of their rounding: (n,) each."""
        size = (self._magnitude() @ np.abs(w)) * (1 + gamma(self.n))
        return self._long_scores(w), gamma(chain_of(self.n), LONG_UNIT) * size

    def blocks(self) -> Iterator[slice]:
        """Yield the one slice that holds all rows."""
        yield slice(0, self.n)


class StreamedGram:
    """Functions f = sum_i w_i k(., x_i), like `Gram`, with K in blocks of rows.

    [ScalingUp, eq. (10)]

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR (n, d)
    """

    def __init__(self, kernel: Kernel, X: Any):
        self.kernel, self.X = kernel, X
        self.n = self.dim = int(X.shape[0])
        self.reach = float(np.sqrt(max(kernel.diagonal(X).max(), 0.0))) * (1.0 + gamma(4))
        self._recent: list[tuple[np.ndarray, np.ndarray]] = []

    def blocks(self) -> Iterator[slice]:
        """Yield the slices of rows whose kernel rows are held at a time."""
        step = max(1, BLOCK_BYTES // (8 * self.n))
        for start in range(0, self.n, step):
            yield slice(start, min(start + step, self.n))

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return K w: (n,)."""
        return self._long_scores(w).astype(float)

    def _long_scores(self, w: np.ndarray) -> np.ndarray:
        for known, product in self._recent:
            if np.array_equal(known, w):
                return product
        used = np.flatnonzero(w)
        product = np.zeros(self.n, dtype=np.longdouble)
        if used.size:
            columns, weights = self.X[used], w[used].astype(np.longdouble)
            for rows in self.blocks():
                product[rows] = blocked_product(self.kernel(self.X[rows], columns), weights)
        product.flags.writeable = False
        # A certificate asks for the same products several times, and each costs a pass.
        self._recent = [*self._recent[-2:], (w.copy(), product)]
        return product

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return c: the coordinates are the coefficients."""
        return c

    def norm2(self, w: np.ndarray) -> float:
        """Return w'K w, summed in the long format: large coefficients cancel."""
        return max(float(short_sum(w * self._long_scores(w))), 0.0)

    def norm2_error(self, w: np.ndarray) -> float:
        """Return gamma_k max_i k(x_i, x_i) (sum_i |w_i|)^2, and the rounding of the kernel."""
        size = (self.reach * float(np.abs(w).sum())) ** 2
        sums = gamma(norm_chain(self.n), LONG_UNIT) * size + UNIT * self.norm2(w)
        return sums + kernel_noise(w, self.reach)

    def dual_norm2(self, c: np.ndarray) -> float:
        """Return c'K c."""
        return self.norm2(c)

    def dual_norm2_error(self, c: np.ndarray) -> float:
        """Return `norm2_error`."""
        return self.norm2_error(c)

    def inner(self, w: np.ndarray, other: np.ndarray) -> float:
        """Return w'K other."""
        return float((w * self.scores(other)).sum())

    def score_error(self, w: np.ndarray) -> np.ndarray:
        """Return a bound of the rounding in each score: (n,)."""
        return self.careful_scores(w)[1] + UNIT * np.abs(self.scores(w))

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores in the long format, and a bound of their rounding: (n,) each.

        gamma_k max_i k(x_i, x_i) sum_i |w_i|, the same for each score.
        """
        size = self.reach**2 * float(np.abs(w).sum())
        return self._long_scores(w), np.full(self.n, gamma(chain_of(self.n), LONG_UNIT) * size)
