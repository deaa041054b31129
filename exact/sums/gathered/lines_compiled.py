"""The loop of `lines`, compiled."""

from __future__ import annotations

import numpy as np

from ...tools.compiling import compiled


@compiled
def gather_lines(
    X, offset, w, positive, weight, K, limits, cut, held, sums, extent
):  # pragma: no cover - compiled
    """Add each row's mass, mass * theta and mass * theta^2 to held[class, bin]; counted, also one.

    X is (d, m); scores (x - offset) w are added up in the order of the columns. limits (2, 3) are,
    for each class, the least and the largest bin, and the bin at place zero. Rows beyond them get
    the last bin, and theta as it then is, or zero if `cut`. `sums` (2, size, p, d + 1) gets
    mass * theta^q * (x - offset, |x - offset|) for q < p; it may be empty. Widens `extent`; False
    if a score is not finite.
    """
    d, m = X.shape
    scores, squares = np.zeros(m), np.zeros(m)
    for k in range(d):
        o, wk, column = offset[k], w[k], X[k]
        for i in range(m):
            x = column[i] - o
            scores[i] += x * wk
            squares[i] += x * x
    least = np.array([extent[2], extent[0]])
    most = np.array([extent[3], extent[1]])
    weighted, counted = weight.size > 0, held.shape[2] > 3
    powers = sums.shape[2] if sums.size > 0 else 0
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
        at_most = np.floor(x)
        bin_of = min(max(at_most, limits[side, 0]), limits[side, 1])
        theta = 0.0 if cut and bin_of != at_most else x - bin_of
        mass = weight[i] if weighted else 1.0
        at = int(bin_of - limits[side, 2])
        first = mass * theta
        held[side, at, 0] += mass
        held[side, at, 1] += first
        held[side, at, 2] += first * theta
        if counted:
            held[side, at, 3] += 1.0
        factor = mass
        for q in range(powers):
            for k in range(d):
                sums[side, at, q, k] += factor * (X[k, i] - offset[k])
            sums[side, at, q, d] += abs(factor) * np.sqrt(squares[i])
            factor = first
    # `least` and `most` have the negatives first, `extent` the positives.
    extent[0], extent[1], extent[2], extent[3] = least[1], most[1], least[0], most[0]
    return fine
