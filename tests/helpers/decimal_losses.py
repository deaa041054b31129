"""Losses, means over pairs, tails and kernels by their definitions, to 60 digits."""

from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from aucert.exact.spaces.kernels import Gaussian, Kernel, Linear

Pair = tuple[int, int, Fraction]  # a row above another, and their weight
DIGITS = Context(prec=60, Emin=-(10**9), Emax=10**9)
# Relative error of what is computed here: far below any bound that is judged by it.
BEYOND = Fraction(1, 10**50)


def power_of_e(x: Fraction) -> Fraction:
    """Return exp(x) to 60 digits, and 0 below 1e-2000."""
    if x < -4700:
        return Fraction(0)
    return Fraction(DIGITS.exp(DIGITS.divide(Decimal(x.numerator), Decimal(x.denominator))))


def loss_of(name: str, t: Fraction, corner: Fraction = Fraction(1)) -> Fraction:
    """Return the loss of the margin t, at least as large as it is and to `BEYOND`."""
    z = 1 - t
    if name == "square":
        return z * z
    if name == "exponential":
        return power_of_e(-t)
    if name == "logistic":
        small = power_of_e(-abs(t))
        if small < Fraction(1, 10**55):
            return max(-t, Fraction(0)) + small
        one_more = 1 + small
        log = DIGITS.ln(DIGITS.divide(Decimal(one_more.numerator), one_more.denominator))
        return max(-t, Fraction(0)) + Fraction(log)
    z = max(z, Fraction(0))
    if name == "squared_hinge":
        return z * z
    if name == "smooth_hinge":
        return z * z / (2 * corner) if z <= corner else z - corner / 2
    return z


def mean_of(name: str, scores: Any, pairs: Any, corner: Fraction = Fraction(1)) -> Fraction:
    """Return the weighted mean over pairs (i, j, weight)."""
    mass = sum(c for _, _, c in pairs)
    whole = sum(c * loss_of(name, scores[i] - scores[j], corner) for i, j, c in pairs)
    return Fraction(whole) / Fraction(mass)


def tail_pairs(scores: Any, positive: Any, kp: Fraction, kq: Fraction) -> list[Pair]:
    """Return the kp lowest positives against the kq highest negatives."""

    def shared(rows: list[int], k: Fraction) -> list[tuple[int, Fraction]]:
        parts = []
        for row in rows:
            part = min(Fraction(1), k)
            k -= part
            if part > 0:
                parts.append((row, part))
        return parts

    plus = sorted((i for i, p in enumerate(positive) if p), key=lambda i: scores[i])
    minus = sorted((j for j, p in enumerate(positive) if not p), key=lambda j: -scores[j])
    return [(i, j, p * q) for i, p in shared(plus, kp) for j, q in shared(minus, kq)]


def root(x: Fraction) -> Fraction:
    """Return the square root of x >= 0 to 60 digits."""
    return Fraction(DIGITS.sqrt(DIGITS.divide(Decimal(x.numerator), Decimal(x.denominator))))


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
