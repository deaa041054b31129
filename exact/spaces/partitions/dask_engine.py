"""Partitions on a dask cluster: the work goes to them, and sums come back."""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from distributed import Client, Future, wait

from ...errors import InputError
from . import dask_work as work
from .dask_bar import shown
from .dask_errors import one_sentence, threads_of
from .engine import KEPT_NUMBERS, Staged
from .work import Reply, Task

# Numbers that the first step of all partitions of a worker may leave behind (256 MB).
KEPT_A_WORKER = 1 << 25

# Tasks of a pass for each thread of the workers, at most; dask's bar shows how many are done.
STRETCHES = 4

# Numbers of the rows for which a task more pays: some tenth of a second of work.
STRETCH_NUMBERS = 1 << 25

TASKS = 64  # About so many tasks are enough for a pass, and more threads get one each.

FAN = 8  # Sums of so many tasks are added up by one more task.

# Seconds after which a cluster that has not answered is asked whether it has workers.
ASKED_EVERY = 5.0

NO_WORKERS = 60.0  # Seconds without any worker after which a cluster is given up.


# What a first step left behind, and at which worker. Dask would move it: it takes it for small.
Left = tuple[Future, str | None]


class DaskEngine:
    """Partitions that a cluster holds."""

    def __init__(
        self, client: Client, parts: Sequence[Future], close: Callable[[], object] | None = None
    ):
        self.client, self._parts, self._close = client, list(parts), close
        self._key: Future | None = None
        self.told = ""
        self.numbers: int | None = None

    @property
    def count(self) -> int:
        """The number of partitions."""
        return len(self._parts)

    @property
    def kept_numbers(self) -> int:
        """How many numbers a partition may leave behind between two steps."""
        return min(KEPT_NUMBERS, KEPT_A_WORKER * max(1, self._workers()) // self.count)

    @property
    def kept_together(self) -> int:
        """How many numbers a stretch may leave behind, where it keeps one sum."""
        threads = max(threads_of(self.client).values(), default=1)
        return min(KEPT_NUMBERS, KEPT_A_WORKER // (STRETCHES * threads))

    def close(self) -> None:
        """Let the partitions go."""
        self._parts, self._key = [], None
        if self._close is not None:
            self._close()

    def run(self, task: Task, key: np.ndarray) -> Reply[Any]:
        """Return the sum of the answers."""
        with one_sentence():
            there, name = self._there(task, key), _named(task)
            asked = [
                self._submit(
                    *(name, work.run_here, there, self.count, places, *self._at(places)),
                    address=address,
                )
                for places, address in self._stretches()
            ]
            return self._heard(name, there, task, asked, work.sums_here)

    def staged(
        self, task: Staged, key: np.ndarray
    ) -> tuple[Reply[Any], Callable[[Any], Reply[Any]]]:
        """Return the sum of the messages, and what answers the second step."""
        with one_sentence():
            there, name = self._there(task, key), _named(task)
            left: list[Left] = []
            for places, address in self._stretches():
                words = there, self.count, places, *self._at(places)
                left.append((self._submit(name, work.left_here, *words, address=address), address))
            told = [
                self._submit(f"{name}-message", work.messages_here, held, address=address)
                for held, address in left
            ]
            of_messages: Any = work.Messages(task)
            message = self._heard(name, there, of_messages, told, work.message_sums_here)

        def second(then: Any) -> Reply[Any]:
            with one_sentence():
                sent, after = self._there(then, key), _named(then)
                answers = [
                    self._submit(after, work.answers_here, sent, held, address=address)
                    for held, address in left
                ]
                return self._heard(after, sent, then, answers, work.sums_here)

        return message, second

    def telling(self, callback: Callable[[Any], object] | None) -> Callable[[Any], None]:
        """Return a callback of a solver that tells the cluster each step, and then `callback`.

        The step and its gap stand beside dask's bar from then on. They are events of dask, too,
        under the name "aucert": `client.subscribe_topic("aucert", print)` shows them.
        """

        def told(step: Any) -> None:
            self.told = f"step {step.n_iter}, gap {step.gap:.1e}"
            with one_sentence():
                self.client.log_event(
                    "aucert", {"step": step.n_iter, "primal": step.primal, "dual": step.dual}
                )
            if callback is not None:
                callback(step)

        return told

    def _there(self, task: Any, key: np.ndarray) -> Future:
        """Return the task where workers find it; the scheduler can make it again if one dies."""
        if self._key is None:
            self._key = self._submit("aucert-key", work.same, key)
        return self._submit("aucert-task", work.with_key, task, self._key)

    def _submit(
        self, name: str, function: Callable[..., Any], *words: Any, address: str | None = None
    ) -> Future:
        """Submit a task, to the worker at `address` as long as there is one."""
        key = f"{name}-{uuid.uuid4().hex}"
        if address is None:
            return self.client.submit(function, *words, key=key)
        return self.client.submit(
            function, *words, key=key, workers=[address], allow_other_workers=True
        )

    def _at(self, places: Sequence[int]) -> list[Future]:
        return [self._parts[k] for k in places]

    def _stretches(self) -> list[work.Stretch]:
        """Return which partitions go together: those that one worker holds."""
        threads = threads_of(self.client)
        who: Any = self.client.who_has(self._parts)  # dask's own types fit no use of it
        holders = {k: min(who[part.key]) for k, part in enumerate(self._parts) if who.get(part.key)}
        many = max(1, sum(threads.values()))
        each = max(1, min(STRETCHES, TASKS // many))
        if self.numbers is not None:
            each = min(each, 1 + self.numbers // (many * STRETCH_NUMBERS))
        return work.stretches(self.count, holders, threads, each)

    def _heard(
        self, name: str, there: Future, task: Task, asked: list[Future], add: Callable[..., Any]
    ) -> Reply[Any]:
        """Return the sum of what was asked; errors of the cluster become one sentence."""
        last = asked
        while len(last) > FAN:
            last = [
                self._submit(f"{name}-sum", add, there, self.count, *last[k : k + FAN])
                for k in range(0, len(last), FAN)
            ]
        try:
            if sys.stderr.isatty():
                shown(asked, self.told)
            self._wait_for(last)
            found: Any = self.client.gather(last)
        except KeyboardInterrupt:
            self.client.cancel([*last, *asked], force=True)
            raise
        return work.folded_copies(task, self.count, work.raised(found)).total()

    def _wait_for(self, futures: list[Future]) -> None:
        """Wait for results; a cluster whose workers are all gone is not waited for."""
        last = time.monotonic()
        while True:
            try:
                wait(futures, timeout=ASKED_EVERY)
                return
            except TimeoutError:
                pass
            if self._workers():
                last = time.monotonic()
            elif time.monotonic() - last > NO_WORKERS:
                raise InputError(
                    f"the dask cluster has had no workers for {NO_WORKERS:g} seconds: nothing is "
                    "proved, start again when there are some"
                )

    def _workers(self) -> int:
        return len(threads_of(self.client))


def _named(task: Any) -> str:
    """Return what dask's dashboard calls a task."""
    return f"aucert-{type(task).__name__.removesuffix('Task').lower()}"


__all__ = ["DaskEngine"]
