"""The loop of `placements`, compiled: two pointers a merge, its halves kept sorted.

Floating-point subtraction is monotone, so that the concordant partners of a row are the first ones
of the other half, or the last, in the order of the scores. Functions that call each other stay in
this one file: the on-disk cache does not notice a changed callee elsewhere.
"""

from __future__ import annotations

import numpy as np

from ...tools.compiling import compiled
from .arrangement import Arrangement
from .merged_compiled import ranked


@compiled
def _halves(lo, mid, hi, rank, s, spare, spare_scores):  # pragma: no cover - compiled
    """Merge the sorted lo .. mid - 1 and mid .. hi - 1; equal ones keep their order."""
    left = mid - lo
    for k in range(left):
        spare[k] = rank[lo + k]
        spare_scores[k] = s[lo + k]
    p = 0
    q = mid
    k = lo
    while p < left:
        if q == hi or spare_scores[p] <= s[q]:
            rank[k] = spare[p]
            s[k] = spare_scores[p]
            p += 1
        else:
            rank[k] = rank[q]
            s[k] = s[q]
            q += 1
        k += 1


@compiled
def _placements(merges, rank, s, a, b, tolerance, found):  # pragma: no cover - compiled
    spare, spare_scores = np.empty(s.size, np.int64), np.empty(s.size)
    for k in range(merges.shape[0]):
        lo, mid, hi = merges[k, 0], merges[k, 1], merges[k, 2]
        below = tied = 0  # weights of the lower rows that are concordant, and tied
        first = last = mid  # the first tied row, and the one behind the last
        for p in range(lo, mid):
            i = rank[p]
            while last < hi and not s[last] - s[p] > tolerance:
                tied += b[rank[last]]
                last += 1
            while first < last and s[p] - s[first] > tolerance:
                tied -= b[rank[first]]
                below += b[rank[first]]
                first += 1
            found[0, i] += below
            found[1, i] += tied
        above = tied = 0
        for p in range(lo, mid):
            above += a[rank[p]]
        first = last = lo
        for q in range(mid, hi):
            j = rank[q]
            while last < mid and not s[last] - s[q] > tolerance:
                tied += a[rank[last]]
                above -= a[rank[last]]
                last += 1
            while first < last and s[q] - s[first] > tolerance:
                tied -= a[rank[first]]
                first += 1
            found[2, j] += above
            found[3, j] += tied
        _halves(lo, mid, hi, rank, s, spare, spare_scores)


def placements_compiled(
    at: Arrangement, scores: np.ndarray, a: np.ndarray, b: np.ndarray, tolerance: float
) -> np.ndarray:
    """Return what `placements.placements` returns."""
    found = np.zeros((4, scores.size), dtype=np.int64)
    rank = ranked(at, scores)
    _placements(at.merges, rank, scores[rank], a, b, float(tolerance), found)
    return found
