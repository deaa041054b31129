"""Functions given by their kernel matrix: held in memory, or made block by block.

Every statement about such functions is about a matrix M that is positive semidefinite in exact
arithmetic. The bounds of scores, norms and pulls include the difference between M and the matrix K
at hand. For a kernel of rows, M is that of the formula at the rows as stored, and |K_ij - M_ij| <=
noise r_i r_j, r_i >= sqrt(M_ii). For a matrix that is given, M is any K + t I with 0 <= t <= shift:
the last of them is proved to be semidefinite, and K itself is covered too, if it is.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import InputError
from ..tools.rounding import LONG_UNIT, UNIT, gamma, short_sum
from ..tools.warned import warn_the_user
from ..tools.wording import at_most
from .blocked.products import BLOCK_BYTES, blocked_product, chain_of, mass_of, norm_chain
from .blocked.streamed_gram import StreamedGram
from .kernel import Kernel, lengths_of
from .rows import LARGEST_REACH, SMALLEST_REACH, check_matrix
from .semidefinite import room, shortfall

__all__ = [
    "AS_STORED",
    "BLOCK_BYTES",
    "Gram",
    "StreamedGram",
    "blocked_product",
    "chain_of",
    "mass_of",
    "norm_chain",
]

# Which matrix a statement about a given one refers to; see `Gram`.
AS_STORED = (
    "The matrix K is meant as stored in float64, averaged with its transpose; should rounding have "
    "left it an eigenvalue below zero, with so little added to its diagonal as mends that."
)

FLOAT32 = 2.0**-24  # relative rounding of one float32 number
ASYMMETRY = 1e-10, 64 * FLOAT32  # of the largest entry: K in float64, and in float32
CLEARLY = 1e-6  # of the largest entry: an eigenvalue nearer zero lacks some diagonal, no constant
LARGEST_SHARE = 0.125  # of the largest entry: a shift beyond it is no rounding, however many rows


def as_meant(meaning: str) -> str:
    """Return the sentences that say which matrix is meant, given `Gram.meaning`."""
    return AS_STORED + (f" It is {meaning} that is meant." if meaning else "")


class Gram:
    """Functions f = sum_i w_i k(., x_i) given by the kernel matrix of the rows.

    [ScalingUp, eq. (9)]. Coordinates are the coefficients, and ``|f|^2 = w'K w``.

    What is given is replaced by the average with its transpose, `Gram.K`. Where that is proved to
    be positive semidefinite, it is what is meant, as stored in float64. Where rounding leaves that
    open (an eigenvalue of -1e-14 would make F unbounded below), K + shift I is proved to be
    semidefinite, with a shift of a few n u of its largest entry: what rounding can hide. Every
    bound of rounding here then holds for each K + t I with 0 <= t <= shift, so for K itself if it
    is semidefinite. `Gram.of_kernel` means the formula instead.

    A matrix made in float32, or of whole numbers, is rounded more coarsely than that. The least
    s that makes it semidefinite is then added to its diagonal, if the rounding of its n^2 entries
    can hide it, and K + s I is meant: `meaning` says so, and one warning. Where K is semidefinite
    but for a constant in all its entries, ten times the largest entry is added to each: pairs
    cancel a constant, so that no optimal model changes.

    Parameters
    ----------
    K : array (n, n)
        Symmetric to rounding, positive semidefinite to rounding.
    check : bool
        Whether to prove that K is semidefinite. If False, the caller promises it.

    Attributes
    ----------
    K : array (n, n)
    shift : float
        >= 0; K + shift I is proved to be semidefinite.
    noise : float
        |K_ij - M_ij| <= noise r_i r_j; 0 where K itself is meant.
    lengths : array (n,)
        r_i, upper bounds of the roots of the diagonal.
    meaning : str
        What is meant instead of the K given, in words; empty where that is meant.
    kernel : Kernel or None
        The formula meant.
    precise : bool
        Whether norms and careful scores are summed in the long format; see `plain`.

    Raises
    ------
    InputError
        If K is not square, symmetric to rounding, finite, or has a clearly negative eigenvalue.

    Warns
    -----
    UserWarning
        If something is added to K.
    """

    precise = True
    meaning = ""

    def __init__(self, K: object, check: bool = True):
        matrix = check_matrix(K, "K")
        top = self._hold(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())
        if check and top > 0:
            self._make_semidefinite(top)
        squares = np.maximum(np.diag(self.K), 0.0) + self.shift
        self.lengths = np.sqrt(squares) * (1.0 + gamma(4))

    def _hold(self, matrix: np.ndarray) -> float:
        """Keep the average of a matrix and its transpose, and return its largest entry."""
        if matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"K must be square; its shape is {matrix.shape}")
        self.n = self.dim = int(matrix.shape[0])
        top = float(np.abs(matrix).max())
        if not top <= LARGEST_REACH**2 or 0 < top < SMALLEST_REACH**2:
            raise InputError("K has values so large, or all so small, that sums fail: scale it")
        allowed = ASYMMETRY[0] * top
        off = float(np.abs(matrix - matrix.T).max())
        if off > allowed and off > ASYMMETRY[1] * top * _is_float32(matrix):
            row, column = np.unravel_index(np.abs(matrix - matrix.T).argmax(), matrix.shape)
            raise InputError(f"K is not symmetric: see entries ({row}, {column}) and its mirror")
        self.K = (matrix + matrix.T) / 2
        self.noise, self.shift = 0.0, 0.0
        self.kernel: Kernel | None = None
        return top

    @classmethod
    def of_kernel(cls, kernel: Kernel, X: Any) -> Gram:
        """Return the space of a kernel on rows (n, d) with its matrix in memory; claims are about
        the formula."""
        gram, noise = cls.__new__(cls), kernel.noise(X)  # which refuses rows that overflow
        gram._hold(kernel(X, X))
        gram.kernel, gram.lengths = kernel, lengths_of(kernel, X)
        gram.noise = noise + 2 * UNIT  # the average with the transpose rounds too
        return gram

    def part(self, index: np.ndarray) -> Gram:
        """Return the space of some of the rows, with the same matrix meant."""
        gram = copy.copy(self)
        gram.K, gram.lengths = self.K[np.ix_(index, index)], self.lengths[index]
        gram.n = gram.dim = int(index.size)
        return gram

    def product(self, tol: float, stop: Callable[[], bool]) -> Callable[[np.ndarray], np.ndarray]:
        """Return the function c -> K c; see `StreamedGram.product`."""
        return self.K.__matmul__

    def plain(self) -> Gram:
        """Return the same space with all sums in float64: quick, and with more rounding."""
        same = copy.copy(self)
        same.precise = False
        return same

    @property
    def _unit(self) -> float:
        return LONG_UNIT if self.precise else UNIT

    @property
    def reach(self) -> float:
        """An upper bound of the roots of the diagonal."""
        return float(self.lengths.max())

    def _make_semidefinite(self, top: float) -> None:
        """Set the shift for which K + shift I is proved to be semidefinite, perhaps of a K raised.

        Raised is the diagonal where coarse rounding can hide what it lacks, else every entry.
        """
        if self._is_proved(top):
            return
        least = float(np.linalg.eigvalsh(self.K)[0])
        given, rounding = self.K, _rounding_of_entries(self.K, top)
        most, raised = min(self.n * rounding, LARGEST_SHARE * top), 2 * room(given) - least
        if raised <= most:
            said = at_most(raised, 3)  # and that is added, so that the words are true
            self.K = given + float(said) * np.eye(self.n)
            kind = "whole numbers" if rounding == 1 else "float32 numbers"
            self.meaning = f"K + {said} I, as the rounding of {kind} hides so much,"
        elif least < -CLEARLY * top:
            said = at_most(10 * top, 1)
            self.K = given + float(said)
            self.meaning = f"K + {said} in every entry, a constant that pairs cancel,"
        if not self._is_proved(top):
            raise InputError(
                f"K has a negative eigenvalue ({least:.2g}), so it is no kernel matrix and no "
                f"dual bound is valid: add {-2 * least:.2g} to its diagonal, or use another kernel"
            )
        warn_the_user(f"K has a negative eigenvalue ({least:.2g}): {self.meaning} is taken")

    def _is_proved(self, top: float) -> bool:
        """Set a shift for which K + shift I is proved to be semidefinite; return whether one is."""
        unit, spare = self.n * UNIT * top, room(self.K)
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

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return K w, summed in blocks of columns so that rounding stays small: (n,)."""
        return blocked_product(self.K, w)

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return c: the coordinates are the coefficients."""
        return c

    def norm2(self, w: np.ndarray) -> float:
        """Return w'K w, summed in the long format if `precise`: large coefficients cancel."""
        return max(float(short_sum(w * self._careful_product(w))), 0.0)

    def norm2_error(self, w: np.ndarray) -> float:
        """Return gamma_k |w|'|K| |w|, k the chain of additions, plus the effect of K's error."""
        size = float(np.abs(w) @ (self._magnitude() @ np.abs(w))) * (1 + gamma(2 * self.n))
        sums = gamma(norm_chain(self.n), self._unit) * size + UNIT * self.norm2(w)
        off = self.noise * mass_of(w, self.lengths) ** 2 + self.shift * float(w @ w)
        return (sums + off) * (1 + gamma(self.n + 8))

    def dual_norm2(self, c: np.ndarray) -> float:
        """Return c'K c."""
        return self.norm2(c)

    def dual_norm2_error(self, c: np.ndarray) -> float:
        """Return `norm2_error`."""
        return self.norm2_error(c)

    def _magnitude(self) -> np.ndarray:
        return self.K if self.K.min() >= 0 else np.abs(self.K)

    def _careful_product(self, w: np.ndarray) -> np.ndarray:
        if not self.precise:
            return blocked_product(self.K, w)
        used = np.flatnonzero(w)
        return blocked_product(self.K[:, used], w[used].astype(np.longdouble))

    def inner(self, w: np.ndarray, other: np.ndarray) -> float:
        """Return w'K other."""
        return float((w * self.scores(other)).sum())

    def score_error(self, w: np.ndarray) -> np.ndarray:
        """Return gamma_k |K| |w|, k the chain of additions, plus the effect of K's error: (n,)."""
        sums = gamma(chain_of(self.n)) * (self._magnitude() @ np.abs(w)) * (1 + gamma(self.n + 8))
        return sums + self._kernel_error(w)

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores, long if `precise`, and a bound of their error: (n,) each."""
        size = (self._magnitude() @ np.abs(w)) * (1 + gamma(self.n + 8))
        error = gamma(chain_of(self.n), self._unit) * size + self._kernel_error(w)
        return self._careful_product(w), error

    def _kernel_error(self, w: np.ndarray) -> np.ndarray:
        """Return noise r sum_i r_i |w_i| + shift |w|, what K's error does to each score: (n,)."""
        off = self.noise * mass_of(w, self.lengths) * self.lengths + self.shift * np.abs(w)
        return off * (1 + gamma(8))

    def blocks(self) -> Iterator[slice]:
        """Yield the one slice that holds all rows."""
        yield slice(0, self.n)


def _is_float32(matrix: np.ndarray) -> bool:
    """Return whether every number is one of float32, so that it may have been rounded to it."""
    with np.errstate(over="ignore", under="ignore"):
        return bool((matrix.astype(np.float32) == matrix).all())


def _rounding_of_entries(matrix: np.ndarray, top: float) -> float:
    """Return what rounding may have done to an entry: 1 to a whole number, 0 to one of float64."""
    if (matrix == np.floor(matrix)).all():
        return 1.0
    return FLOAT32 * top if _is_float32(matrix) else 0.0
