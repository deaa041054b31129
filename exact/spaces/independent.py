"""The smallest singular value of rows, bounded from below; columns that depend on others exactly.

Columns that are sums of others (one column a category, copies, constants) leave the smallest
singular value of all columns at zero, and that of a basis of them above it. The dependence is shown
in fractions, because floating point cannot show it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.linalg

from ..tools.rounding import UNIT, gamma
from .rows import Rows

MOST_FRACTIONS = 2_000_000  # Most products of fractions to spend on columns that depend on others.

LEAST_PIVOT = 1e-10  # A remainder below this share of a column's length counts as rounding.


@dataclass(frozen=True, eq=False)
class Columns:
    """A basis of the columns, made nearly orthonormal.

    With M = P X[:, basis] T, P the projection beside the constants, |M u| >= sigma |u|. All other
    columns are X[:, basis] C, each but for a constant, exactly.
    """

    basis: np.ndarray
    others: np.ndarray
    T: np.ndarray
    M: np.ndarray
    C: np.ndarray
    error: float
    sigma: float

    @property
    def stretch(self) -> float:
        """An upper bound of |f| over the norm of its centred scores, for f of least norm."""
        return float(np.linalg.norm(self.T)) / self.sigma * (1 + gamma(self.T.size + 8))

    def weights(self, left: np.ndarray) -> np.ndarray:
        """Return weights (d,) whose scores are about `left` (n,)."""
        w = np.zeros(self.basis.size + self.others.size)
        w[self.basis] = self.T @ (self.M.T @ left)
        return w

    def least(self, w: np.ndarray) -> np.ndarray:
        """Return the weights of least norm with the scores of w."""
        if not self.others.size:
            return w
        mixed = np.hstack([np.eye(self.basis.size), self.C])
        whole = w[self.basis] + self.C @ w[self.others]
        out = np.empty_like(w)
        out[np.concatenate([self.basis, self.others])] = mixed.T @ np.linalg.solve(
            mixed @ mixed.T, whole
        )
        return out

    def beside(self, w: np.ndarray) -> float:
        """Return how far w is from weights of least norm: its part on which the scores are blind.

        The blind weights are spanned by N = [-C; I], and |N u| >= |u|.
        """
        if not self.others.size:
            return 0.0
        mine, size = w[self.basis], np.abs(self.C).T @ np.abs(w[self.basis])
        slip = gamma(self.basis.size + 8) * (size + np.abs(w[self.others]))
        part = np.abs(w[self.others] - self.C.T @ mine) + slip
        return float(np.linalg.norm(part)) * (1 + gamma(part.size + 8))

    def slope(self, left: np.ndarray) -> float:
        """Return a bound of |M'left| for the exact M and centred `left` (n,)."""
        size = float(np.linalg.norm(left))
        sums = gamma(left.size + 8) * float(np.linalg.norm(self.M)) * size
        off = abs(float(left.sum())) + gamma(left.size) * float(np.abs(left).sum())
        return float(np.linalg.norm(self.M.T @ left)) + sums + self.error * (size + off)


def independent_columns(space: Rows) -> Columns | None:
    """Return a basis of the columns with a proof that it is one, or None where there is none."""
    A = space.dense()
    A -= A.mean(axis=0)
    lengths = np.linalg.norm(A, axis=0)
    raw = space.raw if isinstance(space.raw, np.ndarray) else space.raw.toarray()
    varies = (raw != raw[0]).any(axis=0)
    lengths[~varies | (lengths == 0)] = 1.0
    A[:, ~varies] = 0.0
    R, order = scipy.linalg.qr(A / lengths, mode="r", pivoting=True)
    pivots = np.abs(np.diag(R))
    rank = int((pivots > LEAST_PIVOT).sum())
    if rank == 0:
        return None
    basis, others = order[:rank], order[rank:]
    C = _dependence(raw, basis, others, R[:rank], lengths)
    if C is None:
        return None
    T = scipy.linalg.solve_triangular(R[:rank, :rank], np.eye(rank)) / lengths[basis][:, None]
    return _proved(space.dense()[:, basis], basis, others, T, C)


def _proved(
    A: np.ndarray, basis: np.ndarray, others: np.ndarray, T: np.ndarray, C: np.ndarray
) -> Columns | None:
    """Return the columns if A T is proved to be nearly orthonormal.

    A has one rounding an entry (the offset taken off), the product gamma_r |A| |T|; the mean
    squares of M'M - I are computed with gamma_n |M|^2.
    """
    n, rank = A.shape
    product = A @ T
    M = product - product.mean(axis=0)
    size = float(np.linalg.norm(np.abs(A) @ np.abs(T))) * (1 + gamma(n * rank + 8))
    mass = float((product * product).sum()) * (1 + gamma(n * rank + 8))
    error = (gamma(rank + 8) + 2 * UNIT) * size
    # M misses being centred, and its entries round: both are in proportion to |A T|.
    error += (gamma(n + 8) + 2 * UNIT) * float(np.sqrt(mass))
    off = float(np.linalg.norm(M.T @ M - np.eye(rank))) * (1 + gamma(rank * rank + 8))
    off += gamma(n + 8) * mass
    if not off < 0.75:
        return None
    sigma = float(np.sqrt(1 - off)) * (1 - gamma(8)) - error
    return Columns(basis, others, T, M, C, error, sigma) if sigma > 0.25 else None


def _dependence(
    raw: np.ndarray, basis: np.ndarray, others: np.ndarray, R: np.ndarray, lengths: np.ndarray
) -> np.ndarray | None:
    """Return C (r, k) with raw[:, others] = raw[:, basis] C up to a constant each, or None."""
    rank = basis.size
    C, spent = np.zeros((rank, others.size)), 0
    if not others.size:
        return C
    near = scipy.linalg.solve_triangular(R[:, :rank], R[:, rank:])
    near *= lengths[others][None, :] / lengths[basis][:, None]
    for k, column in enumerate(others):
        shares = [Fraction(x).limit_denominator(64) for x in near[:, k].tolist()]
        used = [at for at, share in enumerate(shares) if share]
        spent += raw.shape[0] * (len(used) + 1)
        C[:, k] = [float(share) for share in shares]
        if spent > MOST_FRACTIONS:
            return None
        if not _depends(raw[:, column], raw[:, basis[used]], [shares[at] for at in used]):
            return None
    return C


def _depends(column: np.ndarray, others: np.ndarray, shares: list[Fraction]) -> bool:
    """Return whether column - others shares is one constant, in fractions."""
    first: Fraction | None = None
    for value, line in zip(column.tolist(), others.tolist(), strict=True):
        left = Fraction(value)
        for share, x in zip(shares, line, strict=True):
            left -= share * Fraction(x)
        first = left if first is None else first
        if left != first:
            return False
    return True
