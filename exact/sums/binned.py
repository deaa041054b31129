"""Sums over ALL pairs without a sort: the scores rounded down to a grid of bins, O(n).

With K bins per unit (a power of two), a_i = floor(K s_i) on positive rows, b_j = floor(K s_j) on
negative ones and residuals theta in [0, 1), the pair's shortfall is K z_ij = m_ij + theta_j -
theta_i with m_ij = b_j - a_i + K. So m >= 1 means z > 0 and m <= -1 means z < 0; only pairs with
m = 0 are uncertain.

*Hinge.* alpha_ij = clip(m_ij / (2 half) + 1/2, 0, 1), or 1[m_ij >= 1] for half = 0, is in the
hinge's box for any scores: its marginals are sums of counts. Where m = 0, K max(0, z) <= theta_j
(1 - theta_i): the value is an upper bound of the mean hinge, too large by about (density of pairs
at the margin) / (12 K^2).

*Squared hinge.* With alpha_ij = 2 z_ij where m_ij >= 1, else 0, all sums over pairs factorise into
the moments sum theta^p of the bins (p = 0, 1, 2). Pairs with m = 0 add at most theta_j^2
(1 - theta_i)^2 / K^2 each. Rows too far out to be near any row of the other class share the last
bin, with theta below 0 or above 1. Every term of a sum over m >= 1 passes through at most `chain`
roundings: the error of a sum is at most gamma(chain) times the same sum of the magnitudes, computed
next to it.

*The pull.* The marginals of a class in one bin are on one line, per unit of weight c = table[class,
bin, 0] + table[class, bin, 1] theta. So sum_i c_i (x_i - offset) follows from the sums of the
weighted rows x_i - offset of each bin, and of the same times theta."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError, OverflowingError
from ..spaces.rows import chunk_sums
from ..tools.compiling import sealed
from ..tools.rounding import CHAIN, LONG_UNIT, UNIT, Pull, gamma, short_chain, short_sum
from . import loops
from .plain import running
from .swept import PairSums

LARGEST_GRID = 1 << 22  # Largest number of bins; each takes 32 bytes in the two histograms.
LARGEST_BIN = 2.0**51  # bin numbers stay below it: floats hold their sums and differences exactly


class Extent:
    """The range of each class's scores, a block at a time."""

    def __init__(self) -> None:
        self.ends = np.array([np.inf, -np.inf, np.inf, -np.inf])

    def add(self, scores: np.ndarray, positive: np.ndarray) -> None:
        """Widen the range by a block of scores (m,), or raise `InputError` for one not finite."""
        if not np.isfinite(scores).all():
            raise_for(scores)
        for k, side in enumerate((positive, ~positive)):
            own = scores[side]
            self.ends[2 * k] = min(self.ends[2 * k], own.min(initial=np.inf))
            self.ends[2 * k + 1] = max(self.ends[2 * k + 1], own.max(initial=-np.inf))

    def merge(self, other: Extent) -> None:
        for k, of_two in enumerate((min, max, min, max)):
            self.ends[k] = of_two(self.ends[k], other.ends[k])


def raise_for(scores: np.ndarray) -> None:
    row = int(np.argmin(np.isfinite(scores)))
    raise InputError(f"a score is {scores[row]}: scores must be finite and within reach of a grid")


@dataclass(frozen=True, eq=False)
class Ruler:
    """Bins of scores, one scale for each class: least, largest and first bin in limits (2, 3)."""

    bins: Any  # a unit: a power of two, which is a whole number unless it is below one
    limits: np.ndarray
    size: int
    extent: np.ndarray
    powers: int
    cut: bool

    def marginals(
        self, scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None, table: np.ndarray
    ) -> np.ndarray:
        out, given = np.empty(scores.size), (sealed(scores), positive, _sealed(weight))
        loops.look_up(*given, float(self.bins), self.limits, self.cut, table, out)
        return out

    def pull(
        self, block: Any, offset: np.ndarray, w: np.ndarray, table: np.ndarray, into: Pull
    ) -> None:
        """Add the rows of a block (columns, positive, weight, ...), by the marginals of a table."""
        columns, positive, weight, *_ = block
        m = positive.size
        if m == 0:
            return
        parts = np.zeros((1 + (m - 1) // (CHAIN * loops.CHUNK), w.size + 1, loops.CHUNK))
        given = sealed(columns), offset, w, positive, _sealed(weight), float(self.bins)
        loops.pull(*given, self.limits, self.cut, table, parts)
        # Short sums are added up in groups, while these have at most CHAIN rows.
        group = 1 << (CHAIN // min(CHAIN, -(-m // loops.CHUNK))).bit_length() - 1
        sums = parts.transpose(0, 2, 1).reshape(-1, group, w.size + 1).sum(axis=1)
        into.add(sums[:, :-1], float(sums[:, -1].sum()), m)

    def holds(self, ends: np.ndarray) -> bool:
        """Return whether scores of this range, as `Extent.ends`, lie in the one assumed."""
        outside = (ends[::2] < self.extent[::2]) | (ends[1::2] > self.extent[1::2])
        return not outside.any()


def _sealed(weight: np.ndarray | None) -> np.ndarray:
    return sealed(np.zeros(0) if weight is None else weight)  # of none, all weigh one


@dataclass(eq=False)
class Gathered:
    """Moments of rows by class and bin, and the sums of these rows. `held` (2, size, 2 to 4) has
    masses, sums of theta, of theta^2 and, if `counted`, numbers of rows."""

    held: np.ndarray
    ends: np.ndarray
    rows: int
    sums: np.ndarray
    counted: bool = False
    parts: int = 1

    @classmethod
    def over(cls, ruler: Ruler, dim: int, columns: int) -> Gathered:
        """Return empty moments in so many columns for rows of `dim`; 0 where no rows are summed."""
        sums = np.zeros((2, ruler.size, ruler.powers, dim + 1) if dim else (2, 0, 1, 1))
        held = np.zeros((2, ruler.size, columns))
        return cls(held, Extent().ends, 0, sums, counted=columns > 3)

    def add(self, ruler: Ruler, block: Any, offset: np.ndarray, w: np.ndarray) -> None:
        """Count the rows of a block (columns, positive, weight, ...) by their scores."""
        columns, positive, weight, *_ = block
        K, given = float(ruler.bins), (sealed(columns), offset, w, positive, _sealed(weight))
        grid = ruler.limits, ruler.cut, self.held, self.sums, self.ends
        if not loops.gather(*given, K, *grid):
            with np.errstate(all="ignore"):
                raise_for(K * (w @ (columns - offset[:, None])))
        self.rows += positive.size

    def merge(self, other: Gathered) -> Gathered:
        self.held += other.held
        self.sums += other.sums
        self.ends[::2] = np.minimum(self.ends[::2], other.ends[::2])
        self.ends[1::2] = np.maximum(self.ends[1::2], other.ends[1::2])
        self.rows += other.rows
        self.parts += other.parts
        return self

    @property
    def longest(self) -> float:
        """The most rows in a bin, with what adding up the partitions rounds. Rows of whole weight
        weigh one at least, or add nothing; others must be counted."""
        return float(self.held[..., -1 if self.counted else 0].max()) + self.parts

    def weighed(self, table: np.ndarray, chain: float) -> Pull:
        """Return the pull of these rows for a table of marginals."""
        d = self.sums.shape[3] - 1
        flat, c, into = self.sums.reshape(-1, d + 1), np.ravel(table), Pull.of(d)
        # Differences, products with weight and theta, plain sums in a bin; the norms' own rounding.
        chained = gamma(chain + self.parts + d + 16)
        size = float(np.abs(c) @ flat[:, -1]) * (1 + chained)
        into.add(chunk_sums(flat, c, CHAIN)[:, :-1], size, c.size)
        into.slip = into.slip * (1 + chained) + chained * into.size
        return into


def hinge_ruler(extent: np.ndarray, bins: int, half: int = 0) -> Ruler:
    """Return the grid of the hinge for scores of this range: coarser until it is not too large."""
    if not 1 <= bins < 1 << 63 or bins & (bins - 1):
        raise InputError(f"bins must be a power of two below 2^63, not {bins}")
    while True:
        K = float(bins)
        low_a, high_a, low_b, high_b = np.floor(K * extent)
        # Rows beyond these ends have m >= edge, or m <= -edge, with all of the other class.
        edge = max(half, 1)
        a_low = min(max(low_a, low_b + K - edge), high_a)
        a_high = max(min(high_a, high_b + K + edge), a_low)
        size = a_high - a_low + 2 * edge + 1
        top = np.abs(K * extent).max() + K + edge
        if (size <= LARGEST_GRID and top < LARGEST_BIN) or bins == 1:
            break
        bins //= 2
    if not (size <= LARGEST_GRID and top < LARGEST_BIN):
        raise OverflowingError("the scores are so far apart that no grid of bins holds them")
    first = a_low - K - edge
    limits = np.array([[first, first + size - 1, first], [a_low, a_high, first + K]])
    return Ruler(bins, limits, int(size), extent, powers=1, cut=False)


def closed_hinge(ruler: Ruler, found: Gathered, half: int, whole: bool) -> PairSums:
    """Return the hinge's sums over all pairs. Their c is a table: the marginals by class and bin,
    over the pairs' mass, as lines in theta."""
    minus, plus = found.held
    size, (masses_b, masses_a) = ruler.size, found.held[:, :, 0]
    mass_a, mass_b = float(short_sum(masses_a)), float(short_sum(masses_b))
    K, mass, scale = float(ruler.bins), mass_a * mass_b, 1.0
    whole = whole and 2 * size * max(mass_a, mass_b) < 2.0**53
    if whole:
        u, v = _whole_ramps(masses_b, half), _whole_ramps(masses_a[::-1], half)[::-1]
        scale = max(2.0 * half, 1.0)
    else:
        u, v = np.empty(size), np.empty(size)[::-1]  # `ramps` compiles once: v[::-1] is as u
        loops.ramps(masses_b, half, u)
        loops.ramps(masses_a[::-1], half, v[::-1])
    value, counted, residual = loops.summed(plus, minus)
    if whole and scale * mass < 2.0**53:  # a sum of whole numbers, in any order
        total = float(masses_a @ u) / (scale * mass)
    else:
        used = masses_a > 0
        terms = masses_a[used].astype(np.longdouble) * u[used]
        total = float(short_sum(terms)) / (scale * mass)
    # Whole numbers are counted exactly. Others, and residuals, are summed plainly within a bin
    # (at most `longest` terms, and a sum a part), compensated over bins.
    longest = found.longest if whole else float(found.rows) + found.parts
    slip = gamma(4) if whole else gamma(2 * found.rows + found.parts + 2 * short_chain(size) + 8)
    slip += gamma(short_chain(size) + 2, LONG_UNIT)
    across = gamma(16) + (size * UNIT) ** 2
    rounding = (across + slip) * counted + (across + gamma(longest + 16) + slip) * residual
    # Of pairs with m = 0 the value has theta_j (1 - theta_i), and the hinge at least zero.
    doubtful = np.maximum(minus[:, 1] * (plus[:, 0] - plus[:, 1]), 0.0).sum() * (1 + 1e-9)
    value, lost = value / K / mass, (slip + gamma(16)) * total
    table = np.stack([v / scale / -mass, u / scale / mass])[..., None]
    excess = float(doubtful) / K / mass * (1 + gamma(4))
    value_rounding = rounding / K / mass + gamma(8) * value
    return PairSums(value, table, total, total, value_rounding, 2 * lost, lost, excess=excess)


def _whole_ramps(mass: np.ndarray, half: int) -> np.ndarray:
    """Return max(2 half, 1) times what `loops.ramps` fills, of whole numbers: nothing rounds."""
    size = mass.size
    if half == 0:
        return np.cumsum(mass[::-1])[::-1] - mass
    ramp = np.zeros(size + 2 * half + 1)  # at k + half: sum_b max(0, b - k + 1) mass[b]
    inside = ramp[half : half + size][::-1]
    np.cumsum(np.cumsum(mass[::-1]), out=inside)
    ramp[:half] = ramp[half] + mass.sum() * np.arange(half, 0, -1)
    return ramp[1 : size + 1] - ramp[2 * half + 1 :]


def half_width(width: float, bins: int) -> int:
    """Return the smoothing `width` as a half width in bins: at least one, or 0 for none."""
    return max(1, round(width * bins / 2)) if width > 0 else 0


def whole_numbers(weight: np.ndarray | None) -> bool:
    """Whether row weights are whole numbers, so that sums of them are exact."""
    return weight is None or bool(np.all(weight == np.floor(weight)))


def binned_hinge(pairs: Any, scores: np.ndarray, width: float) -> PairSums:
    """Return the hinge's sums over all pairs, its `width` rounded to an even number of bins."""
    scores, positive, bins = scores.astype(float, copy=False), pairs.positive, pairs.bins
    extent = Extent()
    extent.ends[:] = 2 * [scores.min(), scores.max()]
    # 4: part of the largest grid up to which one range serves both classes, in a tenth of the time
    if not bins * np.ptp(extent.ends) <= LARGEST_GRID / 4:
        extent = Extent()
        extent.add(scores, positive)
    given = scores, positive, pairs.weight, bins, half_width(width, bins)
    sums, c = hinge_of_scores(extent.ends, *given)
    rounding = sums.value_rounding + 4 * UNIT * float(np.abs(extent.ends).max())
    return replace(sums, c=c, value_rounding=rounding)


def hinge_of_scores(
    extent: np.ndarray, scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None,
    bins: int, half: int,
) -> tuple[PairSums, np.ndarray]:  # fmt: skip
    """Return the hinge's sums, and the marginals (n,), of scores (n,) that are all at hand."""
    ruler = hinge_ruler(extent, bins, half)
    found = Gathered.over(ruler, 0, 2)
    column = np.ascontiguousarray(scores).reshape(1, -1)
    found.add(ruler, (column, positive, weight), np.zeros(1), np.ones(1))
    sums = closed_hinge(ruler, found, half, whole_numbers(weight))
    return sums, ruler.marginals(scores, positive, weight, sums.c)


def squared_ruler(extent: np.ndarray, bins: int) -> Ruler:
    return replace(hinge_ruler(extent, bins), powers=2)


def closed_squared(ruler: Ruler, found: Gathered, whole: bool) -> PairSums:
    minus, plus = found.held
    table, K = np.empty((2, ruler.size, 2)), float(ruler.bins)
    pairs_mass = float(plus[:, 0].sum()) * float(minus[:, 0].sum())
    # Of the negatives in the bins beyond k: mass, and the sums of (l - k) + theta and its square.
    (count, one, two), (q, q_one, q_two) = plus[::-1, :3].T, minus[::-1, :3].T
    mass = running(q)[:-1]
    first = running(mass + (q + q_one))[:-1]
    second = running((2.0 * first + mass) + ((q + 2.0 * q_one) + q_two))[:-1]
    table[1, ::-1] = np.stack([first, -mass], axis=1) * (2 / K / pairs_mass)
    # Thetas are in [0, 1], but for rows in the last bins, where all have one sign.
    one_size = np.abs(one) + 2.0 * count
    square = float(((count * second - 2.0 * one * first) + two * mass).sum())
    square_size = float((count * second + 2.0 * one_size * first + two * mass).sum())
    square_size += float((q_two * ((count + 2.0 * one_size) + two)).sum())
    linear = float((count * first - one * mass).sum())
    linear_size = float((count * first + one_size * mass).sum())
    doubtful = float((q_two * np.maximum((count - 2.0 * one) + two, 0.0)).sum())
    # Of the positives in the bins before k: mass, the sum of (k - l) - theta, and of magnitudes.
    (count, one), (p, p_one) = minus[:, :2].T, plus[:, :2].T
    mass = running(p)[:-1]
    table[0] = np.stack([running(mass + (p - p_one))[:-1], mass], axis=1) * (-2 / K / pairs_mass)
    size_of = running(mass + (3.0 * p + np.abs(p_one)))[:-1]
    magnitude = linear_size + float((count * size_of + (np.abs(one) + 2.0 * count) * mass).sum())
    # In a bin, from bin to bin in three nested sums, and once over all bins; the mass twice.
    chain = 3 * gamma(2 * found.longest + 8 * ruler.size + 64)
    wide = (1 + gamma(64) + chain) / pairs_mass
    value, total = (square + doubtful) / K**2 / pairs_mass, 2 * linear / K / pairs_mass
    conjugate = (2 * linear / K - square / K**2) / pairs_mass
    value_rounding = chain * (square_size + doubtful) / K**2 * wide
    conjugate_rounding = chain * (2 * linear_size / K + square_size / K**2) * wide
    slips = value_rounding, chain * 2 * magnitude / K * wide, conjugate_rounding
    return PairSums(value, table, conjugate, total, *slips, excess=doubtful / K**2 * wide)
