"""SAUC-SVM's norm: as whitened rows to solve with, and on any space to certify with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from ..errors import InputError, TooLargeError
from ..spaces.gram_factor import SQUARE_LIMIT, Lift, rows_of
from ..spaces.rows import Rows, Space
from ..tools.rounding import UNIT, gamma
from .scatter import Scatter, check_structure

_BLOCK_ENTRIES = 2**22  # Entries of sparse rows that are made dense at a time.


def whitener(space: Rows, scatter: Scatter, structure: float) -> np.ndarray:
    """Return L (d, d), lower triangular, with L L' = I + structure F'R F.

    [SAUC, eq. (8)]: a machine with features F and the structure is a plain machine with features
    F L^{-T}.
    """
    if space.dim > SQUARE_LIMIT:
        raise TooLargeError(
            f"the structure of {space.dim} features is a matrix of that side, and "
            f"{SQUARE_LIMIT} is the most: keep fewer features, or leave the structure out"
        )
    if isinstance(space.X, np.ndarray):
        product = space.X.T @ scatter.times(space.X)
    else:
        product = np.empty((space.dim, space.dim))
        by_column, step = space.X.tocsc(), max(1, _BLOCK_ENTRIES // space.n)
        for start in range(0, space.dim, step):
            some = slice(start, start + step)
            # R does not see an offset, neither of the columns nor of the rows.
            product[:, some] = space.X.T @ scatter.times(by_column[:, some].toarray())
    with np.errstate(over="ignore", invalid="ignore"):
        M = np.eye(space.dim) + structure * ((product + product.T) / 2)
    try:
        return scipy.linalg.cholesky(M, lower=True)
    except (np.linalg.LinAlgError, ValueError):  # the latter where M overflows
        raise _too_large(structure) from None


def _too_large(structure: float) -> InputError:
    return InputError(
        f"structure = {structure:g} is too large for the spread of these features in "
        "floating point: lower it, or scale the features to order one"
    )


def whitened(space: Rows, scatter: Scatter, structure: float) -> Rows:
    """Return the rows whose plain norm is the structured norm of the given ones."""
    if structure == 0:
        return space
    L = whitener(space, scatter, structure)
    try:
        if isinstance(space.X, np.ndarray):
            return DenseWhitened(space.X, L)
        return SparseWhitened(space, L)
    except InputError:  # the rows given are fine, and whitened ones are never longer
        raise _too_large(structure) from None


class DenseWhitened(Rows):
    """F L^{-T} as dense rows."""

    def __init__(self, X: np.ndarray, L: np.ndarray):
        self.L = L
        rows = scipy.linalg.solve_triangular(L, X.T, lower=True).T
        super().__init__(np.ascontiguousarray(rows), check=False)

    def to_input(self, w: np.ndarray) -> np.ndarray:
        """Return L^{-T} w, the weights of the original features."""
        return scipy.linalg.solve_triangular(self.L, w, lower=True, trans="T")


class SparseWhitened(Rows):
    """F L^{-T} as an operator: the rows stay sparse.

    Solving with L errs by at most gamma_d |L| |x| before L^{-1}, and L^{-1} never lengthens,
    since L L' >= I (`stretch` allows for the rounding in L).
    """

    def __init__(self, space: Rows, L: np.ndarray):
        self.base, self.L = space, L
        self.n, self.dim = space.n, space.dim
        lost = gamma(self.dim + 2) * float((L * L).sum())
        if lost >= 0.5:
            raise InputError("the identity is lost in rounding beside the structure")
        self.stretch = float(1 / np.sqrt(1 - lost))
        self.offset = self._solve(space.offset)
        self.norms, self.reach = self.stretch * space.norms, self.stretch * space.reach
        # An operator and no matrix: code that indexes rows fails here, where it would otherwise
        # read the rows before whitening.
        self.X = self.raw = cast(
            Any,
            scipy.sparse.linalg.LinearOperator(
                (self.n, self.dim),
                matvec=lambda w: space.X @ self.to_input(np.ravel(w)),
                rmatvec=lambda c: self._solve(space.X.T @ np.ravel(c)),
                dtype=float,
            ),
        )

    def _solve(self, values: np.ndarray) -> np.ndarray:
        return scipy.linalg.solve_triangular(self.L, values, lower=True)

    def to_input(self, w: np.ndarray) -> np.ndarray:
        """Return L^{-T} w."""
        return scipy.linalg.solve_triangular(self.L, w, lower=True, trans="T")

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return F L^{-T} w."""
        return self.base.scores(self.to_input(w))

    def score_error(self, w: np.ndarray) -> np.ndarray:
        """Return a bound of the rounding in each score: (n,)."""
        v = self.to_input(w)
        return self.base.score_error(v) + self._slip(v)

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores in the long format, and a bound of their rounding: (n,) each."""
        v = self.to_input(w)
        scores, error = self.base.careful_scores(v)
        return scores, error + self._slip(v)

    def _slip(self, v: np.ndarray) -> np.ndarray:
        """Return what the solution v of L'v = w is off by, seen by each row."""
        size = float(np.linalg.norm(np.abs(self.L).T @ np.abs(v)))
        return gamma(2 * self.dim + 8) * size * self.norms

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return L^{-1} F'c."""
        return self._solve(self.base.pull(c))

    def pull_error(self, c: np.ndarray) -> float:
        """Return the base's bound, and that of the solution of L g = F'c."""
        size = float(np.linalg.norm(np.abs(self.L) @ np.abs(self.pull(c))))
        return self.stretch * (self.base.pull_error(c) + gamma(2 * self.dim + 8) * size)

    def dual_norm2(self, c: np.ndarray) -> float:
        """Return |pull(c)|^2."""
        return self.norm2(self.pull(c))

    def dual_norm2_error(self, c: np.ndarray) -> float:
        """Return e (2 |pull(c)| + e) and the rounding of the square, e as in `pull_error`."""
        norm2, error = self.dual_norm2(c), self.pull_error(c)
        return error * (2 * float(np.sqrt(norm2)) + error) + gamma(self.dim + 4) * norm2

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return the named rows, dense and centred."""
        chosen = cast(Any, self.base.rows(index)).toarray() - self.base.offset
        return self._solve(chosen.T).T


@dataclass(frozen=True, eq=False)
class _Correction:
    """e = c - structure R y and structure y'R y, with bounds of their rounding.

    slip bounds the sum of the absolute errors in e.
    """

    e: np.ndarray
    slip: float
    spread: float
    spread_error: float


class Structured:
    """Any space with the structured norm |f|^2 + structure * s'R s, coordinates unchanged.

    The certificate of SAUC-SVM in the original coordinates, independent of any whitening: for
    every y, |sum c_i k_i|^2 in the dual norm is at most

        |sum_i e_i k_i|^2 + structure y'R y,    e = c - structure R y,

    with equality at the scores y of the representer; so a y that is slightly off costs a little
    tightness and never validity. [SAUC, eq. (12)]
    """

    def __init__(
        self,
        base: Space,
        scatter: Scatter,
        structure: float,
        white: Rows | None = None,
        lift: Lift | None = None,
    ):
        self.base, self.scatter, self.structure = base, scatter, check_structure(structure)
        self.n, self.dim, self.reach = base.n, base.dim, base.reach
        self.meaning = base.meaning
        if white is None or lift is None:
            rows, back, _ = rows_of(base, few=True)
            made = whitened(rows, scatter, self.structure)
            white, lift = made, lambda w: back(made.to_input(w))
        self._white, self._lift = white, lift
        self._recent: tuple[np.ndarray, _Correction] | None = None

    def blocks(self) -> Iterator[slice]:
        """Yield the base's slices."""
        return self.base.blocks()

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return the base's scores: (n,)."""
        return self.base.scores(w)

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the base's scores and their rounding: (n,) each."""
        return self.base.careful_scores(w)

    def norm2(self, w: np.ndarray) -> float:
        """Return |f|^2 + structure s'R s."""
        return self.base.norm2(w) + self._spread(w)[0]

    def norm2_error(self, w: np.ndarray) -> float:
        """Return the base's bound, and that of the spread of the scores."""
        return self.base.norm2_error(w) + self._spread(w)[1]

    def _spread(self, w: np.ndarray) -> tuple[float, float]:
        """Return structure s'R s, and a bound of its rounding.

        With errors d in the scores it is off by at most 2 sqrt(s'R s) sqrt(d'R d) + d'R d.
        """
        scores, error = self.base.careful_scores(w)
        z = self.scatter.centre(scores).astype(float)
        spread = max(float(z @ self.scatter.times(z)), 0.0)
        moved = np.asarray(error + 2 * UNIT * np.abs(z), dtype=float)
        moved2 = float(self.scatter.mass() @ moved**2) * (1 + gamma(self.n))
        rounding = gamma(2 * self.scatter.chain) * float(np.abs(z) @ self.scatter.size(z))
        slip = 2 * float(np.sqrt((spread + rounding) * moved2)) + moved2
        return self.structure * spread, self.structure * (slip + rounding)

    def inner(self, w: np.ndarray, other: np.ndarray) -> float:
        """Return the structured inner product."""
        both = float((self.scores(w) * self.scatter.times(self.scores(other))).sum())
        return self.base.inner(w, other) + self.structure * both

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return the representer of c in the structured norm, in the base's coordinates."""
        return self._lift(self._white.pull(c))

    def _correct(self, c: np.ndarray) -> _Correction:
        """Return e and structure y'R y, y the scores of the representer."""
        if self._recent is not None and np.array_equal(self._recent[0], c):
            return self._recent[1]
        # Any y will do, so y is the computed one and has no error.
        y = self.scatter.centre(self._white.scores(self._white.pull(c)))
        moved, size = self.scatter.times(y), self.structure * self.scatter.size(y)
        e = c - self.structure * moved
        slip = gamma(self.scatter.chain + 4) * float(size.sum()) + UNIT * float(np.abs(e).sum())
        spread = self.structure * max(float(y @ moved), 0.0)
        found = _Correction(
            e,
            slip * (1 + gamma(2 * self.n)),
            spread,
            gamma(2 * self.scatter.chain) * float(np.abs(y) @ size) * (1 + gamma(2 * self.n)),
        )
        self._recent = (c.copy(), found)
        return found

    def dual_norm2(self, c: np.ndarray) -> float:
        """Return the upper bound of the class docstring."""
        found = self._correct(c)
        return self.base.dual_norm2(found.e) + found.spread

    def dual_norm2_error(self, c: np.ndarray) -> float:
        """Return the base's bound at e, and the rounding of the two products with R."""
        found = self._correct(c)
        error, moved = self.base.dual_norm2_error(found.e), self.reach * found.slip
        norm = float(np.sqrt(self.base.dual_norm2(found.e) + error))
        return error + moved * (2 * norm + moved) + found.spread_error
