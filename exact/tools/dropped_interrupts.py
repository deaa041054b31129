"""Ctrl-C inside a finaliser: Python drops it there, and here it is sent once more."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

SOON = 0.02
"""Seconds after which an interrupt that a finaliser dropped is sent again."""


@contextmanager
def sent_again() -> Iterator[None]:
    """Within, an interrupt that comes while a finaliser runs comes again, at the end at the latest.

    Dask's futures have finalisers, and tasks by the hundred leave them behind: about one interrupt
    in a hundred was lost there. Without effect outside the main thread, which alone is told of
    signals, and where somebody else handles interrupts, or ignores them.
    """
    in_main = threading.current_thread() is threading.main_thread()
    inside = isinstance(getattr(sys.unraisablehook, "__self__", None), _Dropped)
    if inside or not in_main or not _is_pythons():
        yield
        return
    dropped = _Dropped(sys.unraisablehook)
    sys.unraisablehook = hook = dropped.told
    try:
        yield
    finally:
        if sys.unraisablehook == hook:
            sys.unraisablehook = dropped.before
        dropped.close()


def _is_pythons() -> bool:
    """Whether an interrupt becomes a `KeyboardInterrupt` and nothing else."""
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


class _Dropped:
    """The interrupt that was dropped last, until it is sent again."""

    def __init__(self, before: Callable[[Any], object]) -> None:
        self.before = before
        self._waits = False
        self._timer: threading.Timer | None = None

    def told(self, what: sys.UnraisableHookArgs) -> None:
        """Hear of an error in a finaliser; raised in here, an interrupt would be dropped, too."""
        if not isinstance(what.exc_value, KeyboardInterrupt):
            self.before(what)
        elif not self._waits:
            self._waits = True
            timer = threading.Timer(SOON, self._send)
            timer.daemon = True
            try:
                timer.start()
            except RuntimeError:  # no memory for a thread: it waits for the end of the block
                return
            self._timer = timer

    def _send(self) -> None:
        self._waits = False  # first: the one that is sent may be dropped again
        if not _is_pythons():
            return
        # To the main thread, which may be waiting for a lock: a signal wakes it.
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:
            signal.raise_signal(signal.SIGINT)

    def close(self) -> None:
        """Raise the interrupt that still waits: nothing comes after the end of the block."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        if self._waits:
            self._waits = False
            raise KeyboardInterrupt
