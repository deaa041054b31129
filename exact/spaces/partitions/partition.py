"""One part of the rows, which anybody who holds it can read a block at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from sys import getrefcount
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np

from ...errors import InputError
from ...tools.lossless import as_float64

BLOCK_NUMBERS = 1 << 17  # About how many numbers a block has: they fit into a processor's cache.

# Formats that need no look before they become float64.
PLAIN = frozenset({np.dtype(np.float32), np.dtype(np.float64)})


class Block(NamedTuple):
    """Some rows: columns (d, m) float64, positive (m,) bool, weight (m,) float64 or None."""

    columns: np.ndarray
    positive: np.ndarray
    weight: np.ndarray | None

    def label_bytes(self) -> bytes:
        """Return what a fingerprint reads beside the numbers."""
        return np.packbits(self.positive).tobytes()


class Unusable(Exception):
    """A number that cannot be used: row and column (None: the weight) from 0, and the number."""

    def __init__(self, row: int, column: int | None, value: float):
        super().__init__(row, column, value)
        self.row, self.column, self.value = row, column, value


class Partition(Protocol):
    """A part of the rows; it is small to send, and its rows are read where it is used.

    It yields the same blocks each time, and it may be empty or hold one class alone.
    """

    @property
    def name(self) -> str:
        """What to call it in a message."""
        ...

    def blocks(self) -> Iterator[Block]:
        """Yield its rows in order."""
        ...

    def refuse(self, row: int, column: int | None, value: float) -> NoReturn:
        """Raise `InputError` for a number that is not finite, or a weight (column None)."""
        ...


Source = Sequence[Partition | tuple[Any, ...]]  # Partitions, each as such or as a tuple of arrays.


def added_up(columns: np.ndarray, offset: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the scores of columns (d, m), added up one column after the other.

    The counts add them up in the same order, so that rows meet the bins they were counted in.
    """
    scores = np.zeros(columns.shape[1])
    for k in range(w.size):
        scores += (columns[k] - offset[k]) * w[k]
    return scores


def block_rows(dim: int) -> int:
    """Return how many rows of `dim` columns a block has."""
    return max(256, BLOCK_NUMBERS // max(dim, 1))


KEPT_BLOCKS = 4  # So many blocks are kept, whoever else holds them: two are in use at a time.


class Memory:
    """Memory for one block after another: that of blocks which nobody holds any more.

    Fresh memory for each block costs more than the work on it where the system takes it back at
    once, as workers of dask have it do. A few blocks are kept from one partition to the next.
    """

    def __init__(self) -> None:
        self._held: list[np.ndarray] = []

    def array(self, dim: int, m: int) -> np.ndarray:
        """Return an array (dim, m); its numbers mean nothing yet."""
        for memory in self._held:
            if getrefcount(memory) == ALONE and memory.size >= dim * m:
                break
        else:
            memory = np.empty(dim * m)
            self._held = [memory, *self._held][:KEPT_BLOCKS]
        return memory[: dim * m].reshape(dim, m)


_OF_THREAD = threading.local()


def block_memory(purpose: str = "blocks") -> Memory:
    """Return the memory for blocks of this thread: whoever holds one of them keeps it."""
    if not hasattr(_OF_THREAD, purpose):
        setattr(_OF_THREAD, purpose, Memory())
    return getattr(_OF_THREAD, purpose)


def _alone() -> int:
    """Return what the count of references is where nobody else has one."""
    for memory in [np.empty(1)]:
        return getrefcount(memory)
    raise AssertionError


ALONE = _alone()


@dataclass(frozen=True, eq=False)
class ArrayPartition:
    """Rows of an array, whose labels are known."""

    X: np.ndarray
    positive: np.ndarray
    weight: np.ndarray | None = None
    name: str = "a partition"

    def refuse(self, row: int, column: int | None, value: float) -> NoReturn:
        """Raise `InputError` for a number that is not finite, or a weight (column None)."""
        refuse_in(self.name, row, column, value)

    def rows(self, rows: slice) -> np.ndarray:
        """Return some rows as numbers, in a format that float64 holds."""
        held = self.X[rows]
        if type(held) is np.ndarray and held.dtype in PLAIN:
            return held
        return as_float64(held, f"{self.name}, from row {rows.start} on,", "a matrix of numbers")

    def blocks(self) -> Iterator[Block]:
        """Yield its rows in order."""
        n, dim = self.X.shape
        sizes = {self.positive.shape, (n,)} | (
            {self.weight.shape} if self.weight is not None else set()
        )
        if len(sizes) > 1:
            raise InputError(
                f"{self.name} has {n} rows, {self.positive.size} labels"
                + ("" if self.weight is None else f" and {self.weight.size} weights")
                + ": cut rows, labels and weights at the same places"
            )
        step, memory = block_rows(dim), block_memory()
        for start in range(0, n, step):
            rows = slice(start, start + step)
            held = self.rows(rows)
            weight = (
                None
                if self.weight is None
                else as_float64(self.weight[rows], f"the weights of {self.name}")
            )
            columns = memory.array(dim, held.shape[0])
            columns[...] = held.T  # converts and turns at once: many times faster than in two steps
            yield Block(columns, np.ascontiguousarray(self.positive[rows]), weight)


def held_rows(name: str, X: Any, positive: Any, weight: Any = None) -> ArrayPartition:
    """Return a partition of what a caller gave: anything that makes arrays (m, d), (m,), (m,)."""
    X, positive = np.asanyarray(X), np.asarray(positive)
    if X.ndim != 2:
        raise InputError(f"{name}: its rows must be a matrix of numbers (m, d)")
    if positive.dtype != bool or positive.ndim != 1:
        raise InputError(f"{name}: a bool array (m,) must say which rows are positive (y == 1)")
    return ArrayPartition(X, positive, None if weight is None else np.asarray(weight), name)


def refuse_in(name: str, row: int, column: int | None, value: float) -> NoReturn:
    """Raise the sentence for a number, or a weight, that cannot be used."""
    if column is None:
        raise InputError(
            f"the weight of row {row} of {name} (from 0) is {value}: weights are >= 0 and finite, "
            "and of moderate size"
        )
    raise InputError(
        f"X has a value that is not finite in {name}, row {row}, column {column} (from 0): remove "
        "or impute it first"
    )


def cut(
    X: np.ndarray, positive: np.ndarray, weight: np.ndarray | None, places: list[int]
) -> list[Partition]:
    """Return the partitions of an array in memory, cut before the rows `places`."""
    ends = [0, *places, X.shape[0]]
    return [
        ArrayPartition(
            X[a:b], positive[a:b], None if weight is None else weight[a:b], f"partition {k}"
        )
        for k, (a, b) in enumerate(pairwise(ends))
    ]
