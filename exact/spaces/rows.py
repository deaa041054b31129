"""Where f lives: each space knows its rows, their inner products and its own rounding.

A space maps coordinates w to scores f(x_i), maps row weights c back to coordinates (the
adjoint), and measures |f|. Scores are given up to one constant common to all rows: it cancels
in every positive-negative pair, so a space is free to centre its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Protocol, cast

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..tools.lossless import check_matrix
from ..tools.rounding import LONG_UNIT, UNIT, Bound, gamma
from .blocked.row_blocks import (
    column_mass,
    column_means,
    column_sizes,
    held_rows,
    long_dot,
    long_product,
    long_pull,
    most_numbers,
    pull_of,
    scores_of,
    sparse_norms,
)

SMALLEST_REACH = 1e-140  # Smallest norm of a row: squares of smaller ones lose digits to underflow.

LARGEST_REACH = 1e100  # Largest norm of a row: products of larger ones may overflow.


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

    @property
    def meaning(self) -> str:
        """What is meant instead of what was given, in words; empty where that is meant."""
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

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores in the long format, and a bound of their rounding: (n,) each."""
        ...

    def norm2_error(self, w: np.ndarray) -> float:
        """Return a bound of the rounding in `norm2`."""
        ...

    def dual_norm2(self, c: np.ndarray) -> float:
        """Return |sum_i c_i k_i|^2 as accurately as possible, or a tight upper bound of it."""
        ...

    def dual_norm2_error(self, c: np.ndarray) -> float:
        """Return a bound of the rounding in `dual_norm2`."""
        ...

    def blocks(self) -> Iterator[slice]:
        """Yield the slices of rows that are held at a time: one unless chunked."""
        ...


class FeatureWeights:
    """What spaces share whose coordinates are the weights of the features."""

    dim: int
    meaning = ""

    def norm2(self, w: np.ndarray) -> float:
        """Return w'w."""
        return float(w @ w)

    def norm2_error(self, w: np.ndarray) -> float:
        """Return gamma_{d+4} w'w."""
        return gamma(self.dim + 4) * self.norm2(w)

    def inner(self, w: np.ndarray, other: np.ndarray) -> float:
        """Return w'other."""
        return float(w @ other)

    def to_input(self, w: np.ndarray) -> np.ndarray:
        """Return the weights of the original features: `w` itself."""
        return w


class Rows(FeatureWeights):
    """Linear functions f(x) = w'(x - offset) of the rows of a matrix, dense or CSR.

    Parameters
    ----------
    X : array or sparse matrix (n, d)
        Dense rows are centred explicitly (it halves no pair difference and saves digits), unless
        they are many and need it little; sparse rows implicitly, so that they stay sparse.
    check : bool
        Whether to check X as incoming data. If False, X must have been checked, or made from
        checked data.
    centred : bool
        Whether dense rows are centred already, nearly enough: then they are taken as they are.

    Raises
    ------
    InputError
        If X is not a finite, non-empty matrix.
    """

    def __init__(self, X: object, check: bool = True, centred: bool = False):
        matrix = check_matrix(X) if check else cast(np.ndarray, X)
        self.n, self.dim = matrix.shape
        self.X: np.ndarray | sp.csr_matrix = matrix
        self.raw: np.ndarray | sp.csr_matrix = matrix
        if isinstance(matrix, np.ndarray):
            self.X, squares, self.offset = held_rows(matrix, centred)
            norms = np.sqrt(squares)
        else:
            self.offset = column_means(matrix)
            norms = sparse_norms(matrix) + np.linalg.norm(self.offset)
        if not np.isfinite(norms).all():
            raise InputError("X has values whose squares overflow: rescale it")
        self.norms: np.ndarray = norms * (1.0 + gamma(self.dim + 8))
        self.reach = float(self.norms.max())
        if self.reach > LARGEST_REACH:
            raise InputError("X has values so large that their squares overflow: rescale it")
        if self.reach < SMALLEST_REACH and float(abs(self.X).max()) > 0:
            raise InputError("X has values so small that their squares underflow: rescale it")

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are held as CSR."""
        return not isinstance(self.X, np.ndarray)

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return X w less the offset's share: (n,)."""
        if isinstance(self.X, np.ndarray):
            return scores_of(self.X, w)
        return np.asarray(self.X @ w) - long_dot(self.offset, w)

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return (X - offset)'c, summed block by block so that rounding stays small: (d,)."""
        if isinstance(self.X, np.ndarray):
            return pull_of(self.X, c, self._block)
        return np.asarray(self.X.T @ c) - self.offset * float(c.sum(dtype=np.longdouble))

    @property
    def _block(self) -> int:
        """Rows summed at a time: about sqrt(n), for the shortest chain of additions."""
        return max(64, int(np.sqrt(self.n)))

    def _given(self) -> np.ndarray | sp.csr_matrix:
        """Return the rows as they were given; refuse an array that was changed since."""
        if isinstance(self.raw, np.ndarray) and self.raw is not self.X:
            for start in range(0, self.n, self._block):
                some = slice(start, start + self._block)
                if not np.array_equal(self.raw[some] - self.offset, self.X[some]):
                    raise InputError("X was changed while it was computed with: hand over a copy")
        return self.raw

    def score_error(self, w: np.ndarray) -> np.ndarray:
        """Return gamma_{k+3} |x_i| |w|, a bound of the rounding in each score: (n,).

        k is the most numbers in a row; what centres sparse rows is summed in the long format.
        """
        return self._relative_error(w) * self.norms

    def score_slip(self, w: np.ndarray) -> float:
        """Return a bound of the rounding in every score: the largest of `score_error`."""
        return self._relative_error(w) * self.reach

    def _relative_error(self, w: np.ndarray) -> float:
        chain = gamma(self.dim + 3)
        if self.is_sparse:
            chain = gamma(self._longest[0] + 6) + gamma(self.dim + 8, LONG_UNIT)
        return chain * float(np.linalg.norm(w)) * (1 + gamma(self.dim + 4))

    @cached_property
    def _longest(self) -> tuple[int, int]:
        return most_numbers(self.X) if sp.issparse(self.X) else (self.dim, self.n)

    def dual_norm2(self, c: np.ndarray) -> float:
        """Return |pull(c)|^2, the pull summed in the long format."""
        pulled = long_pull(self._given(), self.offset, c)
        return float((pulled * pulled).sum())

    def dual_norm2_error(self, c: np.ndarray) -> float:
        """Return e (2 |pull(c)| + e) and the rounding of the square, e = gamma sum |c_i| |x_i|."""
        norm2 = self.dual_norm2(c)
        size = float(np.abs(c) @ self.norms) * (1 + gamma(self.n))
        error = gamma(self.n + 8, LONG_UNIT) * size
        square = gamma(self.dim + 4, LONG_UNIT) + 2 * UNIT
        return error * (2 * float(np.sqrt(norm2)) + error) + square * norm2

    @cached_property
    def sizes(self) -> np.ndarray:
        """Upper bounds of the largest |x_ik - m_k| of each column: (dim,)."""
        return column_sizes(self.X, self.offset) * (1 + gamma(4))

    def magnitude(self, c: np.ndarray) -> np.ndarray:
        """Return an upper bound of sum_i |c_i| |x_ik - m_k| of each column: (dim,)."""
        whole = column_mass(self.X, self.offset, np.abs(c), self._block)
        return whole * (1 + gamma(self.n + 16))

    def careful_norm2(
        self, c: np.ndarray, missing: float, slip: float, relative: float | None = None
    ) -> Bound:
        """Return the largest |pull(c')|^2 where |c' - c|_1 <= missing, and a bound of its error.

        The error is that of rounding, and of a c that is itself wrong: by `slip` (sum of absolute
        errors), and where `relative` is given by at most this share of each c_i. It is the less of
        two: by the rows' norms, and column by column, an error of the k-th coordinate being at most
        sizes_k times that of c.
        """
        pulled = np.abs(long_pull(self._given(), self.offset, c))
        chain = gamma(self.n + 8, LONG_UNIT)
        moved = pulled + missing * self.sizes
        length = float(np.sqrt((pulled * pulled).sum())) + self.reach * missing
        value = min(float((moved * moved).sum()), length**2)
        mass, size = self.magnitude(c), float(np.abs(c) @ self.norms) * (1 + gamma(self.n))
        by_columns, by_rows = slip * self.sizes, slip * self.reach
        if relative is not None:
            by_columns = np.minimum(by_columns, relative * mass)
            by_rows = min(by_rows, relative * size)
        by_columns, by_rows = chain * mass + by_columns, chain * size + by_rows
        error = min(
            float((by_columns * (2 * moved + by_columns)).sum()),
            by_rows * (2 * float(np.sqrt(value)) + by_rows),
        )
        square = gamma(self.dim + 8, LONG_UNIT) + 8 * UNIT
        return Bound(value, (error + square * value) * (1 + gamma(self.dim + 16)))

    def careful_pull(self, c: np.ndarray) -> tuple[np.ndarray, float]:
        """Return pull(c) summed in the long format, (dim,), and a bound of its error's norm."""
        pulled = long_pull(self._given(), self.offset, c).astype(float)
        size = float(np.abs(c) @ self.norms) * (1 + gamma(self.n))
        error = gamma(self.n + 8, LONG_UNIT) * size + 2 * UNIT * float(np.linalg.norm(pulled))
        return pulled, error * (1 + gamma(self.dim + 8))

    def pull_error(self, c: np.ndarray) -> float:
        """Return gamma_k sum_i |c_i| |x_i| >= the error of pull(c), k the chain of additions."""
        mass = float(np.abs(c) @ self.norms) * (1 + gamma(self.n))
        if self.is_sparse:
            return (gamma(self._longest[1] + 8) + gamma(self.n + 8, LONG_UNIT)) * mass
        return gamma(self._block + self.n // self._block + 7) * mass

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores summed in the long format, and their rounding: (n,) each."""
        length = float(np.linalg.norm(w)) * (1 + gamma(self.dim + 4))
        size = float(np.abs(w) @ self.sizes) * (1 + gamma(self.dim + 4))
        error = gamma(2 * self.dim + 8, LONG_UNIT) * np.minimum(length * self.norms, size)
        return long_product(self._given(), self.offset, w), error

    def rows(self, index: np.ndarray) -> np.ndarray | sp.csr_matrix:
        """Return the named rows, centred where that costs no sparsity."""
        return self.X[index]

    def dense(self) -> np.ndarray:
        """Return all rows, centred, as a dense matrix."""
        chosen = self.rows(np.arange(self.n))
        return chosen if isinstance(chosen, np.ndarray) else chosen.toarray() - self.offset

    def blocks(self) -> Iterator[slice]:
        """Yield the one slice that holds all rows."""
        yield slice(0, self.n)
