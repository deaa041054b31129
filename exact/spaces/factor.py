"""A kernel machine as a linear machine [ScalingUp, Prop. 3]: K is about F F' with features
F = K[:, P] L^{-T}, P the pivots and L the Cholesky factor of K[P, P]. A function w of the features
lies in the true space with norm |w|; what the factor leaves out shows in the dual alone, and
`Problem.over` measures it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import scipy.linalg

from ..errors import InputError, TooLargeError
from .gram import Gram
from .kernels import Kernel
from .rows import Rows, Space

DENSE_LIMIT = 4000  # Rows up to which the Gram matrix is held and factored at once.
SQUARE_LIMIT = 10_000  # Side of the largest square matrix that may be formed from sparse rows.
FEATURE_NUMBERS = 250_000_000  # most rows times features of a kernel: 2 GB, and copies of it
RELATIVE_TOL = 1e-14  # a factor ends where no diagonal entry left is a larger share of the largest
# Rows, and features a root of the rows, from which a kernel is better left as it is: a factor takes
# n r^2 operations, and r^2 numbers a Hessian are many next to n rows.
PLAIN_FROM, PLAIN_RANK = 1000, 10.0
NEARLY_ALL = 0.9  # Rows have full rank if their factor takes this share of them.

Lift = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class GramFactor:
    """Features of a kernel on n rows, and their continuation to other rows."""

    pivots: np.ndarray
    L: np.ndarray
    features: np.ndarray

    def map(self, columns: np.ndarray) -> np.ndarray:
        """Return the features (m, r) of new rows from `columns` (m, r) = k(x, x_p)."""
        return scipy.linalg.solve_triangular(self.L, columns.T, lower=True).T

    def coefficients(self, w: np.ndarray) -> np.ndarray:
        """Return theta (n,), zero off the pivots, with sum_p theta_p k(., x_p) = w'features."""
        theta = np.zeros(self.features.shape[0])
        theta[self.pivots] = scipy.linalg.solve_triangular(self.L, w, lower=True, trans="T")
        return theta


def factor_gram(K: np.ndarray, max_rank: int | None = None) -> GramFactor:
    top = float(np.diag(K).max())
    if not (np.isfinite(K).all() and top > 0):
        raise InputError("K must be finite and have a diagonal entry > 0")
    packed, order, rank = _pivoted(K, RELATIVE_TOL * top)
    rank = min(rank, max_rank or rank)
    L = np.tril(packed)[:, :rank]
    features = np.empty((K.shape[0], rank))
    features[order] = L
    return GramFactor(order[:rank], np.ascontiguousarray(L[:rank]), features)


def _pivoted(K: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the pivoted Cholesky factor of K, as LAPACK packs it, the pivots, and the rank."""
    pstrf = scipy.linalg.get_lapack_funcs("pstrf", (K,))
    packed, order, rank, _ = pstrf(K, tol=tol, lower=1)
    return packed, order - 1, int(rank)


def factor_kernel(
    kernel: Kernel, X: Any, max_rank: int | None = None, max_time: float | None = None
) -> GramFactor:
    """Return the factor of a kernel on rows, its Gram matrix made a column at a time."""
    n, end = X.shape[0], math.inf if max_time is None else time.monotonic() + max_time
    if n <= DENSE_LIMIT:
        return factor_gram(kernel(X, X), max_rank)
    left = kernel.diagonal(X).astype(float)
    most = max(FEATURE_NUMBERS // n, 1)
    least, cap = RELATIVE_TOL * float(left.max()), min(n, max_rank or n, most)
    if not least > 0:
        raise InputError("the kernel is zero on every row")
    features = np.zeros((n, min(cap, 256)))
    pivots: list[int] = []
    while len(pivots) < cap and (not pivots or time.monotonic() < end):
        r = len(pivots)
        F = features[:, :r]
        chosen = _next_pivots(kernel, X, F, left, least, min(r // 8, cap - r))
        if not chosen:
            break
        block = kernel(X, X[chosen]) - F @ F[chosen].T
        block[pivots] = 0.0  # the remainder of earlier pivots is rounding
        try:
            L = scipy.linalg.cholesky(block[chosen], lower=True)
        except np.linalg.LinAlgError:  # the remainder is almost rounding
            chosen, block = chosen[:1], block[:, :1]
            L = np.sqrt(left[chosen])[:, None]
        block = scipy.linalg.solve_triangular(L, block.T, lower=True).T
        block[chosen] = L
        if r + len(chosen) > features.shape[1]:
            more = min(max(r, len(chosen)), cap - features.shape[1])
            features = np.hstack([features, np.zeros((n, more))])
        features[:, r : r + len(chosen)] = block
        left -= np.einsum("ij,ij->i", block, block)
        pivots.extend(chosen)
        left[pivots] = 0.0
    if len(pivots) == most < min(n, max_rank or n) and max_time is None and left.max() > least:
        raise TooLargeError(
            f"this kernel on {n} rows needs more than {most} features, which is the most that fit: "
            "take landmarks (aucert.approx.Nystrom) or a smaller gamma, or set max_time for a bound"
        )
    at, features = np.array(pivots), features[:, : len(pivots)]
    return GramFactor(at, np.tril(features[at]), features)


def _next_pivots(
    kernel: Kernel, X: Any, features: np.ndarray, left: np.ndarray, least: float, size: int
) -> list[int]:
    """Return the rows with the largest remainders, without those that others nearly explain."""
    if size <= 1:  # the greedy pivot
        p = int(left.argmax())
        return [p] if left[p] > least else []
    near = np.argpartition(-left, size - 1)[:size]
    enough = max(least, 0.5 * float(left[near].max()))
    near = near[left[near] > enough]
    if not near.size:
        return []
    F = features[near]
    order, rank = _pivoted(kernel(X[near], X[near]) - F @ F.T, enough)[1:]
    return near[order[: max(rank, 1)]].tolist()


def rows_of(
    space: Space, few: bool = False, max_time: float | None = None
) -> tuple[Rows, Lift, GramFactor | None]:
    """Return rows with the functions of `space`, the way back, and the factor of a kernel."""
    rows, gram, n = space.held, space.gram, space.n
    if rows is not None:
        if rows.dim <= n:
            return rows, lambda w: w, None
        if not rows.is_sparse:  # rotate the features so that n of them remain
            basis, triangle = scipy.linalg.qr(rows.X.T, mode="economic")
            made = Rows(np.ascontiguousarray(triangle.T), check=False)
            return made, lambda w: basis @ w, None
        # n dense features may take little more room than the rows' nonzero entries.
        if not (few or n <= 500 or (n <= SQUARE_LIMIT and n**2 <= 4 * cast(Any, rows.X).nnz)):
            return rows, lambda w: w, None
        if n > SQUARE_LIMIT:
            raise TooLargeError(
                f"{n} sparse rows of {rows.dim} features need a matrix of more than {SQUARE_LIMIT} "
                "squared: keep fewer rows or fewer features, or leave the structure out"
            )
        K = rows.products()
        if not (np.diag(K) > 0).any():  # all rows are the same one: every score is zero
            return Rows(np.zeros((n, 1)), check=False), lambda w: np.zeros(rows.dim), None
        found = factor_gram(K)
        made = Rows(found.features, check=False)
        return made, lambda w: rows.pull(found.coefficients(w)), None
    if gram is None:
        raise InputError(f"{type(space).__name__} has neither rows nor a kernel matrix")
    most = SQUARE_LIMIT if few and max_time is not None else None  # fewer than all will do
    held = gram.K is not None
    factor = factor_gram(gram.K) if held else factor_kernel(gram.kernel, gram.X, most, max_time)
    return Rows(factor.features, check=False), factor.coefficients, factor


def takes_many_features(space: Gram) -> bool:
    """Return whether evenly spread rows, as many as would be too many features, have full rank."""
    n = space.n
    if n < PLAIN_FROM:
        return False
    some = np.unique(np.linspace(0, n - 1, min(n, round(PLAIN_RANK * math.sqrt(n)))).astype(int))
    K = space.values(some, some)
    top = float(np.diag(K).max())
    if not (np.isfinite(K).all() and top > 0):
        return False
    return _pivoted(K, RELATIVE_TOL * top)[2] > NEARLY_ALL * some.size
