"""Ctrl-C inside finalisers, where Python drops it."""

from __future__ import annotations

import signal
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

from aucert.exact import certify, cross_validated_path, regularization_path, solve
from aucert.exact.certificate.solution import Status
from aucert.exact.formulation.partitioned import dask_too
from aucert.exact.spaces.partitions import PartitionedRows, cut
from aucert.exact.tools import dropped_interrupts as module
from aucert.exact.tools.dropped_interrupts import sent_again
from loops import each


class Interrupted:
    """As dask's futures, whose finalisers run code of Python."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def drop(*_: object) -> None:
    """Let an interrupt fall into a finaliser, and wait for it to come again."""
    Interrupted()
    time.sleep(5)


def partitions() -> PartitionedRows:
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.3
    return PartitionedRows(cut(rng.normal(size=(400, 3)) + 0.6 * y[:, None], y, None, [150]))


def test_an_interrupt_in_a_finaliser_comes_again_at_once() -> None:
    hook, start = sys.unraisablehook, time.monotonic()
    with pytest.raises(KeyboardInterrupt), sent_again():
        drop()
    assert time.monotonic() - start < 4
    assert sys.unraisablehook is hook


def test_several_in_a_moment_come_again_as_one() -> None:
    with pytest.raises(KeyboardInterrupt), sent_again():
        for _ in range(3):
            Interrupted()
        drop()
    time.sleep(0.2)


class Waiting:
    """A finaliser that takes its time."""

    def __del__(self) -> None:
        time.sleep(1)


def test_it_comes_until_it_is_heard() -> None:
    with pytest.raises(KeyboardInterrupt), sent_again():
        Interrupted()
        Waiting()  # it comes again in here, and is dropped again
        time.sleep(5)


def test_a_second_one_is_heard_after_the_first() -> None:
    with pytest.raises(KeyboardInterrupt), sent_again():
        with pytest.raises(KeyboardInterrupt):
            drop()
        drop()


def test_a_block_that_ends_first_raises_it_and_nothing_comes_later() -> None:
    ended = False
    with pytest.raises(KeyboardInterrupt):
        with sent_again():
            Interrupted()
        ended = True
    assert not ended
    time.sleep(0.2)


def test_blocks_inside_one_another_send_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SOON", 1.0)
    followed = False
    with pytest.raises(KeyboardInterrupt), sent_again():
        with sent_again():
            Interrupted()
        followed = True
        time.sleep(5)
    assert followed
    time.sleep(1.2)


def test_it_is_not_sent_while_it_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stalled(threading.Event):
        def set(self) -> None:
            super().set()
            if sys._getframe(1).f_code.co_name == "told":
                time.sleep(0.2)

    monkeypatch.setattr(threading, "Event", Stalled)
    with pytest.raises(KeyboardInterrupt), sent_again():
        drop()


@pytest.mark.slow
def test_it_is_heard_beside_busy_threads() -> None:
    def work() -> None:
        while not ended:
            sum(range(100))

    ended = False
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            with pytest.raises(KeyboardInterrupt), sent_again():
                drop()
    finally:
        ended = True
        for thread in threads:
            thread.join()


def test_where_the_handler_is_changed_meanwhile_nothing_is_sent() -> None:
    with sent_again():
        Interrupted()
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        time.sleep(0.2)
        signal.signal(signal.SIGINT, before)


def test_no_thread_is_left() -> None:
    before = threading.enumerate()
    with sent_again():
        assert len(threading.enumerate()) == len(before) + 1
    with pytest.raises(ValueError, match="mine"), sent_again():
        raise ValueError("mine")
    assert threading.enumerate() == before


def test_without_memory_for_a_thread_it_comes_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    with pytest.raises(KeyboardInterrupt), sent_again():
        Interrupted()


@each("handler", [signal.SIG_IGN, lambda number, frame: None])
def test_where_somebody_else_handles_interrupts_nothing_is_sent(handler: Any) -> None:
    hook, before = sys.unraisablehook, signal.signal(signal.SIGINT, handler)
    try:
        with sent_again():
            assert sys.unraisablehook is hook
            Interrupted()
            time.sleep(0.1)
    finally:
        signal.signal(signal.SIGINT, before)


def test_every_function_that_takes_dask_collections_hears_it() -> None:
    @dask_too
    def work(X: object, y: object) -> None:
        drop()

    with pytest.raises(KeyboardInterrupt):
        work(partitions(), None)
    for public in (solve, certify, regularization_path, cross_validated_path):
        assert "dask_too" in public.__code__.co_qualname


def test_other_errors_of_finalisers_go_where_they_went(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        def __del__(self) -> None:
            raise ValueError("mine")

    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    with sent_again():
        Failing()
    assert [type(one.exc_value) for one in told] == [ValueError]


def test_other_threads_change_nothing() -> None:
    hooks = []

    def work() -> None:
        with sent_again():
            hooks.append(sys.unraisablehook)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert hooks == [sys.unraisablehook]


def test_solve_over_partitions_returns_its_best_point() -> None:
    found = solve(partitions(), None, 1e-3, callback=drop)
    assert found.status == Status.INTERRUPTED and found.n_iter == 1


def test_a_path_over_partitions_ends_with_its_points() -> None:
    found = regularization_path(partitions(), None, [0.1, 0.01, 0.001], callback=drop)
    assert found.interrupted and len(found.points) == 1 and not found.complete
