"""Where a row's score stands among those of its partners, in whole numbers.

A pair (i, j) is concordant if s_i - s_j > tolerance, discordant if s_j - s_i > tolerance, and tied
otherwise; the differences are taken in floating point, so that the counts equal those of a double
loop to the last pair. This file has the readable form, `placements_compiled` the fast one.
"""

from __future__ import annotations

import numpy as np

from .arrangement import Arrangement


def placements(
    at: Arrangement, scores: np.ndarray, a: np.ndarray, b: np.ndarray, tolerance: float
) -> np.ndarray:
    """Return what each row's concordant and tied partners weigh."""
    found = np.zeros((4, scores.size), dtype=np.int64)
    for lo, mid, hi in at.merges.tolist():
        up, low = slice(lo, mid), slice(mid, hi)
        difference = np.subtract.outer(scores[up], scores[low])
        concordant = (difference > tolerance).astype(np.int64)
        tied = (np.abs(difference) <= tolerance).astype(np.int64)
        found[0, up] += concordant @ b[low]
        found[1, up] += tied @ b[low]
        found[2, low] += a[up] @ concordant
        found[3, low] += a[up] @ tied
    return found
