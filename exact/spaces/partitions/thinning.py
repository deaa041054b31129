"""Rows that come to this process: evenly spread ones of each class, or all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .partition import Block


class Drawn(NamedTuple):
    """Rows (m, d), their classes and weights."""

    rows: np.ndarray
    positive: np.ndarray
    weight: np.ndarray | None


def marks(seen: int, more: int, share: float) -> np.ndarray:
    """Return which of a class's next `more` rows are taken: number k if k = floor(m / share).

    `seen` rows came before.
    """
    first, last = int(np.ceil(seen * share)), int(np.ceil((seen + more) * share)) + 1
    at = (np.arange(first, last) / share).astype(np.int64) - seen
    return at[(at >= 0) & (at < more) & (np.diff(at, prepend=-1) > 0)]


@dataclass(frozen=True, eq=False)
class _TakingTask(ABC):
    """Takes rows by their numbers within their class."""

    before: dict[int, tuple[int, int]]

    @abstractmethod
    def taken(self, side: int, seen: int, more: int) -> np.ndarray:
        """Return which of a class's next `more` rows are taken; `seen` rows came before."""

    def run(self, blocks: Iterator[Block], index: int) -> list[Drawn]:
        """Return the rows of one partition that are taken."""
        seen, found = list(self.before[index]), []
        for columns, positive, weight in blocks:
            places = []
            for side in (0, 1):
                own = np.flatnonzero(positive == bool(side))
                places.append(own[self.taken(side, seen[side], own.size)])
                seen[side] += own.size
            at = np.sort(np.concatenate(places))
            if at.size:
                rows = _small(np.ascontiguousarray(columns[:, at].T))
                found.append(Drawn(rows, positive[at], None if weight is None else weight[at]))
        return found

    def merge(self, first: list[Drawn], second: list[Drawn]) -> list[Drawn]:
        """Return both."""
        return first + second


@dataclass(frozen=True, eq=False)
class ThinningTask(_TakingTask):
    """Takes the same evenly spread rows however they are cut."""

    shares: tuple[float, float]

    def taken(self, side: int, seen: int, more: int) -> np.ndarray:
        """Return which rows are taken."""
        return marks(seen, more, self.shares[side])


@dataclass(frozen=True, eq=False)
class NamedTask(_TakingTask):
    """Takes the rows that are named."""

    wanted: tuple[np.ndarray, np.ndarray]

    def taken(self, side: int, seen: int, more: int) -> np.ndarray:
        """Return which rows are named."""
        numbers = self.wanted[side]
        first, last = np.searchsorted(numbers, [seen, seen + more])
        return numbers[first:last] - seen


def _small(rows: np.ndarray) -> np.ndarray:
    """Return rows as float32 where that holds them: they are sent, and a worker keeps them."""
    with np.errstate(over="ignore"):
        small = rows.astype(np.float32)
    return small if np.array_equal(small, rows) else rows


def assembled(parts: list[Drawn]) -> Drawn:
    """Return rows from several partitions as one set."""
    weights = [part.weight for part in parts if part.weight is not None]
    return Drawn(
        np.concatenate([part.rows for part in parts], dtype=float),
        np.concatenate([part.positive for part in parts]),
        np.concatenate(weights) if weights else None,
    )
