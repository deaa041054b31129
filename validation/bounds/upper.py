"""Norms and distances rounded up: what they are in exact arithmetic is at most what is returned.

gamma_k = k u / (1 - k u) bounds k roundings in a row, u = 2^-53; a sum of squares or of products
errs by gamma_k of the sum of their absolute values, in any order of addition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...exact.spaces.gram import shortfall
from ...exact.tools.rounding import UNIT, above, gamma
from ..extremes import highest, lowest

SPAN = 32  # Directions of a large matrix that are looked at one by one.

PASSES = 3  # How often the whole of a large matrix is made: the last pass measures.

# Makes the rows of a matrix, a slice of them at a time.
Blocks = Callable[[], Iterator[tuple[slice, np.ndarray]]]


def frobenius(A: np.ndarray) -> float:
    """Return at least the root of the sum of squares."""
    return float(np.linalg.norm(A)) * (1 + gamma(A.size / 2 + 4))


def spectral_norm(E: np.ndarray) -> float:
    """Return at least the spectral norm of a symmetric matrix (n, n) as stored."""
    n, whole = E.shape[0], frobenius(E)
    t = float(np.abs(np.linalg.eigvalsh(E)).max()) * (1 + 16 * n * UNIT) + 1e-290
    missing = [shortfall(side, t) for side in (E, -E)]
    if None in missing:
        return whole
    return lowest(above(t + highest(float(s) for s in missing if s is not None)), whole)


def large_spectral_norm(blocks: Blocks, n: int, skew: float = 0.0) -> float:
    """Return at least the spectral norm of a matrix (n, n) that is made in blocks.

    It is that of the symmetric part of E; `skew` bounds the Frobenius norm of the other part, what
    rounding does to the symmetry.

    Let P project on k directions, A = P E P, B = (1 - P) E P, C = (1 - P) E (1 - P). Then |E| is at
    most the norm of the 2 x 2 matrix of |A|, |B|, |B| and |C|, and |C| is at most its Frobenius
    norm, the root of |E|_F^2 - 2 |E P|_F^2 + |A|_F^2. With directions near the first eigenvectors
    |B| is small, and all but the first k eigenvalues enter by their squares alone. The directions
    are made of a random start by multiplication; the bound holds for any.
    """
    k = lowest(SPAN, n)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((n, k)))[0]
    W = np.empty((n, k))
    for step in range(PASSES):
        if step:
            Q = np.linalg.qr(W)[0]
        squares, largest = 0.0, 1
        for rows, block in blocks():
            W[rows] = block @ Q
            squares += float(np.einsum("ij,ij->", block, block))
            largest = highest(largest, block.size)
    whole = np.sqrt(squares) * (1 + gamma((largest + n) / 2 + 8))
    skew += 2 * UNIT * whole
    return lowest(_from_parts(Q, W, float(whole), float(skew)), float(whole))


def _from_parts(Q: np.ndarray, W: np.ndarray, whole: float, skew: float) -> float:
    """Return the bound from W = E Q to rounding, Q nearly orthonormal, and whole >= |E|_F.

    An orthonormal basis is within `away` of Q in Frobenius norm, its product with E within `slip`
    of W, and its A within `slip_A` of that computed.
    """
    n, k = Q.shape
    root = 1.01 * np.sqrt(k)
    away = root * (frobenius(Q.T @ Q - np.eye(k)) + 2 * gamma(n + 4) * k)
    if not away < 0.1:
        return np.inf
    slip = (gamma(n + 4) * whole + skew) * root + whole * away
    size, A = frobenius(W), Q.T @ W
    slip_A = slip + (away + gamma(n + 4) * root) * size
    A = (A + A.T) / 2
    size_A = frobenius(A)
    slip_A += 2 * UNIT * size_A
    a = spectral_norm(A) + slip_A
    left = frobenius(W - Q @ A) + gamma(k + 4) * (root * size_A + size)
    b = left + slip + slip_A + away * size_A
    kept = highest(size * (1 - gamma(2 * n * k + 16)) - slip, 0.0)
    c2 = whole**2 - 2 * kept**2 + (size_A + slip_A) ** 2 + gamma(32) * whole**2
    c = np.sqrt(highest(c2, 0.0))
    return float(((a + c) / 2 + np.sqrt(((a - c) / 2) ** 2 + b**2)) * (1 + gamma(32)))


def largest_distance(
    plus: np.ndarray, minus: np.ndarray, blocks: Iterator[tuple[slice, np.ndarray]], error: float
) -> float:
    """Return at least the largest |a - b|."""
    largest = 0.0
    for rows, products in blocks:
        largest = highest(largest, float((plus[rows, None] + minus - 2 * products).max()))
    size = float(plus.max() + minus.max())
    return above(np.sqrt((largest + error + gamma(8) * 2 * size) * (1 + gamma(4))))


def distances_of_rows(
    V: np.ndarray, positive: np.ndarray, slices: Iterator[slice]
) -> tuple[float, float]:
    """Return at least the largest |v_i - v_j|, i positive and j negative, and the root mean square.

    Rows are centred first, which changes a distance by u (|v_i| + |v_j|) at most. The mean of
    |v_i - v_j|^2 is that of |v_i|^2 and of |v_j|^2, less twice the product of the means.
    """
    n, r = V.shape
    moved = V - V.mean(axis=0)
    plus, minus = moved[positive], moved[~positive]
    squares = [np.einsum("ij,ij->i", side, side) for side in (plus, minus)]
    top = float(squares[0].max() + squares[1].max())
    blocks = ((rows, plus[rows] @ minus.T) for rows in slices)
    # Each square and product errs by gamma_(r+1) of |v_i|^2 + |v_j|^2 at most, centring by 4 u.
    far = largest_distance(squares[0], squares[1], blocks, gamma(4 * r + 32) * top)
    means = [float(side.mean()) for side in squares]
    mean = means[0] + means[1] - 2 * float(plus.mean(axis=0) @ minus.mean(axis=0))
    slip = gamma(4 * (n + r) + 64) * (means[0] + means[1])
    return far, above(np.sqrt((highest(mean, 0.0) + slip) * (1 + gamma(4))))
