"""The sums of one term of ordered pairs, merge by merge: the readable form.

A term is a pair of row weights (a, b); the pair (i, j) weighs a_i b_j. All arrays are by place of
the `Arrangement`. `merged_compiled` and `smooth_compiled` have the fast form of the same sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...tools.rounding import remaining_sum, running_sum
from .arrangement import Arrangement


@dataclass(frozen=True, eq=False)
class HingeCounts:
    """Whole-number sums of the hinge over one term; nothing in them is rounded.

    With whole numbers S for the scores, 2^k a margin of one, m = S_j - S_i + 2^k and
    A = clip(m + half, 0, 2 half):
    """

    soft: np.ndarray
    hard: np.ndarray
    totals: np.ndarray

    def total(self, which: int) -> int:
        """Return a sum over all groups: 0 the soft one, 1 the hard one, 2 the ties."""
        high, low = self.totals[:, 2 * which], self.totals[:, 2 * which + 1]
        return (sum(high.tolist()) << 32) + sum(low.tolist())

    def by_group(self, which: int) -> np.ndarray:
        """Return the sums of each group in the long format, to two roundings."""
        high = self.totals[:, 2 * which].astype(np.longdouble)
        return np.ldexp(high, 32) + self.totals[:, 2 * which + 1]


def hinge_counts(
    at: Arrangement, places: np.ndarray, a: np.ndarray, b: np.ndarray, margin: int, half: int
) -> HingeCounts:
    """Return the whole-number sums of the hinge."""
    n = places.size
    soft, hard = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    totals = np.zeros((at.group_ends.size, 6), dtype=np.int64)
    for (lo, mid, hi), group in zip(at.merges.tolist(), at.merge_group.tolist(), strict=True):
        up, low = slice(lo, mid), slice(mid, hi)
        by_up, by_low = np.argsort(places[up]), np.argsort(places[low])
        T, B = places[up][by_up] - margin, places[low][by_low]  # m = B - T
        a_t, b_b = a[up][by_up], b[low][by_low]
        mass_b, mass_t = _running(b_b), _running(a_t)
        full = np.searchsorted(B, T, side="right")
        u = a_t * (mass_b[-1] - mass_b[full])
        v = b_b * mass_t[np.searchsorted(T, B, side="left")]
        ties = a_t * (mass_b[full] - mass_b[np.searchsorted(B, T, side="left")])
        hard[lo + by_up] += u
        hard[mid + by_low] -= v
        _count(totals[group], 2, u)
        _count(totals[group], 4, ties)
        if half:
            u = a_t * _ramps(B, mass_b, _running(b_b * B), T, half)
            # Mirrored: B - T = (-T) - (-B), and -T is ascending once it is turned round.
            v = b_b * _ramps(-T[::-1], _running(a_t[::-1]), _running(-(a_t * T)[::-1]), -B, half)
            soft[lo + by_up] += u
            soft[mid + by_low] -= v
            _count(totals[group], 0, u)
    return HingeCounts(soft, hard, totals)


def _running(values: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(values)])


def _ramps(
    B: np.ndarray, mass: np.ndarray, first: np.ndarray, T: np.ndarray, half: int
) -> np.ndarray:
    """Return sum_j b_j clip(B_j - T_i + half, 0, 2 half) for each T_i, from running sums."""
    start = np.searchsorted(B, T - half, side="right")
    stop = np.searchsorted(B, T + half, side="left")
    inside = first[stop] - first[start] + (mass[stop] - mass[start]) * (half - T)
    return (mass[-1] - mass[stop]) * 2 * half + inside


def _count(totals: np.ndarray, column: int, values: np.ndarray) -> None:
    """Add whole numbers >= 0 to a total held in two parts, neither of which can overflow."""
    totals[column] += int((values >> 32).sum())
    totals[column + 1] += int((values & 0xFFFFFFFF).sum())


@dataclass(frozen=True, eq=False)
class SmoothSums:
    """Sums in floating point over one term."""

    net: np.ndarray
    totals: np.ndarray


def squared_hinge_sums(
    at: Arrangement, scores: np.ndarray, a: np.ndarray, b: np.ndarray
) -> SmoothSums:
    """Return the sums of the squared hinge, alpha = 2 max(0, 1 - (s_i - s_j))."""
    net, totals = np.zeros(scores.size), np.zeros((at.group_ends.size, 2))
    for (lo, mid, hi), group in zip(at.merges.tolist(), at.merge_group.tolist(), strict=True):
        up, low = slice(lo, mid), slice(mid, hi)
        z = np.maximum(0.0, scores[low] - (scores[up] - 1.0)[:, None])
        mass = np.multiply.outer(a[up], b[low]) * z
        net[up] += 2 * mass.sum(axis=1)
        net[low] -= 2 * mass.sum(axis=0)
        totals[group] += 2 * float(mass.sum()), float((mass * z).sum())
    return SmoothSums(net, totals)


def square_sums(at: Arrangement, scores: np.ndarray, a: np.ndarray, b: np.ndarray) -> SmoothSums:
    """Return the sums of the square loss, alpha = 2 (1 - (s_i - s_j)), from prefix moments.

    Arguments as in `squared_hinge_sums`. The rows below a row are the rest of its group, those
    above it its beginning: three running sums are enough, O(n).
    """
    net, totals = np.zeros(scores.size), np.zeros((at.group_ends.size, 2))
    start = 0
    for group, end in enumerate(at.group_ends.tolist()):
        rows = slice(start, end)
        s, a_g, b_g, below = scores[rows], a[rows], b[rows], at.below[rows] - start
        above = np.concatenate([[0], at.block_ends])[at.block[rows]] - start
        mass_a, first_a = running_sum(a_g), running_sum(a_g * s)
        mass, first = remaining_sum(b_g)[below], remaining_sum(b_g * s)[below]
        second, t = remaining_sum(b_g * s**2)[below], 1.0 - s
        u = 2 * a_g * (mass * t + first)
        v = 2 * b_g * (mass_a[above] * (1.0 + s) - first_a[above])
        net[rows] = u - v
        value = (a_g * (t**2 * mass + 2 * t * first + second)).sum()
        totals[group] = float(u.sum()), float(value)
        start = end
    return SmoothSums(net, totals)
