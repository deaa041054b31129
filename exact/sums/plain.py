"""The sums over two classes in numpy's passes: the reference, and the first answer. The loops of
the same names return the same bits; see `tools.compiling`."""

from typing import Any

import numpy as np

from ..tools.rounding import CHAIN


def sweep(t, b, a_t, a_b, width, slip, squared, u, v):
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
    near = running(a_t * mass_b[np.searchsorted(b, t - slip, side="left")])[-1]
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


def two_sums(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return `running(x)` (n + 1,) and what each addition rounded off (n,), by Knuth."""
    total = running(x)
    old, new = total[:-1], total[1:]
    part = new - old
    return total, (old - (new - part)) + (x - part)


def compensated(x: np.ndarray) -> Any:
    """Return the sum of x and of what its additions rounded off."""
    total, slips = two_sums(x)
    return total[-1] + running(slips)[-1]


def count(keys, bits, half, n_neg, soft, hard):
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
    side, row = (keys >> bits) & 1, keys & ((1 << bits) - 1)
    sign, mass = 2.0 * side - 1.0, soft / unit
    c[row] = sign * mass
    terms = -sign * (hard.astype(float) * (scores[row] - middle))
    active = int((side * hard).sum())
    return compensated(terms), running(np.abs(terms))[-1], active, compensated(mass * side)


def _placed(scores, positive, K, limits, cut):
    """Return classes (0 or 1), places and theta of rows on the grid that `limits` name."""
    side, scaled = positive.astype(np.int64), K * scores
    floors = np.floor(scaled)
    bins = np.minimum(np.maximum(floors, limits[side, 0]), limits[side, 1])
    theta = scaled - bins
    if cut:
        theta[bins != floors] = 0.0
    return side, (bins - limits[side, 2]).astype(np.int64), theta


def _scored(X: np.ndarray, offset: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and squared norms of columns, added up one column after the other."""
    scores, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for k in range(w.size):
        x = X[k] - offset[k]
        scores += x * w[k]
        squares += x * x
    return scores, squares


@np.errstate(over="ignore", invalid="ignore")
def gather(X, offset, w, positive, weight, K, limits, cut, held, sums, extent):
    d, m = X.shape
    scores, squares = _scored(X, offset, w)
    if not np.isfinite(K * scores).all():
        return False
    side, at, theta = _placed(scores, positive, K, limits, cut)
    place, columns = side * held.shape[1] + at, held.shape[2]
    mass = weight if weight.size else np.ones(m)
    first = mass * theta
    for k, x in enumerate((mass, first, first * theta, np.ones(m))[:columns]):
        np.add.at(held.reshape(-1), place * columns + k, x)
    for q, factor in enumerate((mass, first)[: sums.shape[2] if sums.size else 0]):
        to = (place * sums.shape[2] + q) * (d + 1)
        for k in range(d):
            np.add.at(sums.reshape(-1), to + k, factor * (X[k] - offset[k : k + 1]))
        np.add.at(sums.reshape(-1), to + d, np.abs(factor) * np.sqrt(squares))
    for k, own in enumerate((positive, ~positive)):
        extent[2 * k] = min(extent[2 * k], scores[own].min(initial=np.inf))
        extent[2 * k + 1] = max(extent[2 * k + 1], scores[own].max(initial=-np.inf))
    return True


def look_up(scores, positive, weight, K, limits, cut, table, out):
    side, at, theta = _placed(scores, positive, K, limits, cut)
    c = table[side, at, 0]
    if table.shape[2] > 1:
        c = c + table[side, at, 1] * theta
    out[:] = weight * c if weight.size else c


def pull(X, offset, w, positive, weight, K, limits, cut, table, parts):
    (chains, _, lanes), (d, m) = parts.shape, X.shape
    scores, squares = _scored(X, offset, w)
    side, at, theta = _placed(scores, positive, K, limits, cut)
    level, mass = table[side, at, 0], weight if weight.size else 1.0
    slope = table[side, at, 1] * theta if table.shape[2] > 1 else np.zeros(m)
    rows = np.zeros((d + 1, chains, min(CHAIN, -(-m // lanes)), lanes))
    flat = rows.reshape(d + 1, -1)
    flat[:d, :m] = (mass * (level + slope)) * (X - offset[:, None])
    flat[d, :m] = (mass * (np.abs(level) + np.abs(slope))) * np.sqrt(squares)
    parts += rows.sum(axis=2).transpose(1, 0, 2)


def summed(plus, minus):
    # From the last bin to the first; what is read at a bin is the state before it.
    (count, first), (q, q_first) = plus[::-1].T, minus[::-1].T
    masses, mass_slips = two_sums(q)
    thetas, theta_slips = two_sums(q_first)
    mass, mass_carry = masses[:-1], running(mass_slips)
    theta, theta_carry = thetas[:-1], running(theta_slips)[:-1]
    spread = running(np.abs(q_first) + 2.0 * q)[:-1]
    ramps, ramp_slips = two_sums(masses[1:])
    both = np.column_stack([mass_carry[1:], ramp_slips]).ravel()
    ramp, ramp_carry = ramps[:-1], running(both)[:-1:2]
    steps = count * (ramp + ramp_carry)
    shifts = count * (theta + theta_carry) - first * (mass + mass_carry[:-1])
    shifts = shifts + np.maximum(q_first * (count - first), 0.0)
    rest = count * spread + (np.abs(first) + 2.0 * count) * mass + 4.0 * count * q
    used = count > 0.0
    value = compensated(np.column_stack([steps, shifts])[used].ravel())
    return value, running(steps[used])[-1], running(rest[used])[-1]
