"""Pairs where a loss is curved, drawn, and matrices of their differences: Hessians of few pairs.
With d_ij = x_i - x_j the mean loss over pairs has the Hessian

    sum over pairs of c_ij loss''(t_ij) d_ij d_ij' = X'L X,   L the Laplacian of the pairs' graph,

to which a pair far from the curved margins adds nothing. A kinked loss is curved in a window around
its kink, which one sort finds; other losses are drawn by weight.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import reduce
from operator import iadd
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpotrf, dpotrs

from ..errors import InputError
from ..losses.registry import Loss, kinked
from ..spaces.rows import Rows, in_threads

PROBE = 1e-6  # distance of margins over which loss'' is taken: near separation z is so small
GRID = np.geomspace(1e-3, 500, 40)  # distances from the margin of one, either side
MARGINS = 1.0 + np.concatenate([-GRID[::-1], [0.0], GRID])  # where a loss is tried for curvature
ENOUGH = 4  # a window widens until it holds this part of the wanted pairs
WIDER = 4.0  # factor of one step
# Rows i and j of the pairs, and c_ij loss'' of each, scaled to stand for all pairs.
Near = tuple[np.ndarray, np.ndarray, np.ndarray]


class Curved(ABC):
    """Pairs of which some can be drawn where a loss is curved."""

    def near(
        self, loss: Loss, scores: np.ndarray, width: float, size: int, rng: np.random.Generator
    ) -> Near:
        """Return about `size` pairs where the loss, smoothed over `width`, is curved."""
        return near_of_list(*self.some(size, rng), loss, scores, width, size, rng)

    @abstractmethod
    def some(self, size: int, rng: np.random.Generator) -> Near:
        """Return rows i, j of about `size` pairs drawn by weight, and what each stands for."""


def bend(loss: Loss, t: np.ndarray, width: float) -> np.ndarray:
    """Return loss'' at the margins, smoothed over `width` where the loss has a kink."""
    kink, width = kinked(loss), max(width, PROBE)
    step, used = (PROBE, width) if kink else (width, 0.0)
    fall = loss.alpha(t - step / 2, used) - loss.alpha(t + step / 2, used)
    return np.maximum(fall, 0.0) / step


def even_picks(held: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return `size` of `held` places in order, one drawn from each of as many equal parts."""
    places = ((np.arange(size) + rng.random(size)) * (held / size)).astype(int)
    return np.minimum(places, held - 1)  # the last product may round up


def draw_from_ranges(
    counts: np.ndarray, size: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, places in their ranges, and how many pairs each stands for: `size` at most."""
    ends = np.cumsum(counts)
    held = int(ends[-1])
    picks = np.arange(held) if held <= size else even_picks(held, size, rng)
    row = np.searchsorted(ends, picks, side="right")
    share = np.full(picks.size, held / max(picks.size, 1))
    return row, picks - (ends[row] - counts[row]), share


def near_of_list(
    i: np.ndarray, j: np.ndarray, c: np.ndarray, loss: Loss, scores: np.ndarray, width: float,
    size: int, rng: np.random.Generator,
) -> Near:  # fmt: skip
    """Draw from listed pairs where the loss is curved, all of these where they are few."""
    t = scores[i] - scores[j]
    while True:
        curvature = bend(loss, t, width)
        inside = np.flatnonzero(curvature > 0)
        # 4.0: margins beyond which lists widen no more
        if inside.size >= min(size, i.size) // ENOUGH or max(width, PROBE) >= 4.0:
            break
        width = WIDER * max(width, PROBE)
    stands = max(inside.size / size, 1.0)
    if inside.size > size:
        inside = inside[even_picks(inside.size, size, rng)]
    return i[inside], j[inside], (curvature * c)[inside] * stands


def drawn(mass: np.ndarray, size: int, rng: np.random.Generator, even: bool) -> np.ndarray:
    """Return places drawn by their mass, with replacement."""
    if even:
        return rng.integers(0, mass.size, size)
    ends = np.cumsum(mass)
    found = np.searchsorted(ends, rng.random(size) * ends[-1], side="right")
    return np.minimum(found, mass.size - 1)


class PairGraph:
    """L = D - A - A', A the pairs' weights and D their sums by row, without forming L."""

    def __init__(self, i: np.ndarray, j: np.ndarray, c: np.ndarray, n: int):
        self.down = sp.csr_matrix((c, (i, j)), shape=(n, n))
        self.up = self.down.T  # the same numbers, read as CSC
        self.degree = (np.bincount(i, c, n) + np.bincount(j, c, n)).astype(float)

    def times(self, X: Any) -> Any:
        """Return L X for X of n rows: an array (n,) or (n, d), or a sparse matrix."""
        own = sp.diags(self.degree) @ X if sp.issparse(X) else (self.degree * X.T).T
        return own - self.down @ X - self.up @ X


def differences_gram(space: Rows, i: np.ndarray, j: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return sum_k share_k d_k d_k' for d_k = x_i - x_j: (dim, dim)."""
    # Sparse rows are not centred: far from the origin the Laplacian would cancel.
    # 20: up to which differences are cheaper than finding out which rows recur
    if space.dim > 20 and not space.is_sparse:
        touched, place = np.unique(np.concatenate([i, j]), return_inverse=True)
        if 2 * touched.size <= i.size:  # few rows, many pairs: X'L X
            X, (p, q) = space.rows(touched), np.split(place, 2)
            return np.asarray(X.T @ PairGraph(p, q, share, touched.size).times(X))
    root = np.sqrt(share)[:, None]
    if space.given is not None and not space.is_sparse:
        return _dense_gram(space.X, i, j, root)
    D: Any = space.rows(i) - space.rows(j)
    if isinstance(D, np.ndarray):
        D *= root
        return D.T @ D
    D = D.multiply(root).tocsr()
    return (D.T @ D).toarray()


def _dense_gram(X: np.ndarray, i: np.ndarray, j: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Return the sum of d_k d_k', d_k = root_k (x_i - x_j): in blocks that stay in the cache."""
    dim, m = X.shape[1], i.size
    size = max(dim, (1 << 17) // dim)  # numbers in the differences that are held at a time
    if m <= size:
        D = (X.take(i, axis=0) - X.take(j, axis=0)) * root
        return D.T @ D
    # 16, 1 << 22: parts of the pairs, for any number of threads, and numbers in all their matrices
    step = -(-m // max(1, min(16, (1 << 22) // dim**2)))

    def work(first: int) -> np.ndarray:
        total = np.zeros((dim, dim))
        for start in range(first, min(first + step, m), size):
            some = slice(start, min(start + size, first + step, m))
            D = X.take(i[some], axis=0)  # several times as fast as X[i[some]]
            D -= X.take(j[some], axis=0)
            D *= root[some]
            total += D.T @ D
        return total

    # 32: of the linear algebra in the time of one number of a pass over rows
    return reduce(iadd, in_threads(work, range(0, m, step), m * dim**2 // 32))


def factored(H: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor of H, with a ridge where rounding made it indefinite."""
    ridge = 1e-14 * float(np.abs(np.diag(H)).sum())
    while np.isfinite(ridge):
        factor, failed = dpotrf(H)
        if not failed:
            return factor
        H.flat[:: H.shape[0] + 1] += ridge
        ridge = 100 * ridge or 1.0
    raise InputError("the features are so large that their curvature overflows: rescale them")


def solved(H: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return H^-1 right, (n,) or (n, k), and overwrite H, which must be positive definite."""
    factor, failed = dpotrf(H.T, overwrite_a=True)  # scipy's own functions cost 25 us more
    if failed:
        raise np.linalg.LinAlgError("not positive definite")
    return np.asarray(dpotrs(factor, right)[0])


def cholesky_solve(factor: np.ndarray, r: np.ndarray) -> np.ndarray:
    return np.asarray(dpotrs(factor, np.ravel(r))[0])
