"""Sums over rows that come in blocks, with a bound of their rounding."""

from __future__ import annotations

import numpy as np

from ...tools.rounding import UNIT, gamma

CHAIN = 256  # Number of rows summed plainly before their sum is added with compensation.


class Pull:
    """The running sum of c_i (x_i - offset) over blocks of rows, with a bound of its rounding."""

    def __init__(self, dim: int):
        self.total, self.carry = np.zeros(dim), np.zeros(dim)
        self.size = 0.0
        self.rows = self.parts = 0

    def add(self, part: np.ndarray) -> None:
        """Add one sum, with compensation."""
        new = self.total + part
        swap = np.abs(self.total) < np.abs(part)
        big, small = np.where(swap, part, self.total), np.where(swap, self.total, part)
        self.carry += (big - new) + small
        self.total = new

    def add_columns(self, centred: np.ndarray, c: np.ndarray, sizes: np.ndarray) -> None:
        """Add sum_i c_i x_i of a block of rows that lie as columns (dim, m), centred already.

        `sizes` (m,) are at least |c_i|, more where c is itself a difference.
        """
        self.rows += c.size
        self.size += float(sizes @ np.sqrt(np.einsum("ij,ij->j", centred, centred)))
        for start in range(0, c.size, CHAIN):
            some = slice(start, start + CHAIN)
            self.add(centred[:, some] @ c[some])

    @property
    def value(self) -> np.ndarray:
        """The sum so far: (dim,)."""
        return self.total + self.carry

    @property
    def error(self) -> float:
        """A bound of |computed - true|: gamma_k sum |c_i| |x_i|, k the longest chain."""
        chain = gamma(CHAIN + 8) + ((self.rows + self.parts) * UNIT) ** 2
        return chain * self.size * (1 + gamma(self.rows + self.parts + self.total.size + 8))

    def merge(self, other: Pull) -> None:
        """Add the sum over other rows; in the same order of parts it is the same to the bit."""
        new = self.total + other.total
        swap = np.abs(self.total) < np.abs(other.total)
        big, small = (
            np.where(swap, other.total, self.total),
            np.where(swap, self.total, other.total),
        )
        self.carry += ((big - new) + small) + other.carry
        self.total = new
        self.size += other.size
        self.rows, self.parts = self.rows + other.rows, self.parts + other.parts + 1
