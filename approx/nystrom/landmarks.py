"""Landmarks: the few points whose kernel functions span the approximation.

Five ways to choose d of them for n rows:

* `uniform`: d different rows, every set equally likely. [ScalingUp, Section 3.1]
* `stratified`: the same within each class, in proportion to its size.
* `kmeans`: the centres that k-means finds; they are no rows. [Nonlinear, Algorithm 1]
* `pivoted`: rows drawn one by one in proportion to what the chosen ones do not explain yet, the
  randomly pivoted Cholesky method of Chen, Epperly, Tropp and Webber (2023).
* `leverage`: rows drawn in proportion to their ridge leverage scores, see `leverage.py`.

Equal rows do no harm: the ways that draw rows may choose both, and the map of `nystrom.py`
drops what is redundant; `kmeans` and `pivoted` never do, and return fewer than d landmarks where
fewer span everything.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...exact.errors import InputError
from ...exact.spaces.kernels import Kernel
from ...exact.spaces.rows import LARGEST_REACH, check_matrix
from ...exact.tools.checks import check_choice, check_count
from ...exact.tools.lossless import check_labels
from .leverage import draw_by_leverage

Matrix = np.ndarray | sp.csr_matrix
Seed = int | np.random.Generator | None

LANDMARKS = ("uniform", "stratified", "kmeans", "pivoted", "leverage")

EXPLAINED = 1e-13
"""A row is left alone once less than this share of it is unexplained: the rest is rounding."""


@dataclass(frozen=True, eq=False)
class Landmarks:
    """The chosen points.

    Attributes
    ----------
    rows : array or CSR (d, p)
    index : int array (d,) or None
        Which rows of the data they are, in the order of choice; None for centres.
    """

    rows: Matrix
    index: np.ndarray | None = None


def uniform(X: object, n_landmarks: int, seed: Seed = None) -> Landmarks:
    """Return different rows, every set of them equally likely. [ScalingUp, Section 3.1]

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    n_landmarks : int
        d, from 1 to n.
    seed : int, Generator or None
        The same number gives the same landmarks.

    Raises
    ------
    InputError
        If more landmarks than rows are wanted, or X is no finite matrix.
    """
    matrix = _check(X, n_landmarks)
    index = np.random.default_rng(seed).choice(_rows(matrix), n_landmarks, replace=False)
    return Landmarks(matrix[index], index)


def draw_by_class(X: object, n_landmarks: int, y: object, seed: Seed = None) -> Landmarks:
    """Return different rows, from each class in proportion to its size. [ScalingUp, Section 3.1]

    Shares are rounded so that they add up to d, and each class has at least one landmark.

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    n_landmarks : int
        d, from the number of classes to n.
    y : array (n,)
        Labels, of two kinds or more.
    seed : int, Generator or None

    Raises
    ------
    InputError
        If more landmarks than rows, or fewer than classes, are wanted.
    """
    matrix = _check(X, n_landmarks)
    labels = check_labels(y)
    if labels.shape != (_rows(matrix),):
        raise InputError(f"{_rows(matrix)} rows, but labels of shape {labels.shape}")
    _, members, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    rng = np.random.default_rng(seed)
    parts = [
        rng.choice(np.flatnonzero(members == k), count, replace=False)
        for k, count in enumerate(shares(sizes, n_landmarks))
    ]
    index = np.concatenate(parts)
    return Landmarks(matrix[index], index)


def shares(sizes: np.ndarray, total: int) -> np.ndarray:
    """Return whole numbers >= 1 that add up to `total`, as near to proportion as that allows.

    Parameters
    ----------
    sizes : int array (k,)
        Sizes of the classes, each at least 1.
    total : int
        From k to the sum of the sizes.

    Raises
    ------
    InputError
        If `total` is less than k.
    """
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

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    n_landmarks : int
        d, from 1 to n.
    seed : int, Generator or None
    n_init : int
        Starts, of which the best is kept. The papers name no number; one is usual here.
    max_iter : int
        Rounds of each start at most; stopping early costs little, landmarks need not be optimal.

    Raises
    ------
    InputError
        If more landmarks than rows are wanted, X is no finite matrix or its squares overflow.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    matrix = _check(X, n_landmarks)
    check_count("n_init", n_init)
    check_count("max_iter", max_iter)
    if abs(matrix).max() > LARGEST_REACH:
        raise InputError("X has values so large that their squares overflow: rescale it")
    if n_landmarks == _rows(matrix):
        return Landmarks(matrix)
    state = int(np.random.default_rng(seed).integers(2**31 - 1))
    model = KMeans(n_landmarks, n_init=n_init, max_iter=max_iter, random_state=state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows: said above
        model.fit(matrix)
    return Landmarks(model.cluster_centers_[np.unique(model.labels_)])


def draw_by_pivots(X: object, n_landmarks: int, kernel: Kernel, seed: Seed = None) -> Landmarks:
    """Return rows chosen by randomly pivoted Cholesky.

    Each next row is drawn with probability proportional to r_i = k(x_i, x_i) - K~_ii, what the
    rows chosen so far leave unexplained of it (Chen, Epperly, Tropp and Webber, 2023). It takes
    d columns of the Gram matrix and O(n d^2) operations.

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    n_landmarks : int
        d, from 1 to n. Fewer are returned where fewer explain every row.
    kernel : Kernel
    seed : int, Generator or None

    Raises
    ------
    InputError
        If more landmarks than rows are wanted, X is no finite matrix, or the kernel is zero on
        every row.
    """
    matrix = _check(X, n_landmarks)
    rng = np.random.default_rng(seed)
    whole = np.asarray(kernel.diagonal(matrix), dtype=float)
    if not whole.max() > 0:
        raise InputError("the kernel is zero on every row: there is nothing to span")
    left = whole.copy()
    features = np.zeros((_rows(matrix), n_landmarks))
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
    method: str,
    X: object,
    n_landmarks: int,
    kernel: Kernel,
    y: object = None,
    seed: Seed = None,
) -> Landmarks:
    """Return the landmarks of the method named.

    Parameters
    ----------
    method : {"uniform", "stratified", "kmeans", "pivoted", "leverage"}
    X : array or sparse matrix (n, p)
    n_landmarks : int
    kernel : Kernel
        For "pivoted" and "leverage".
    y : array (n,), optional
        Labels, for "stratified".
    seed : int, Generator or None

    Raises
    ------
    InputError
        For another method, for "stratified" without labels, and as the methods do.
    """
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
    if n_landmarks > _rows(matrix):
        raise InputError(
            f"{n_landmarks} landmarks are wanted, but X has only {_rows(matrix)} rows: take fewer"
        )
    return matrix


def _rows(matrix: Matrix) -> int:
    return int(matrix.shape[0])
