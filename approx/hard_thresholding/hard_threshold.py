"""The hard thresholding operator: keep the k largest entries, set the others to zero.

[SHT, eq. (1), eq. (6)]. It is the projection onto the vectors with at most k nonzeros: no such
vector is nearer.
"""

from __future__ import annotations

import numpy as np

from ...exact.errors import InputError
from ...exact.tools.checks import check_count
from ...exact.tools.lossless import as_float64


def largest(w: np.ndarray, k: int) -> np.ndarray:
    """Return the places of the k entries of largest absolute value, sorted: (min(k, d),).

    Where the last places are tied, the lower indices are taken. Costs O(d).

    Parameters
    ----------
    w : array (d,)
        Finite.
    k : int
        At least 1.

    Raises
    ------
    InputError
        If k < 1, or `w` is no vector or has a value that is not finite, which would otherwise
        be dropped in silence.
    """
    w, k = _check(w, k)
    if k >= w.size:
        return np.arange(w.size)
    size = np.abs(w)
    bar = _bar(size, k)
    kept = size > bar
    tied = np.flatnonzero(size == bar)
    kept[tied[: k - int(kept.sum())]] = True
    return np.flatnonzero(kept)


def hard_threshold(w: np.ndarray, k: int, paper_literal: bool = False) -> np.ndarray:
    """Return H_k(w): the k largest entries of `w`, zero elsewhere. [SHT, eq. (1)]

    Differs from the paper: 1. Its eq. (6) keeps the entries *above* the k-th largest absolute
    value, which are k - 1 or, with ties, fewer: none at all for k = 1. Exactly k are kept here,
    the lower indices among tied ones. 2. Its Algorithm 2 (Floyd and Rivest's selection) cannot
    run as printed, see `floyd_rivest.py`; the selection here is numpy's, also O(d).

    Parameters
    ----------
    w : array (d,)
        Finite.
    k : int
        At least 1; nothing changes where k >= d.
    paper_literal : bool
        Eq. (6) to the letter, where k <= d.

    Returns
    -------
    array (d,)

    Raises
    ------
    InputError
        As `largest`.
    """
    w, k = _check(w, k)
    if paper_literal:
        size = np.abs(w)
        return np.where(size > _bar(size, k), w, 0.0) if k <= w.size else w.copy()
    kept = np.zeros(w.size)
    places = largest(w, k)
    kept[places] = w[places]
    return kept


def _bar(size: np.ndarray, k: int) -> float:
    """Return the k-th largest of the numbers `size`."""
    place = size.size - k
    return float(np.partition(size, place)[place])


def _check(w: np.ndarray, k: int) -> tuple[np.ndarray, int]:
    k = check_count("k", k)
    w = as_float64(w, "w")
    if w.ndim != 1 or w.size == 0:
        raise InputError(f"w must be a vector with an entry at least; its shape is {w.shape}")
    if not np.isfinite(w).all():
        at = int(np.flatnonzero(~np.isfinite(w))[0])
        raise InputError(f"entry {at} of w is {w[at]}: entries must be finite")
    return w, k
