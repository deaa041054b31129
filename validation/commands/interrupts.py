"""Ctrl-C during a solve: the best point so far, with its proof, and not just an end."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ...exact.solution import Callback, Step

NOTICE = b"\naucert: stopping after this step, with the best point so far; again: stop at once\n"


@contextmanager
def stopped_between_steps(show: Callback) -> Iterator[Callback]:
    """Yield a callback that shows each step, and there passes on an interrupt that came before.

    Solvers keep their best point where an interrupt comes out of their callback. Anywhere else it
    may hit compiled code, which turns it into an error of its own, or the making of the
    certificate. So it waits for the next step, or for nothing if there is none; a second one does
    not wait, nor does one before the first step, when there is no point to keep.

    Parameters
    ----------
    show : callable
        Called with each `Step`.
    """
    waiting, steps = False, 0

    def asked(number: int, frame: FrameType | None) -> None:
        nonlocal waiting
        if waiting or not steps:
            raise KeyboardInterrupt
        waiting = True
        os.write(2, NOTICE)  # a stream may be in the middle of a write of its own

    def callback(step: Step) -> None:
        nonlocal steps
        steps += 1
        show(step)
        if waiting:
            raise KeyboardInterrupt

    in_main = threading.current_thread() is threading.main_thread()  # only it is told of signals
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield callback
        return
    before = signal.signal(signal.SIGINT, asked)
    try:
        yield callback
    finally:
        signal.signal(signal.SIGINT, before)
