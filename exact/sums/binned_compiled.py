"""The compiled loops of `binned`: over rows, and over the bins of a closed histogram.

A grid is named by limits = [least and largest bin of the positives, least bin of the negatives];
the positive bin a and the negative bin b are stored at a - K - limits[2] and b - limits[2], so that
their difference there is m = b - a + K. Functions that call each other stay in this one file: the
on-disk cache does not notice a changed callee elsewhere.
"""

from __future__ import annotations

import numpy as np

from ..tools.compiling import compiled


@compiled
def extent(scores, positive, extent):  # pragma: no cover - compiled
    """Widen extent = [least, largest of the positives, of the negatives]; False if not finite."""
    low_a, high_a, low_b, high_b = extent[0], extent[1], extent[2], extent[3]
    fine = True
    for k in range(scores.size):
        s = scores[k]
        if not np.isfinite(s):
            fine = False
        if positive[k]:
            low_a = min(low_a, s)
            high_a = max(high_a, s)
        else:
            low_b = min(low_b, s)
            high_b = max(high_b, s)
    extent[0], extent[1], extent[2], extent[3] = low_a, high_a, low_b, high_b
    return fine


@compiled
def fill(scores, positive, weight, K, limits, grid, extent):  # pragma: no cover - compiled
    """Add mass and mass * theta of each row to grid[class, bin].

    Widens `extent` as `extent()` does; False if a score is not finite (its row is left out).
    """
    # Arrays indexed by class avoid a branch that the processor could not predict.
    low = np.array([limits[2], limits[0]])
    high = np.array([limits[2] + grid.shape[1] - 1, limits[1]])
    first = np.array([limits[2], limits[2] + K])
    least = np.array([extent[2], extent[0]])
    most = np.array([extent[3], extent[1]])
    weighted = weight.size > 0
    fine = True
    for k in range(scores.size):
        s = scores[k]
        x = K * s
        if not np.isfinite(x):
            fine = False
            continue
        side = int(positive[k])
        least[side] = min(least[side], s)
        most[side] = max(most[side], s)
        bin_of = min(max(np.floor(x), low[side]), high[side])
        theta = x - bin_of
        mass = weight[k] if weighted else 1.0
        at = int(bin_of - first[side])
        grid[side, at, 0] += mass
        grid[side, at, 1] += mass * theta
    extent[0], extent[1], extent[2], extent[3] = least[1], most[1], least[0], most[0]
    return fine


@compiled
def _two_sum(a, b):  # pragma: no cover - compiled
    """Return a + b rounded, and the rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@compiled
def _add(high, low, x):  # pragma: no cover - compiled
    """Return high + low + x as a pair of floats (two-sum)."""
    total = high + x
    part = total - high
    low += (high - (total - part)) + (x - part)
    new = total + low
    return new, low - (new - total)


@compiled
def whole_ramps(mass, half, out):  # pragma: no cover - compiled
    """As `ramps`, for whole numbers whose sums stay below 2^53: nothing rounds but the quotient."""
    size = mass.size
    if half == 0:
        above = 0.0
        for k in range(size - 1, -1, -1):
            out[k] = above
            above += mass[k]
        return
    # Moving k down by one adds the masses whose ramp grows: b - k + half in (0, 2 half].
    inside = 0.0  # sum over b in [k - half + 1, k + half] of mass
    ramp = 0.0  # sum_b clip(b - k + half, 0, 2 half) mass[b], for k beyond the end
    for k in range(size + half - 1, -1, -1):
        enter = k - half + 1
        leave = k + half + 1
        if 0 <= enter < size:
            inside += mass[enter]
        if leave < size:
            inside -= mass[leave]
        ramp += inside
        if k < size:
            out[k] = ramp / (2.0 * half)


@compiled
def ramps(mass, half, out):  # pragma: no cover - compiled
    """Fill out[k] = sum_b clip(b - k + half, 0, 2 half) mass[b] / (2 half), or sum_{b > k}."""
    # Row k + half of the tables belongs to bin k; bins -half to -1 are empty.
    size = mass.size + half
    tail = np.empty((size + 1, 2))  # sum_{b >= k} mass[b], as a pair of floats
    ramp = np.empty((size + 1, 2))  # sum_b max(0, b - k) mass[b]
    tail[size, 0] = tail[size, 1] = ramp[size, 0] = ramp[size, 1] = 0.0
    for k in range(size - 1, -1, -1):
        x = mass[k - half] if k >= half else 0.0
        tail[k, 0], tail[k, 1] = _add(tail[k + 1, 0], tail[k + 1, 1], x)
        high, low = _add(ramp[k + 1, 0], ramp[k + 1, 1], tail[k + 1, 0])
        ramp[k, 0], ramp[k, 1] = _add(high, low, tail[k + 1, 1])
    for k in range(mass.size):
        if half == 0:
            out[k] = tail[k + 1, 0] + tail[k + 1, 1]
            continue
        high, low = ramp[k, 0], ramp[k, 1]
        lower = min(k + 2 * half, size)
        part, rest = _add(high, low, -ramp[lower, 0])
        out[k] = (part + (rest - ramp[lower, 1])) / (2.0 * half)


@compiled
def summed(plus, minus):  # pragma: no cover - compiled
    """Return the upper bound of K times the summed hinge, its counted part, its residual part.

    The two parts are sums of absolute values; they enter the bound of the rounding.
    """
    mass = mass_carry = 0.0  # of the negatives in bins above k
    theta = theta_carry = 0.0  # their summed residuals,
    spread = 0.0  # at least the sum of their absolute values,
    ramp = ramp_carry = 0.0  # and sum of (b - k) mass
    value = carry = 0.0
    counted = 0.0
    residual = 0.0
    for k in range(plus.shape[0] - 1, -1, -1):
        count, first = plus[k, 0], plus[k, 1]
        q, q_first = minus[k, 0], minus[k, 1]
        if count > 0.0:
            steps = count * (ramp + ramp_carry)
            shifts = count * (theta + theta_carry) - first * (mass + mass_carry)
            # max(0, b - a) <= b (1 - a) for residuals a, b in [0, 1].
            shifts += max(q_first * (count - first), 0.0)
            total, slip = _two_sum(value, steps)
            value, more = _two_sum(total, shifts)
            carry += slip + more
            counted += steps
            residual += count * spread + (abs(first) + 2.0 * count) * mass + 4.0 * count * q
        mass, slip = _two_sum(mass, q)
        mass_carry += slip
        theta, slip = _two_sum(theta, q_first)
        theta_carry += slip
        spread += abs(q_first) + 2.0 * q
        ramp, slip = _two_sum(ramp, mass)
        ramp_carry += slip + mass_carry
    return value + carry, counted, residual


@compiled
def look_up(scores, positive, weight, K, limits, table, out):  # pragma: no cover - compiled
    """Fill out with table[class, bin] of each row, times its weight."""
    low = np.array([limits[2], limits[0]])
    high = np.array([limits[2] + table.shape[1] - 1, limits[1]])
    first = np.array([limits[2], limits[2] + K])
    weighted = weight.size > 0
    for k in range(scores.size):
        side = int(positive[k])
        bin_of = min(max(np.floor(K * scores[k]), low[side]), high[side])
        c = table[side, int(bin_of - first[side])]
        out[k] = weight[k] * c if weighted else c


@compiled
def dot(a, b):  # pragma: no cover - compiled
    """Return the sum of a[k] b[k], compensated."""
    total = carry = 0.0
    for k in range(a.size):
        total, slip = _two_sum(total, a[k] * b[k])
        carry += slip
    return total + carry


@compiled
def mass(grid):  # pragma: no cover - compiled
    """Return the sum of the masses, compensated, and the largest mass of a bin."""
    total = carry = largest = 0.0
    for k in range(grid.shape[0]):
        total, slip = _two_sum(total, grid[k, 0])
        carry += slip
        largest = max(largest, grid[k, 0])
    return total + carry, largest
