"""The loops of `whole`, compiled. Functions that call each other stay in this one file."""

from __future__ import annotations

import numpy as np

from ...tools.compiling import compiled

# A marginal is three pieces of so many bits, a sum three of so many: products fit into 39.
C_BITS, S_BITS = 18, 21


@compiled
def add_whole(sums, factors, into):  # pragma: no cover - compiled
    """Add sums (rows, columns), each in units of its column, to whole numbers; they are zero
    then."""
    for at in range(sums.shape[0]):
        for k in range(sums.shape[1]):
            into[at, k] += np.int64(np.rint(sums[at, k] * factors[k]))
            sums[at, k] = 0.0


@compiled
def weigh_whole(c, sums, found):  # pragma: no cover - compiled
    """Add the pieces of c[at] sums[at, k] to found[k]; of the last column those of |c[at]|."""
    last = sums.shape[1] - 1
    c_mask, s_mask = (1 << C_BITS) - 1, (1 << S_BITS) - 1
    for at in range(c.size):
        one = c[at]
        if one == 0:
            continue
        for k in range(last + 1):
            # The last column holds lengths, whose sum bounds the error: there the sign must not
            # cancel.
            own = abs(one) if k == last else one
            c0, c1, c2 = own & c_mask, (own >> C_BITS) & c_mask, own >> (2 * C_BITS)
            s = sums[at, k]
            s0, s1, s2 = s & s_mask, (s >> S_BITS) & s_mask, s >> (2 * S_BITS)
            found[k, 0, 0] += c0 * s0
            found[k, 0, 1] += c0 * s1
            found[k, 0, 2] += c0 * s2
            found[k, 1, 0] += c1 * s0
            found[k, 1, 1] += c1 * s1
            found[k, 1, 2] += c1 * s2
            found[k, 2, 0] += c2 * s0
            found[k, 2, 1] += c2 * s1
            found[k, 2, 2] += c2 * s2
