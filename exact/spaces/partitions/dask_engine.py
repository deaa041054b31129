"""Partitions on a dask cluster: the work goes to them, and sums come back."""

from __future__ import annotations

import copy
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from distributed import Client, Future, KilledWorker, progress
from distributed.comm import CommClosedError

from ...errors import InputError
from ...tools.lossless import as_float64
from .engine import KEPT_NUMBERS, Staged
from .partition import ArrayPartition
from .work import FAN, Reply, Task, joined, replied

KEPT_A_WORKER = 1 << 24
"""Numbers that the first step of all partitions of a worker may leave behind (128 MB)."""

LOST = frozenset({"ClosedClientError", "FutureCancelledError", "FuturesCancelledError"})
"""Names of dask's errors that say the same as a lost connection; not all versions have them."""

ASKED_EVERY = 5.0
"""Seconds after which a cluster that has not answered is asked whether it has workers."""

NO_WORKERS = 60.0
"""Seconds without any worker after which a cluster is given up."""

R = TypeVar("R")


class DaskEngine:
    """Partitions that a cluster holds.

    Parameters
    ----------
    client : distributed.Client
    parts : sequence of Future
        Of (rows, positive, weight or None) each.
    close : callable, optional
        Called by `close`: ends a cluster that was made for this.
    """

    def __init__(
        self, client: Client, parts: Sequence[Future], close: Callable[[], object] | None = None
    ):
        self.client, self._parts, self._close = client, list(parts), close
        self._key: Future | None = None

    @property
    def count(self) -> int:
        """The number of partitions."""
        return len(self._parts)

    @property
    def kept_numbers(self) -> int:
        """How many numbers a partition may leave behind between two steps."""
        return min(KEPT_NUMBERS, KEPT_A_WORKER * max(1, self._workers()) // self.count)

    def close(self) -> None:
        """Let the partitions go."""
        self._parts, self._key = [], None
        if self._close is not None:
            self._close()

    def run(self, task: Task, key: np.ndarray) -> Reply[Any]:
        """Return the sum of the answers.

        Raises
        ------
        InputError
            If the scheduler is lost, or workers die again and again.
        """
        with one_sentence():
            name = _named(task)
            there = self._there(task, key)
            replies = self._each(name, _replied, there, self._parts)
            return self._heard(self._folded(name, there, replies, _join_replies))

    def staged(
        self, task: Staged, key: np.ndarray
    ) -> tuple[Reply[Any], Callable[[Any], Reply[Any]]]:
        """Return the sum of the messages, and what answers the second step."""
        with one_sentence():
            name = _named(task)
            there = self._there(task, key)
            left = self._each(name, _replied, there, self._parts)
            told = self._each(f"{name}-message", _told, there, left)
            message = self._heard(self._folded(name, there, told, _join_messages))

        def second(then: Any) -> Reply[Any]:
            with one_sentence():
                after = _named(then)
                sent = self._there(then, key)
                answers = self._each(after, _answered, sent, left)
                return self._heard(self._folded(after, sent, answers, _join_replies))

        return message, second

    def _there(self, task: Any, key: np.ndarray) -> Future:
        """Return the task where workers find it; the scheduler can make it again if one dies."""
        if self._key is None:
            self._key = self.client.submit(_same, key, key=_fresh("aucert-key"))
        return self.client.submit(_with_key, task, self._key, key=_fresh("aucert-task"))

    def _each(
        self, name: str, work: Callable[..., Any], there: Future, parts: Sequence[Future]
    ) -> list[Future]:
        stamp = uuid.uuid4().hex
        return [
            self.client.submit(work, there, part, k, key=(f"{name}-{stamp}", k))
            for k, part in enumerate(parts)
        ]

    def _folded(
        self, name: str, there: Future, replies: list[Future], join: Callable[..., Any]
    ) -> tuple[Future, list[Future]]:
        """Return the sum of the replies, in the tree of `work.Folded`, and the replies."""
        level = replies
        while len(level) > 1:
            stamp = uuid.uuid4().hex
            groups = [level[k : k + FAN] for k in range(0, len(level), FAN)]
            level = [
                group[0]
                if len(group) == 1
                else self.client.submit(join, there, *group, key=(f"{name}-sum-{stamp}", k))
                for k, group in enumerate(groups)
            ]
        return level[0], replies

    def _heard(self, asked: tuple[Future, list[Future]]) -> Reply[Any]:
        """Return a result; errors of the cluster become one sentence."""
        whole, replies = asked
        try:
            if sys.stderr.isatty():
                progress(replies, notebook=False)
            return self._waited_for(whole)
        except KeyboardInterrupt:
            self.client.cancel([whole, *replies], force=True)
            raise

    def _waited_for(self, whole: Future) -> Any:
        """Return a result; a cluster whose workers are all gone is not waited for."""
        last = time.monotonic()
        while True:
            try:
                return whole.result(timeout=ASKED_EVERY)
            except TimeoutError:
                if whole.done():  # in this very moment, or a task has raised it
                    return whole.result()
            if self._workers():
                last = time.monotonic()
            elif time.monotonic() - last > NO_WORKERS:
                raise InputError(
                    f"the dask cluster has had no workers for {NO_WORKERS:g} seconds: nothing is "
                    "proved, start again when there are some"
                )

    def _workers(self) -> int:
        return len(self.client.scheduler_info(n_workers=-1).get("workers", ()))


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn an error of the cluster into one sentence; let others pass."""
    try:
        yield
    except InputError:
        raise
    except KilledWorker:
        raise InputError(
            "workers of the dask cluster died again and again at the same partition, most often "
            "for want of memory: use smaller partitions, or workers with more memory"
        ) from None
    except (Exception, CancelledError) as error:
        lost = isinstance(error, CancelledError | CommClosedError | OSError | TimeoutError)
        if not (lost or type(error).__name__ in LOST):
            raise
        raise InputError(
            "the dask cluster was lost before its workers had answered: nothing is proved, start "
            "again when it is there"
        ) from None


def _named(task: Any) -> str:
    """Return what dask's dashboard calls a task."""
    return f"aucert-{type(task).__name__.removesuffix('Task').lower()}"


def _fresh(name: str) -> str:
    return f"{name}-{uuid.uuid4().hex}"


def _same(value: R) -> R:
    return value


def _with_key(task: Any, key: np.ndarray) -> tuple[Any, np.ndarray]:
    return task, key


def _replied(there: tuple[Task, np.ndarray], part: tuple[Any, ...], index: int) -> Reply[Any]:
    task, key = there
    X, positive, weight = part
    held = FramePartition(X, positive, weight, f"partition {index}")
    return replied(task, held, index, key)


def _told(there: tuple[Staged, np.ndarray], left: Reply[Any], index: int) -> Reply[Any]:
    return Reply(left.digests, there[0].message(left.answer))


def _answered(there: tuple[Any, np.ndarray], left: Reply[Any], index: int) -> Reply[Any]:
    return Reply(left.digests, there[0].answer(left.answer))


def _join_replies(there: tuple[Task, np.ndarray], *replies: Reply[Any]) -> Reply[Any]:
    """Return the sum of neighbours; what a worker holds is never changed."""
    whole = copy.deepcopy(replies[0])
    for reply in replies[1:]:
        whole = joined(there[0], whole, reply)
    return whole


class _Messages:
    """A task whose answers are the messages of another one's first step."""

    def __init__(self, task: Staged):
        self.run, self.merge = task.run, task.merge_messages


def _join_messages(there: tuple[Staged, np.ndarray], *replies: Reply[Any]) -> Reply[Any]:
    return _join_replies((_Messages(there[0]), there[1]), *replies)


class FramePartition(ArrayPartition):
    """Rows of an array or a frame in a worker's memory."""

    def rows(self, rows: slice) -> np.ndarray:
        """Return some rows as numbers."""
        table: Any = self.X
        held = table.iloc[rows] if hasattr(table, "iloc") else table[rows]
        return as_float64(held, f"{self.name}, from row {rows.start} on,", "a matrix of numbers")


__all__ = ["DaskEngine", "FramePartition", "one_sentence"]
