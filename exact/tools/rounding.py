"""Bounds on floating-point error, and exact arithmetic: floats as integers with an exponent."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

UNIT = 2.0**-53  # Unit roundoff of float64.
LONG_UNIT = float(np.finfo(np.longdouble).eps) / 2  # of longdouble: 2^-64, or `UNIT`
_FEW = 32  # Terms that `short_sum` adds up at a time.
CHAIN = 256  # rows summed plainly before their sum is added with compensation


def is_long(values: np.ndarray) -> bool:
    """Return whether an array is in a format longer than float64; never where there is none."""
    return LONG_UNIT < UNIT and values.dtype == np.longdouble


@dataclass(frozen=True)
class Bound:
    """A number and a bound of its error; an upper bound may exceed the truth by `excess` more."""

    value: float
    error: float
    excess: float = 0.0

    @property
    def high(self) -> float:
        return above(self.value + self.error) if self.error else self.value

    @property
    def low(self) -> float:
        less = above(self.error + self.excess) if self.error and self.excess else 0.0
        less = max(less, self.error, self.excess)
        return -above(less - self.value) if less else self.value


def unit_of(values: np.ndarray) -> float:
    return LONG_UNIT if is_long(values) else UNIT


def above(x: float) -> float:
    """Return the next float above x, which is at least the number that was rounded to x."""
    return float(np.nextafter(x, np.inf))


def gamma(k: float, unit: float = UNIT) -> float:
    """Return k u / (1 - k u), the relative error of k roundings in a row."""
    product = float(k) * unit
    if product >= 0.5:
        raise OverflowError(f"{k:g} roundings in a row leave no accuracy to bound")
    return product / (1.0 - product)


def gamma_sum(n: float) -> float:
    """Return the relative error of a `running_sum` of n terms, rounded once to float64."""
    return gamma(n + 1, LONG_UNIT) + 2 * UNIT


def short_sum(values: np.ndarray) -> np.floating:
    """Return the sum of (n,) values; each term passes at most `short_chain(n)` additions."""
    while values.size > _FEW:
        whole = values.size // _FEW * _FEW
        heads = values[:whole].reshape(_FEW, -1).sum(axis=0)
        values = np.concatenate([heads, values[whole:]])
    return values.sum()


def short_chain(n: int) -> int:
    """Return how many additions a term of a `short_sum` of n passes at most: about 31 log_32 n."""
    chain = 0
    while n > _FEW:
        chain, n = chain + _FEW - 1, n // _FEW + n % _FEW
    return chain + max(n - 1, 0)


def running_sum(values: np.ndarray) -> np.ndarray:
    """Return 0 and the running sums along the first axis, in the long format."""
    total = np.zeros((values.shape[0] + 1, *values.shape[1:]), dtype=np.longdouble)
    np.cumsum(values, axis=0, dtype=np.longdouble, out=total[1:])
    return total


def remaining_sum(values: np.ndarray) -> np.ndarray:
    """Return sums of the last n, ..., 0 values >= 0, added up: each keeps its relative accuracy."""
    return running_sum(values[::-1])[::-1]


@dataclass(eq=False)
class Pull:
    """A sum of c_i x_i, `total` + `carry`: added up with compensation. `size` is at least the sum
    of |c_i| |x_i|, `slip` bounds what rounded before sums were added up."""

    total: np.ndarray
    carry: np.ndarray
    size: float = 0.0
    slip: float = 0.0
    terms: int = 1

    @classmethod
    def of(cls, dim: int) -> Pull:
        return cls(np.zeros(dim), np.zeros(dim))

    @property
    def value(self) -> np.ndarray:
        return self.total + self.carry

    def add(self, parts: np.ndarray, size: float, rows: int) -> None:
        """Add sums (k, dim) over at most `CHAIN` rows each; `size` is a rounded sum over `rows`."""
        totals = np.cumsum(np.vstack([self.total, parts]), axis=0)
        old, new = totals[:-1], totals[1:]
        moved = new - old
        self.carry += ((old - (new - moved)) + (parts - moved)).sum(axis=0)  # two-sums: exact
        self.total, self.terms = totals[-1].copy(), self.terms + len(parts)
        size *= 1 + gamma(rows + self.total.size + 8)
        self.size += size
        self.slip += gamma(CHAIN + 8) * size

    def add_columns(self, centred: np.ndarray, c: np.ndarray, sizes: np.ndarray) -> None:
        """Add sum_i c_i x_i of centred rows as columns (dim, m), |c_i| <= `sizes` (m,)."""
        size = float(sizes @ np.sqrt(np.einsum("ij,ij->j", centred, centred)))
        parts = np.add.reduceat(centred * c, np.arange(0, c.size, CHAIN), axis=1)
        self.add(parts.T, size, c.size)

    def merge(self, other: Pull) -> Pull:
        """Add the sum over other rows; in the same order of parts it is the same to the bit."""
        new = self.total + other.total
        part = new - self.total
        slip = (self.total - (new - part)) + (other.total - part)  # two-sum: exact
        self.total, self.carry = new, self.carry + other.carry + slip
        self.size, self.slip = self.size + other.size, self.slip + other.slip
        self.terms += other.terms
        return self

    def bound(self) -> float:
        """Return a bound of |value - true|: the parts' own, and that of adding them up."""
        adding = gamma(4) + (4 * self.terms * UNIT) ** 2
        return (self.slip + adding * self.size) * (1 + gamma(self.terms + self.total.size + 8))


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
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def sum_of_squares(values: list[tuple[int, int]]) -> Fraction:
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
            (factor,), power = whole_numbers_of(np.array([weight]))
            power += exponent
            if power < low:
                total, low = total << (low - power), power
            _add(total, rows, entries * (factor << (power - low)))
        return total, low

    def pull(self, c: np.ndarray) -> list[tuple[int, int]]:
        """Return X'c, column by column, as (m, e) for m 2^e; c are whole numbers (n,)."""
        return [(int(entries.dot(c[rows])), exponent) for rows, entries, exponent in self]

    def ranges(self) -> list[tuple[Fraction, Fraction]]:
        found = []
        for rows, entries, exponent in self:
            column, unit = np.zeros(self.n, dtype=object), power_of_two(exponent)
            _add(column, rows, entries)
            found.append((column.min() * unit, column.max() * unit))
        return found


def _add(total: np.ndarray, rows: slice | np.ndarray, values: np.ndarray) -> None:
    if isinstance(rows, slice):
        total[rows] += values
    else:
        np.add.at(total, rows, values)


def float_above(value: Fraction) -> float:
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


def at_least(value: float, digits: int = 10) -> str:
    """Return the largest number of so many digits that is at most `value`."""
    return _rounded(value, digits, ROUND_FLOOR)


def at_most(value: float, digits: int = 3) -> str:
    """Return the smallest number of so many digits that is at least `value`."""
    return _rounded(value, digits, ROUND_CEILING)


def _rounded(value: float, digits: int, way: str) -> str:
    number = Context(prec=digits, rounding=way).create_decimal(Decimal(float(value)))
    # Fifteen digits pass through a float as they are.
    return f"{float(number):.{digits}g}" if digits <= 15 else str(number)


def decimal(value: Fraction, rounding: str) -> str:
    """Return the decimal number of 25 digits next to `value`, on the side that `rounding` says."""
    context = Context(prec=25, rounding=rounding)  # digits of an exact number in print
    return str(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
