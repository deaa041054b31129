"""Functions given by their kernel matrix, held or made in blocks. Every statement is about a matrix
M that is positive semidefinite in exact arithmetic. For a kernel of rows it is that of the formula,
and |K_ij - M_ij| <= noise r_i r_j, r_i >= sqrt(M_ii). For a matrix that is given it is any K + t I
with 0 <= t <= shift; the last is proved semidefinite."""

from __future__ import annotations

import copy
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import reduce
from operator import iadd
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, TooLargeError, warn_the_user
from ..tools.rounding import LONG_UNIT, UNIT, Bound, at_most, gamma, short_chain, short_sum
from .kernels import Kernel, lengths_of
from .rows import LARGEST_REACH, SMALLEST_REACH, Space, check_matrix, in_threads

BITS = 20  # Bits of the rounded factor: a sum of 2^(52 - 2 BITS) products of them is exact.
ROWS = 256  # Number of rows of the residual that are computed at a time.
COLUMN_BLOCK = 128  # Number of columns that a product with K sums at a time.
BLOCK_BYTES = 64 * 2**20  # Memory that a block of a streamed Gram matrix may take.
SIDE = 512  # Rows and columns of half a matrix that are multiplied at a time, for the cache.
SPARE = 0.8  # Share of the free memory that half a matrix may take.
PARTS = 8  # sums that a product is made of, with any number of threads: so its bits are the same
MEMORY = Path("/proc/meminfo")  # Where Linux says how much memory is free.
FLOAT32 = 2.0**-24  # relative rounding of one float32 number
ASYMMETRY = 1e-10, 64 * FLOAT32  # of the largest entry: K in float64, and in float32
AS_STORED = (
    "The matrix K is meant as stored in float64, averaged with its transpose; should rounding have "
    "left it an eigenvalue below zero, with so little added to its diagonal as mends that."
)


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
    """Return more than the proof mostly loses: where A minus it has a factor, it succeeds."""
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
    step = 2 ** (52 - 2 * BITS)
    blocks = (slice(start, start + step) for start in range(0, one.shape[1], step))
    return reduce(iadd, (one[:, some] @ other[:, some].T for some in blocks))


def _square(part: np.ndarray) -> float:
    return float(np.einsum("ij,ij->", part, part))


def blocked_product(K: np.ndarray, w: np.ndarray, total: np.ndarray | None = None) -> np.ndarray:
    """Return K w in the format of w, or added to `total`, `COLUMN_BLOCK` columns at a time."""
    total = np.zeros(K.shape[0], dtype=w.dtype) if total is None else total
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


def as_meant(meaning: str) -> str:
    """Return the sentences that say which matrix is meant."""
    return AS_STORED + (f" It is {meaning} that is meant." if meaning else "")


def free_memory() -> float:
    """Return the bytes of memory that are free, infinite where the system does not say."""
    with suppress(OSError, StopIteration, ValueError, IndexError):
        lines = MEMORY.read_text(encoding="ascii").splitlines()
        return 1024.0 * next(int(x.split()[1]) for x in lines if x.startswith("MemAvailable"))
    with suppress(AttributeError, OSError, ValueError):
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    return np.inf


def format_for(n: int, tol: float) -> type[np.floating]:
    """Return the format in which half a matrix of side n is held for a relative gap of `tol`."""
    numbers, room = 0.5 * n * (n + SIDE), SPARE * free_memory()
    # 1e-7: relative gap from which single precision is enough: it moves the optimum to second order
    if tol < 1e-7 and 8 * numbers <= room:
        return np.float64
    if 4 * numbers <= room:
        return np.float32
    raise TooLargeError(
        f"the kernel matrix of {n} rows takes {4 * numbers / 1e9:.3g} GB and {room / 1e9:.3g} GB "
        "are free for it: take landmarks (aucert.approx.Nystrom) or fewer rows"
    )


class Half:
    """The lower half of a symmetric matrix of side n: blocks of rows, to the diagonal."""

    def __init__(self, n: int, made: Callable[[slice], np.ndarray]):
        self.n, parts = n, [slice(start, min(start + SIDE, n)) for start in range(0, n, SIDE)]
        self.held = list(zip(parts, in_threads(made, parts, n**2 // 2), strict=True))

    def product(self, c: np.ndarray) -> np.ndarray:
        c = c.astype(self.held[0][1].dtype)

        def work(first: int) -> np.ndarray:
            out = np.zeros(self.n)
            for rows, block in self.held[first::PARTS]:
                own = block[:, rows.start :] @ c[rows]
                for start in range(0, rows.start, SIDE):
                    some = slice(start, start + SIDE)
                    own += block[:, some] @ c[some]
                    out[some] += c[rows] @ block[:, some]
                out[rows] += own
            return out

        return reduce(iadd, in_threads(work, range(PARTS), self.n**2 // 2))


class Gram(Space):
    """Functions f = sum_i w_i k(., x_i) given by the kernel matrix of the rows.

    [ScalingUp, eq. (9), eq. (10)]. Coordinates are the coefficients, and ``|f|^2 = w'K w``. What is
    given is replaced by the average with its transpose, `Gram.K`. Where that is proved to be
    positive semidefinite, it is what is meant, as stored in float64. Where rounding leaves that
    open, K + shift I is proved to be, with a shift of a few n u of its largest entry; every bound
    of rounding then holds for each K + t I with 0 <= t <= shift. `Gram.of_kernel` means the formula
    instead, and holds K or makes it anew, a block of rows at a time.

    The least s that makes a matrix of float32, or of whole numbers, semidefinite is added to its
    diagonal, if the rounding of its n^2 entries can hide it: `meaning` and a `UserWarning` say so.
    Where K is semidefinite but for a constant in all its entries, ten times the largest entry is
    added to each: pairs cancel a constant, so that no optimal model changes.

    Parameters
    ----------
    K : array (n, n)
        Symmetric to rounding, positive semidefinite to rounding.
    check : bool
        Whether to prove that K is semidefinite. If False, the caller promises it.

    Attributes
    ----------
    K : array (n, n), or None where it is not held
    shift : float >= 0; K + shift I is proved to be semidefinite
    noise : float; |K_ij - M_ij| <= noise r_i r_j, 0 where K itself is meant
    lengths : array (n,), r_i, upper bounds of the roots of the diagonal
    meaning : str
        What is meant instead of the K given, in words; empty where that is meant.
    kernel : Kernel or None, the formula meant, at the rows `X`
    precise : bool
        Whether norms and careful scores are summed in the long format; see `plain`.

    Raises
    ------
    InputError
        If K is not square, symmetric to rounding, finite, or has a clearly negative eigenvalue.
    """

    precise = True
    K: Any = None
    X: Any = None
    kernel: Any = None
    noise, shift = 0.0, 0.0

    def __init__(self, K: object, check: bool = True):
        matrix = check_matrix(K, "K")
        top = self._hold(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())
        if check and top > 0:
            self._make_semidefinite(top)
        squares = np.maximum(self.diagonal(), 0.0) + self.shift
        self._begin(np.sqrt(squares) * (1.0 + gamma(4)))

    def _hold(self, matrix: np.ndarray) -> float:
        """Keep the average of a matrix and its transpose, and return its largest entry."""
        if matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"K must be square; its shape is {matrix.shape}")
        top = float(np.abs(matrix).max())
        if not top <= LARGEST_REACH**2 or 0 < top < SMALLEST_REACH**2:
            raise InputError("K has values so large, or all so small, that sums fail: scale it")
        differences = np.abs(matrix - matrix.T)
        off = float(differences.max())
        if off > ASYMMETRY[0] * top and off > ASYMMETRY[1] * top * _is_float32(matrix):
            row, column = np.unravel_index(differences.argmax(), matrix.shape)
            raise InputError(f"K is not symmetric: see entries ({row}, {column}) and its mirror")
        self.K = (matrix + matrix.T) / 2
        return top

    def _begin(self, lengths: np.ndarray) -> None:
        self.n = self.dim = lengths.size
        self.lengths, self.reach = lengths, float(lengths.max())
        self._recent: dict[bytes, np.ndarray] = {}
        self._half: weakref.ref[Half] | None = None

    @classmethod
    def of_kernel(cls, kernel: Kernel, X: Any, held: bool = True) -> Gram:
        """Return the space of a kernel's formula on rows (n, d), its matrix in memory if `held`."""
        gram, noise = cls.__new__(cls), kernel.noise(X)  # which refuses rows that overflow
        if held:
            gram._hold(kernel(X, X))
            noise += 2 * UNIT  # the average with the transpose rounds too
        gram.kernel, gram.X, gram.noise = kernel, X, noise
        gram._begin(lengths_of(kernel, X))
        return gram

    def part(self, index: np.ndarray) -> Gram:
        if self.K is None:
            return Gram.of_kernel(self.kernel, self.X[index], held=False)
        gram = copy.copy(self)
        gram._begin(self.lengths[index])
        gram.K = self.values(index, index)
        gram.X = None if self.X is None else self.X[index]
        return gram

    @property
    def gram(self) -> Gram:
        return self

    def values(self, rows: np.ndarray | slice, columns: np.ndarray | slice) -> np.ndarray:
        if self.K is None:
            return self.kernel(self.X[rows], self.X[columns])
        if isinstance(rows, slice) or isinstance(columns, slice):
            return self.K[rows][:, columns]
        return self.K[np.ix_(rows, columns)]

    def diagonal(self) -> np.ndarray:
        return self.kernel.diagonal(self.X) if self.K is None else np.diag(self.K)

    def plain(self) -> Gram:
        same = copy.copy(self)
        same.precise, same._recent = False, {}
        return same

    def _make_semidefinite(self, top: float) -> None:
        """Set the shift, perhaps of a raised K: its diagonal, as rounding hides, or all entries."""
        if self._is_proved(top):
            return
        least = float(np.linalg.eigvalsh(self.K)[0])
        # What rounding may have done to an entry: 1 to a whole number, 0 to one of float64.
        given, whole = self.K, bool((self.K == np.floor(self.K)).all())
        rounding = 1.0 if whole else FLOAT32 * top * _is_float32(self.K)
        # 0.125: of the largest entry: a shift beyond it is not rounding, however many rows
        most, raised = min(len(given) * rounding, 0.125 * top), 2 * room(given) - least
        if raised <= most:
            said = at_most(raised, 3)  # and that is added, so that the words are true
            self.K = given + float(said) * np.eye(len(given))
            kind = "whole numbers" if whole else "float32 numbers"
            self.meaning = f"K + {said} I, as the rounding of {kind} hides so much,"
        # 1e-6: of the largest entry: an eigenvalue nearer zero lacks some diagonal, no constant
        elif least < -1e-6 * top:
            said = at_most(10 * top, 1)
            self.K = given + float(said)
            self.meaning = f"K + {said} in every entry, a constant that pairs cancel,"
        if not self._is_proved(top):
            raise InputError(
                f"K has a negative eigenvalue ({least:.2g}), so it is not a kernel matrix and no "
                f"dual bound is valid: add {-2 * least:.2g} to its diagonal, or use another kernel"
            )
        warn_the_user(f"K has a negative eigenvalue ({least:.2g}): {self.meaning} is taken")

    def _is_proved(self, top: float) -> bool:
        """Set a shift for which K + shift I is proved to be semidefinite; return whether one is."""
        unit, spare = len(self.K) * UNIT * top, room(self.K)
        missing = shortfall(self.K, -spare)
        if missing is not None and missing <= spare:
            self.shift = 0.0
            return True
        for shift in (unit, 8 * unit, 64 * unit):
            missing = shortfall(self.K, shift)
            if missing is not None:
                self.shift = (shift + missing) * (1 + gamma(4))
                return True
        return False

    def product(
        self, tol: float, stop: Callable[[], bool] = lambda: False
    ) -> Callable[[np.ndarray], np.ndarray]:
        """Return c -> K c (n,) for solvers, of unbounded rounding; it is shared while it is held.
        It is good for a relative gap of `tol`, and made until `stop()`."""
        if self.K is not None:
            return self.K.__matmul__
        half = None if self._half is None else self._half()
        if half is None:
            dtype = format_for(self.n, tol)

            def made(rows: slice) -> np.ndarray:
                if stop():  # whoever stops uses no product
                    return np.zeros((rows.stop - rows.start, rows.stop), dtype=dtype)
                return self.kernel(self.X[rows], self.X[: rows.stop]).astype(dtype)

            half = Half(self.n, made)
            self._half = None if stop() else weakref.ref(half)
        return half.product

    def blocks(self) -> Iterator[slice]:
        step = self.n if self.K is not None else max(1, BLOCK_BYTES // (8 * self.n))
        for start in range(0, self.n, step):
            yield slice(start, min(start + step, self.n))

    def scores(self, w: np.ndarray) -> np.ndarray:
        return self._product(w).astype(float) if self.K is None else blocked_product(self.K, w)

    def pull(self, c: np.ndarray) -> np.ndarray:
        return c  # the coordinates are the coefficients

    def norm2(self, w: np.ndarray) -> float:
        return max(float(short_sum(w * self._product(w))), 0.0)  # large coefficients cancel

    def norm2_error(self, w: np.ndarray) -> float:
        """Return gamma_k |w|'|K| |w|, k the chain of additions, plus the effect of K's error."""
        size = float(np.abs(w) @ self._sizes(w)) * (1 + gamma(self.n + 4))
        share = 1.01 * (self._chain(self._unit) + gamma(short_chain(self.n) + 8, self._unit))
        off = self.noise * mass_of(w, self.lengths) ** 2 + self.shift * float(w @ w)
        return (share * size + UNIT * self.norm2(w) + off) * (1 + gamma(self.n + 8))

    def dual_norm2(self, c: np.ndarray) -> Bound:
        return Bound(self.norm2(c), self.norm2_error(c))

    def inner(self, w: np.ndarray, other: np.ndarray) -> float:
        return float((w * self.scores(other)).sum())

    def score_error(self, w: np.ndarray) -> np.ndarray:
        return self._error(w, UNIT)

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._product(w), self._error(w, self._unit)

    @property
    def _unit(self) -> float:
        return LONG_UNIT if self.precise else UNIT

    def _error(self, w: np.ndarray, unit: float) -> np.ndarray:
        """Return gamma_k |K| |w|, k the chain of additions, and what K's error does: (n,)."""
        off = self.noise * mass_of(w, self.lengths) * self.lengths + self.shift * np.abs(w)
        return (self._chain(unit) * self._sizes(w) + off) * (1 + gamma(8))

    def _sizes(self, w: np.ndarray) -> np.ndarray:
        if self.K is None:
            return mass_of(w, self.lengths) * self.lengths * (1 + gamma(4))
        size = self.K if self.K.min() >= 0 else np.abs(self.K)
        return (size @ np.abs(w)) * (1 + gamma(self.n + 8))  # at least |K| |w|

    def _chain(self, unit: float) -> float:
        """Return the relative rounding of a product's terms. Where K is not held, a term passes
        through one part of `COLUMN_BLOCK` in this format, then a chain of parts in the long one: at
        most two for each `COLUMN_BLOCK` rows and for each block, and one for each of `PARTS`."""
        if self.K is not None:
            return gamma(chain_of(self.n), unit)
        parts = 2 * (self.n // COLUMN_BLOCK + sum(1 for _ in self.blocks())) + 8 + PARTS
        return 1.01 * (gamma(parts, LONG_UNIT) + gamma(COLUMN_BLOCK + 6, unit))

    def _product(self, w: np.ndarray) -> np.ndarray:
        """Return K w, long if `precise`; where K is not held, remembered and long in any case."""
        if self.K is not None:
            if not self.precise:
                return blocked_product(self.K, w)
            used = np.flatnonzero(w)
            return blocked_product(self.K[:, used], w[used].astype(np.longdouble))
        self.together(w)
        return self._recent[w.tobytes()]

    def together(self, *vectors: np.ndarray) -> None:
        """Make the products with several vectors (n,) in one pass, if K is not held."""
        new = [w for w in vectors if self.K is None and w.tobytes() not in self._recent]
        if not new:
            return
        used = np.flatnonzero(np.any(new, axis=0))
        products = np.zeros((len(new), self.n), dtype=np.longdouble)
        weights = [w.astype(np.longdouble) if self.precise else w for w in new]
        # 0.5: share of nonzero coefficients up to which only their columns of K are made
        if used.size > 0.5 * self.n:
            blocks = list(self.blocks())

            def half(first: int) -> np.ndarray:  # each value of the lower half of K is made once
                mine = np.zeros_like(products)
                for rows in blocks[first::PARTS]:
                    block = self.kernel(self.X[rows], self.X[: rows.stop])
                    for w, product in zip(weights, mine, strict=True):
                        blocked_product(block, w[: rows.stop], product[rows])
                        blocked_product(block[:, : rows.start].T, w[rows], product[: rows.start])
                return mine

            products += reduce(iadd, in_threads(half, range(PARTS), self.n * self.n // 2))
        elif used.size:
            columns = self.X[used]

            def work(rows: slice) -> None:
                block = self.kernel(self.X[rows], columns)
                for w, product in zip(weights, products, strict=True):
                    blocked_product(block, w[used], product[rows])

            in_threads(work, list(self.blocks()), self.n * used.size)
        if not np.isfinite(products).all():
            raise InputError("the kernel has values that are not finite on these rows: rescale X")
        products.flags.writeable = False
        found = [(w.tobytes(), product) for w, product in zip(new, products, strict=True)]
        # 4: products that are remembered: a certificate needs each several times
        self._recent = dict([*self._recent.items(), *found][-max(4, len(found)) :])


def _is_float32(matrix: np.ndarray) -> bool:
    """Return whether every number is one of float32, so that it may have been rounded to it."""
    with np.errstate(over="ignore", under="ignore"):
        return bool((matrix.astype(np.float32) == matrix).all())
