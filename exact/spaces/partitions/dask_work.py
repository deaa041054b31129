"""What the workers of a dask cluster do: one task for a stretch of partitions, and their sums.

A stretch is worked off by one task, which returns the nodes of the tree of sums that its partitions
fill (`work.Folded`). Any tasks may add up nodes; so it does not matter which stretches there are.
What a worker holds is never changed: sums are made in copies.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...tools.lossless import as_float64
from .engine import Staged
from .partition import ArrayPartition
from .work import Folded, Node, Reply, Task, replied

There = tuple[Any, np.ndarray]
"""A task and the key of the fingerprints, where the workers find them."""

Nodes = dict[Node, Reply[Any]]

R = TypeVar("R")


def same(value: R) -> R:
    """Return the value: dask then holds it as a result, which it can make again."""
    return value


def with_key(task: Any, key: np.ndarray) -> There:
    """Return both."""
    return task, key


def run_here(there: There, count: int, places: Sequence[int], *parts: tuple[Any, ...]) -> Nodes:
    """Return the sums of a task's answers on some of `count` partitions."""
    task, key = there
    folded = Folded(task, count)
    for place, part in zip(places, parts, strict=True):
        folded.add(replied(task, held(part, place), place, key), place)
    return folded.nodes


def left_here(there: There, places: Sequence[int], *parts: tuple[Any, ...]) -> list[Reply[Any]]:
    """Return what the first step of a task leaves behind, for each partition."""
    task, key = there
    return [
        replied(task, held(part, place), place, key)
        for place, part in zip(places, parts, strict=True)
    ]


def messages_here(
    there: tuple[Staged, np.ndarray], count: int, places: Sequence[int], left: list[Reply[Any]]
) -> Nodes:
    """Return the sums of the messages of what was left behind."""
    task, _ = there
    folded = Folded(Messages(task), count)
    for place, reply in zip(places, left, strict=True):
        folded.add(copy.deepcopy(Reply(reply.digests, task.message(reply.answer))), place)
    return folded.nodes


def answers_here(there: There, count: int, places: Sequence[int], left: list[Reply[Any]]) -> Nodes:
    """Return the sums of the answers of the second step, from what the first one left behind."""
    second, _ = there
    folded = Folded(second, count)
    for place, reply in zip(places, left, strict=True):
        folded.add(Reply(reply.digests, second.answer(reply.answer)), place)
    return folded.nodes


def sums_here(there: There, count: int, *some: Nodes) -> Nodes:
    """Return the sums of nodes that others have made."""
    return folded_copies(there[0], count, some).nodes


def message_sums_here(there: tuple[Staged, np.ndarray], count: int, *some: Nodes) -> Nodes:
    """Return the sums of messages that others have summed."""
    return folded_copies(Messages(there[0]), count, some).nodes


def folded_copies(task: Task, count: int, some: Sequence[Nodes]) -> Folded:
    """Return sums that share no memory with what they are made from."""
    folded = Folded(task, count)
    for nodes in some:
        folded.add_all(nodes if len(some) == 1 else copy.deepcopy(nodes))
    return folded


class Messages:
    """A task whose answers are the messages of another one's first step."""

    def __init__(self, task: Staged):
        self.run, self.merge = task.run, task.merge_messages


class FramePartition(ArrayPartition):
    """Rows of an array or a frame in a worker's memory."""

    def rows(self, rows: slice) -> np.ndarray:
        """Return some rows as numbers."""
        table: Any = self.X
        if isinstance(table, np.ndarray):
            return super().rows(rows)
        held = table.iloc[rows] if hasattr(table, "iloc") else table[rows]
        return as_float64(held, f"{self.name}, from row {rows.start} on,", "a matrix of numbers")


def held(part: tuple[Any, ...], place: int) -> FramePartition:
    """Return the partition of (rows, positive, weight or None)."""
    X, positive, weight = part
    return FramePartition(X, positive, weight, f"partition {place}")


class Stretch(NamedTuple):
    """Numbers of partitions, in order, and the address of the worker that holds them, if any."""

    places: list[int]
    address: str | None


def stretches(
    count: int, holders: Mapping[int, str], threads: Mapping[str, int], each: int
) -> list[Stretch]:
    """Cut the partitions into stretches, each in the memory of one worker.

    Parameters
    ----------
    count : int
        The number of partitions.
    holders : mapping
        The address of the worker that holds a partition. One that nobody holds is a stretch of its
        own: it goes where dask makes it.
    threads : mapping
        Of each worker.
    each : int
        Stretches for each thread, at most.
    """
    found = [Stretch([k], None) for k in range(count) if k not in holders]
    of: dict[str, list[int]] = {}
    for k, address in sorted(holders.items()):
        of.setdefault(address, []).append(k)
    for address, places in of.items():
        pieces = min(len(places), each * max(1, threads.get(address, 1)))
        cuts = [len(places) * k // pieces for k in range(pieces + 1)]
        found += [Stretch(places[a:b], address) for a, b in pairwise(cuts)]
    return sorted(found, key=lambda stretch: stretch.places)
