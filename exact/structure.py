"""SAUC-SVM's structure: penalise how far the scores spread within each class.

SAUC-SVM adds ``structure * f'Sigma f`` to |f|^2, Sigma the covariance of the pair differences.
On the rows that is a quadratic form s'R s in the scores s, with R known exactly:

* all pairs, c_ij = a_i b_j: R = blkdiag(diag(a) - a a', diag(b) - b b'), the sum of the two class
  covariances, [SAUC, Prop. 1, eq. (15)] (which holds with covariances divided by n, not n - 1);
* a list of pairs with weights c: R = A'diag(c)A - (A'c)(A'c)'.

R is singular always (a constant per class has no spread), so the inverse of R + structure R K R
printed in [SAUC, eq. (17)] never exists. Nothing here inverts it: features are whitened by the
Cholesky factor of I + structure F'R F, and kernels take the root of R.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

from .errors import InputError
from .pairs import AllPairs, PairList
from .spaces import Rows


class Scatter(Protocol):
    """R, a positive semidefinite form of the scores."""

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return R values, for values (n,) or (n, k)."""
        ...

    def root(self) -> np.ndarray:
        """Return Q (n, m) with Q Q' = R."""
        ...


@dataclass(frozen=True, eq=False)
class ClassScatter:
    """R of all pairs: the two class covariances. [SAUC, Prop. 1, eq. (15)]

    Parameters
    ----------
    positive : bool array (n,)
    a, b : arrays (n_pos,), (n_neg,)
        Row weights, each adding up to one.
    """

    positive: np.ndarray
    a: np.ndarray
    b: np.ndarray

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return R values: each class centred, then weighted."""
        out = np.empty_like(values, dtype=float)
        for side, weight in ((self.positive, self.a), (~self.positive, self.b)):
            mean = weight @ values[side]
            column = weight.reshape((-1,) + (1,) * (values.ndim - 1))
            out[side] = column * (values[side] - mean)
        return out

    def root(self) -> np.ndarray:
        """Return blkdiag of diag(sqrt a) (I - sqrt a sqrt a') and the same for b: (n, n)."""
        n = self.positive.size
        Q = np.zeros((n, n))
        for side, weight in ((self.positive, self.a), (~self.positive, self.b)):
            q = np.sqrt(weight)
            Q[np.ix_(side, side)] = q[:, None] * (np.eye(q.size) - np.outer(q, q))
        return Q


@dataclass(frozen=True, eq=False)
class PairScatter:
    """R_w of a list of pairs: the covariance of their differences.

    Parameters
    ----------
    pairs : PairList
    n : int
        Rows.
    """

    pairs: PairList
    n: int

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return A'diag(c)A values - (A'c)(A'c)'values."""
        A, c = self.pairs.incidence(self.n), self.pairs.c
        mean = A.T @ c
        return A.T @ (sp.diags(c) @ (A @ values)) - np.multiply.outer(mean, mean @ values)

    def root(self) -> np.ndarray:
        """Return A'diag(sqrt c) (I - sqrt c sqrt c')."""
        q = np.sqrt(self.pairs.c)
        A = self.pairs.incidence(self.n)
        scaled = (A.T @ sp.diags(q)).toarray()
        return scaled - np.outer(scaled @ q, q)


def scatter_of(
    pairs: AllPairs | PairList, positive: np.ndarray, source: str = "full"
) -> ClassScatter | PairScatter:
    """Return R: of the full data, or of the pairs actually used.

    Parameters
    ----------
    pairs : AllPairs or PairList
    positive : bool array (n,)
    source : {"full", "sampled"}
        The paper takes the full data even when pairs are sampled; so does the default.
    """
    if source not in ("full", "sampled"):
        raise InputError(f"the structure's source must be full or sampled, not {source!r}")
    if source == "sampled" and isinstance(pairs, PairList):
        return PairScatter(pairs, positive.size)
    whole = pairs if isinstance(pairs, AllPairs) else AllPairs()
    return ClassScatter(positive, *whole.normalised(positive))


def check_structure(structure: float) -> float:
    """Return `structure` as a float >= 0, or raise `InputError`."""
    if isinstance(structure, bool) or not isinstance(structure, int | float | np.number):
        raise InputError(f"structure must be a number, not {structure!r}")
    if not (np.isfinite(structure) and structure >= 0):
        raise InputError(f"structure must be >= 0 and finite, not {structure!r}")
    return float(structure)


def whitener(space: Rows, scatter: Scatter, structure: float) -> np.ndarray:
    """Return L (d, d), lower triangular, with L L' = I + structure F'R F.

    [SAUC, eq. (8)]: a machine with features F and the structure is a plain machine with features
    F L^{-T}.
    """
    if isinstance(space.X, np.ndarray):
        product = space.X.T @ scatter.times(space.X)
    else:
        # R kills constants within a class, so the rows need not be centred.
        dense = np.eye(space.dim)
        product = np.empty((space.dim, space.dim))
        for k in range(space.dim):
            product[:, k] = space.pull(scatter.times(space.scores(dense[k])))
    M = np.eye(space.dim) + structure * (product + product.T) / 2
    return scipy.linalg.cholesky(M, lower=True)


def whitened(space: Rows, scatter: Scatter, structure: float) -> Rows:
    """Return the rows whose plain norm is the structured norm of the given ones."""
    if structure == 0:
        return space
    L = whitener(space, scatter, structure)
    if isinstance(space.X, np.ndarray):
        return DenseWhitened(space.X, L)
    return SparseWhitened(space, L)


class DenseWhitened(Rows):
    """F L^{-T} as dense rows."""

    def __init__(self, X: np.ndarray, L: np.ndarray):
        self.L = L
        super().__init__(scipy.linalg.solve_triangular(L, X.T, lower=True).T)

    def to_input(self, w: np.ndarray) -> np.ndarray:
        """Return L^{-T} w, the weights of the original features."""
        return scipy.linalg.solve_triangular(self.L, w, lower=True, trans="T")


class SparseWhitened(Rows):
    """F L^{-T} as an operator: the rows stay sparse."""

    def __init__(self, space: Rows, L: np.ndarray):
        self.base, self.L = space, L
        self.n, self.dim = space.n, space.dim
        self.X, self.offset, self.norms, self.reach = (
            space.X,
            space.offset,
            space.norms,
            space.reach,
        )
        self.raw = space.raw

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return F L^{-T} w."""
        return self.base.scores(self.to_input(w))

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return L^{-1} F'c: whitening never lengthens, so the base's error bounds hold."""
        return scipy.linalg.solve_triangular(self.L, self.base.pull(c), lower=True)

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return the named rows, dense."""
        chosen = self.base.rows(index)
        assert not isinstance(chosen, np.ndarray)
        dense = chosen.toarray() - self.offset
        return scipy.linalg.solve_triangular(self.L, dense.T, lower=True).T

    def to_input(self, w: np.ndarray) -> np.ndarray:
        """Return L^{-T} w."""
        return scipy.linalg.solve_triangular(self.L, w, lower=True, trans="T")
