"""Sums of a smooth loss over ALL pairs by a convolution of binned scores: O(n + G log G).

With K bins per unit (a power of two) a pair has the margin t = t' + e, t' that of its bins and e =
(theta_i - theta_j) / K, theta = K s - floor(K s). Let the loss be convex, its slope between -1 and
0 and L-Lipschitz. alpha = -loss'(t'), or 0 or 1 far from the loss's centre, is feasible, so V =
mean dual(alpha) and its marginals c make a minorant, and the mean loss is at most V - c's + (L / 2)
mean e^2 + tail. A loss that is *bent*, that is, states its second derivative B, takes alpha = A - B
e, A and B at t'. Then V is the mean of (dual(A) - t' B e - B e^2 / 2) less R = cubic h mean B e^2,
h = 1 / K, and the mean loss is at most V - c's + 2 R + quartic h^4 mean B + tail.
`docs/certificates.md` has the proofs. Rows far beyond all of the other class get the last bin,
where alpha is zero or one; the tail is what their pairs lose. A step is summed from cumulative
counts, the rest by a Fourier transform. A loss states

* `smoothness`, L; `centre`, the margin around which alpha falls from one to zero; `reach`, how far
  from it alpha differs from zero or one; `tail(distance)`, a bound of what pairs beyond it lose;
* `beside_step(x, step)`: alpha - step and dual(alpha) - dual(1) step at t = centre + x for a step
  of 1, 1/2 or 0, both right to `KERNEL_UNITS` units of max(1, dual);
* if it is bent, `bent(x)`: B <= 1/4 and t B, |t B| <= 1/4, at t = centre + x, as right as that, and
  `remainders(h)`: cubic and quartic for |e| <= h <= `WIDEST_BENT`, where

      |dual(A - B e) - (dual(A) - t' B e - B e^2 / 2)| <= cubic B |e|^3,
      loss(t) - (dual(alpha) - alpha t)                <= quartic B e^4.

Rounding: |error of x * r|_2 <= (3 f + few units) |x|_1 |r|_2, f = `BUTTERFLY` units a stage. A
butterfly errs by less than 3.3 units and the error of its factor [Higham, Accuracy and Stability of
Numerical Algorithms, 3.6 and 24.1]: 8 hold for any factors right to 4. Two more stages in f pay for
the product of the transforms and for the scaling. A sum with weights a of all of x * r is
A'(X R) / N, by Parseval, and the error of A = F a, f sqrt(N) |a|_2, takes the place of that of the
inverse transform."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import InputError, OverflowingError
from ..tools.rounding import LONG_UNIT, UNIT, gamma, is_long, running_sum, short_chain, short_sum
from .binned import LARGEST_BIN, Extent, Gathered, Ruler, whole_numbers
from .swept import PairSums

LARGEST_GRID = 1 << 21  # Largest number of bins: their width is doubled until the scores fit.
LARGEST_SCORE = 1e150  # its square is representable, also that of a distance, with room to spare
BUTTERFLY = 8  # Largest error of one stage of a Fourier transform, in units in the last place.
KERNEL_UNITS = 16  # Largest error of an entry of a loss's kernels, in units in the last place.
FEW_PAIRS = 1 << 20  # Up to so many pairs are visited one by one: that is exact and as fast.
EXPONENTIAL_UNITS = 8  # Largest error of an exponential and of its sum, in the last place.
LARGEST_EXPONENT = 700.0  # exp(-t) is taken for t >= -700: below, it leaves the range of floats.
WIDEST_BENT = 0.25  # Widest bins, in units of score, in which alpha follows a line.


@dataclass(frozen=True, eq=False)
class Bins:
    """What the rows of each class weigh, by bin, and if bent their sums of theta and theta^2."""

    per_unit: float
    shift: int
    count_a: np.ndarray
    count_b: np.ndarray
    thetas: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def size(self) -> int:
        return self.count_a.size

    @property
    def masses(self) -> tuple[float, float]:
        return float(short_sum(self.count_a)), float(short_sum(self.count_b))

    def mean_a(self, values: np.ndarray) -> float:
        return float(short_sum(self.count_a * values) / self.masses[0])


@dataclass(frozen=True, eq=False)
class ClassSums:
    """Sums over the other class, by bin, and means, with bounds of their rounding."""

    u: np.ndarray
    v: np.ndarray
    conjugate: float
    stepped: float  # the mean of alpha's step
    u_error: float
    v_error: float
    dual_error: float
    slopes: tuple[np.ndarray, np.ndarray] | None  # of u and v in theta, if bent
    bend: float  # the mean of B
    square: float  # and of B e^2


def class_sums(bins: Bins, loss: Any) -> ClassSums:
    """Return alpha of each bin, summed over the other class, and the mean of dual(alpha)."""
    reach, h, size = int(np.ceil(loss.reach * bins.per_unit)) + 1, 1 / bins.per_unit, bins.size
    # A power of two so long that the bins and their offsets do not wrap.
    length = max(1 << (size + min(reach, size - 1) - 1).bit_length(), 2)
    # No offset up to half the length wraps, and the same grid finds its kernels again.
    half = min(reach, length // 2 - 1)
    bent = bins.thetas is not None
    of_kernels, norms = _kernels(loss, bins.per_unit, bins.shift, half, length, bent)
    (slopes, duals), (norm, dual_norm) = of_kernels[:2], norms[:2]
    seen_a, seen_b = np.fft.rfft(bins.count_a, length), np.fft.rfft(bins.count_b, length)
    to_u, to_v = seen_b * slopes, seen_a * np.conj(slopes)
    to_dual = np.conj(seen_a) * seen_b * duals
    mass_a, mass_b = bins.masses
    mass = mass_a * mass_b
    error = 3 * gamma(BUTTERFLY * (length.bit_length() + 2 + bent)) * (1 + 1e-9)
    spread_a = float(np.linalg.norm(bins.count_a)) / mass_a
    spread_b = float(np.linalg.norm(bins.count_b)) / mass_b
    of_bent: Any = None, 0.0, 0.0
    if bins.thetas is not None:
        (bends, turns), (bend_norm, turn_norm) = of_kernels[2:], norms[2:]
        (a1, a2), (b1, b2) = (np.fft.rfft(of_class, length) for of_class in bins.thetas)
        to_u = to_u + h * (b1 * bends)
        to_v = to_v - h * (a1 * np.conj(bends))
        # Sums over pairs of B (theta_i - theta_j)^2, and of t B (theta_i - theta_j).
        squares = (np.conj(a2) * seen_b - 2 * np.conj(a1) * b1 + np.conj(seen_a) * b2) * bends
        lines = (np.conj(a1) * seen_b - np.conj(seen_a) * b1) * turns
        to_dual = to_dual - h * lines - h * h / 2 * squares
        slope_u = -h * np.fft.irfft(seen_b * bends, length)[:size]
        slope_v = h * np.fft.irfft(seen_a * np.conj(bends), length)[:size]
        bend = -bins.mean_a(slope_u) / mass_b / h
        of_bent = (slope_u, slope_v), bend, h * h * _total(squares, length) / mass
        norm, dual_norm = norm + 2 * h * bend_norm, dual_norm + 2 * h * (turn_norm + h * bend_norm)
    # The negatives strictly above each bin, and the positives strictly below.
    step_u = running_sum(bins.count_b[::-1])[-2::-1].astype(float) + bins.count_b / 2
    step_v = running_sum(bins.count_a)[:-1].astype(float) + bins.count_a / 2
    top = float(np.asarray(loss.dual(np.ones(1)))[0])
    stepped = bins.mean_a(step_u) / mass_b
    # The true sums lie in this range, so clipping cannot make the computed ones worse.
    u = np.clip(step_u + np.fft.irfft(to_u, length)[:size], 0.0, mass_b)
    v = np.clip(step_v + np.fft.irfft(to_v, length)[:size], 0.0, mass_a)
    errors = error * spread_a * norm, error * spread_b * norm
    dual_error = (error + 2 * gamma(short_chain(length) + 8)) * spread_a * dual_norm
    conjugate = top * stepped + _total(to_dual, length) / mass
    return ClassSums(u, v, conjugate, stepped, *errors, dual_error, *of_bent)


def _total(shares: np.ndarray, length: int) -> float:
    """Return the sum whose transform has these products, by Parseval's theorem."""
    real = np.real(shares)
    ends = float(real[0] + real[-1])  # the others stand for two frequencies each
    return (2 * float(short_sum(real)) - ends) / length


@lru_cache(maxsize=2)
def _kernels(
    loss: Any, per_unit: float, shift: int, half: int, length: int, bent: bool
) -> tuple[list[np.ndarray], list[float]]:
    """Return the transforms of alpha - step, its dual part and, if bent, B and t B; their norms."""
    m = np.arange(-half, half + 1)
    step = np.where(m < 0, 1.0, np.where(m > 0, 0.0, 0.5))
    x = (m + shift) / per_unit - loss.centre
    held = [*loss.beside_step(x, step), *(loss.bent(x) if bent else ())]
    around = np.zeros((len(held), length))
    around[:, m] = held
    return list(np.fft.rfft(around)), [float(np.linalg.norm(one)) * (1 + 1e-9) for one in held]


def few_pairs(pairs: Any, scores: np.ndarray, width: float) -> bool:
    if pairs.form == "binned" or (count := pairs.count()) > FEW_PAIRS:
        return False
    # A bin takes as long as eight pairs do.
    return count <= 1 << 12 or 8 * float(np.ptp(scores)) > width * count


def convolved(pairs: Any, scores: np.ndarray, loss: Any, width: float) -> PairSums:
    """Return the sums of a smooth loss over all pairs; the value is an upper bound."""
    if not float(np.abs(scores).max()) <= LARGEST_SCORE:
        raise InputError(f"a score is larger than {LARGEST_SCORE:g}: scale the features")
    positive, weight, n = pairs.positive, pairs.weight, scores.size
    floats = np.ascontiguousarray(scores, dtype=float)
    used = np.ones(n, dtype=bool) if weight is None else weight > 0
    extent = Extent()
    extent.add(floats[used], positive[used])
    bins = float(pairs.bins)
    if width > 0:  # a power of two, at least 1 / width
        bins = float(2.0 ** np.ceil(np.log2(1.0 / min(max(width, 2.0**-40), 2.0**40))))
    ruler = smooth_ruler(extent.ends, bins, loss, 0.0)
    found = Gathered.over(ruler, 0, 3 if weight is None else 4)
    whole = weight is None or (whole_numbers(weight) and float(weight.sum()) < 2.0**50)
    found.add(ruler, (floats[None], positive, weight), np.zeros(1), np.ones(1))
    sums = closed_smooth(ruler, found, whole, loss)
    c = ruler.marginals(floats, positive, weight, sums.c)
    # Rows without weight have c = 0, and far ones must not widen the bound by `moved`.
    middle = extent.ends[::2].min() / 2 + extent.ends[1::2].max() / 2
    shifted = np.where(used, scores - middle, 0.0).astype(float)
    terms, moved = c * shifted, float(np.abs(shifted).max())
    # Scores of the long format are off their bins' theta by this much.
    slip = 4 * UNIT * float(np.abs(extent.ends).max()) if is_long(scores) else 0.0
    value = sums.conjugate - float(short_sum(terms)) + sums.value
    slips = gamma(short_chain(n) + 16) * float(short_sum(np.abs(terms)))
    slips += sums.conjugate_rounding + moved * sums.rounding + sums.value_rounding
    slips += 2 * slip * (np.sqrt(2 * loss.smoothness * sums.value) + loss.smoothness * slip)
    slips += gamma(8) * (abs(value) + sums.value + abs(sums.conjugate)) + 4 * LONG_UNIT
    slips, excess = float(slips) * (1 + 1e-9), sums.excess * (1 + gamma(4))
    return replace(sums, value=max(value, 0.0), c=c, value_rounding=slips, excess=excess)


def bins_cost(loss: Any) -> tuple[float, int]:
    """Return doubt and order: K bins per unit cost about 1 / (doubt K^order), or less."""
    return (72.0, 3) if hasattr(loss, "bent") else (12.0 / loss.smoothness, 2)


def smooth_ruler(extent: np.ndarray, bins: float, loss: Any, least: float = 1.0) -> Ruler:
    """Return a grid for scores of this range, with fewer bins per unit while it is too large."""
    while True:
        K = float(bins)
        # 8.0: bins beyond the reach of a loss that rows keep: flooring moves them by less
        reach = loss.reach + 8.0 / K
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
    powers = 2 if hasattr(loss, "bent") and K * WIDEST_BENT >= 1 else 1
    return Ruler(int(bins) if bins >= 1 else bins, limits, int(size), extent, powers, cut=True)


def closed_smooth(ruler: Ruler, found: Gathered, whole: bool, loss: Any) -> PairSums:
    """Return the marginals by bin, or their lines in theta, and the sums over all pairs."""
    chain, K = found.longest + 8, float(ruler.bins)
    slip = 0.0 if whole else gamma(chain)
    h, bent = 1 / K, ruler.powers > 1
    held = np.ascontiguousarray(np.moveaxis(found.held, 2, 1))
    thetas = (held[1, 1:3], held[0, 1:3]) if bent else None
    bins = Bins(K, round(loss.centre * K), held[1, 0], held[0, 0], thetas)
    sums, (mass_a, mass_b) = class_sums(bins, loss), bins.masses
    mass = mass_a * mass_b
    total, conjugate = bins.mean_a(sums.u) / mass_b, sums.conjugate
    kernel, adding = KERNEL_UNITS * UNIT, gamma(short_chain(bins.size) + 16)
    adding += 0.0 if whole else gamma(bins.size + 2, LONG_UNIT)  # the step's running sums
    lines, along = [np.stack([-sums.v, sums.u])], gamma(2 * (chain + ruler.size) + 24) + 2 * slip
    if sums.slopes is not None:
        slope_u, slope_v = sums.slopes
        lines.append(np.stack([-slope_v, slope_u]))
        total += float(short_sum(held[1, 1] * slope_u)) / mass
        # What the transforms, kernels and sums of theta round is added to both means.
        bend = max(sums.bend, 0.0) + K * sums.u_error + kernel + adding + 2 * slip
        square = max(sums.square, 0.0) + 2 * sums.dual_error + 4 * h * h * (kernel + along)
        cubic, quartic = loss.remainders(h)
        lost = cubic * h * square * (1 + 1e-6)
        conjugate, extra = conjugate - lost, 2 * lost + quartic * h**4 * bend * (1 + 1e-6)
        rounded = gamma(2 * chain + 16) * h  # in the sums of theta by bin
    else:
        first, second = (held[:, 1:3].sum(axis=2) / np.array([mass_b, mass_a])[:, None]).T
        square = max(float(second.sum() - 2 * first[0] * first[1]), 0.0) * h**2
        size = float(second.sum() + 2 * first[0] * first[1]) * h**2
        extra, rounded = loss.smoothness / 2 * (square + along * size), 0.0
    extra += loss.tail(loss.reach)
    c_error = sums.u_error + sums.v_error + 3 * kernel + rounded
    c_error += (4 * slip + adding) * 2 * (total + sums.stepped) + 8 * UNIT * 2 * total
    # The mean size of what is added: dual parts are at least -top alpha, and B e and t B e below h.
    top = abs(float(np.asarray(loss.dual(np.ones(1)))[0]))
    duals = 3 * top * (max(total, sums.stepped) + sums.u_error) + abs(conjugate) + sums.dual_error
    duals += h if bent else 0.0
    conjugate_error = sums.dual_error + kernel * (2 + top) + 2 * (adding + 2 * slip) * duals
    conjugate_error += rounded
    roundings = conjugate_error + gamma(8) * extra, c_error, conjugate_error
    table = np.stack(lines, axis=-1) / mass
    return PairSums(extra, table, conjugate, total, *roundings, excess=extra)


def check_margin(least: float) -> None:
    """Refuse a margin at which the exponential loss overflows."""
    if not least >= -LARGEST_EXPONENT:
        raise OverflowingError(
            f"the exponential loss overflows at a margin of {least:g}: take smaller weights, "
            "a larger lam or another loss"
        )


def exponential_sums(pairs: Any, scores: np.ndarray) -> PairSums:
    """Return the sums of exp(-t) = exp(-s_i) exp(s_j) over all pairs, by factors of at most one."""
    positive, (a, b) = pairs.positive, pairs.sides
    s, r = scores[positive], scores[~positive]
    least, most = s[a > 0].min(), r[b > 0].max()
    worst = float(most - least)
    check_margin(-worst)
    powers = (a, least - s), (b, r - most)  # those of rows without weight may overflow
    row, column = (w * np.exp(np.where(w > 0, x, 0.0).astype(float)) for w, x in powers)
    sum_a, sum_b = float(short_sum(row)), float(short_sum(column))
    mean_a, mean_b = sum_a / float(short_sum(a)), sum_b / float(short_sum(b))
    value = float(np.exp(worst)) * mean_a * mean_b
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
    chain, unit = gamma(2 * short_chain(pairs.n) + 4 * EXPONENTIAL_UNITS), 4 * UNIT
    mass = float(np.abs(c) @ (1.0 + np.abs(shifted)))
    relative = chain * value + unit * (mass + abs(worst) * value)
    rounding = 2 * (relative + chain * float(np.abs(c).sum()))
    size = value + float(np.abs(linear).sum())
    slips = (rounding * (1 + abs(worst)) + chain * size + unit * mass * (1 + abs(worst))) * 2
    return PairSums(value, c, conjugate, value, 2 * relative, rounding, slips)
