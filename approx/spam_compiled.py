"""The compiled steps of SPAM: O(d) each for dense rows, about O(nonzeros) each for sparse ones.

A step on a sparse row shrinks all d weights, and needs w'mean of both classes, all without
touching the d weights. Within a block of steps, with P the product of the factors 1 + eta l2 so
far and C the sum of eta l1 times the P before each step,

    w_j = sign(level_j) max(|level_j| - C, 0) / P,

where level_j moves only when a row has feature j. While no weight vanishes, w'mean is linear in
C: two sums. A weight that no row touches vanishes at the step where C passes |level_j|; such
features wait in buckets by |level_j|, so that each step looks at few of them. Without l1 nothing
vanishes, and x'mean of each row is all that is needed: `spam_ridge`.

The arguments data, indices, indptr are those of a CSR matrix, `order` the rows to take, `eta` the
length of each step; w (d,) is changed in place, and each point is added to `total`, (d,) or empty.
"""

from __future__ import annotations

import math

import numpy as np

from ..exact.compiling import compiled


@compiled
def slope(score, positive, minus, plus, share):  # pragma: no cover - compiled
    """Return the factor c of the stochastic gradient c x; minus and plus are w'mean."""
    if positive:
        return 2.0 / share * (score - minus - 1.0)
    return 2.0 / (1.0 - share) * (score - plus + 1.0)


@compiled
def spam_dense(data, order, positive, means, share, l1, l2, eta, w, total):  # pragma: no cover
    """Make one step for each row of `order`; `data` has the rows one after the other."""
    d = w.size
    minus, plus = 0.0, 0.0
    for j in range(d):
        minus += means[0, j] * w[j]
        plus += means[1, j] * w[j]
    for t in range(order.size):
        at, step, score = order[t] * d, eta[t], 0.0
        for j in range(d):
            score += data[at + j] * w[j]
        move = step * slope(score, positive[order[t]], minus, plus, share)
        cut, shrink = step * l1, 1.0 / (1.0 + step * l2)
        minus, plus = 0.0, 0.0
        for j in range(d):
            v = w[j] - move * data[at + j]
            v = math.copysign(max(abs(v) - cut, 0.0), v) * shrink
            w[j] = v
            minus += means[0, j] * v
            plus += means[1, j] * v
        for j in range(total.size):
            total[j] += w[j]


@compiled
def spam_ridge(
    data, indices, indptr, order, positive, means, along, share, l2, eta, w, total
):  # pragma: no cover
    """Make the steps without l1 on CSR rows; along (n, 2) is x'mean of each row."""
    d, P, inverse = w.size, 1.0, 0.0
    missed = np.zeros(total.size)  # what `total` lacks of w * inverse
    for t in range(order.size):
        if t % max(d // 8, 64) == 0 or P > 1e4:  # afresh: no drift, no overflow
            _settle_ridge(w, total, missed, P, inverse)
            P, inverse, minus, plus = 1.0, 0.0, 0.0, 0.0
            for j in range(d):
                minus += means[0, j] * w[j]
                plus += means[1, j] * w[j]
        i, step, score = order[t], eta[t], 0.0
        lo, hi = indptr[i], indptr[i + 1]
        for k in range(lo, hi):
            score += data[k] * w[indices[k]]
        move = step * slope(score / P, positive[i], minus / P, plus / P, share) * P
        for k in range(lo, hi):
            w[indices[k]] -= move * data[k]
        minus -= move * along[i, 0]
        plus -= move * along[i, 1]
        if total.size > 0:
            for k in range(lo, hi):
                missed[indices[k]] -= move * data[k] * inverse
        P *= 1.0 + step * l2
        inverse += 1.0 / P
    _settle_ridge(w, total, missed, P, inverse)


@compiled
def _settle_ridge(w, total, missed, P, inverse):  # pragma: no cover
    for j in range(total.size):
        total[j] += w[j] * inverse - missed[j]
        missed[j] = 0.0
    for j in range(w.size):
        w[j] /= P


@compiled
def spam_sparse(
    data, indices, indptr, order, positive, means, share, l1, l2, eta, w, total
):  # pragma: no cover
    """Make the steps with l1 > 0 on CSR rows."""
    d, n_steps, touched = w.size, order.size, 0
    for t in range(n_steps):
        touched += indptr[order[t] + 1] - indptr[order[t]]
    longest = max(32, int(4.0 * d * n_steps / max(touched, 1)))
    state = np.zeros((d, 4))  # level, the two means, `missed`: one place in memory
    state[:, 1:3] = means.T
    start = 0
    while start < n_steps:
        stop, reach, grown = start, 0.0, 1.0
        while stop < n_steps and stop - start < longest and (grown < 1e4 or stop == start):
            reach += eta[stop] * l1 * grown
            grown *= 1.0 + eta[stop] * l2
            stop += 1
        state[:, 0], state[:, 3] = w, 0.0
        _block(
            data, indices, indptr, order[start:stop], positive, state, share, l1, l2,
            eta[start:stop], w, total, reach,
        )  # fmt: skip
        start = stop


@compiled
def _block(
    data, indices, indptr, order, positive, state, share, l1, l2, eta, w, total, reach
):  # pragma: no cover
    """Make some steps; `flat` has sums over the weights alive of mean * level, of mean * sign.

    The sum over the steps of w_j is level_j age_0 - sign_j age_1 - missed_j, with `age` the sums
    of 1 / P and of C / P, and `missed` what the changes of level and sign came too late for.
    """
    d, scale, flat = w.size, order.size / reach, np.zeros(4)
    head, where = np.full(order.size, -1, np.int32), np.full((d, 3), -1, np.int32)
    for j in range(d):
        if state[j, 0] != 0.0:
            _add(flat, state, j, 1.0)
            if abs(state[j, 0]) <= reach:
                _wait(head, where, j, min(int(abs(state[j, 0]) * scale), head.size - 1))
    age, C, P, first = np.zeros(2), 0.0, 1.0, 0
    for t in range(order.size):
        i, step, score = order[t], eta[t], 0.0
        lo, hi = indptr[i], indptr[i + 1]
        for k in range(lo, hi):
            size = state[indices[k], 0]
            score += data[k] * math.copysign(max(abs(size) - C, 0.0), size)
        minus, plus = (flat[0] - C * flat[2]) / P, (flat[1] - C * flat[3]) / P
        move = step * slope(score / P, positive[i], minus, plus, share) * P
        later = C + step * l1 * P
        _touch(data, indices, lo, hi, state, move, C, later, age, flat, head, where, reach)
        C, P = later, P * (1.0 + step * l2)
        first = _reap(head, where, reach, first, C, state, age, flat)
        age[0] += 1.0 / P
        age[1] += C / P
    for j in range(d):
        level = state[j, 0]
        if total.size > 0:
            sign = (1.0 if level > 0.0 else 0.0) - (1.0 if level < 0.0 else 0.0)
            total[j] += level * age[0] - sign * age[1] - state[j, 3]
        w[j] = math.copysign(max(abs(level) - C, 0.0), level) / P


@compiled
def _add(flat, state, j, factor):  # pragma: no cover
    level, sign = state[j, 0] * factor, math.copysign(1.0, state[j, 0]) * factor
    flat[0] += state[j, 1] * level
    flat[1] += state[j, 2] * level
    flat[2] += state[j, 1] * sign
    flat[3] += state[j, 2] * sign


@compiled
def _touch(
    data, indices, lo, hi, state, move, C, later, age, flat, head, where, reach
):  # pragma: no cover
    """Move the weights of one row along it and shrink them, C being `later` after that."""
    f0, f1, f2, f3 = 0.0, 0.0, 0.0, 0.0
    scale, age0, age1 = head.size / reach, age[0], age[1]
    for k in range(lo, hi):
        j = indices[k]
        old = state[j, 0]
        v = math.copysign(max(abs(old) - C, 0.0), old) - move * data[k]
        size = abs(v) + C
        alive = 1.0 if size > later and v != 0.0 else 0.0
        new = math.copysign(size * alive, v)
        sign = (1.0 if old > 0.0 else 0.0) - (1.0 if old < 0.0 else 0.0)
        turn = math.copysign(alive, v) - sign
        state[j, 0] = new
        state[j, 3] += (new - old) * age0 - turn * age1
        f0 += state[j, 1] * (new - old)
        f1 += state[j, 2] * (new - old)
        f2 += state[j, 1] * turn
        f3 += state[j, 2] * turn
        if alive * size <= reach and alive > 0.0:
            at = min(int(size * scale), head.size - 1)
            if where[j, 0] < 0:
                _wait(head, where, j, at)
            elif at < where[j, 0]:
                _leave(head, where, j)
                _wait(head, where, j, at)
    flat[0] += f0
    flat[1] += f1
    flat[2] += f2
    flat[3] += f3


@compiled
def _wait(head, where, j, at):  # pragma: no cover
    """Let feature j wait in a bucket; `where` has bucket, next and previous feature, or -1."""
    after = head[at]
    where[j, 0], where[j, 1], where[j, 2] = at, after, -1
    if after >= 0:
        where[after, 2] = j
    head[at] = j


@compiled
def _leave(head, where, j):  # pragma: no cover
    after, before = where[j, 1], where[j, 2]
    if after >= 0:
        where[after, 2] = before
    if before >= 0:
        where[before, 1] = after
    else:
        head[where[j, 0]] = after


@compiled
def _reap(head, where, reach, first, C, state, age, flat):  # pragma: no cover
    """End the weights whose level C has passed; return the first bucket not yet passed."""
    scale = head.size / reach
    last = min(int(C * scale), head.size - 1)
    while True:
        j = head[first]
        head[first] = -1
        while j >= 0:
            after, size = where[j, 1], abs(state[j, 0])
            where[j, 0] = -1
            if 0.0 < size <= C:
                _add(flat, state, j, -1.0)
                state[j, 3] -= state[j, 0] * age[0] - math.copysign(age[1], state[j, 0])
                state[j, 0] = 0.0
            elif 0.0 < size <= reach:  # raised meanwhile: it waits again, in a later bucket
                _wait(head, where, j, min(int(size * scale), head.size - 1))
            j = after
        if first >= last:
            return first
        first += 1
