"""Ctrl-C in commands: past solvers, or answered with their best point, and past compiled code.

A solver answers an interrupt with its best point and that point's certificate. Where a result goes
on into something larger (a claim, a table) that would lose the interrupt: there it ends everything,
as `KeyboardInterrupt`. Only commands handle signals; a call of the library never does.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

AGAIN = 2.0  # seconds after which an interrupt that somebody swallowed is raised again
INSISTING = 3  # after this many interrupts, exit without waiting for clean-up


class Stopped(BaseException):
    """An interrupt that solvers do not know: they would answer it with their best point."""


@contextmanager
def stopped_at_once(to_the_exit: bool = False) -> Iterator[None]:
    """Within, an interrupt passes through solvers and ends as `KeyboardInterrupt`.

    Compiled code turns an interrupt into an error of its own, and a finaliser drops it: the
    interrupt is raised again until it is on its way out, and while it is, what cleans up is left in
    peace. A block inside another one ends as the outer one will. Without effect outside the main
    thread, and where somebody else handles interrupts, or ignores them. After `finish` no interrupt
    is heard until the end of the block, or with `to_the_exit` until the process ends.
    """
    in_main = threading.current_thread() is threading.main_thread()  # only it gets signals
    before = signal.getsignal(signal.SIGINT) if in_main else None
    outer = getattr(before, "__self__", None)
    if isinstance(outer, _Watch):
        with _inside(outer):
            yield
        return
    if before is not signal.default_int_handler:
        yield
        return
    watch = _Watch()
    try:
        signal.signal(signal.SIGINT, watch.heard)
        yield
    except BaseException:
        if watch.count:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, _unheard if watch.finished and to_the_exit else before)
        watch.close()
    if watch.count:
        raise KeyboardInterrupt


def finish() -> None:
    """Hear of no interrupt from here to the end of the command: its results go to their places.

    A status of 130 would say that they are not there. Without effect outside of
    `stopped_at_once`. An interrupt that came before ends the command now.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    watch = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
    if not isinstance(watch, _Watch):
        return
    if watch.count:
        raise Stopped  # somebody has swallowed it
    signal.signal(signal.SIGINT, _unheard)  # answers what has come, then lets nothing in
    watch.finished = True


def _unheard(number: int, frame: FrameType | None) -> None:
    """Do nothing; unlike `SIG_IGN`, which programs that are started would inherit."""


@contextmanager
def _inside(outer: _Watch) -> Iterator[None]:
    """Raise the interrupt after this block if the block around it has been interrupted."""
    try:
        yield
    except BaseException:
        if outer.count:
            raise Stopped from None
        raise
    if outer.count:
        raise Stopped


class _Watch:
    """The interrupts received so far, and a timer that raises them again."""

    def __init__(self) -> None:
        self.count = 0
        self.finished = False
        self._alarm: Any = None
        self._hook = sys.unraisablehook

    def heard(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        sys.unraisablehook = self._dropped
        if self.count == 1 and hasattr(signal, "setitimer"):
            self._alarm = signal.signal(signal.SIGALRM, self._again)
            signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
        if self.count >= INSISTING or not _on_its_way():
            raise Stopped

    def _again(self, number: int, frame: FrameType | None) -> None:
        if not _on_its_way():
            raise Stopped

    def _dropped(self, what: sys.UnraisableHookArgs) -> None:
        """Suppress the message about an interrupt that a finaliser dropped: it is raised again."""
        if not isinstance(what.exc_value, Stopped):
            self._hook(what)

    def close(self) -> None:
        sys.unraisablehook = self._hook
        if self._alarm is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._alarm)


def _on_its_way() -> bool:
    """Whether the code at hand cleans up after a `Stopped` that passes through it."""
    error = sys.exception()
    while error is not None:
        if isinstance(error, Stopped):
            return True
        error = error.__context__
    return False


@contextmanager
def best_point_kept() -> Iterator[None]:
    """Within a command, its first interrupt is one that solvers answer with their best point.

    A second one ends the command at once. Without effect outside of `stopped_at_once`.
    """
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if in_main else None
    if not isinstance(getattr(before, "__self__", None), _Watch):
        yield
        return

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def held_back() -> Iterator[None]:
    """Within, no interrupt comes; one that was asked for comes at the end.

    For a few quick steps of which either all or none must happen.
    """
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if in_main else None
    if not callable(before):
        yield
        return
    asked: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: asked.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if asked:
        signal.raise_signal(signal.SIGINT)


def is_interrupt(error: BaseException | None) -> bool:
    """Return whether an error is an interrupt, or what compiled code has made of one."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt | Stopped):
            return True
        error = error.__cause__ or error.__context__
    return False
