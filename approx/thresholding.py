"""The hard thresholding operator: keep the k largest entries, set the others to zero.

[SHT, eq. (1), eq. (6)]. It is the projection onto the vectors with at most k nonzeros: no such
vector is nearer.

`kth_largest` is Floyd and Rivest's selection. [SHT, Algorithm 2]
"""

from __future__ import annotations

import numpy as np

from ..exact.errors import InputError
from ..exact.tools.arrays import as_float64, check_count


def largest(w: np.ndarray, k: int) -> np.ndarray:
    """Return the places of the k largest absolute values, sorted; of tied ones the lower: O(d)."""
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
    run as printed, see `kth_largest`; the selection here is numpy's, also O(d).

    Parameters
    ----------
    w : array (d,)
        Finite.
    k : int
        At least 1; with k >= d nothing changes.
    paper_literal : bool
        Eq. (6) exactly as printed, for k <= d.
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


SAMPLED = 600  # Ranges longer than this are narrowed by a sample first.


def _select(w: np.ndarray, left: int, right: int, k: int) -> None:
    """Bring the k-th smallest entry of w (from 0) to its place, with no larger one to its left."""
    while right > left:
        if right - left > SAMPLED:
            n = right - left + 1
            i = k - left + 1
            z = np.log(n)
            s = 0.5 * np.exp(2 * z / 3)
            sd = 0.5 * np.sqrt(z * s * (n - s) / n) * np.sign(i - n / 2)
            low = max(left, int(k - i * s / n + sd))
            high = min(right, int(k + (n - i) * s / n + sd))
            _select(w, low, high, k)
        t = w[k]
        i = left
        j = right
        w[left], w[k] = w[k], w[left]
        if w[right] > t:
            w[right], w[left] = w[left], w[right]
        while i < j:
            w[i], w[j] = w[j], w[i]
            i += 1
            j -= 1
            while w[i] < t:
                i += 1
            while w[j] > t:
                j -= 1
        if w[left] == t:
            w[left], w[j] = w[j], w[left]
        else:
            j += 1
            w[j], w[right] = w[right], w[j]
        if j <= k:
            left = j + 1
        if k <= j:
            right = j - 1


def kth_largest(w: np.ndarray, k: int) -> float:
    """Return the k-th largest absolute value of `w`, in O(d) on average. [SHT, Algorithm 2]

    `hard_threshold` takes numpy's selection, which finds the same number and is O(d) at worst.

    Differs from the paper: 1. ln(n), with n the length of the range, for ln(N); (n - i) s/n for
    (n - 1) s/n in the upper end of the sample. 2. The larger end of the range is brought to the
    right before the scan, where it stops it. 3. The second inner scan goes down while w_j > t, not
    while w_i < t. 4. After the scan w_l is exchanged with w_j, and w_j with w_r, not with w_i.
    5. It finds the k-th smallest, so that it is called with d - k on absolute values.
    """
    size, k = np.abs(as_float64(w, "w")), check_count("k", k)
    if size.ndim != 1 or k > size.size:
        raise InputError(f"k = {k} needs a vector of as many entries; its shape is {size.shape}")
    if np.isnan(size).any():
        raise InputError(f"entry {int(np.flatnonzero(np.isnan(size))[0])} of w is not a number")
    place = size.size - k
    _select(size, 0, size.size - 1, place)
    return float(size[place])
