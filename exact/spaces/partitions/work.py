"""What is done with each partition, how the answers add up, and what catches a wrong one.

An answer carries the fingerprints of the partitions that it is about. Answers are added up in a
binary tree over the numbers of the partitions: two neighbours, then two of these sums, and so on.
Whoever holds two neighbours may add them. So the result depends neither on who answered first, nor
on how many worked, nor on where the partitions lie.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ...errors import CertificateError
from .partition import Block, Partition, Unusable

STRETCH = 1024  # Numbers to a fingerprint, as in `blocked.fingerprints`.

A = TypeVar("A")


class Task(Protocol):
    """Work on one partition after another; the object is small, and is sent to where they lie."""

    def run(self, blocks: Iterator[Block], index: int) -> Any:
        """Return the answer of partition number `index`."""
        ...

    def merge(self, first: Any, second: Any) -> Any:
        """Return the sum of two answers, the first about earlier rows. It may change both."""
        ...


class Merging:
    """What tasks share whose answers have `merge`; so have the messages of a first step."""

    def merge(self, first: Any, second: Any) -> Any:
        """Return what is about both."""
        return first.merge(second)

    def merge_messages(self, first: Any, second: Any) -> Any:
        """Return the message about both."""
        return first.merge(second)


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
    from ..blocked import fingerprints_compiled as loops

    for block in blocks:
        for numbers in (block.columns, block.weight):
            if numbers is None:
                continue
            found = np.empty((-(-numbers.size // STRETCH), 2), dtype=np.uint64)
            loops.fingerprint(numbers.reshape(-1).view(np.uint64), key, found)
            digest.update(np.array(numbers.shape).tobytes())
            digest.update(found.tobytes())
        digest.update(block.label_bytes())
        yield block


def joined(task: Task, first: Reply[Any], second: Reply[Any]) -> Reply[Any]:
    """Return the sum of two replies."""
    both = first.digests.keys() & second.digests.keys()
    if both:
        raise twice(min(both))
    answer = task.merge(first.answer, second.answer)
    return Reply(first.digests | second.digests, answer)


# (level, place): the sum of the 2^level partitions from place 2^level on, or of those left.
Node = tuple[int, int]


class Folded:
    """Replies added up in the binary tree over the numbers of all partitions."""

    def __init__(self, task: Task, count: int):
        self.task, self.count = task, count
        self.nodes: dict[Node, Reply[Any]] = {}

    def add(self, reply: Reply[Any], place: int, level: int = 0) -> None:
        """Add the reply of a partition, or a sum of several; neighbours are added up."""
        while (size := -(-self.count >> level)) > 1:
            beside = place ^ 1
            if beside < size:  # else it is the last, and goes up alone
                other = self.nodes.pop((level, beside), None)
                if other is None:
                    break
                first, second = (other, reply) if beside < place else (reply, other)
                reply = joined(self.task, first, second)
            level, place = level + 1, place >> 1
        if (level, place) in self.nodes:
            raise twice(min(reply.digests))
        self.nodes[level, place] = reply

    def add_all(self, nodes: dict[Node, Reply[Any]]) -> None:
        """Add what others have added up."""
        for (level, place), reply in nodes.items():
            self.add(reply, place, level)

    def total(self) -> Reply[Any]:
        """Return the sum of them all."""
        found: set[int] = set()
        for reply in self.nodes.values():
            again = found & reply.digests.keys()
            if again:
                raise twice(min(again))
            found |= reply.digests.keys()
        missing = set(range(self.count)) - found
        if missing or len(self.nodes) != 1:
            raise CertificateError(
                f"partition {min(missing, default=0)} has not answered: please report this"
            )
        return next(iter(self.nodes.values()))


def twice(index: int) -> CertificateError:
    """Return the error for a partition that has answered twice."""
    return CertificateError(f"partition {index} was counted twice: please report this")
