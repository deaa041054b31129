"""The loops of `streamed` over a block of few columns, compiled."""

from __future__ import annotations

import numpy as np

from ..tools.compiling import compiled_later
from ..tools.plain import streamed as plain


@compiled_later(plain.scores)
def scores(X, offset, w, out):  # pragma: no cover - compiled
    """Fill out with (X - offset) w."""
    for i in range(X.shape[0]):
        total = 0.0
        for k in range(X.shape[1]):
            total += (X[i, k] - offset[k]) * w[k]
        out[i] = total


@compiled_later(plain.pull)
def pull(X, offset, c, chain, total, carry):  # pragma: no cover - compiled
    """Add sum_i c_i (x_i - offset) to `total` (compensated) and return sum |c_i| |x_i - offset|."""
    part = np.zeros(X.shape[1])
    size = 0.0
    for start in range(0, X.shape[0], chain):
        part[:] = 0.0
        for i in range(start, min(start + chain, X.shape[0])):
            square = 0.0
            for k in range(X.shape[1]):
                x = X[i, k] - offset[k]
                part[k] += c[i] * x
                square += x * x
            size += abs(c[i]) * np.sqrt(square)
        for k in range(X.shape[1]):
            new = total[k] + part[k]
            if abs(total[k]) >= abs(part[k]):
                carry[k] += (total[k] - new) + part[k]
            else:
                carry[k] += (part[k] - new) + total[k]
            total[k] = new
    return size


@compiled_later(plain.largest_square)
def largest_square(X, offset):  # pragma: no cover - compiled
    """Return the largest |x_i - offset|^2; NaN or infinity where a value is not finite."""
    top = 0.0
    for i in range(X.shape[0]):
        square = 0.0
        for k in range(X.shape[1]):
            x = X[i, k] - offset[k]
            square += x * x
        if not square <= top:
            top = square
            if np.isnan(top):
                return top
    return top
