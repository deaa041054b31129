"""The compiled hinge loops of `merged`: one pass over a merge tree, its halves kept sorted.

At a merge of `upper` and `lower` rows, sorted, all that is asked is how many rows of the other half
lie below a row's score and a shift. One walk along both halves tells it for both, because

    lower[q] < upper[p] + shift    or    upper[p] + shift <= lower[q].

Three walks go on at once, for the two ends of the ramp and its middle, and no step of theirs is a
branch that depends on the scores. Sums over the rows below are then running sums.

Functions that call each other stay in this one file: the on-disk cache does not notice a changed
callee elsewhere.
"""

from __future__ import annotations

import numpy as np

from ...tools.compiling import cheaper, compiled
from .arrangement import Arrangement
from .merged import HingeCounts, hinge_counts

_MASK = 0xFFFFFFFF

# Above every score on the grid, also when a shift is added: behind the last row of a half.
_BEYOND = 1 << 62


@compiled
def _distribute(order, block, starts, rank):  # pragma: no cover - compiled
    """Fill rank with the places of each block in the order in which `order` names them."""
    for k in range(order.size):
        place = order[k]
        rank[starts[block[place]]] = place
        starts[block[place]] += 1


@compiled
def _halves(lo, mid, hi, S, upper, lower):  # pragma: no cover - compiled
    """Copy the scores of both halves, and an end that no row reaches."""
    upper[: mid - lo] = S[lo:mid]
    upper[mid - lo] = _BEYOND
    lower[: hi - mid] = S[mid:hi]
    lower[hi - mid] = _BEYOND


@compiled
def _walk(steps, upper, lower, shifts, below, above):  # pragma: no cover - compiled
    """Fill below[k, p] with how many rows have lower[q] < upper[p] + shifts[k].

    And above[k, q] with how many have upper[p] + shifts[k] <= lower[q]. Indices are unsigned, lest
    numba looks for negative ones.
    """
    one = np.uint64(1)
    p0 = q0 = p1 = q1 = p2 = q2 = np.uint64(0)
    first, second, third = shifts
    for _ in range(steps):
        below[0, p0], above[0, q0] = q0, p0
        step = np.uint64(lower[q0] < upper[p0] + first)
        q0 += step
        p0 += one - step
        below[1, p1], above[1, q1] = q1, p1
        step = np.uint64(lower[q1] < upper[p1] + second)
        q1 += step
        p1 += one - step
        below[2, p2], above[2, q2] = q2, p2
        step = np.uint64(lower[q2] < upper[p2] + third)
        q2 += step
        p2 += one - step


@compiled
def _running(values, weight, mass, moment):  # pragma: no cover - compiled
    """Fill mass and moment with the sums of weight and weight times value before each row."""
    mass[0] = moment[0] = 0
    for k in range(weight.size):
        mass[k + 1] = mass[k] + weight[k]
        moment[k + 1] = moment[k] + weight[k] * values[k]


@compiled
def _add_upper(
    upper, lower, rank, A, mass, moment, below, margin, half, soft, hard, to
):  # pragma: no cover - compiled
    """Add the sums of the upper rows of a merge, from the running sums of the lower ones."""
    # No row has the place `at` yet, so that the first one counts its ties.
    whole, tied, at = mass[-1], 0, upper[0] - margin - 1
    for p in range(rank.size):
        x = upper[p] - margin
        row = rank[p]
        if half > 0:
            stop, start = below[0, p], below[1, p]
            inside = mass[stop] - mass[start]
            ramps = moment[stop] - moment[start] + inside * (half - x)
            sums = A[p] * (2 * half * (whole - mass[stop]) + ramps)
            soft[row] += sums
            to[0] += sums >> 32  # in two parts, neither of which can overflow
            to[1] += sums & _MASK
        over = below[2, p]
        sums = A[p] * (whole - mass[over])
        hard[row] += sums
        to[2] += sums >> 32
        to[3] += sums & _MASK
        if x != at:
            at, tied, q = x, 0, np.int64(over)
            # Of the rows before `over` the last ones may be at x itself: there m = 0.
            while q > 0 and lower[q - 1] == x:
                tied += mass[q] - mass[q - 1]
                q -= 1
        sums = A[p] * tied
        to[4] += sums >> 32
        to[5] += sums & _MASK


@compiled
def _take_lower(
    lower, rank, B, mass, moment, above, margin, half, soft, hard
):  # pragma: no cover - compiled
    """Take off the sums of the lower rows of a merge, from the running sums of the upper ones."""
    for q in range(rank.size):
        row = rank[q]
        if half > 0:
            start, stop = above[0, q], above[1, q]
            inside = mass[stop] - mass[start]
            ramps = inside * (lower[q] + margin + half) - (moment[stop] - moment[start])
            soft[row] -= B[q] * (2 * half * mass[start] + ramps)
        hard[row] -= B[q] * mass[above[2, q]]


@compiled
def _merge_halves(lo, mid, hi, upper, lower, rank, S, A, B, spare):  # pragma: no cover - compiled
    """Merge the sorted lo .. mid - 1 and mid .. hi - 1; equal ones keep their order."""
    left = np.uint64(mid - lo)
    for k in range(left):
        spare[0, k], spare[1, k], spare[2, k] = rank[lo + k], A[lo + k], B[lo + k]
    one, p, q, k = np.uint64(1), np.uint64(0), np.uint64(mid), np.uint64(lo)
    start = np.uint64(mid)
    while p < left and q < np.uint64(hi):
        first, second = upper[p], lower[q - start]
        own, other = spare[0, p], rank[q]
        own_a, other_a = spare[1, p], A[q]
        own_b, other_b = spare[2, p], B[q]
        # Chosen without a branch: the processor would guess it wrong half the time.
        keep = first <= second
        S[k] = first if keep else second
        rank[k] = own if keep else other
        A[k] = own_a if keep else other_a
        B[k] = own_b if keep else other_b
        step = np.uint64(keep)
        p += step
        q += one - step
        k += one
    while p < left:
        S[k], rank[k], A[k], B[k] = upper[p], spare[0, p], spare[1, p], spare[2, p]
        p += one
        k += one


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
def _merge(
    lo, mid, hi, rank, S, A, B, margin, half, soft, hard, to, room
):  # pragma: no cover - compiled
    """Add the sums of one merge, and sort its range."""
    upper, lower, below, above, mass, moment, spare = room
    p, q = mid - lo, hi - mid
    _halves(lo, mid, hi, S, upper, lower)
    shifts = (half - margin, 1 - half - margin, 1 - margin)
    _walk(p + q, upper, lower, shifts, below, above)
    _running(lower, B[mid:hi], mass, moment)
    _add_upper(
        *(upper, lower, rank[lo:mid], A[lo:mid], mass[: q + 1], moment, below, margin, half),
        *(soft, hard, to),
    )
    _running(upper, A[lo:mid], mass, moment)
    _take_lower(lower, rank[mid:hi], B[mid:hi], mass, moment, above, margin, half, soft, hard)
    _merge_halves(lo, mid, hi, upper, lower, rank, S, A, B, spare)


@compiled
def _hinge(
    merges, groups, turns, first_below, rank, places, a, b, margin, half, sums
):  # pragma: no cover - compiled
    soft, hard, totals = sums
    S, A, B = places[rank], a[rank], b[rank]
    most = 1
    for k in range(groups.size):
        if turns[k] == 0:
            most = max(most, merges[k, 2] - merges[k, 0])
    room = (
        np.empty(most + 1, np.int64),
        np.empty(most + 1, np.int64),
        np.empty((3, most + 1), np.uint32),
        np.empty((3, most + 1), np.uint32),
        np.empty(most + 1, np.int64),
        np.empty(most + 1, np.int64),
        np.empty((3, most), np.int64),
    )
    for k in range(groups.size):
        if turns[k] == 2:
            continue
        lo, mid, hi = merges[k, 0], merges[k, 1], merges[k, 2]
        to = totals[groups[k]]
        if turns[k] == 1:
            _listed_range(lo, hi, first_below, places, a, b, margin, half, soft, hard, to)
            _sort_range(lo, hi, rank, S)
            A[lo:hi], B[lo:hi] = a[rank[lo:hi]], b[rank[lo:hi]]
            continue
        _merge(lo, mid, hi, rank, S, A, B, margin, half, soft, hard, to, room)


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
    sums = soft, hard, totals
    tree = at.merges, at.merge_group, at.turns, at.below
    _hinge(*tree, rank, places, a, b, margin, half, sums)
    return HingeCounts(*sums)


# `hinge_counts` until that has cost what compiling its loop will; the same bits.
cheaper_hinge_counts = cheaper(hinge_counts, hinge_counts_compiled, _hinge)
