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
fast Fourier transform; `transform` bounds what that rounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...tools.rounding import LONG_UNIT, UNIT, gamma, short_chain, short_sum
from ..assembled import PairSums, Whole
from .bins import Bins, mean_of_squares
from .contract import KERNEL_UNITS, Smooth
from .many_rows import PlacedRows
from .transform import ClassSums, class_sums

# Largest number of pairs that are visited one by one: that is exact and as fast.
FEW_PAIRS = 1 << 20


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
