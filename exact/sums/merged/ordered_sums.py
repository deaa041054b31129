"""The losses' sums over ordered pairs: value, signed marginals, bounds of their rounding.

*Hinge.* Scores go to a grid of 2^k steps a unit, S = floor(2^k s), and m_ij = S_j - S_i + 2^k is
less than one step from the pair's shortfall z = 1 - (s_i - s_j): m >= 1 means z > 0, m <= -1 means
z < 0. So alpha = clip(m + half, 0, 2 half) / (2 half), or 1[m >= 1], is in the hinge's box, its
marginals are whole numbers but for one division, and with hard counts u_i, v_j

    sum a_i b_j max(0, z_ij) = sum hard - sum_i u_i s_i + sum_j v_j s_j + (pairs with m = 0),

where each of the latter adds between 0 and one step times its weight. Weights that are split give
several whole numbers a row; their sum rounds as the upper and the lower sums of the row do, not as
their difference, and sum u = sum v = the total.

*Squared hinge.* With t_i = s_i - 1 every sum is one of products >= 0 of z = s_j - t_i > 0, in
compensated running sums: relative errors do not grow with n. The errors of t do what errors of
scores do: the marginals are still those of an alpha >= 0.

*Square.* Moments of scores centred in their group: sums of terms a_i b_j (1 + |s_i| + |s_j|)^2 at
most, which the pairs' weights, adding up to one, leave below (1 + 2 max|s|)^2.
"""

from __future__ import annotations

import numpy as np

from ...tools.rounding import LONG_UNIT, UNIT, gamma, short_chain, short_sum
from ..assembled import PairSums
from .arrangement import Arrangement
from .merged import HingeCounts, SmoothSums, hinge_counts, square_sums, squared_hinge_sums
from .weights import PairWeights, largest_mass

COMPILED_FROM = 500  # Least number of rows for the compiled loops.

# Least bits a unit of the grid: with fewer, pairs at their margin would blur the value.
COARSE = 32

# Least half width in steps of a grid that is as coarse as the width allows. Where margins are
# evenly spread the pairs at their margin blur the value by 24 / (4 STEPS^2) of what smoothing
# costs: by a fortieth.
STEPS = 16


def ordered_hinge(
    at: Arrangement, weights: PairWeights, scores: np.ndarray, width: float, form: str = "auto"
) -> PairSums | None:
    """Return the hinge's sums over ordered pairs."""
    s = scores[at.order]
    fine, smooth = _grid(at, weights, s, 0.0), _grid(at, weights, s, width)
    if fine is None or smooth is None:
        return None
    coarse = _coarse_grid(at, s, width, smooth[0]) if form == "binned" else None
    k, half = coarse or smooth
    counts = _counts(at, weights, s, k, half, "counters" if coarse else form)
    exact = counts
    # Large weights leave few bits for the soft sums' grid: hard counts get one of their own.
    if coarse is None and k < COARSE and k < fine[0]:
        k = fine[0]
        exact = _counts(at, weights, s, k, 0, form)
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
    at: Arrangement, weights: PairWeights, s: np.ndarray, k: int, half: int, form: str
) -> list[HingeCounts]:
    """Return the whole-number sums of each term at scores (n,) by place, on a grid of 2^-k."""
    places = np.floor(np.ldexp(s, k))
    places = (places - places.min()).astype(np.int64)
    run = hinge_counts
    if form == "counters":
        from .counters_compiled import hinge_counts_by_counters as run
    elif _compiled(form, s.size):
        from .merged_compiled import hinge_counts_compiled as run
    elif form != "numpy":
        from .merged_compiled import cheaper_hinge_counts as run
    return [run(at, places, term.a, term.b, 1 << k, half) for term in weights.terms]


def _grid(
    at: Arrangement, weights: PairWeights, s: np.ndarray, width: float
) -> tuple[int, int] | None:
    """Return k and the half width in steps, so that no whole number reaches 2^62, or None.

    Soft sums are below mass * 2^k * (range + 1 + width), hard ones below the mass.
    """
    low, high = float(s.min()), float(s.max())
    size = max(abs(low), abs(high), 2.0**-900)
    if not (high - low + width < 2.0**45 and size < 2.0**50):
        return None
    fine = 51 - int(np.frexp(size)[1])
    if width > 0:
        top = max(largest_mass(at, term) for term in weights.terms)
        k = min(fine, 60 - top.bit_length() - int(np.frexp(high - low + 1 + width)[1]))
        half = round(float(np.ldexp(width, k - 1))) if k >= 0 else 0
        if half >= 1:
            return k, half
    k = min(fine, 60 - int(np.frexp(high - low + 1)[1]))
    return (k, 0) if k >= 0 else None


def _coarse_grid(
    at: Arrangement, s: np.ndarray, width: float, finest: int
) -> tuple[int, int] | None:
    """Return k and the half width in steps, or None where counters are not the quicker form.

    They are emptied for each group: all of them together must not be more than the rows.
    """
    if not width > 0:
        return None
    k = int(np.ceil(np.log2(2 * STEPS / width)))
    steps = (float(s.max()) - float(s.min())) * 2.0**k
    if not (0 <= k <= finest and (steps + 2) * at.group_ends.size <= s.size):
        return None
    return k, round(float(np.ldexp(width, k - 1)))


def _combined(weights: PairWeights, parts: list[np.ndarray]) -> np.ndarray:
    """Return the sums of all terms by place: whole numbers unless weights are split."""
    coefficients = [term.coefficient for term in weights.terms]
    if all(abs(one) == 1 for one in coefficients):
        signed = [one * part for one, part in zip(coefficients, parts, strict=True)]
        return np.add.reduce(signed, dtype=np.int64)
    net = np.zeros(parts[0].size, dtype=np.longdouble)
    for one, part in zip(coefficients, parts, strict=True):
        net += np.ldexp(part.astype(np.longdouble), one.bit_length() - 1)
    return net


def _total(weights: PairWeights, counts: list[HingeCounts], which: int) -> float:
    """Return a total of all terms, normalised."""
    pairs = list(zip(weights.terms, counts, strict=True))
    if weights.shared:
        parts = [float(term.coefficient) * found.by_group(which) for term, found in pairs]
        return float(short_sum(weights.factor * np.add.reduce(parts)))
    return sum(term.coefficient * found.total(which) for term, found in pairs) / weights.mass


def ordered_squared_hinge(
    at: Arrangement, weights: PairWeights, scores: np.ndarray, form: str = "auto"
) -> PairSums:
    """Return the squared hinge's sums over ordered pairs; arguments as in `ordered_hinge`."""
    middle = (float(scores.min()) + float(scores.max())) / 2
    s = scores[at.order] - middle
    run, n = squared_hinge_sums, s.size
    relative = gamma(4 * n + 64)
    if _compiled(form, n):
        from .smooth_compiled import squared_hinge_sums_compiled as run

        relative = gamma(64) + 16 * gamma(2 * n) ** 2
    sums = [run(at, s, term.a.astype(float), term.b.astype(float)) for term in weights.whole]
    net, total, value, mass, size = _smooth(weights, at, sums)
    # z = s_j - (s_i - 1) from shifted scores: what the shift, and taking one off, round.
    error = gamma(4) * (2 * float(np.abs(s).max()) + 1)
    moved = (total + relative * mass) * error + error**2
    c = np.empty(n)
    c[at.order] = net
    lost = relative * (mass + size)
    value_rounding = relative * size + gamma(8) * abs(value) + moved
    return PairSums(
        max(value, 0.0),
        c,
        total - value,
        total,
        value_rounding,
        2 * relative * mass + gamma(8) * float(np.abs(c).sum()),
        lost + gamma(8) * (total + abs(value)),
    )


def ordered_square(
    at: Arrangement, weights: PairWeights, scores: np.ndarray, form: str = "auto"
) -> PairSums:
    """Return the square loss's sums over ordered pairs; arguments as in `ordered_hinge`."""
    s, n = scores[at.order], scores.size
    starts = np.concatenate([[0], at.group_ends[:-1]])
    low, high = np.minimum.reduceat(s, starts), np.maximum.reduceat(s, starts)
    s = s - (low / 2 + high / 2)[at.group]
    run, relative = square_sums, gamma(4 * n + 64, LONG_UNIT) + gamma(64)
    if _compiled(form, n):
        from .smooth_compiled import square_sums_compiled as run

        relative = gamma(64) + 16 * gamma(2 * n) ** 2
    sums = [run(at, s, term.a.astype(float), term.b.astype(float)) for term in weights.whole]
    net, total, value, _, _ = _smooth(weights, at, sums)
    c = np.empty(n)
    c[at.order] = net
    # The pairs' weights add up to one, those of all terms to `inflation`.
    top = 1 + 2 * float(np.abs(s).max())
    slip, error = relative * weights.inflation, gamma(4) * top
    moved = 2 * (top + error) * error + error**2
    return PairSums(
        max(value, 0.0),
        c,
        total - value,
        total,
        slip * top**2 + moved,
        4 * slip * top,
        slip * (2 * top + top**2),
    )


def _smooth(
    weights: PairWeights, at: Arrangement, sums: list[SmoothSums]
) -> tuple[np.ndarray, float, float, float, float]:
    """Return net sums, total and value over all terms, normalised, and both by absolute terms."""
    net = np.zeros(at.order.size)
    found = np.zeros((2, 2))
    for term, part in zip(weights.whole, sums, strict=True):
        net += term.coefficient * weights.factor[at.group] * part.net
        masses = [short_sum(weights.factor * part.totals[:, k]) for k in (0, 1)]
        found[0] += term.coefficient * np.array(masses, dtype=float)
        found[1] += abs(term.coefficient) * np.array(masses, dtype=float)
    return net, float(found[0, 0]), float(found[0, 1]), float(found[1, 0]), float(found[1, 1])


def _compiled(form: str, n: int) -> bool:
    return form == "compiled" or (form != "numpy" and n >= COMPILED_FROM)
