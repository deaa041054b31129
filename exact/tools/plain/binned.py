"""The plain forms of `binned_compiled`: the same bits by numpy's passes."""

from __future__ import annotations

import numpy as np

from .scans import compensated, plain_sum, running, two_sums


def extent(scores: np.ndarray, positive: np.ndarray, extent: np.ndarray) -> bool:
    """Widen extent = [least, largest of the positives, of the negatives]; False if not finite."""
    for at, part in ((0, scores[positive]), (2, scores[~positive])):
        extent[at] = part.min(initial=extent[at])
        extent[at + 1] = part.max(initial=extent[at + 1])
    return bool(np.isfinite(scores).all())


def fill(
    scores: np.ndarray,
    positive: np.ndarray,
    weight: np.ndarray,
    K: float,
    limits: np.ndarray,
    grid: np.ndarray,
    ends: np.ndarray,
) -> bool:
    """Add mass and mass * theta of each row to grid[class, bin].

    Widens `ends` as `extent()` does; False if a score is not finite (its row is left out).
    """
    with np.errstate(over="ignore"):
        x = K * scores
    fine = np.isfinite(x)
    if not fine.all():
        x, scores, positive = x[fine], scores[fine], positive[fine]
        weight = weight[fine] if weight.size else weight
    extent(scores, positive, ends)
    side, bin_of, at = _bins(x, positive, K, limits, grid.shape[1])
    at = 2 * (at + grid.shape[1] * side)
    mass = weight if weight.size else np.ones(x.size)
    flat = grid.reshape(-1)
    np.add.at(flat, at, mass)  # one after the other, as the loop does
    np.add.at(flat, at + 1, mass * (x - bin_of))
    return bool(fine.all())


def _bins(
    x: np.ndarray, positive: np.ndarray, K: float, limits: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return class, bin and place of scaled scores."""
    side = positive.astype(np.int64)
    low = np.array([limits[2], limits[0]])[side]
    high = np.array([limits[2] + size - 1, limits[1]])[side]
    first = np.array([limits[2], limits[2] + K])[side]
    bin_of = np.minimum(np.maximum(np.floor(x), low), high)
    return side, bin_of, (bin_of - first).astype(np.int64)


def whole_ramps(mass: np.ndarray, half: int, out: np.ndarray) -> None:
    """Fill out[k] = sum_b clip(b - k + half, 0, 2 half) mass[b] / (2 half), or sum_{b > k}.

    For whole numbers whose sums stay below 2^53: nothing rounds but the quotient.
    """
    size, down = mass.size, mass[::-1]
    if half == 0:
        out[::-1] = running(down)[:-1]
        return
    grown = np.zeros(size + half)
    grown[1 : size + 1] = down
    left = max(size - half - 1, 0)
    if left:
        grown[-left:] -= down[:left]
    ramp = np.cumsum(np.cumsum(grown))
    out[::-1] = ramp[half:] / (2.0 * half)


def summed(plus: np.ndarray, minus: np.ndarray) -> tuple[float, float, float]:
    """Return the upper bound of K times the summed hinge, its counted part, its residual part.

    The two parts are sums of absolute values; they enter the bound of the rounding.
    """
    count, first = plus[::-1, 0], plus[::-1, 1]
    q, q_first = minus[::-1, 0], minus[::-1, 1]
    mass, mass_slip = two_sums(q)
    mass_carry = running(mass_slip)
    theta, theta_slip = two_sums(q_first)
    theta_carry = running(theta_slip)
    spread = running(np.abs(q_first) + 2.0 * q)[:-1]
    ramp, ramp_slip = two_sums(mass[1:])
    ramp_carry = running(ramp_slip + mass_carry[1:])
    whole = mass[:-1] + mass_carry[:-1]
    steps = count * (ramp[:-1] + ramp_carry[:-1])
    shifts = count * (theta[:-1] + theta_carry[:-1]) - first * whole
    shifts += np.maximum(q_first * (count - first), 0.0)
    residual = count * spread + (np.abs(first) + 2.0 * count) * mass[:-1] + 4.0 * count * q
    full = count > 0.0
    both = np.column_stack([steps[full], shifts[full]])
    value, slip = two_sums(both.reshape(-1))
    carry = plain_sum(slip.reshape(-1, 2).sum(axis=1))
    return float(value[-1]) + carry, plain_sum(steps[full]), plain_sum(residual[full])


def look_up(
    scores: np.ndarray,
    positive: np.ndarray,
    weight: np.ndarray,
    K: float,
    limits: np.ndarray,
    table: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fill out with table[class, bin] of each row, times its weight."""
    side, _, at = _bins(K * scores, positive, K, limits, table.shape[1])
    out[:] = table[side, at]
    if weight.size:
        out *= weight


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """Return the sum of a[k] b[k], compensated."""
    return compensated(a * b)


def mass(grid: np.ndarray) -> tuple[float, float]:
    """Return the sum of the masses, compensated, and the largest mass of a bin."""
    return compensated(grid[:, 0]), float(grid[:, 0].max(initial=0.0))
