"""What an evaluation on a dask cluster of this machine takes, and where."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from .process_tree import looked_at

STEPS = ("left_here", "messages_here", "answers_here", "run_here", "sums_here", "message_sums_here")
"""What workers do, by its name in `dask_work`."""


def watch_tasks() -> None:
    """Let this worker note the CPU seconds of each of our tasks; before it has done any."""
    from ....exact.spaces.partitions import dask_work as work

    spent: list[float] = []

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*words: Any) -> Any:
            start = time.thread_time()
            try:
                return function(*words)
            finally:
                spent.append(time.thread_time() - start)

        return run

    for name in STEPS:
        setattr(work, name, watched(getattr(work, name)))
    work.spent = spent  # type: ignore[attr-defined]


def taken() -> tuple[int, float]:
    """Return how many tasks this worker has done since it was asked last, and their seconds."""
    from ....exact.spaces.partitions import dask_work as work

    spent: list[float] = work.spent  # type: ignore[attr-defined]
    found = len(spent), sum(spent)
    spent.clear()
    return found


class Spent(NamedTuple):
    """CPU seconds of all processes, of this one (client and scheduler), of the tasks; the clock."""

    cpu: float
    here: float
    tasks: float
    count: int
    clock: float


def spent(client: Any, work: Callable[[], object]) -> Spent:
    """Return what `work` takes on a cluster whose workers are watched."""
    client.run(taken)
    before, here, clock = _cpu(), time.process_time(), time.perf_counter()
    work()
    cpu, here, clock = _cpu() - before, time.process_time() - here, time.perf_counter() - clock
    told = list(client.run(taken).values())
    return Spent(cpu, here, sum(one[1] for one in told), sum(one[0] for one in told), clock)


def _cpu() -> float:
    return sum(cpu for cpu, _ in looked_at().values())
