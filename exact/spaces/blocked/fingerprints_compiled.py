"""The loop of `fingerprints` over the words of a block, compiled."""

from __future__ import annotations

import numpy as np

from ...tools.compiling import compiled


@compiled
def fingerprint(words, keys, found):  # pragma: no cover - compiled
    """Fill found (m, 2) with the two sums of each stretch of words."""
    one, other = keys[0], keys[1]
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    for k in range(found.shape[0]):
        stretch = words[k * one.size : (k + 1) * one.size]
        first = second = np.uint64(0)
        for i in range(stretch.size):
            word, top = stretch[i], stretch[i] >> half
            first += ((word + one[i]) & low) * ((top + (one[i] >> half)) & low)
            second += ((word + other[i]) & low) * ((top + (other[i] >> half)) & low)
        found[k, 0], found[k, 1] = first, second
