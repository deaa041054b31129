"""The plain forms of `sorted_compiled`: the same bits by numpy's searches and running sums."""

from __future__ import annotations

import numpy as np

from .scans import neumaier, plain_sum, running

Tables = tuple[np.ndarray, np.ndarray]


def _running(weight: np.ndarray, values: np.ndarray) -> Tables:
    """Return the running sums of weight and weight * values, compensated: (n + 1,) each."""
    tables = []
    for x in (weight, weight * values):
        total, slips = neumaier(x)
        tables.append(total + running(slips))
    return tables[0], tables[1]


def merge(
    t: np.ndarray,
    b: np.ndarray,
    weight_t: np.ndarray,
    weight_b: np.ndarray,
    t_order: np.ndarray,
    b_order: np.ndarray,
    width: float,
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the summed hinge; u and v of alpha = clip(z / width + 1/2, 0, 1), or 1[z > 0]."""
    u, v, half = np.empty(t.size), np.empty(b.size), width / 2
    t, b, weight_t, weight_b = t[t_order], b[b_order], weight_t[t_order], weight_b[b_order]
    mass_b, first_b = _running(weight_b, b)
    mass_t, first_t = _running(weight_t, t)
    at = np.searchsorted(b, t, side="right")
    active = mass_b[-1] - mass_b[at]
    total, slips = neumaier(weight_t * ((first_b[-1] - first_b[at]) - t * active))
    if width > 0:
        low = t - half
        start = np.searchsorted(b, low, side="right")
        stop = np.searchsorted(b, t + half, side="left")
        ramp = (first_b[stop] - first_b[start]) - low * (mass_b[stop] - mass_b[start])
        active = (mass_b[-1] - mass_b[stop]) + ramp / width
        start = np.searchsorted(t + half, b, side="right")
        stop = np.searchsorted(t - half, b, side="left")
        ramp = (b + half) * (mass_t[stop] - mass_t[start])
        ramp -= first_t[stop] - first_t[start]
        v[b_order] = weight_b * (mass_t[start] + ramp / width)
    else:
        v[b_order] = weight_b * mass_t[np.searchsorted(t, b, side="left")]
    u[t_order] = weight_t * active
    return float(total[-1]) + plain_sum(slips), u, v


def whole_ramps(
    T: np.ndarray,
    B: np.ndarray,
    t_order: np.ndarray,
    b_order: np.ndarray,
    half: int,
    u: np.ndarray,
    v: np.ndarray,
) -> None:
    """Fill u[i] = sum_j clip(B_j - T_i + half, 0, 2 half), and v likewise, over sorted orders."""
    T, B = T[t_order], B[b_order]
    sum_t, sum_b = (np.concatenate([[0], np.cumsum(x)]) for x in (T, B))
    start = np.searchsorted(B, T - half, side="right")
    stop = np.searchsorted(B, T + half, side="left")
    inside = sum_b[stop] - sum_b[start] + (stop - start) * (half - T)
    u[t_order] = (B.size - stop) * 2 * half + inside
    start = np.searchsorted(T, B - half, side="right")
    stop = np.searchsorted(T, B + half, side="left")
    inside = sum_t[start] - sum_t[stop] + (stop - start) * (B + half)
    v[b_order] = start * 2 * half + inside
