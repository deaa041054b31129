"""Floats as whole numbers times powers of two, and exact results rounded outward.

Every finite float is a whole number times a power of two, so sums and products of floats need no
rounding: they are Python integers with a common exponent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np
import scipy.sparse as sp


def whole_numbers_of(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Return Python integers m and an exponent e with values = m 2^e, nothing lost."""
    part, power = np.frexp(np.asarray(values, dtype=float))
    used = part != 0
    if not used.any():
        return np.zeros(part.size, dtype=object), 0
    low = int(power[used].min())
    shift = np.where(used, power - low, 0).astype(np.int64)
    m = np.ldexp(part, 53).astype(np.int64)
    # Up to 2^62 in the machine's own numbers.
    whole = m << shift if int(shift.max()) <= 9 else m.astype(object) << shift.astype(object)
    common = int(np.bitwise_or.reduce(whole))
    zeros = (common & -common).bit_length() - 1
    return (whole >> zeros).astype(object), low - 53 + zeros


def power_of_two(exponent: int) -> Fraction:
    """Return 2^exponent."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def sum_of_squares(values: list[tuple[int, int]]) -> Fraction:
    """Return the sum of (m 2^e)^2 over pairs (m, e)."""
    low = min((e for m, e in values if m), default=0)
    return sum((m << e - low) ** 2 for m, e in values if m) * power_of_two(2 * low)


class ExactColumns:
    """The columns of a matrix as whole numbers with an exponent each."""

    def __init__(self, X: np.ndarray | sp.csr_matrix):
        self.n, self.dim = (int(size) for size in X.shape)
        self._X = X if isinstance(X, np.ndarray) else X.tocsc()

    def __iter__(self) -> Iterator[tuple[slice | np.ndarray, np.ndarray, int]]:
        """Yield the rows that have an entry, the entries, and their exponent."""
        for k in range(self.dim):
            if isinstance(self._X, np.ndarray):
                yield slice(None), *whole_numbers_of(self._X[:, k])
            else:
                of = slice(self._X.indptr[k], self._X.indptr[k + 1])
                yield self._X.indices[of], *whole_numbers_of(self._X.data[of])

    def scores(self, w: np.ndarray) -> tuple[np.ndarray, int]:
        """Return X w (n,) as whole numbers with an exponent."""
        total, low = np.zeros(self.n, dtype=object), 0
        for weight, (rows, entries, exponent) in zip(w.tolist(), self, strict=True):
            if weight == 0.0 or not entries.any():
                continue
            numerator, denominator = weight.as_integer_ratio()
            zeros = (numerator & -numerator).bit_length() - 1
            factor, power = numerator >> zeros, zeros + 1 - denominator.bit_length() + exponent
            if power < low:
                total, low = total << (low - power), power
            _add(total, rows, entries * (factor << (power - low)))
        return total, low

    def pull(self, c: np.ndarray) -> list[tuple[int, int]]:
        """Return X'c, column by column, as (m, e) for m 2^e; c are whole numbers (n,)."""
        return [(int(entries.dot(c[rows])), exponent) for rows, entries, exponent in self]

    def ranges(self) -> list[tuple[Fraction, Fraction]]:
        """Return the least and the largest value of each column."""
        found = []
        for rows, entries, exponent in self:
            column, unit = np.zeros(self.n, dtype=object), power_of_two(exponent)
            _add(column, rows, entries)
            found.append((min(column.tolist()) * unit, max(column.tolist()) * unit))
        return found


def _add(total: np.ndarray, rows: slice | np.ndarray, values: np.ndarray) -> None:
    """Add `values` to the named entries, as often as each is named."""
    if isinstance(rows, slice):
        total[rows] += values
    else:
        np.add.at(total, rows, values)


def float_above(value: Fraction) -> float:
    """Return the least float that is not below `value`."""
    return -float_below(-value)


def float_below(value: Fraction) -> float:
    """Return the largest float that is not above `value`."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.nextafter(math.inf, 0.0) if value > 0 else -math.inf
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def root_above(value: Fraction) -> Fraction:
    """Return a number not below the square root of `value` >= 0, and next to it."""
    product = value.numerator * value.denominator
    more = max(0, 80 - product.bit_length() // 2)
    root = math.isqrt(product << 2 * more)
    return Fraction(root + (root * root < product << 2 * more), value.denominator << more)


def decimal_above(value: Fraction) -> str:
    """Return the decimal number of 25 digits that is not below `value`, next to it."""
    return _decimal(value, ROUND_CEILING)


def decimal_below(value: Fraction) -> str:
    """Return the decimal number of 25 digits that is not above `value`, next to it."""
    return _decimal(value, ROUND_FLOOR)


def _decimal(value: Fraction, rounding: str) -> str:
    context = Context(prec=25, rounding=rounding)  # digits of an exact number in print
    return str(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
