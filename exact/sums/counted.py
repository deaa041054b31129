"""The hinge over all pairs by counting: one sort of whole numbers, one scan, O(n log n).

Scores go to a grid of 2^k steps a unit: a positive row to T_i = floor(2^k s_i), a negative one to
B_j = floor(2^k s_j) + 2^k, both exact. The whole number ``m_ij = B_j - T_i`` is less than one step
from the pair's shortfall, so m >= 1 means z > 0 and m <= -1 means z < 0. Two things follow.

* ``alpha_ij = clip(m_ij / (2 half) + 1/2, 0, 1)`` is in the hinge's box whatever the scores were,
  and its marginals are sums of whole numbers below 2^62: exact but for one division.
* With hard counts u_i = #{j: m_ij >= 1} and v_j = #{i: m_ij >= 1}

      sum_ij max(0, z_ij)  =  sum_j v_j s_j - sum_i u_i s_i + sum_i u_i  +  (pairs with m = 0),

  and each of the latter adds between 0 and one step, or nothing where all scores lie on the grid.

The rows of both classes are sorted together, as keys that hold place, class and row at once, so
that only the scores are gathered, and every sum is one scan. The functions at the end are the
reference, in numpy's passes; the loops of `counted_compiled` return the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..tools.rounding import UNIT, gamma, is_long, unit_of
from .assembled import PairSums
from .swept import COMPILED_FROM, centred, compensated, hinge_roundings, plain_sum, swept

# The largest accepted doubt about pairs at the margin, in roundoffs of the scores' size.
COARSE = 4.0

TIED = 1e-12  # Largest share of pairs with m = 0 that hard counts may leave out.


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
        """Return the order of finite scores (n,), on a grid for smoothing up to `width`.

        None where the range is too wide, or the width too small, for 63-bit whole numbers.
        """
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
        from . import counted_compiled as loops

        scale = float(np.ldexp(1.0, k))
        keys, spare = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        base = float(np.floor(low * scale))
        loops.pack(scores, positive, scale, base, 1 << k, bits, keys)
        if not loops.sort_keys(keys, spare):
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
        """Return the sums at the same scores, or None where the grid is too coarse for them.

        Scores of the long format may be given: then the value is theirs, from a float sweep.
        """
        from . import counted_compiled as loops

        n, half = self.keys.size, self.half(width)
        if width > 0 and half < 1:
            return None
        soft, hard, c = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)
        ties = loops.count(self.keys, self.bits, half, self.n_neg, soft, hard)
        whole = float(self.n_neg) * float(n - self.n_neg)
        open_ties = float(np.ldexp(ties / whole, -self.k))
        blurred = open_ties > COARSE * UNIT * (self.reach + 1)
        blurred = is_long(scores) or blurred or (half == 0 and ties > TIED * whole)
        if blurred and not is_long(scores) and self.holds(scores):
            open_ties, blurred = 0.0, False  # such pairs are at their margin exactly
        if blurred and half == 0:
            return None
        soft, unit = (soft, 2.0 * half * whole) if half else (hard, whole)
        floats = scores.astype(float, copy=False)
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
        value, near = (float(x) / (t.size * b.size) for x in (side.value, side.near))
        rounding = hinge_roundings(scores.size, size, 0.0, unit_of(scores))[0]
        return value, rounding * min(near * (1 + 1e-9), 1.0) + gamma(4) * abs(value)

    def drawn(
        self, width: float, size: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Return up to `size` pairs with |m| < half, spread evenly, and how many there are in
        all."""
        from . import counted_compiled as loops

        n_pos, half = self.keys.size - self.n_neg, self.half(width)
        rows = np.empty(n_pos, dtype=np.int64), np.empty(self.n_neg, dtype=np.int64)
        first, ends = np.empty(n_pos, dtype=np.int64), np.empty(n_pos, dtype=np.int64)
        held = int(loops.windows(self.keys, self.bits, half, *rows, first, ends))
        if held <= size:
            picks = np.arange(held)
        else:
            parts = (np.arange(size) + rng.random(size)) * (held / size)
            picks = np.minimum(parts.astype(np.int64), held - 1)
        i, j = np.empty(picks.size, dtype=np.int64), np.empty(picks.size, dtype=np.int64)
        loops.pick(picks, *rows, first, ends, i, j)
        return i, j, held


def counted_hinge(scores: np.ndarray, positive: np.ndarray, width: float) -> PairSums | None:
    """Return the hinge's sums over all pairs of rows of weight one, or None."""
    scores = np.ascontiguousarray(scores)
    order = SortedRows.of(scores.astype(float, copy=False), positive, width)
    return None if order is None else order.sums(scores, width)


def pack(
    scores: np.ndarray,
    positive: np.ndarray,
    scale: float,
    base: float,
    margin: int,
    bits: int,
    keys: np.ndarray,
) -> None:
    """Fill keys[r] with (floor(scale s_r) - base, plus the margin if negative), class and row r."""
    place = (np.floor(scores * scale) - base).astype(np.int64)
    side = positive.astype(np.int64)
    place += margin * (1 - side)
    keys[:] = (((place << 1) | side) << bits) | np.arange(scores.size)


def sort_keys(keys: np.ndarray, spare: np.ndarray) -> bool:
    """Sort whole numbers in place; `spare` is not needed, and all are sorted."""
    keys.sort()
    return True


def count(
    keys: np.ndarray, bits: int, half: int, n_neg: int, soft: np.ndarray, hard: np.ndarray
) -> int:
    """Fill the sums of clip(m + half, 0, 2 half), and the numbers of m >= 1, of each key in order.

    m = B - T on the grid; for half = 0 `soft` is left alone. Returns the number of pairs with
    m = 0.
    """
    place, side = keys >> (bits + 1), (keys >> bits) & 1
    is_pos = side == 1
    pos, neg = _before(side), _before(1 - side)
    hard[:] = np.where(is_pos, n_neg - neg[:-1], pos[:-1])
    new = np.append(True, place[1:] != place[:-1])
    first = np.maximum.accumulate(np.where(new, np.arange(keys.size), 0))
    ties = int((side * (neg[:-1] - neg[first])).sum())
    if half == 0:
        return ties
    high = np.searchsorted(place, place + half, side="left")
    low = np.searchsorted(place, place - half, side="right")
    sum_pos, sum_neg = _before(side * place), _before((1 - side) * place)
    inside_pos, inside_neg = pos[high] - pos[low], neg[high] - neg[low]
    full = np.where(is_pos, n_neg - neg[low] - inside_neg, pos[low])
    part = np.where(
        is_pos,
        sum_neg[high] - sum_neg[low] - inside_neg * place,
        inside_pos * place - (sum_pos[high] - sum_pos[low]),
    )
    soft[:] = (2 * full + np.where(is_pos, inside_neg, inside_pos)) * half + part
    return ties


def _before(x: np.ndarray) -> np.ndarray:
    """Return the sums of the whole numbers before each place: (n + 1,)."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(x)])


def spread(
    keys: np.ndarray,
    bits: int,
    soft: np.ndarray,
    hard: np.ndarray,
    unit: float,
    scores: np.ndarray,
    middle: float,
    c: np.ndarray,
) -> tuple[float, float, int, float]:
    """Fill c with soft / unit in the order of rows, signed; negatives get the minus.

    Returns the sum of z over the pairs with m >= 1 less their number, the sum of the absolute
    terms that it was made of, that number, and the sum of c over the positive rows.
    """
    side, row = (keys >> bits) & 1, keys & ((1 << bits) - 1)
    sign, mass = 2.0 * side - 1.0, soft / unit
    c[row] = sign * mass
    terms = -sign * (hard.astype(float) * (scores[row] - middle))
    active = int((side * hard).sum())
    return compensated(terms), plain_sum(np.abs(terms)), active, compensated(mass * side)


def windows(
    keys: np.ndarray,
    bits: int,
    half: int,
    rows_pos: np.ndarray,
    rows_neg: np.ndarray,
    first: np.ndarray,
    ends: np.ndarray,
) -> int:
    """Fill the rows of each class in order and, for every positive, its pairs with |m| < half.

    They are the negatives from number `first` on, as many as `ends` grows by; returns their sum.
    """
    is_pos = (keys >> bits) & 1 == 1
    row, place = keys & ((1 << bits) - 1), keys >> (bits + 1)
    rows_pos[:], rows_neg[:] = row[is_pos], row[~is_pos]
    t, b = place[is_pos], place[~is_pos]
    first[:] = np.searchsorted(b, t - half, side="right")
    held = np.searchsorted(b, t + half, side="left") - first
    ends[:] = np.cumsum(np.maximum(held, 0))  # a window of no width ends before it begins
    return int(ends[-1]) if ends.size else 0


def pick(
    picks: np.ndarray,
    rows_pos: np.ndarray,
    rows_neg: np.ndarray,
    first: np.ndarray,
    ends: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
) -> None:
    """Fill the rows of the pairs with the ascending numbers `picks`."""
    at = np.searchsorted(ends, picks, side="right")
    start = np.where(at > 0, ends[at - 1], 0)
    i[:], j[:] = rows_pos[at], rows_neg[first[at] + picks - start]
