"""What is found out about the partitions once: sizes, classes, and the box that holds the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from ...errors import InputError
from .partition import Block, Unusable


@dataclass(eq=False)
class Facts:
    """Of some partitions."""

    sizes: dict[int, tuple[int, int]]
    low: np.ndarray
    high: np.ndarray
    total: np.ndarray
    mass: np.ndarray
    whole: bool = True
    weighted: bool = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(size for size, _ in self.sizes.values())

    @property
    def n_pos(self) -> int:
        """Number of positive rows."""
        return sum(plus for _, plus in self.sizes.values())


class FactsTask:
    """Finds the facts, and refuses what is no finite number."""

    def run(self, blocks: Iterator[Block], index: int) -> Facts:
        """Return the facts of one partition."""
        none = np.zeros(0)
        found = Facts({index: (0, 0)}, none, none, none, np.zeros(2))
        for block in blocks:
            if block.positive.size:
                found = self.merge(found, self._of(block, index, found.n))
        return found

    def _of(self, block: Block, index: int, before: int) -> Facts:
        columns, positive, weight = block.columns, block.positive, block.weight
        total = columns.sum(axis=1)
        if not np.isfinite(total).all():
            _refuse(columns, before)
        n, plus = positive.size, int(positive.sum())
        mass, whole = np.array([n - plus, plus], dtype=float), True
        if weight is not None:
            _check_weights(weight, before)
            mass = np.array([weight[~positive].sum(), weight[positive].sum()])
            whole = bool((weight == np.floor(weight)).all())
        low, high = columns.min(axis=1), columns.max(axis=1)
        return Facts({index: (n, plus)}, low, high, total, mass, whole, weight is not None)

    def merge(self, first: Facts, second: Facts) -> Facts:
        """Return the facts of both."""
        sizes = dict(first.sizes)
        for index, (n, plus) in second.sizes.items():
            held = sizes.get(index, (0, 0))
            sizes[index] = (held[0] + n, held[1] + plus)
        if first.n == 0 or second.n == 0:
            one = second if first.n == 0 else first
            return Facts(sizes, one.low, one.high, one.total, one.mass, one.whole, one.weighted)
        if first.low.size != second.low.size:
            raise InputError(
                f"a partition has {first.low.size} columns, and another one {second.low.size}"
            )
        if first.weighted != second.weighted:
            raise InputError("some partitions have weights, and others do not")
        return Facts(
            sizes,
            np.minimum(first.low, second.low),
            np.maximum(first.high, second.high),
            first.total + second.total,
            first.mass + second.mass,
            first.whole and second.whole,
            first.weighted,
        )


def _refuse(columns: np.ndarray, before: int) -> NoReturn:
    bad = np.argwhere(~np.isfinite(columns.T))
    if bad.size == 0:
        raise InputError("X has values so large that their sums overflow: rescale it")
    row, column = (int(k) for k in bad[0])
    raise Unusable(before + row, column, float(columns[column, row]))


# Row weights of partitions lie between these, or are zero: nothing rescales them.
LARGEST_ROW_WEIGHT, SMALLEST_ROW_WEIGHT = 1e50, 1e-50


def _check_weights(weight: np.ndarray, before: int) -> None:
    fine = (weight == 0) | ((weight >= SMALLEST_ROW_WEIGHT) & (weight <= LARGEST_ROW_WEIGHT))
    if not fine.all():
        row = int(np.argmin(fine))
        raise Unusable(before + row, None, float(weight[row]))
