"""Sums of a smooth loss over ALL pairs by a convolution of binned scores: O(n + G log G).

Let the loss be convex, its slope between -1 and 0 and L-Lipschitz. With K bins a unit (a power of
two), p_i = round(K s_i) on positive rows, q_j = round(K s_j) on negative ones and theta the true
residuals K s - round(K s), a pair has the margin t = t' + e with

    t' = (p_i - q_j) / K,    e = (theta_i - theta_j) / K.

Take alpha = -loss'(t') for every pair, and alpha = 0 or 1 far from the loss's centre. That is a
feasible dual point whatever the scores are, so V = mean dual(alpha) and its signed marginals c make
a minorant: U(s) >= V - c's for all s. At the scores themselves each pair loses at most

    loss(t) - (dual(alpha) - alpha t) <= L e^2 / 2    (or `tail` far out),

because dual(alpha) - alpha t = loss(t') - alpha e. So the mean loss is at most
V - c's + (L / 2) mean e^2 + tail, and mean e^2 = (m2+ + m2- - 2 m1+ m1-) / K^2 with the moments m1,
m2 of theta in each class. There is no smoothing: the bin error is about L / (12 K^2).

alpha is split into a step, summed from cumulative counts, and a rest near the centre, summed by a
fast Fourier transform.

**Rounding.** Let a fast Fourier transform of length N = 2^l be made of butterflies each of which
is right to eta, relative to the size of its terms. Every intermediate number is a sum of inputs
times numbers of modulus one, so that by induction over the l stages

    |error of F x, any entry| <= f |x|_1,    |error of F x|_2 <= f sqrt(N) |x|_2,    f = l eta,

up to factors 1 + f. With X = F x, R = F r and z = F^-1 (X R), the product errs by at most
|dX|_inf |R|_2 + |X|_inf |dR|_2 <= 2 f |x|_1 sqrt(N) |r|_2, and the inverse adds as much once more:

    |error of x * r|_2 <= (3 f + few units) |x|_1 |r|_2.

The weighted sum of absolute errors follows by the Cauchy-Schwarz inequality. The two more stages
in f pay for the product X R, which errs by sqrt(5) units of each entry, and for the scaling by 1/N.

Eta: a butterfly is a complex product with a twiddle factor, which errs by sqrt(5) units and by the
error of the factor, and a complex sum, which errs by one: below 3.3 units and the factor's error
[Higham, Accuracy and Stability of Numerical Algorithms, sections 3.6 and 24.1]. Stages of higher
radix do no more operations in a row than the stages of radix 2 that they stand for. So `BUTTERFLY`
holds for any factors right to 4 units. That numpy's are is not proved here: they are tabulated in a
longer format and rounded once, and tests measure how much of the bound is used.

*Over blocks of rows* scores are rounded down, not to the nearest bin: theta is in [0, 1) and the
moments of its differences are the same. Rows far beyond all rows of the other class get the last
bin, where alpha is zero or one; what their pairs lose is the tail.

The exponential loss needs no bins: exp(-(s_i - s_j)) is a product, so its sums are O(n).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from ..errors import InputError, OverflowingError
from ..tools.rounding import LONG_UNIT, UNIT, gamma, is_long, short_chain, short_sum
from . import convolved_compiled as loops
from .assembled import PairSums, Whole
from .binned import LARGEST_BIN, ClosedLines, Extent, Gathered, Ruler

LARGEST_GRID = 1 << 21  # Largest number of bins: their width is doubled until the scores fit.

# Far rows are moved to so many bins beyond the reach of a loss. Rounding moves them by less.
BESIDE = 4.0

# Over blocks rows get the last bin from so many bins beyond it on. Flooring moves them by less.
BESIDE_IN_BLOCKS = 8.0

LARGEST_SCORE = 1e150  # Largest score: the distances of larger ones leave the range of a grid.

BUTTERFLY = 8  # Largest error of one stage of a Fourier transform, in units in the last place.

KERNEL_UNITS = 16  # Largest error of an entry of a loss's kernels, in units in the last place.

FEW_PAIRS = 1 << 20  # Up to so many pairs are visited one by one: that is exact and as fast.

MANY = 5000  # Rows of weight one from which loops over all of them are the quicker form.

EXPONENTIAL_UNITS = 8  # Largest error of an exponential and of its sum, in the last place.


class Smooth(Protocol):
    """What a loss states so that its sums can be convolved."""

    @property
    def smoothness(self) -> float:
        """L: a bound of loss''."""
        ...

    @property
    def centre(self) -> float:
        """The margin around which alpha falls from one to zero."""
        ...

    @property
    def reach(self) -> float:
        """How far from `centre` alpha differs from zero or one; beyond, `tail` is paid."""
        ...

    def beside_step(self, x: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return alpha - step and dual(alpha) - dual(1) step at t = centre + x.

        `step` is 1, 1/2 or 0; both results are right to `KERNEL_UNITS` units of max(1, dual).
        """
        ...

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        """Return -loss*(-alpha)."""
        ...

    def tail(self, distance: float) -> float:
        """Return an upper bound of what a pair loses whose margin is this far from `centre`."""
        ...


@dataclass(frozen=True, eq=False)
class Bins:
    """Rows of positive weight, by class and bin."""

    per_unit: float
    shift: int
    size: int
    rows_a: np.ndarray
    rows_b: np.ndarray
    idle: np.ndarray
    a: np.ndarray
    b: np.ndarray
    p: np.ndarray
    q: np.ndarray
    count_a: np.ndarray
    count_b: np.ndarray
    moments: np.ndarray
    slip: float
    middle: float

    @classmethod
    def of(
        cls,
        pairs: Whole,
        scores: np.ndarray,
        centre: float,
        per_unit: float,
        reach: float = np.inf,
    ) -> Bins:
        """Return the bins of `scores` (n,), no narrower than 1 / per_unit.

        Where they do not fit, rows further than `reach` beyond all rows of the other class are
        moved there: the slopes of their pairs are 0 or 1 either way. So a few far rows do not make
        all bins coarse.
        """
        if not float(np.abs(scores).max()) <= LARGEST_SCORE:
            raise InputError(f"a score is larger than {LARGEST_SCORE:g}: scale the features")
        side_a, side_b = pairs.sides()
        rows_a, rows_b = np.flatnonzero(pairs.positive), np.flatnonzero(~pairs.positive)
        idle = np.concatenate([rows_a[side_a == 0], rows_b[side_b == 0]])
        rows_a, rows_b = rows_a[side_a > 0], rows_b[side_b > 0]
        a, b = side_a[side_a > 0], side_b[side_b > 0]
        s, r = scores[rows_a], scores[rows_b]
        middle = float(min(s.min(), r.min()) / 2 + max(s.max(), r.max()) / 2)
        wanted, per_unit = per_unit, _fitting(s, r, centre, per_unit)
        if per_unit < wanted:
            nearer = _near(s, r, centre, reach + BESIDE / per_unit)
            finer = _fitting(*nearer, centre, wanted)
            if finer > per_unit:
                (s, r), per_unit = nearer, finer
        low = min(s.min(), r.min())
        shift = round(centre * per_unit)
        base = np.rint(low * per_unit)
        p, theta = _placed(s, per_unit, base)
        q, omega = _placed(r, per_unit, base)
        p -= shift
        least = min(int(p.min()), int(q.min()))
        p -= least
        q -= least
        size = max(int(p.max()), int(q.max())) + 1
        moments = np.array([_moments(a, theta), _moments(b, omega)])
        whole = bool(np.all(a == np.floor(a)) and np.all(b == np.floor(b)))
        whole = whole and max(float(a.sum()), float(b.sum())) < 2.0**50
        # Whole numbers add up exactly, in whatever order.
        slip = 0.0 if whole else gamma(max(a.size, b.size) + size + 8, LONG_UNIT) + 4 * UNIT
        counts = _counted(a, p, size, whole), _counted(b, q, size, whole)
        rows = rows_a, rows_b, idle, a, b, p, q
        return cls(per_unit, shift, size, *rows, *counts, moments, slip, middle)

    @classmethod
    def counted(
        cls, per_unit: float, shift: int, count_a: np.ndarray, count_b: np.ndarray, slip: float
    ) -> Bins:
        """Return bins of which only what they weigh is known, not the rows."""
        none, empty = np.zeros(0), np.zeros(0, dtype=np.int64)
        rows = empty, empty, empty, none, none, empty, empty
        counts, unknown = (count_a, count_b), np.full((2, 2), np.nan)
        return cls(per_unit, shift, count_a.size, *rows, *counts, unknown, slip, np.nan)

    @property
    def masses(self) -> tuple[float, float]:
        """What each class weighs."""
        return float(short_sum(self.count_a)), float(short_sum(self.count_b))

    def mean_a(self, values: np.ndarray) -> float:
        """Return the mean over the positive rows of a value (size,) by bin."""
        return float(short_sum(self.count_a * values) / self.masses[0])

    def mean_square(self) -> tuple[float, float]:
        """Return the mean of e^2 over all pairs, and a bound of its rounding."""
        chain = short_chain(max(self.a.size, self.b.size))
        return mean_of_squares(self.moments, self.per_unit, chain)


def mean_of_squares(moments: np.ndarray, per_unit: float, chain: int) -> tuple[float, float]:
    """Return the mean of e^2 over all pairs, and a bound of its rounding."""
    (first_a, second_a), (first_b, second_b) = moments
    mean = max(float(second_a + second_b - 2 * first_a * first_b), 0.0)
    size = float(second_a + second_b) + 2 * float(np.sqrt(second_a * second_b))
    return mean / per_unit**2, gamma(2 * chain + 24) * size / per_unit**2


def _fitting(s: np.ndarray, r: np.ndarray, centre: float, per_unit: float) -> float:
    """Return the bins a unit with which the scores of both classes fit, at most `per_unit`."""
    spread = max(s.max(), r.max()) - min(s.min(), r.min()) + abs(centre)
    while not spread * per_unit < LARGEST_GRID // 2:
        per_unit /= 2
    return per_unit


def _near(
    s: np.ndarray, r: np.ndarray, centre: float, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores s, r of both classes, each within `reach` of the margins of the other.

    The classes are moved one after the other: moved at once, their rows could pass each other.
    """
    s = np.clip(s, r.min() + centre - reach, r.max() + centre + reach)
    return s, np.clip(r, s.min() - centre - reach, s.max() - centre + reach)


def _placed(scores: np.ndarray, per_unit: float, base: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the bins of scores, counted from `base`, and theta. Each step is exact."""
    scaled = scores * per_unit
    nearest = np.rint(scaled)
    return (nearest - base).astype(np.int64), (scaled - nearest).astype(float)


def _moments(weight: np.ndarray, theta: np.ndarray) -> tuple[float, float]:
    mass = short_sum(weight)
    first = weight * theta
    return float(short_sum(first) / mass), float(short_sum(first * theta) / mass)


def _counted(weight: np.ndarray, places: np.ndarray, size: int, whole: bool) -> np.ndarray:
    """Return the total weight of the rows of each bin; fractions are summed in the long format."""
    if whole:
        return np.bincount(places, weights=weight, minlength=size)
    # `bincount` has no long format, which `reduceat` over sorted places has.
    order = np.argsort(places, kind="stable")
    held = places[order]
    first = np.flatnonzero(np.diff(held, prepend=-1))
    out = np.zeros(size)
    out[held[first]] = np.add.reduceat(weight[order].astype(np.longdouble), first)
    return out


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """Rows in bins, by loops over all of them."""

    bins: Bins
    at: np.ndarray
    middle: float
    moments: np.ndarray
    block: int

    @classmethod
    def of(
        cls, pairs: Whole, scores: np.ndarray, loss: Smooth, per_unit: float
    ) -> PlacedRows | None:
        """Return the rows in bins of the width wanted, or None where that takes more care.

        Few rows, weights, the long format, and scores so far apart that bins must be wider.
        """
        if pairs.weight is not None or pairs.n < MANY or is_long(scores):
            return None
        scores, extent = np.ascontiguousarray(scores), Extent()
        extent.add(scores, pairs.positive)
        low_a, high_a, low_b, high_b = extent.ends
        low, high = min(low_a, low_b), max(high_a, high_b)
        fits = (high - low + abs(loss.centre)) * per_unit < LARGEST_GRID // 2
        if not (max(-low, high) <= LARGEST_SCORE and fits):
            return None
        shift = round(loss.centre * per_unit)
        ends = np.rint(extent.ends * per_unit) - np.array([shift, shift, 0, 0])
        least, size = ends.min(), int(ends.max() - ends.min()) + 1
        first = np.array([least, least + shift])
        block = max(64, int(np.sqrt(pairs.n)))
        at, counts = np.empty(pairs.n, dtype=np.int32), np.zeros((2, size))
        moments = np.zeros((2, 2))
        loops.place(scores, pairs.positive, per_unit, first, block, at, counts, moments)
        moments /= counts.sum(axis=1)[:, None]
        bins = Bins.counted(per_unit, shift, counts[1], counts[0], 0.0)
        return cls(bins, at, float(low / 2 + high / 2), moments[::-1], block)

    @property
    def chain(self) -> int:
        """How many additions a term of a sum over rows passes at most."""
        return self.block + -(-self.at.size // self.block) + 2

    def marginals(
        self, pairs: Whole, scores: np.ndarray, table: np.ndarray
    ) -> tuple[np.ndarray, float, float, float]:
        """Return c, the sum of c_i (s_i - middle), of its absolute terms, and the largest distance.

        `table` (2, size) has c of a negative and of a positive row in each bin.
        """
        c = np.empty(self.at.size)
        scores = np.ascontiguousarray(scores)
        sums = loops.look_up(self.at, pairs.positive, table, scores, self.middle, self.block, c)
        return c, *sums


@dataclass(frozen=True, eq=False)
class ClassSums:
    """Sums over the other class, by bin."""

    u: np.ndarray
    v: np.ndarray
    duals: np.ndarray
    stepped: float
    u_error: float
    v_error: float
    dual_error: float


def class_sums(bins: Bins, loss: Smooth) -> ClassSums:
    """Return alpha and dual(alpha) of each bin, summed over the other class."""
    half = min(int(np.ceil(loss.reach * bins.per_unit)) + 1, bins.size - 1)
    length = linear_length(bins.size, half)
    slopes, duals, norm, dual_norm = _kernels(loss, bins.per_unit, bins.shift, half, length)
    seen_a, seen_b = np.fft.rfft(bins.count_a, length), np.fft.rfft(bins.count_b, length)
    rest_u = np.fft.irfft(seen_b * slopes, length)[: bins.size]
    rest_v = np.fft.irfft(seen_a * np.conj(slopes), length)[: bins.size]
    rest_dual = np.fft.irfft(seen_b * duals, length)[: bins.size]
    mass_a, mass_b = bins.masses
    step_u = _sum_above(bins.count_b) + bins.count_b / 2
    step_v = _sum_above(bins.count_a[::-1])[::-1] + bins.count_a / 2
    top = float(np.asarray(loss.dual(np.ones(1)))[0])
    error = 3 * gamma(BUTTERFLY * (length.bit_length() + 2)) * (1 + 1e-9)
    spread_a = float(np.linalg.norm(bins.count_a)) / mass_a
    spread_b = float(np.linalg.norm(bins.count_b)) / mass_b
    return ClassSums(
        # The true sums lie in this range, so clipping cannot make the computed ones worse.
        np.clip(step_u + rest_u, 0.0, mass_b),
        np.clip(step_v + rest_v, 0.0, mass_a),
        top * step_u + rest_dual,
        bins.mean_a(step_u) / mass_b,
        error * spread_a * norm,
        error * spread_b * norm,
        error * spread_a * dual_norm,
    )


def linear_length(size: int, half: int) -> int:
    """Return a power of two so long that `size` bins and offsets up to `half` do not wrap."""
    return 1 << (size + half - 1).bit_length()


@lru_cache(maxsize=2)
def _kernels(
    loss: Smooth, per_unit: float, shift: int, half: int, length: int
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Return the transforms of alpha - step and of its dual part, and the norms of both."""
    m = np.arange(-half, half + 1)
    step = np.where(m < 0, 1.0, np.where(m > 0, 0.0, 0.5))
    x = (m + shift) / per_unit - loss.centre
    out = []
    for rest in loss.beside_step(x, step):
        around = np.zeros(length)
        around[m] = rest
        out.append((np.fft.rfft(around), float(np.linalg.norm(rest)) * (1 + 1e-9)))
    (slopes, norm), (duals, dual_norm) = out
    return slopes, duals, norm, dual_norm


def _sum_above(counts: np.ndarray) -> np.ndarray:
    """Return the sum strictly above each bin; exact for whole numbers."""
    upwards = np.cumsum(counts[::-1], dtype=np.longdouble)[::-1]
    return np.append(upwards[1:], 0.0).astype(float)


def few_pairs(pairs: Whole) -> bool:
    """Return whether the pairs are so few that visiting them one by one is best."""
    n_pos = int(np.count_nonzero(pairs.positive))
    return pairs.form != "binned" and n_pos * (pairs.n - n_pos) <= FEW_PAIRS


def convolved(pairs: Whole, scores: np.ndarray, loss: Smooth, width: float) -> PairSums:
    """Return the sums of a smooth loss over all pairs; the value is an upper bound."""
    per_unit = bins_for(pairs, width)
    placed = PlacedRows.of(pairs, scores, loss, per_unit)
    if placed is not None:
        mean, (mass_a, mass_b) = mean_sums(placed.bins, loss), placed.bins.masses
        table = np.stack([-(mean.sums.v / mass_a) / mass_b, (mean.sums.u / mass_b) / mass_a])
        c, linear, size, moved = placed.marginals(pairs, scores, table)
        square = mean_of_squares(placed.moments, per_unit, placed.chain)
        return _assembled(loss, mean, c, (linear, size, moved), placed.chain, square)
    bins = Bins.of(pairs, scores, loss.centre, per_unit, loss.reach)
    mean, (mass_a, mass_b) = mean_sums(bins, loss), bins.masses
    c = np.zeros(pairs.n)
    c[bins.rows_a] = bins.a * (mean.sums.u / mass_b)[bins.p] / mass_a
    c[bins.rows_b] = -bins.b * (mean.sums.v / mass_a)[bins.q] / mass_b
    shifted = centred_scores(scores, bins)
    # Such rows have c = 0, and far ones must not widen the bound by `moved`.
    shifted[bins.idle] = 0.0
    terms, moved = c * shifted, float(np.abs(shifted).max())
    along = float(short_sum(terms)), float(short_sum(np.abs(terms))), moved
    return _assembled(loss, mean, c, along, short_chain(pairs.n), bins.mean_square())


def _assembled(
    loss: Smooth,
    mean: MeanSums,
    c: np.ndarray,
    along: tuple[float, float, float],
    chain: int,
    square: tuple[float, float],
) -> PairSums:
    """Return the sums: the mean loss is at most V - c's + (L/2) mean e^2 + tail."""
    linear, size, moved = along
    extra = loss.smoothness / 2 * square[0] + loss.tail(loss.reach)
    value = mean.conjugate - linear + extra
    slips = gamma(chain + 16) * size
    slips += mean.conjugate_rounding + moved * mean.rounding + loss.smoothness / 2 * square[1]
    slips += gamma(8) * (abs(value) + extra + abs(mean.conjugate)) + 4 * LONG_UNIT
    return PairSums(
        max(value, 0.0),
        c,
        mean.conjugate,
        mean.total,
        slips * (1 + 1e-9),
        mean.rounding,
        mean.conjugate_rounding,
        excess=extra * (1 + gamma(4)),
    )


@dataclass(frozen=True, eq=False)
class MeanSums:
    """Sums over the other class by bin, and means over all pairs."""

    sums: ClassSums
    total: float
    conjugate: float
    rounding: float
    conjugate_rounding: float


def mean_sums(bins: Bins, loss: Smooth) -> MeanSums:
    """Return the sums of alpha and of its dual part for binned rows."""
    sums, (_, mass_b) = class_sums(bins, loss), bins.masses
    total = float(bins.mean_a(sums.u) / mass_b)
    kernel = KERNEL_UNITS * UNIT
    top = float(np.asarray(loss.dual(np.ones(1)))[0])
    rounding = (
        sums.u_error
        + sums.v_error
        + 2 * kernel
        + (4 * bins.slip + gamma(short_chain(bins.size) + 16)) * 2 * (total + sums.stepped)
    )
    conjugate = float(bins.mean_a(sums.duals) / mass_b)
    along = gamma(short_chain(bins.size) + 16) + 2 * bins.slip
    size = abs(top) + float(bins.mean_a(np.abs(sums.duals)) / mass_b)
    conjugate_rounding = sums.dual_error + kernel * (1 + abs(top)) + 2 * along * size
    return MeanSums(sums, total, conjugate, rounding, conjugate_rounding)


def centred_scores(scores: np.ndarray, bins: Bins) -> np.ndarray:
    """Return the scores themselves, not those of their bins, less the middle of their range."""
    return (scores - bins.middle).astype(float)


def bins_for(pairs: Whole, width: float) -> float:
    """Return the bins a unit: a power of two, at least 1 / width where a width is given."""
    if width <= 0:
        return float(pairs.bins)
    return float(2.0 ** np.ceil(np.log2(1.0 / min(max(width, 2.0**-40), 2.0**40))))


def smooth_ruler(extent: np.ndarray, bins: int, loss: Smooth) -> Ruler:
    """Return a grid for scores of this range, its bins doubled in width until it is not too
    large."""
    while True:
        K = float(bins)
        reach = loss.reach + BESIDE_IN_BLOCKS / K
        plus = np.clip(extent[:2], extent[2] + loss.centre - reach, extent[3] + loss.centre + reach)
        minus = np.clip(extent[2:], plus[0] - loss.centre - reach, plus[1] - loss.centre + reach)
        a, b, shift = np.floor(K * plus), np.floor(K * minus), round(loss.centre * K)
        first = min(b[0], a[0] - shift)
        size = max(b[1], a[1] - shift) - first + 1
        if size <= LARGEST_GRID and K * float(np.abs(extent).max()) < LARGEST_BIN:
            break
        if bins == 1:
            raise OverflowingError("the scores are so far apart that no grid of bins holds them")
        bins //= 2
    limits = np.array([[*b, first], [*a, first + shift]])
    return Ruler(bins, limits, int(size), extent, powers=1, cut=True)


def closed_smooth(ruler: Ruler, found: Gathered, whole: bool, loss: Smooth) -> ClosedLines:
    """Return the marginals by bin and the sums over all pairs."""
    chain = found.longest + 8
    slip = 0.0 if whole else gamma(chain)
    K = float(ruler.bins)
    count_b, count_a = np.ascontiguousarray(found.held[..., 0])
    bins = Bins.counted(K, round(loss.centre * K), count_a, count_b, slip)
    mean, (mass_a, mass_b) = mean_sums(bins, loss), bins.masses
    table = np.stack([-mean.sums.v, mean.sums.u])[..., None] / (mass_a * mass_b)
    first, second = (found.theta / np.array([mass_b, mass_a])[:, None]).T
    square = max(float(second.sum() - 2 * first[0] * first[1]), 0.0) / K**2
    along = gamma(2 * (chain + ruler.size) + 24) + 2 * slip
    size = float(second.sum() + 2 * first[0] * first[1]) / K**2
    curved = loss.smoothness / 2
    extra = curved * square + loss.tail(loss.reach)
    return ClosedLines(
        table,
        mean.conjugate,
        mean.conjugate_rounding,
        mean.rounding + 4 * UNIT * 2 * mean.total,
        extra,
        mean.conjugate_rounding + curved * along * size + gamma(8) * extra,
        mean.total,
        extra,
    )


def exponential_sums(pairs: Whole, scores: np.ndarray, largest: float) -> PairSums:
    """Return the sums of exp(-t), alpha = exp(-t), over all pairs.

    With m the least score of a positive row and r the largest of a negative one, every factor
    exp(m - s_i), exp(s_j - r) is at most one; the mean loss is exp(r - m) times their two means.
    """
    positive = pairs.positive
    a, b = pairs.sides()
    s, r = scores[positive], scores[~positive]
    least, most = s[a > 0].min(), r[b > 0].max()
    worst = float(most - least)
    if not worst <= largest:
        raise OverflowingError(
            f"the exponential loss overflows at a margin of {-worst:g}: take smaller weights, "
            "a larger lam or another loss"
        )
    row, column = _factors(a, least - s), _factors(b, r - most)
    sum_a, sum_b = float(short_sum(row)), float(short_sum(column))
    mean_a, mean_b = sum_a / float(short_sum(a)), sum_b / float(short_sum(b))
    value = float(np.exp(float(worst))) * mean_a * mean_b
    c = np.empty(positive.size)
    c[positive] = row * (value / sum_a)
    c[~positive] = column * (-value / sum_b)
    # The conjugate sum is the mean of alpha + alpha t = alpha (1 - log(alpha)).
    middle = (most + least) / 2
    shifted = np.where(c != 0, (scores - middle).astype(float), 0.0)
    linear = c * shifted
    conjugate = value + float(short_sum(linear))
    # Exponents are floats, whatever the format of the scores. With exponents x of the factors, exp
    # at a rounded x is wrong by |x| units more, so that the mean over all pairs is wrong by units
    # of worst * value + sum |c x|, and |x_i| <= |s_i - middle| + worst / 2: four units of that.
    chain = gamma(2 * short_chain(pairs.n) + 4 * EXPONENTIAL_UNITS)
    unit = 4 * UNIT
    mass = float(np.abs(c) @ (1.0 + np.abs(shifted)))
    relative = chain * value + unit * (mass + abs(worst) * value)
    rounding = 2 * (relative + chain * float(np.abs(c).sum()))
    size = value + float(np.abs(linear).sum())
    slips = (rounding * (1 + abs(worst)) + chain * size + unit * mass * (1 + abs(worst))) * 2
    return PairSums(value, c, conjugate, value, 2 * relative, rounding, slips)


def _factors(weight: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return weight * exp(x), zero where the weight is zero."""
    return weight * np.exp(np.where(weight > 0, x, 0.0).astype(float))
