"""The compiled loops of `tree`: one pass over a merge tree whose halves are kept sorted.

*Hinge.* At a merge of `upper` and `lower` rows, sorted, all that is asked is how many rows of the
other half lie below a row's score and a shift. One walk along both halves shows it for both:

    lower[q] < upper[p] + shift    or    upper[p] + shift <= lower[q].

Three walks go on at once, for the two ends of the ramp and its middle, and no step of theirs is a
branch that depends on the scores. Sums over the rows below are then running sums.

*Hinge on a coarse grid.* No merges and no sort: rows are gone through in the order of their keys.
What the rows so far weigh below any bin is kept in a tree of counters: its node at a level holds,
for each of its `FAN` children, the weight of the rows in the children before it. A row is added at
one node a level, and a question takes one number of each. With R(y) = sum of b_j max(0, y - S_j)
over the rows so far and x = S_i - 2^k,

    sum_j b_j clip(S_j - x + half, 0, 2 half) = 2 half sum_j b_j - R(x + half) + R(x - half),

and the same from the other end for the lower rows.

*Squared hinge, square, placements.* Two pointers a merge; float sums are compensated, so that their
rounding does not grow with n.

Functions that call each other stay in this one file: the on-disk cache does not notice a changed
callee elsewhere.
"""

from __future__ import annotations

import numpy as np

from ..tools.compiling import compiled

BITS = 4  # Bits of a bin's number that one level of the tree of counters is for.

FAN = 1 << BITS

_MASK = 0xFFFFFFFF

_BEYOND = 1 << 62  # Above every score on the grid, also when a shift is added.


@compiled
def distribute(order, block, starts, rank):  # pragma: no cover - compiled
    """Fill rank with the places of each block in the order in which `order` names them."""
    for k in range(order.size):
        place = order[k]
        rank[starts[block[place]]] = place
        starts[block[place]] += 1


@compiled
def _halves(lo, mid, hi, S, upper, lower):  # pragma: no cover - compiled
    """Copy the scores of both halves, and an end that no row reaches."""
    upper[: mid - lo] = S[lo:mid]
    upper[mid - lo] = _BEYOND
    lower[: hi - mid] = S[mid:hi]
    lower[hi - mid] = _BEYOND


@compiled
def _walk(steps, upper, lower, shifts, below, above):  # pragma: no cover - compiled
    """Fill below[k, p] with how many rows have lower[q] < upper[p] + shifts[k].

    And above[k, q] with how many have upper[p] + shifts[k] <= lower[q]. Indices are unsigned:
    numba would look for negative ones.
    """
    one = np.uint64(1)
    p0 = q0 = p1 = q1 = p2 = q2 = np.uint64(0)
    first, second, third = shifts
    for _ in range(steps):
        below[0, p0], above[0, q0] = q0, p0
        step = np.uint64(lower[q0] < upper[p0] + first)
        q0 += step
        p0 += one - step
        below[1, p1], above[1, q1] = q1, p1
        step = np.uint64(lower[q1] < upper[p1] + second)
        q1 += step
        p1 += one - step
        below[2, p2], above[2, q2] = q2, p2
        step = np.uint64(lower[q2] < upper[p2] + third)
        q2 += step
        p2 += one - step


@compiled
def _running(values, weight, mass, moment):  # pragma: no cover - compiled
    """Fill mass and moment with the sums of weight and weight times value before each row."""
    mass[0] = moment[0] = 0
    for k in range(weight.size):
        mass[k + 1] = mass[k] + weight[k]
        moment[k + 1] = moment[k] + weight[k] * values[k]


@compiled
def _add_upper(
    upper, lower, rank, A, mass, moment, below, margin, half, soft, hard, to
):  # pragma: no cover - compiled
    """Add the sums of the upper rows of a merge, from the running sums of the lower ones."""
    # No row has the place `at` yet, so that the first one counts its ties.
    whole, tied, at = mass[-1], 0, upper[0] - margin - 1
    for p in range(rank.size):
        x = upper[p] - margin
        row = rank[p]
        if half > 0:
            stop, start = below[0, p], below[1, p]
            inside = mass[stop] - mass[start]
            ramps = moment[stop] - moment[start] + inside * (half - x)
            sums = A[p] * (2 * half * (whole - mass[stop]) + ramps)
            soft[row] += sums
            to[0] += sums >> 32  # in two parts, neither of which can overflow
            to[1] += sums & _MASK
        over = below[2, p]
        sums = A[p] * (whole - mass[over])
        hard[row] += sums
        to[2] += sums >> 32
        to[3] += sums & _MASK
        if x != at:
            at, tied, q = x, 0, np.int64(over)
            # Of the rows before `over` the last ones may be at x itself: there m = 0.
            while q > 0 and lower[q - 1] == x:
                tied += mass[q] - mass[q - 1]
                q -= 1
        sums = A[p] * tied
        to[4] += sums >> 32
        to[5] += sums & _MASK


@compiled
def _take_lower(
    lower, rank, B, mass, moment, above, margin, half, soft, hard
):  # pragma: no cover - compiled
    """Take off the sums of the lower rows of a merge, from the running sums of the upper ones."""
    for q in range(rank.size):
        row = rank[q]
        if half > 0:
            start, stop = above[0, q], above[1, q]
            inside = mass[stop] - mass[start]
            ramps = inside * (lower[q] + margin + half) - (moment[stop] - moment[start])
            soft[row] -= B[q] * (2 * half * mass[start] + ramps)
        hard[row] -= B[q] * mass[above[2, q]]


@compiled
def _merge_halves(lo, mid, hi, upper, lower, rank, S, A, B, spare):  # pragma: no cover - compiled
    """Merge the sorted lo .. mid - 1 and mid .. hi - 1; equal ones keep their order."""
    left = np.uint64(mid - lo)
    for k in range(left):
        spare[0, k], spare[1, k], spare[2, k] = rank[lo + k], A[lo + k], B[lo + k]
    one, p, q, k = np.uint64(1), np.uint64(0), np.uint64(mid), np.uint64(lo)
    start = np.uint64(mid)
    while p < left and q < np.uint64(hi):
        first, second = upper[p], lower[q - start]
        own, other = spare[0, p], rank[q]
        own_a, other_a = spare[1, p], A[q]
        own_b, other_b = spare[2, p], B[q]
        # Chosen without a branch: the processor would guess it wrong half the time.
        keep = first <= second
        S[k] = first if keep else second
        rank[k] = own if keep else other
        A[k] = own_a if keep else other_a
        B[k] = own_b if keep else other_b
        step = np.uint64(keep)
        p += step
        q += one - step
        k += one
    while p < left:
        S[k], rank[k], A[k], B[k] = upper[p], spare[0, p], spare[1, p], spare[2, p]
        p += one
        k += one


@compiled
def _listed_range(
    lo, hi, first_below, S, a, b, margin, half, soft, hard, to
):  # pragma: no cover - compiled
    """Add the sums of all pairs of a small range, one by one; S is by place."""
    for p in range(lo, hi):
        weight = a[p]
        if weight == 0 or first_below[p] >= hi:
            continue
        x = S[p] - margin
        soft_sum = hard_sum = ties = 0
        for q in range(first_below[p], hi):
            m = S[q] - x
            ramp = min(max(m + half, 0), 2 * half)
            over = np.int64(m >= 1)
            soft_sum += b[q] * ramp
            hard_sum += b[q] * over
            ties += b[q] * np.int64(m == 0)
            soft[q] -= weight * b[q] * ramp
            hard[q] -= weight * b[q] * over
        soft[p] += weight * soft_sum
        hard[p] += weight * hard_sum
        to[0] += (weight * soft_sum) >> 32
        to[1] += (weight * soft_sum) & _MASK
        to[2] += (weight * hard_sum) >> 32
        to[3] += (weight * hard_sum) & _MASK
        to[4] += (weight * ties) >> 32
        to[5] += (weight * ties) & _MASK


@compiled
def _sort_range(lo, hi, rank, values):  # pragma: no cover - compiled
    """Sort lo .. hi - 1 by insertion; equal ones keep their order."""
    for k in range(lo + 1, hi):
        row, value = rank[k], values[k]
        at = k
        while at > lo and values[at - 1] > value:
            rank[at] = rank[at - 1]
            values[at] = values[at - 1]
            at -= 1
        rank[at] = row
        values[at] = value


@compiled
def _merge(
    lo, mid, hi, rank, S, A, B, margin, half, soft, hard, to, room
):  # pragma: no cover - compiled
    """Add the sums of one merge, and sort its range."""
    upper, lower, below, above, mass, moment, spare = room
    p, q = mid - lo, hi - mid
    _halves(lo, mid, hi, S, upper, lower)
    shifts = (half - margin, 1 - half - margin, 1 - margin)
    _walk(p + q, upper, lower, shifts, below, above)
    _running(lower, B[mid:hi], mass, moment)
    _add_upper(
        *(upper, lower, rank[lo:mid], A[lo:mid], mass[: q + 1], moment, below, margin, half),
        *(soft, hard, to),
    )
    _running(upper, A[lo:mid], mass, moment)
    _take_lower(lower, rank[mid:hi], B[mid:hi], mass, moment, above, margin, half, soft, hard)
    _merge_halves(lo, mid, hi, upper, lower, rank, S, A, B, spare)


@compiled
def hinge(
    merges, groups, turns, first_below, rank, places, a, b, margin, half, sums
):  # pragma: no cover - compiled
    """Add the slopes and totals of the hinge, smoothed or not, over all merges of the tree."""
    soft, hard, totals = sums
    S, A, B = places[rank], a[rank], b[rank]
    most = 1
    for k in range(groups.size):
        if turns[k] == 0:
            most = max(most, merges[k, 2] - merges[k, 0])
    room = (
        np.empty(most + 1, np.int64),
        np.empty(most + 1, np.int64),
        np.empty((3, most + 1), np.uint32),
        np.empty((3, most + 1), np.uint32),
        np.empty(most + 1, np.int64),
        np.empty(most + 1, np.int64),
        np.empty((3, most), np.int64),
    )
    for k in range(groups.size):
        if turns[k] == 2:
            continue
        lo, mid, hi = merges[k, 0], merges[k, 1], merges[k, 2]
        to = totals[groups[k]]
        if turns[k] == 1:
            _listed_range(lo, hi, first_below, places, a, b, margin, half, soft, hard, to)
            _sort_range(lo, hi, rank, S)
            A[lo:hi], B[lo:hi] = a[rank[lo:hi]], b[rank[lo:hi]]
            continue
        _merge(lo, mid, hi, rank, S, A, B, margin, half, soft, hard, to, room)


@compiled
def _enter(tree, first, depth, after, place, weight, moment):  # pragma: no cover - compiled
    """Add a row of the bin `place`: to the counters of all later children, level by level."""
    for level in range(depth):
        node = tree[first[level] + (place >> (BITS * (level + 1)))]
        later = after[(place >> (BITS * level)) & (FAN - 1)]
        for e in range(FAN):
            # `later` is -1, all bits, for the children behind this one, and 0 for the others.
            node[e] += weight & later[e]
        for e in range(FAN):
            node[FAN + e] += moment & later[e]


@compiled
def _below(tree, first, depth, place):  # pragma: no cover - compiled
    """Return what the rows in bins before `place` weigh, and the sum of weight times bin."""
    count = moment = 0
    for level in range(depth):
        node = first[level] + (place >> (BITS * (level + 1)))
        child = (place >> (BITS * level)) & (FAN - 1)
        count += tree[node, child]
        moment += tree[node, FAN + child]
    return count, moment


@compiled
def _count_below(tree, first, depth, place):  # pragma: no cover - compiled
    """Return the first of what `_below` returns."""
    count = 0
    for level in range(depth):
        node = first[level] + (place >> (BITS * (level + 1)))
        count += tree[node, (place >> (BITS * level)) & (FAN - 1)]
    return count


@compiled
def _from_below(
    start, stop, block_ends, S, a, b, top, margin, half, tree, first, depth, after, soft, hard, to
):  # pragma: no cover - compiled
    """Add the sums of the upper rows of one group, whose blocks are start .. stop - 1."""
    inside = 0
    for k in range(stop - 1, start - 1, -1):
        lo = block_ends[k - 1] if k > 0 else 0
        for p in range(lo, block_ends[k]):
            if a[p] == 0:
                continue
            # Asked before the block's own rows are added: rows of one block make no pair.
            x = S[p] - margin
            near, near_moment = _below(tree, first, depth, min(max(x - half, 0), top))
            far, far_moment = _below(tree, first, depth, min(max(x + half, 0), top))
            over = _count_below(tree, first, depth, min(max(x + 1, 0), top))
            from_zero = _count_below(tree, first, depth, min(max(x, 0), top))
            ramps = (x - half) * near - near_moment - ((x + half) * far - far_moment)
            mass = a[p] * (2 * half * inside + ramps)
            soft[p] += mass
            to[0] += mass >> 32
            to[1] += mass & _MASK
            mass = a[p] * (inside - over)
            hard[p] += mass
            to[2] += mass >> 32
            to[3] += mass & _MASK
            mass = a[p] * (over - from_zero)
            to[4] += mass >> 32
            to[5] += mass & _MASK
        for p in range(lo, block_ends[k]):
            if b[p] != 0:
                _enter(tree, first, depth, after, S[p], b[p], b[p] * S[p])
                inside += b[p]


@compiled
def _from_above(
    start, stop, block_ends, S, a, b, top, margin, half, tree, first, depth, after, soft, hard
):  # pragma: no cover - compiled
    """Take off the sums of the lower rows of one group, whose blocks are start .. stop - 1."""
    for k in range(start, stop):
        lo = block_ends[k - 1] if k > 0 else 0
        for p in range(lo, block_ends[k]):
            if b[p] == 0:
                continue
            y = S[p] + margin
            near, near_moment = _below(tree, first, depth, min(max(y - half, 0), top))
            far, far_moment = _below(tree, first, depth, min(max(y + half, 0), top))
            over = _count_below(tree, first, depth, min(max(y, 0), top))
            ramps = (y + half) * far - far_moment - ((y - half) * near - near_moment)
            soft[p] -= b[p] * ramps
            hard[p] -= b[p] * over
        for p in range(lo, block_ends[k]):
            if a[p] != 0:
                _enter(tree, first, depth, after, S[p], a[p], a[p] * S[p])


@compiled
def counters(
    last_block, block_ends, S, a, b, top, margin, half, tree, first, depth, after, sums
):  # pragma: no cover - compiled
    """Add what `hinge` adds, by counters over ranks: for many short blocks."""
    soft, hard, totals = sums
    start = 0
    for g in range(last_block.size):
        stop = last_block[g]
        # Each way, and each group, begins with an empty tree.
        tree[:] = 0
        _from_below(
            *(start, stop, block_ends, S, a, b, top, margin, half),
            *(tree, first, depth, after, soft, hard, totals[g]),
        )
        tree[:] = 0
        _from_above(
            *(start, stop, block_ends, S, a, b, top, margin, half),
            *(tree, first, depth, after, soft, hard),
        )
        start = stop


@compiled
def _merge_ranks(lo, mid, hi, rank, values, spare, spare_values):  # pragma: no cover - compiled
    """Merge the sorted lo .. mid - 1 and mid .. hi - 1; equal ones keep their order."""
    for k in range(lo, mid):
        spare[k - lo] = rank[k]
        spare_values[k - lo] = values[k]
    p = 0
    left = mid - lo
    q = mid
    k = lo
    while p < left and q < hi:
        if spare_values[p] <= values[q]:
            rank[k] = spare[p]
            values[k] = spare_values[p]
            p += 1
        else:
            rank[k] = rank[q]
            values[k] = values[q]
            q += 1
        k += 1
    while p < left:
        rank[k] = spare[p]
        values[k] = spare_values[p]
        p += 1
        k += 1


@compiled
def _add(total, carry, x):  # pragma: no cover - compiled
    """Return the sum, and its carry with what the sum rounded off."""
    new = total + x
    back = new - total
    return new, carry + ((total - (new - back)) + (x - back))


@compiled
def _squared_merge(lo, mid, hi, rank, s, a, b, net):  # pragma: no cover - compiled
    """Add the sums of 2 z over the active pairs of one merge; return those of 2 z and of z^2.

    The sums of z and z^2 over a row's partners follow from those of the row before, at the
    distance d: sum (z + d)^2 = sum z^2 + 2 d sum z + d^2 mass. Every term is >= 0, so that small
    sums keep their digits.
    """
    k = hi
    mass = mass_c = first = first_c = second = second_c = 0.0
    mean = mean_c = value = value_c = last = 0.0
    for p in range(mid - 1, lo - 1, -1):
        i = rank[p]
        if a[i] == 0.0:
            continue
        t = s[p] - 1.0
        # A row without a weight was passed by: d is the distance from the last one that counted.
        if k < hi:
            d = last - t
            f, m = first + first_c, mass + mass_c
            second, second_c = _add(second, second_c, d * (2.0 * f + d * m))
            first, first_c = _add(first, first_c, d * m)
        last = t
        while k > mid and s[k - 1] > t:
            k -= 1
            z, weight = s[k] - t, b[rank[k]]
            mass, mass_c = _add(mass, mass_c, weight)
            first, first_c = _add(first, first_c, weight * z)
            second, second_c = _add(second, second_c, weight * z * z)
        u = 2.0 * a[i] * (first + first_c)
        net[i] += u
        mean, mean_c = _add(mean, mean_c, u)
        value, value_c = _add(value, value_c, a[i] * (second + second_c))
    k = lo
    mass = mass_c = first = first_c = last = 0.0
    for p in range(mid, hi):
        j = rank[p]
        if b[j] == 0.0:
            continue
        if k > lo:
            first, first_c = _add(first, first_c, (s[p] - last) * (mass + mass_c))
        last = s[p]
        # The same floats s - 1 and s as above: both sides see the same pairs.
        while k < mid and s[k] - 1.0 < s[p]:
            weight = a[rank[k]]
            mass, mass_c = _add(mass, mass_c, weight)
            first, first_c = _add(first, first_c, weight * (s[p] - (s[k] - 1.0)))
            k += 1
        net[j] -= 2.0 * b[j] * (first + first_c)
    return mean + mean_c, value + value_c


@compiled
def squared_hinge(merges, groups, rank, s, a, b, net, totals):  # pragma: no cover - compiled
    """Add slopes and totals of the squared hinge over all merges, compensated."""
    spare, spare_values = np.empty(s.size, np.int64), np.empty(s.size)
    carries = np.zeros(totals.shape)
    for k in range(groups.size):
        lo, mid, hi = merges[k, 0], merges[k, 1], merges[k, 2]
        found = _squared_merge(lo, mid, hi, rank, s, a, b, net)
        for part in range(2):
            g = groups[k]
            totals[g, part], carries[g, part] = _add(totals[g, part], carries[g, part], found[part])
        _merge_ranks(lo, mid, hi, rank, s, spare, spare_values)
    totals += carries


@compiled
def square(ends, block, block_ends, s, a, b, net, totals):  # pragma: no cover - compiled
    """Fill the sums of the square loss: each group once from its end, once from its start."""
    start = 0
    for g in range(ends.size):
        mass = mass_c = first = first_c = second = second_c = 0.0
        mean = mean_c = value = value_c = 0.0
        k = ends[g]  # rows from here on are in the sums
        for p in range(ends[g] - 1, start - 1, -1):
            while k > block_ends[block[p]]:
                k -= 1
                mass, mass_c = _add(mass, mass_c, b[k])
                first, first_c = _add(first, first_c, b[k] * s[k])
                second, second_c = _add(second, second_c, b[k] * s[k] * s[k])
            t, f, m = 1.0 - s[p], first + first_c, mass + mass_c
            u = 2.0 * a[p] * (m * t + f)
            net[p] += u
            mean, mean_c = _add(mean, mean_c, u)
            x = a[p] * (t * t * m + 2.0 * t * f + (second + second_c))
            value, value_c = _add(value, value_c, x)
        totals[g, 0] = mean + mean_c
        totals[g, 1] = value + value_c
        mass = mass_c = first = first_c = 0.0
        k = start
        for p in range(start, ends[g]):
            while block[k] < block[p]:
                mass, mass_c = _add(mass, mass_c, a[k])
                first, first_c = _add(first, first_c, a[k] * s[k])
                k += 1
            net[p] -= 2.0 * b[p] * ((mass + mass_c) * (1.0 + s[p]) - (first + first_c))
        start = ends[g]


@compiled
def placements(merges, rank, s, a, b, tolerance, found):  # pragma: no cover - compiled
    """Add for each row the weight of the rows that it is concordant or tied with."""
    spare, spare_scores = np.empty(s.size, np.int64), np.empty(s.size)
    for k in range(merges.shape[0]):
        lo, mid, hi = merges[k, 0], merges[k, 1], merges[k, 2]
        below = tied = 0  # weights of the lower rows that are concordant, and tied
        first = last = mid  # the first tied row, and the one behind the last
        for p in range(lo, mid):
            i = rank[p]
            while last < hi and not s[last] - s[p] > tolerance:
                tied += b[rank[last]]
                last += 1
            while first < last and s[p] - s[first] > tolerance:
                tied -= b[rank[first]]
                below += b[rank[first]]
                first += 1
            found[0, i] += below
            found[1, i] += tied
        above = tied = 0
        for p in range(lo, mid):
            above += a[rank[p]]
        first = last = lo
        for q in range(mid, hi):
            j = rank[q]
            while last < mid and not s[last] - s[q] > tolerance:
                tied += a[rank[last]]
                above -= a[rank[last]]
                last += 1
            while first < last and s[q] - s[first] > tolerance:
                tied -= a[rank[first]]
                first += 1
            found[2, j] += above
            found[3, j] += tied
        _merge_ranks(lo, mid, hi, rank, s, spare, spare_scores)
