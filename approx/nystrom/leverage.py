"""Leverage scores: how much each row matters to a kernel, as a rule to choose landmarks by.

The ridge leverage score of row i at the ridge r > 0 is

    l_i = (K (K + n r I)^(-1))_ii,     0 <= l_i <= 1,     sum l_i = the effective dimension,

and it measures how badly the other rows explain row i (Alaoui and Mahoney, 2015). Exactly it costs
O(n^3). From s pilot rows S drawn uniformly, with C = k(X, X_S) and W = k(X_S, X_S),

    l~_i = min(1, (k(x_i, x_i) - C_i (W + n r I)^(-1) C_i') / (n r)),

is an upper bound of it, in O(n s^2), and equal to it where S is all rows (Musco and Musco, 2017).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from ...exact.errors import InputError
from ...exact.spaces.kernels import Kernel
from ...exact.spaces.rows import check_matrix
from ...exact.tools.checks import check_count, check_number

BLOCK_ROWS = 4096

SMALLEST_REST = 1e-10
"""Share of the trace that is always taken to be unexplained: less than this is rounding."""

Seed = int | np.random.Generator | None


def leverage_scores(
    X: object, kernel: Kernel, ridge: float, n_pilot: int | None = None, seed: Seed = None
) -> np.ndarray:
    """Return the ridge leverage scores of the rows, or upper bounds of them: (n,).

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    kernel : Kernel
    ridge : float
        > 0, r, in units of the kernel; an eigenvalue of K counts where it is large beside n r.
    n_pilot : int, optional
        s; by default all rows, which is exact.
    seed : int, Generator or None
        Draws the pilot rows.

    Raises
    ------
    InputError
        If X is no finite matrix, the kernel is zero on every row, or a number is out of range.
    """
    matrix = check_matrix(X)
    check_number("ridge", ridge)
    if n_pilot is not None:
        check_count("n_pilot", n_pilot)
    return _scores(matrix, kernel, ridge, _pilot(matrix, n_pilot, np.random.default_rng(seed)))


def default_ridge(
    X: object, kernel: Kernel, n_landmarks: int, n_pilot: int | None = None, seed: Seed = None
) -> float:
    """Return the ridge at which the effective dimension is about d, and not above d + 1.

    n r = (sum of the eigenvalues of K after the first k) / k with k = d / 2, upwards: the first k
    add at most k to the effective dimension, and the rest at most k.

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    kernel : Kernel
    n_landmarks : int
        d.
    n_pilot : int, optional
        Rows whose eigenvalues, times n / s, stand for those of K; by default all, which is exact.
    seed : int, Generator or None
    """
    matrix = check_matrix(X)
    return _ridge(matrix, kernel, n_landmarks, _pilot(matrix, n_pilot, np.random.default_rng(seed)))


def draw_by_leverage(
    X: object,
    n_landmarks: int,
    kernel: Kernel,
    seed: Seed = None,
    ridge: float | None = None,
    n_pilot: int | None = None,
) -> np.ndarray:
    """Return different rows drawn one by one in proportion to their leverage: (d,).

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    n_landmarks : int
        d, from 1 to n.
    kernel : Kernel
    seed : int, Generator or None
    ridge : float, optional
        As in `leverage_scores`; `default_ridge` by default.
    n_pilot : int, optional
        By default 2 d, and at least 100.

    Raises
    ------
    InputError
        As `leverage_scores`.
    """
    matrix, rng = check_matrix(X), np.random.default_rng(seed)
    pilot = _pilot(matrix, max(100, 2 * n_landmarks) if n_pilot is None else n_pilot, rng)
    if ridge is None:
        ridge = _ridge(matrix, kernel, n_landmarks, pilot)
    scores = _scores(matrix, kernel, ridge, pilot)
    # The order of log(u) / l is that of draws in proportion to l without replacement.
    keys = np.log(rng.random(scores.size)) / np.maximum(scores, 1e-300)
    return np.argsort(-keys, kind="stable")[:n_landmarks]


def _pilot(matrix: Any, n_pilot: int | None, rng: np.random.Generator) -> Any:
    """Return that many rows, or all."""
    n = matrix.shape[0]
    if n_pilot is None or n_pilot >= n:
        return matrix
    return matrix[rng.choice(n, n_pilot, replace=False)]


def _diagonal(matrix: Any, kernel: Kernel) -> np.ndarray:
    whole = np.asarray(kernel.diagonal(matrix), dtype=float)
    if not whole.max() > 0:
        raise InputError("the kernel is zero on every row: there is nothing to span")
    return whole


def _ridge(matrix: Any, kernel: Kernel, n_landmarks: int, pilot: Any) -> float:
    trace, k = float(_diagonal(matrix, kernel).sum()), -(-n_landmarks // 2)
    top = np.linalg.eigvalsh(kernel(pilot, pilot))[::-1][:k]
    share = matrix.shape[0] / pilot.shape[0]
    left = max(trace - share * float(top.sum()), SMALLEST_REST * trace)
    return left / (k * matrix.shape[0])


def _scores(matrix: Any, kernel: Kernel, ridge: float, pilot: Any) -> np.ndarray:
    n, whole = matrix.shape[0], _diagonal(matrix, kernel)
    gram = kernel(pilot, pilot)
    gram[np.diag_indices_from(gram)] += n * ridge
    lower = scipy.linalg.cholesky(gram, lower=True)
    scores = np.empty(n)
    for start in range(0, n, BLOCK_ROWS):
        block = slice(start, min(start + BLOCK_ROWS, n))
        half = scipy.linalg.solve_triangular(lower, kernel(pilot, matrix[block]), lower=True)
        scores[block] = whole[block] - np.einsum("ij,ij->j", half, half)
    return np.clip(scores / (n * ridge), 0.0, 1.0)
