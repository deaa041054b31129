"""The loops of `gathered`, compiled.

Rows are taken `CHUNK` at a time. Each step is a loop of its own over the chunk, which the processor
does for several rows at once; only the last step, into the bins, goes row by row. The sum of each
bin is added up in the order of the rows. Functions that call each other stay in this one file.
"""

from __future__ import annotations

import numpy as np

from ...tools.compiling import compiled

CHUNK = 256  # Rows that are scored at a time.


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
def _placed(scores, positive, rows, K, limits, size, place, theta):  # pragma: no cover - compiled
    """Fill bins, those of the positives behind all others, and residuals; say how many are wrong.

    Wrong is a row whose score is not finite: its mass must not be counted.
    """
    low_a, high_a, low_b = limits[0], limits[1], limits[2]
    high_b, first_a, wrong = low_b + size - 1, low_b + K - size, 0
    for i in range(rows):
        x = K * scores[i]
        wrong += 0 if abs(x) < np.inf else 1
        side = positive[i]
        least = low_a if side else low_b
        most = high_a if side else high_b
        bin_of = np.floor(x)
        # A score that is no number fails this comparison: its place is in the grid, too.
        bin_of = bin_of if bin_of > least else least
        bin_of = bin_of if bin_of < most else most
        theta[i] = x - bin_of
        place[i] = np.int32(bin_of - (first_a if side else low_b))
    return wrong


@compiled
def _widened(scores, positive, rows, wanted, sign, ends):  # pragma: no cover - compiled
    """Lower ends, one for each place of the chunk, to the least of sign * score of one class."""
    for i in range(rows):
        score = sign * scores[i] if positive[i] == wanted else np.inf
        ends[i] = score if score < ends[i] else ends[i]


@compiled
def _binned(X, start, rows, offset, mass, place, norms, held):  # pragma: no cover - compiled
    """Add mass * (x - offset, |x - offset|) of each row to its bin, held[bin (d + 1) + k]."""
    d = offset.size
    step = d + 1
    # Four columns at once: the numbers of a bin lie side by side, and each sum keeps its order.
    for k in range(0, d - 3, 4):
        a, b = X[k, start : start + rows], X[k + 1, start : start + rows]
        c, e = X[k + 2, start : start + rows], X[k + 3, start : start + rows]
        o, p, q, r = offset[k], offset[k + 1], offset[k + 2], offset[k + 3]
        for i in range(rows):
            at, m = place[i] * step + k, mass[i]
            one, two = held[at] + m * (a[i] - o), held[at + 1] + m * (b[i] - p)
            three, four = held[at + 2] + m * (c[i] - q), held[at + 3] + m * (e[i] - r)
            held[at], held[at + 1], held[at + 2], held[at + 3] = one, two, three, four
    for k in range(d - d % 4, d):
        a, o = X[k, start : start + rows], offset[k]
        for i in range(rows):
            held[place[i] * step + k] += mass[i] * (a[i] - o)
    for i in range(rows):
        held[place[i] * step + d] += mass[i] * norms[i]


@compiled
def gather(
    X, offset, w, positive, weight, K, limits, grid, sums, extent
):  # pragma: no cover - compiled
    """Add each row's mass, mass * theta, and mass * (x - offset, |x - offset|) to its bin.

    X is (d, m); the bins are those of `binned_compiled.fill` at the scores (x - offset) w, which
    are added up in the order of the columns. `sums` (2, size, d + 1) may be empty: then only counts
    are made. Widens `extent`; False if a score is not finite, and what is counted is then useless.
    """
    m, size = X.shape[1], grid.shape[1]
    cells, held = grid.reshape(-1), sums.reshape(-1)
    scores, norms, theta = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    place, mass = np.empty(CHUNK, np.int32), np.ones(CHUNK)
    low_a, high_a = np.full(CHUNK, np.inf), np.full(CHUNK, np.inf)
    low_b, high_b = np.full(CHUNK, np.inf), np.full(CHUNK, np.inf)
    for start in range(0, m, CHUNK):
        rows = min(CHUNK, m - start)
        side = positive[start : start + rows]
        if weight.size > 0:
            mass[:rows] = weight[start : start + rows]
        _scored(X, start, rows, offset, w, scores, norms)
        if _placed(scores, side, rows, K, limits, size, place, theta) > 0:
            return False
        _widened(scores, side, rows, True, 1.0, low_a)
        _widened(scores, side, rows, True, -1.0, high_a)
        _widened(scores, side, rows, False, 1.0, low_b)
        _widened(scores, side, rows, False, -1.0, high_b)
        for i in range(rows):
            at = 2 * place[i]
            count, residual = cells[at] + mass[i], cells[at + 1] + mass[i] * theta[i]
            cells[at], cells[at + 1] = count, residual
        if held.size > 0:
            _binned(X, start, rows, offset, mass, place, norms, held)
    extent[0], extent[1] = min(extent[0], low_a.min()), max(extent[1], -high_a.min())
    extent[2], extent[3] = min(extent[2], low_b.min()), max(extent[3], -high_b.min())
    return True


@compiled
def weigh(table, sums, total, carry):  # pragma: no cover - compiled
    """Add table[class, bin] * sums[class, bin, k] to total[k] + carry[k], compensated.

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
                part = c * sums[side, at, k]
                new = total[k] + part
                if abs(total[k]) >= abs(part):
                    carry[k] += (total[k] - new) + part
                else:
                    carry[k] += (part - new) + total[k]
                total[k] = new
    return size
