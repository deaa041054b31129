"""Sums over ALL positive-negative pairs without the pairs: one sort, one sweep, O(n log n).

Write t_i = s_i - 1 for a positive row and b_j = s_j for a negative one; the pair's shortfall is
``z_ij = 1 - (s_i - s_j) = b_j - t_i``, so it is active exactly if ``b_j > t_i``. After sorting
the t and the b, the active partners of a row are a prefix or a suffix, and every sum over them
is a running sum of masses, of first or of second moments. The same floats t_i and b_j are compared
for both sides: two different comparisons (t_i < b_j here, s_i < b_j + 1 there) round differently at
ties and would give marginals that belong to no alpha.

Running sums are compensated, so that their rounding does not grow with n, and begin at the end at
which pairs are active. `plain.sweep` is the reference in numpy's passes, for any format of floats.
[Nonlinear, Algorithm 2] uses such sums for the squared hinge; they hold for the hinge just as well.
"""

from __future__ import annotations

import numpy as np

from ..tools.rounding import LONG_UNIT, UNIT, gamma, short_chain, short_sum, unit_of
from ..tools.threads import in_parts, workers
from . import loops, plain
from .assembled import SideSums

COMPILED_FROM = 100  # Rows from which the loop is quicker than numpy's passes.


def centred(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return t = s - 1 of the positives, b = s of the negatives, and their largest magnitude. The
    middle of the range is taken off first: pairs do not see it, and running sums lose fewer
    digits."""
    middle = (scores.max() + scores.min()) / 2
    shifted = scores - middle
    t = shifted[positive] - 1.0
    b = shifted[~positive]
    return t, b, float(max(np.abs(t).max(), np.abs(b).max()))


def both_orders(t: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what sorts t (p,) and b (q,), from two threads where that pays. Values that tie come
    in any order, which is the same for any number of threads."""
    # 32: numbers that a pass over rows takes in the time that sorting takes for one
    jobs = min(2, workers(32 * 2 * min(t.size, b.size)))
    first, second = in_parts(np.argsort, (t, b), jobs)
    return first, second


def swept(
    t: np.ndarray,
    b: np.ndarray,
    weight_t: np.ndarray,
    weight_b: np.ndarray,
    width: float = 0.0,
    *,
    squared: bool = False,
    fast: bool = False,
) -> SideSums:
    """Return the summed hinge, alpha = clip(z / width + 1/2, 0, 1), or its square, alpha = 2 z.
    `fast` takes the compiled loop, for float64 only."""
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
    """Return the summed square loss and the marginals of alpha = 2 z, from moments: O(n). [SHT,
    Prop. 1]: the mean over pairs is a function of the class means and variances."""
    mass_t, mass_b = weight_t.sum(dtype=np.longdouble), weight_b.sum(dtype=np.longdouble)
    mean_t, mean_b = short_sum(weight_t * t) / mass_t, short_sum(weight_b * b) / mass_b
    spread_t = short_sum(weight_t * (t - mean_t) ** 2) / mass_t
    spread_b = short_sum(weight_b * (b - mean_b) ** 2) / mass_b
    value = mass_t * mass_b * ((mean_b - mean_t) ** 2 + spread_t + spread_b)
    u = 2 * weight_t * mass_b * (mean_b - t)
    return SideSums(value, u, 2 * weight_b * mass_t * (b - mean_t))


def hinge_roundings(n: int, size: float, width: float, unit: float = UNIT) -> tuple[float, float]:
    """Return bounds of the rounding in the hinge's value and marginals (sum of absolute errors).
    They are for weights that add up to one in each class; `size` bounds |t| and |b|, `unit` is the
    roundoff of the scores' format."""
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
