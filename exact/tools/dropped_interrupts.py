"""Ctrl-C inside a finaliser: Python drops it there, and here it is sent once more."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SOON = 0.02
"""Seconds after which an interrupt that a finaliser dropped is sent again."""


@contextmanager
def sent_again() -> Iterator[None]:
    """Within, an interrupt that comes while a finaliser runs comes again a moment later.

    Dask's futures have finalisers, and tasks by the hundred leave them behind: about one interrupt
    in a hundred was lost there. Without effect outside the main thread, which alone is told of
    signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = sys.unraisablehook
    again: threading.Timer | None = None

    def dropped(what: sys.UnraisableHookArgs) -> None:
        nonlocal again
        if not isinstance(what.exc_value, KeyboardInterrupt):
            before(what)
        elif again is None or not again.is_alive():
            again = threading.Timer(SOON, _send)  # raised in here it would be dropped, too
            again.daemon = True
            again.start()

    sys.unraisablehook = dropped
    try:
        yield
    finally:
        if sys.unraisablehook is dropped:
            sys.unraisablehook = before


def _send() -> None:
    # To the main thread, which may be waiting for a lock: a signal wakes it.
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)
