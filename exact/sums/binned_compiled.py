"""The compiled loops of `binned`: over rows, and over the bins of closed moments.

A grid is named by limits (2, 3): for the negatives, then the positives, the least and the largest
bin, and the bin at place zero. Places are such that a positive bin at k and a negative one at l
have m = l - k. Rows are taken `CHUNK` at a time. Each step is a loop of its own over the chunk,
which the processor does for several rows at once; only the last step, into the bins, goes row by
row. The sum of each bin is added up in the order of the rows. Functions that call each other stay
in this one file: the on-disk cache does not notice a changed callee elsewhere.
"""

from __future__ import annotations

import numpy as np

from ..tools.compiling import compiled

CHUNK = 256  # Rows that are scored at a time.


@compiled
def extent(scores, positive, extent):  # pragma: no cover - compiled
    """Widen extent = [least, largest of the positives, of the negatives]; False if not finite."""
    low_a, high_a, low_b, high_b = extent[0], extent[1], extent[2], extent[3]
    fine = True
    for k in range(scores.size):
        s = scores[k]
        if not np.isfinite(s):
            fine = False
        if positive[k]:
            low_a = min(low_a, s)
            high_a = max(high_a, s)
        else:
            low_b = min(low_b, s)
            high_b = max(high_b, s)
    extent[0], extent[1], extent[2], extent[3] = low_a, high_a, low_b, high_b
    return fine


@compiled
def _scored(X, start, rows, offset, w, scores, norms):  # pragma: no cover - compiled
    """Fill scores with (x - offset) w, added up column after column, and norms with |x - offset|.

    Two columns at a time halve the passes over the scores, and leave the order of the sums.
    """
    d = w.size
    for i in range(rows):
        scores[i] = norms[i] = 0.0
    for k in range(0, d - 1, 2):
        one, other = X[k, start : start + rows], X[k + 1, start : start + rows]
        o, p, v, u = offset[k], offset[k + 1], w[k], w[k + 1]
        for i in range(rows):
            x, y = one[i] - o, other[i] - p
            scores[i] = (scores[i] + x * v) + y * u
            norms[i] = (norms[i] + x * x) + y * y
    if d % 2:
        last, o, v = X[d - 1, start : start + rows], offset[d - 1], w[d - 1]
        for i in range(rows):
            x = last[i] - o
            scores[i] += x * v
            norms[i] += x * x
    for i in range(rows):
        norms[i] = np.sqrt(norms[i])


@compiled
def _placed(
    scores, positive, rows, K, limits, size, cut, place, theta
):  # pragma: no cover - compiled
    """Fill bins, those of the positives behind all others, and residuals; say how many are wrong.

    Wrong is a row whose score is not finite: its mass must not be counted.
    """
    low_b, high_b, first_b = limits[0, 0], limits[0, 1], limits[0, 2]
    low_a, high_a, first_a = limits[1, 0], limits[1, 1], limits[1, 2] - size
    wrong = 0
    for i in range(rows):
        x = K * scores[i]
        wrong += 0 if abs(x) < np.inf else 1
        side = positive[i]
        least = low_a if side else low_b
        most = high_a if side else high_b
        whole = np.floor(x)
        # A score that is no number fails this comparison: its place is in the grid, too.
        bin_of = whole if whole > least else least
        bin_of = bin_of if bin_of < most else most
        theta[i] = 0.0 if cut and bin_of != whole else x - bin_of
        place[i] = np.int32(bin_of - (first_a if side else first_b))
    return wrong


@compiled
def _widened(scores, positive, rows, wanted, sign, ends):  # pragma: no cover - compiled
    """Lower ends, one for each place of the chunk, to the least of sign * score of one class."""
    for i in range(rows):
        score = sign * scores[i] if positive[i] == wanted else np.inf
        ends[i] = score if score < ends[i] else ends[i]


@compiled
def _summed_up(
    X, start, rows, offset, factor, place, norms, step, first, held
):  # pragma: no cover - compiled
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


@compiled
def gather(
    X, offset, w, positive, weight, K, limits, cut, held, sums, extent
):  # pragma: no cover - compiled
    """Add each row's mass times 1, theta, theta^2, and one, to held[class, bin], as many as fit.

    X is (d, m); scores (x - offset) w are added up in the order of the columns. Rows beyond the
    limits get the last bin, and theta as it then is, or zero if `cut`. `sums` (2, size, p, d + 1)
    gets mass * theta^q * (x - offset, |x - offset|) for q < p; it may be empty. Widens `extent`;
    False if a score is not finite, and what is counted is then useless.
    """
    m, size, moments, powers = X.shape[1], held.shape[1], held.shape[2], sums.shape[2]
    cells, of_rows, step = held.reshape(-1), sums.reshape(-1), powers * (offset.size + 1)
    scores, norms, theta = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    place, mass, first = np.empty(CHUNK, np.int32), np.ones(CHUNK), np.empty(CHUNK)
    low_a, high_a = np.full(CHUNK, np.inf), np.full(CHUNK, np.inf)
    low_b, high_b = np.full(CHUNK, np.inf), np.full(CHUNK, np.inf)
    for start in range(0, m, CHUNK):
        rows = min(CHUNK, m - start)
        side = positive[start : start + rows]
        if weight.size > 0:
            mass[:rows] = weight[start : start + rows]
        _scored(X, start, rows, offset, w, scores, norms)
        if _placed(scores, side, rows, K, limits, size, cut, place, theta) > 0:
            return False
        _widened(scores, side, rows, True, 1.0, low_a)
        _widened(scores, side, rows, True, -1.0, high_a)
        _widened(scores, side, rows, False, 1.0, low_b)
        _widened(scores, side, rows, False, -1.0, high_b)
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
            _summed_up(X, start, rows, offset, mass, place, norms, step, 0, of_rows)
            if powers > 1:
                half = offset.size + 1
                _summed_up(X, start, rows, offset, first, place, norms, step, half, of_rows)
    extent[0], extent[1] = min(extent[0], low_a.min()), max(extent[1], -high_a.min())
    extent[2], extent[3] = min(extent[2], low_b.min()), max(extent[3], -high_b.min())
    return True


@compiled
def look_up(scores, positive, weight, K, limits, cut, table, out):  # pragma: no cover - compiled
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


@compiled
def weigh(table, sums, total, carry):  # pragma: no cover - compiled
    """Add table[class, entry] * sums[class, entry, k] to total[k] + carry[k], compensated.

    Returns the sum of |table| times the last of the sums, the one of the norms.
    """
    d = sums.shape[2] - 1
    size = 0.0
    for side in range(2):
        for at in range(sums.shape[1]):
            c = table[side, at]
            if c == 0.0:
                continue
            size += abs(c) * sums[side, at, d]
            for k in range(d):
                total[k], slip = _two_sum(total[k], c * sums[side, at, k])
                carry[k] += slip
    return size


@compiled
def _two_sum(a, b):  # pragma: no cover - compiled
    """Return a + b rounded, and the rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@compiled
def _add(high, low, x):  # pragma: no cover - compiled
    """Return high + low + x as a pair of floats (two-sum)."""
    total = high + x
    part = total - high
    low += (high - (total - part)) + (x - part)
    new = total + low
    return new, low - (new - total)


@compiled
def whole_ramps(mass, half, out):  # pragma: no cover - compiled
    """As `ramps`, for whole numbers whose sums stay below 2^53: nothing rounds but the quotient."""
    size = mass.size
    if half == 0:
        above = 0.0
        for k in range(size - 1, -1, -1):
            out[k] = above
            above += mass[k]
        return
    # Moving k down by one adds the masses whose ramp grows: b - k + half in (0, 2 half].
    inside = 0.0  # sum over b in [k - half + 1, k + half] of mass
    ramp = 0.0  # sum_b clip(b - k + half, 0, 2 half) mass[b], for k beyond the end
    for k in range(size + half - 1, -1, -1):
        enter = k - half + 1
        leave = k + half + 1
        if 0 <= enter < size:
            inside += mass[enter]
        if leave < size:
            inside -= mass[leave]
        ramp += inside
        if k < size:
            out[k] = ramp / (2.0 * half)


@compiled
def ramps(mass, half, out):  # pragma: no cover - compiled
    """Fill out[k] = sum_b clip(b - k + half, 0, 2 half) mass[b] / (2 half), or sum_{b > k}."""
    # Row k + half of the tables belongs to bin k; bins -half to -1 are empty.
    size = mass.size + half
    tail = np.empty((size + 1, 2))  # sum_{b >= k} mass[b], as a pair of floats
    ramp = np.empty((size + 1, 2))  # sum_b max(0, b - k) mass[b]
    tail[size, 0] = tail[size, 1] = ramp[size, 0] = ramp[size, 1] = 0.0
    for k in range(size - 1, -1, -1):
        x = mass[k - half] if k >= half else 0.0
        tail[k, 0], tail[k, 1] = _add(tail[k + 1, 0], tail[k + 1, 1], x)
        high, low = _add(ramp[k + 1, 0], ramp[k + 1, 1], tail[k + 1, 0])
        ramp[k, 0], ramp[k, 1] = _add(high, low, tail[k + 1, 1])
    for k in range(mass.size):
        if half == 0:
            out[k] = tail[k + 1, 0] + tail[k + 1, 1]
            continue
        high, low = ramp[k, 0], ramp[k, 1]
        lower = min(k + 2 * half, size)
        part, rest = _add(high, low, -ramp[lower, 0])
        out[k] = (part + (rest - ramp[lower, 1])) / (2.0 * half)


@compiled
def summed(plus, minus):  # pragma: no cover - compiled
    """Return the upper bound of K times the summed hinge, its counted part, its residual part.

    The two parts are sums of absolute values; they enter the bound of the rounding.
    """
    mass = mass_carry = 0.0  # of the negatives in bins above k
    theta = theta_carry = 0.0  # their summed residuals,
    spread = 0.0  # at least the sum of their absolute values,
    ramp = ramp_carry = 0.0  # and sum of (b - k) mass
    value = carry = 0.0
    counted = 0.0
    residual = 0.0
    for k in range(plus.shape[0] - 1, -1, -1):
        count, first = plus[k, 0], plus[k, 1]
        q, q_first = minus[k, 0], minus[k, 1]
        if count > 0.0:
            steps = count * (ramp + ramp_carry)
            shifts = count * (theta + theta_carry) - first * (mass + mass_carry)
            # max(0, b - a) <= b (1 - a) for residuals a, b in [0, 1].
            shifts += max(q_first * (count - first), 0.0)
            total, slip = _two_sum(value, steps)
            value, more = _two_sum(total, shifts)
            carry += slip + more
            counted += steps
            residual += count * spread + (abs(first) + 2.0 * count) * mass + 4.0 * count * q
        mass, slip = _two_sum(mass, q)
        mass_carry += slip
        theta, slip = _two_sum(theta, q_first)
        theta_carry += slip
        spread += abs(q_first) + 2.0 * q
        ramp, slip = _two_sum(ramp, mass)
        ramp_carry += slip + mass_carry
    return value + carry, counted, residual


@compiled
def dot(a, b):  # pragma: no cover - compiled
    """Return the sum of a[k] b[k], compensated."""
    total = carry = 0.0
    for k in range(a.size):
        total, slip = _two_sum(total, a[k] * b[k])
        carry += slip
    return total + carry


@compiled
def mass(grid):  # pragma: no cover - compiled
    """Return the sum of the masses, compensated, and the largest mass of a bin."""
    total = carry = largest = 0.0
    for k in range(grid.shape[0]):
        total, slip = _two_sum(total, grid[k, 0])
        carry += slip
        largest = max(largest, grid[k, 0])
    return total + carry, largest


@compiled
def close_squares(plus, minus, table, magnitude):  # pragma: no cover - compiled
    """Fill table[class, bin] with the sum of K z over the pairs with m >= 1, and its growth.

    Returns, over the pairs with m >= 1, the sums of (K z)^2 and of K z; over those with m = 0 the
    bound of the former; and the magnitudes of what the squares and the sum of K z are made of.
    `magnitude` gets, for each class, the summed magnitudes of what the marginals are made of.
    """
    size = plus.shape[0]
    # Of the negatives in the bins beyond k: mass, and the sums of (l - k) + theta and its square.
    mass = first = second = 0.0
    square = linear = doubtful = square_size = linear_size = 0.0
    for k in range(size - 1, -1, -1):
        count, one, two = plus[k, 0], plus[k, 1], plus[k, 2]
        # Thetas are in [0, 1], but for rows in the last bins, where all have one sign.
        one_size = abs(one) + 2.0 * count
        table[1, k, 0] = first
        table[1, k, 1] = -mass
        if count > 0.0:
            square += (count * second - 2.0 * one * first) + two * mass
            square_size += count * second + 2.0 * one_size * first + two * mass
            linear += count * first - one * mass
            linear_size += count * first + one_size * mass
            magnitude[1] += count * first + one_size * mass
            doubtful += minus[k, 2] * max((count - 2.0 * one) + two, 0.0)
            square_size += minus[k, 2] * ((count + 2.0 * one_size) + two)
        second += (2.0 * first + mass) + ((minus[k, 0] + 2.0 * minus[k, 1]) + minus[k, 2])
        first += mass + (minus[k, 0] + minus[k, 1])
        mass += minus[k, 0]
    # Of the positives in the bins before k: mass, the sum of (k - l) - theta, and of magnitudes.
    mass = first = size_of = 0.0
    for k in range(size):
        count, one = minus[k, 0], minus[k, 1]
        table[0, k, 0] = first
        table[0, k, 1] = mass
        magnitude[0] += count * size_of + (abs(one) + 2.0 * count) * mass
        first += mass + (plus[k, 0] - plus[k, 1])
        size_of += mass + (3.0 * plus[k, 0] + abs(plus[k, 1]))
        mass += plus[k, 0]
    return square, linear, doubtful, square_size, linear_size
