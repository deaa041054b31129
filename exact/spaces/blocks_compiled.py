"""The loops of `blocks` over a block of few columns, compiled."""

from __future__ import annotations

import numpy as np

from ..tools.compiling import compiled

_ROWS = 256  # Rows whose squares are compared side by side.


@compiled
def scores(X, offset, w, out):  # pragma: no cover - compiled
    """Fill out with (X - offset) w."""
    for i in range(X.shape[0]):
        total = 0.0
        for k in range(X.shape[1]):
            total += (X[i, k] - offset[k]) * w[k]
        out[i] = total


@compiled
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


@compiled
def largest_square(X, offset):  # pragma: no cover - compiled
    """Return the largest |x_i - offset|^2; NaN where one is not finite."""
    flat, dim = X.reshape(-1), X.shape[1]
    squares, top = np.empty(_ROWS), np.zeros(_ROWS)
    wrong = 0
    for start in range(0, X.shape[0], _ROWS):
        rows = min(_ROWS, X.shape[0] - start)
        squares[:] = 0.0
        if dim == 2:  # a stride that the compiler knows
            for i in range(rows):
                x, y = flat[2 * (start + i)] - offset[0], flat[2 * (start + i) + 1] - offset[1]
                squares[i] = x * x + y * y
        else:
            for k in range(dim):
                for i in range(rows):
                    x = flat[dim * (start + i) + k] - offset[k]
                    squares[i] += x * x
        for i in range(rows):
            wrong += 0 if squares[i] < np.inf else 1
            top[i] = squares[i] if squares[i] > top[i] else top[i]
    return np.nan if wrong > 0 else top.max()


@compiled
def squares(X, offset, out):  # pragma: no cover - compiled
    """Fill out with |x_i - offset|^2, the sum of four that are interleaved."""
    dim = X.shape[1]
    even = dim // 4 * 4
    for i in range(X.shape[0]):
        a = b = c = d = 0.0
        for k in range(0, even, 4):
            x, y = X[i, k] - offset[k], X[i, k + 1] - offset[k + 1]
            u, v = X[i, k + 2] - offset[k + 2], X[i, k + 3] - offset[k + 3]
            a += x * x
            b += y * y
            c += u * u
            d += v * v
        for k in range(even, dim):
            x = X[i, k] - offset[k]
            a += x * x
        out[i] = (a + b) + (c + d)


@compiled
def fingerprint(words, keys, found):  # pragma: no cover - compiled
    """Fill found (m, 2) with the two sums of each stretch of words."""
    one, other = keys[0], keys[1]
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    for k in range(found.shape[0]):
        stretch = words[k * one.size : (k + 1) * one.size]
        first = second = np.uint64(0)
        for i in range(stretch.size):
            word, top = stretch[i], stretch[i] >> half
            first += ((word + one[i]) & low) * ((top + (one[i] >> half)) & low)
            second += ((word + other[i]) & low) * ((top + (other[i] >> half)) & low)
        found[k, 0], found[k, 1] = first, second
