"""The compiled steps of FSAUC: about O(nonzeros of the row), the projection on |w|_1 <= R included.

That projection moves all weights towards zero by one and the same amount. With C the sum of these
amounts since the begin of a block of steps,

    w_j = sign(level_j) max(|level_j| - C, 0),

where level_j moves only when a row has feature j. A block begins with a guess of how far C will
come, its reach. Weights with |level_j| above it are `far`: they stay alive, so that the sum of
their levels and their number say what they add to |w|_1, whatever C is. The others, and those
that came to life in this block, are `near`: their levels stand one after the other, and are gone
through at each step, many at a time, to find the next C. Where C would come to the reach, or when
the steps of a block have gone through the near weights about as often as it costs to renew the two
lists, another block begins.

The projection on the ball around the centre moves each weight by another amount, and goes through
all of them. Between two looks at the distance from the centre no step can have added more to it
than its own length: projections on sets that the centre is in bring no point away from it.
"""

from __future__ import annotations

import math

import numpy as np

from ..exact.compiling import compiled

WORK = 5
"""Near weights gone through in a block, over the weights that are listed at its end, about."""

# Places in `now`.
CUT, REACH, FAR_SIZE, FAR_ALIVE, STEPS, CUTS, GUESS, GROWN, RATE = range(9)


@compiled
def stage_steps(
    data, indices, indptr, dense, order, positive, limits, centre, point, total, duals, counts
):  # pragma: no cover - compiled
    """Make the steps of a stage, or of a part of it, in place; see `StageWalk` for the arrays.

    Feature j has its level at levels[spots[j]]: below `base` where it is near, with the sum of its
    weights in this block at the same place of `lives`; from `base` on where it is far, followed by
    what `total` has too much of it. Place 0 is that of the features whose weight is zero.
    """
    d, radius, ball, work, begun = point.size - 2, limits[0], limits[2], 0, 0
    base, away, now = d + 8, np.inf, np.zeros(9)
    levels, owners = np.zeros(base + 2 * d + 10), np.zeros(base + 2 * d + 10, np.uint32)
    spots, lives, room = np.zeros(d, np.uint32), np.zeros(base), np.zeros(base)
    inside = np.abs(centre[:d]).sum() <= radius
    near, far = 1, _load(point, levels, owners, spots, base, now)
    for t in range(order.size):
        i = order[t]
        lo, hi = indptr[i], indptr[i + 1]
        first = lo if dense else 0
        if work > WORK * (near + far) + 256:
            reach = 2.0 * now[CUT]
            near, far = _renew(levels, owners, spots, lives, base, near, far, total, now, reach)
            work, begun = 0, t
        score, C, a, b = 0.0, now[CUT], point[d], point[d + 1]
        for k in range(lo, hi):
            x = levels[spots[indices[k - first]]]
            score += data[k] * (x - min(max(x, -C), C))
        move = limits[4] * _ends(score, positive[i], limits, point, duals, counts)
        near = _touch(data, indices, lo, hi, first, levels, owners, spots, base, near, move, now)
        while not _cut(levels, near, room, now, radius):
            reach = 2.0 * (t + 2 - begun) * now[GUESS]
            near, far = _renew(levels, owners, spots, lives, base, near, far, total, now, reach)
            work, begun = 0, t
        away += abs(move) * limits[1] + abs(point[d] - a) + abs(point[d + 1] - b)
        if not away < ball:
            away = _distance(levels, owners, base, near, far, point, centre, now[CUT])
            if away > ball:
                _renew(levels, owners, spots, lives, base, near, far, total, now, 0.0)
                _unload(levels, spots, point)
                for j in range(d + 2):
                    point[j] = centre[j] + ball / away * (point[j] - centre[j])
                near, far = 1, _load(point, levels, owners, spots, base, now)
                work, begun, away = 0, t, ball
        away = away if inside else np.inf
        duals[0] = min(max(duals[0], duals[1] - limits[3]), duals[1] + limits[3])
        total[d] += point[d]
        total[d + 1] += point[d + 1]
        counts[2] += 1
        now[STEPS] += 1.0
        now[CUTS] += now[CUT]
        _live(levels, lives, near, now[CUT])
        work += near
    _renew(levels, owners, spots, lives, base, near, far, total, now, 0.0)
    _unload(levels, spots, point)


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
def _load(point, levels, owners, spots, base, now):  # pragma: no cover
    """List all weights as far ones; return how many there are."""
    at, far_size = base, 0.0
    for j in range(spots.size):
        levels[at], owners[at], spots[j] = point[j], j, 0
        if point[j] != 0.0:
            far_size += abs(point[j])
            spots[j], at = at, at + 2
    now[:GUESS] = 0.0
    now[FAR_SIZE], now[FAR_ALIVE] = far_size, (at - base) // 2
    return (at - base) // 2


@compiled
def _unload(levels, spots, point):  # pragma: no cover
    """Write the weights down after `_renew`."""
    for j in range(spots.size):
        point[j] = levels[spots[j]]


@compiled
def _renew(levels, owners, spots, lives, base, near, far, total, now, reach):  # pragma: no cover
    """Begin a block: C zero, the weights up to `reach` near; return the numbers of both lists."""
    C, steps, cuts, kept, at, far_size = now[CUT], now[STEPS], now[CUTS], near, base, 0.0
    for place in range(base, base + 2 * far, 2):  # those that are not far any more go last in near
        x, j = levels[place], owners[place]
        total[j] += x * steps - _sign(x) * cuts - levels[place + 1]
        levels[place + 1] = 0.0
        if x == 0.0:
            continue  # it is near for some time
        w = x - min(max(x, -C), C)
        if abs(w) > reach:
            levels[at], owners[at], spots[j] = w, j, at
            far_size, at = far_size + abs(w), at + 2
        else:
            levels[kept], owners[kept], lives[kept] = x, j, 0.0
            kept += 1
    near, kept = kept, 1
    for place in range(1, near):
        x, j = levels[place], owners[place]
        w = x - min(max(x, -C), C)
        total[j] += lives[place]
        lives[place] = 0.0
        out, alive = abs(w) > reach, w != 0.0
        to = at if out else kept if alive else 0
        levels[to], owners[to], spots[j] = w, j, to
        far_size += abs(w) if out else 0.0
        at += 2 if out else 0
        kept += 1 if alive & (not out) else 0
    levels[kept : kept + 4] = 0.0
    now[CUT], now[REACH], now[STEPS], now[CUTS] = 0.0, reach, 0.0, 0.0
    far = (at - base) // 2
    now[FAR_SIZE], now[FAR_ALIVE] = far_size, far
    return kept, far


@compiled
def _sign(x):  # pragma: no cover
    return (1.0 if x > 0.0 else 0.0) - (1.0 if x < 0.0 else 0.0)


@compiled
def _touch(
    data, indices, lo, hi, first, levels, owners, spots, base, near, move, now
):  # pragma: no cover
    """Move the weights of one row along it; return the number of near places."""
    C, reach, steps, cuts = now[CUT], now[REACH], now[STEPS], now[CUTS]
    size, alive, grown = 0.0, 0.0, 0.0
    spare = levels.size - 8  # several of them: the processor need not wait for the last one
    for k in range(lo, hi):
        j = indices[k - first]
        old = spots[j]
        x = levels[old]
        v = x - min(max(x, -C), C)
        w = v - move * data[k]
        sign = _sign(w)
        new = w + sign * C
        was = old >= base
        stays = was & (abs(new) > reach)
        keeps = stays | ((old > 0) & (not was))
        place = old if keeps else np.uint32(near)
        near += 0 if keeps else 1
        levels[old] = 0.0
        levels[place], owners[place], spots[j] = new, j, place
        before, after = 1.0 if was else 0.0, 1.0 if stays else 0.0
        change, turn = after * new - before * x, after * sign - before * _sign(x)
        levels[old + 1 if was else spare + (k & 7)] += change * steps - turn * cuts
        size += after * abs(new) - before * abs(x)
        alive += after - before
        grown += abs(w) - abs(v)
    levels[near : near + 4] = 0.0
    now[FAR_SIZE] += size
    now[FAR_ALIVE] += alive
    now[GROWN], now[GUESS] = grown, max(grown * now[RATE], 0.0)
    return near


@compiled
def _over(levels, near, C, room):  # pragma: no cover
    """Return the sum of (|level| - C)_+ over the near places, and how many levels are above C."""
    part, count = (near + 3) // 4, 0
    two, three, four = levels[part:], levels[2 * part :], levels[3 * part :]
    for k in range(part):
        low = max(abs(levels[k]) - C, 0.0) + max(abs(two[k]) - C, 0.0)
        room[k] = low + (max(abs(three[k]) - C, 0.0) + max(abs(four[k]) - C, 0.0))
    for k in range(near):
        count += 1 if abs(levels[k]) > C else 0
    while part > 8:
        half, odd = part // 2, part % 2
        above = room[half + odd : part]
        for k in range(half):
            room[k] += above[k]
        part = half + odd
    found = 0.0
    for k in range(part):
        found += room[k]
    return found, count


@compiled
def _cut(levels, near, room, now, radius):  # pragma: no cover
    """Bring |w|_1 down to `radius`; False where C would come to the reach.

    |w|_1 is convex and piecewise linear in C: from the second of Newton's steps on none overshoots,
    and the one that loses no weight is the last. They begin where the last amount, in proportion
    to what the touched weights grew by, lets expect the end.
    """
    C, far_size, far_alive = now[CUT], now[FAR_SIZE], now[FAR_ALIVE]
    limit = now[REACH] if far_alive > 0.0 else np.inf
    at = C + now[GUESS] if C + now[GUESS] < limit else C
    size, alive = _over(levels, near, at, room)
    size, alive, guessed = size + (far_size - far_alive * at), alive + far_alive, at > C
    while True:
        then = max(at + (size - radius) / alive, C) if alive > 0.0 else C
        if not guessed and not (then > at and size < np.inf):
            break
        if not then < limit:
            now[GUESS] = then - C
            return False
        at, before, guessed = then, alive, False
        size, alive = _over(levels, near, at, room)
        size, alive = size + (far_size - far_alive * at), alive + far_alive
        if at > C and alive == before:
            break
    now[CUT], now[RATE] = at, (at - C) / now[GROWN] if now[GROWN] > 0.0 else 0.0
    return True


@compiled
def _live(levels, lives, near, C):  # pragma: no cover
    """Add the near weights to their sums."""
    for k in range(near):
        lives[k] += levels[k] - min(max(levels[k], -C), C)


@compiled
def _distance(levels, owners, base, near, far, point, centre, C):  # pragma: no cover
    """Return the distance of the point from the centre."""
    square = 0.0
    for j in range(centre.size):
        square += centre[j] * centre[j]
    for place in range(1, near):
        x, c = levels[place], centre[owners[place]]
        w = x - min(max(x, -C), C)
        square += w * (w - 2.0 * c)
    for place in range(base, base + 2 * far, 2):
        x, c = levels[place], centre[owners[place]]
        w = x - min(max(x, -C), C)
        square += w * (w - 2.0 * c)
    for j in range(centre.size - 2, centre.size):
        square += point[j] * (point[j] - 2.0 * centre[j])
    return math.sqrt(max(square, 0.0))


@compiled
def add_rows(data, indices, indptr, dense, visits, positive, sums):  # pragma: no cover
    """Add each row, times its visits, to the sum of its class: sums (2, d)."""
    for i in range(visits.size):
        if visits[i] > 0:
            lo, side = indptr[i], 1 if positive[i] else 0
            base = lo if dense else 0
            for k in range(lo, indptr[i + 1]):
                sums[side, indices[k - base]] += visits[i] * data[k]
