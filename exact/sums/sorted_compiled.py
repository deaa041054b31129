"""The compiled form of `sorted.hinge_sides`: the same sums in one merge, for many rows.

Running sums are compensated (Neumaier), so that their rounding does not grow with n. Functions
that call each other stay in this one file: the on-disk cache does not notice a changed callee
elsewhere.
"""

from __future__ import annotations

import numpy as np

from ..tools.compiling import compiled, compiled_later
from ..tools.plain import sorted as plain
from .assembled import SideSums
from .orders import both_orders


@compiled
def _running(weight, values, order, mass, first):  # pragma: no cover - compiled
    """Fill the running sums of weight and weight * values along `order`."""
    total = 0.0
    carry = 0.0
    moment = 0.0
    moment_carry = 0.0
    mass[0] = 0.0
    first[0] = 0.0
    for k in range(order.size):
        x = weight[order[k]]
        y = x * values[order[k]]
        new = total + x
        # What the sum has rounded off is a part of the smaller of the two.
        if abs(total) >= abs(x):
            carry += (total - new) + x
        else:
            carry += (x - new) + total
        total = new
        new = moment + y
        if abs(moment) >= abs(y):
            moment_carry += (moment - new) + y
        else:
            moment_carry += (y - new) + moment
        moment = new
        mass[k + 1] = total + carry
        first[k + 1] = moment + moment_carry


@compiled_later(plain.merge)
def _merge(t, b, weight_t, weight_b, t_order, b_order, width):  # pragma: no cover - compiled
    """Return the summed hinge; u and v of alpha = clip(z / width + 1/2, 0, 1), or 1[z > 0]."""
    p, q = t.size, b.size
    mass_b, first_b = np.empty(q + 1), np.empty(q + 1)
    mass_t, first_t = np.empty(p + 1), np.empty(p + 1)
    _running(weight_b, b, b_order, mass_b, first_b)
    _running(weight_t, t, t_order, mass_t, first_t)
    u, v = np.empty(p), np.empty(q)
    half = width / 2
    value = 0.0
    carry = 0.0
    at = 0
    start = 0
    stop = 0
    for k in range(p):
        i = t_order[k]
        ti = t[i]
        while at < q and b[b_order[at]] <= ti:
            at += 1
        active = mass_b[q] - mass_b[at]
        x = weight_t[i] * ((first_b[q] - first_b[at]) - ti * active)
        new = value + x
        carry += (value - new) + x if abs(value) >= abs(x) else (x - new) + value
        value = new
        if width > 0:
            low = ti - half
            high = ti + half
            while start < q and b[b_order[start]] <= low:
                start += 1
            while stop < q and b[b_order[stop]] < high:
                stop += 1
            ramp = (first_b[stop] - first_b[start]) - low * (mass_b[stop] - mass_b[start])
            active = (mass_b[q] - mass_b[stop]) + ramp / width
        u[i] = weight_t[i] * active
    at = 0
    start = 0
    stop = 0
    for k in range(q):
        j = b_order[k]
        bj = b[j]
        if width > 0:
            # The same floats t - half, t + half and b as above: both sides see the same pairs.
            while start < p and t[t_order[start]] + half <= bj:
                start += 1
            while stop < p and t[t_order[stop]] - half < bj:
                stop += 1
            ramp = (bj + half) * (mass_t[stop] - mass_t[start])
            ramp -= first_t[stop] - first_t[start]
            v[j] = weight_b[j] * (mass_t[start] + ramp / width)
        else:
            while at < p and t[t_order[at]] < bj:
                at += 1
            v[j] = weight_b[j] * mass_t[at]
    return value + carry, u, v


@compiled_later(plain.whole_ramps)
def whole_ramps(T, B, t_order, b_order, half, u, v):  # pragma: no cover - compiled
    """Fill u[i] = sum_j clip(B_j - T_i + half, 0, 2 half), and v likewise, over sorted orders."""
    p, q = T.size, B.size
    start = 0  # first b above t - half
    stop = 0  # first b at or above t + half
    inside = 0  # sum of the b in between
    for k in range(p):
        ti = T[t_order[k]]
        while stop < q and B[b_order[stop]] < ti + half:
            inside += B[b_order[stop]]
            stop += 1
        while start < stop and B[b_order[start]] <= ti - half:
            inside -= B[b_order[start]]
            start += 1
        u[t_order[k]] = (q - stop) * 2 * half + inside + (stop - start) * (half - ti)
    start = 0
    stop = 0
    inside = 0
    for k in range(q):
        bj = B[b_order[k]]
        while stop < p and T[t_order[stop]] < bj + half:
            inside += T[t_order[stop]]
            stop += 1
        while start < stop and T[t_order[start]] <= bj - half:
            inside -= T[t_order[start]]
            start += 1
        v[b_order[k]] = start * 2 * half - inside + (stop - start) * (bj + half)


def hinge_sides_compiled(
    t: np.ndarray, b: np.ndarray, weight_t: np.ndarray, weight_b: np.ndarray, width: float
) -> SideSums:
    """Return what `sorted.hinge_sides` returns, up to rounding."""
    return merged_hinge(t, b, weight_t, weight_b, *both_orders(t, b), width)


def merged_hinge(
    t: np.ndarray,
    b: np.ndarray,
    weight_t: np.ndarray,
    weight_b: np.ndarray,
    t_order: np.ndarray,
    b_order: np.ndarray,
    width: float,
) -> SideSums:
    """Return the same, given what sorts t and b."""
    value, u, v = _merge(t, b, weight_t, weight_b, t_order, b_order, float(width))
    return SideSums(float(value), u, v)
