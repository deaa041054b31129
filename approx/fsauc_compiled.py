"""The compiled steps of FSAUC: about O(nonzeros of the row), the projection on |w|_1 <= R included.

That projection moves all weights towards zero by one and the same amount. With C the sum of these
amounts since the begin of a block of steps,

    w_j = sign(level_j) max(|level_j| - C, 0),

where level_j moves only when a row has feature j. The size |w|_1, the number of weights alive, the
distance from the centre and the sum over the weights alive of sign_j centre_j are kept up to date,
so that the amount is (size - R) / number, once the weights that vanish are taken out. These are
found in buckets by |level_j|. A feature may wait in an earlier bucket than its own: when C comes
there, it goes on to the right one. Where its level falls below its bucket, it is written down anew,
and the old line is not looked at any more. The projection on the ball around the centre, which
moves each weight by another amount, goes through all weights that are alive or have a centre.
"""

from __future__ import annotations

import math

import numpy as np

from ..exact.compiling import compiled

BLOCK = 8.0
"""Touches in a block over the active features at its start, about."""

UNLISTED, NOWHERE = -2.0, -1.0

# Places in `now`.
SIZE, ALIVE, FAR, TOWARDS, CUT, REACH, STEPS, CUTS, USED, SCALE, FIRST = range(11)


@compiled
def stage_steps(
    data, indices, indptr, dense, order, positive, limits, centre, point, total, duals, counts
):  # pragma: no cover - compiled
    """Make the steps of a stage, or of a part of it, in place; see `StageWalk` for the arrays.

    `active` lists the features that may be away from zero or have a centre away from zero.
    """
    d, radius, near, longest = point.size - 2, limits[0], limits[2], 0
    for t in range(order.size):
        longest = max(longest, indptr[order[t] + 1] - indptr[order[t]])
    state = np.zeros((d, 4))  # level, centre, missed, bucket: one place in memory
    state[:, 1], state[:, 3] = centre[:d], UNLISTED
    active, n_active = np.empty(d, np.uint32), 0
    for j in range(d):
        state[j, 0] = point[j]
        if point[j] != 0.0 or centre[j] != 0.0:
            active[n_active], n_active = j, n_active + 1
    now, left = np.zeros(11), 0
    lines = np.empty((2 * d + 64 * (longest + 1), 2), np.int32)  # feature, next line of its bucket
    head = np.empty(0, np.int32)
    for t in range(order.size):
        i = order[t]
        lo, hi = indptr[i], indptr[i + 1]
        base = lo if dense else 0
        if left == 0 or now[USED] + 2 * (hi - lo) > lines.shape[0]:
            left = max(256, int(BLOCK * n_active / (hi - lo + 1)))
            head = np.full(left, -1, np.int32)
            rate = now[CUT] / max(now[STEPS], 1.0)
            n_active = _renew(state, active, n_active, total, now, head, lines, 2 * rate * left)
        left -= 1
        score, C = 0.0, now[CUT]
        for k in range(lo, hi):
            level = state[indices[k - base], 0]
            score += data[k] * math.copysign(max(abs(level) - C, 0.0), level)
        move = limits[4] * _ends(score, positive[i], limits, point, duals, counts)
        n_active = _touch(
            data, indices, lo, hi, base, state, active, n_active, move, now, head, lines
        )
        while radius < now[SIZE] < np.inf and not _cut(state, now, head, lines, radius):
            wide = 2.0 * (left + 2) * (now[SIZE] - radius) / max(now[ALIVE], 1.0)
            n_active = _renew(state, active, n_active, total, now, head, lines, wide)
        far = now[FAR] + (point[d] - centre[d]) ** 2 + (point[d + 1] - centre[d + 1]) ** 2
        if far > near * near:
            reach = now[REACH]
            n_active = _renew(state, active, n_active, total, now, head, lines, 0.0)
            _pull_in(state, active, n_active, point, centre, near / math.sqrt(far))
            n_active = _renew(state, active, n_active, total, now, head, lines, reach)
        duals[0] = min(max(duals[0], duals[1] - limits[3]), duals[1] + limits[3])
        total[d] += point[d]
        total[d + 1] += point[d + 1]
        counts[2] += 1
        now[STEPS] += 1.0
        now[CUTS] += now[CUT]
    n_active = _renew(state, active, n_active, total, now, head, lines, 0.0)
    for j in range(d):
        point[j] = state[j, 0]


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
def _renew(state, active, n_active, total, now, head, lines, reach):  # pragma: no cover
    """Begin a block: C zero, the sums made afresh, features below `reach` waiting in buckets."""
    steps, cuts, C, kept = now[STEPS], now[CUTS], now[CUT], 0
    now[:] = 0.0
    head[:] = -1
    now[REACH], now[SCALE] = reach, (head.size / reach if reach > 0.0 else 0.0)
    if not now[SCALE] < 1e300:
        now[REACH], now[SCALE] = 0.0, 0.0
    for k in range(n_active):
        j = active[k]
        level, sign = state[j, 0], _sign(state[j, 0])
        total[j] += level * steps - sign * cuts - state[j, 2]
        w, c = level - sign * C, state[j, 1]
        state[j, 0], state[j, 2], state[j, 3] = w, 0.0, NOWHERE
        now[SIZE] += abs(w)
        now[FAR] += (w - c) ** 2
        now[ALIVE] += abs(sign)
        now[TOWARDS] += sign * c
        if w == 0.0 and c == 0.0:
            state[j, 3] = UNLISTED
        else:
            active[kept], kept = j, kept + 1
            if w != 0.0 and abs(w) < now[REACH]:
                _wait(state, j, abs(w), now, head, lines)
    return kept


@compiled
def _sign(x):  # pragma: no cover
    return (1.0 if x > 0.0 else 0.0) - (1.0 if x < 0.0 else 0.0)


@compiled
def _wait(state, j, size, now, head, lines):  # pragma: no cover
    """Write feature j down in its bucket."""
    at, used = min(int(size * now[SCALE]), head.size - 1), int(now[USED])
    lines[used, 0], lines[used, 1] = j, head[at]
    head[at], state[j, 3] = used, at
    now[USED] = used + 1


@compiled
def _touch(
    data, indices, lo, hi, base, state, active, n_active, move, now, head, lines
):  # pragma: no cover
    """Move the weights of one row along it; return the number of active features."""
    size, alive, far, towards = now[SIZE], now[ALIVE], now[FAR], now[TOWARDS]
    C, steps, cuts, reach, scale = now[CUT], now[STEPS], now[CUTS], now[REACH], now[SCALE]
    for k in range(lo, hi):
        j = indices[k - base]
        old, c = state[j, 0], state[j, 1]
        sign = _sign(old)
        v = old - sign * C
        w = v - move * data[k]
        turn = _sign(w) - sign
        new = w + (sign + turn) * C
        state[j, 0] = new
        state[j, 2] += (new - old) * steps - turn * cuts
        size += abs(w) - abs(v)
        alive += abs(sign + turn) - abs(sign)
        far += (w - v) * (w + v - 2.0 * c)
        towards += turn * c
        if state[j, 3] == UNLISTED:
            active[n_active], n_active, state[j, 3] = j, n_active + 1, NOWHERE
        if abs(new) < reach and w != 0.0 and not 0.0 <= state[j, 3] <= abs(new) * scale:
            _wait(state, j, abs(new), now, head, lines)
    now[SIZE], now[ALIVE], now[FAR], now[TOWARDS] = size, alive, far, towards
    return n_active


@compiled
def _cut(state, now, head, lines, radius):  # pragma: no cover
    """Bring |w|_1 down to `radius`; False where C would come to the end of the buckets.

    The sum of (|w_j| - amount)_+ is convex and piecewise linear in the amount: Newton's steps from
    zero never overshoot, and end exactly when no more weights vanish.
    """
    C = now[CUT]
    while True:
        amount = (now[SIZE] - radius) / now[ALIVE]
        if not C + amount < now[REACH]:
            return False
        alive = now[ALIVE]
        _reap(state, now, head, lines, C, amount)
        if now[ALIVE] == alive:
            break
    now[FAR] += alive * amount * amount - 2.0 * amount * (now[SIZE] - now[TOWARDS])
    now[SIZE], now[CUT] = radius, C + amount
    return True


@compiled
def _reap(state, now, head, lines, C, amount):  # pragma: no cover
    """Take out the weights that `amount` more makes vanish."""
    first, last = int(now[FIRST]), min(int((C + amount) * now[SCALE]), head.size - 1)
    for at in range(first, last + 1):
        line = head[at]
        head[at] = -1
        while line >= 0:
            here, j = line, lines[line, 0]
            line = lines[line, 1]
            if state[j, 3] != at:
                continue  # it was written down again elsewhere
            state[j, 3] = NOWHERE
            level, c = state[j, 0], state[j, 1]
            sign = _sign(level)
            w = level - sign * C
            if abs(w) <= amount:
                now[SIZE] -= abs(w)
                now[ALIVE] -= abs(sign)
                now[FAR] += w * (2.0 * c - w)
                now[TOWARDS] -= sign * c
                state[j, 2] -= level * now[STEPS] - sign * now[CUTS]
                state[j, 0] = 0.0
            elif abs(level) < now[REACH]:  # raised meanwhile, or just above
                bucket = min(int(abs(level) * now[SCALE]), head.size - 1)
                lines[here, 1], head[bucket], state[j, 3] = head[bucket], here, bucket
    now[FIRST] = max(first, last)


@compiled
def _pull_in(state, active, n_active, point, centre, factor):  # pragma: no cover
    """Bring w, a and b nearer to the centre, to `factor` times the distance."""
    for k in range(n_active):
        j = active[k]
        state[j, 0] = state[j, 1] + factor * (state[j, 0] - state[j, 1])
    for j in range(point.size - 2, point.size):
        point[j] = centre[j] + factor * (point[j] - centre[j])


@compiled
def add_rows(data, indices, indptr, dense, visits, positive, sums):  # pragma: no cover
    """Add each row, times its visits, to the sum of its class: sums (2, d)."""
    for i in range(visits.size):
        if visits[i] > 0:
            lo, side = indptr[i], 1 if positive[i] else 0
            base = lo if dense else 0
            for k in range(lo, indptr[i + 1]):
                sums[side, indices[k - base]] += visits[i] * data[k]
