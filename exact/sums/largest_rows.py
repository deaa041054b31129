"""The rows of the k largest values and their weights, in whole numbers: exactly feasible."""

import math
from fractions import Fraction

import numpy as np

LARGEST_WHOLE = 2**50  # weights in whole numbers add up to less, so that sums of them are exact
RAMP = 2**24  # Steps of a smoothed row weight between zero and one.

Chosen = tuple[np.ndarray, np.ndarray]  # Rows that weigh something, ascending, and their weights.


def highest(values: np.ndarray, k: Fraction, width: float) -> Chosen:
    """Return the rows and weights of the k largest values, at most one each but for a common unit.
    At width 0 ties at the boundary share what is left, equally; see `_ramp` for others."""
    if k == values.size:
        return np.arange(values.size), np.ones(values.size)
    if width > 0:
        return _ramp(values.astype(float, copy=False), k, width)
    boundary = _boundary(values, k)
    rows = np.flatnonzero(values >= boundary)
    over = values[rows] > boundary
    part = (k - int(over.sum())) / int((~over).sum())
    unit = part.denominator
    if unit * values.size < LARGEST_WHOLE:
        return rows, np.where(over, float(unit), float(part.numerator))
    return rows, np.where(over, 1.0, float(part))


def candidates(values: np.ndarray, k: Fraction, width: float) -> np.ndarray:
    """Return the rows, ascending, that `highest` needs to see at this width and at width 0."""
    if k == values.size:
        return np.arange(values.size)
    boundary = _boundary(values, k)
    return np.flatnonzero(values >= boundary - 4 * _slack(boundary, width))


def _boundary(values: np.ndarray, k: Fraction) -> float:
    """Return the least of the ceil(k) largest values."""
    kept = math.ceil(k)
    return np.partition(values, values.size - kept)[values.size - kept]


def _slack(boundary: float, width: float) -> float:
    """Return at least how far tau is from the boundary, with some units to spare."""
    return width + 8 * float(np.spacing(abs(float(boundary))))


def _ramp(values: np.ndarray, k: Fraction, width: float) -> Chosen:
    """Return clip((value - tau) / width + 1/2, 0, 1) RAMP in whole numbers, tau by bisection: half
    a width below the boundary the k largest weigh one, half a width above only larger ones do."""
    boundary, goal = float(_boundary(values, k)), float(k)
    slack = _slack(boundary, width)
    low, high = boundary - slack, boundary + slack
    rows = np.flatnonzero(values >= low - slack)
    held, near = values[rows], np.sort(values[rows])

    def mass(tau: float) -> float:
        first, last = np.searchsorted(near, [tau - width / 2, tau + width / 2])
        return float(near.size - last + ((near[first:last] - tau) / width + 0.5).sum())

    for _ in range(60):
        tau = (low + high) / 2
        low, high = (tau, high) if mass(tau) >= goal else (low, tau)
    # From the side with at least k, so that the weights need not be shrunk.
    weights = np.ceil(np.clip((held - low) / width + 0.5, 0.0, 1.0) * RAMP)
    used = weights > 0
    return rows[used], weights[used]


def exact_sum(weights: np.ndarray) -> Fraction:
    if bool(np.all(weights == np.floor(weights))) and float(weights.sum()) < LARGEST_WHOLE:
        return Fraction(int(weights.sum()))
    return sum(map(Fraction, weights.tolist()), Fraction(0))
