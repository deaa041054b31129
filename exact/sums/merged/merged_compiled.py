"""The hinge's loops of `merged`, compiled: one pass over a merge tree, its halves kept sorted.

Functions that call each other stay in this one file: the on-disk cache does not notice a changed
callee elsewhere.
"""

from __future__ import annotations

import numpy as np

from ...tools.compiling import compiled
from .arrangement import Arrangement
from .merged import HingeCounts

_MASK = 0xFFFFFFFF


@compiled
def _distribute(order, block, starts, rank):  # pragma: no cover - compiled
    """Fill rank with the places of each block in the order in which `order` names them."""
    for k in range(order.size):
        place = order[k]
        rank[starts[block[place]]] = place
        starts[block[place]] += 1


@compiled
def _merge_halves(lo, mid, hi, rank, values, spare, spare_values):  # pragma: no cover - compiled
    """Merge the sorted lo .. mid - 1 and mid .. hi - 1; equal ones keep their order."""
    left = hi - lo
    for k in range(lo, mid):
        spare[k - lo] = rank[k]
        spare_values[k - lo] = values[k]
    p = 0
    left = mid - lo
    q = mid
    k = lo
    while p < left and q < hi:
        if spare_values[p] <= values[q]:
            rank[k] = spare[p]
            values[k] = spare_values[p]
            p += 1
        else:
            rank[k] = rank[q]
            values[k] = values[q]
            q += 1
        k += 1
    while p < left:
        rank[k] = spare[p]
        values[k] = spare_values[p]
        p += 1
        k += 1


@compiled
def _soft_merge(lo, mid, hi, rank, S, a, b, mass_b, margin, half, soft):  # pragma: no cover
    """Add sums of clip(m + half, 0, 2 half) of one merge; return their total in two parts."""
    start = stop = mid
    inside = first = 0
    full = mass_b
    high = low = 0
    for p in range(lo, mid):
        i = rank[p]
        if a[i] == 0:
            continue
        x = S[p] - margin
        while stop < hi and S[stop] < x + half:
            weight = b[rank[stop]]
            inside += weight
            first += weight * S[stop]
            full -= weight
            stop += 1
        while start < stop and S[start] <= x - half:
            weight = b[rank[start]]
            inside -= weight
            first -= weight * S[start]
            start += 1
        mass = a[i] * (2 * half * full + first + inside * (half - x))
        soft[i] += mass
        high += mass >> 32
        low += mass & _MASK
    start = stop = lo
    inside = first = full = 0
    for p in range(mid, hi):
        j = rank[p]
        if b[j] == 0:
            continue
        y = S[p] + margin
        while stop < mid and S[stop] < y + half:
            weight = a[rank[stop]]
            inside += weight
            first += weight * S[stop]
            stop += 1
        while start < stop and S[start] <= y - half:
            weight = a[rank[start]]
            inside -= weight
            first -= weight * S[start]
            full += weight
            start += 1
        soft[j] -= b[j] * (2 * half * full + inside * (y + half) - first)
    return high, low


@compiled
def _hard_merge(lo, mid, hi, rank, S, a, b, mass_b, margin, hard):  # pragma: no cover - compiled
    """Add numbers of m >= 1 of one merge; return their total and that of m = 0, in two parts."""
    above = reached = mid
    over = from_zero = mass_b
    high = low = tie_high = tie_low = 0
    for p in range(lo, mid):
        i = rank[p]
        if a[i] == 0:
            continue
        x = S[p] - margin
        while above < hi and S[above] <= x:
            over -= b[rank[above]]
            above += 1
        while reached < hi and S[reached] < x:
            from_zero -= b[rank[reached]]
            reached += 1
        mass = a[i] * over
        hard[i] += mass
        high += mass >> 32
        low += mass & _MASK
        mass = a[i] * (from_zero - over)
        tie_high += mass >> 32
        tie_low += mass & _MASK
    above = lo
    over = 0
    for p in range(mid, hi):
        j = rank[p]
        if b[j] == 0:
            continue
        y = S[p] + margin
        while above < mid and S[above] < y:
            over += a[rank[above]]
            above += 1
        hard[j] -= b[j] * over
    return high, low, tie_high, tie_low


@compiled
def _hinge(
    merges, groups, rank, S, a, b, running_b, margin, half, soft, hard, totals
):  # pragma: no cover - compiled
    spare, spare_values = np.empty(S.size, np.int64), np.empty(S.size, np.int64)
    for k in range(groups.size):
        lo, mid, hi = merges[k, 0], merges[k, 1], merges[k, 2]
        mass_b = running_b[hi] - running_b[mid]
        to = totals[groups[k]]
        if half > 0:
            high, low = _soft_merge(lo, mid, hi, rank, S, a, b, mass_b, margin, half, soft)
            to[0] += high
            to[1] += low
        found = _hard_merge(lo, mid, hi, rank, S, a, b, mass_b, margin, hard)
        for part in range(4):
            to[2 + part] += found[part]
        _merge_halves(lo, mid, hi, rank, S, spare, spare_values)


def ranked(at: Arrangement, scores: np.ndarray) -> np.ndarray:
    """Return what `Arrangement.by_score` does, by one sort and one distribution."""
    n = scores.size
    if at.block_ends.size == n:
        return np.arange(n)
    rank = np.empty(n, dtype=np.int64)
    starts = np.concatenate([[0], at.block_ends[:-1]])
    _distribute(np.argsort(scores), at.block, starts, rank)
    return rank


def hinge_counts_compiled(
    at: Arrangement, places: np.ndarray, a: np.ndarray, b: np.ndarray, margin: int, half: int
) -> HingeCounts:
    """Return what `merged.hinge_counts` returns."""
    n, rank = places.size, ranked(at, places)
    soft, hard = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    totals = np.zeros((at.group_ends.size, 6), dtype=np.int64)
    running_b = np.concatenate([[0], np.cumsum(b)])
    sums = soft, hard, totals
    sizes = running_b, margin, half
    _hinge(at.merges, at.merge_group, rank, places[rank], a, b, *sizes, *sums)
    return HingeCounts(*sums)
