"""Ctrl-C inside a finaliser: Python drops it there, and here it is sent once more."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

SOON = 0.02  # Seconds after which an interrupt that a finaliser dropped is sent again.

ENDED = 1.0  # Seconds within which the thread that sends it sees that its block has ended.


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
    hook = dropped.told
    try:
        sys.unraisablehook = hook
        dropped.start()
        yield
    finally:
        # Without a call, so that no interrupt comes in between.
        dropped.ended = True
        if sys.unraisablehook is hook:
            sys.unraisablehook = dropped.before
        dropped.close()


def _is_pythons() -> bool:
    """Whether an interrupt becomes a `KeyboardInterrupt` and nothing else."""
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


class _Dropped:
    """An interrupt that was dropped, and the thread that sends it again."""

    def __init__(self, before: Callable[[Any], object]) -> None:
        self.before, self.ended = before, False
        self._waits = self._telling = False
        self._news = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Begin to send; without memory for a thread interrupts wait for the end of the block."""
        with suppress(RuntimeError):
            self._thread.start()

    def told(self, what: sys.UnraisableHookArgs) -> None:
        """Hear of an error in a finaliser."""
        if not isinstance(what.exc_value, KeyboardInterrupt):
            self.before(what)
            return
        outer, self._telling = self._telling, True
        try:
            self._waits = True
            self._news.set()
        finally:
            self._telling = outer  # the last step: sent before it, an interrupt is dropped in here

    def _watch(self) -> None:
        while not self.ended:
            if not self._news.wait(ENDED):
                continue
            self._news.clear()
            if self.ended:
                return
            time.sleep(SOON)
            while self._telling:
                time.sleep(SOON)
            if self._waits and not self.ended:
                self._waits = False  # first: the one that is sent may be dropped again
                _send()

    def close(self) -> None:
        """Raise the interrupt that still waits: nothing comes after the end of the block."""
        self._news.set()
        if self._thread.ident is not None:
            self._thread.join()
        if self._waits:
            self._waits = False
            raise KeyboardInterrupt


def _send() -> None:
    if not _is_pythons():
        return
    # To the main thread, which may be waiting for a lock: a signal wakes it.
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)
