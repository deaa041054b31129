"""The loops of `fused`: each scores some rows and uses the scores while they are in the cache.

Rows are taken `CHUNK` at a time. What is added up over rows is added up place by place of the chunk
(`lanes`), so that the processor works on several rows at once without reordering any sum. A grid is
named by `limits` as in `binned_compiled`; functions that call each other stay in this one file.
"""

from __future__ import annotations

import numpy as np

from ...tools.compiling import compiled

CHUNK = 256  # Rows that are scored at a time, which is how many lanes there are.

GROUP = 64  # Chunks whose products are added up lane by lane before the lanes are added up.

# Residuals are rounded to multiples of this many bins: their sums are exact in any order.
QUANTUM = 2.0**-26

# Adding and subtracting this rounds a residual to a multiple of `QUANTUM`.
_MAGIC = 1.5 * 2.0**52 * QUANTUM


@compiled
def _columns(flat, start, rows, offset, columns):  # pragma: no cover - compiled
    """Fill columns[k CHUNK + i] with x_ik - offset_k, in float64."""
    dim = offset.size
    if dim == 1:
        for i in range(rows):
            columns[i] = flat[start + i] - offset[0]
    elif dim == 2:  # a stride that the compiler knows
        for i in range(rows):
            columns[i] = flat[2 * (start + i)] - offset[0]
        for i in range(rows):
            columns[CHUNK + i] = flat[2 * (start + i) + 1] - offset[1]
    else:
        for k in range(dim):
            for i in range(rows):
                columns[k * CHUNK + i] = flat[dim * (start + i) + k] - offset[k]


@compiled
def _scores(columns, rows, w, scores):  # pragma: no cover - compiled
    """Fill scores with the products of the columns and w."""
    for i in range(rows):
        scores[i] = columns[i] * w[0]
    for k in range(1, w.size):
        for i in range(rows):
            scores[i] += columns[k * CHUNK + i] * w[k]


@compiled
def _widened(scores, positive, rows, wanted, sign, ends):  # pragma: no cover - compiled
    """Lower ends, lane by lane, to the least of sign * score over the rows of one class."""
    for i in range(rows):
        score = sign * scores[i] if positive[i] == wanted else np.inf
        ends[i] = score if score < ends[i] else ends[i]


@compiled
def _placed(scores, positive, rows, K, limits, place):  # pragma: no cover - compiled
    """Fill the place of each row in the two histograms, one behind the other."""
    low_a, high_a, first_a, low_b, high_b, first_b = limits
    for i in range(rows):
        bin_of = np.floor(K * scores[i])
        side = positive[i]
        least = low_a if side else low_b
        most = high_a if side else high_b
        bin_of = bin_of if bin_of > least else least
        bin_of = bin_of if bin_of < most else most
        place[i] = np.int32(bin_of - (first_a if side else first_b))


@compiled
def _residuals(scores, positive, rows, K, limits, theta):  # pragma: no cover - compiled
    """Fill the rounded residual of each row; return how many are not finite, and how many beyond.

    A row lies beyond where it is clipped at the end that counts: negatives above, positives below.
    """
    least, most = limits[0], limits[4]
    wrong = beyond = 0
    for i in range(rows):
        x = K * scores[i]
        wrong += 0 if abs(x) < np.inf else 1
        bin_of = np.floor(x)
        theta[i] = ((x - bin_of) + _MAGIC) - _MAGIC
        beyond += (bin_of < least) if positive[i] else (bin_of > most)
    return wrong, beyond


@compiled
def _beyond(scores, positive, mass, rows, K, limits, over):  # pragma: no cover - compiled
    """Add mass times the bins beyond the end that counts to `over`: negatives, then positives."""
    for i in range(rows):
        bin_of = np.floor(K * scores[i])
        if positive[i]:
            over[1] += mass[i] * min(bin_of - limits[0], 0.0)
        else:
            over[0] += mass[i] * max(bin_of - limits[4], 0.0)


@compiled
def _limits(limits, K, size):  # pragma: no cover - compiled
    """Return the least and largest bin and the first one stored: of positives, of negatives.

    The first one of the positives is moved, so that their places follow those of the negatives.
    """
    first = limits[2]
    return limits[0], limits[1], first + K - size, first, first + size - 1, first


@compiled
def fill(X, offset, w, positive, weight, K, limits, grid, ends, over):  # pragma: no cover
    """Add mass and mass * theta of each row to grid[class, bin]; False if a score is not finite.

    Widens `ends`, the least and largest score of the positives, then of the negatives, and adds to
    `over` the bins of clipped rows beyond the upper end of the negatives and the lower end of the
    positives. Residuals are rounded to multiples of `QUANTUM`.
    """
    flat, edges = X.reshape(-1), _limits(limits, K, grid.shape[1])
    columns, scores, theta = np.empty(CHUNK * w.size), np.empty(CHUNK), np.empty(CHUNK)
    place, mass, cells = np.empty(CHUNK, np.int32), np.ones(CHUNK), grid.reshape(-1)
    low_a, high_a = np.full(CHUNK, np.inf), np.full(CHUNK, np.inf)
    low_b, high_b = np.full(CHUNK, np.inf), np.full(CHUNK, np.inf)
    fine = True
    for start in range(0, X.shape[0], CHUNK):
        rows = min(CHUNK, X.shape[0] - start)
        side = positive[start : start + rows]
        if weight.size > 0:
            for i in range(rows):  # over what slices may raise the compiler takes seconds
                mass[i] = weight[start + i]
        _columns(flat, start, rows, offset, columns)
        _scores(columns, rows, w, scores)
        _widened(scores, side, rows, True, 1.0, low_a)
        _widened(scores, side, rows, True, -1.0, high_a)
        _widened(scores, side, rows, False, 1.0, low_b)
        _widened(scores, side, rows, False, -1.0, high_b)
        _placed(scores, side, rows, K, edges, place)
        wrong, beyond = _residuals(scores, side, rows, K, edges, theta)
        fine &= wrong == 0
        # Few chunks have such a row: the others are spared a loop.
        if beyond > 0:
            _beyond(scores, side, mass, rows, K, edges, over)
        for i in range(rows):
            at = 2 * place[i]
            cells[at] += mass[i]
            cells[at + 1] += mass[i] * theta[i]
    ends[0], ends[1] = min(ends[0], low_a.min()), max(ends[1], -high_a.min())
    ends[2], ends[3] = min(ends[2], low_b.min()), max(ends[3], -high_b.min())
    return fine


@compiled
def _folded(lanes):  # pragma: no cover - compiled
    """Return the sum of the lanes, halved again and again, and set them to zero."""
    half = CHUNK // 2
    while half > 0:
        for i in range(half):
            lanes[i] += lanes[half + i]
        half //= 2
    total = lanes[0]
    lanes[:] = 0.0
    return total


@compiled
def _close(products, sizes, total, carry, size):  # pragma: no cover - compiled
    """Add the folded lanes of each coordinate to `total` (compensated) and to `size`."""
    for k in range(total.size):
        part = _folded(products[k * CHUNK : (k + 1) * CHUNK])
        size[k] += _folded(sizes[k * CHUNK : (k + 1) * CHUNK])
        new = total[k] + part
        if abs(total[k]) >= abs(part):
            carry[k] += (total[k] - new) + part
        else:
            carry[k] += (part - new) + total[k]
        total[k] = new


@compiled
def pull(X, offset, w, positive, weight, K, limits, table, total, carry, size):  # pragma: no cover
    """Add sum_i c_i (x_i - offset) to `total`, compensated, and sum_i |c_i (x_i - offset)| to size.

    c_i is table[class, bin] of the row's score, times its weight.
    """
    flat, edges, dim = X.reshape(-1), _limits(limits, K, table.shape[1]), w.size
    columns, scores, c = np.empty(CHUNK * dim), np.empty(CHUNK), np.empty(CHUNK)
    place, cells = np.empty(CHUNK, np.int32), table.reshape(-1)
    products, sizes = np.zeros(CHUNK * dim), np.zeros(CHUNK * dim)
    for start in range(0, X.shape[0], CHUNK):
        rows = min(CHUNK, X.shape[0] - start)
        side = positive[start : start + rows]
        _columns(flat, start, rows, offset, columns)
        _scores(columns, rows, w, scores)
        _placed(scores, side, rows, K, edges, place)
        for i in range(rows):
            c[i] = cells[place[i]]
        if weight.size > 0:
            for i in range(rows):
                c[i] = weight[start + i] * c[i]
        for k in range(dim):
            for i in range(rows):
                product = c[i] * columns[k * CHUNK + i]
                products[k * CHUNK + i] += product
                sizes[k * CHUNK + i] += abs(product)
        if (start // CHUNK + 1) % GROUP == 0:
            _close(products, sizes, total, carry, size)
    _close(products, sizes, total, carry, size)
