"""The plain forms of the loops in `dive_compiled` that go over matrices: the same bits by numpy.

The other loops there are few steps a node, so that Python itself can run them for some nodes.
"""

from __future__ import annotations

import numpy as np

from ...tools.plain.scans import plain_sum

Data = tuple[np.ndarray, np.ndarray, np.ndarray]
ULP = 1.01 * 2.0**-53


def ceiling(
    data: Data, index: np.ndarray, size: int, w: np.ndarray, cost: np.ndarray
) -> tuple[float, float]:
    """Return w'(delta + r) and the bound of q_T, rounding included; fill the costs D_j w_j^2."""
    sigma, delta, diagonal = data
    index, w = index[:size], w[:size]
    r, weight, D = delta[index], np.abs(w), diagonal[index]
    length, largest = plain_sum(weight), float(np.abs(r).max(initial=0.0))
    terms = np.vstack([r, w[:, None] * sigma[np.ix_(index, index)]])
    # One term after the other, as the compiled loop does it: that makes the same bits.
    r = np.subtract.accumulate(terms, axis=0)[-1]
    slip = (size + 4) * ULP * (length * 1.001 + largest)
    left = np.abs(r) + slip
    value = plain_sum(w * (delta[index] + r))
    spare = np.column_stack(
        [
            left * left / D + 3 * left * weight,
            (size + 6) * ULP * weight * (np.abs(delta[index]) + left),
        ]
    )
    cost[:size] = D * w * w * (1 - 8 * ULP)
    return value, value + plain_sum(spare.reshape(-1)) * (1 + (size + 8) * ULP)


def smallest(
    state: np.ndarray, index: np.ndarray, size: int, cost: np.ndarray, count: int, out: np.ndarray
) -> float:
    """Sort the candidates' costs; return the sum of the `count` smallest, rounded down."""
    found = np.sort(cost[:size][state[index[:size]] == 1])
    out[: found.size] = found
    return plain_sum(out[:count]) * (1 - (count + 4) * ULP)


def without(
    A: np.ndarray,
    w: np.ndarray,
    index: np.ndarray,
    size: int,
    at: int,
    to: np.ndarray,
    to_w: np.ndarray,
    to_index: np.ndarray,
) -> None:
    """Write the inverse, w and the members without the feature at `at`; `to` may be A itself."""
    kept = np.delete(np.arange(size), at)
    share, column, row = w[at] / A[at, at], A[kept, at], A[at, kept]
    # The inverse of a block without one row and column is a rank-one correction of the whole.
    to_w[: size - 1] = w[kept] - column * share
    to[: size - 1, : size - 1] = A[np.ix_(kept, kept)] - np.outer(column / A[at, at], row)
    to_index[: size - 1] = index[kept]


def whole(data: Data, index: np.ndarray, size: int) -> tuple[float, float]:
    """Return q of a whole support and its bound."""
    sigma, delta, _ = data
    block, w = sigma[np.ix_(index, index)], delta[index]
    # Elimination without pivoting: `ceiling` has a bound for any w, however it was found.
    for p in range(size):
        rest = slice(p + 1, size)
        factor = block[rest, p] / block[p, p] if block[p, p] > 0 else np.zeros(size - p - 1)
        w[rest] -= factor * w[p]
        block[rest, rest] -= np.outer(factor, block[p, rest])
    for p in range(size - 1, -1, -1):
        w[p] = w[p] / block[p, p] if block[p, p] > 0 else 0.0
        w[:p] -= block[:p, p] * w[p]
    return ceiling(data, index, size, w, np.empty(size))


def first(
    start: np.ndarray,
    inverse: np.ndarray,
    delta: np.ndarray,
    A: np.ndarray,
    w: np.ndarray,
    members: np.ndarray,
) -> int:
    """Write the inverse, w and the members of the first node; return how many they are."""
    found = np.flatnonzero(start)
    size = found.size
    members[:size], A[:size, :size] = found, inverse
    for a in range(size):
        w[a] = plain_sum(inverse[a] * delta[found])
    return size


def copied(state: np.ndarray, out: np.ndarray) -> None:
    """Fill out with what a node says of the features."""
    out[:] = state
