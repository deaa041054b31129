"""The compiled steps of FSAUC: O(nonzeros of the row) as long as no projection moves a weight."""

from __future__ import annotations

import math

import numpy as np

from ..exact.compiling import compiled


@compiled
def stage_steps(
    data, indices, indptr, dense, order, positive, limits, centre, point, total, duals, sums, counts
):  # pragma: no cover - compiled
    """Make the steps of a stage, or of a part of it, in place; see `StageWalk` for the arrays.

    `active` lists the features that may be away from zero or have a centre away from zero;
    `done` says up to which step `total` has each weight.
    """
    d = point.size - 2
    radius, near, eta = limits[0], limits[2], limits[4]
    active, listed, done = np.empty(d, np.int64), np.zeros(d, np.bool_), np.zeros(d, np.int64)
    n_active, size, far = 0, 0.0, 0.0
    for j in range(d):
        if point[j] != 0.0 or centre[j] != 0.0:
            active[n_active], listed[j] = j, True
            n_active += 1
    for t in range(order.size):
        i = order[t]
        lo, hi = indptr[i], indptr[i + 1]
        base = lo if dense else 0
        if t % max(d // 8, 64) == 0:  # afresh: no drift
            size, far = _measure(point, centre, active, n_active)
        score, side = 0.0, 1 if positive[i] else 0
        for k in range(lo, hi):
            score += data[k] * point[indices[k - base]]
            sums[side, indices[k - base]] += data[k]
        move = eta * _ends(score, positive[i], limits, point, duals, counts)
        for k in range(lo, hi):
            j = indices[k - base]
            old = point[j]
            new = old - move * data[k]
            total[j] += old * (t - done[j])
            done[j], point[j] = t, new
            size += abs(new) - abs(old)
            far += (new - centre[j]) ** 2 - (old - centre[j]) ** 2
            if not listed[j]:
                active[n_active], listed[j] = j, True
                n_active += 1
        if size > radius:
            cut = _cut(point, active, n_active, radius)
            n_active = _shrink(point, centre, total, done, active, listed, n_active, cut, t)
            size, far = _measure(point, centre, active, n_active)
        ends = (point[d] - centre[d]) ** 2 + (point[d + 1] - centre[d + 1]) ** 2
        if far + ends > near * near:
            factor = near / math.sqrt(far + ends)
            _pull_in(point, centre, total, done, active, n_active, factor, t)
            size, far = _measure(point, centre, active, n_active)
        duals[0] = min(max(duals[0], duals[1] - limits[3]), duals[1] + limits[3])
        total[d] += point[d]
        total[d + 1] += point[d + 1]
        counts[2] += 1
    for j in range(d):
        total[j] += point[j] * (order.size - done[j])


@compiled
def _ends(score, is_positive, limits, point, duals, counts):  # pragma: no cover
    """Count the row, move a, b and alpha into their boxes, and return the factor of x in w."""
    counts[0] += 1
    counts[1] += 1 if is_positive else 0
    p = limits[5] if limits[5] > 0.0 else counts[1] / counts[0]
    a, b, alpha, d = point[-2], point[-1], duals[0], point.size - 2
    eta, wide = limits[4], limits[0] * limits[1]
    if is_positive:
        q = 2.0 * (1.0 - p)
        slope = q * (score - a - 1.0 - alpha)
        point[d] = a - eta * q * (a - score)
        duals[0] = alpha - eta * q * (score + p * alpha)
    else:
        q = 2.0 * p
        slope = q * (score - b + 1.0 + alpha)
        point[d + 1] = b - eta * q * (b - score)
        duals[0] = alpha + eta * q * (score - (1.0 - p) * alpha)
    point[d] = min(max(point[d], -wide), wide)
    point[d + 1] = min(max(point[d + 1], -wide), wide)
    duals[0] = min(max(duals[0], -2.0 * wide), 2.0 * wide)
    return slope


@compiled
def _measure(point, centre, active, n_active):  # pragma: no cover
    """Return |w|_1 and the squared distance of w from the centre."""
    size, far = 0.0, 0.0
    for k in range(n_active):
        j = active[k]
        size += abs(point[j])
        far += (point[j] - centre[j]) ** 2
    return size, far


@compiled
def _cut(point, active, n_active, radius):  # pragma: no cover
    """Return the threshold of the projection on |w|_1 <= radius, by Newton's method from zero.

    The sum of (|w_j| - cut)_+ is convex and piecewise linear in cut: the steps never overshoot,
    and end exactly when the weights above the threshold stay the same.
    """
    cut, before = 0.0, -1
    while True:
        above, count = 0.0, 0
        for k in range(n_active):
            size = abs(point[active[k]])
            if size > cut:
                above += size
                count += 1
        if count == before or count == 0:
            return cut
        cut, before = max((above - radius) / count, cut), count


@compiled
def _shrink(point, centre, total, done, active, listed, n_active, cut, t):  # pragma: no cover
    """Move every weight by `cut` towards zero; return the new number of active features."""
    kept = 0
    for k in range(n_active):
        j = active[k]
        old = point[j]
        total[j] += old * (t - done[j])
        done[j] = t
        point[j] = math.copysign(max(abs(old) - cut, 0.0), old)
        if point[j] != 0.0 or centre[j] != 0.0:
            active[kept] = j
            kept += 1
        else:
            listed[j] = False
    return kept


@compiled
def _pull_in(point, centre, total, done, active, n_active, factor, t):  # pragma: no cover
    """Bring w, a and b nearer to the centre, to `factor` times the distance."""
    for k in range(n_active):
        j = active[k]
        total[j] += point[j] * (t - done[j])
        done[j] = t
        point[j] = centre[j] + factor * (point[j] - centre[j])
    for j in range(point.size - 2, point.size):
        point[j] = centre[j] + factor * (point[j] - centre[j])
