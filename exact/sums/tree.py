"""Sums over ordered pairs without the pairs: a merge tree over the blocks of equal keys.

Rows of one group and one key make a block. In a binary tree over the blocks of a group every pair
(i, j) with key_i > key_j lies in exactly one merge, that of its lowest common ancestor, where row i
stands in the upper half: n log2(blocks of a group) steps for all.

The pair (i, j) weighs sum over terms of coefficient * a_i * b_j, divided by the mass of all pairs,
or of its group's: one term for weights a_i b_j of moderate size, terms of `LIMB` bits for larger
ones, and two for gains, a_i b_j (gain_i - gain_j).

*Hinge.* As in `swept`, with S = floor(2^k s), m_ij = S_j - S_i + 2^k and hard counts u_i, v_j

    sum a_i b_j max(0, z_ij) = sum hard - sum_i u_i s_i + sum_j v_j s_j + (pairs with m = 0),

where each of the latter adds between 0 and one step times its weight. The sum of the parts of a
split weight rounds as the upper and the lower sums of the row do, not as their difference.

*Squared hinge.* With t_i = s_i - 1 every sum is one of products >= 0 of z = s_j - t_i > 0, in
compensated running sums: relative errors do not grow with n. The errors of t do what errors of
scores do: the marginals are still those of an alpha >= 0.

*Square.* Moments of scores centred in their group: sums of terms a_i b_j (1 + |s_i| + |s_j|)^2 at
most, which the pairs' weights, adding up to one, leave below (1 + 2 max|s|)^2."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from ..errors import InputError, NoPairError
from ..tools.rounding import LONG_UNIT, UNIT, gamma, short_chain, short_sum
from . import loops
from .swept import PairSums

SMALL = 32  # Up to so many rows, visiting the pairs one by one takes fewer steps than merging.
MERGE, LIST, SKIP = 0, 1, 2  # What a loop does at a merge; see `Arrangement.turns`.
LIMB = 18  # Bits of a part of a weight that is split.
LARGEST_MASS = 1 << 40  # Weights are split unless a row's pairs weigh less than this in every term.
# Least half width in steps of a coarse grid. Where margins are evenly spread the pairs at their
# margin blur the value by 24 / (4 STEPS^2) of what smoothing costs: by a fortieth.
STEPS = 16
NO_PAIR = "no pair is ordered: a group needs an upper row above a lower one, both with weight"
TOO_LARGE = "gains times weights are too large: use smaller whole numbers"


@dataclass(frozen=True, eq=False)
class Arrangement:
    """The rows by group, larger keys first, and the merges over them."""

    order: np.ndarray
    group: np.ndarray
    group_ends: np.ndarray
    block: np.ndarray
    block_ends: np.ndarray

    @cached_property
    def merges(self) -> np.ndarray:
        """Places lo, mid, hi of each merge of the tree, and its group: (m, 4), both halves before
        the whole. The rows of lo .. mid - 1 are above those of mid .. hi - 1."""
        starts, ends = starts_of(self.block_ends), self.block_ends
        group = self.group[starts]
        found = [np.empty((0, 4), dtype=np.int64)]
        number = np.arange(starts.size) - np.searchsorted(group, group)
        while (left := np.flatnonzero((number[:-1] % 2 == 0) & (group[:-1] == group[1:]))).size:
            found.append(np.stack([starts[left], ends[left], ends[left + 1], group[left]], axis=1))
            starts, ends = np.delete(starts, left + 1), np.delete(ends, left)
            group, number = np.delete(group, left + 1), np.delete(number, left + 1) // 2
        merges = np.concatenate(found)
        # Halves first, and small ranges of rows together, as in a recursion.
        return np.ascontiguousarray(merges[np.lexsort((-merges[:, 0], merges[:, 2]))])

    @cached_property
    def turns(self) -> np.ndarray:
        """What to do at each merge: `MERGE`, `LIST` all pairs of its range, or `SKIP`: (m,). Merges
        within a range of at most `SMALL` rows are left to the largest such range."""
        lo, hi = self.merges[:, 0], self.merges[:, 2]
        turns = np.full(lo.size, MERGE, dtype=np.int64)
        small = np.flatnonzero(hi - lo <= SMALL)
        small = small[np.lexsort((-hi[small], lo[small]))]
        # A range comes after all that hold it: if it reaches no further it lies within one.
        reached = np.maximum.accumulate(np.concatenate([[0], hi[small]]))[:-1]
        turns[small] = np.where(hi[small] > reached, LIST, SKIP)
        return turns

    @classmethod
    def of(cls, group: np.ndarray, key: np.ndarray, upper: np.ndarray) -> Arrangement:
        """Return the arrangement of rows by group (n,) and key (n,), both whole numbers."""
        # A stable sort by key alone is several times quicker than one by both.
        one = group.size == 0 or int(group.max()) == 0
        order = np.argsort(-key, kind="stable") if one else np.lexsort((-key, group))
        group, key, upper = group[order], key[order], upper[order]
        new_group = np.diff(group, prepend=-1) != 0
        firsts = np.flatnonzero(new_group | (np.diff(key, prepend=0) != 0))
        gives = np.logical_or.reduceat(upper, firsts)
        # Keys join the block above if no row there can be an upper one.
        starts = firsts[new_group[firsts] | np.append(True, gives[:-1])]
        ends = np.append(starts[1:], group.size)
        block = np.repeat(np.arange(starts.size), ends - starts)
        group_ends = np.append(np.flatnonzero(new_group)[1:], group.size)
        return cls(order, group, group_ends, block, ends)

    @cached_property
    def below(self) -> np.ndarray:
        """The first place of lower rows, for each place: (n,)."""
        return self.block_ends[self.block]

    @cached_property
    def end(self) -> np.ndarray:
        """The place behind the group, for each place: (n,)."""
        return self.group_ends[self.group]

    def by_score(self, scores: np.ndarray) -> np.ndarray:
        """Return the places of each block, sorted by `scores` (n,), which are given by place."""
        if self.block_ends.size == scores.size:
            return np.arange(scores.size)
        rank = np.argsort(scores)
        for bits in range(0, self.block_ends.size.bit_length(), 16):  # sorts of short numbers
            digit = (self.block[rank] >> bits).astype(np.uint16)
            rank = rank[np.argsort(digit, kind="stable")]
        return rank

    @cached_property
    def turned(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What `group_ends`, `block` and `block_ends` are with the rows in the other order."""
        n, block = self.block.size, self.block_ends.size - 1 - self.block[::-1]
        return n - starts_of(self.group_ends)[::-1], block, n - starts_of(self.block_ends)[::-1]


def starts_of(ends: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], ends[:-1]])


@dataclass(frozen=True, eq=False)
class Term:
    """One product of row weights; arrays are by place of the arrangement."""

    coefficient: int
    a: np.ndarray
    b: np.ndarray


@dataclass(frozen=True, eq=False)
class PairWeights:
    """The weights of ordered pairs."""

    terms: tuple[Term, ...]
    whole: tuple[Term, ...]  # before they are split
    largest: int  # bounds what the pairs of one row weigh in a term
    mass: int
    inflation: float
    factor: np.ndarray  # of each group
    shared: bool

    @classmethod
    def of(
        cls, at: Arrangement, a: np.ndarray, b: np.ndarray,
        gain: np.ndarray | None = None, share: np.ndarray | None = None,
    ) -> PairWeights:  # fmt: skip
        """Return the weights of whole-number row weights, all by place."""
        whole = (Term(1, a, b),)
        if gain is not None and share is not None:
            raise InputError("give gains or shares of the groups, not both")
        if gain is not None:
            if max(int(a.max()), int(b.max())) * int(gain.max()) >= LARGEST_MASS:
                raise InputError(TOO_LARGE)  # before the products: they could overflow unseen
            whole = (Term(1, a * gain, b), Term(-1, a, b * gain))
        terms, largest = whole, max(_largest_mass(at, term) for term in whole)
        if largest >= LARGEST_MASS:
            if gain is not None:
                raise InputError(TOO_LARGE)
            terms = tuple(_split(whole[0]))
            largest = max((_largest_mass(at, term) for term in terms), default=0)
            if largest >= LARGEST_MASS << 8:
                raise InputError("so many rows of such large weights have no exact sums")
        masses, starts = [], starts_of(at.group_ends)
        for term in terms:  # in two parts, neither of which can overflow
            pairs = term.a * partners(at, term.b)
            high, low = (np.add.reduceat(x, starts) for x in (pairs >> 32, pairs & 0xFFFFFFFF))
            both = zip(high.tolist(), low.tolist(), strict=True)
            masses.append([term.coefficient * ((x << 32) + y) for x, y in both])
        by_group = [sum(parts) for parts in zip(*masses, strict=True)]
        mass = sum(by_group)
        if mass == 0:
            raise NoPairError(NO_PAIR)
        found = terms, whole, largest, mass, sum(abs(sum(part)) for part in masses) / mass
        if share is None:
            return cls(*found, np.full(len(by_group), 1 / mass), shared=False)
        held = np.array([m > 0 for m in by_group])
        whole_share = float(share[held].sum(dtype=np.longdouble))
        if not whole_share > 0:
            raise InputError("no group with an ordered pair has a share above 0")
        of_groups = zip(share.tolist(), by_group, strict=True)
        factor = np.array([part / (whole_share * m) if m else 0.0 for part, m in of_groups])
        return cls(*found, factor, shared=True)


def partners(at: Arrangement, b: np.ndarray) -> np.ndarray:
    """Return the total weight of the rows below each place: the exact sum of b."""
    running = np.concatenate([[0], np.cumsum(b)])
    return running[at.end] - running[at.below]


def rows_above(at: Arrangement, a: np.ndarray) -> np.ndarray:
    """Return the total weight of the rows above each place: the exact sum of a."""
    running = np.concatenate([[0], np.cumsum(a)])
    return running[starts_of(at.block_ends)[at.block]] - running[starts_of(at.group_ends)[at.group]]


def _largest_mass(at: Arrangement, term: Term) -> int:
    """Return a bound of the total weight of the pairs of one row."""
    most = 0
    for one, other in ((term.a, term.b), (term.b, term.a)):
        # int64 might overflow
        sums = np.add.reduceat(other.astype(float), starts_of(at.group_ends))
        most = max(most, int(one.max()) * (int(float(sums.max()) * (1 + 1e-6)) + 1))
    return most


def _split(term: Term) -> list[Term]:
    """Return terms with weights of `LIMB` bits that add up to a term with large ones."""
    mask, limbs = (1 << LIMB) - 1, []
    for values in (term.a, term.b):
        parts = [(e, (values >> e) & mask) for e in range(0, 54, LIMB)]
        limbs.append([(e, part) for e, part in parts if part.any()])
    return [Term(1 << (e + f), a, b) for (e, a), (f, b) in product(*limbs)]


@dataclass(frozen=True, eq=False)
class HingeCounts:
    """Whole-number sums of the hinge over one term, nothing rounded: the net sums by place of
    clip(m + half, 0, 2 half) and of 1[m >= 1], and the totals of each group, in two parts."""

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
    """Return the sums at places S (n,) on a grid, where `margin` is 2^k."""
    soft, hard = np.zeros((2, places.size), dtype=np.int64)
    sums = soft, hard, np.zeros((at.group_ends.size, 6), dtype=np.int64)
    tree, rank = (at.merges, at.turns, at.below), at.by_score(places)
    loops.hinge(*tree, rank, places, a, b, margin, half, sums)
    return HingeCounts(*sums)


def hinge_counts_by_counters(
    at: Arrangement, places: np.ndarray, a: np.ndarray, b: np.ndarray, margin: int, half: int
) -> HingeCounts:
    """Return the same, from places >= 0 that are not large. The tree holds 34 bytes for each of the
    places up to the largest, and is emptied twice a group."""
    top = int(places.max()) + 1
    depth = max(1, -(-top.bit_length() // loops.BITS))
    nodes = [(top >> (loops.BITS * (level + 1))) + 1 for level in range(depth)]
    first = np.concatenate([[0], np.cumsum(nodes)[:-1]])
    tree = np.zeros((sum(nodes), 2 * loops.FAN), dtype=np.int64)
    after = -np.triu(np.ones((loops.FAN, loops.FAN), dtype=np.int64), 1)

    def upper(group_ends: Any, block_ends: Any, places: Any, a: Any, b: Any) -> Any:
        soft, hard = np.zeros((2, places.size), dtype=np.int64)
        sums = soft, hard, np.zeros((group_ends.size, 6), dtype=np.int64)
        last_block = np.searchsorted(block_ends, group_ends, side="right")
        one_way = last_block, block_ends, places, a, b, top, margin, half
        loops.counters(*one_way, tree, first, depth, after, sums)
        return sums

    soft, hard, totals = upper(at.group_ends, at.block_ends, places, a, b)
    turned = (np.ascontiguousarray(x[::-1]) for x in (top - 1 - places, b, a))
    lower_soft, lower_hard, _ = upper(*at.turned[::2], *turned)
    return HingeCounts(soft - lower_soft[::-1], hard - lower_hard[::-1], totals)


def placements(
    at: Arrangement, scores: np.ndarray, a: np.ndarray, b: np.ndarray, tolerance: float
) -> np.ndarray:
    """Return what each row's concordant (s_i - s_j > tolerance) and tied partners weigh, below and
    above it: (4, n). Float subtraction is monotone: the counts are those of a double loop."""
    found, rank = np.zeros((4, scores.size), dtype=np.int64), at.by_score(scores)
    by_rank = rank, scores[rank], a[rank], b[rank]
    loops.placements(at.merges, *by_rank, float(tolerance), found)
    return found


def ordered_hinge(
    at: Arrangement, weights: PairWeights, scores: np.ndarray, width: float, binned: bool = False
) -> PairSums | None:
    """Return the hinge's sums over ordered pairs, on a coarse grid if `binned` and quicker."""
    s = scores[at.order]
    fine, smooth = _grid(weights, s, 0.0), _grid(weights, s, width)
    if fine is None or smooth is None:
        return None
    coarse = _coarse_grid(at.group_ends.size, s, width, smooth[0]) if binned else None
    k, half = coarse or smooth
    exact = counts = _counts(at, weights, s, k, half, coarse is not None)
    # Large weights leave few bits for the soft sums' grid: hard counts get one of their own.
    # 32: least bits a unit of the grid: with fewer, pairs at their margin blur the value
    if coarse is None and k < 32 and k < fine[0]:
        k = fine[0]
        exact = _counts(at, weights, s, k, 0)
    factor = weights.factor if weights.factor.size == 1 else weights.factor[at.group]
    hard = _combined(weights, [found.hard for found in exact])
    net, active = hard, _total(weights, exact, 1)
    total = active
    if half:
        net = _combined(weights, [found.soft for found in counts]) / (2.0 * half)
        total = _total(weights, counts, 0) / (2.0 * half)
    c = np.empty(s.size)
    c[at.order] = factor * net.astype(float)
    middle = (float(s.min()) + float(s.max())) / 2
    # On a coarse grid the pairs at their margin cost far more than the rounding of a float.
    long, unit = (np.float64, UNIT) if coarse else (np.longdouble, LONG_UNIT)
    terms = hard.astype(long) * (s.astype(long, copy=False) - middle) * factor
    size, moment = float(short_sum(np.abs(terms))), float(short_sum(terms))
    value = active - moment
    rounding = gamma(short_chain(s.size) + 16, unit) * (size + active) * 1.001
    rounding += gamma(8) * (active + abs(moment) + abs(value))
    if len(weights.terms) > 2:  # weights that are split: a row's net sum rounds as its parts do
        reach = max(float(s.max()) - middle, middle - float(s.min()))
        rounding += gamma(len(weights.terms) + 2, LONG_UNIT) * 2 * active * reach * 1.001
    rounding += float(np.ldexp(_total(weights, exact, 2), -k)) * (1 + gamma(16))
    # Each marginal rounds some ten times: to a float, over terms, by the division and the factor.
    slip = (gamma(24) + gamma(short_chain(s.size), LONG_UNIT)) * total
    return PairSums(max(value, 0.0), c, total, total, rounding, 2 * slip, slip)


def _counts(
    at: Arrangement, weights: PairWeights, s: np.ndarray, k: int, half: int, coarse: bool = False
) -> list[HingeCounts]:
    places = np.floor(np.ldexp(s, k))
    places = (places - places.min()).astype(np.int64)
    run = hinge_counts_by_counters if coarse else hinge_counts
    return [run(at, places, term.a, term.b, 1 << k, half) for term in weights.terms]


def _grid(weights: PairWeights, s: np.ndarray, width: float) -> tuple[int, int] | None:
    """Return k and the half width in steps, so that no whole number reaches 2^62, or None. Soft
    sums are below mass * 2^k * (range + 1 + width), hard ones below the mass."""
    low, high = float(s.min()), float(s.max())
    span, size = high - low, max(abs(low), abs(high))
    if width > 0:
        k = _steps(span, size, weights.largest, width)
        half = 0 if k is None else round(float(np.ldexp(width, k - 1)))
        if k is not None and half >= 1:
            return k, half
    k = _steps(span, size, 0, 0.0)
    return None if k is None else (k, 0)


def _steps(span: float, size: float, top: int, width: float) -> int | None:
    """Return k of the finest grid on which no sum of `top` of its whole numbers reaches 2^62."""
    size = max(size, 2.0**-900)
    if not (span + width < 2.0**45 and size < 2.0**50):
        return None
    most = 60 - top.bit_length() - int(np.frexp(span + 1 + width)[1])
    k = min(51 - int(np.frexp(size)[1]), most)
    return k if k >= 0 else None


def _coarse_grid(groups: int, s: np.ndarray, width: float, finest: int) -> tuple[int, int] | None:
    """Return the same for counters, or None where they are not the quicker form. They are emptied
    for each group: all of them together must not be more than the rows."""
    if not width > 0:
        return None
    k = int(np.ceil(np.log2(2 * STEPS / width)))
    steps = (float(s.max()) - float(s.min())) * 2.0**k
    used = 0 <= k <= finest and (steps + 2) * groups <= s.size
    return (k, round(float(np.ldexp(width, k - 1)))) if used else None


def _combined(weights: PairWeights, parts: list[np.ndarray]) -> np.ndarray:
    """Return the sums of all terms by place: whole numbers unless weights are split."""
    whole = all(abs(term.coefficient) == 1 for term in weights.terms)
    kind: Any = np.int64 if whole else np.longdouble
    net = np.zeros(parts[0].size, dtype=kind)
    for term, part in zip(weights.terms, parts, strict=True):
        net += kind(float(term.coefficient)) * part.astype(kind)  # powers of two: exact
    return net


def _total(weights: PairWeights, counts: list[HingeCounts], which: int) -> float:
    pairs = list(zip(weights.terms, counts, strict=True))
    if weights.shared:
        parts = [float(term.coefficient) * found.by_group(which) for term, found in pairs]
        return float(short_sum(weights.factor * np.add.reduce(parts)))
    return sum(term.coefficient * found.total(which) for term, found in pairs) / weights.mass


def ordered_quadratic(
    at: Arrangement, weights: PairWeights, scores: np.ndarray, square: bool
) -> PairSums:
    """Return the sums of the square loss, or of the squared hinge, over ordered pairs."""
    s, n = scores[at.order], scores.size
    if square:
        starts = starts_of(at.group_ends)
        low, high = np.minimum.reduceat(s, starts), np.maximum.reduceat(s, starts)
        s = s - (low / 2 + high / 2)[at.group]
    else:
        s = s - (float(scores.min()) + float(scores.max())) / 2
    net, signed, absolute = np.zeros(n), np.zeros(2), np.zeros(2)  # of total and value
    for term in weights.whole:
        a, b = term.a.astype(float), term.b.astype(float)
        part, totals = np.zeros(n), np.zeros((at.group_ends.size, 2))  # of alpha, and of the loss
        if square:  # alpha = 2 (1 - (s_i - s_j)), from prefix moments
            loops.square(at.group_ends, at.block, at.block_ends, s, a, b, part, totals)
            back, back_a, back_b = (np.ascontiguousarray(x[::-1]) for x in (-s, b, a))
            lower = np.zeros(n)
            loops.square(*at.turned, back, back_a, back_b, lower, np.zeros_like(totals))
            part -= lower[::-1]
        else:  # alpha = 2 max(0, 1 - (s_i - s_j))
            rank = at.by_score(s)
            loops.squared_hinge(at.merges, rank, s[rank], a[rank], b[rank], part, totals)
        net += term.coefficient * weights.factor[at.group] * part
        masses = np.array([short_sum(weights.factor * x) for x in totals.T], dtype=float)
        signed, absolute = signed + term.coefficient * masses, absolute + masses
    (total, value), (mass, size) = signed.tolist(), absolute.tolist()
    c = np.empty(n)
    c[at.order] = net
    relative = gamma(64) + 16 * gamma(2 * n) ** 2
    top = 1 + 2 * float(np.abs(s).max())
    error = gamma(4) * top  # of z = s_j - (s_i - 1): what the shift, and taking one off, round
    if square:
        # The pairs' weights add up to one, those of all terms to `inflation`.
        slip = relative * weights.inflation
        value_rounding = slip * top**2 + 2 * (top + error) * error + error**2
        rounding, conjugate_rounding = 4 * slip * top, slip * (2 * top + top**2)
    else:
        moved = (total + relative * mass) * error + error**2
        value_rounding = relative * size + gamma(8) * abs(value) + moved
        rounding = 2 * relative * mass + gamma(8) * float(np.abs(c).sum())
        conjugate_rounding = relative * (mass + size) + gamma(8) * (total + abs(value))
    conjugate, roundings = total - value, (value_rounding, rounding, conjugate_rounding)
    return PairSums(max(value, 0.0), c, conjugate, total, *roundings)
