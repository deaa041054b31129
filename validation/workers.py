"""Processes that hear of no interrupt: who started them ends them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

from joblib.externals.loky.backend.resource_tracker import ensure_running


@contextmanager
def unheard_by_workers() -> Iterator[None]:
    """Let joblib's processes that are started within hear of no interrupt from the terminal.

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
