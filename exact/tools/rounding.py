"""Bounds on floating-point error, for certificates that hold in exact arithmetic too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

UNIT = 2.0**-53  # Unit roundoff of float64.

# Unit roundoff of the accumulator: 2^-64 where the platform has it, else `UNIT`.
LONG_UNIT = float(np.finfo(np.longdouble).eps) / 2
_FEW = 32  # Terms that `short_sum` adds up at a time.


def is_long(values: np.ndarray) -> bool:
    """Return whether an array is in a format longer than float64; never where there is none."""
    return LONG_UNIT < UNIT and values.dtype == np.longdouble


@dataclass(frozen=True)
class Bound:
    """A computed number and a bound of its error: the true one is between `low` and `high`. Where
    the number is an upper bound by itself, it may exceed the true one by `excess` more."""

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
    """Return the unit roundoff of an array: that of the long format, or of float64."""
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
    """Return the sum of (n,) values, no term of which passes through more than `short_chain(n)`
    additions: the order of `numpy.sum`, its own affair, is left only in sums of 32 terms."""
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
    """Return sums of the last n, n - 1, ..., 0 values: added up, not subtracted from the whole. All
    terms are >= 0, so each sum keeps its relative accuracy however small it is."""
    return running_sum(values[::-1])[::-1]


CHAIN = 256  # rows summed plainly before their sum is added with compensation


@dataclass(eq=False)
class Pull:
    """A sum of c_i x_i, `total` + `carry`: added up with compensation, and with its bounds. `size`
    is at least the sum of |c_i| |x_i|, `slip` bounds what rounded before sums were added up."""

    total: np.ndarray
    carry: np.ndarray
    size: float = 0.0
    slip: float = 0.0
    terms: int = 1

    @classmethod
    def of(cls, dim: int) -> Pull:
        """Return the empty sum."""
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
        """Add sum_i c_i x_i of a block of rows that lie as columns (dim, m), centred already.
        `sizes` (m,) are at least |c_i|, more where c is itself a difference."""
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
