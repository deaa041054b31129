"""Baselines that every sparse method should be compared with; none of them iterates.

In the configuration of the published experiments SHT-AUC itself is little more than
`top_mean_difference`. All take data and labels and return weights (d,).
"""

from __future__ import annotations

import numpy as np

from ..exact.errors import InputError
from ..exact.problem.problem import split_labels
from ..exact.spaces.rows import Rows
from ..exact.square_loss.row_average import RowAverage
from ..exact.square_loss.support import optimum_on
from ..exact.tools.arrays import check_count
from .thresholding import hard_threshold, largest


def mean_difference(X: object, y: object, positive: object = None) -> np.ndarray:
    """Return delta, the difference of the class means: the direction of F's first gradient step.

    Parameters
    ----------
    X, y, positive
        As in `solve`.
    """
    return _average(X, y, positive).delta


def top_mean_difference(X: object, y: object, k: int, positive: object = None) -> np.ndarray:
    """Return H_k(delta): the k features of largest mean difference, weighted by it.

    Parameters
    ----------
    X, y, positive
        As in `mean_difference`.
    k : int
        >= 1.
    """
    return hard_threshold(mean_difference(X, y, positive), k)


def fisher_scores(X: object, y: object, positive: object = None) -> np.ndarray:
    """Return Fisher's score delta_j^2 / Sigma_jj of each feature; 0 where both vanish: (d,)."""
    loss = _average(X, y, positive)
    matrix, side = loss.X, loss.positive.astype(int)
    if isinstance(matrix, np.ndarray):
        variance = loss.mass @ np.square(matrix - loss.means[side])
    else:
        variance = np.asarray(matrix.multiply(matrix).T @ loss.mass).ravel()
        variance = variance - np.square(loss.means).sum(axis=0)
    # Below its own rounding a variance is zero, and a difference of means says nothing.
    floor = 1e-12 * (np.square(loss.means).sum(axis=0) + np.maximum(variance, 0.0))
    known = variance > floor
    scores = np.divide(loss.delta**2, variance, out=np.zeros(loss.dim), where=known)
    return np.where(~known & (loss.delta**2 > floor), np.finfo(float).max, scores)


def top_fisher(X: object, y: object, k: int, positive: object = None) -> np.ndarray:
    """Return Fisher's discriminant on the k features of the largest `fisher_scores`.

    The selection does not depend on the units of the features.

    Parameters
    ----------
    X, y, positive
        As in `mean_difference`.
    k : int
        >= 1, small enough for a k x k matrix.
    """
    check_count("k", k)
    chosen = largest(fisher_scores(X, y, positive), k)
    return oracle_support(X, y, chosen, positive)


def oracle_support(X: object, y: object, support: object, positive: object = None) -> np.ndarray:
    """Return Fisher's discriminant on given features, those of the truth where it is known.

    It minimises the mean square loss over all pairs there. [SHT, eq. (3)] Raises `InputError` where
    `support` is not a list of places.

    Parameters
    ----------
    X, y, positive
        As in `mean_difference`.
    support : int array
        The places of the features.
    """
    mask, _, _ = split_labels(y, positive)
    chosen = np.asarray(support)
    if chosen.dtype.kind not in "iu" or chosen.ndim != 1:
        raise InputError("support must be a list of the places of features")
    return optimum_on(Rows(X), mask, chosen.tolist()).w


def _average(X: object, y: object, positive: object) -> RowAverage:
    mask, _, _ = split_labels(y, positive)
    return RowAverage.of(Rows(X), mask)
