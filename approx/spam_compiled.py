"""The compiled steps of SPAM: O(d) each for dense rows, about O(nonzeros) each for sparse ones.

A step on a sparse row shrinks all d weights, and needs w'mean of both classes, all without
touching the d weights. Within a block of steps, with P the product of the factors 1 + eta l2 so
far and C the sum of eta l1 times the P before each step,

    w_j = sign(level_j) max(|level_j| - C, 0) / P,

where level_j moves only when a row has feature j. While no weight vanishes, w'mean is linear in
C: two sums. The lengths of the steps are known beforehand, C with them, and so is the step at which
a weight that no row touches any more will vanish: what the sums lose then is noted down for that
step where the weight is set, and taken back if a row touches it sooner. A block lasts some times
as many touches as weights are alive: going through those at its ends costs little then. Without l1
nothing vanishes, and x'mean of each row is all that is needed: `spam_ridge`.

The arguments data, indices, indptr are those of a CSR matrix, `order` the rows to take, `eta` the
length of each step; w (d,) is changed in place, and each point is added to `total`, (d,) or empty.
"""

from __future__ import annotations

import math

import numpy as np

from ..exact.compiling import compiled

BLOCK = 16.0
"""Touches in a block over the weights alive at its start, about."""


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
    state = np.zeros((d, 4))  # level, the two means, the step of its end: one place in memory
    state[:, 0], state[:, 1:3] = w, means.T
    members, count = np.empty(d + 1, np.uint32), 0
    for j in range(d):
        if w[j] != 0.0:
            members[count], count = j, count + 1
    start = 0
    while start < n_steps:
        stop, grown = start, 1.0
        longest = max(64, int(BLOCK * count * n_steps / max(touched, 1)))
        while stop < n_steps and stop - start < longest and (grown < 1e4 or stop == start):
            grown *= 1.0 + eta[stop] * l2
            stop += 1
        cuts, ages, guess, scale = _clock(eta[start:stop], l1, l2)
        count = _block(
            data, indices, indptr, order[start:stop], positive, state, members, count, share,
            eta[start:stop], cuts, ages, guess, scale, total,
        )  # fmt: skip
        start = stop
    for j in range(d):
        w[j] = state[j, 0]


@compiled
def _clock(eta, l1, l2):  # pragma: no cover
    """Return C (m + 2,); P and the sums of 1 / P and C / P before, (m + 2, 3); a table for `_end`.

    Entry u is for the point after u steps, u = 0 being the start, which no sum has.
    """
    m = eta.size
    cuts, ages = np.zeros(m + 2), np.zeros((m + 2, 3))
    ages[0, 0] = 1.0
    for u in range(1, m + 1):
        P = ages[u - 1, 0]
        cuts[u] = cuts[u - 1] + eta[u - 1] * l1 * P
        P *= 1.0 + eta[u - 1] * l2
        ages[u, 0] = P
        ages[u + 1, 1] = ages[u, 1] + 1.0 / P
        ages[u + 1, 2] = ages[u, 2] + cuts[u] / P
    cuts[m + 1] = np.inf
    guess = np.full(16 * m + 2, m, np.uint32)  # the first u where C * scale comes to each integer
    scale, at = min(16 * m / cuts[m], 1e300), 0
    for u in range(m + 1):
        upto = min(int(cuts[u] * scale), guess.size - 1)
        while at <= upto:
            guess[at] = u
            at += 1
    return cuts, ages, guess, scale


@compiled
def _end(size, cuts, guess, scale):  # pragma: no cover
    """Return the first u with C_u >= size, m + 1 where there is none."""
    if not size <= cuts[cuts.size - 2]:
        return np.uint32(cuts.size - 1)
    at = guess[np.uint32(size * scale)]  # monotone in size, so that this is not too late
    while cuts[at] < size:
        at = np.uint32(at + 1)
    return at


@compiled
def _block(
    data, indices, indptr, order, positive, state, members, count, share, eta, cuts, ages,
    guess, scale, total,
):  # pragma: no cover  # fmt: skip
    """Make some steps; `flat` has sums over the weights alive of mean * level, of mean * sign.

    The sum of w_j over points u, ..., v - 1 is level_j (A_v - A_u) - sign_j (B_v - B_u), A and B
    being the sums of 1 / P and C / P in `ages`. The `members` are the features whose level is not
    zero, or was not in this block. Returns how many are left.
    """
    m, flat, losses = order.size, np.zeros(4), np.zeros((order.size + 2, 4))
    for place in range(count):
        j = members[place]
        level = state[j, 0]
        end, sign = _end(abs(level), cuts, guess, scale), math.copysign(1.0, level)
        state[j, 3] = end
        _note(losses, end, state, j, level, sign)
        for a in range(2):
            flat[a] += state[j, a + 1] * level
            flat[a + 2] += state[j, a + 1] * sign
        if total.size > 0:
            total[j] += level * ages[end, 1] - sign * ages[end, 2]
    for t in range(m):
        i, C, P, score = order[t], cuts[t], ages[t, 0], 0.0
        lo, hi = indptr[i], indptr[i + 1]
        for k in range(lo, hi):
            size = state[indices[k], 0]
            score += data[k] * math.copysign(max(abs(size) - C, 0.0), size)
        minus, plus = (flat[0] - C * flat[2]) / P, (flat[1] - C * flat[3]) / P
        move = eta[t] * slope(score / P, positive[i], minus, plus, share) * P
        count = _touch(
            data, indices, lo, hi, state, members, count, move, t, flat, losses,
            cuts, ages, guess, scale, total,
        )  # fmt: skip
        for a in range(4):
            flat[a] -= losses[t + 1, a]
    kept, C, P = 0, cuts[m], ages[m, 0]
    for place in range(count):
        j = members[place]
        size, state[j, 3] = abs(state[j, 0]) - C, 0.0
        state[j, 0] = math.copysign(max(size, 0.0), state[j, 0]) / P
        if size > 0.0:
            members[kept], kept = j, kept + 1
    return kept


@compiled
def _note(losses, end, state, j, level, sign):  # pragma: no cover
    losses[end, 0] += state[j, 1] * level
    losses[end, 1] += state[j, 2] * level
    losses[end, 2] += state[j, 1] * sign
    losses[end, 3] += state[j, 2] * sign


@compiled
def _touch(
    data, indices, lo, hi, state, members, count, move, t, flat, losses, cuts, ages, guess,
    scale, total,
):  # pragma: no cover  # fmt: skip
    """Move the weights of one row along it and shrink them, in step t; return the members."""
    f0, f1, f2, f3 = 0.0, 0.0, 0.0, 0.0
    C, later, last = cuts[t], cuts[t + 1], cuts[cuts.size - 2]
    sink, age1, age2 = cuts.size - 1.0, ages[t + 1, 1], ages[t + 1, 2]
    for k in range(lo, hi):
        j = indices[k]
        old, mark = state[j, 0], state[j, 3]
        v = math.copysign(max(abs(old) - C, 0.0), old) - move * data[k]
        size, before = abs(v) + C, 1.0 if mark > t + 0.75 else 0.0
        turn = math.copysign(before, old)
        if 0.0 < before * mark < sink:  # its end is called off
            _note(losses, np.uint32(mark), state, j, -old, -turn)
        alive = 1.0 if size > later else 0.0
        sign = math.copysign(alive, v)
        new, end = sign * size, np.uint32(alive * sink)
        if 0.0 < alive * size <= last:
            end = _end(size, cuts, guess, scale)
            _note(losses, end, state, j, new, sign)
        if total.size > 0:
            more = 0.0
            if alive > 0.0:
                more = new * (ages[end, 1] - age1) - sign * (ages[end, 2] - age2)
            if before > 0.0:
                gone = np.uint32(mark)
                more -= old * (ages[gone, 1] - age1) - turn * (ages[gone, 2] - age2)
            total[j] += more
        members[count] = j
        count += 1 if mark == 0.0 else 0
        change, turn = new - before * old, sign - turn
        f0 += state[j, 1] * change
        f1 += state[j, 2] * change
        f2 += state[j, 1] * turn
        f3 += state[j, 2] * turn
        state[j, 0], state[j, 3] = new, max(float(end), 0.5)  # 0.5: a member, but not alive
    flat[0] += f0
    flat[1] += f1
    flat[2] += f2
    flat[3] += f3
    return count
