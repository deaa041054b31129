"""A kernel machine as a linear machine: pivoted Cholesky of the Gram matrix, as features.

K is about F F' with F = K[:, P] L^{-T}, P the pivots and L the Cholesky factor of K[P, P].
[ScalingUp, Prop. 3] holds for any such factor, rank-deficient K included. A function w of the
features is sum_p theta_p k(., x_p) with theta = L^{-T} w, so it lies in the true space with norm
|w|; what the factor leaves out, K - F F', shows in the dual alone, and the gap against the true
kernel (`Problem.over`) measures it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import scipy.linalg

from ..errors import InputError, TooLargeError
from ..tools.rounding import gamma
from .gram import Gram, StreamedGram
from .kernel import Kernel
from .rows import Rows, Space

DENSE_LIMIT = 4000  # Rows up to which the Gram matrix is held and factored at once.

SQUARE_LIMIT = 10_000  # Side of the largest square matrix that may be formed from sparse rows.

# Largest size of a kernel's features, rows times features: 2 GB, and copies of it.
FEATURE_NUMBERS = 250_000_000

# A factor ends where no diagonal entry left is more than this share of the largest one.
RELATIVE_TOL = 1e-14

Lift = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class GramFactor:
    """Features of a kernel on n rows, and their continuation to other rows."""

    pivots: np.ndarray
    L: np.ndarray
    features: np.ndarray
    residual: float

    def map(self, columns: np.ndarray) -> np.ndarray:
        """Return the features (m, r) of new rows from `columns` (m, r) = k(x, x_p)."""
        return scipy.linalg.solve_triangular(self.L, columns.T, lower=True).T

    def coefficients(self, w: np.ndarray) -> np.ndarray:
        """Return theta (n,), zero off the pivots, with sum_p theta_p k(., x_p) = w'features."""
        theta = np.zeros(self.features.shape[0])
        theta[self.pivots] = scipy.linalg.solve_triangular(self.L, w, lower=True, trans="T")
        return theta


def factor_gram(
    K: np.ndarray, tol: float = RELATIVE_TOL, max_rank: int | None = None
) -> GramFactor:
    """Return the factor of a Gram matrix held in memory."""
    top = float(np.diag(K).max())
    if not (np.isfinite(K).all() and top > 0):
        raise InputError("K must be finite and have a diagonal entry > 0")
    pstrf = scipy.linalg.get_lapack_funcs("pstrf", (K,))
    packed, order, rank, info = pstrf(K, tol=tol * top, lower=1)
    if info < 0:
        raise InputError("K could not be factored: is it symmetric and finite?")
    rank = min(int(rank), max_rank or int(rank))
    order = order - 1
    L = np.tril(packed)[:, :rank]
    features = np.empty((K.shape[0], rank))
    features[order] = L
    residual = _residual(np.diag(K), features, 0.0)
    return GramFactor(order[:rank], np.ascontiguousarray(L[:rank]), features, residual)


def _residual(diagonal: np.ndarray, features: np.ndarray, noise: float) -> float:
    """Return an upper bound of the part of any diagonal entry that the features leave out."""
    squares = np.einsum("ij,ij->i", features, features)
    slip = gamma(features.shape[1] + 8) * (diagonal + squares) + noise * diagonal
    return max(float((diagonal - squares + slip).max()), 0.0)


def factor_kernel(
    kernel: Kernel,
    X: Any,
    tol: float = RELATIVE_TOL,
    max_rank: int | None = None,
    max_time: float | None = None,
) -> GramFactor:
    """Return the factor of a kernel on rows, its Gram matrix made a column at a time."""
    n, end = X.shape[0], math.inf if max_time is None else time.monotonic() + max_time
    if n <= DENSE_LIMIT:
        factor = factor_gram(kernel(X, X), tol, max_rank)
        more = _residual(kernel.diagonal(X).astype(float), factor.features, 2 * kernel.noise(X))
        return replace(factor, residual=more)
    left = kernel.diagonal(X).astype(float)
    most = max(FEATURE_NUMBERS // n, 1)
    top, cap = float(left.max()), min(n, max_rank or n, most)
    if not top > 0:
        raise InputError("the kernel is zero on every row")
    features = np.zeros((n, min(cap, 256)))
    pivots: list[int] = []
    while len(pivots) < cap and (not pivots or time.monotonic() < end):
        r = len(pivots)
        chosen = _next_pivots(kernel, X, features[:, :r], left, tol * top, min(r // 8, cap - r))
        if not chosen:
            break
        if r + len(chosen) > features.shape[1]:
            more = min(max(r, len(chosen)), cap - features.shape[1])
            features = np.hstack([features, np.zeros((n, more))])
        _append(kernel, X, features, pivots, chosen, left)
    if len(pivots) == most < min(n, max_rank or n) and max_time is None and left.max() > tol * top:
        raise TooLargeError(
            f"this kernel on {n} rows needs more than {most} features, which is the most that fit: "
            "take landmarks (aucert.approx.Nystrom) or a smaller gamma, or set max_time for a bound"
        )
    at, r = np.array(pivots), len(pivots)
    features = features[:, :r]
    residual = _residual(kernel.diagonal(X).astype(float), features, 2 * kernel.noise(X))
    return GramFactor(at, np.tril(features[at]), features, residual)


def _next_pivots(
    kernel: Kernel, X: Any, features: np.ndarray, left: np.ndarray, least: float, size: int
) -> list[int]:
    """Return the rows with the largest remainders, without those that the others nearly explain.

    One row at a time gives the greedy pivots. Several at a time share one matrix product.
    """
    if size <= 1:
        p = int(left.argmax())
        return [p] if left[p] > least else []
    near = np.argpartition(-left, size - 1)[:size]
    F = features[near]
    S = kernel(X[near], X[near]) - F @ F.T
    rest, chosen = left[near].copy(), []
    enough = max(least, 0.5 * float(rest.max()))
    columns = np.zeros((size, size))
    for k in range(size):
        p = int(rest.argmax())
        if rest[p] <= enough:
            break
        columns[:, k] = (S[:, p] - columns[:, :k] @ columns[p, :k]) / np.sqrt(rest[p])
        rest -= columns[:, k] ** 2
        rest[p] = 0.0
        chosen.append(int(near[p]))
    return chosen


def _append(
    kernel: Kernel,
    X: Any,
    features: np.ndarray,
    pivots: list[int],
    chosen: list[int],
    left: np.ndarray,
) -> None:
    """Add the columns of the chosen pivots to `features`, and subtract them from the remainder."""
    r, m = len(pivots), len(chosen)
    F = features[:, :r]
    block = kernel(X, X[chosen]) - F @ F[chosen].T
    block[pivots] = 0.0  # the remainder of earlier pivots is rounding
    try:
        L = scipy.linalg.cholesky(block[chosen], lower=True)
    except np.linalg.LinAlgError:  # the remainder is almost rounding
        chosen, block, m = chosen[:1], block[:, :1], 1
        L = np.sqrt(left[chosen])[:, None]
    block = scipy.linalg.solve_triangular(L, block.T, lower=True).T
    block[chosen] = L
    features[:, r : r + m] = block
    left -= np.einsum("ij,ij->i", block, block)
    pivots.extend(chosen)
    left[pivots] = 0.0


def rows_of(
    space: Space, few: bool = False, max_time: float | None = None
) -> tuple[Rows, Lift, GramFactor | None]:
    """Return rows with the functions of `space`, the way back, and the factor of a kernel."""
    if isinstance(space, Rows):
        if space.dim <= space.n or (space.is_sparse and not (few or _worth_dense(space))):
            return space, lambda w: w, None
        return (*(_few_sparse(space) if space.is_sparse else _few_dense(space)), None)
    if isinstance(space, Gram):
        factor = factor_gram(space.K)
    elif isinstance(space, StreamedGram):
        most = SQUARE_LIMIT if few and max_time is not None else None  # fewer than all will do
        factor = factor_kernel(space.kernel, space.X, max_rank=most, max_time=max_time)
    else:
        raise InputError(f"{type(space).__name__} has neither rows nor a kernel matrix")
    return Rows(factor.features, check=False), factor.coefficients, factor


def _worth_dense(space: Rows) -> bool:
    """Return whether n dense features take little more room than the rows' nonzero entries."""
    n = space.n
    return n <= 500 or (n <= SQUARE_LIMIT and n**2 <= 4 * cast(Any, space.X).nnz)


def _few_dense(space: Rows) -> tuple[Rows, Lift]:
    """Rotate the features so that n of them remain."""
    basis, triangle = scipy.linalg.qr(space.X.T, mode="economic")
    return Rows(np.ascontiguousarray(triangle.T), check=False), lambda w: basis @ w


def _few_sparse(space: Rows) -> tuple[Rows, Lift]:
    """Factor the Gram matrix of the centred rows."""
    if space.n > SQUARE_LIMIT:
        raise TooLargeError(
            f"{space.n} sparse rows of {space.dim} features need a matrix of more than "
            f"{SQUARE_LIMIT} squared: keep fewer rows or fewer features, or leave the structure out"
        )
    X = cast(Any, space.X)
    product, share = (X @ X.T).toarray(), X @ space.offset
    product += float(space.offset @ space.offset) - share[:, None] - share[None, :]
    if not (np.diag(product) > 0).any():  # all rows are the same one: every score is zero
        return Rows(np.zeros((space.n, 1)), check=False), lambda w: np.zeros(space.dim)
    factor = factor_gram(product)
    return Rows(factor.features, check=False), lambda w: space.pull(factor.coefficients(w))
