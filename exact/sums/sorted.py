"""Sums over ALL positive-negative pairs without the pairs: one sort, O(n log n).

Write t_i = s_i - 1 for a positive row and b_j = s_j for a negative one; the pair's shortfall is
``z_ij = 1 - (s_i - s_j) = b_j - t_i``, so it is active exactly if ``b_j > t_i``. After sorting
the t and the b, the active partners of a row are a prefix or a suffix, and every sum over them
is a difference of running sums. The same floats t_i and b_j are compared for both sides: two
different comparisons (t_i < b_j here, s_i < b_j + 1 there) round differently at ties and would
give marginals that belong to no alpha.

This is the readable form; `sorted_compiled` is the fast one. [Nonlinear, Algorithm 2] uses such
sums for the squared hinge; they hold for the hinge just as well.
"""

from __future__ import annotations

import numpy as np

from ..tools.rounding import (
    LONG_UNIT,
    UNIT,
    gamma,
    remaining_sum,
    running_sum,
    short_chain,
    short_sum,
    unit_of,
)
from .assembled import SideSums


def centred(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return t = s - 1 of the positives, b = s of the negatives, and their largest magnitude.

    The middle of the range is taken off first: pairs do not see it, and running sums lose fewer
    digits.
    """
    middle = (scores.max() + scores.min()) / 2
    shifted = scores - middle
    t = shifted[positive] - 1.0
    b = shifted[~positive]
    return t, b, float(max(np.abs(t).max(), np.abs(b).max()))


def hinge_sides(
    t: np.ndarray, b: np.ndarray, weight_t: np.ndarray, weight_b: np.ndarray, width: float
) -> SideSums:
    """Return the summed hinge and the marginals of alpha = clip(z / width + 1/2, 0, 1)."""
    t_order, b_order = np.argsort(t, kind="stable"), np.argsort(b, kind="stable")
    t_sorted, b_sorted = t[t_order], b[b_order]
    ranked_t, ranked_b = weight_t[t_order], weight_b[b_order]
    mass_b, first_b = running_sum(ranked_b), running_sum(ranked_b * b_sorted)
    mass_t, first_t = running_sum(ranked_t), running_sum(ranked_t * t_sorted)
    above = np.searchsorted(b_sorted, t_sorted, side="right")
    active_mass = mass_b[-1] - mass_b[above]
    # Summed from the far end, so that small sums stay accurate: only active pairs enter.
    tail, first_tail = remaining_sum(ranked_b), remaining_sum(ranked_b * b_sorted)
    value = (ranked_t * (first_tail[above] - t_sorted * tail[above])).sum()
    # Without rounding these pairs, too, might be active: the value's rounding pays for them.
    slip = 8 * unit_of(t) * (float(max(np.abs(t).max(), np.abs(b).max())) + 1)
    reach = np.searchsorted(b_sorted, t_sorted - slip, side="left")
    near = float((ranked_t * tail[reach]).sum()) * (1 + 1e-9)
    u, v = np.empty_like(t), np.empty_like(b)
    if width > 0:
        # The ramp: alpha rises from 0 at b = low to 1 at b = high.
        low, high = t_sorted - width / 2, t_sorted + width / 2
        start = np.searchsorted(b_sorted, low, side="right")
        stop = np.searchsorted(b_sorted, high, side="left")
        window = (first_b[stop] - first_b[start]) - low * (mass_b[stop] - mass_b[start])
        row_mass = (mass_b[-1] - mass_b[stop]) + window / width
        full = np.searchsorted(high, b_sorted, side="right")
        reach = np.searchsorted(low, b_sorted, side="left")
        part = (b_sorted + width / 2) * (mass_t[reach] - mass_t[full])
        window = part - (first_t[reach] - first_t[full])
        column_mass = mass_t[full] + window / width
    else:
        row_mass = active_mass
        column_mass = mass_t[np.searchsorted(t_sorted, b_sorted, side="left")]
    u[t_order] = ranked_t * row_mass
    v[b_order] = ranked_b * column_mass
    return SideSums(value, u, v, near=near)


def squared_hinge_sides(
    t: np.ndarray, b: np.ndarray, weight_t: np.ndarray, weight_b: np.ndarray
) -> SideSums:
    """Return the summed squared hinge and the marginals of alpha = 2 max(0, z)."""
    t_order, b_order = np.argsort(t, kind="stable"), np.argsort(b, kind="stable")
    t_sorted, b_sorted = t[t_order], b[b_order]
    ranked_t, ranked_b = weight_t[t_order], weight_b[b_order]
    mass_b, first_b = running_sum(ranked_b), running_sum(ranked_b * b_sorted)
    second_b = running_sum(ranked_b * b_sorted**2)
    mass_t, first_t = running_sum(ranked_t), running_sum(ranked_t * t_sorted)
    above = np.searchsorted(b_sorted, t_sorted, side="right")
    mass, first = mass_b[-1] - mass_b[above], first_b[-1] - first_b[above]
    second = second_b[-1] - second_b[above]
    # sum (b - t)^2, multiplied out; in the long format, because its terms cancel.
    per_row = second - 2 * t_sorted * first + t_sorted.astype(np.longdouble) ** 2 * mass
    below = np.searchsorted(t_sorted, b_sorted, side="left")
    u, v = np.empty_like(t), np.empty_like(b)
    u[t_order] = 2 * ranked_t * (first - t_sorted * mass)
    v[b_order] = 2 * ranked_b * (b_sorted * mass_t[below] - first_t[below])
    return SideSums((ranked_t * per_row).sum(), u, v)


def square_sides(
    t: np.ndarray, b: np.ndarray, weight_t: np.ndarray, weight_b: np.ndarray
) -> SideSums:
    """Return the summed square loss and the marginals of alpha = 2 z, from moments: O(n).

    [SHT, Prop. 1]: the mean over pairs is a function of the class means and variances.
    """
    mass_t, mass_b = weight_t.sum(dtype=np.longdouble), weight_b.sum(dtype=np.longdouble)
    mean_t, mean_b = short_sum(weight_t * t) / mass_t, short_sum(weight_b * b) / mass_b
    spread_t = short_sum(weight_t * (t - mean_t) ** 2) / mass_t
    spread_b = short_sum(weight_b * (b - mean_b) ** 2) / mass_b
    value = mass_t * mass_b * ((mean_b - mean_t) ** 2 + spread_t + spread_b)
    u = 2 * weight_t * mass_b * (mean_b - t)
    return SideSums(value, u, 2 * weight_b * mass_t * (b - mean_t))


def hinge_roundings(n: int, size: float, width: float, unit: float = UNIT) -> tuple[float, float]:
    """Return bounds of the rounding in the hinge's value and marginals (sum of absolute errors).

    They are for weights that add up to one in each class; `size` bounds |t| and |b|, `unit` is
    the roundoff of the scores' format.
    """
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
    """Return the relative rounding of a sum over one class of running sums over the other.

    A running sum has at most n terms, in the long format or compensated (error of order (n u)^2
    then), the sum of it over the other class n more.
    """
    return gamma(2 * n + 16, LONG_UNIT) + gamma(16, unit) + (n * unit) ** 2
