"""Row weights of the k largest values, in whole numbers, so that they are exactly feasible."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

LARGEST_WHOLE = 2**50
"""Weights in whole numbers add up to less than this, so that sums of them are exact."""

RAMP = 2**24
"""Steps of a smoothed row weight between zero and one."""


def highest(values: np.ndarray, k: Fraction, width: float) -> np.ndarray:
    """Return weights of the k largest values, at most one each but for a common unit.

    At width 0 the values that are tied at the boundary share what is left, equally. Otherwise the
    weight is clip((value - tau) / width + 1/2, 0, 1) in steps of 1 / `RAMP`, with sum about k.
    """
    if k == values.size:
        return np.ones(values.size)
    if width > 0:
        return _ramp(values, k, width)
    kept = math.ceil(k)
    boundary = np.partition(values, values.size - kept)[values.size - kept]
    over, tied = values > boundary, values == boundary
    left, ties = k - int(over.sum()), int(tied.sum())
    part = left / ties
    unit = part.denominator
    if unit * values.size < LARGEST_WHOLE:
        return np.where(over, float(unit), np.where(tied, float(part.numerator), 0.0))
    return np.where(over, 1.0, np.where(tied, float(part), 0.0))


def _ramp(values: np.ndarray, k: Fraction, width: float) -> np.ndarray:
    """Return clip((value - tau) / width + 1/2, 0, 1) RAMP in whole numbers, tau by bisection."""
    values = values.astype(float)
    low, high = float(values.min()) - width, float(values.max()) + width
    near = np.sort(values)
    goal = float(k)

    def mass(tau: float) -> float:
        first, last = np.searchsorted(near, [tau - width / 2, tau + width / 2])
        return float(near.size - last + ((near[first:last] - tau) / width + 0.5).sum())

    for _ in range(60):
        tau = (low + high) / 2
        low, high = (tau, high) if mass(tau) >= goal else (low, tau)
    # From the side with at least k, so that the weights need not be shrunk.
    return np.ceil(np.clip((values - low) / width + 0.5, 0.0, 1.0) * RAMP)


def exact_sum(weights: np.ndarray) -> Fraction:
    """Return the sum of floats, exactly."""
    if bool(np.all(weights == np.floor(weights))) and float(weights.sum()) < LARGEST_WHOLE:
        return Fraction(int(weights.sum()))
    return sum(map(Fraction, weights.tolist()), Fraction(0))
