"""The plain forms of `streamed_compiled`: the same bits by numpy's passes."""

from __future__ import annotations

import numpy as np

from .scans import neumaier, plain_sum, running


def scores(X: np.ndarray, offset: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
    """Fill out with (X - offset) w."""
    out[:] = 0.0
    for k in range(X.shape[1]):
        out += (X[:, k] - offset[k]) * w[k]


def pull(
    X: np.ndarray,
    offset: np.ndarray,
    c: np.ndarray,
    chain: int,
    total: np.ndarray,
    carry: np.ndarray,
) -> float:
    """Add sum_i c_i (x_i - offset) to `total` (compensated) and return sum |c_i| |x_i - offset|."""
    n, square = X.shape[0], np.zeros(X.shape[0])
    for k in range(X.shape[1]):
        x = X[:, k] - offset[k]
        square += x * x
        terms = np.zeros(-(-n // chain) * chain)
        terms[:n] = c * x
        parts = np.cumsum(terms.reshape(-1, chain), axis=1)[:, -1]
        sums, slips = neumaier(parts, total[k])
        total[k], carry[k] = sums[-1], running(slips, carry[k])[-1]
    return plain_sum(np.abs(c) * np.sqrt(square))


def largest_square(X: np.ndarray, offset: np.ndarray) -> float:
    """Return the largest |x_i - offset|^2; NaN where one is not finite."""
    square = np.zeros(X.shape[0])
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(X.shape[1]):
            x = X[:, k] - offset[k]
            square += x * x
        top = float(square.max(initial=0.0))
    return top if top < np.inf else float("nan")
