"""The compiled steps of FSAUC: the nonzeros of the row, and a quick look at weights near zero.

The projection on |w|_1 <= R moves all weights towards zero by one and the same amount. With C the
sum of these amounts since the beginning of a block of steps,

    w_j = sign(level_j) max(|level_j| - C, 0),

where level_j moves only when a row has feature j. A block begins with a guess of how far C will
come, its reach. Weights with |level_j| above it are `far`: they stay alive, so that the sum of
their levels and their number say what they add to |w|_1. The levels of the others that are or were
alive in this block, the `near` ones, stand one after the other, and all are gone through at each
step, many at a time, to find the next C; from time to time the dead are taken out. A block ends
where C would come to the reach, or when renewing the lists costs little beside those looks.

The projection on the ball around the centre moves each weight by another amount, and goes through
all. A step from a point inside of the other sets cannot have added more than its own length to the
distance from the centre, their projections included: until that could come to r, no step checks it.
The first step of a part, and one after this projection, may begin outside of them: these steps
check it.
"""

from __future__ import annotations

import math

import numpy as np

from ...exact.tools.compiling import compiled
from .fsauc_ends_compiled import into_ball, move_ends, squared

WORK = 40  # near weights gone through in a block, over the weights that are listed, about
DEEP = 100  # C over R, at most, where a step begins: levels are rounded in proportion to it
# Places in `now`.
CUT, REACH, FAR_SIZE, FAR_ALIVE, STEPS, CUTS, GUESS, GROWN, RATE = range(9)
# Rows of `lists`: places of the features, features at the near places, far ones, dead places.
PLACES, OWNERS, FARS, DEAD = range(4)


@compiled
def stage_steps(
    data, indices, indptr, dense, order, positive, limits, centre, point, total, duals, counts
):  # pragma: no cover - compiled
    """Make the steps of a stage, or of a part of it, in place; see `StageWalk` for the arrays.

    `limits` holds R, kappa, r, D, eta, and p or zero. Feature j has its level at 2 j of `pairs`
    and the sum of its weights behind it, but for this block: `lives` has what it was while near,
    and from its last level `_renew` finds what it was while far, less what `_move` corrects.
    Its place in `levels` is >= 2, with zero there while it is far; 1 is far so far, and 0 dead.
    """
    d, ball, work, begun, packed, away = point.size - 2, limits[2], 0, 0, 2, np.inf
    pairs, now = np.empty(2 * d), np.zeros(9)
    levels, lives, room = np.zeros(d + 48), np.zeros(d + 48), np.empty(d + 48)
    lists, row = np.empty((4, d + 48), np.uint32), np.empty((4, d + 16))
    square = squared(centre, d)
    near, far = 2, _load(point, total, pairs, lists, now)
    later, then, to = order[0], np.uint64(indptr[order[0]]), np.uint64(indptr[order[0] + 1])
    for t in range(order.size):
        i, lo, hi, later = later, then, to, order[min(t + 1, order.size - 1)]
        then, to = np.uint64(indptr[later]), np.uint64(indptr[later + 1])  # in time: memory is slow
        first = lo if dense else np.uint64(0)
        if work > WORK * (near + far) + 256 or now[CUT] > DEEP * limits[0]:
            near, far = _renew(pairs, levels, lives, lists, near, far, now, 2.0 * now[CUT])
            work, begun, packed = 0, t, near
        if near > 2 * packed + 32:
            near = packed = _pack(pairs, levels, lives, lists, near, now)
        a, b = point[d], point[d + 1]
        score = _score(data, indices, lo, hi, first, pairs, row, now[CUT])
        move = limits[4] * move_ends(score, positive[i], limits, point, duals, counts)
        near = _move(indices, lo - first, hi - lo, row, move, pairs, levels, lists, near, now)
        while not _cut(levels, near, room, now, limits[0]):
            reach = 2.0 * (t + 2 - begun) * now[GUESS]
            near, far = _renew(pairs, levels, lives, lists, near, far, now, reach)
            work, begun, packed = 0, t, near
        away += abs(move) * limits[1] + abs(point[d] - a) + abs(point[d + 1] - b)
        if not away < ball:
            away = _distance(pairs, lists, near, far, point, centre, square, now[CUT])
        if not away < ball:
            _renew(pairs, levels, lives, lists, near, far, now, 0.0)
            _unpack(pairs, point, total)
            away = into_ball(point, centre, ball)
            near, far = 2, _load(point, total, pairs, lists, now)
            work, begun, packed = 0, t, near
        duals[0] = min(max(duals[0], duals[1] - limits[3]), duals[1] + limits[3])
        total[d] += point[d]
        total[d + 1] += point[d + 1]
        counts[2] += 1
        now[STEPS] += 1.0
        C = now[CUT]
        now[CUTS] += C
        for k in range(near):
            lives[k] += levels[k] - min(max(levels[k], -C), C)
        work += near
    _renew(pairs, levels, lives, lists, near, far, now, 0.0)
    _unpack(pairs, point, total)


@compiled
def _unpack(pairs, point, total):  # pragma: no cover
    """Write weights and their sums from the pairs back to their places."""
    for j in range(point.size - 2):
        point[j], total[j] = pairs[2 * j], pairs[2 * j + 1]


@compiled
def _load(point, total, pairs, lists, now):  # pragma: no cover
    """Begin a block with all weights far; return how many there are."""
    far, far_size = 0, 0.0
    for j in range(point.size - 2):
        pairs[2 * j], pairs[2 * j + 1] = point[j], total[j]
        alive = 1 if point[j] != 0.0 else 0
        lists[FARS, far], lists[PLACES, j] = j, alive
        far, far_size = far + alive, far_size + abs(point[j])
    now[:GUESS] = 0.0
    now[FAR_SIZE], now[FAR_ALIVE], now[REACH] = far_size, far, 0.0 if far > 0 else np.inf
    return far


@compiled
def _renew(pairs, levels, lives, lists, near, far, now, reach):  # pragma: no cover
    """Begin a block: C zero, the weights up to `reach` near; return the numbers of both lists."""
    C, old, steps, cuts = now[CUT], now[REACH], now[STEPS], now[CUTS]
    for k in range(far):
        j = lists[FARS, k]
        lists[OWNERS, near] = j
        near += 1 if lists[PLACES, j] == 1 else 0
    far, kept, far_size = 0, 2, 0.0
    for k in range(2, near):
        j = lists[OWNERS, k]
        x = pairs[2 * j]
        w = x - min(max(x, -C), C)
        since = 0.0 if abs(x) <= old else x * steps - (cuts if x > 0.0 else -cuts)
        pairs[2 * j] = w
        pairs[2 * j + 1] += lives[k] + since
        out, alive = abs(w) > reach, w != 0.0
        levels[k], lives[k] = 0.0, 0.0
        levels[kept], lists[OWNERS, kept], lists[FARS, far] = w, j, j
        lists[PLACES, j] = 1 if out else kept if alive else 0
        far_size += abs(w) if out else 0.0
        far += 1 if out else 0
        kept += 1 if alive & (not out) else 0
    levels[kept] = 0.0
    now[CUT], now[REACH], now[STEPS], now[CUTS] = 0.0, reach if far > 0 else np.inf, 0.0, 0.0
    now[FAR_SIZE], now[FAR_ALIVE] = far_size, far
    return kept, far


@compiled
def _pack(pairs, levels, lives, lists, near, now):  # pragma: no cover
    """Take the dead weights out of the near list; return the number of its places."""
    C, reach, dead = now[CUT], now[REACH], 0
    for k in range(2, near):
        lists[DEAD, dead] = k
        dead += 1 if abs(levels[k]) <= C else 0
    for back in range(1, dead + 1):
        k = lists[DEAD, dead - back]
        j = lists[OWNERS, k]
        if not abs(pairs[2 * j]) <= reach:
            continue  # it is far for some time, or not a number
        near -= 1
        last = lists[OWNERS, near]
        pairs[2 * j], pairs[2 * j + 1] = 0.0, pairs[2 * j + 1] + lives[k]
        levels[k], lives[k], lists[OWNERS, k], lists[PLACES, last] = (
            levels[near],
            lives[near],
            last,
            k,
        )
        levels[near], lives[near], lists[PLACES, j] = 0.0, 0.0, 0
    return near


@compiled
def _score(data, indices, lo, hi, first, pairs, row, C):  # pragma: no cover
    """Write down the levels and the values of a row, zeros behind them; return its score."""
    score = 0.0
    for k in range(lo, hi):
        x = pairs[2 * indices[k - first]]
        row[0, k - lo], row[1, k - lo] = x, data[k]
        score += data[k] * (x - min(max(x, -C), C))
    for k in range(hi - lo, hi - lo + np.uint64(8)):
        row[0, k], row[1, k] = 0.0, 0.0
    return score


@compiled
def _move(indices, begin, size, row, move, pairs, levels, lists, near, now):  # pragma: no cover
    """Move the weights of one row along it, without a branch; return the number of near places."""
    C, reach, steps, cuts, alive = now[CUT], now[REACH], now[STEPS], now[CUTS], 0
    part = (size + np.uint64(8)) >> np.uint64(3) << np.uint64(3)
    for k in range(part):  # many at a time
        x = row[0, k]
        v = x - min(max(x, -C), C)
        w = v - move * row[1, k]
        new = w + (C if w > 0.0 else -C)
        before, after = x if abs(x) > reach else 0.0, new if abs(new) > reach else 0.0
        row[0, k] = new
        turn = (1.0 if after > 0.0 else 0.0) - (1.0 if after < 0.0 else 0.0)
        turn += (1.0 if before < 0.0 else 0.0) - (1.0 if before > 0.0 else 0.0)
        row[1, k] = (after - before) * steps - turn * cuts
        row[2, k], row[3, k] = abs(after) - abs(before), abs(w) - abs(v)
        alive += (1 if abs(new) > reach else 0) - (1 if abs(x) > reach else 0)
    for k in range(size):
        j, new = indices[begin + k], row[0, k]
        pairs[2 * j] = new
        pairs[2 * j + 1] -= row[1, k]
        inner, place = 0 if abs(new) > reach else 1, lists[PLACES, j]  # 1 for what is no number
        needs = place <= inner
        place = np.uint32(near) if needs else place
        near += 1 if needs else 0
        levels[place] = new if inner else 0.0
        lists[OWNERS, place], lists[PLACES, j] = j, place
    now[FAR_SIZE] += _sum(row[2], part)
    now[FAR_ALIVE] += alive
    now[GROWN] = _sum(row[3], part)
    now[GUESS] = max(now[GROWN] * now[RATE], 0.0)
    return near


@compiled
def _sum(room, part):  # pragma: no cover
    """Return the sum of the first `part` numbers, a multiple of 8, and spoil them."""
    while part > np.uint64(8):
        half = (part >> np.uint64(4) << np.uint64(3)) + (part & np.uint64(8))
        for k in range(part - half):
            room[k] += room[half + k]
        part = half
    low = (room[0] + room[1]) + (room[2] + room[3])
    return low + ((room[4] + room[5]) + (room[6] + room[7]))


@compiled
def _over(levels, near, C, room, now):  # pragma: no cover
    """Return the sum of (|level| - C)_+, and how many levels are above C, for C <= reach."""
    part, count = np.uint64((near + 31) // 32 * 8), 0
    two, three, four = part, part + part, part + part + part
    for k in range(part):
        p, q = abs(levels[k]), abs(levels[two + k])
        r, s = abs(levels[three + k]), abs(levels[four + k])
        count += (p > C) + (q > C) + (r > C) + (s > C)
        room[k] = (p - C if p > C else 0.0) + (q - C if q > C else 0.0)
        room[k] += (r - C if r > C else 0.0) + (s - C if s > C else 0.0)
    size, alive = now[FAR_SIZE] - now[FAR_ALIVE] * C, now[FAR_ALIVE] + count
    return size + _sum(room, part), alive


@compiled
def _cut(levels, near, room, now, radius):  # pragma: no cover
    """Bring |w|_1 down to `radius`; False where C would come to the reach.

    |w|_1 is convex and piecewise linear in C: no step of Newton's overshoots, and one that loses
    no weight is the last. They begin at a guess from the step before, which may.
    """
    C, limit = now[CUT], now[REACH]
    at = C + now[GUESS] if C + now[GUESS] < limit else C
    (size, alive), guessed = _over(levels, near, at, room, now), at > C
    while True:
        then = max(at + (size - radius) / alive, C) if alive > 0.0 else C
        if not guessed and not (then > at and size < np.inf):
            break
        if not then < limit:
            now[GUESS] = then - C
            return False
        at, before, guessed = then, alive, False
        size, alive = _over(levels, near, at, room, now)
        if at > C and alive == before:
            break
    now[CUT], now[RATE] = at, (at - C) / now[GROWN] if now[GROWN] > 0.0 else 0.0
    return True


@compiled
def _distance(pairs, lists, near, far, point, centre, square, C):  # pragma: no cover
    """Return the distance of the point from the centre, or a little more."""
    d, moved = centre.size - 2, 0.0
    for k in range(2, near + far):
        j = lists[OWNERS, k] if k < near else lists[FARS, k - near]
        x, c = pairs[2 * j], centre[j]
        w = x - min(max(x, -C), C)
        moved += w * (w - 2.0 * c) if k < near or lists[PLACES, j] == 1 else 0.0
    ends = (point[d] - centre[d]) ** 2 + (point[d + 1] - centre[d + 1]) ** 2
    return math.sqrt(max(square + moved, 0.0) + ends + 1e-12 * (square + abs(moved)))
