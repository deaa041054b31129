"""Pairs drawn from ranges of sorted rows, and the matrices of their differences, factored."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from ..errors import InputError
from ..spaces.rows import Rows
from ..sums.pair_graph import PairGraph

FEW_COORDINATES = 20
"""Coordinates up to which differences of rows are cheaper than finding out which rows recur."""

RIDGE, GROWTH = 1e-14, 100
"""Share of the trace added where rounding has made a matrix indefinite, and its growth."""

Drawn = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Two places of each pair drawn, and how much each pair stands for."""


def draw_from_ranges(counts: np.ndarray, size: int, rng: np.random.Generator) -> Drawn:
    """Return up to `size` of the pairs that are listed as one range for each row.

    Parameters
    ----------
    counts : int array (n,)
        Pairs of each row.
    size : int
    rng : Generator

    Returns
    -------
    row, place : int arrays (m,)
        The rows, and the places in their ranges; all pairs where there are no more than `size`.
    share : array (m,)
        How many pairs each stands for.
    """
    ends = np.cumsum(counts)
    held = int(ends[-1])
    picks = np.arange(held) if held <= size else np.sort(rng.integers(0, held, size))
    row = np.searchsorted(ends, picks, side="right")
    share = np.full(picks.size, held / max(picks.size, 1))
    return row, picks - (ends[row] - counts[row]), share


def differences_gram(space: Rows, i: np.ndarray, j: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return sum_k share_k d_k d_k' for d_k = x_i - x_j: (dim, dim)."""
    # Sparse rows are not centred: far from the origin the Laplacian would cancel.
    if space.dim > FEW_COORDINATES and not space.is_sparse:
        touched, place = np.unique(np.concatenate([i, j]), return_inverse=True)
        if 2 * touched.size <= i.size:  # few rows, many pairs: X'L X
            X, (p, q) = space.rows(touched), np.split(place, 2)
            return np.asarray(X.T @ PairGraph(p, q, share, touched.size).times(X))
    D, root = space.rows(i) - space.rows(j), np.sqrt(share)[:, None]
    if isinstance(D, np.ndarray):
        D *= root
        return D.T @ D
    D = D.multiply(root).tocsr()
    return np.asarray((D.T @ D).todense())


def factored(H: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor of H, with a ridge where rounding made it indefinite.

    Raises
    ------
    InputError
        If numbers have overflowed.
    """
    ridge = RIDGE * float(np.abs(np.diag(H)).sum())
    while np.isfinite(ridge):
        factor, failed = dpotrf(H)
        if not failed:
            return factor
        H.flat[:: H.shape[0] + 1] += ridge
        ridge = GROWTH * ridge or 1.0
    raise InputError("the features are so large that their curvature overflows: rescale them")


def solved(factor: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Return H^-1 r for the factor of H, and r (dim,)."""
    return np.asarray(dpotrs(factor, np.ravel(r))[0])
