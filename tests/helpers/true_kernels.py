"""Kernel matrices in 60 digits, from the formula and the rows as stored."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from aucert.exact.spaces.kernels import Gaussian, Kernel, Linear

DIGITS = Context(prec=60)


def decimal(x: object) -> Decimal:
    """Return a float, a long float or a fraction in 60 digits."""
    if isinstance(x, Fraction):
        return DIGITS.divide(Decimal(x.numerator), Decimal(x.denominator))
    high = float(x)  # type: ignore[arg-type]
    return DIGITS.add(Decimal(high), Decimal(float(x - np.longdouble(high))))  # type: ignore[operator]


def integers(X: np.ndarray) -> tuple[list[list[int]], int]:
    """Return rows of whole numbers and the q with X = rows / 2^q, exactly."""
    ratios = [[value.as_integer_ratio() for value in row] for row in X.tolist()]
    q = max(below.bit_length() - 1 for row in ratios for _, below in row)
    return [[above * (1 << q) // below for above, below in row] for row in ratios], q


def true_kernel(kernel: Kernel, X: np.ndarray) -> list[list[Decimal]]:
    """Return the kernel matrix of the rows in 60 digits."""
    rows, q = integers(X)

    def value(x: list[int], z: list[int]) -> Decimal:
        pairs = list(zip(x, z, strict=True))
        if isinstance(kernel, Linear):
            return decimal(Fraction(sum(a * b for a, b in pairs), 1 << (2 * q)))
        if isinstance(kernel, Gaussian):
            size = Fraction(sum((a - b) ** 2 for a, b in pairs), 1 << (2 * q))
        else:
            size = Fraction(sum(abs(a - b) for a, b in pairs), 1 << q)
        return DIGITS.exp(-decimal(Fraction(kernel.gamma) * size))  # type: ignore[union-attr]

    n = len(rows)
    K = [[Decimal(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            K[i][j] = K[j][i] = value(rows[i], rows[j])
    return K
