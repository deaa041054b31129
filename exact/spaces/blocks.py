"""Rows that come in blocks: a source of slices, its sums, and whether a block is as it was."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from copy import copy
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..tools.arrays import as_float64, on_disk, out_of_range
from ..tools.compiling import compiled
from ..tools.rounding import CHAIN, Bound, Pull, gamma
from ..tools.threads import in_parts, workers
from .rows import LARGEST_REACH, Space, check_reach, chunk_sums, in_threads, squared

STRETCH = 1024  # numbers to a fingerprint: the stretch and both keys fit into the fastest cache
BLOCK_NUMBERS = 1 << 17  # about how many numbers a block has: they fit into a processor's cache
FEW_COLUMNS = 8  # up to which compiled counts, which keep no scores, beat matrix products
STRETCH_NUMBERS = 1 << 20  # numbers of the rows from which another sum pays
Work = Callable[[Iterator[Any], int], Any]  # what is done with the blocks of a part, by number
# Held while an object that is not an array reads rows: it may move to a place in a file first.
_READING = threading.Lock()


class Fingerprints:
    """What each block of rows was like when it was read first."""

    def __init__(self, name: str):
        self.name, self._keys = name, new_key()
        self._seen: dict[tuple[int, int], np.ndarray] = {}

    def checked(self, rows: slice, block: np.ndarray) -> np.ndarray:
        """Return a copy of a block: the original may change while it is computed with."""
        copy = np.array(block)
        found = fingerprint(copy, self._keys)
        known = self._seen.setdefault((rows.start, rows.stop), found)
        if not np.array_equal(known, found):
            raise InputError(
                f"{self.name} changed while it was read (between rows {rows.start} and "
                f"{rows.stop - 1}, from 0): nothing is proved, start again when it is complete"
            )
        return copy


def new_key() -> np.ndarray:
    return np.frombuffer(os.urandom(16 * STRETCH), dtype=np.uint64).reshape(2, STRETCH)


def fingerprint(numbers: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return two sums of each stretch of the numbers' bytes, the last word filled up with zeros."""
    flat = numbers.reshape(-1)
    flat = np.append(flat, flat.dtype.type(0)) if numbers.nbytes % 8 else flat
    words = flat.view(np.uint64)
    found = np.empty((-(-words.size // STRETCH), 2), dtype=np.uint64)
    _fill_fingerprints(words, key, found)
    return found


@compiled
def _fill_fingerprints(words, keys, found):  # pragma: no cover - compiled
    one, other = keys[0], keys[1]
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    for k in range(found.shape[0]):
        stretch = words[k * one.size : (k + 1) * one.size]
        first = second = np.uint64(0)
        for i in range(stretch.size):
            word, top = stretch[i], stretch[i] >> half
            first += ((word + one[i]) & low) * ((top + (one[i] >> half)) & low)
            second += ((word + other[i]) & low) * ((top + (other[i] >> half)) & low)
        found[k, 0], found[k, 1] = first, second


class Block(NamedTuple):
    """Rows: columns (d, m), positive (m,) bool, weight (m,) or None; or with a group and a key."""

    columns: np.ndarray
    positive: np.ndarray
    weight: np.ndarray | None
    group: np.ndarray | None = None
    key: np.ndarray | None = None

    def labels_at(self, rows: np.ndarray) -> Iterator[Any]:
        return (None if held is None else held[rows] for held in self[1:])


class Drawn(NamedTuple):
    """Rows (m, d), and what a block says of each."""

    rows: np.ndarray
    positive: np.ndarray
    weight: np.ndarray | None
    group: Any = None
    key: Any = None


def added_up(columns: np.ndarray, offset: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the scores of columns (d, m), added up in the order in which the counts do it."""
    scores = np.zeros(columns.shape[1])
    for k in range(w.size):
        scores += (columns[k] - offset[k]) * w[k]
    return scores


def merged(first: Any, second: Any) -> Any:
    return first.merge(second)


class StreamedRows(Space):
    """Linear functions f(x) = w'(x - offset) of rows that are read a block at a time.

    Parameters
    ----------
    source : array, memory map, or any object with `shape` and row slices
        Numbers of any format, promoted to float64 block by block. All but an array in memory is
        compared, at each reading, with what it was at the first; nobody may change that array
        while it is computed with. An object is asked by one thread at a time.
    block : int, optional
        Rows per block; by default about 2^18 numbers.

    Raises
    ------
    InputError
        If the source is not a finite, non-empty matrix; the message names the row and column.
    """

    in_blocks = True

    def __init__(self, source: Any, block: int | None = None):
        shape = tuple(source.shape)
        if len(shape) != 2 or 0 in shape:
            raise InputError(f"the rows must form a non-empty matrix; the shape is {shape}")
        self.source = source
        self.n, self.dim = int(shape[0]), int(shape[1])
        self._rows = block or max(CHAIN, (1 << 18) // self.dim)
        slices = list(self.blocks())
        # 8: answers that `total` adds up, with any number of threads: so its bits agree
        self.parts = min(8, 1 + self.n * self.dim // STRETCH_NUMBERS, len(slices))
        cuts = [len(slices) * k // self.parts for k in range(self.parts + 1)]
        self._stretches = [slices[a:b] for a, b in itertools.pairwise(cuts)]
        held = isinstance(source, np.ndarray) and not on_disk(source)
        # Numbers that an answer may have: sums of each bin's rows save a second reading, which of
        # rows in memory is the quicker way.
        self.kept_numbers = 0 if held else self.n * self.dim // self.parts
        name = getattr(source, "filename", None) or "the source of the rows"
        self._fingerprints = None if held else Fingerprints(str(name))
        self.keeps = self.dim > FEW_COLUMNS  # scores for all rows: they are small next to wide rows
        self.labels: tuple[np.ndarray, np.ndarray | None] = np.zeros(0, dtype=bool), None
        self.sample: Drawn | None = None
        self.last_range: tuple[np.ndarray, np.ndarray] | None = None
        # The mean of rows from all over. Any offset is right; this one saves digits.
        some = int(np.clip(CHAIN * 8 // self.dim, 8, CHAIN))
        starts = np.unique(np.linspace(0, max(self.n - some, 0), 64).astype(int)).tolist()
        parts = [slice(at, min(at + some, self.n)) for at in starts]
        rows = np.concatenate([self.unchecked(part) for part in parts]).astype(float, copy=False)
        rows = np.where(np.isfinite(rows), rows, 0.0)
        self._some = rows, np.concatenate([np.arange(part.start, part.stop) for part in parts])
        with np.errstate(over="ignore"):  # `_checked_reach` says which value is too large
            self.offset = rows.mean(axis=0)
        self._lengths = np.empty(self.n if self.keeps else 0)
        self.reach = self._checked_reach()
        self._far = float(np.linalg.norm(self.offset)) * (1 + gamma(self.dim + 4))
        # Wide rows that lie around zero are multiplied as they are: a centred block is a copy.
        self._plain = self.keeps and self._far <= self.reach

    def blocks(self) -> Iterator[slice]:
        for start in range(0, self.n, self._rows):
            yield slice(start, min(start + self._rows, self.n))

    def block(self, rows: slice) -> np.ndarray:
        """Return raw rows, float64 or float32; refuse a block that changed."""
        block = self.unchecked(rows)
        return block if self._fingerprints is None else self._fingerprints.checked(rows, block)

    def unchecked(self, rows: slice) -> np.ndarray:
        """Return any rows without comparing them with what they were before; they prove nothing."""
        with nullcontext() if isinstance(self.source, np.ndarray) else _READING:
            values = self.source[rows]
        if type(values) is np.memmap:
            values = np.asarray(values)  # its slices are memory maps, which are slow to make
        if type(values) is np.ndarray and values.dtype in (np.float64, np.float32):
            return np.ascontiguousarray(values)
        name = f"X, from row {rows.start} on," if rows.start else "X"
        return np.ascontiguousarray(as_float64(values, name, "a matrix of numbers"))

    def labelled(self, pairs: Any) -> StreamedRows:
        other, (rows, index) = copy(self), self._some
        other.labels = pairs.positive, pairs.weight
        other.last_range, other.sample = None, Drawn(rows, pairs.positive[index], None)
        return other

    def total(self, work: Work, add: Callable[[Any, Any], Any] = merged) -> Any:
        """Return the sum of `work(blocks, k)` over stretches of blocks, for any threads."""
        parts, jobs = range(self.parts), workers(self.n * self.dim)
        sums = in_parts(lambda k: work(self._columns(self._stretches[k]), k), parts, jobs)
        return reduce(add, sums)

    def _columns(self, slices: list[slice]) -> Iterator[Block]:
        positive, weight = self.labels
        held = np.empty(self.dim * min(self._rows, self.n))  # for all blocks: new pages take time
        for rows in slices:
            raw = self.block(rows)
            columns = held[: raw.size].reshape(self.dim, -1)
            columns[...] = raw.T  # converts and turns at once
            yield Block(columns, positive[rows], None if weight is None else weight[rows])

    def scores(self, w: np.ndarray) -> np.ndarray:
        def work(rows: slice) -> np.ndarray:
            block, offset = self.block(rows), self.offset
            return block @ w - float(offset @ w) if self._plain else (block - offset) @ w

        return np.concatenate(in_threads(work, list(self.blocks()), self.n * self.dim))

    def pulled(self, c: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Return sum_i c_i (x_i - offset), a bound of its error, and sum |c_i| |x_i - offset|."""

        def work(rows: slice) -> Pull:
            block, own = self.block(rows), np.ascontiguousarray(c[rows])
            block, mass = block if self._plain else block - self.offset, np.abs(own)
            lengths = self._lengths[rows]
            if not self.keeps:
                lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
            # |c_i| times what enters the sum: the centred row, or the row and the offset.
            size, parts = float(mass @ lengths), chunk_sums(block, own, CHAIN)
            if self._plain:
                size += 2 * self._far * float(mass.sum())
                parts -= np.add.reduceat(own, np.arange(0, own.size, CHAIN))[:, None] * self.offset
            into = Pull.of(self.dim)
            into.add(parts, size, own.size)
            return into

        whole = reduce(merged, in_threads(work, list(self.blocks()), self.n * self.dim))
        return whole.value, whole.bound(), whole.size

    def pull(self, c: np.ndarray) -> np.ndarray:
        return self.pulled(c)[0]

    def score_slip(self, w: np.ndarray) -> float:
        """Return gamma_{d+4} of |x_i - offset| |w|, and of 2 |offset| |w| more if plain."""
        size = self.reach + (2 * self._far if self._plain else 0.0)
        return gamma(self.dim + 4) * size * float(np.linalg.norm(w)) * (1 + gamma(self.dim + 4))

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.scores(w), np.full(self.n, self.score_slip(w))

    def dual_norm2(self, c: np.ndarray) -> Bound:
        value, error, _ = self.pulled(c)
        return squared(float(value @ value), error, gamma(self.dim + 8))

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return the named rows (ascending), centred and dense: samples, which prove nothing."""
        out = np.empty((index.size, self.dim))
        for block in self.blocks():
            at, end = np.searchsorted(index, [block.start, block.stop])
            if at < end:
                held = isinstance(self.source, np.ndarray)  # of it only the rows named are read
                values = np.asarray(self.source[block]) if held else self.unchecked(block)
                out[at:end] = values[index[at:end] - block.start]
        out -= self.offset
        return out

    def _checked_reach(self) -> float:
        top, above = 0.0, 1 + gamma(self.dim + 8)
        for rows in self.blocks():
            block = self.block(rows)
            with np.errstate(over="ignore", invalid="ignore"):
                order = "C" if self.dim < 20 else "K"  # short rows are squared column by column
                columns = np.subtract(block.T, self.offset[:, None], order=order)
                squares = np.einsum("ki,ki->i", columns, columns)
            largest = float(squares.max())
            if not largest <= LARGEST_REACH**2:
                bad = np.argwhere(~np.isfinite(block))
                if not bad.size:
                    raise out_of_range(block, "so large that their squares overflow", rows.start)
                row, column = bad[0].tolist()
                raise InputError(
                    f"X has a value that is not finite in row {rows.start + row}, column {column} "
                    "(from 0): remove or impute it first"
                )
            top = max(top, float(np.sqrt(largest)) * above)
            if self.keeps:
                self._lengths[rows] = np.sqrt(squares) * above
        return check_reach(top, top == 0)
