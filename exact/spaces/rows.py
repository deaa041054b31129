"""Where f lives: each space knows its rows, their inner products and its own rounding. It maps
coordinates w to scores f(x_i), up to one constant common to all rows, maps row weights c back (the
adjoint), and measures |f|."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, reduce
from operator import iadd
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..tools.arrays import check_matrix, out_of_range
from ..tools.rounding import LONG_UNIT, UNIT, Bound, gamma
from ..tools.threads import in_parts, one_thread, workers

if TYPE_CHECKING:
    from .gram import Gram
    from .groups import GroupedRows
    from .partitions import PartitionedRows

T = TypeVar("T")
BLOCK_NUMBERS = 1 << 16  # of a block that stays in the cache, or in the long format
SHARED, PARTS = 4_000_000, 8  # numbers in X from which threads share its products, and the parts
FEW_COLUMNS = 100  # most columns for which products of small blocks are made in one call
LARGE = 1_000_000  # numbers (8 MB) from which a copy costs much: rows are not centred needlessly
SMALLEST_REACH = 1e-140  # Smallest norm of a row: squares of smaller ones lose digits to underflow.
LARGEST_REACH = 1e100  # Largest norm of a row: products of larger ones may overflow.


def _squared_norms(X: sp.csr_matrix) -> np.ndarray:
    """Return |x_i|^2 of sparse rows, in blocks: new memory takes longer than the squares."""
    step, squares = max(1, BLOCK_NUMBERS * X.shape[0] // max(X.nnz, 1)), []
    ones = np.ones(X.shape[1])
    for start in range(0, X.shape[0], step):
        block = X[start : start + step]
        block.data = block.data**2
        squares.append(block @ ones)
    return np.concatenate(squares)


def in_threads(work: Callable[[Any], T], parts: Sequence[Any], numbers: int) -> list[T]:
    """Return work(part) of each part, in as many threads as pay; BLAS takes one in each."""
    jobs = workers(numbers)
    with one_thread():
        return in_parts(work, parts, jobs)


def chunk_sums(X: np.ndarray, c: np.ndarray, size: int) -> np.ndarray:
    """Return X'c over each `size` rows, the last ones alone: (chunks, d); X and c contiguous."""
    whole = c.size // size * size
    parts = (c[:whole].reshape(-1, 1, size) @ X[:whole].reshape(-1, size, X.shape[1]))[:, 0]
    return parts if whole == c.size else np.vstack([parts, c[whole:] @ X[whole:]])


def check_reach(reach: float, zero: bool, X: Any = None) -> float:
    """Return the norm of the longest row; its square must be a float, unless all are 0."""
    if not reach <= LARGEST_REACH:
        why = "so large that their squares overflow"
    elif reach < SMALLEST_REACH and not zero:
        why = "so small that their squares underflow"
    else:
        return reach
    raise InputError(f"X has values {why}: rescale it") if X is None else out_of_range(X, why)


class Space:
    """A space of functions on n rows, with the weights of the features as coordinates unless a kind
    of space says otherwise. Kinds have `held`, `given`, `gram`, `apart` and `grouped`, or None
    there: a caller asks what a space can do and never which type it has."""

    n: int
    dim: int  # number of coordinates
    offset: np.ndarray  # what is taken off each row of features: (dim,)
    reach: float  # at least max_i |k_i|, the norm of a (centred) row as an element of the space
    meaning = ""  # what is meant instead of what was given, in words; empty where that is meant
    in_blocks = False  # whether rows are read a block at a time, so that no scores are held
    source: Any = None  # the rows as they were given, or where they are read from in slices
    held: Rows | None = None  # the rows, where they are in memory
    given: Rows | None = None  # the rows, where they are in memory and were not whitened
    gram: Gram | None = None  # the space itself, where it is that of a kernel matrix
    apart: PartitionedRows | None = None  # the rows, where they lie in partitions with their labels
    grouped: GroupedRows | None = None  # the rows, where they lie there with a group and a key
    scores: Callable[[np.ndarray], np.ndarray]  # f at every row, up to a common constant: (n,)
    pull: Callable[[np.ndarray], np.ndarray]  # coordinates of sum_i c_i k_i, c of sum zero: (dim,)
    # The scores in the long format, and a bound of their rounding: (n,) each.
    careful_scores: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    # |sum_i c_i k_i|^2 as accurately as possible, or a tight upper bound of it.
    dual_norm2: Callable[[np.ndarray], Bound]
    rows: Callable[[np.ndarray], Any]  # the named rows, centred where that costs no sparsity

    def norm2(self, w: np.ndarray) -> float:
        return float(w @ w)

    def norm2_error(self, w: np.ndarray) -> float:
        return gamma(self.dim + 4) * self.norm2(w)

    def inner(self, w: np.ndarray, other: np.ndarray) -> float:
        return float(w @ other)

    @property
    def unstructured(self) -> Space:
        return self  # without the structure in its norm, if it has one

    def labelled(self, pairs: Any) -> Any:
        """Return the rows with the labels of `pairs`, for sums over blocks."""
        return self

    def plain(self) -> Space:
        """Return the same space with quicker sums that round more, or itself if it has none."""
        return self

    def together(self, *vectors: np.ndarray) -> None:
        """Prepare the products with several vectors (n,), where that saves a pass."""

    def blocks(self) -> Iterator[slice]:
        """Yield the slices of rows that are held at a time: one unless chunked."""
        yield slice(0, self.n)


def partitions_of(X: object) -> PartitionedRows | None:
    return X.apart if isinstance(X, Space) else None


def squared(norm2: float, error: float, rounding: float) -> Bound:
    """Return a squared norm, and what an error of the vector and the sum of squares do to it."""
    return Bound(norm2, error * (2 * float(np.sqrt(norm2)) + error) + rounding * norm2)


class Rows(Space):
    """Linear functions f(x) = w'(x - offset) of the rows of a matrix, dense or CSR.

    Parameters
    ----------
    X : array or sparse matrix (n, d)
        Dense rows are centred explicitly, which changes no difference of two rows and saves
        digits, unless they are many and need it little; sparse rows implicitly: they stay sparse.
    check : bool
        If False, X must have been checked, or made from checked data.
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
        self.X: np.ndarray | sp.csr_matrix = matrix  # to compute with: centred, if that was needed
        self.raw: np.ndarray | sp.csr_matrix = matrix  # as it was given
        self.source = matrix
        self.offset = np.zeros(self.dim)  # any offset will do: it cancels in every pair
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
            if isinstance(matrix, np.ndarray):
                mean = self.offset if centred else matrix.mean(axis=0)
                if not centred and matrix.size >= LARGE and matrix.flags.c_contiguous:
                    moment = np.einsum("ij,ij->j", matrix, matrix) / self.n
                    centred = bool((np.abs(mean) <= np.sqrt(moment / 2)).all())
                if not centred:
                    self.X, self.offset = matrix - mean, mean
                norms = np.sqrt(np.einsum("ij,ij->i", self.X, self.X))
            else:
                self.offset = np.asarray(matrix.T @ np.ones(self.n)) / self.n
                norms = np.sqrt(_squared_norms(matrix)) + np.linalg.norm(self.offset)
        if not np.isfinite(self.offset).all():
            raise out_of_range(matrix, "so large that their mean overflows")
        if not np.isfinite(norms).all():
            raise out_of_range(matrix, "whose squares overflow")
        self.norms: np.ndarray = norms * (1.0 + gamma(self.dim + 8))
        self.reach = float(self.norms.max())
        zero = self.reach < SMALLEST_REACH and float(abs(self.X).max()) == 0
        check_reach(self.reach, zero, matrix)

    @property
    def held(self) -> Rows:
        return self

    @property
    def given(self) -> Rows | None:
        return self if type(self) is Rows else None  # a subclass makes others of what was given

    def to_input(self, w: np.ndarray) -> np.ndarray:
        return w  # as weights of the features that were given

    def part(self, index: np.ndarray) -> Rows:
        return Rows(self.raw[index], check=False)

    @property
    def is_sparse(self) -> bool:
        return not isinstance(self.X, np.ndarray)

    def scores(self, w: np.ndarray) -> np.ndarray:
        X = self.X
        if not isinstance(X, np.ndarray):
            offset = float(self.offset.astype(np.longdouble) @ w.astype(np.longdouble))
            return np.asarray(X @ w) - offset
        if X.size < SHARED or w.ndim != 1:
            return np.asarray(X @ w)
        out, step = np.empty(self.n), -(-self.n // PARTS)  # of many rows in parts

        def work(start: int) -> None:
            out[start : start + step] = X[start : start + step] @ w

        in_threads(work, range(0, self.n, step), X.size)
        return out

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return (X - offset)'c, (d,), in chains of at most block + n / block + 7 additions."""
        X, block = self.X, self._block
        if not isinstance(X, np.ndarray):
            return np.asarray(X.T @ c) - self.offset * float(c.sum(dtype=np.longdouble))
        step = self.n if X.size < SHARED else -(-self.n // (block * PARTS)) * block

        def work(start: int) -> np.ndarray:
            part, own = X[start : start + step], c[start : start + step]
            if self.dim <= FEW_COLUMNS and part.flags.c_contiguous and own.flags.c_contiguous:
                return chunk_sums(part, own, block).sum(axis=0)
            blocks = (slice(first, first + block) for first in range(0, own.size, block))
            return reduce(iadd, (own[some] @ part[some] for some in blocks))

        if step >= self.n:
            return work(0)
        return reduce(iadd, in_threads(work, range(0, self.n, step), X.size))

    keeps = True  # a score for each row, as `StreamedRows.keeps` says of rows in blocks

    def pulled(self, c: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Return pull(c), a bound of its error, and sum |c_i| |x_i|."""
        return self.pull(c), self.pull_error(c), self._size(c)

    def _size(self, c: np.ndarray) -> float:
        return float(np.abs(c) @ self.norms) * (1 + gamma(self.n))  # at least sum_i |c_i| |x_i|

    def _long_pull(self, c: np.ndarray) -> tuple[np.ndarray, float]:
        """Return pull(c) of the rows as given, in the long format, and a bound of its error."""
        long, pulled = c.astype(np.longdouble), np.zeros(self.dim, dtype=np.longdouble)
        for rows, block in self._long_blocks():
            pulled += block.T @ long[rows]
        pulled = pulled - self.offset * long.sum() if self.is_sparse else pulled
        return pulled, gamma(self.n + 8, LONG_UNIT) * self._size(c)

    def _long_blocks(self) -> Iterator[tuple[slice, Any]]:
        """Yield blocks of the rows as given, in the long format; sparse ones are not centred."""
        X: Any = self.raw
        if not self.is_sparse and X is not self.X:  # the array may have been changed since
            for start in range(0, self.n, self._block):
                some = slice(start, start + self._block)
                if not np.array_equal(X[some] - self.offset, self.X[some]):
                    raise InputError("X was changed while it was computed with: hand over a copy")
        wide, room = self.dim, BLOCK_NUMBERS
        if self.is_sparse:
            wide, room = X.nnz // self.n, max(BLOCK_NUMBERS, self.dim)
        size = max(1, room // max(1, wide))
        for rows in (slice(start, start + size) for start in range(0, self.n, size)):
            block = X[rows].astype(np.longdouble)
            yield rows, block if self.is_sparse else block - self.offset

    @property
    def _block(self) -> int:
        return max(64, int(np.sqrt(self.n)))  # rows summed at a time: the chains are shortest

    def score_error(self, w: np.ndarray) -> np.ndarray:
        """Return gamma_{k+3} |x_i| |w|, the rounding in each score, k the most numbers in a row."""
        return self._relative_error(w) * self.norms

    def score_slip(self, w: np.ndarray) -> float:
        """Return the largest of `score_error`."""
        return self._relative_error(w) * self.reach

    def _relative_error(self, w: np.ndarray) -> float:
        chain = gamma(self.dim + 3)
        if self.is_sparse:
            chain = gamma(self._longest[0] + 6) + gamma(self.dim + 8, LONG_UNIT)
        return chain * float(np.linalg.norm(w)) * (1 + gamma(self.dim + 4))

    @cached_property
    def _longest(self) -> tuple[int, int]:
        """The most numbers that a row and that a column of sparse rows hold."""
        X: Any = self.X
        columns = np.zeros(self.dim, dtype=np.int64)
        for start in range(0, X.nnz, SHARED):  # in parts: new memory takes longer than the counts
            columns += np.bincount(X.indices[start : start + SHARED], minlength=self.dim)
        return int(np.diff(X.indptr).max()), int(columns.max())

    def dual_norm2(self, c: np.ndarray) -> Bound:
        """Return |pull(c)|^2, the pull in the long format; it errs by gamma sum |c_i| |x_i|."""
        pulled, error = self._long_pull(c)
        square = gamma(self.dim + 4, LONG_UNIT) + 2 * UNIT
        return squared(float((pulled * pulled).sum()), error, square)

    @cached_property
    def sizes(self) -> np.ndarray:
        """Upper bounds of the largest |x_ik - m_k| of each column: (dim,)."""
        if isinstance(self.X, np.ndarray):
            sizes = np.maximum(self.X.max(axis=0), -self.X.min(axis=0))
        else:
            sizes = abs(self.X).max(axis=0).toarray().ravel() + np.abs(self.offset)
        return sizes * (1 + gamma(4))

    def magnitude(self, c: np.ndarray) -> np.ndarray:
        """Return an upper bound of sum_i |c_i| |x_ik - m_k| of each column: (dim,)."""
        mass, X, step = np.abs(c), self.X, self._block
        if isinstance(X, np.ndarray):
            blocks = (slice(start, start + step) for start in range(0, self.n, step))
            whole = reduce(iadd, (mass[some] @ np.abs(X[some]) for some in blocks))
        else:
            whole = np.asarray(abs(X).T @ mass) + np.abs(self.offset) * float(mass.sum())
        return whole * (1 + gamma(self.n + 16))

    def careful_norm2(
        self, c: np.ndarray, missing: float, slip: float, relative: float | None = None
    ) -> Bound:
        """Return the largest |pull(c')|^2 where |c' - c|_1 <= missing, and a bound of its error: of
        rounding, and of a c wrong by `slip` (sum of absolute errors) and at most `relative` of each
        c_i. It is the less of two: by the rows' norms, and by columns."""
        pulled, rounding = self._long_pull(c)
        pulled, moved = np.abs(pulled), np.abs(pulled) + missing * self.sizes
        length = float(np.sqrt((pulled * pulled).sum())) + self.reach * missing
        value = min(float((moved * moved).sum()), length**2)
        mass, by_columns, by_rows = self.magnitude(c), slip * self.sizes, slip * self.reach
        if relative is not None:
            by_columns = np.minimum(by_columns, relative * mass)
            by_rows = min(by_rows, relative * self._size(c))
        by_columns = gamma(self.n + 8, LONG_UNIT) * mass + by_columns
        by_rows = rounding + by_rows
        error = min(
            float((by_columns * (2 * moved + by_columns)).sum()),
            by_rows * (2 * float(np.sqrt(value)) + by_rows),
        )
        square = gamma(self.dim + 8, LONG_UNIT) + 8 * UNIT
        return Bound(value, (error + square * value) * (1 + gamma(self.dim + 16)))

    def careful_pull(self, c: np.ndarray) -> tuple[np.ndarray, float]:
        """Return pull(c) summed in the long format, (dim,), and a bound of its error's norm."""
        pulled, error = self._long_pull(c)
        error += 2 * UNIT * float(np.linalg.norm(pulled.astype(float)))
        return pulled.astype(float), error * (1 + gamma(self.dim + 8))

    def pull_error(self, c: np.ndarray) -> float:
        """Return gamma_k sum_i |c_i| |x_i| >= the error of pull(c), k the chain of additions."""
        if self.is_sparse:
            return (gamma(self._longest[1] + 8) + gamma(self.n + 8, LONG_UNIT)) * self._size(c)
        return gamma(self._block + self.n // self._block + 7) * self._size(c)

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores summed in the long format, and their rounding: (n,) each."""
        length = float(np.linalg.norm(w)) * (1 + gamma(self.dim + 4))
        size = float(np.abs(w) @ self.sizes) * (1 + gamma(self.dim + 4))
        error = gamma(2 * self.dim + 8, LONG_UNIT) * np.minimum(length * self.norms, size)
        long, out = w.astype(np.longdouble), np.empty(self.n, dtype=np.longdouble)
        for rows, block in self._long_blocks():
            out[rows] = block @ long
        return out - (self.offset * long).sum() if self.is_sparse else out, error

    def rows(self, index: np.ndarray) -> Any:
        return self.X[index] if self.is_sparse else self.X.take(index, axis=0)

    def dense(self) -> np.ndarray:
        rows = self.rows(np.arange(self.n))
        return rows.toarray() - self.offset if self.is_sparse else rows

    def products(self) -> np.ndarray:
        """Return the inner products of all rows, centred: (n, n)."""
        X = self.rows(np.arange(self.n))
        if not self.is_sparse:
            return X @ X.T
        share, square = X @ self.offset, float(self.offset @ self.offset)
        return (X @ X.T).toarray() + square - share[:, None] - share
