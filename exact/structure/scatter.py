"""SAUC-SVM's structure: penalise how far the scores spread within each class.

SAUC-SVM adds ``structure * f'Sigma f`` to |f|^2, Sigma the covariance of the pair differences.
On the rows that is a quadratic form s'R s in the scores s, with R known exactly:

* all pairs, c_ij = a_i b_j: R = blkdiag(diag(a) - a a', diag(b) - b b'), the sum of the two class
  covariances, [SAUC, Prop. 1, eq. (15)] (which holds with covariances divided by n, not n - 1);
* a list of pairs with weights c: R = A'diag(c)A - (A'c)(A'c)'.

R is singular always (a constant per class has no spread), so the inverse of R + structure R K R
printed in [SAUC, eq. (17)] never exists. Nothing here inverts it: features are whitened by the
Cholesky factor of I + structure F'R F (`structured`), and kernels take the root of R (`woodbury`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..pairs.all_pairs import AllPairs, PairList
from ..tools.checks import as_float

# Whose covariances the structure takes: those of all data, or of the listed pairs.
SOURCES = ("full", "sampled")


class Scatter(Protocol):
    """R, a positive semidefinite form of the scores."""

    @property
    def chain(self) -> int:
        """Number of roundings in a row that `times` has at most."""
        ...

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return R values, for values (n,) or (n, k)."""
        ...

    def root(self) -> np.ndarray:
        """Return Q (n, m) with Q Q' = R."""
        ...

    def centre(self, values: np.ndarray) -> np.ndarray:
        """Return values (n,) that differ by what R does not see, and are small."""
        ...

    def size(self, values: np.ndarray) -> np.ndarray:
        """Return B (n,), B >= |R values|: the rounding of `times` is at most gamma_chain B."""
        ...

    def mass(self) -> np.ndarray:
        """Return the diagonal (n,) of a matrix that R is nowhere above."""
        ...


@dataclass(frozen=True, eq=False)
class ClassScatter:
    """R of all pairs: the two class covariances. [SAUC, Prop. 1, eq. (15)]"""

    positive: np.ndarray
    a: np.ndarray
    b: np.ndarray

    @property
    def chain(self) -> int:
        """Rows, and a few."""
        return self.positive.size + 8

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return R values: each class centred, then weighted."""
        centred = self.centre(values)
        return self.mass().reshape((-1,) + (1,) * (values.ndim - 1)) * centred

    def root(self) -> np.ndarray:
        """Return blkdiag of diag(sqrt a) (I - sqrt a sqrt a') and the same for b: (n, n)."""
        n = self.positive.size
        Q = np.zeros((n, n))
        for side, weight in ((self.positive, self.a), (~self.positive, self.b)):
            q = np.sqrt(weight)
            Q[np.ix_(side, side)] = q[:, None] * (np.eye(q.size) - np.outer(q, q))
        return Q

    def centre(self, values: np.ndarray) -> np.ndarray:
        """Return values less their class mean."""
        out = np.empty_like(values, dtype=float)
        for side, weight in ((self.positive, self.a), (~self.positive, self.b)):
            out[side] = values[side] - weight @ values[side]
        return out

    def size(self, values: np.ndarray) -> np.ndarray:
        """Return a_i (|v_i| + a'|v|), and b_j (|v_j| + b'|v|): (n,)."""
        out = np.abs(values)
        for side, weight in ((self.positive, self.a), (~self.positive, self.b)):
            out[side] = weight * (out[side] + weight @ out[side])
        return out

    def mass(self) -> np.ndarray:
        """Return a and b, row by row."""
        out = np.empty(self.positive.size)
        out[self.positive], out[~self.positive] = self.a, self.b
        return out


@dataclass(frozen=True, eq=False)
class PairScatter:
    """R_w of a list of pairs: the covariance of their differences."""

    pairs: PairList

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.pairs.n

    @property
    def chain(self) -> int:
        """Twice the pairs, and a few: their mean, and the sum of those of a row."""
        return 2 * self.pairs.i.size + 8

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return A'diag(c) t, t = A values less their mean c'A values."""
        A, c = self.pairs.incidence(), self.pairs.c
        t = A @ values
        return A.T @ (c.reshape((-1,) + (1,) * (values.ndim - 1)) * (t - c @ t))

    def root(self) -> np.ndarray:
        """Return A'diag(sqrt c) (I - sqrt c sqrt c'), or a square root of R if that is smaller."""
        if self.pairs.i.size > self.n:
            R = self.times(np.eye(self.n))
            values, vectors = np.linalg.eigh((R + R.T) / 2)
            return vectors * np.sqrt(np.maximum(values, 0.0))
        q = np.sqrt(self.pairs.c)
        scaled = (self.pairs.incidence().T @ sp.diags(q)).toarray()
        return scaled - np.outer(scaled @ q, q)

    def centre(self, values: np.ndarray) -> np.ndarray:
        """Return `values`: only their differences count, and those lose nothing."""
        return values

    def size(self, values: np.ndarray) -> np.ndarray:
        """Return |A|'diag(c) (|t| + c'|t|), t = A values: (n,)."""
        A, c = self.pairs.incidence(), self.pairs.c
        t = np.abs(A @ values)
        return abs(A).T @ (c * (t + c @ t))

    def mass(self) -> np.ndarray:
        """Return twice what the pairs of each row weigh: R <= A'diag(c)A <= diag(mass)."""
        return 2 * self.pairs.row_mass()


def scatter_of(
    pairs: AllPairs | PairList, positive: np.ndarray, source: str = "full"
) -> ClassScatter | PairScatter:
    """Return R: of the full data, or of the pairs actually used."""
    if source not in SOURCES:
        raise InputError(f"the structure's source must be full or sampled, not {source!r}")
    if source == "sampled" and isinstance(pairs, PairList):
        return PairScatter(pairs.on(positive))
    whole = pairs if isinstance(pairs, AllPairs) else AllPairs()
    return ClassScatter(positive, *whole.on(positive).normalised())


def check_structure(structure: float) -> float:
    """Return `structure` as a float >= 0, or raise `InputError`."""
    if isinstance(structure, bool) or not isinstance(structure, int | float | np.number):
        raise InputError(f"structure must be a number, not {structure!r}")
    if not (np.isfinite(as_float(structure)) and structure >= 0):
        raise InputError(f"structure must be >= 0 and finite, not {structure!r}")
    return float(structure)
