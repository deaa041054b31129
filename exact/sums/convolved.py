"""Sums of a smooth loss over ALL pairs by a convolution of binned scores: O(n + G log G).

Let the loss be convex, its slope between -1 and 0 and L-Lipschitz. With K bins a unit (a power of
two), p_i = floor(K s_i) on positive rows, q_j = floor(K s_j) on negative ones and theta the true
residuals K s - floor(K s), a pair has the margin t = t' + e with

    t' = (p_i - q_j) / K,    e = (theta_i - theta_j) / K.

Take alpha = -loss'(t') for every pair, and alpha = 0 or 1 far from the loss's centre. That is a
feasible dual point for any scores, so V = mean dual(alpha) and its signed marginals c make
a minorant: U(s) >= V - c's for all s. At the scores themselves each pair loses at most

    loss(t) - (dual(alpha) - alpha t) <= L e^2 / 2    (or `tail` far out),

because dual(alpha) - alpha t = loss(t') - alpha e. So the mean loss is at most
V - c's + (L / 2) mean e^2 + tail, and mean e^2 = (m2+ + m2- - 2 m1+ m1-) / K^2 with the moments m1,
m2 of theta in each class. There is no smoothing: the bin error is about L / (12 K^2). Rows far
beyond all rows of the other class get the last bin, where alpha is zero or one; what their pairs
lose is the tail.

alpha is split into a step, summed from cumulative counts, and a rest near the centre, summed by a
fast Fourier transform. A loss states

* `smoothness`, L; `centre`, the margin around which alpha falls from one to zero; `reach`, how far
  from it alpha differs from zero or one; `tail(distance)`, a bound of what pairs beyond it lose;
* `beside_step(x, step)`: alpha - step and dual(alpha) - dual(1) step at t = centre + x for a step
  of 1, 1/2 or 0, both right to `KERNEL_UNITS` units of max(1, dual).

**Rounding.** Let a fast Fourier transform of length N = 2^l be made of butterflies each of which
is right to eta, relative to the size of its terms. Every intermediate number is a sum of inputs
times numbers of modulus one, so that by induction over the l stages

    |error of F x, any entry| <= f |x|_1,    |error of F x|_2 <= f sqrt(N) |x|_2,    f = l eta,

up to factors 1 + f. With X = F x, R = F r and z = F^-1 (X R), the product errs by at most
|dX|_inf |R|_2 + |X|_inf |dR|_2 <= 2 f |x|_1 sqrt(N) |r|_2, and the inverse adds as much once more:

    |error of x * r|_2 <= (3 f + few units) |x|_1 |r|_2.

The weighted sum of absolute errors follows by the Cauchy-Schwarz inequality. The two more stages
in f pay for the product X R, which errs by sqrt(5) units of each entry, and for the scaling by 1/N.
A sum with weights a of all of x * r needs no inverse: by Parseval it is A'(X R) / N, and the error
of A = F a, f sqrt(N) |a|_2, takes the place of that of the inverse.

Eta: a butterfly is a complex product with a twiddle factor, which errs by sqrt(5) units and by the
error of the factor, and a complex sum, which errs by one: below 3.3 units and the factor's error
[Higham, Accuracy and Stability of Numerical Algorithms, sections 3.6 and 24.1]. Stages of higher
radix do no more operations in a row than the stages of radix 2 that they stand for. So `BUTTERFLY`
holds for any factors right to 4 units. That numpy's are is not proved here: they are tabulated in a
longer format and rounded once, and tests measure how much of the bound is used.

The exponential loss needs no bins: exp(-(s_i - s_j)) is a product, so its sums are O(n).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import InputError, OverflowingError
from ..tools.rounding import LONG_UNIT, UNIT, gamma, is_long, short_chain, short_sum
from .assembled import PairSums
from .binned import LARGEST_BIN, ClosedLines, Extent, Gathered, Ruler, whole_numbers

LARGEST_GRID = 1 << 21  # Largest number of bins: their width is doubled until the scores fit.

MARGIN_BINS = 8.0  # Bins beyond the reach of a loss that rows keep: flooring moves them by less.

LARGEST_SCORE = 1e150  # Largest score: the distances of larger ones leave the range of a grid.

BUTTERFLY = 8  # Largest error of one stage of a Fourier transform, in units in the last place.

KERNEL_UNITS = 16  # Largest error of an entry of a loss's kernels, in units in the last place.

FEW_PAIRS = 1 << 20  # Up to so many pairs are visited one by one: that is exact and as fast.

LEAST_PAIRS, PAIRS_A_BIN = 1 << 12, 8  # So few are visited at any width; a bin costs so many.

MANY = 5000  # Rows from which it pays to compile the loops over them.

EXPONENTIAL_UNITS = 8  # Largest error of an exponential and of its sum, in the last place.


@dataclass(frozen=True, eq=False)
class Bins:
    """What the rows of each class weigh, by bin."""

    per_unit: float
    shift: int
    count_a: np.ndarray
    count_b: np.ndarray

    @property
    def size(self) -> int:
        return self.count_a.size

    @property
    def masses(self) -> tuple[float, float]:
        return float(short_sum(self.count_a)), float(short_sum(self.count_b))

    def mean_a(self, values: np.ndarray) -> float:
        """Return the mean over the positive rows of a value (size,) by bin."""
        return float(short_sum(self.count_a * values) / self.masses[0])


@dataclass(frozen=True, eq=False)
class ClassSums:
    """Sums over the other class, by bin; the mean of dual(alpha) and of alpha's step."""

    u: np.ndarray
    v: np.ndarray
    conjugate: float
    stepped: float
    u_error: float
    v_error: float
    dual_error: float


def class_sums(bins: Bins, loss: Any) -> ClassSums:
    """Return alpha of each bin, summed over the other class, and the mean of dual(alpha)."""
    reach = int(np.ceil(loss.reach * bins.per_unit)) + 1
    length = max(linear_length(bins.size, min(reach, bins.size - 1)), 2)
    # No offset up to half the length wraps, and the same grid finds its kernels again.
    half = min(reach, length // 2 - 1)
    slopes, duals, norm, dual_norm = _kernels(loss, bins.per_unit, bins.shift, half, length)
    seen_a, seen_b = np.fft.rfft(bins.count_a, length), np.fft.rfft(bins.count_b, length)
    rest_u = np.fft.irfft(seen_b * slopes, length)[: bins.size]
    rest_v = np.fft.irfft(seen_a * np.conj(slopes), length)[: bins.size]
    shares = (np.conj(seen_a) * (seen_b * duals)).real
    ends = float(shares[0] + shares[-1])  # the others stand for two frequencies each
    rest_dual = (2 * float(short_sum(shares)) - ends) / length
    mass_a, mass_b = bins.masses
    step_u = _sum_above(bins.count_b) + bins.count_b / 2
    step_v = _sum_above(bins.count_a[::-1])[::-1] + bins.count_a / 2
    top = float(np.asarray(loss.dual(np.ones(1)))[0])
    error = 3 * gamma(BUTTERFLY * (length.bit_length() + 2)) * (1 + 1e-9)
    spread_a = float(np.linalg.norm(bins.count_a)) / mass_a
    spread_b = float(np.linalg.norm(bins.count_b)) / mass_b
    stepped = bins.mean_a(step_u) / mass_b
    return ClassSums(
        # The true sums lie in this range, so clipping cannot make the computed ones worse.
        np.clip(step_u + rest_u, 0.0, mass_b),
        np.clip(step_v + rest_v, 0.0, mass_a),
        top * stepped + rest_dual / mass_a / mass_b,
        stepped,
        error * spread_a * norm,
        error * spread_b * norm,
        (error + 2 * gamma(short_chain(length) + 8)) * spread_a * dual_norm,
    )


def linear_length(size: int, half: int) -> int:
    """Return a power of two so long that `size` bins and offsets up to `half` do not wrap."""
    return 1 << (size + half - 1).bit_length()


@lru_cache(maxsize=2)
def _kernels(
    loss: Any, per_unit: float, shift: int, half: int, length: int
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


def few_pairs(pairs: Any, scores: np.ndarray, width: float) -> bool:
    """Return whether the pairs are so few that visiting them one by one is best."""
    if pairs.form == "binned" or pairs.count() > FEW_PAIRS:
        return False
    # A bin takes as long as PAIRS_A_BIN pairs do.
    many = PAIRS_A_BIN * float(np.ptp(scores)) > width * pairs.count()
    return many or pairs.count() <= LEAST_PAIRS


def convolved(pairs: Any, scores: np.ndarray, loss: Any, width: float) -> PairSums:
    """Return the sums of a smooth loss over all pairs; the value is an upper bound."""
    if not float(np.abs(scores).max()) <= LARGEST_SCORE:
        raise InputError(f"a score is larger than {LARGEST_SCORE:g}: scale the features")
    positive, weight, n = pairs.positive, pairs.weight, scores.size
    floats = np.ascontiguousarray(scores, dtype=float)
    used = np.ones(n, dtype=bool) if weight is None else weight > 0
    extent = Extent()
    extent.add(floats[used], positive[used])
    ruler = smooth_ruler(extent.ends, bins_for(pairs, width), loss, 0.0)
    found = Gathered.over(ruler, 0, 3 if weight is None else 4)
    whole = weight is None or (whole_numbers(weight) and float(weight.sum()) < 2.0**50)
    if n >= MANY:
        found.add(ruler, floats[None], np.zeros(1), np.ones(1), positive, weight)
        sums = closed_smooth(ruler, found.moments(1), whole, loss)
        c = ruler.marginals(floats, positive, weight, sums.table)
    else:
        side, at, theta = ruler.placed(floats, positive)
        mass = np.ones(n) if weight is None else weight
        for k, x in enumerate((mass, mass * theta, mass * theta * theta, np.ones(n))):
            if k < found.held.shape[2]:
                of_bins = np.bincount(side * ruler.size + at, x, 2 * ruler.size)
                found.held[..., k] = of_bins.reshape(2, -1)
        sums = closed_smooth(ruler, found.moments(1), whole, loss)
        c = mass * sums.table[side, at, 0]
    # Rows without weight have c = 0, and far ones must not widen the bound by `moved`.
    middle = extent.ends[::2].min() / 2 + extent.ends[1::2].max() / 2
    shifted = np.where(used, scores - middle, 0.0).astype(float)
    terms, moved = c * shifted, float(np.abs(shifted).max())
    # Scores of the long format are off their bins' theta by this much.
    slip = 4 * UNIT * float(np.abs(extent.ends).max()) if is_long(scores) else 0.0
    value = sums.conjugate - float(short_sum(terms)) + sums.value
    slips = gamma(short_chain(n) + 16) * float(short_sum(np.abs(terms)))
    slips += sums.conjugate_rounding + moved * sums.c_error + sums.value_rounding
    slips += slip * (np.sqrt(2 * loss.smoothness * sums.value) + loss.smoothness * slip)
    slips += gamma(8) * (abs(value) + sums.value + abs(sums.conjugate)) + 4 * LONG_UNIT
    total = sums.total
    assert total is not None
    return PairSums(
        max(value, 0.0), c, sums.conjugate, total, float(slips) * (1 + 1e-9),
        sums.c_error, sums.conjugate_rounding, excess=sums.excess * (1 + gamma(4)),
    )  # fmt: skip


def bins_for(pairs: Any, width: float) -> float:
    """Return the bins a unit: a power of two, at least 1 / width where a width is given."""
    if width <= 0:
        return float(pairs.bins)
    return float(2.0 ** np.ceil(np.log2(1.0 / min(max(width, 2.0**-40), 2.0**40))))


def smooth_ruler(extent: np.ndarray, bins: float, loss: Any, least: float = 1.0) -> Ruler:
    """Return a grid for scores of this range, with fewer bins a unit until it is not too large."""
    while True:
        K = float(bins)
        reach = loss.reach + MARGIN_BINS / K
        plus = np.clip(extent[:2], extent[2] + loss.centre - reach, extent[3] + loss.centre + reach)
        minus = np.clip(extent[2:], plus[0] - loss.centre - reach, plus[1] - loss.centre + reach)
        a, b, shift = np.floor(K * plus), np.floor(K * minus), round(loss.centre * K)
        first = min(b[0], a[0] - shift)
        size = max(b[1], a[1] - shift) - first + 1
        if size <= LARGEST_GRID and K * float(np.abs(extent).max()) < LARGEST_BIN:
            break
        if bins <= least:
            raise OverflowingError("the scores are so far apart that no grid of bins holds them")
        bins /= 2
    limits = np.array([[*b, first], [*a, first + shift]])
    return Ruler(int(bins) if bins >= 1 else bins, limits, int(size), extent, powers=1, cut=True)


def closed_smooth(ruler: Ruler, found: Gathered, whole: bool, loss: Any) -> ClosedLines:
    """Return the marginals by bin and the sums over all pairs."""
    chain = found.longest + 8
    slip = 0.0 if whole else gamma(chain)
    K = float(ruler.bins)
    count_b, count_a = np.ascontiguousarray(found.held[..., 0])
    bins = Bins(K, round(loss.centre * K), count_a, count_b)
    sums, (mass_a, mass_b) = class_sums(bins, loss), bins.masses
    total, conjugate = bins.mean_a(sums.u) / mass_b, sums.conjugate
    kernel, adding = KERNEL_UNITS * UNIT, gamma(short_chain(bins.size) + 16)
    if not whole:  # the step's running sums
        adding += gamma(bins.size + 2, LONG_UNIT)
    c_error = sums.u_error + sums.v_error + 2 * kernel
    c_error += (4 * slip + adding) * 2 * (total + sums.stepped)
    top = abs(float(np.asarray(loss.dual(np.ones(1)))[0]))
    duals = 3 * top + abs(conjugate) + sums.dual_error  # dual parts are at least -top
    conjugate_error = sums.dual_error + kernel * (1 + top) + 2 * (adding + 2 * slip) * duals
    table = np.stack([-sums.v, sums.u])[..., None] / (mass_a * mass_b)
    first, second = (found.theta / np.array([mass_b, mass_a])[:, None]).T
    square = max(float(second.sum() - 2 * first[0] * first[1]), 0.0) / K**2
    along = gamma(2 * (chain + ruler.size) + 24) + 2 * slip
    size = float(second.sum() + 2 * first[0] * first[1]) / K**2
    curved = loss.smoothness / 2
    extra = curved * square + loss.tail(loss.reach)
    return ClosedLines(
        table,
        conjugate,
        conjugate_error,
        c_error + 4 * UNIT * 2 * total,
        extra,
        conjugate_error + curved * along * size + gamma(8) * extra,
        total,
        extra,
    )


def exponential_sums(pairs: Any, scores: np.ndarray, largest: float) -> PairSums:
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
    # Exponents are floats in any format of the scores. With exponents x of the factors, exp
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
