"""Who runs the work on the partitions: this process, several processes, or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...errors import InputError
from ...tools.checks import check_count
from .partition import Partition
from .work import Folded, Node, Reply, Task, joined, replied

ATTEMPTS = 3  # A pass over the partitions is tried so often where processes die.

STRETCHES = 8  # Each process is given about so many stretches of partitions in a pass.

# Sums by bin are kept up to so many numbers (32 MB); where they have more, rows are read twice.
KEPT_NUMBERS = 1 << 22


class Staged(Protocol):
    """A task in two steps: what it leaves behind where the partition lies answers the second."""

    def run(self, blocks: Any, index: int) -> Any:
        """Return what is left behind."""
        ...

    def merge(self, first: Any, second: Any) -> Any:
        """Return the sum of two of these."""
        ...

    def message(self, left: Any) -> Any:
        """Return the part that the first step tells."""
        ...

    def together(self) -> Any:
        """Return what adds up exactly what partitions leave behind; or None: each keeps its own.

        It has `take(left)`, after which `left` is of no use. What the second step answers to it
        has `nothing()`, the answer of no rows.
        """
        ...

    def merge_messages(self, first: Any, second: Any) -> Any:
        """Return the sum of two of these parts."""
        ...


class Engine(Protocol):
    """Runs a task on each partition and adds up the answers, in the order of the partitions."""

    @property
    def count(self) -> int:
        """The number of partitions."""
        ...

    @property
    def kept_numbers(self) -> int:
        """How many numbers a partition may leave behind between two steps."""
        ...

    @property
    def kept_together(self) -> int:
        """How many numbers a stretch of partitions may leave behind, where it keeps one sum."""
        ...

    def run(self, task: Task, key: np.ndarray) -> Reply[Any]:
        """Return the sum of the answers."""
        ...

    def staged(
        self, task: Staged, key: np.ndarray
    ) -> tuple[Reply[Any], Callable[[Any], Reply[Any]]]:
        """Return the sum of the messages, and what answers the second step."""
        ...


# Told how many partitions of a pass have been read, and how many there are.
Heard = Callable[[int, int], object]


@dataclass(eq=False)
class LocalEngine:
    """Partitions read by this process, or by several through joblib."""

    partitions: Sequence[Partition]
    jobs: int = 1
    heard: Heard | None = None

    def __post_init__(self) -> None:
        check_count("jobs", self.jobs)
        if not self.partitions:
            raise InputError("there are no partitions: at least one is needed")

    @property
    def count(self) -> int:
        """The number of partitions."""
        return len(self.partitions)

    @property
    def kept_numbers(self) -> int:
        """How many numbers a partition may leave behind between two steps."""
        return KEPT_NUMBERS

    kept_together = kept_numbers

    def run(self, task: Task, key: np.ndarray) -> Reply[Any]:
        """Return the sum of the answers."""
        jobs = min(self.jobs, self.count)
        if jobs == 1:
            folded = Folded(task, self.count)
            for k, partition in enumerate(self.partitions):
                folded.add(replied(task, partition, k, key), k)
                self._tell(k + 1)
            return folded.total()
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        for _ in range(ATTEMPTS):
            try:
                return self._in_processes(task, key, jobs)
            except TerminatedWorkerError:
                continue  # the next call starts new processes
        raise InputError(
            f"processes that read the partitions died {ATTEMPTS} times, most often for want of "
            "memory: use fewer of them, or smaller partitions"
        )

    def close(self) -> None:
        """Let go of what was made for this: nothing, processes end by themselves."""

    def _in_processes(self, task: Task, key: np.ndarray, jobs: int) -> Reply[Any]:
        from joblib import Parallel, delayed

        folded = Folded(task, self.count)
        run = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        step = stretch(self.count, STRETCHES * jobs)
        starts = range(0, self.count, step)
        parts = self.partitions
        calls = (
            delayed(added_up_here)(task, parts[k : k + step], k, self.count, key) for k in starts
        )
        done = 0
        for nodes in run(calls):
            done += sum(len(reply.digests) for reply in nodes.values())
            folded.add_all(nodes)
            self._tell(done)
        return folded.total()

    def _tell(self, done: int) -> None:
        if self.heard is not None:
            self.heard(done, self.count)

    def staged(
        self, task: Staged, key: np.ndarray
    ) -> tuple[Reply[Any], Callable[[Any], Reply[Any]]]:
        """Return the sum of the messages, and what answers the second step: from the sum, here."""
        whole = self.run(task, key)
        told = Reply(whole.digests, task.message(whole.answer))
        return told, lambda second: Reply(whole.digests, second.answer(whole.answer))


def stretch(count: int, pieces: int) -> int:
    """Return how many partitions go together: a power of two, so that they have one sum."""
    return 1 << max(0, (count // pieces).bit_length() - 1)


def added_up_here(
    task: Task, partitions: Sequence[Partition], first: int, count: int, key: np.ndarray
) -> dict[Node, Reply[Any]]:
    """Return the sums of some of `count` partitions, numbers `first` and on."""
    folded = Folded(task, count)
    for k, partition in enumerate(partitions, first):
        folded.add(replied(task, partition, k, key), k)
    return folded.nodes


__all__ = ["Engine", "LocalEngine", "Staged", "joined"]
