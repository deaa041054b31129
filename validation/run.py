"""One loop over pieces of work: in this process, or in several, which hear of no interrupt.

Every piece draws its random numbers from its own name and runs with one thread, so neither the
order nor the number of processes changes a number, only the seconds.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any, TypeVar

import joblib
from joblib.externals.loky.backend.resource_tracker import ensure_running

Result = TypeVar("Result")


def finished(
    work: Callable[..., Result], pieces: Iterable[tuple[Any, ...]], jobs: int
) -> Generator[Result, None, None]:
    """Yield what `work` makes of each piece, as it is done."""
    pieces = list(pieces)
    if jobs == 1 or len(pieces) < 2:
        yield from (work(*piece) for piece in pieces)
        return
    # By itself joblib hands out quick pieces in ever larger batches, and then as many long ones to
    # a single process.
    parallel = joblib.Parallel(
        n_jobs=jobs, backend="loky", return_as="generator_unordered", batch_size=1
    )
    with _unheard_by_workers():
        results: Any = parallel(joblib.delayed(work)(*piece) for piece in pieces)
    yield from results


@contextmanager
def _unheard_by_workers() -> Iterator[None]:
    """Let the processes that are started within hear of no interrupt: who started them ends them.

    They would each say so at length, some before they have begun.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # these let interrupts in again once they have started
    ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
