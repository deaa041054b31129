"""What is done with each partition, how the answers add up, and what catches a wrong one.

An answer carries the fingerprints of the partitions that it is about. Answers are added up in the
order of the partitions, sixteen neighbours at a time and then sixteen of their sums, so that the
result depends neither on who answered first nor on how many worked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ...errors import CertificateError
from .partition import Block, Partition, Unusable

FAN = 16
"""So many neighbours are added up at a time."""

STRETCH = 1024
"""Numbers to a fingerprint, as in `tools.fingerprints`."""

A = TypeVar("A")


class Task(Protocol):
    """Work on one partition after another; the object is small, and is sent to where they lie."""

    def run(self, blocks: Iterator[Block], index: int) -> Any:
        """Return the answer of partition number `index`."""
        ...

    def merge(self, first: Any, second: Any) -> Any:
        """Return the sum of two answers, the first about earlier rows. It may change both."""
        ...


@dataclass(eq=False)
class Reply(Generic[A]):
    """An answer, and the fingerprint of each partition that it is about, by its number."""

    digests: dict[int, bytes]
    answer: A


def new_key() -> np.ndarray:
    """Return a secret key for fingerprints, drawn at random."""
    import os

    return np.frombuffer(os.urandom(16 * STRETCH), dtype=np.uint64).reshape(2, STRETCH)


def replied(task: Task, partition: Partition, index: int, key: np.ndarray) -> Reply[Any]:
    """Run a task on one partition, and fingerprint what it reads."""
    digest = blake2b(digest_size=16)
    try:
        answer = task.run(_marked(partition.blocks(), key, digest), index)
    except Unusable as bad:
        partition.refuse(bad.row, bad.column, bad.value)
    return Reply({index: digest.digest()}, answer)


def _marked(blocks: Iterator[Block], key: np.ndarray, digest: Any) -> Iterator[Block]:
    from ...tools import fingerprints_compiled as loops

    for block in blocks:
        for numbers in (block.columns, block.weight):
            if numbers is None:
                continue
            found = np.empty((-(-numbers.size // STRETCH), 2), dtype=np.uint64)
            loops.fingerprint(numbers.reshape(-1).view(np.uint64), key, found)
            digest.update(np.array(numbers.shape).tobytes())
            digest.update(found.tobytes())
        digest.update(np.packbits(block.positive).tobytes())
        yield block


def joined(task: Task, first: Reply[Any], second: Reply[Any]) -> Reply[Any]:
    """Return the sum of two replies.

    Raises
    ------
    CertificateError
        If a partition is in both.
    """
    twice = first.digests.keys() & second.digests.keys()
    if twice:
        raise CertificateError(f"partition {min(twice)} was counted twice: please report this")
    answer = task.merge(first.answer, second.answer)
    return Reply(first.digests | second.digests, answer)


class Folded:
    """Replies added up in order, in a tree whose shape depends on their number alone."""

    def __init__(self, task: Task):
        self.task = task
        self._levels: list[tuple[int, Reply[Any]]] = []

    def add(self, reply: Reply[Any], level: int = 0) -> None:
        """Add the next reply."""
        if level == len(self._levels):
            self._levels.append((0, reply))
        count, held = self._levels[level]
        held = reply if count == 0 else joined(self.task, held, reply)
        self._levels[level] = (count + 1, held)
        if count + 1 == FAN:
            self._levels[level] = (0, held)
            self.add(held, level + 1)

    def total(self) -> Reply[Any]:
        """Return the sum of them all; there must be at least one."""
        rest: Reply[Any] | None = None
        for count, held in self._levels:
            if count:
                rest = held if rest is None else joined(self.task, held, rest)
        if rest is None:
            raise CertificateError("no partition has answered: please report this")
        return rest
