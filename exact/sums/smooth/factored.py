"""Sums of the exponential loss over ALL pairs: exp(-(s_i - s_j)) is a product, so O(n)."""

from __future__ import annotations

import numpy as np

from ...errors import OverflowingError
from ...tools.rounding import UNIT, gamma, short_chain, short_sum
from ..assembled import PairSums, Whole

# Largest error of an exponential, and of its sum in a class, in units in the last place.
EXPONENTIAL_UNITS = 8


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
