"""The compiled hinge loops of `merged`: one pass over a merge tree, its halves kept sorted.

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
def _listed_range(
    lo, hi, first_below, S, a, b, margin, half, soft, hard, to
):  # pragma: no cover - compiled
    """Add the sums of all pairs of a small range, one by one; S is by place."""
    for p in range(lo, hi):
        weight = a[p]
        if weight == 0 or first_below[p] >= hi:
            continue
        x = S[p] - margin
        soft_sum = hard_sum = ties = 0
        for q in range(first_below[p], hi):
            m = S[q] - x
            ramp = min(max(m + half, 0), 2 * half)
            over = np.int64(m >= 1)
            soft_sum += b[q] * ramp
            hard_sum += b[q] * over
            ties += b[q] * np.int64(m == 0)
            soft[q] -= weight * b[q] * ramp
            hard[q] -= weight * b[q] * over
        soft[p] += weight * soft_sum
        hard[p] += weight * hard_sum
        to[0] += (weight * soft_sum) >> 32
        to[1] += (weight * soft_sum) & _MASK
        to[2] += (weight * hard_sum) >> 32
        to[3] += (weight * hard_sum) & _MASK
        to[4] += (weight * ties) >> 32
        to[5] += (weight * ties) & _MASK


@compiled
def _sort_range(lo, hi, rank, values):  # pragma: no cover - compiled
    """Sort lo .. hi - 1 by insertion; equal ones keep their order."""
    for k in range(lo + 1, hi):
        row, value = rank[k], values[k]
        at = k
        while at > lo and values[at - 1] > value:
            rank[at] = rank[at - 1]
            values[at] = values[at - 1]
            at -= 1
        rank[at] = row
        values[at] = value


@compiled
def _hinge(
    merges, groups, turns, first_below, rank, places, a, b, running_b, margin, half, sums
):  # pragma: no cover - compiled
    soft, hard, totals = sums
    S = places[rank]
    spare, spare_values = np.empty(S.size, np.int64), np.empty(S.size, np.int64)
    for k in range(groups.size):
        if turns[k] == 2:
            continue
        lo, mid, hi = merges[k, 0], merges[k, 1], merges[k, 2]
        to = totals[groups[k]]
        if turns[k] == 1:
            _listed_range(lo, hi, first_below, places, a, b, margin, half, soft, hard, to)
            _sort_range(lo, hi, rank, S)
            continue
        mass_b = running_b[hi] - running_b[mid]
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
    tree = at.merges, at.merge_group, at.turns, at.below
    _hinge(*tree, rank, places, a, b, running_b, margin, half, sums)
    return HingeCounts(*sums)
