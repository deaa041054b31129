"""The compiled steps of SPAM with l1 > 0 on sparse rows: about O(nonzeros) each.

A step shrinks all d weights, and needs w'mean of both classes, all without touching the d weights.
Within a block of steps, with P the product of the factors 1 + eta l2 so far and C the sum of
eta l1 times the P before each step,

    w_j = sign(level_j) max(|level_j| - C, 0) / P,

where level_j moves only when a row has feature j. While no weight vanishes, w'mean is linear in C:
two sums over the weights alive, those with |level_j| > C. The lengths of the steps are known
beforehand, C with them, and so is the step at which a weight that no row touches any more will
vanish: what the sums lose then is noted down for that step where the weight is set, and taken back
if a row touches it sooner. A block lasts some times as many touches as weights are alive: going
through those at its ends costs little then.

The sum of w_j over the points u, ..., v - 1 is level_j (A_v - A_u) - sign_j (B_v - B_u), A and B
being the sums of 1 / P and C / P. It is given to `total` where the weight is set, with its end, or
that of the block, for v, and what is left of it is taken back likewise.

Some rows at a time are copied to one place, with the means of their features: a processor fetches
many far places at once where nothing waits for one of them. Each part of a step is then a loop of
its own without branches, some of which take several entries at a time. Places are unsigned numbers,
so that no loop asks whether they count from the end.

Arrays: `w` has the levels within a block. `members` are the features whose level is not zero.
`columns` (size,) and `room` (7, size) have the copied rows, the entries of one from `at` to `to`.
`cuts` (m + 1,) has C after u steps, u = 0 being the start, which `total` has not; `clock`, (m + 2,
7), P, A, B and what the sums lose then; `flat` (4,) has the sums of mean * level and mean * sign.
"""

from __future__ import annotations

import math

import numpy as np

from ...exact.tools.compiling import compiled

BLOCK = 16.0
"""Touches in a block over the weights alive at its start, about."""
CHUNK = 1024
"""Entries of the rows copied at a time, about."""
NOTHING, EVERYTHING = 1e-300, 1e300
"""C at the start of a block, so that no touched level is zero; and its largest value.

So weights below about 1e-290 have no digits, and those of 1e-300 vanish.
"""

X, MINUS, PLUS, LEVEL, CHANGE, TURN, GIVEN = range(7)  # of `room`
GROWN, AGE, CUT_AGE, LOSS = range(4)  # of `clock`; LOSS is the first of four
FLAG, PICKED = range(2)  # of `marks`


@compiled
def spam_sparse(
    data, indices, indptr, order, positive, means, share, l1, l2, eta, w, total
):  # pragma: no cover - compiled
    """Make the steps with l1 > 0 on CSR rows; see `spam_compiled` for the arguments."""
    n_steps, touched, size, ends = order.size, 1.0, np.uint64(CHUNK), indptr.view(np.uint64)
    for t in range(n_steps):
        n = ends[order[t] + 1] - ends[order[t]]
        touched, size = touched + n, max(size, n)
    members, count = np.empty(w.size + 1, np.uint32), np.uint64(0)
    for j in range(w.size):
        members[count] = j
        count += np.uint64(w[j] != 0.0)
    pairs, columns = means.T.copy().ravel(), np.empty(size, np.uint32)
    room, marks = np.empty((7, size)), np.empty((2, size), np.uint64)
    start, top = 0, np.abs(means).max()
    while start < n_steps:
        stop, grown, deep = start, 1.0, 0.0  # deep: C times the means, and so their rounding
        longest = max(64, int(BLOCK * float(count) * n_steps / touched))
        while stop < n_steps and stop - start < longest:
            if stop > start and not (grown < 1e4 and deep < 1e8):
                break
            deep += eta[stop] * l1 * grown * top
            grown *= 1.0 + eta[stop] * l2
            stop += 1
        cuts, clock, guess, scale = _clock(eta[start:stop], l1, l2)
        flat = np.zeros(4)
        _begin(
            members, count, pairs, columns, room, marks, cuts, clock, guess, scale, flat, w, total
        )
        count = _block(
            data, indices, ends, order[start:stop], positive, pairs, share, eta[start:stop],
            members, count, columns, room, marks, cuts, clock, guess, scale, flat, w, total,
        )  # fmt: skip
        count = _finish(members, count, cuts, clock, w)
        start = stop


@compiled
def _clock(eta, l1, l2):  # pragma: no cover
    """Return `cuts`, `clock`, and a table for `_note` with its scale."""
    m = eta.size
    cuts, clock = np.full(m + 1, NOTHING), np.zeros((m + 2, 7))
    clock[0, GROWN] = 1.0
    for u in range(1, m + 1):
        P = clock[u - 1, GROWN]
        cuts[u] = min(cuts[u - 1] + eta[u - 1] * l1 * P, EVERYTHING)
        P *= 1.0 + eta[u - 1] * l2
        clock[u, GROWN] = P
        clock[u + 1, AGE] = clock[u, AGE] + 1.0 / P
        clock[u + 1, CUT_AGE] = clock[u, CUT_AGE] + cuts[u] / P
    guess = np.full(4 * m + 2, m, np.uint32)  # the first u where C * scale comes to each integer
    scale, at = min(4 * m / cuts[m], 1e300), 0
    for u in range(m + 1):
        upto = min(int(cuts[u] * scale), guess.size - 1)
        while at <= upto:
            guess[at] = u
            at += 1
    return cuts, clock, guess, scale


@compiled
def _begin(
    members, count, pairs, columns, room, marks, cuts, clock, guess, scale, flat, w, total
):  # pragma: no cover
    """Count the members in."""
    done, at, average = np.uint64(0), np.uint64(0), total.size > 0
    while done < count:
        n = min(count - done, np.uint64(CHUNK))
        for k in range(n):
            j = members[done + k]
            level = w[j]
            columns[k], room[LEVEL, k], room[CHANGE, k], room[GIVEN, k] = j, level, level, 0.0
            room[TURN, k] = math.copysign(1.0 if abs(level) > NOTHING else 0.0, level)
            room[MINUS, k], room[PLUS, k] = pairs[2 * j], pairs[2 * j + 1]
        _note(room, marks, at, n, 1.0, cuts[0], 0, cuts, clock, guess, scale, average)
        _sum(columns, room, at, n, flat, total)
        done += n


@compiled
def _finish(members, count, cuts, clock, w):  # pragma: no cover
    """Turn levels into weights; return the number of members left."""
    kept, C, P = np.uint64(0), cuts[-1], clock[-2, GROWN]
    for place in range(count):
        j = members[place]
        size = abs(w[j]) - C
        w[j] = math.copysign(0.0 if size <= 0.0 else size, w[j]) / P
        members[kept] = j
        kept += np.uint64(w[j] != 0.0)
    return kept


@compiled
def _block(
    data, indices, ends, order, positive, pairs, share, eta, members, count, columns, room,
    marks, cuts, clock, guess, scale, flat, w, total,
):  # pragma: no cover  # fmt: skip
    """Make the steps of a block; return the number of members then."""
    ready, to, average = 0, np.uint64(0), total.size > 0
    for t in range(order.size):
        if t == ready:
            ready, to = _load(data, indices, ends, order, t, pairs, columns, room), np.uint64(0)
        i, C, later, P = order[t], cuts[t], cuts[t + 1], clock[t, GROWN]
        at, to = to, to + (ends[i + 1] - ends[i])
        score, count = _read(columns, room, at, to, C, w, members, count)
        _note(room, marks, at, to, -1.0, C, t + 1, cuts, clock, guess, scale, average)
        other, chance = (0, share) if positive[i] else (1, 1.0 - share)
        score -= flat[other] - C * flat[other + 2]
        move = 2.0 * eta[t] / chance * (score - (P if positive[i] else -P))  # all of it times P
        _move(columns, room, at, to, move, C, later, w)
        _note(room, marks, at, to, 1.0, later, t + 1, cuts, clock, guess, scale, average)
        _sum(columns, room, at, to, flat, total)
        for a in range(4):
            flat[a] -= clock[t + 1, LOSS + a]
    return count


@compiled
def _load(data, indices, ends, order, t, pairs, columns, room):  # pragma: no cover
    """Copy the rows of step t and of some more; return the first step without."""
    end = np.uint64(0)
    while t < order.size:
        lo = ends[order[t]]
        n = ends[order[t] + 1] - lo
        if end > 0 and end + n > CHUNK:
            break
        for k in range(n):
            room[X, end + k] = data[lo + k]
        for k in range(n):
            columns[end + k] = indices[lo + k]
        end += n
        t += 1
    for k in range(end):
        j = columns[k]
        room[MINUS, k], room[PLUS, k] = pairs[2 * j], pairs[2 * j + 1]
    return t


@compiled
def _read(columns, room, at, to, C, w, members, count):  # pragma: no cover
    """Return w'x times P, and the number of members with those of the row."""
    score = 0.0
    for k in range(at, to):
        j = columns[k]
        level = w[j]
        room[LEVEL, k], room[GIVEN, k] = level, 0.0
        members[count] = j
        count += np.uint64(level == 0.0)
        score += room[X, k] * (level - min(max(level, -C), C))
    return score, count


@compiled
def _move(columns, room, at, to, move, C, later, w):  # pragma: no cover
    """Move the weights of a row along it, and shrink them."""
    for k in range(at, to):
        old = room[LEVEL, k]
        v = old - min(max(old, -C), C) - move * room[X, k]
        new = v + math.copysign(C, v)
        room[LEVEL, k] = new
        room[CHANGE, k] = (new if abs(new) > later else 0.0) - (old if abs(old) > C else 0.0)
        room[TURN, k] = (math.copysign(1.0, new) if abs(new) > later else 0.0) - (
            math.copysign(1.0, old) if abs(old) > C else 0.0
        )
    for k in range(at, to):
        w[columns[k]] = room[LEVEL, k]


@compiled
def _sum(columns, room, at, to, flat, total):  # pragma: no cover
    """Add the changes of the levels of a row to the sums, and to `total` what is given."""
    f0, f1, f2, f3 = 0.0, 0.0, 0.0, 0.0
    for k in range(at, to):
        minus, plus, change, turn = room[MINUS, k], room[PLUS, k], room[CHANGE, k], room[TURN, k]
        f0 += minus * change
        f1 += plus * change
        f2 += minus * turn
        f3 += plus * turn
    flat[0] += f0
    flat[1] += f1
    flat[2] += f2
    flat[3] += f3
    if total.size > 0:
        for k in range(at, to):
            total[columns[k]] += room[GIVEN, k]


@compiled
def _note(
    room, marks, at, to, factor, C, u, cuts, clock, guess, scale, average
):  # pragma: no cover
    """Note down where in this block levels above C end; enter as given all from point u on.

    The factor is 1, or -1 to take it back. The end is the first u with C_u >= |level|; the table
    has one for each C * scale, monotone, so that it is never too late.
    """
    last, count = cuts[-1], np.uint64(0)
    for k in range(at, to):
        size = abs(room[LEVEL, k])
        marks[FLAG, k] = (size > C) & (size <= last)
    for k in range(at, to):
        marks[PICKED, count] = k
        count += marks[FLAG, k]
    for c in range(count):
        k = marks[PICKED, c]
        level = factor * room[LEVEL, k]
        size, sign = abs(level), math.copysign(1.0, level)
        end = guess[np.uint32(size * scale)]
        end += np.uint32(cuts[end] < size)  # mostly enough, and no branch
        while cuts[end] < size:
            end += np.uint32(1)
        clock[end, LOSS] += room[MINUS, k] * level
        clock[end, LOSS + 1] += room[PLUS, k] * level
        clock[end, LOSS + 2] += room[MINUS, k] * sign
        clock[end, LOSS + 3] += room[PLUS, k] * sign
        if average:
            given = level * (clock[end, AGE] - clock[u, AGE])
            room[GIVEN, k] += given - sign * (clock[end, CUT_AGE] - clock[u, CUT_AGE])
    if average:
        age = factor * (clock[-1, AGE] - clock[u, AGE])
        cut_age = factor * (clock[-1, CUT_AGE] - clock[u, CUT_AGE])
        for k in range(at, to):
            level = room[LEVEL, k]
            given = level * age - math.copysign(1.0, level) * cut_age
            room[GIVEN, k] += given if abs(level) > last else 0.0
