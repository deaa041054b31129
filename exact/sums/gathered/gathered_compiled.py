"""The loops of `gathered`, compiled."""

from __future__ import annotations

import numpy as np

from ...tools.compiling import compiled


@compiled
def gather(
    X, offset, w, positive, weight, K, limits, grid, sums, extent
):  # pragma: no cover - compiled
    """Add each row's mass, mass * theta, and mass * (x - offset, |x - offset|) to its bin.

    X is (d, m); the bins are those of `binned_compiled.fill` at the scores (x - offset) w, which
    are added up in the order of the columns. `sums` (2, size, d + 1) may be empty: then only counts
    are made. Widens `extent`; False if a score is not finite.
    """
    d, m = X.shape
    scores, squares = np.zeros(m), np.zeros(m)
    for k in range(d):
        o, wk, column = offset[k], w[k], X[k]
        for i in range(m):
            x = column[i] - o
            scores[i] += x * wk
            squares[i] += x * x
    low = np.array([limits[2], limits[0]])
    high = np.array([limits[2] + grid.shape[1] - 1, limits[1]])
    first = np.array([limits[2], limits[2] + K])
    least = np.array([extent[2], extent[0]])
    most = np.array([extent[3], extent[1]])
    weighted = weight.size > 0
    kept = sums.size > 0
    fine = True
    for i in range(m):
        s = scores[i]
        x = K * s
        if not np.isfinite(x):
            fine = False
            continue
        side = int(positive[i])
        least[side] = min(least[side], s)
        most[side] = max(most[side], s)
        bin_of = min(max(np.floor(x), low[side]), high[side])
        theta = x - bin_of
        mass = weight[i] if weighted else 1.0
        at = int(bin_of - first[side])
        grid[side, at, 0] += mass
        grid[side, at, 1] += mass * theta
        if kept:
            for k in range(d):
                sums[side, at, k] += mass * (X[k, i] - offset[k])
            sums[side, at, d] += mass * np.sqrt(squares[i])
    extent[0], extent[1], extent[2], extent[3] = least[1], most[1], least[0], most[0]
    return fine


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
