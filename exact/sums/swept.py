"""Sums over ALL positive-negative pairs without the pairs: one sort, one sweep, O(n log n).

*Floats.* With t_i = s_i - 1 for a positive row and b_j = s_j for a negative one, the shortfall of
the pair is z_ij = b_j - t_i, and it is active exactly if b_j > t_i. After sorting, the active
partners of a row are a prefix or a suffix, and every sum over them is a running sum of moments
[Nonlinear, Algorithm 2], compensated, so that its rounding does not grow with n. Both sides compare
the same floats: if ties rounded differently, the marginals would belong to no alpha.

*The hinge by counting.* On a grid of 2^k steps per unit T_i = floor(2^k s_i) and
B_j = floor(2^k s_j) + 2^k are exact. The whole number m_ij = B_j - T_i is less than one step from
the shortfall, so m >= 1 means z > 0 and m <= -1 means z < 0. Hence alpha_ij = clip(m_ij / (2 half)
+ 1/2, 0, 1) is in the hinge's box for any scores, and its marginals are sums of whole numbers below
2^62: exact but for one division. With hard counts u_i = #{j: m_ij >= 1}, v_j = #{i: m_ij >= 1}

    sum_ij max(0, z_ij)  =  sum_j v_j s_j - sum_i u_i s_i + sum_i u_i  +  (pairs with m = 0),

and each of the latter adds between 0 and one step, or nothing where all scores lie on the grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..tools.compiling import sealed
from ..tools.rounding import LONG_UNIT, UNIT, gamma, is_long, short_chain, short_sum, unit_of
from ..tools.threads import in_parts, workers
from . import loops, plain

LOOKED_AT = 1 << 13  # positives whose windows are looked for: pairs are drawn from a part of more


@dataclass(frozen=True, eq=False)
class PairSums:
    """The result of one evaluation at given scores: means over pairs, and bounds of rounding."""

    value: float  # the mean loss
    c: np.ndarray  # (n,) the summed alpha of a row's pairs above, minus that of those below
    conjugate: float  # the mean of dual(alpha)
    total: float  # the mean of alpha
    value_rounding: float
    rounding: float  # of c, the sum of absolute errors
    conjugate_rounding: float
    relative: float | None = None  # rounding of each entry of c, where known
    excess: float = 0.0  # what bins may have added to the value


@dataclass(frozen=True, eq=False)
class SideSums:
    """Value and marginals of the two classes, in their own order, before normalisation."""

    value: np.floating | float
    u: np.ndarray
    v: np.ndarray
    near: float | None = None  # Hinge: the mass of all pairs that may be active, with rounding.


def centred(scores: np.ndarray, places: Any) -> tuple[np.ndarray, np.ndarray, float]:
    """Return t = s - 1 of the positives, b = s of the negatives, and their largest magnitude."""
    # Pairs do not see the middle of the range; without it running sums lose fewer digits.
    shifted = scores - (scores.max() + scores.min()) / 2
    t, b = (shifted[rows] for rows in places)
    t -= 1.0
    return t, b, float(max(np.abs(t).max(), np.abs(b).max()))


def both_orders(t: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what sorts t (p,) and b (q,). Ties come in the same order from one thread or two."""
    # 32: numbers that a pass over rows takes in the time that sorting takes for one
    jobs = min(2, workers(32 * 2 * min(t.size, b.size)))
    first, second = in_parts(np.argsort, (t, b), jobs)
    return first, second


def swept(
    t: np.ndarray, b: np.ndarray, weight_t: np.ndarray, weight_b: np.ndarray,
    width: float = 0.0, squared: bool = False,
) -> SideSums:  # fmt: skip
    """Return the summed hinge, alpha = clip(z / width + 1/2, 0, 1), or its square, alpha = 2 z."""
    # 100: rows from which the loop is quicker than numpy's passes
    fast = t.size + b.size >= 100 and not is_long(t)
    run = loops.sweep if fast else plain.sweep
    t_order, b_order = both_orders(t, b)
    a = weight_t[t_order].astype(t.dtype, copy=False)
    c = weight_b[b_order].astype(t.dtype, copy=False)
    # Without rounding these pairs, too, might be active: the value's rounding pays for them.
    slip = 8 * unit_of(t) * (float(max(np.abs(t).max(), np.abs(b).max())) + 1)
    own = np.empty_like(t), np.empty_like(b)
    value, near = run(t[t_order], b[b_order], a, c, float(width), slip, squared, *own)
    u, v = np.empty_like(t), np.empty_like(b)
    u[t_order], v[b_order] = own
    return SideSums(value, u, v, None if squared else float(near) * (1 + 1e-9))


def square_sides(
    t: np.ndarray, b: np.ndarray, weight_t: np.ndarray, weight_b: np.ndarray
) -> SideSums:
    """Return the summed square loss, alpha = 2 z, from class means and variances. [SHT, Prop. 1]"""
    mass_t, mass_b = weight_t.sum(dtype=np.longdouble), weight_b.sum(dtype=np.longdouble)
    mean_t, mean_b = short_sum(weight_t * t) / mass_t, short_sum(weight_b * b) / mass_b
    spread_t = short_sum(weight_t * (t - mean_t) ** 2) / mass_t
    spread_b = short_sum(weight_b * (b - mean_b) ** 2) / mass_b
    value = mass_t * mass_b * ((mean_b - mean_t) ** 2 + spread_t + spread_b)
    u = 2 * weight_t * mass_b * (mean_b - t)
    return SideSums(value, u, 2 * weight_b * mass_t * (b - mean_t))


def hinge_sums(pairs: Any, scores: np.ndarray, width: float) -> PairSums:
    if pairs.weight is None:
        found = counted_hinge(scores, pairs.positive, width)
        if found is not None:
            return found
    t, b, size = centred(scores, pairs.places)
    side = swept(t, b, *pairs.sides, width=width)
    value_rounding, rounding = hinge_roundings(pairs.n, size, width, unit_of(scores))
    counts = pairs.weight is None and width == 0
    return assembled(pairs, side, value_rounding, None if counts else rounding, linear=True)


def quadratic_sums(pairs: Any, scores: np.ndarray, square: bool) -> PairSums:
    t, b, size = centred(scores, pairs.places)
    a, c = pairs.sides
    side = square_sides(t, b, a, c) if square else swept(t, b, a, c, squared=True)
    slips = squared_roundings(pairs.n, size, unit_of(scores), moments=square)
    return assembled(pairs, side, *slips, linear=False)


def assembled(
    pairs: Any, side: SideSums, value_rounding: float, rounding: float | None, linear: bool
) -> PairSums:
    """Return the sums of both classes in the order of the rows, normalised."""
    (plus, minus), mass = pairs.places, pairs.mass
    c, short = np.empty(pairs.n), float(mass)
    divisor = short if short == mass else mass  # of whole weights: then one rounding, no long one
    c[plus], c[minus] = side.u / divisor, -side.v / divisor
    total = side.u.sum(dtype=np.longdouble) / mass
    conjugate = float(total if linear else total - side.value / mass)
    value = max(float(side.value / mass), 0.0)  # below zero by rounding only
    if side.near is not None:
        # Only pairs that may be active have rounded: the bound shrinks with their share.
        value_rounding *= min(float(side.near / mass) * (1 + 1e-9), 1.0)
    value_rounding += gamma(4) * abs(value)
    relative = gamma(8) if rounding is None else None
    if rounding is None:
        rounding = 2 * gamma(8) * float(total)
    rounding += gamma(4) * float(np.abs(c).sum())
    conjugate_rounding = rounding + gamma(4) * (abs(float(total)) + abs(value))
    slips = value_rounding, rounding, conjugate_rounding + (0.0 if linear else value_rounding)
    return PairSums(value, c, conjugate, float(total), *slips, relative=relative)


def hinge_roundings(n: int, size: float, width: float, unit: float = UNIT) -> tuple[float, float]:
    """Return bounds of the rounding in the hinge's value and marginals (sum of absolute errors),
    for weights that add up to one in each class; `size` bounds |t| and |b|."""
    chain, ramp = _chain(n, unit), 4 * (size + width) / width if width > 0 else 0.0
    return chain * 4 * (size + 1), chain * (4 + 2 * ramp)


def squared_roundings(
    n: int, size: float, unit: float = UNIT, moments: bool = False
) -> tuple[float, float]:
    """Return the same of the squared hinge, or of the square loss, whose sums are `moments`."""
    chain = _chain(n, unit)
    if moments:  # these are added up by `short_sum`
        chain += gamma(short_chain(n) + 16, unit)
    return chain * 12 * (size + 1) ** 2, chain * 16 * (size + 1)


def _chain(n: int, unit: float) -> float:
    """Return the relative rounding of a sum over one class of running sums over the other. A
    running sum has at most n terms, in the long format or compensated (error of order (n u)^2
    then), the sum of it over the other class n more."""
    return gamma(2 * n + 16, LONG_UNIT) + gamma(16, unit) + (n * unit) ** 2


@dataclass(frozen=True, eq=False)
class SortedRows:
    """The rows in the order of T_i and B_j, negatives first: every sum is one scan of the keys."""

    keys: np.ndarray  # the row in the lowest `bits`, then its class (1: positive), then its place
    bits: int
    k: int  # the grid has 2^k steps per unit
    n_neg: int
    middle: float  # of the range of the scores
    reach: float  # how far the scores are from it at most

    @classmethod
    def of(cls, scores: np.ndarray, positive: np.ndarray, width: float) -> SortedRows | None:
        """Return the order of scores (n,) for widths up to `width`; None if 63 bits are too few."""
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
        keys <<= bits + 1
        keys += np.where(positive, np.int64(1 << bits), np.int64(1 << (k + bits + 1)))
        keys += np.arange(n, dtype=np.int64)
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
        """Return the sums at the same scores; None where the width is below one step. Hard counts
        give the value, unless too much of it is in pairs with m = 0 (`blurred`) or the scores have
        the long format: then a float sweep does, or without a width None is returned."""
        n, half = self.keys.size, self.half(width)
        if width > 0 and half < 1:
            return None
        soft, hard, c = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)
        ties = loops.count(self.keys, self.bits, half, self.n_neg, soft, hard)
        whole = float(self.n_neg) * float(n - self.n_neg)
        open_ties = float(np.ldexp(ties / whole, -self.k))  # what these pairs may add to the value
        # 4.0: the largest accepted doubt about pairs at the margin, in roundoffs of the scores
        blurred = open_ties > 4.0 * UNIT * (self.reach + 1)
        # 1e-12: largest share of pairs with m = 0 that hard counts may leave out
        blurred = is_long(scores) or blurred or (half == 0 and ties > 1e-12 * whole)
        if blurred and not is_long(scores) and self.holds(scores):
            open_ties, blurred = 0.0, False  # such pairs are at their margin exactly
        if blurred and half == 0:
            return None
        soft, per_one = (soft, 2.0 * half * whole) if half else (hard, whole)
        floats = sealed(scores.astype(float, copy=False))
        found = loops.spread(self.keys, self.bits, soft, hard, per_one, floats, self.middle, c)
        sums, terms, active, total = (float(x) for x in found)
        value = (sums + active) / whole  # ties count as zero, which most of them are
        # Each term: the shift by the middle, the count, the product; the sum is compensated.
        chain = gamma(8) + 2 * gamma(n) ** 2
        rounding = chain * 1.001 * (terms + active) / whole + open_ties + gamma(8) * abs(value)
        if blurred:
            positive = np.empty(n, dtype=bool)
            positive[self.keys & ((1 << self.bits) - 1)] = (self.keys >> self.bits) & 1
            t, b, size = centred(scores, (np.flatnonzero(positive), np.flatnonzero(~positive)))
            side: Any = swept(t, b, np.ones(t.size), np.ones(b.size))
            value, near = (float(x) / whole for x in (side.value, side.near))
            rounding = hinge_roundings(n, size, 0.0, unit_of(scores))[0]
            rounding = rounding * min(near * (1 + 1e-9), 1.0) + gamma(4) * abs(value)
        slips = rounding, gamma(32) * total, gamma(32) * total
        return PairSums(max(value, 0.0), c, total, total, *slips, relative=gamma(8))

    def windows(self, width: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return positive rows, evenly spread, the negative rows by score, and the windows of pairs
        with |m| < half: the number of the first negative, and how many there are."""
        half, is_pos = self.half(width), (self.keys >> self.bits) & 1 == 1
        plus, minus = np.flatnonzero(is_pos), np.flatnonzero(~is_pos)
        plus = plus[:: -(-plus.size // LOOKED_AT)]
        t, b = self.keys[plus] >> (self.bits + 1), self.keys[minus] >> (self.bits + 1)
        first = np.searchsorted(b, t - half, side="right")
        counts = np.searchsorted(b, t + half, side="left") - first
        rows = self.keys & ((1 << self.bits) - 1)
        # A window of no width ends before it begins.
        return rows[plus], rows[minus], first, np.maximum(counts, 0)


def counted_hinge(scores: np.ndarray, positive: np.ndarray, width: float) -> PairSums | None:
    """Return the hinge's sums over all pairs of rows of weight one, or None for the float sweep."""
    scores = np.ascontiguousarray(scores)
    order = SortedRows.of(scores.astype(float, copy=False), positive, width)
    return None if order is None else order.sums(scores, width)
