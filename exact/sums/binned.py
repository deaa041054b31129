"""Sums over ALL pairs without a sort: the scores rounded down to a grid of bins, O(n).

With K bins per unit (a power of two), a_i = floor(K s_i) on positive rows and b_j = floor(K s_j) on
negative ones, the integer ``m_ij = b_j - a_i + K`` tells the pair's shortfall
``K z_ij = m_ij + theta_j - theta_i`` up to the residuals theta in [0, 1). m >= 1 means z > 0 and
m <= -1 means z < 0; only pairs with m = 0 are uncertain. Rows are seen a block at a time, in any
order and in any number of parts: `Gathered` counts them, and a `closed` function gives the sums.

*Hinge.* alpha_ij = clip(m_ij / (2 half) + 1/2, 0, 1), or 1[m_ij >= 1] for half = 0, is in the
hinge's box for any scores, so its marginals are feasible without tolerance: they are sums
of counts. Where m = 0, ``K max(0, z) = max(0, theta_j - theta_i) <= theta_j (1 - theta_i)``, so the
value is a rigorous upper bound of the mean hinge, too large by about (density of pairs at the
margin) / (12 K^2), and a bin needs to keep only its mass and its sum of theta.

*Squared hinge.* With alpha_ij = 2 z_ij where m_ij >= 1, and 0 elsewhere, which is in the box
alpha >= 0 for any scores, all sums over pairs factorise into the moments sum theta^p of
the bins (p = 0, 1, 2), and the marginal of a row is a straight line in its own theta. So

    mean max(0, z)^2  <=  sums over m >= 1  +  sums over m = 0 of theta_j^2 (1 - theta_i)^2 / K^2,

which is too large by about (density of pairs at the margin) / (36 K^3), while alpha loses about
(density) / (12 K^3). Rows too far out to be near any row of the other class share the last bin.
Their theta is then below 0 or above 1, and the formulas hold as they are. Every term that enters a
sum over m >= 1 is made of masses and thetas by additions and products, and each passes through at
most `chain` roundings: the error of a sum is at most gamma(chain) times the same sum of the
magnitudes, which is computed next to it.

*The pull in the same pass.* All rows of a class in one bin have marginals on one line in theta, per
unit of weight c = table[class, bin, 0] + table[class, bin, 1] theta, so that

    sum_i c_i (x_i - offset) = sum over classes and bins of table[.., 0] S0 + table[.., 1] S1,

S0 the sum of the weighted rows x_i - offset of a bin and S1 the same times theta. They are gathered
while the counts are; the marginals are known only when all rows are counted, but then no row is
needed again. A row's term passes through as many additions as its bin has rows, and one for each
part that is added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError, OverflowingError
from ..tools.compiling import sealed
from ..tools.rounding import CHAIN, LONG_UNIT, UNIT, Pull, gamma, short_chain, short_sum
from . import loops, plain
from .assembled import PairSums

LARGEST_GRID = 1 << 22  # Largest number of bins; each takes 32 bytes in the two histograms.

# Bin numbers stay below this, so that floats hold all their sums and differences exactly.
LARGEST_BIN = 2.0**51


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

    def widened(self, share: float) -> np.ndarray:
        """Return the ends, moved outwards by `share` of each range."""
        low, high = self.ends[[0, 2]], self.ends[[1, 3]]
        margin = share * (high - low) + 1e-9
        return np.ravel(np.column_stack([low - margin, high + margin]))

    def merge(self, other: Extent) -> None:
        for k, of_two in enumerate((min, max, min, max)):
            self.ends[k] = of_two(self.ends[k], other.ends[k])


def raise_for(scores: np.ndarray) -> None:
    """Raise `InputError` for the first score that is not finite or overflows the grid."""
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

    def placed(
        self, scores: np.ndarray, positive: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return classes (0 or 1), places and theta of rows, as `loops.gather` counts them."""
        return plain.placed(scores, positive, float(self.bins), self.limits, self.cut)

    def marginals(
        self, scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None, table: np.ndarray
    ) -> np.ndarray:
        """Return the marginals (m,) of rows for a table (2, size, powers)."""
        out, chosen = np.empty(scores.size), np.zeros(0) if weight is None else weight
        K = float(self.bins)
        given = (sealed(scores), positive, sealed(chosen))
        loops.look_up(*given, K, self.limits, self.cut, table, out)
        return out

    def pull(
        self,
        columns: np.ndarray,
        offset: np.ndarray,
        w: np.ndarray,
        positive: np.ndarray,
        weight: np.ndarray | None,
        table: np.ndarray,
        into: Pull,
    ) -> None:
        """Add the rows (d, m) of a block, by the marginals that a table gives them."""
        m, chosen = positive.size, np.zeros(0) if weight is None else weight
        if m == 0:
            return
        parts = np.zeros((1 + (m - 1) // (CHAIN * loops.CHUNK), w.size + 1, loops.CHUNK))
        given = sealed(columns), offset, w, positive, sealed(chosen), float(self.bins)
        loops.pull(*given, self.limits, self.cut, table, parts)
        # Short sums are added up in groups, while these have at most CHAIN rows.
        group = 1 << (CHAIN // min(CHAIN, -(-m // loops.CHUNK))).bit_length() - 1
        sums = parts.transpose(0, 2, 1).reshape(-1, group, w.size + 1).sum(axis=1)
        into.add(sums[:, :-1], float(sums[:, -1].sum()), m)

    def holds(self, ends: np.ndarray) -> bool:
        """Return whether scores of this range, as `Extent.ends`, lie in the one assumed."""
        outside = (ends[::2] < self.extent[::2]) | (ends[1::2] > self.extent[1::2])
        return not outside.any()


@dataclass(eq=False)
class Gathered:
    """Moments of rows by class and bin, and the sums of these rows. `held` (2, size, 2 to 4) has
    masses, sums of theta, of theta^2 and, if `counted`, numbers of rows; `theta` what a class's
    thetas and their squares add up to, once `moments` did that."""

    held: np.ndarray
    ends: np.ndarray
    rows: int
    sums: np.ndarray
    theta: np.ndarray
    counted: bool = False
    parts: int = 1

    @classmethod
    def over(cls, ruler: Ruler, dim: int, columns: int, sums: np.ndarray | None = None) -> Gathered:
        """Return empty moments in so many columns for rows of `dim`; 0 where no rows are summed.
        `sums` are zeros (2, size, powers, dim + 1) to fill, if given."""
        if sums is None:
            sums = np.zeros((2, ruler.size, ruler.powers, dim + 1) if dim else (2, 0, 1, 1))
        ends = np.array([np.inf, -np.inf, np.inf, -np.inf])
        held = np.zeros((2, ruler.size, columns))
        return cls(held, ends, 0, sums, np.zeros((2, 2)), counted=columns > 3)

    def add(
        self,
        ruler: Ruler,
        columns: np.ndarray,
        offset: np.ndarray,
        w: np.ndarray,
        positive: np.ndarray,
        weight: np.ndarray | None,
    ) -> None:
        """Count a block of rows, columns (d, m), by their scores (x - offset) w."""
        chosen = np.zeros(0) if weight is None else weight  # none: weights of one each
        K, grid = float(ruler.bins), (ruler.limits, ruler.cut, self.held, self.sums, self.ends)
        if not loops.gather(sealed(columns), offset, w, positive, sealed(chosen), K, *grid):
            with np.errstate(all="ignore"):
                raise_for(K * (w @ (columns - offset[:, None])))
        self.rows += positive.size

    def merge(self, other: Gathered) -> Gathered:
        self.held += other.held
        self.sums += other.sums
        self.theta += other.theta
        self.ends[::2] = np.minimum(self.ends[::2], other.ends[::2])
        self.ends[1::2] = np.maximum(self.ends[1::2], other.ends[1::2])
        self.rows += other.rows
        self.parts += other.parts
        return self

    def moments(self, powers: int) -> Gathered:
        """Return the moments alone, of theta by bin only where `powers` is 2."""
        held, theta = self.held, self.held[:, :, 1:3].sum(axis=1)
        if powers == 1:
            held = np.ascontiguousarray(held[:, :, ::3])
        none = np.zeros((2, 0, 1, 1))
        return Gathered(held, self.ends, self.rows, none, theta, self.counted, self.parts)

    @property
    def longest(self) -> float:
        """The most rows in a bin, with what adding up the partitions rounds. Rows of whole weight
        weigh one at least, or add nothing; others must be counted."""
        return float(self.held[..., -1 if self.counted else 0].max()) + self.parts

    def weighed(self, table: np.ndarray, chain: float) -> Pull:
        """Return the pull of these rows for a table of marginals."""
        d = self.sums.shape[3] - 1
        total, carry, entries = np.zeros(d), np.zeros(d), table.size
        flat = self.sums.reshape(2, -1, d + 1)
        weights = np.ascontiguousarray(table.reshape(2, -1))
        size = float(loops.weigh(weights, flat, total, carry))
        # Differences, products with weight and theta, plain sums in a bin; the norms' own rounding.
        chained = gamma(chain + self.parts + 8)
        size *= 1 + gamma(chain + self.parts + d + 2 * entries + 16)
        across = gamma(8) + (2 * entries * UNIT) ** 2
        return Pull(total, carry, size, (chained + across * (1 + chained)) * size)


@dataclass(frozen=True, eq=False)
class ClosedLines:
    """Marginals by class and bin, and sums over all pairs, both over the pairs' mass."""

    table: np.ndarray
    conjugate: float
    conjugate_rounding: float
    c_error: float
    value: float
    value_rounding: float
    total: float | None = None
    excess: float = 0.0


def hinge_ruler(extent: np.ndarray, bins: int, half: int = 0, largest: int = LARGEST_GRID) -> Ruler:
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
        if (size <= largest and top < LARGEST_BIN) or bins == 1:
            break
        bins //= 2
    if not (size <= max(largest, 1 << 10) and top < LARGEST_BIN):
        raise OverflowingError("the scores are so far apart that no grid of bins holds them")
    first = a_low - K - edge
    limits = np.array([[first, first + size - 1, first], [a_low, a_high, first + K]])
    return Ruler(bins, limits, int(size), extent, powers=1, cut=False)


def closed_hinge(ruler: Ruler, found: Gathered, half: int, whole: bool) -> ClosedLines:
    """Return the marginals by bin and the sums over all pairs."""
    minus, plus = found.held
    size, (masses_b, masses_a) = ruler.size, found.held[:, :, 0]
    mass_a, mass_b = float(short_sum(masses_a)), float(short_sum(masses_b))
    K, mass = float(ruler.bins), mass_a * mass_b
    whole = whole and 2 * size * max(mass_a, mass_b) < 2.0**53
    if whole:
        u, v = _whole_ramps(masses_b, half), _whole_ramps(masses_a[::-1], half)[::-1]
    else:
        u, v = np.empty(size), np.empty(size)
        loops.ramps(masses_b, half, u)
        loops.ramps(masses_a[::-1], half, v[::-1])
    value, counted, residual = loops.summed(plus, minus)
    used = masses_a > 0
    total = float(short_sum(masses_a[used].astype(np.longdouble) * u[used])) / mass
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
    table = np.stack([v / -mass, u / mass])[..., None]
    return ClosedLines(
        table, total, lost, 2 * lost, value, rounding / K / mass + gamma(8) * value, total,
        float(doubtful) / K / mass * (1 + gamma(4)),
    )  # fmt: skip


def _whole_ramps(mass: np.ndarray, half: int) -> np.ndarray:
    """Return what `loops.ramps` fills, of whole numbers: nothing rounds but the quotient."""
    if half == 0:
        return np.cumsum(mass[::-1])[::-1] - mass
    padded = np.concatenate([np.zeros(half), mass, np.zeros(half + 1)])
    ramp = np.cumsum(np.cumsum(padded[::-1]))[::-1]  # sum_b max(0, b - k + half + 1) mass[b]
    return (ramp[1 : mass.size + 1] - ramp[2 * half + 1 :]) / (2.0 * half)


def half_width(width: float, bins: int) -> int:
    """Return the smoothing `width` as a half width in bins: at least one, or 0 for none."""
    return max(1, round(width * bins / 2)) if width > 0 else 0


def whole_numbers(weight: np.ndarray | None) -> bool:
    """Whether row weights are whole numbers, so that sums of them are exact."""
    return weight is None or bool(np.all(weight == np.floor(weight)))


def binned_hinge(
    scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None, width: float, bins: int
) -> PairSums:
    """Return the hinge's sums over all pairs at `scores` (n,), from `bins` bins per unit. `width`,
    the smoothing of the slope, is rounded to an even number of bins."""
    extent = Extent()
    extent.add(scores, positive)
    sums, c = hinge_of_scores(extent.ends, scores, positive, weight, bins, half_width(width, bins))
    rounding = sums.value_rounding + 4 * UNIT * float(np.abs(extent.ends).max())
    return PairSums(
        sums.value, c, sums.conjugate, sums.conjugate, rounding, sums.c_error,
        sums.conjugate_rounding, excess=sums.excess,
    )  # fmt: skip


def hinge_of_scores(
    extent: np.ndarray,
    scores: np.ndarray,
    positive: np.ndarray,
    weight: np.ndarray | None,
    bins: int,
    half: int,
) -> tuple[ClosedLines, np.ndarray]:
    """Return the hinge's sums, and the marginals (n,), of scores (n,) that are all at hand."""
    ruler = hinge_ruler(extent, bins, half)
    found = Gathered.over(ruler, 0, 2)
    column = np.ascontiguousarray(scores).reshape(1, -1)
    found.add(ruler, column, np.zeros(1), np.ones(1), positive, weight)
    sums = closed_hinge(ruler, found, half, whole_numbers(weight))
    return sums, ruler.marginals(scores, positive, weight, sums.table)


def squared_ruler(extent: np.ndarray, bins: int) -> Ruler:
    """Return the grid of the squared hinge's moments for scores of this range."""
    return replace(hinge_ruler(extent, bins), powers=2)


def closed_squared(ruler: Ruler, found: Gathered, whole: bool) -> ClosedLines:
    """Return the marginals' lines and the sums over all pairs."""
    minus, plus = found.held
    table, magnitude = np.zeros((2, ruler.size, 2)), np.zeros(2)
    sums = loops.close_squares(plus, minus, table, magnitude)
    square, linear, doubtful, square_size, linear_size = sums
    mass = float(plus[:, 0].sum()) * float(minus[:, 0].sum())
    K = float(ruler.bins)
    # In a bin, from bin to bin in three nested sums, and once over all bins; the mass twice.
    chain = 3 * gamma(2 * found.longest + 8 * plus.shape[0] + 64)
    value = (square + doubtful) / K**2 / mass
    conjugate = (2 * linear / K - square / K**2) / mass
    value_rounding = chain * (square_size + doubtful) / K**2 / mass
    conjugate_rounding = chain * (2 * linear_size / K + square_size / K**2) / mass
    table[0] *= -2 / K / mass
    table[1] *= 2 / K / mass
    c_error = chain * 2 * float(magnitude.sum()) / K / mass
    wide = 1 + gamma(64) + chain
    return ClosedLines(
        table, conjugate, conjugate_rounding * wide, c_error * wide, value, value_rounding * wide,
        excess=doubtful / K**2 / mass * wide,
    )  # fmt: skip
