"""What the workers of a dask cluster do: one task for a stretch of partitions, and their sums.

A stretch is worked off by one task, which returns the nodes of the tree of sums that its partitions
fill (`work.Folded`). Any tasks may add up nodes; so it does not matter which stretches there are.
What a worker holds is never changed: sums are made in copies.

A refusal that is expected is returned, not raised: a worker would write a traceback into its log.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from ...errors import CertificateError, InputError
from ...tools.lossless import as_float64
from .engine import Staged
from .grouped.blocks import GroupedPartition
from .left import Left, Messages, Nodes
from .partition import ArrayPartition, Partition
from .work import Folded, Task, replied

# A task and the key of the fingerprints, where the workers find them.
There = tuple[Any, np.ndarray]

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Refusal:
    """An error that says in one sentence what cannot be done: a result like any other."""

    error: InputError | CertificateError


def told(function: Callable[P, R]) -> Callable[P, R]:
    """Let a worker's function return refusals, its own and those that it is given."""

    @functools.wraps(function)
    def run(*words: P.args, **more: P.kwargs) -> Any:
        for word in words:
            if isinstance(word, Refusal):
                return word
        try:
            return function(*words, **more)
        except (InputError, CertificateError) as error:
            return Refusal(error)

    return run


def raised(found: list[R]) -> list[R]:
    """Return what was found, or raise the first refusal in it."""
    for one in found:
        if isinstance(one, Refusal):
            raise one.error from None
    return found


def same(value: R) -> R:
    """Return the value: dask then holds it as a result, which it can make again."""
    return value


def with_key(task: Any, key: np.ndarray) -> There:
    """Return both."""
    return task, key


@told
def run_here(there: There, count: int, places: Sequence[int], *parts: tuple[Any, ...]) -> Nodes:
    """Return the sums of a task's answers on some of `count` partitions."""
    task, key = there
    folded = Folded(task, count)
    for place, part in zip(places, parts, strict=True):
        folded.add(replied(task, held(part, place), place, key), place)
    return folded.nodes


@told
def left_here(there: There, count: int, places: Sequence[int], *parts: tuple[Any, ...]) -> Left:
    """Return what the first step of a task leaves behind."""
    task, key = there
    left = Left(task, count)
    for place, part in zip(places, parts, strict=True):
        left.add(replied(task, held(part, place), place, key), place)
    return left


@told
def messages_here(left: Left) -> Nodes:
    """Return the sums of the messages of what was left behind."""
    return left.messages()


@told
def answers_here(there: There, left: Left) -> Nodes:
    """Return the sums of the answers of the second step, from what the first one left behind."""
    return left.answers(there[0])


@told
def sums_here(there: There, count: int, *some: Nodes) -> Nodes:
    """Return the sums of nodes that others have made."""
    return folded_copies(there[0], count, some).nodes


@told
def message_sums_here(there: tuple[Staged, np.ndarray], count: int, *some: Nodes) -> Nodes:
    """Return the sums of messages that others have summed."""
    return folded_copies(Messages(there[0]), count, some).nodes


def folded_copies(task: Task, count: int, some: Sequence[Nodes]) -> Folded:
    """Return sums that share no memory with what they are made from."""
    folded = Folded(task, count)
    for nodes in some:
        folded.add_all(nodes if len(some) == 1 else copy.deepcopy(nodes))
    return folded


class FramePartition(ArrayPartition):
    """Rows of an array or a frame in a worker's memory."""

    def rows(self, rows: slice) -> np.ndarray:
        """Return some rows as numbers."""
        table: Any = self.X
        if isinstance(table, np.ndarray):
            return super().rows(rows)
        if not hasattr(table, "iloc"):
            return as_float64(table[rows], self._from(rows), "a matrix of numbers")
        held = table.iloc[rows]
        try:
            return as_float64(held, self._from(rows), "a matrix of numbers")
        except InputError:
            for name in held.columns:  # the one that is to blame is named
                as_float64(held[name], f"column {name!r} of {self._from(rows)}")
            raise

    def _from(self, rows: slice) -> str:
        return f"{self.name}, from row {rows.start} on,"


def held(part: tuple[Any, ...], place: int) -> Partition:
    """Return the partition of (rows, positive, weight or None), or with groups after these."""
    X, positive, weight, *groups = part
    rows = FramePartition(X, positive, weight, f"partition {place}")
    return GroupedPartition(rows, groups[0], positive.astype(float)) if groups else rows


class Stretch(NamedTuple):
    """Numbers of partitions, in order, and the address of the worker that holds them, if any."""

    places: list[int]
    address: str | None


def stretches(
    count: int, holders: Mapping[int, str], threads: Mapping[str, int], each: int
) -> list[Stretch]:
    """Cut the partitions into stretches, each in the memory of one worker."""
    found = [Stretch([k], None) for k in range(count) if k not in holders]
    of: dict[str, list[int]] = {}
    for k, address in sorted(holders.items()):
        of.setdefault(address, []).append(k)
    for address, places in of.items():
        pieces = min(len(places), each * max(1, threads.get(address, 1)))
        cuts = [len(places) * k // pieces for k in range(pieces + 1)]
        found += [Stretch(places[a:b], address) for a, b in pairwise(cuts)]
    return sorted(found, key=lambda stretch: stretch.places)
