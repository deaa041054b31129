"""All compiled loops of the sums over pairs.

Functions that call each other stay in this one file: the on-disk cache does not notice a changed
callee elsewhere. Sums of floats are compensated, so that their rounding does not grow with n.

*Bins.* A grid is named by limits (2, 3): for the negatives, then the positives, the least and the
largest bin, and the bin at place zero; a positive bin at place k and a negative one at l have
m = l - k. Each step is a loop of its own over `CHUNK` rows: processors do several at once.

*Hinge in a tree.* At a merge of `upper` and `lower` rows, sorted, walks along both halves count the
rows with lower[q] < upper[p] + shift, for the two ends of the ramp and its middle at once. Sums
over the rows below are then running sums.

*Hinge on a coarse grid.* A node of a tree of counters holds, for each of its `FAN` children, what
the rows of smaller keys in the children before it weigh. With R(y) = sum of b_j max(0, y - S_j)
over these rows and x = S_i - 2^k,

    sum_j b_j clip(S_j - x + half, 0, 2 half) = 2 half sum_j b_j - R(x + half) + R(x - half)."""

import numpy as np

from ..tools.compiling import compiled, compiled_later
from ..tools.rounding import CHAIN
from . import plain

CHUNK = 256  # Rows that are scored at a time.
BITS = 4  # Bits of a bin's number that one level of the tree of counters is for.
FAN = 1 << BITS
_BEYOND = 1 << 62  # Above every score on the grid, also when a shift is added.


@compiled
def _add(total, carry, x):
    """Return the sum, and its carry with what the sum rounded off."""
    new = total + x
    # Knuth's two-sum: what is added to the carry is the rounding of `new`, exactly.
    back = new - total
    return new, carry + ((total - (new - back)) + (x - back))


@compiled_later(plain.count)
def count(keys, bits, half, n_neg, soft, hard):
    """Fill the sums of clip(m + half, 0, 2 half), unless half = 0, and the numbers of m >= 1, of
    each key in order. m = B - T on the grid. Returns the number of pairs with m = 0."""
    n, place, last, ties = keys.size, bits + 1, -1, 0
    low = high = 0  # the first key inside the window (x - half, x + half), and the first beyond
    inside_pos = inside_neg = sum_pos = sum_neg = 0  # rows in the window, and their places
    left_pos = left_neg = 0  # rows before it
    before_pos = before_neg = 0  # rows before this key
    same_neg = 0  # negatives at this very place, which come before the positives
    for k in range(n):
        x = keys[k] >> place
        side = (keys[k] >> bits) & 1
        same_neg *= x == last
        last = x
        hard[k] = n_neg - before_neg if side == 1 else before_pos
        ties += side * same_neg
        before_pos += side
        before_neg += 1 - side
        same_neg += 1 - side
        if half == 0:
            continue
        while high < n and (keys[high] >> place) < x + half:
            entering = keys[high] >> place
            is_pos = (keys[high] >> bits) & 1
            inside_pos += is_pos
            inside_neg += 1 - is_pos
            sum_pos += is_pos * entering
            sum_neg += (1 - is_pos) * entering
            high += 1
        while (keys[low] >> place) <= x - half:
            leaving = keys[low] >> place
            is_pos = (keys[low] >> bits) & 1
            inside_pos -= is_pos
            inside_neg -= 1 - is_pos
            sum_pos -= is_pos * leaving
            sum_neg -= (1 - is_pos) * leaving
            left_pos += is_pos
            left_neg += 1 - is_pos
            low += 1
        full = n_neg - left_neg - inside_neg if side == 1 else left_pos
        part = sum_neg - inside_neg * x if side == 1 else inside_pos * x - sum_pos
        soft[k] = (2 * full + (inside_neg if side == 1 else inside_pos)) * half + part
    return ties


@compiled_later(plain.spread)
def spread(keys, bits, soft, hard, unit, scores, middle, c):
    """Fill c with soft / unit by row, negatives with a minus. Return the sums of z - 1 over pairs
    with m >= 1, and of its absolute terms, the number of pairs, and the sum of the positives' c."""
    value = carry = size = total = total_carry = 0.0
    active, mask = 0, (1 << bits) - 1
    for k in range(keys.size):
        side, row = (keys[k] >> bits) & 1, keys[k] & mask
        sign = 2.0 * side - 1.0
        mass = float(soft[k]) / unit
        c[row] = sign * mass
        mass *= float(side)
        total, total_carry = _add(total, total_carry, mass)
        active += side * hard[k]
        term = -sign * (float(hard[k]) * (scores[row] - middle))
        size += abs(term)
        value, carry = _add(value, carry, term)
    return value + carry, size, active, total + total_carry


@compiled
def _tables(weight, values, upwards, squared, tables):
    """Fill the sums of weight, weight value, weight value^2 before each row, or from it on."""
    n = weight.size
    mass = mass_c = first = first_c = second = second_c = 0.0
    for k in range(n + 1):
        place = k if upwards else n - k
        tables[0, place], tables[1, place] = mass + mass_c, first + first_c
        tables[2, place] = second + second_c
        if k < n:
            row = k if upwards else n - 1 - k
            x = weight[row] * values[row]
            mass, mass_c = _add(mass, mass_c, weight[row])
            first, first_c = _add(first, first_c, x)
            if squared:
                second, second_c = _add(second, second_c, x * values[row])


@compiled_later(plain.sweep)
def sweep(t, b, a_t, a_b, width, slip, squared, u, v):
    """Fill the marginals of sorted t and b; return the value, and what pairs z > -slip weigh."""
    p, q = t.size, b.size
    of_b, of_t = np.empty((3, q + 1)), np.empty((3, p + 1))
    _tables(a_b, b, False, squared, of_b)
    _tables(a_t, t, True, squared, of_t)
    mass_b, first_b, mass_t, first_t = of_b[0], of_b[1], of_t[0], of_t[1]
    half = width / 2
    value = carry = near = 0.0
    at = reach = start = stop = 0
    for i in range(p):
        ti = t[i]
        while at < q and b[at] <= ti:
            at += 1
        mass, first = mass_b[at], first_b[at]
        if squared:
            z2 = (of_b[2, at] - 2.0 * ti * first) + ti * ti * mass
            value, carry = _add(value, carry, a_t[i] * z2)
            u[i] = 2.0 * a_t[i] * (first - ti * mass)
            continue
        value, carry = _add(value, carry, a_t[i] * (first - ti * mass))
        while reach < q and b[reach] < ti - slip:
            reach += 1
        near += a_t[i] * mass_b[reach]
        if width > 0:
            low, high = ti - half, ti + half
            while start < q and b[start] <= low:
                start += 1
            while stop < q and b[stop] < high:
                stop += 1
            ramp = (first_b[start] - first_b[stop]) - low * (mass_b[start] - mass_b[stop])
            mass = mass_b[stop] + ramp / width
        u[i] = a_t[i] * mass
    at = start = stop = 0
    for j in range(q):
        bj = b[j]
        while at < p and t[at] < bj:
            at += 1
        if squared:
            v[j] = 2.0 * a_b[j] * (bj * mass_t[at] - first_t[at])
            continue
        mass = mass_t[at]
        if width > 0:
            # The same floats t - half, t + half and b as above: both sides see the same pairs.
            while start < p and t[start] + half <= bj:
                start += 1
            while stop < p and t[stop] - half < bj:
                stop += 1
            ramp = (bj + half) * (mass_t[stop] - mass_t[start]) - (first_t[stop] - first_t[start])
            mass = mass_t[start] + ramp / width
        v[j] = a_b[j] * mass
    return value + carry, near


@compiled
def laplacian(values, t_rows, b_rows, a_t, a_b, above, below, out):
    """Fill out[i] = sum_j c_ij (v_i - v_j) over the active pairs, for sorted classes: row i of t
    with b[above[i]:], row j of b with t[:below[j]]."""
    # From the top down, so that each row has the partners of the one above it and some more.
    k = b_rows.size
    total = carry = mass = mass_c = 0.0
    for i in range(t_rows.size - 1, -1, -1):
        while k > above[i]:
            k -= 1
            mass, mass_c = _add(mass, mass_c, a_b[k])
            total, carry = _add(total, carry, a_b[k] * values[b_rows[k]])
        row = t_rows[i]
        out[row] = a_t[i] * ((mass + mass_c) * values[row] - (total + carry))
    k = 0
    total = carry = mass = mass_c = 0.0
    for j in range(b_rows.size):
        while k < below[j]:
            mass, mass_c = _add(mass, mass_c, a_t[k])
            total, carry = _add(total, carry, a_t[k] * values[t_rows[k]])
            k += 1
        row = b_rows[j]
        out[row] = a_b[j] * ((mass + mass_c) * values[row] - (total + carry))


@compiled
def _scored(X, start, rows, offset, w, scores, norms):
    """Write (x - offset) w and |x - offset| of a chunk, added up in the order of the columns."""
    for i in range(rows):
        scores[i] = norms[i] = 0.0
    for k in range(w.size):
        column, o, v = X[k, start : start + rows], offset[k], w[k]
        for i in range(rows):
            x = column[i] - o
            scores[i] += x * v
            norms[i] += x * x
    for i in range(rows):
        norms[i] = np.sqrt(norms[i])


@compiled
def _placed(scores, rows, side, K, limits, size, cut, theta, place):
    """Write the rows' places, the positives' after `size` others, and theta, zero if `cut` off."""
    low_b, high_b, first_b = limits[0, 0], limits[0, 1], limits[0, 2]
    low_a, high_a, first_a = limits[1, 0], limits[1, 1], limits[1, 2] - size
    for i in range(rows):
        x = K * scores[i]
        least = low_a if side[i] else low_b
        most = high_a if side[i] else high_b
        whole = np.floor(x)
        # A score that is not a number fails this comparison: its place is in the grid, too.
        bin_of = whole if whole > least else least
        bin_of = bin_of if bin_of < most else most
        theta[i] = 0.0 if cut and bin_of != whole else x - bin_of
        place[i] = np.int32(bin_of - (first_a if side[i] else first_b))


@compiled
def _summed_up(X, start, rows, offset, factor, place, norms, step, first, held):
    """Add factor * (x - offset), and |factor| |x - offset|, of each row to its bin in held."""
    d = offset.size
    # Four columns at once: the numbers of a bin lie side by side, and each sum keeps its order.
    for k in range(0, d - 3, 4):
        a, b = X[k, start : start + rows], X[k + 1, start : start + rows]
        c, e = X[k + 2, start : start + rows], X[k + 3, start : start + rows]
        o, p, q, r = offset[k], offset[k + 1], offset[k + 2], offset[k + 3]
        for i in range(rows):
            at, m = place[i] * step + first + k, factor[i]
            one, two = held[at] + m * (a[i] - o), held[at + 1] + m * (b[i] - p)
            three, four = held[at + 2] + m * (c[i] - q), held[at + 3] + m * (e[i] - r)
            held[at], held[at + 1], held[at + 2], held[at + 3] = one, two, three, four
    for k in range(d - d % 4, d):
        a, o = X[k, start : start + rows], offset[k]
        for i in range(rows):
            held[place[i] * step + first + k] += factor[i] * (a[i] - o)
    for i in range(rows):
        held[place[i] * step + first + d] += abs(factor[i]) * norms[i]


@compiled_later(plain.gather)
def gather(X, offset, w, positive, weight, K, limits, cut, held, sums, extent):
    """Add each row's mass times 1, theta, theta^2, and one, to held[class, bin], as many as fit. X
    is (d, m). Rows beyond the limits get the last bin, and theta as it then is, or zero if `cut`.
    `sums` (2, size, p, d + 1) gets mass * theta^q * (x - offset, |x - offset|) for q < p; it may be
    empty. Widens `extent`; False if a score is not finite, and what is counted is then useless."""
    (d, m), (_, size, moments), powers = X.shape, held.shape, sums.shape[2]
    cells, of_rows, step = held.reshape(-1), sums.reshape(-1), powers * (d + 1)
    scores, norms, theta = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    place, mass, first = np.empty(CHUNK, np.int32), np.empty(CHUNK), np.empty(CHUNK)
    ends = np.full((2, 2, CHUNK), np.inf)  # least of score and of -score, by class and place
    for start in range(0, m, CHUNK):
        rows = min(CHUNK, m - start)
        side = positive[start : start + rows]
        for i in range(rows):
            mass[i] = weight[start + i] if weight.size > 0 else 1.0
        _scored(X, start, rows, offset, w, scores, norms)
        wrong = 0
        for i in range(rows):
            wrong += 0 if abs(K * scores[i]) < np.inf else 1
        if wrong > 0:
            return False
        _placed(scores, rows, side, K, limits, size, cut, theta, place)
        for k in range(2):
            low, high = ends[k, 0], ends[k, 1]
            for i in range(rows):
                score = scores[i] if side[i] == (k == 1) else np.inf
                low[i] = score if score < low[i] else low[i]
            for i in range(rows):
                score = -scores[i] if side[i] == (k == 1) else np.inf
                high[i] = score if score < high[i] else high[i]
        for i in range(rows):
            first[i] = mass[i] * theta[i]
        for i in range(rows):
            at = moments * place[i]
            count, residual = cells[at] + mass[i], cells[at + 1] + first[i]
            cells[at], cells[at + 1] = count, residual
        if moments > 2:
            for i in range(rows):
                cells[moments * place[i] + 2] += first[i] * theta[i]
        if moments > 3:
            for i in range(rows):
                cells[moments * place[i] + 3] += 1.0
        if of_rows.size > 0:
            for q in range(powers):
                factor = mass if q == 0 else first
                _summed_up(X, start, rows, offset, factor, place, norms, step, q * (d + 1), of_rows)
    for k in range(2):
        for i in range(CHUNK):
            extent[2 - 2 * k] = min(extent[2 - 2 * k], ends[k, 0, i])
            extent[3 - 2 * k] = max(extent[3 - 2 * k], -ends[k, 1, i])
    return True


@compiled_later(plain.look_up)
def look_up(scores, positive, weight, K, limits, cut, table, out):
    """Fill out with the line table[class, bin] at each row's theta, times its weight."""
    weighted, sloped = weight.size > 0, table.shape[2] > 1
    for k in range(scores.size):
        side = int(positive[k])
        x = K * scores[k]
        whole = np.floor(x)
        bin_of = min(max(whole, limits[side, 0]), limits[side, 1])
        at = int(bin_of - limits[side, 2])
        c = table[side, at, 0]
        if sloped and not (cut and bin_of != whole):
            c += table[side, at, 1] * (x - bin_of)
        out[k] = weight[k] * c if weighted else c


@compiled_later(plain.pull)
def pull(X, offset, w, positive, weight, K, limits, cut, table, parts):
    """Add the rows times their marginals, as `look_up` has them, to `parts` (chains, d + 1, CHUNK):
    sums over `CHAIN` chunks of c (x - offset) and, last, of a size >= |c| times |x - offset|."""
    (d, m), lines, powers = X.shape, table.reshape(-1), table.shape[2]
    scores, norms, c, sizes = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    theta, place = np.empty(CHUNK), np.empty(CHUNK, np.int32)
    for start in range(0, m, CHUNK):
        rows = min(CHUNK, m - start)
        into = parts[start // (CHAIN * CHUNK)]
        _scored(X, start, rows, offset, w, scores, norms)
        side = positive[start : start + rows]
        _placed(scores, rows, side, K, limits, table.shape[1], cut, theta, place)
        for i in range(rows):
            at = powers * place[i]
            slope = lines[at + 1] * theta[i] if powers > 1 else 0.0
            mass = weight[start + i] if weight.size > 0 else 1.0
            # A line's two terms may cancel: what they round goes by their sizes.
            c[i], sizes[i] = mass * (lines[at] + slope), mass * (abs(lines[at]) + abs(slope))
        for k in range(d):
            column, o = X[k, start : start + rows], offset[k]
            for i in range(rows):
                into[k, i] += c[i] * (column[i] - o)
        for i in range(rows):
            into[d, i] += sizes[i] * norms[i]


@compiled
def ramps(mass, half, out):
    """Fill out[k] = sum_b clip(b - k + half, 0, 2 half) mass[b] / (2 half), or sum_{b > k}."""
    # Row k + half of the tables belongs to bin k; bins -half to -1 are empty.
    size = mass.size + half
    tail = np.zeros((size + 1, 2))  # sum_{b >= k} mass[b], as a pair of floats
    ramp = np.zeros((size + 1, 2))  # sum_b max(0, b - k) mass[b]
    for k in range(size - 1, -1, -1):
        x = mass[k - half] if k >= half else 0.0
        high, low = _add(tail[k + 1, 0], tail[k + 1, 1], x)
        tail[k, 0], tail[k, 1] = _add(high, 0.0, low)
        high, low = _add(ramp[k + 1, 0], ramp[k + 1, 1], tail[k + 1, 0])
        ramp[k, 0], ramp[k, 1] = _add(high, 0.0, low + tail[k + 1, 1])
    for k in range(mass.size):
        if half == 0:
            out[k] = tail[k + 1, 0] + tail[k + 1, 1]
            continue
        lower = min(k + 2 * half, size)
        high, low = _add(ramp[k, 0], ramp[k, 1], -ramp[lower, 0])
        out[k] = (high + (low - ramp[lower, 1])) / (2.0 * half)


@compiled_later(plain.summed)
def summed(plus, minus):
    """Return at least K times the summed hinge, and the sizes of its counted and residual parts."""
    mass = mass_carry = 0.0  # of the negatives in bins above k
    theta = theta_carry = 0.0  # their summed residuals,
    spread = 0.0  # at least the sum of their absolute values,
    ramp = ramp_carry = 0.0  # and sum of (b - k) mass
    value = carry = counted = residual = 0.0
    for k in range(plus.shape[0] - 1, -1, -1):
        count, first, q, q_first = plus[k, 0], plus[k, 1], minus[k, 0], minus[k, 1]
        if count > 0.0:
            steps = count * (ramp + ramp_carry)
            shifts = count * (theta + theta_carry) - first * (mass + mass_carry)
            # max(0, b - a) <= b (1 - a) for residuals a, b in [0, 1].
            shifts += max(q_first * (count - first), 0.0)
            value, carry = _add(value, carry, steps)
            value, carry = _add(value, carry, shifts)
            counted += steps
            residual += count * spread + (abs(first) + 2.0 * count) * mass + 4.0 * count * q
        mass, mass_carry = _add(mass, mass_carry, q)
        theta, theta_carry = _add(theta, theta_carry, q_first)
        spread += abs(q_first) + 2.0 * q
        ramp, ramp_carry = _add(ramp, ramp_carry + mass_carry, mass)
    return value + carry, counted, residual


@compiled
def _walk(steps, upper, lower, shifts, below, above):
    """Fill below[k, p] with how many rows have lower[q] < upper[p] + shifts[k], and above[k, q]
    with how many have upper[p] + shifts[k] <= lower[q]."""
    one = np.uint64(1)  # unsigned, as numba would look for negative indices
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
def _running(values, weight, mass, moment):
    """Fill mass and moment with the sums of weight and weight times value before each row."""
    mass[0] = moment[0] = 0
    for k in range(weight.size):
        mass[k + 1] = mass[k] + weight[k]
        moment[k + 1] = moment[k] + weight[k] * values[k]


@compiled
def _count(to, at, sums):
    """Add a whole number in two parts, neither of which can overflow."""
    to[at] += sums >> 32
    to[at + 1] += sums & 0xFFFFFFFF


@compiled
def _add_upper(upper, lower, rank, A, mass, moment, below, margin, half, soft, hard, to):
    """Add the sums of the upper rows of a merge, from the running sums of the lower ones."""
    # No row has the place `at` yet, so that the first one counts its ties.
    whole, tied, at = mass[-1], 0, upper[0] - margin - 1
    for p in range(rank.size):
        x, row = upper[p] - margin, rank[p]
        if half > 0:
            stop, start = below[0, p], below[1, p]
            inside = mass[stop] - mass[start]
            ramps = moment[stop] - moment[start] + inside * (half - x)
            sums = A[p] * (2 * half * (whole - mass[stop]) + ramps)
            soft[row] += sums
            _count(to, 0, sums)
        over = below[2, p]
        sums = A[p] * (whole - mass[over])
        hard[row] += sums
        _count(to, 2, sums)
        if x != at:
            at, tied, q = x, 0, np.int64(over)
            # Of the rows before `over` the last ones may be at x itself: there m = 0.
            while q > 0 and lower[q - 1] == x:
                tied += mass[q] - mass[q - 1]
                q -= 1
        _count(to, 4, A[p] * tied)


@compiled
def _take_lower(lower, rank, B, mass, moment, above, margin, half, soft, hard):
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
def _merge_halves(lo, mid, hi, rank, S, A, B, spare):
    """Merge the sorted lo .. mid - 1 and mid .. hi - 1 by S; equal ones keep their order."""
    own_rank, own_S, own_A, own_B = spare
    left = np.uint64(mid - lo)
    for k in range(left):
        own_rank[k], own_S[k], own_A[k], own_B[k] = rank[lo + k], S[lo + k], A[lo + k], B[lo + k]
    one, p, q, k = np.uint64(1), np.uint64(0), np.uint64(mid), np.uint64(lo)
    while p < left and q < np.uint64(hi):
        first, second = own_S[p], S[q]
        own, other = own_rank[p], rank[q]
        own_a, other_a = own_A[p], A[q]
        own_b, other_b = own_B[p], B[q]
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
        S[k], rank[k], A[k], B[k] = own_S[p], own_rank[p], own_A[p], own_B[p]
        p += one
        k += one


@compiled
def _listed_range(lo, hi, first_below, places, a, b, margin, half, sums, rank, S, A, B):
    """Add the sums of all pairs of a small range, one by one, and sort it by insertion."""
    soft, hard, to = sums
    for p in range(lo, hi):
        weight = a[p]
        if weight == 0 or first_below[p] >= hi:
            continue
        x = places[p] - margin
        soft_sum = hard_sum = ties = 0
        for q in range(first_below[p], hi):
            m = places[q] - x
            ramp = min(max(m + half, 0), 2 * half)
            over = np.int64(m >= 1)
            soft_sum += b[q] * ramp
            hard_sum += b[q] * over
            ties += b[q] * np.int64(m == 0)
            soft[q] -= weight * b[q] * ramp
            hard[q] -= weight * b[q] * over
        soft[p] += weight * soft_sum
        hard[p] += weight * hard_sum
        _count(to, 0, weight * soft_sum)
        _count(to, 2, weight * hard_sum)
        _count(to, 4, weight * ties)
    for k in range(lo + 1, hi):
        row, place, at = rank[k], S[k], k
        while at > lo and S[at - 1] > place:
            rank[at], S[at] = rank[at - 1], S[at - 1]
            at -= 1
        rank[at], S[at] = row, place
    for k in range(lo, hi):
        A[k], B[k] = a[rank[k]], b[rank[k]]


@compiled
def hinge(merges, turns, first_below, rank, places, a, b, margin, half, sums):
    """Add the slopes and totals of the hinge, smoothed or not, over all merges of the tree."""
    soft, hard, totals = sums
    S, A, B = places[rank], a[rank], b[rank]
    n = rank.size
    upper, lower = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    below, above = np.empty((3, n + 1), np.uint32), np.empty((3, n + 1), np.uint32)
    mass, moment = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    spare = np.empty(n, np.int64), upper, np.empty(n, np.int64), np.empty(n, np.int64)
    shifts = (half - margin, 1 - half - margin, 1 - margin)
    for k in range(turns.size):
        if turns[k] == 2:
            continue
        lo, mid, hi, to = merges[k, 0], merges[k, 1], merges[k, 2], totals[merges[k, 3]]
        if turns[k] == 1:
            some = soft, hard, to
            _listed_range(lo, hi, first_below, places, a, b, margin, half, some, rank, S, A, B)
            continue
        # Copies of both halves, and an end that no row reaches.
        p, q = mid - lo, hi - mid
        upper[:p], upper[p] = S[lo:mid], _BEYOND
        lower[:q], lower[q] = S[mid:hi], _BEYOND
        _walk(p + q, upper, lower, shifts, below, above)
        _running(lower, B[mid:hi], mass, moment)
        rows = upper, lower, rank[lo:mid], A[lo:mid], mass[: q + 1], moment, below
        _add_upper(*rows, margin, half, soft, hard, to)
        _running(upper, A[lo:mid], mass, moment)
        _take_lower(lower, rank[mid:hi], B[mid:hi], mass, moment, above, margin, half, soft, hard)
        _merge_halves(lo, mid, hi, rank, S, A, B, spare)


@compiled
def _enter(tree, first, depth, after, place, weight, moment):
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
def _below(tree, first, depth, place):
    """Return what the rows in bins before `place` weigh, and the sum of weight times bin."""
    count = moment = 0
    for level in range(depth):
        node = first[level] + (place >> (BITS * (level + 1)))
        child = (place >> (BITS * level)) & (FAN - 1)
        count += tree[node, child]
        moment += tree[node, FAN + child]
    return count, moment


@compiled
def counters(last_block, block_ends, S, a, b, top, margin, half, tree, first, depth, after, sums):
    """Add what `hinge` adds for the upper rows, by counters; `last_block` is behind each group."""
    soft, hard, totals = sums
    start = 0
    for g in range(last_block.size):
        tree[:] = 0
        inside, to = 0, totals[g]
        for k in range(last_block[g] - 1, start - 1, -1):
            lo = block_ends[k - 1] if k > 0 else 0
            for p in range(lo, block_ends[k]):
                if a[p] == 0:
                    continue
                # Asked before the block's own rows are added: rows of one block make no pair.
                x = S[p] - margin
                near, near_moment = _below(tree, first, depth, min(max(x - half, 0), top))
                far, far_moment = _below(tree, first, depth, min(max(x + half, 0), top))
                over = _below(tree, first, depth, min(max(x + 1, 0), top))[0]
                from_zero = _below(tree, first, depth, min(max(x, 0), top))[0]
                ramps = (x - half) * near - near_moment - ((x + half) * far - far_moment)
                mass = a[p] * (2 * half * inside + ramps)
                soft[p] += mass
                _count(to, 0, mass)
                mass = a[p] * (inside - over)
                hard[p] += mass
                _count(to, 2, mass)
                _count(to, 4, a[p] * (over - from_zero))
            for p in range(lo, block_ends[k]):
                if b[p] != 0:
                    _enter(tree, first, depth, after, S[p], b[p], b[p] * S[p])
                    inside += b[p]
        start = last_block[g]


@compiled
def _squared_merge(lo, mid, hi, rank, s, a, b, net):
    """Add the sums of 2 z over the active pairs of one merge; return those of 2 z and of z^2. A
    row's sums follow from those of the row before, at the distance d: sum (z + d)^2 = sum z^2 + 2 d
    sum z + d^2 mass. Every term is >= 0, so that small sums keep their digits."""
    k = hi
    mass = mass_c = first = first_c = second = second_c = 0.0
    mean = mean_c = value = value_c = last = 0.0
    for p in range(mid - 1, lo - 1, -1):
        if a[p] == 0.0:
            continue
        t = s[p] - 1.0
        if k < hi:
            d = last - t  # the distance from the last row that had a weight
            f, m = first + first_c, mass + mass_c
            second, second_c = _add(second, second_c, d * (2.0 * f + d * m))
            first, first_c = _add(first, first_c, d * m)
        last = t
        while k > mid and s[k - 1] > t:
            k -= 1
            z = s[k] - t
            mass, mass_c = _add(mass, mass_c, b[k])
            first, first_c = _add(first, first_c, b[k] * z)
            second, second_c = _add(second, second_c, b[k] * z * z)
        u = 2.0 * a[p] * (first + first_c)
        net[rank[p]] += u
        mean, mean_c = _add(mean, mean_c, u)
        value, value_c = _add(value, value_c, a[p] * (second + second_c))
    k = lo
    mass = mass_c = first = first_c = last = 0.0
    for p in range(mid, hi):
        if b[p] == 0.0:
            continue
        if k > lo:
            first, first_c = _add(first, first_c, (s[p] - last) * (mass + mass_c))
        last = s[p]
        # The same floats s - 1 and s as above: both sides see the same pairs.
        while k < mid and s[k] - 1.0 < s[p]:
            mass, mass_c = _add(mass, mass_c, a[k])
            first, first_c = _add(first, first_c, a[k] * (s[p] - (s[k] - 1.0)))
            k += 1
        net[rank[p]] -= 2.0 * b[p] * (first + first_c)
    return mean + mean_c, value + value_c


@compiled
def squared_hinge(merges, rank, s, a, b, net, totals):
    """Add slopes and totals of the squared hinge over all merges; s, a and b are by rank."""
    n = s.size
    spare = np.empty(n, np.int64), np.empty(n), np.empty(n), np.empty(n)
    carries = np.zeros(totals.shape)
    for k in range(merges.shape[0]):
        lo, mid, hi, g = merges[k, 0], merges[k, 1], merges[k, 2], merges[k, 3]
        found = _squared_merge(lo, mid, hi, rank, s, a, b, net)
        for part in range(2):
            totals[g, part], carries[g, part] = _add(totals[g, part], carries[g, part], found[part])
        _merge_halves(lo, mid, hi, rank, s, a, b, spare)
    totals += carries


@compiled
def square(ends, block, block_ends, s, a, b, net, totals):
    """Fill the sums of the square loss of the upper rows, each group from its end."""
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
            net[p] = 2.0 * a[p] * (m * t + f)
            mean, mean_c = _add(mean, mean_c, net[p])
            x = a[p] * (t * t * m + 2.0 * t * f + (second + second_c))
            value, value_c = _add(value, value_c, x)
        totals[g, 0], totals[g, 1] = mean + mean_c, value + value_c
        start = ends[g]


@compiled
def placements(merges, rank, s, a, b, tolerance, found):
    """Add for each row the weight of its concordant and tied partners; s, a and b are by rank."""
    n = s.size
    spare = np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    for k in range(merges.shape[0]):
        lo, mid, hi = merges[k, 0], merges[k, 1], merges[k, 2]
        below = tied = 0  # weights of the partners that are concordant, and tied
        first = last = mid  # the first tied row, and the one behind the last
        for p in range(lo, mid):
            while last < hi and not s[last] - s[p] > tolerance:
                tied += b[last]
                last += 1
            while first < last and s[p] - s[first] > tolerance:
                tied -= b[first]
                below += b[first]
                first += 1
            found[0, rank[p]] += below
            found[1, rank[p]] += tied
        above, tied = a[lo:mid].sum(), 0
        first = last = lo
        for q in range(mid, hi):
            while last < mid and not s[last] - s[q] > tolerance:
                tied += a[last]
                above -= a[last]
                last += 1
            while first < last and s[q] - s[first] > tolerance:
                tied -= a[first]
                first += 1
            found[2, rank[q]] += above
            found[3, rank[q]] += tied
        _merge_halves(lo, mid, hi, rank, s, a, b, spare)
