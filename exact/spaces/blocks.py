"""Rows that come in blocks: their sums, a source of slices, and whether a block is as it was."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from copy import copy
from functools import reduce
from sys import getrefcount
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..errors import InputError
from ..tools.lossless import as_float64, on_disk
from ..tools.rounding import UNIT, gamma
from ..tools.threads import in_parts, one_thread, workers
from . import blocks_compiled as loops
from .rows import FeatureWeights, check_reach

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
        parts = np.add.reduceat(centred * c, np.arange(0, c.size, CHAIN), axis=1)
        totals = np.cumsum(np.column_stack([self.total, parts]), axis=1)
        old, new = totals[:, :-1], totals[:, 1:]
        moved = new - old
        self.carry += ((old - (new - moved)) + (parts - moved)).sum(axis=1)  # two-sums: exact
        self.total = np.ascontiguousarray(totals[:, -1])

    @property
    def value(self) -> np.ndarray:
        return self.total + self.carry

    @property
    def error(self) -> float:
        """A bound of |computed - true|: gamma_k sum |c_i| |x_i|, k the longest chain."""
        chain = gamma(CHAIN + 8) + ((self.rows + self.parts) * UNIT) ** 2
        return chain * self.size * (1 + gamma(self.rows + self.parts + self.total.size + 8))

    def merge(self, other: Pull) -> None:
        """Add the sum over other rows; in the same order of parts it is the same to the bit."""
        self.add(other.total)
        self.carry += other.carry
        self.size += other.size
        self.rows, self.parts = self.rows + other.rows, self.parts + other.parts + 1


STRETCH = 1024  # Numbers to a fingerprint: the stretch and both keys fit into the fastest cache.


class Fingerprints:
    """What each block of rows was like when it was read first."""

    def __init__(self, name: str):
        self.name = name
        self._keys = new_key()
        self._seen: dict[tuple[int, int], np.ndarray] = {}

    def checked(self, rows: slice, block: np.ndarray) -> np.ndarray:
        """Return a copy of a block, once it is known to be what it was when it was read first."""
        copy = np.array(block)  # the original may change while it is computed with
        found = fingerprint(copy, self._keys)
        known = self._seen.setdefault((rows.start, rows.stop), found)
        if not np.array_equal(known, found):
            raise InputError(
                f"{self.name} changed while it was read (between rows {rows.start} and "
                f"{rows.stop - 1}, from 0): nothing is proved, start again when it is complete"
            )
        return copy


def new_key() -> np.ndarray:
    """Return a secret key for fingerprints, drawn at random."""
    return np.frombuffer(os.urandom(16 * STRETCH), dtype=np.uint64).reshape(2, STRETCH)


def fingerprint(numbers: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return two sums of each stretch of the numbers' bytes, the last word filled up with zeros."""
    flat = numbers.reshape(-1)
    flat = np.append(flat, flat.dtype.type(0)) if numbers.nbytes % 8 else flat
    words = flat.view(np.uint64)
    found = np.empty((-(-words.size // STRETCH), 2), dtype=np.uint64)
    loops.fingerprint(words, key, found)
    return found


BLOCK_NUMBERS = 1 << 17  # About how many numbers a block has: they fit into a processor's cache.


class Block(NamedTuple):
    """Some rows: columns (d, m) float64, positive (m,) bool, weight (m,) float64 or None.

    Rows with a group and a key (m,) have no class: none of them is positive.
    """

    columns: np.ndarray
    positive: np.ndarray
    weight: np.ndarray | None
    group: np.ndarray | None = None
    key: np.ndarray | None = None

    def label_bytes(self) -> bytes:
        """Return what a fingerprint reads next to the numbers."""
        if self.group is None or self.key is None:
            return np.packbits(self.positive).tobytes()
        return self.key.tobytes() + self.group.tobytes() + str(self.group.dtype).encode()

    def labels_at(self, rows: np.ndarray) -> Iterator[Any]:
        """Yield all but the columns of some rows."""
        return (None if held is None else held[rows] for held in self[1:])


def added_up(columns: np.ndarray, offset: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the scores of columns (d, m), added up one column after the other.

    The counts add them up in the same order, so that rows meet the bins they were counted in.
    """
    scores = np.zeros(columns.shape[1])
    for k in range(w.size):
        scores += (columns[k] - offset[k]) * w[k]
    return scores


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
    return _OF_THREAD.__dict__.setdefault(purpose, Memory())


def _alone() -> int:
    """Return what the count of references is where nobody else has one."""
    for memory in [np.empty(1)]:
        return getrefcount(memory)
    raise AssertionError


ALONE = _alone()


def merged(first: Any, second: Any) -> Any:
    """Return the sum of two answers that add up themselves."""
    return first.merge(second)


# Largest number of columns for which compiled loops beat the library's matrix products.
FEW_COLUMNS = 8

# Held while an object that is not an array reads rows: it may move to a place in a file first.
_READING = threading.Lock()


class Source(Protocol):
    """Where rows are read from: an array, a memory map, or an object with these two members.

    Such an object is asked by one thread at a time. Nobody may change an array in memory while it
    is computed with: it is read several times, and is not copied or compared.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        ...

    def __getitem__(self, rows: slice, /) -> np.ndarray:
        """Return some rows, as numbers."""
        ...


class Sample(NamedTuple):
    """Some rows (m, d), their numbers, and whether each is positive."""

    rows: np.ndarray
    index: np.ndarray
    positive: np.ndarray


STRETCHES = 8  # sums that a pass is made of, with any number of threads: so its bits agree
STRETCH_NUMBERS = 1 << 20  # numbers of the rows from which another sum pays


class StreamedRows(FeatureWeights):
    """Linear functions f(x) = w'(x - offset) of rows that are read a block at a time.

    Parameters
    ----------
    source : Source
        Array, memory map, or any object with `shape` and row slices; numbers of any format,
        promoted to float64 block by block. All but an array in memory is compared, at each
        reading, with what it was at the first.
    block : int, optional
        Rows a block; by default about 2^18 numbers.

    Raises
    ------
    InputError
        If the source is not a finite, non-empty matrix; the message names the row and column.
    """

    def __init__(self, source: Source, block: int | None = None):
        shape = tuple(source.shape)
        if len(shape) != 2 or 0 in shape:
            raise InputError(f"the rows must form a non-empty matrix; the shape is {shape}")
        self.source = source
        self.n, self.dim = int(shape[0]), int(shape[1])
        self._rows = block or max(CHAIN, (1 << 18) // self.dim)
        held = isinstance(source, np.ndarray) and not on_disk(source)
        name = getattr(source, "filename", None) or "the source of the rows"
        self._fingerprints = None if held else Fingerprints(str(name))
        self.keeps = self.dim > FEW_COLUMNS  # a score is a small part of a wide row
        self.labels: tuple[np.ndarray, np.ndarray | None] = np.zeros(0, dtype=bool), None
        self.sample: Sample | None = None
        self.last_range: tuple[np.ndarray, np.ndarray] | None = None
        self.offset = self._sample_mean()
        self._lengths = np.empty(self.n if self.dim > FEW_COLUMNS else 0)
        self.reach = self._checked_reach()
        self._far = float(np.linalg.norm(self.offset)) * (1 + gamma(self.dim + 4))
        # Wide rows that lie around zero are multiplied as they are: a centred block is a copy.
        self._plain = self.dim > FEW_COLUMNS and self._far <= self.reach

    in_blocks = True

    def blocks(self) -> Iterator[slice]:
        for start in range(0, self.n, self._rows):
            yield slice(start, min(start + self._rows, self.n))

    def block(self, rows: slice) -> np.ndarray:
        """Return a block of the raw rows, one of `blocks`, as float64, each row contiguous.

        Raises `InputError` if it is not what it was when it was read first.
        """
        return self.narrow(rows).astype(float, copy=False)

    def narrow(self, rows: slice) -> np.ndarray:
        """Return what `block` does, but rows of float32 as they are."""
        block = self.look(rows)
        return block if self._fingerprints is None else self._fingerprints.checked(rows, block)

    def look(self, rows: slice) -> np.ndarray:
        """Return any rows without comparing them with what they were before; they prove nothing."""
        if isinstance(self.source, np.ndarray):
            values = self.source[rows]
        else:
            with _READING:
                values = self.source[rows]
        if type(values) is np.memmap:
            values = np.asarray(values)  # its slices are memory maps, which are slow to make
        if type(values) is np.ndarray and values.dtype in (np.float64, np.float32):
            return np.ascontiguousarray(values)
        name = f"X, from row {rows.start} on," if rows.start else "X"
        return np.ascontiguousarray(as_float64(values, name, "a matrix of numbers"))

    def scores_of(self, rows: np.ndarray, w: np.ndarray) -> np.ndarray:
        if self._plain:
            return rows @ w - float(self.offset @ w)
        if self.dim > FEW_COLUMNS:
            return (rows - self.offset) @ w
        out = np.empty(rows.shape[0])
        loops.scores(rows, self.offset, np.asarray(w, dtype=float), out)
        return out

    def pull_of(self, rows: np.ndarray, c: np.ndarray, into: Pull, at: slice) -> None:
        """Add sum_i c_i (x_i - offset) of the raw block `at` some place to `into`."""
        into.rows += rows.shape[0]
        if self.dim <= FEW_COLUMNS:
            into.size += loops.pull(rows, self.offset, c, CHAIN, into.total, into.carry)
            return
        # |c_i| times what enters the sum: the centred row, or the row and the offset.
        mass = np.abs(c)
        into.size += float(mass @ self._lengths[at])
        if self._plain:
            into.size += 2 * self._far * float(mass.sum())
        for start in range(0, rows.shape[0], CHAIN):
            some, part = c[start : start + CHAIN], rows[start : start + CHAIN]
            if self._plain:
                into.add(some @ part - self.offset * some.sum())
            else:
                into.add(some @ (part - self.offset))

    def labelled(self, pairs: Any) -> StreamedRows:
        """Return the same rows with the labels of `pairs` (`AllPairs`), for `total`."""
        other = copy(self)
        other.labels = pairs.positive, pairs.weight
        other.last_range, other.sample = None, Sample(*self._some, pairs.positive[self._some[1]])
        return other

    def total(
        self,
        work: Callable[[Iterator[Any], int], Any],
        add: Callable[[Any, Any], Any] = merged,
    ) -> Any:
        """Return the sum of `work(blocks, k)` over stretches of blocks, in their order.

        The stretches are the same for any number of threads.
        """
        stretches = self._stretches()

        def of(k: int) -> Any:
            return work(self._columns(stretches[k]), k)

        jobs = workers(self.n * self.dim)
        return reduce(add, in_parts(of, range(len(stretches)), jobs))

    @property
    def parts(self) -> int:
        """The number of answers that `total` adds up."""
        return len(self._stretches())

    @property
    def kept_numbers(self) -> int:
        """How many numbers an answer may have: no more than the rows of a stretch."""
        return self.n * self.dim // self.parts

    def _stretches(self) -> list[list[slice]]:
        slices = list(self.blocks())
        pieces = min(STRETCHES, 1 + self.n * self.dim // STRETCH_NUMBERS, len(slices))
        return [slices[len(slices) * k // pieces : len(slices) * (k + 1) // pieces]
                for k in range(pieces)]  # fmt: skip

    def _columns(self, slices: list[slice]) -> Iterator[Block]:
        positive, weight = self.labels
        memory = block_memory()
        for rows in slices:
            raw = self.narrow(rows)
            columns = memory.array(self.dim, raw.shape[0])
            columns[...] = raw.T  # converts and turns at once
            yield Block(columns, positive[rows], None if weight is None else weight[rows])

    def scores(self, w: np.ndarray) -> np.ndarray:
        out = np.empty(self.n)

        def work(rows: slice) -> None:
            out[rows] = self.scores_of(self.block(rows), w)

        # The blocks are shared out among threads, so that the linear algebra takes one in each.
        with one_thread():
            in_parts(work, list(self.blocks()), workers(self.n * self.dim))
        return out

    def pulled(self, c: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Return sum_i c_i (x_i - offset), a bound of its error, and sum |c_i| |x_i - offset|."""

        def work(rows: slice) -> Pull:
            into = Pull(self.dim)
            self.pull_of(self.block(rows), np.ascontiguousarray(c[rows]), into, rows)
            return into

        whole = Pull(self.dim)
        with one_thread():
            for part in in_parts(work, list(self.blocks()), workers(self.n * self.dim)):
                whole.merge(part)
        return whole.value, whole.error, whole.size

    def pull(self, c: np.ndarray) -> np.ndarray:
        return self.pulled(c)[0]

    def score_slip(self, w: np.ndarray) -> float:
        """Return gamma_{d+4} times what enters a score at most: a bound of its rounding.

        That is |x_i - offset| |w|, and where the offset is subtracted from the product, twice
        |offset| |w| more.
        """
        size = self.reach + (2 * self._far if self._plain else 0.0)
        return gamma(self.dim + 4) * size * float(np.linalg.norm(w)) * (1 + gamma(self.dim + 4))

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.scores(w), np.full(self.n, self.score_slip(w))

    def dual_norm2(self, c: np.ndarray) -> float:
        value = self.pull(c)
        return float(value @ value)

    def dual_norm2_error(self, c: np.ndarray) -> float:
        value, error, _ = self.pulled(c)
        norm = float(np.linalg.norm(value))
        return error * (2 * norm + error) + gamma(self.dim + 4) * norm**2

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return the named rows (ascending), centred, as a dense matrix.

        They are for samples, which prove nothing: they are not compared with what they were before.
        """
        index = np.asarray(index)
        out = np.empty((index.size, self.dim))
        places = range(0, self.n, self._rows)
        ends = np.searchsorted(index, [*places, self.n])
        for start, at, end in zip(places, ends[:-1], ends[1:], strict=True):
            if at < end:
                block = slice(start, min(start + self._rows, self.n))
                held = isinstance(self.source, np.ndarray)  # of it only the rows named are read
                values = np.asarray(self.source[block]) if held else self.look(block)
                out[at:end] = values[index[at:end] - start]
        out -= self.offset
        return out

    def _sample_mean(self) -> np.ndarray:
        """Return the mean of rows from all over. Any offset is right; this one saves digits."""
        some = int(np.clip(CHAIN * 8 // self.dim, 8, CHAIN))
        starts = np.unique(np.linspace(0, max(self.n - some, 0), 64).astype(int)).tolist()
        parts = [self.look(slice(at, min(at + some, self.n))) for at in starts]
        rows = np.concatenate(parts).astype(float, copy=False)
        rows = np.where(np.isfinite(rows), rows, 0.0)
        index = np.concatenate([np.arange(at, min(at + some, self.n)) for at in starts])
        self._some = rows, index
        return rows.mean(axis=0)

    def _checked_reach(self) -> float:
        """Return a bound of every |x_i - offset|; refuse values that are not finite."""
        top = 0.0
        for rows in self.blocks():
            block = self.narrow(rows)
            if self.dim > FEW_COLUMNS:  # the lengths of wide rows are kept
                squares = self._lengths[rows]
                loops.squares(block, self.offset, squares)
                square = float(squares.max()) if np.isfinite(squares).all() else np.inf
                self._lengths[rows] = np.sqrt(squares) * (1 + gamma(self.dim + 8))
            else:
                square = loops.largest_square(block, self.offset)
            if not np.isfinite(square):
                self._refuse(block, rows.start)
            top = max(top, square)
        reach = float(np.sqrt(top)) * (1 + gamma(self.dim + 8))
        return check_reach(reach, reach == 0)

    def _refuse(self, block: np.ndarray, start: int) -> None:
        bad = np.argwhere(~np.isfinite(block))
        if bad.size == 0:
            raise InputError("X has values so large that their squares overflow: rescale it")
        row, column = (int(k) for k in bad[0])
        raise InputError(
            f"X has a value that is not finite in row {start + row}, column {column} (from 0): "
            "remove or impute it first"
        )
