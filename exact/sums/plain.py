"""The sums over two classes in numpy's passes: the reference, and the first answer.

The loops of the same names return the same bits; see `tools.compiling`.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def sweep(t, b, a_t, a_b, width, slip, squared, u, v):
    """Fill the marginals of sorted t and b; return the value, and what pairs z > -slip weigh."""
    mass_b, first_b, second_b = (x[::-1] for x in _tables(a_b[::-1], b[::-1]))
    mass_t, first_t, _ = _tables(a_t, t)
    at = np.searchsorted(b, t, side="right")
    below = np.searchsorted(t, b, side="left")
    mass, first = mass_b[at], first_b[at]
    if squared:
        # sum (b - t)^2, multiplied out.
        value = compensated(a_t * ((second_b[at] - 2.0 * t * first) + t * t * mass))
        u[:] = 2.0 * a_t * (first - t * mass)
        v[:] = 2.0 * a_b * (b * mass_t[below] - first_t[below])
        return value, 0.0
    value = compensated(a_t * (first - t * mass))
    near = plain_sum(a_t * mass_b[np.searchsorted(b, t - slip, side="left")])
    if not width > 0:
        u[:], v[:] = a_t * mass, a_b * mass_t[below]
        return value, near
    # The ramp: alpha rises from 0 at b = t - half to 1 at b = t + half.
    half = width / 2
    low, high = t - half, t + half
    start = np.searchsorted(b, low, side="right")
    stop = np.searchsorted(b, high, side="left")
    ramp = (first_b[start] - first_b[stop]) - low * (mass_b[start] - mass_b[stop])
    u[:] = a_t * (mass_b[stop] + ramp / width)
    start = np.searchsorted(high, b, side="right")
    stop = np.searchsorted(low, b, side="left")
    ramp = (b + half) * (mass_t[stop] - mass_t[start]) - (first_t[stop] - first_t[start])
    v[:] = a_b * (mass_t[start] + ramp / width)
    return value, near


def _tables(weight: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    """Return the sums of weight, weight value and weight value^2 before each row, compensated."""
    found = []
    for x in (weight, weight * values, weight * values * values):
        total, slips = two_sums(x)
        found.append(total + running(slips))
    return found


def running(x: np.ndarray) -> np.ndarray:
    """Return 0, x_0, x_0 + x_1, and so on, added one after the other as a loop does: (n + 1,)."""
    return np.cumsum(np.concatenate([np.zeros(1, dtype=x.dtype), x]))


def plain_sum(x: np.ndarray) -> Any:
    """Return x_0 + x_1 + ..., added from left to right."""
    return running(x)[-1]


def two_sums(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return `running(x)` (n + 1,) and what each addition rounded off (n,), by Knuth."""
    total = running(x)
    old, new = total[:-1], total[1:]
    part = new - old
    return total, (old - (new - part)) + (x - part)


def compensated(x: np.ndarray) -> Any:
    """Return the sum of x and of what its additions rounded off."""
    total, slips = two_sums(x)
    return total[-1] + plain_sum(slips)


def count(keys, bits, half, n_neg, soft, hard):
    """See `loops.count`."""
    place, side = keys >> (bits + 1), (keys >> bits) & 1
    is_pos = side == 1
    pos, neg = running(side), running(1 - side)
    hard[:] = np.where(is_pos, n_neg - neg[:-1], pos[:-1])
    new = np.append(True, place[1:] != place[:-1])
    first = np.maximum.accumulate(np.where(new, np.arange(keys.size), 0))
    ties = int((side * (neg[:-1] - neg[first])).sum())
    if half == 0:
        return ties
    high = np.searchsorted(place, place + half, side="left")
    low = np.searchsorted(place, place - half, side="right")
    sum_pos, sum_neg = running(side * place), running((1 - side) * place)
    inside_pos, inside_neg = pos[high] - pos[low], neg[high] - neg[low]
    full = np.where(is_pos, n_neg - neg[low] - inside_neg, pos[low])
    part = np.where(
        is_pos,
        sum_neg[high] - sum_neg[low] - inside_neg * place,
        inside_pos * place - (sum_pos[high] - sum_pos[low]),
    )
    soft[:] = (2 * full + np.where(is_pos, inside_neg, inside_pos)) * half + part
    return ties


def spread(keys, bits, soft, hard, unit, scores, middle, c):
    """See `loops.spread`."""
    side, row = (keys >> bits) & 1, keys & ((1 << bits) - 1)
    sign, mass = 2.0 * side - 1.0, soft / unit
    c[row] = sign * mass
    terms = -sign * (hard.astype(float) * (scores[row] - middle))
    active = int((side * hard).sum())
    return compensated(terms), plain_sum(np.abs(terms)), active, compensated(mass * side)
