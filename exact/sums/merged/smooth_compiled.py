"""The compiled loops of `merged` for the squared hinge and the square loss.

Sums are compensated, so that their rounding does not grow with n. Functions that call each other
stay in this one file: the on-disk cache does not notice a changed callee elsewhere.
"""

from __future__ import annotations

import numpy as np

from ...tools.compiling import compiled
from .arrangement import Arrangement
from .merged import SmoothSums
from .merged_compiled import ranked


@compiled
def _merge_halves(lo, mid, hi, rank, values, spare, spare_values):  # pragma: no cover - compiled
    """Merge the sorted lo .. mid - 1 and mid .. hi - 1; equal ones keep their order."""
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
def _add(total, carry, x):  # pragma: no cover - compiled
    """Return the sum, and its carry with what the sum rounded off."""
    new = total + x
    back = new - total
    return new, carry + ((total - (new - back)) + (x - back))


@compiled
def _squared_merge(lo, mid, hi, rank, s, a, b, net):  # pragma: no cover - compiled
    """Add the sums of 2 z over the active pairs of one merge; return those of 2 z and of z^2.

    The sums of z and z^2 over a row's partners follow from those of the row before, at the
    distance d: sum (z + d)^2 = sum z^2 + 2 d sum z + d^2 mass. Every term is >= 0, so that small
    sums keep their digits.
    """
    k = hi
    mass = mass_c = first = first_c = second = second_c = 0.0
    mean = mean_c = value = value_c = last = 0.0
    for p in range(mid - 1, lo - 1, -1):
        i = rank[p]
        if a[i] == 0.0:
            continue
        t = s[p] - 1.0
        # A row without a weight was passed by: d is the distance from the last one that counted.
        if k < hi:
            d = last - t
            f, m = first + first_c, mass + mass_c
            second, second_c = _add(second, second_c, d * (2.0 * f + d * m))
            first, first_c = _add(first, first_c, d * m)
        last = t
        while k > mid and s[k - 1] > t:
            k -= 1
            z, weight = s[k] - t, b[rank[k]]
            mass, mass_c = _add(mass, mass_c, weight)
            first, first_c = _add(first, first_c, weight * z)
            second, second_c = _add(second, second_c, weight * z * z)
        u = 2.0 * a[i] * (first + first_c)
        net[i] += u
        mean, mean_c = _add(mean, mean_c, u)
        value, value_c = _add(value, value_c, a[i] * (second + second_c))
    k = lo
    mass = mass_c = first = first_c = last = 0.0
    for p in range(mid, hi):
        j = rank[p]
        if b[j] == 0.0:
            continue
        if k > lo:
            first, first_c = _add(first, first_c, (s[p] - last) * (mass + mass_c))
        last = s[p]
        # The same floats s - 1 and s as above: both sides see the same pairs.
        while k < mid and s[k] - 1.0 < s[p]:
            weight = a[rank[k]]
            mass, mass_c = _add(mass, mass_c, weight)
            first, first_c = _add(first, first_c, weight * (s[p] - (s[k] - 1.0)))
            k += 1
        net[j] -= 2.0 * b[j] * (first + first_c)
    return mean + mean_c, value + value_c


@compiled
def _squared_hinge(merges, groups, rank, s, a, b, net, totals):  # pragma: no cover - compiled
    spare, spare_values = np.empty(s.size, np.int64), np.empty(s.size)
    carries = np.zeros(totals.shape)
    for k in range(groups.size):
        lo, mid, hi = merges[k, 0], merges[k, 1], merges[k, 2]
        found = _squared_merge(lo, mid, hi, rank, s, a, b, net)
        for part in range(2):
            g = groups[k]
            totals[g, part], carries[g, part] = _add(totals[g, part], carries[g, part], found[part])
        _merge_halves(lo, mid, hi, rank, s, spare, spare_values)
    totals += carries


@compiled
def _square(ends, block, block_ends, s, a, b, net, totals):  # pragma: no cover - compiled
    """Fill the sums of the square loss: each group once from its end, once from its start."""
    start = 0
    for g in range(ends.size):
        mass = mass_c = first = first_c = second = second_c = 0.0
        mean = mean_c = value = value_c = 0.0
        k = ends[g]  # rows from here on are in the sums
        for p in range(ends[g] - 1, start - 1, -1):
            while k > block_ends[block[p]]:
                k -= 1
                mass, mass_c = _add(mass, mass_c, b[k])
                first, first_c = _add(first, first_c, b[k] * s[k])
                second, second_c = _add(second, second_c, b[k] * s[k] * s[k])
            t, f, m = 1.0 - s[p], first + first_c, mass + mass_c
            u = 2.0 * a[p] * (m * t + f)
            net[p] += u
            mean, mean_c = _add(mean, mean_c, u)
            x = a[p] * (t * t * m + 2.0 * t * f + (second + second_c))
            value, value_c = _add(value, value_c, x)
        totals[g, 0] = mean + mean_c
        totals[g, 1] = value + value_c
        mass = mass_c = first = first_c = 0.0
        k = start
        for p in range(start, ends[g]):
            while block[k] < block[p]:
                mass, mass_c = _add(mass, mass_c, a[k])
                first, first_c = _add(first, first_c, a[k] * s[k])
                k += 1
            net[p] -= 2.0 * b[p] * ((mass + mass_c) * (1.0 + s[p]) - (first + first_c))
        start = ends[g]


def squared_hinge_sums_compiled(
    at: Arrangement, scores: np.ndarray, a: np.ndarray, b: np.ndarray
) -> SmoothSums:
    """Return what `merged.squared_hinge_sums` returns, to rounding."""
    rank = ranked(at, scores)
    net, totals = np.zeros(scores.size), np.zeros((at.group_ends.size, 2))
    _squared_hinge(at.merges, at.merge_group, rank, scores[rank], a, b, net, totals)
    return SmoothSums(net, totals)


def square_sums_compiled(
    at: Arrangement, scores: np.ndarray, a: np.ndarray, b: np.ndarray
) -> SmoothSums:
    """Return what `merged.square_sums` returns, to rounding."""
    net, totals = np.zeros(scores.size), np.zeros((at.group_ends.size, 2))
    _square(at.group_ends, at.block, at.block_ends, scores, a, b, net, totals)
    return SmoothSums(net, totals)
