"""Sums by bin as whole numbers: those of many partitions take the memory of one.

Whoever holds some partitions adds up the rows of their bins before the marginals are known. Floats
added up so would depend on who holds which. In whole numbers they do not: the sum of a bin and
column k is rounded to units of q_k = 2^(e_k - 62), once for each partition, where 2^(e_k - 1)
bounds the sum over all rows, and all further sums are exact. The marginals of the bins are rounded
to units u of 53 bits, and the products are exact, too: the pull is the same bits for any holders.

With P partitions, and C = sum over classes and bins of |c|, rounding moves the pull by no more than

    P C |q| / 2 + (u / 2) sum_i mass_i |x_i - offset|.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ldexp

import numpy as np

from ...tools.rounding import gamma
from . import whole_compiled as loops
from .gathered import Gathered

SUM_BITS, C_BITS = 62, 53  # Sums are below 2 to the first, marginals below 2 to the second.

LEAST_EXPONENT = -900  # Columns whose sums are smaller count in units as if they were not.


def exponents_of(largest: np.ndarray) -> np.ndarray:
    """Return e of each column, where its sum over all rows is at most `largest` in size."""
    found = np.where(largest > 0, np.frexp(largest)[1] + 1, LEAST_EXPONENT)
    return np.maximum(found, LEAST_EXPONENT).astype(np.int64)


class WholeSums:
    """Sums by class and bin of one partition after another."""

    def __init__(self, exponents: np.ndarray):
        self.exponents, self.parts = exponents, 0
        self.sums: np.ndarray | None = None

    def take(self, found: Gathered) -> None:
        """Add the sums of a partition, which are zero then: their memory may be used again."""
        floats = found.sums.reshape(-1, self.exponents.size)
        if self.sums is None:
            self.sums = np.zeros(floats.shape, dtype=np.int64)
        loops.add_whole(floats, np.ldexp(1.0, SUM_BITS - self.exponents), self.sums)
        self.parts += 1

    def weighed(self, table: np.ndarray, chain: float) -> WholePull:
        """Return the pull of these rows, as `Gathered.weighed`."""
        shift = int(np.frexp(np.abs(table).max(initial=0.0))[1])
        c = np.rint(np.ldexp(table, C_BITS - shift)).astype(np.int64).reshape(-1)
        pieces = np.zeros((self.exponents.size, 3, 3), dtype=np.int64)
        assert self.sums is not None
        loops.weigh_whole(c, self.sums, pieces)
        total = [
            sum(
                int(one[i, j]) << (loops.C_BITS * i + loops.S_BITS * j)
                for i in range(3)
                for j in range(3)
            )
            for one in pieces
        ]
        mass = float(np.abs(table).sum()) * (1 + gamma(table.size))
        return WholePull(total, self.parts, self.exponents, shift, mass, chain, c.size)


@dataclass(eq=False)
class WholePull:
    """A pull in whole numbers, and what bounds its error."""

    total: list[int]
    parts: int
    exponents: np.ndarray
    shift: int
    mass: float
    chain: float
    bins: int

    def nothing(self) -> WholePull:
        """Return the pull of no rows, in the same units."""
        return replace(self, total=[0] * len(self.total), parts=0)

    def merge(self, other: WholePull) -> WholePull:
        """Add the pull of other rows: exactly."""
        self.total = [a + b for a, b in zip(self.total, other.total, strict=True)]
        self.parts += other.parts
        return self

    @property
    def value(self) -> np.ndarray:
        """The sum: (d,)."""
        return self._floats()[:-1]

    @property
    def size(self) -> float:
        """At least the sum of |c_i| |x_i - offset|, c_i with the marginals' own digits."""
        found = float(self._floats()[-1]) + self._rounded(self.exponents[-1:])
        return found * (1 + gamma(self.chain + self.exponents.size + 32))

    def bound(self) -> float:
        """Return a bound of |value - true|."""
        # In a bin: differences, products with the weight, plain sums.
        within = gamma(self.chain + 8) * self.size
        return (within + self._rounded(self.exponents[:-1])) * (1 + gamma(16))

    def _floats(self) -> np.ndarray:
        units = (self.exponents + (self.shift - SUM_BITS - C_BITS)).tolist()
        return np.array([ldexp(one, unit) for one, unit in zip(self.total, units, strict=True)])

    def _rounded(self, exponents: np.ndarray) -> float:
        """Return how far rounding to units moves columns of these exponents, in all."""
        units = float(np.linalg.norm(np.ldexp(1.0, exponents - SUM_BITS)))
        largest = ldexp(1.0, int(self.exponents[-1]))  # of the sum of mass_i |x_i - offset|
        found = self.parts * self.mass * units / 2 + ldexp(largest, self.shift - C_BITS - 1)
        return found * (1 + gamma(16))
