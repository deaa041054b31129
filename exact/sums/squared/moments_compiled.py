"""The compiled loops of `moments`: over rows, and over the bins of closed moments.

The grid is that of `binned_compiled`: a positive bin and a negative bin at the places k and l have
m = l - k.
"""

from __future__ import annotations

import numpy as np

from ...tools.compiling import compiled


@compiled
def fill(scores, positive, weight, K, limits, held, extent):  # pragma: no cover - compiled
    """Add mass, mass * theta, mass * theta^2 of each row to held[class, bin]; weighted, also one.

    Widens `extent` = [least, largest of the positives, of the negatives]; False if a score is not
    finite (its row is left out).
    """
    low = np.array([limits[2], limits[0]])
    high = np.array([limits[2] + held.shape[1] - 1, limits[1]])
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
        first_moment = mass * theta
        held[side, at, 0] += mass
        held[side, at, 1] += first_moment
        held[side, at, 2] += first_moment * theta
        if weighted:
            held[side, at, 3] += 1.0
    extent[0], extent[1], extent[2], extent[3] = least[1], most[1], least[0], most[0]
    return fine


@compiled
def close(plus, minus, table, magnitude):  # pragma: no cover - compiled
    """Fill table[class, bin] with the sum of K z over the pairs with m >= 1, and its growth.

    Returns, over the pairs with m >= 1, the sums of (K z)^2 and of K z; over those with m = 0 the
    bound of the former; and the magnitudes of what the squares and the sum of K z are made of.
    `magnitude` gets, for each class, the summed magnitudes of what the marginals are made of.
    """
    size = plus.shape[0]
    # Of the negatives in the bins beyond k: mass, and the sums of (l - k) + theta and its square.
    mass = first = second = 0.0
    square = linear = doubtful = square_size = linear_size = 0.0
    for k in range(size - 1, -1, -1):
        count, one, two = plus[k, 0], plus[k, 1], plus[k, 2]
        # Thetas are in [0, 1], but for rows in the last bins, where all have one sign.
        one_size = abs(one) + 2.0 * count
        table[1, k, 0] = first
        table[1, k, 1] = -mass
        if count > 0.0:
            square += (count * second - 2.0 * one * first) + two * mass
            square_size += count * second + 2.0 * one_size * first + two * mass
            linear += count * first - one * mass
            linear_size += count * first + one_size * mass
            magnitude[1] += count * first + one_size * mass
            doubtful += minus[k, 2] * max((count - 2.0 * one) + two, 0.0)
            square_size += minus[k, 2] * ((count + 2.0 * one_size) + two)
        second += (2.0 * first + mass) + ((minus[k, 0] + 2.0 * minus[k, 1]) + minus[k, 2])
        first += mass + (minus[k, 0] + minus[k, 1])
        mass += minus[k, 0]
    # Of the positives in the bins before k: mass, the sum of (k - l) - theta, and of magnitudes.
    mass = first = size_of = 0.0
    for k in range(size):
        count, one = minus[k, 0], minus[k, 1]
        table[0, k, 0] = first
        table[0, k, 1] = mass
        magnitude[0] += count * size_of + (abs(one) + 2.0 * count) * mass
        first += mass + (plus[k, 0] - plus[k, 1])
        size_of += mass + (3.0 * plus[k, 0] + abs(plus[k, 1]))
        mass += plus[k, 0]
    return square, linear, doubtful, square_size, linear_size


@compiled
def look_up(scores, positive, weight, K, limits, table, out):  # pragma: no cover - compiled
    """Fill out with the line table[class, bin] at each row's theta, times its weight."""
    low = np.array([limits[2], limits[0]])
    high = np.array([limits[2] + table.shape[1] - 1, limits[1]])
    first = np.array([limits[2], limits[2] + K])
    weighted = weight.size > 0
    for k in range(scores.size):
        side = int(positive[k])
        x = K * scores[k]
        bin_of = min(max(np.floor(x), low[side]), high[side])
        at = int(bin_of - first[side])
        c = table[side, at, 0] + table[side, at, 1] * (x - bin_of)
        out[k] = weight[k] * c if weighted else c
