"""Floyd and Rivest's selection of the k-th largest number. [SHT, Algorithm 2]"""

from __future__ import annotations

import numpy as np

from ...exact.errors import InputError
from ...exact.tools.checks import check_count
from ...exact.tools.compiling import compiled
from ...exact.tools.lossless import as_float64

SAMPLED = 600
"""Ranges longer than this are narrowed by a sample first."""


@compiled
def _select(w, left, right, k):  # pragma: no cover - compiled
    """Bring the k-th smallest entry of w (from 0) to its place, with no larger one to its left."""
    while right > left:
        if right - left > 600:
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
    return 0


def kth_largest(w: np.ndarray, k: int) -> float:
    """Return the k-th largest absolute value of `w`, in O(d) on average. [SHT, Algorithm 2]

    `hard_threshold` takes numpy's selection, which finds the same number and is O(d) at worst.

    Differs from the paper: 1. ln(n), with n the length of the range, for ln(N); (n - i) s/n for
    (n - 1) s/n in the upper end of the sample. 2. The larger end of the range is brought to the
    right before the scan, where it stops it. 3. The second inner scan goes down while w_j > t, not
    while w_i < t. 4. After the scan w_l is exchanged with w_j, and w_j with w_r, not with w_i.
    5. It finds the k-th smallest, so that it is called with d - k on absolute values.

    Parameters
    ----------
    w : array (d,)
        Without NaN; unchanged.
    k : int
        From 1 to d.

    Raises
    ------
    InputError
        If k is out of range, or w is no vector or has a NaN, which cannot be ordered.
    """
    size, k = np.abs(as_float64(w, "w")), check_count("k", k)
    if size.ndim != 1 or k > size.size:
        raise InputError(f"k = {k} needs a vector of as many entries; its shape is {size.shape}")
    if np.isnan(size).any():
        raise InputError(f"entry {int(np.flatnonzero(np.isnan(size))[0])} of w is no number")
    place = size.size - k
    _select(size, 0, size.size - 1, place)
    return float(size[place])
