"""The loops over rows of the smooth losses' sums: into bins, and back from them."""

from __future__ import annotations

import numpy as np

from ..tools.compiling import compiled


@compiled
def place(scores, positive, per_unit, first, block, bins, counts, moments):  # pragma: no cover
    """Fill the bin of each row, and add to the counts and to theta's moments of each class.

    `first` is the bin number that is counted as zero, of each class. Moments are summed `block`
    rows at a time.
    """
    part = np.zeros((2, 2))
    for start in range(0, scores.size, block):
        part[:] = 0.0
        for k in range(start, min(start + block, scores.size)):
            side = int(positive[k])
            scaled = scores[k] * per_unit
            nearest = np.rint(scaled)
            theta = scaled - nearest
            at = int(nearest - first[side])
            bins[k] = at
            counts[side, at] += 1.0
            part[side, 0] += theta
            part[side, 1] += theta * theta
        moments += part


@compiled
def look_up(bins, positive, table, scores, middle, block, c):  # pragma: no cover - compiled
    """Fill c with the table's value of each row's class and bin.

    Return the sum of c_i (s_i - middle), that of the absolute terms, and the largest |s_i -
    middle|; sums are of `block` rows at a time.
    """
    total = size = most = 0.0
    for start in range(0, scores.size, block):
        some = 0.0
        some_size = 0.0
        for k in range(start, min(start + block, scores.size)):
            held = table[int(positive[k]), bins[k]]
            shifted = scores[k] - middle
            term = held * shifted
            c[k] = held
            some += term
            some_size += abs(term)
            most = max(most, abs(shifted))
        total += some
        size += some_size
    return total, size, most
