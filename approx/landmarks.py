"""Landmarks: the few points whose kernel functions span the approximation.

Five ways to choose d of them for n rows:

* `uniform`: d different rows, every set equally likely. [ScalingUp, Section 3.1]
* `stratified`: the same within each class, in proportion to its size.
* `kmeans`: the centres that k-means finds; they are not rows. [Nonlinear, Algorithm 1]
* `pivoted`: rows drawn one by one in proportion to what the chosen ones do not yet explain, the
  randomly pivoted Cholesky method of Chen, Epperly, Tropp and Webber (2023).
* `leverage`: rows drawn in proportion to their ridge leverage scores, see below.

Equal rows do no harm: methods that draw rows may choose both, and `nystrom_map` drops what is
redundant; `kmeans` and `pivoted` never choose both, and return fewer than d landmarks if fewer span
everything.

The ridge leverage score of row i at the ridge r > 0 is

    l_i = (K (K + n r I)^(-1))_ii,     0 <= l_i <= 1,     sum l_i = the effective dimension,

and it measures how badly the other rows explain row i (Alaoui and Mahoney, 2015). Exactly it costs
O(n^3). From s pilot rows S drawn uniformly, with C = k(X, X_S) and W = k(X_S, X_S),

    l~_i = min(1, (k(x_i, x_i) - C_i (W + n r I)^(-1) C_i') / (n r)),

is an upper bound of it, in O(n s^2), and equal to it where S is all rows (Musco and Musco, 2017).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..exact.errors import InputError
from ..exact.spaces.kernels import Kernel
from ..exact.spaces.rows import LARGEST_REACH, check_matrix
from ..exact.tools.arrays import (
    check_choice,
    check_count,
    check_labels,
    check_number,
    out_of_range,
)

Matrix = np.ndarray | sp.csr_matrix
Seed = int | np.random.Generator | None

LANDMARKS = ("uniform", "stratified", "kmeans", "pivoted", "leverage")

EXPLAINED = 1e-13  # a row is left alone once less than this share of it is unexplained


@dataclass(frozen=True, eq=False)
class Landmarks:
    """The chosen points."""

    rows: Matrix
    index: np.ndarray | None = None


def uniform(X: object, n_landmarks: int, seed: Seed = None) -> Landmarks:
    """Return different rows, every set of them equally likely. [ScalingUp, Section 3.1]"""
    matrix = _check(X, n_landmarks)
    index = np.random.default_rng(seed).choice(matrix.shape[0], n_landmarks, replace=False)
    return Landmarks(matrix[index], index)


def draw_by_class(X: object, n_landmarks: int, y: object, seed: Seed = None) -> Landmarks:
    """Return different rows, from each class in proportion to its size. [ScalingUp, Section 3.1]

    Shares are rounded so that they add up to d, and each class has at least one landmark.
    """
    matrix = _check(X, n_landmarks)
    labels = check_labels(y)
    if labels.shape != (matrix.shape[0],):
        raise InputError(f"{matrix.shape[0]} rows, but labels of shape {labels.shape}")
    _, members, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    rng = np.random.default_rng(seed)
    parts = [
        rng.choice(np.flatnonzero(members == k), count, replace=False)
        for k, count in enumerate(shares(sizes, n_landmarks))
    ]
    index = np.concatenate(parts)
    return Landmarks(matrix[index], index)


def shares(sizes: np.ndarray, total: int) -> np.ndarray:
    """Return whole numbers >= 1 that add up to `total`, as near to proportion as that allows."""
    if total < sizes.size:
        raise InputError(
            f"{total} landmarks cannot have one of each of the {sizes.size} classes: take more"
        )
    quota = total * sizes / sizes.sum()
    counts = np.maximum(np.floor(quota).astype(int), 1)
    while counts.sum() != total:
        missing = counts.sum() < total
        movable = counts < sizes if missing else counts > 1
        distance = (quota - counts) if missing else (counts - quota)
        counts[np.where(movable, distance, -np.inf).argmax()] += 1 if missing else -1
    return counts


def kmeans(
    X: object, n_landmarks: int, seed: Seed = None, n_init: int = 1, max_iter: int = 100
) -> Landmarks:
    """Return the centres of k-means clusters.

    [ScalingUp, Section 3.1; Nonlinear, Section 3.2, Algorithm 1]

    scikit-learn's `KMeans`, started by its k-means++. With as many landmarks as rows, the rows
    themselves are the centres; of fewer distinct rows than d, each is one centre.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    matrix = _check(X, n_landmarks)
    check_count("n_init", n_init)
    check_count("max_iter", max_iter)
    if abs(matrix).max() > LARGEST_REACH:
        raise out_of_range(matrix, "so large that their squares overflow")
    if n_landmarks == matrix.shape[0]:
        return Landmarks(matrix)
    state = int(np.random.default_rng(seed).integers(2**31 - 1))
    model = KMeans(n_landmarks, n_init=n_init, max_iter=max_iter, random_state=state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows: said above
        model.fit(matrix)
    return Landmarks(model.cluster_centers_[np.unique(model.labels_)])


def draw_by_pivots(X: object, n_landmarks: int, kernel: Kernel, seed: Seed = None) -> Landmarks:
    """Return rows chosen by randomly pivoted Cholesky: d columns of K, O(n d^2) operations.

    Each next row is drawn in proportion to r_i = k(x_i, x_i) - K~_ii, what is unexplained of it.
    """
    matrix = _check(X, n_landmarks)
    rng = np.random.default_rng(seed)
    whole = _diagonal(matrix, kernel)
    left = whole.copy()
    features = np.zeros((matrix.shape[0], n_landmarks))
    chosen: list[int] = []
    for k in range(n_landmarks):
        left[left <= EXPLAINED * whole.max()] = 0.0
        total = left.sum()
        if total == 0.0:
            break
        p = int(rng.choice(left.size, p=left / total))
        column = kernel(matrix, matrix[p : p + 1])[:, 0] - features[:, :k] @ features[p, :k]
        features[:, k] = column / np.sqrt(left[p])
        left -= features[:, k] ** 2
        left[p] = 0.0
        chosen.append(p)
    index = np.array(chosen)
    return Landmarks(matrix[index], index)


def choose_landmarks(
    method: str, X: object, n_landmarks: int, kernel: Kernel, y: object = None, seed: Seed = None
) -> Landmarks:
    """Return the landmarks of the method named."""
    check_choice("landmarks", method, LANDMARKS)
    if method == "stratified":
        if y is None:
            raise InputError("stratified requires y to be passed, but the target y is None")
        return draw_by_class(X, n_landmarks, y, seed)
    if method == "pivoted":
        return draw_by_pivots(X, n_landmarks, kernel, seed)
    if method == "leverage":
        matrix = _check(X, n_landmarks)
        index = draw_by_leverage(matrix, n_landmarks, kernel, seed)
        return Landmarks(matrix[index], index)
    return uniform(X, n_landmarks, seed) if method == "uniform" else kmeans(X, n_landmarks, seed)


def _check(X: object, n_landmarks: int) -> Matrix:
    matrix = check_matrix(X)
    check_count("n_landmarks", n_landmarks)
    if n_landmarks > matrix.shape[0]:
        raise InputError(
            f"{n_landmarks} landmarks are wanted, but X has only {matrix.shape[0]} rows: take fewer"
        )
    return matrix


BLOCK_ROWS = 4096  # rows whose values with the pilot are held at a time
SMALLEST_REST = 1e-10  # share of the trace always taken to be unexplained: less is rounding


def leverage_scores(
    X: object, kernel: Kernel, ridge: float, n_pilot: int | None = None, seed: Seed = None
) -> np.ndarray:
    """Return the ridge leverage scores of the rows, or upper bounds of them: (n,).

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    kernel : Kernel
    ridge : float
        > 0, r, in units of the kernel; an eigenvalue of K counts where it is large next to n r.
    n_pilot : int, optional
        s; by default all rows, which is exact.
    seed : int, Generator or None
        Draws the pilot rows.
    """
    matrix = check_matrix(X)
    check_number("ridge", ridge)
    if n_pilot is not None:
        check_count("n_pilot", n_pilot)
    return _scores(matrix, kernel, ridge, _pilot(matrix, n_pilot, np.random.default_rng(seed)))


def draw_by_leverage(
    X: object,
    n_landmarks: int,
    kernel: Kernel,
    seed: Seed = None,
    ridge: float | None = None,
    n_pilot: int | None = None,
) -> np.ndarray:
    """Return different rows drawn one by one in proportion to their leverage: (d,)."""
    matrix, rng = check_matrix(X), np.random.default_rng(seed)
    pilot = _pilot(matrix, max(100, 2 * n_landmarks) if n_pilot is None else n_pilot, rng)
    if ridge is None:
        trace, k = float(_diagonal(matrix, kernel).sum()), -(-n_landmarks // 2)
        top = float(np.linalg.eigvalsh(kernel(pilot, pilot))[::-1][:k].sum())
        rest = max(trace - matrix.shape[0] / pilot.shape[0] * top, SMALLEST_REST * trace)
        ridge = float(rest / (k * matrix.shape[0]))
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
