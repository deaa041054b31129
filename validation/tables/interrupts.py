"""Ctrl-C in the middle of a part: the part ends, and nothing of it is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class _Stopped(BaseException):
    """An interrupt that solvers do not know: they would answer it with their best point."""


@contextmanager
def stopped_at_once() -> Iterator[None]:
    """Within, an interrupt passes through solvers and ends as `KeyboardInterrupt`.

    A solver keeps its best point where an interrupt meets it, and compiled code turns one into an
    error of its own. A part that went on from there would be kept with numbers that another run
    does not give.
    """
    stopped = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        raise _Stopped

    in_main = threading.current_thread() is threading.main_thread()  # only it is told of signals
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    except BaseException:
        if stopped:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    if stopped:
        raise KeyboardInterrupt
