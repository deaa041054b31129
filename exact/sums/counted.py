"""The hinge over all pairs by counting: one sort of whole numbers, one scan, O(n log n).

Scores go to a grid of 2^k steps per unit: a positive row to T_i = floor(2^k s_i), a negative one to
B_j = floor(2^k s_j) + 2^k, both exact. The whole number ``m_ij = B_j - T_i`` is less than one step
from the pair's shortfall, so m >= 1 means z > 0 and m <= -1 means z < 0. Two things follow.

* ``alpha_ij = clip(m_ij / (2 half) + 1/2, 0, 1)`` is in the hinge's box for any scores,
  and its marginals are sums of whole numbers below 2^62: exact but for one division.
* With hard counts u_i = #{j: m_ij >= 1} and v_j = #{i: m_ij >= 1}

      sum_ij max(0, z_ij)  =  sum_j v_j s_j - sum_i u_i s_i + sum_i u_i  +  (pairs with m = 0),

  and each of the latter adds between 0 and one step, or nothing where all scores lie on the grid.

The rows of both classes are sorted together, as keys that hold place, class and row at once, so
that only the scores are gathered, and every sum is one scan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..tools.compiling import sealed
from ..tools.rounding import UNIT, gamma, is_long, unit_of
from . import loops
from .assembled import PairSums
from .swept import COMPILED_FROM, centred, hinge_roundings, swept


@dataclass(frozen=True, eq=False)
class SortedRows:
    """The rows in the order of T_i and B_j, equal ones with the negatives first."""

    keys: np.ndarray
    bits: int
    k: int
    n_neg: int
    middle: float
    reach: float

    @classmethod
    def of(cls, scores: np.ndarray, positive: np.ndarray, width: float) -> SortedRows | None:
        """Return the order of finite scores (n,), on a grid for smoothing up to `width`. None where
        the range is too wide, or the width too small, for 63-bit whole numbers."""
        n, bits = scores.size, scores.size.bit_length()
        low, high = float(scores.min()), float(scores.max())
        span, size = high - low, max(abs(low), abs(high))
        if not span + width < 2.0**40 or size > 2.0**40:
            return None
        # Places stay below 2^(60 - bits), sums of n of them below 2^62; 2^k s stays below 2^52.
        k = 59 - bits - int(np.frexp(span + 1.0 + width)[1])
        k = min(k, 51 - int(np.frexp(size)[1]) if size > 0 else k)
        if k < 8:
            return None
        scale = float(np.ldexp(1.0, k))
        keys = (np.floor(scores * scale) - np.floor(low * scale)).astype(np.int64)
        keys += np.where(positive, np.int64(0), np.int64(1 << k))
        keys <<= 1
        keys |= positive
        keys <<= bits
        keys |= np.arange(n, dtype=np.int64)
        keys.sort()
        n_neg, middle = n - int(np.count_nonzero(positive)), low + span / 2
        return cls(keys, bits, k, n_neg, middle, max(high - middle, middle - low))

    def half(self, width: float) -> int:
        """Return half of `width` in steps of the grid."""
        return round(float(np.ldexp(width, self.k - 1)))

    def holds(self, scores: np.ndarray) -> bool:
        """Whether all these scores lie on the grid, so that m = 0 says z = 0."""
        steps = np.ldexp(scores, self.k)
        return bool((steps == np.floor(steps)).all())

    def sums(self, scores: np.ndarray, width: float) -> PairSums | None:
        """Return the sums at the same scores, or None where the grid is too coarse for them. Scores
        of the long format may be given: then the value is theirs, from a float sweep."""
        n, half = self.keys.size, self.half(width)
        if width > 0 and half < 1:
            return None
        soft, hard, c = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)
        ties = loops.count(self.keys, self.bits, half, self.n_neg, soft, hard)
        whole = float(self.n_neg) * float(n - self.n_neg)
        open_ties = float(np.ldexp(ties / whole, -self.k))
        # 4.0: the largest accepted doubt about pairs at the margin, in roundoffs of the scores
        blurred = open_ties > 4.0 * UNIT * (self.reach + 1)
        # 1e-12: largest share of pairs with m = 0 that hard counts may leave out
        blurred = is_long(scores) or blurred or (half == 0 and ties > 1e-12 * whole)
        if blurred and not is_long(scores) and self.holds(scores):
            open_ties, blurred = 0.0, False  # such pairs are at their margin exactly
        if blurred and half == 0:
            return None
        soft, unit = (soft, 2.0 * half * whole) if half else (hard, whole)
        floats = sealed(scores.astype(float, copy=False))
        found = loops.spread(self.keys, self.bits, soft, hard, unit, floats, self.middle, c)
        sums, terms, active, total = (float(x) for x in found)
        value = (sums + active) / whole  # ties count as zero, which most of them are
        # Each term: the shift by the middle, the count, the product; the sum is compensated.
        chain = gamma(8) + 2 * gamma(n) ** 2
        rounding = chain * 1.001 * (terms + active) / whole + open_ties
        rounding += gamma(8) * abs(value)
        if blurred:
            value, rounding = self._swept(scores)
        slip = gamma(32) * total
        return PairSums(max(value, 0.0), c, total, total, rounding, slip, slip, gamma(8))

    def _swept(self, scores: np.ndarray) -> tuple[float, float]:
        """Return the mean hinge by a float sweep, and a bound of its rounding."""
        positive = np.empty(self.keys.size, dtype=bool)
        positive[self.keys & ((1 << self.bits) - 1)] = (self.keys >> self.bits) & 1
        t, b, size = centred(scores, positive)
        fast = not is_long(scores) and scores.size >= COMPILED_FROM
        side = swept(t, b, np.ones(t.size), np.ones(b.size), fast=fast)
        assert side.near is not None
        value, near = (float(x) / (t.size * b.size) for x in (side.value, side.near))
        rounding = hinge_roundings(scores.size, size, 0.0, unit_of(scores))[0]
        return value, rounding * min(near * (1 + 1e-9), 1.0) + gamma(4) * abs(value)

    def windows(self, width: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return positive rows, evenly spread, the negative rows by score, and the windows. Those
        are the pairs with |m| < half: the negatives from number `first` on, so many of them."""
        half, is_pos = self.half(width), (self.keys >> self.bits) & 1 == 1
        plus, minus = np.flatnonzero(is_pos), np.flatnonzero(~is_pos)
        # 1 << 15: positives whose windows are looked for: pairs are drawn from a part of more
        plus = plus[:: -(-plus.size // (1 << 15))]
        t, b = self.keys[plus] >> (self.bits + 1), self.keys[minus] >> (self.bits + 1)
        first = np.searchsorted(b, t - half, side="right")
        counts = np.searchsorted(b, t + half, side="left") - first
        rows = self.keys & ((1 << self.bits) - 1)
        # A window of no width ends before it begins.
        return rows[plus], rows[minus], first, np.maximum(counts, 0)


def counted_hinge(scores: np.ndarray, positive: np.ndarray, width: float) -> PairSums | None:
    """Return the hinge's sums over all pairs of rows of weight one, or None."""
    scores = np.ascontiguousarray(scores)
    order = SortedRows.of(scores.astype(float, copy=False), positive, width)
    return None if order is None else order.sums(scores, width)
