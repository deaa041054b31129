"""CPU seconds and memory of a process and all that it has started, from Linux's /proc."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from threading import Event, Thread
from typing import Self

EVERY = 0.1
"""Seconds between two looks at the processes that are known."""

NEW_ONES = 10
"""Looks after which new processes are looked for: that reads the whole of /proc, which costs."""


class Tree:
    """Watches this process and its children while the block runs.

    Attributes
    ----------
    cpu : float
        Seconds of all of them; children that end inside count while they were seen.
    peak : int
        Largest sum of their resident sizes, in bytes; pages that they share count in each.
    """

    def __init__(self) -> None:
        self.cpu, self.peak = 0.0, 0
        self._end = Event()
        self._last: dict[int, float] = {}
        self._first: dict[int, float] = {}

    def __enter__(self) -> Self:
        self._first = {pid: cpu for pid, (cpu, _) in looked_at().items()}
        self._last = dict(self._first)
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        self._look()
        self.cpu = sum(cpu - self._first.get(pid, 0.0) for pid, cpu in self._last.items())

    def _watch(self) -> None:
        looks = 0
        while not self._end.wait(EVERY):
            looks += 1
            self._look(looks % NEW_ONES > 0)

    def _look(self, known: bool = False) -> None:
        found = looked_at(self._last if known else None)
        self._last |= {pid: cpu for pid, (cpu, _) in found.items()}
        self.peak = max(self.peak, sum(size for _, size in found.values()))


def looked_at(known: Iterable[int] | None = None) -> dict[int, tuple[float, int]]:
    """Return CPU seconds and resident bytes of this process and of its descendants.

    Parameters
    ----------
    known : numbers of processes, optional
        Only these are looked at; by default all descendants are looked for.
    """
    tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    held: dict[int, tuple[int, float, int]] = {}
    paths = Path("/proc").glob("[0-9]*") if known is None else [Path(f"/proc/{k}") for k in known]
    for path in paths:
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        cpu = (int(fields[11]) + int(fields[12])) / tick
        held[int(path.name)] = int(fields[1]), cpu, int(fields[21]) * page
    if known is not None:
        return {pid: found[1:] for pid, found in held.items()}
    ours, more = {os.getpid()}, True
    while more:
        more = {pid for pid, (parent, _, _) in held.items() if parent in ours} - ours
        ours |= more
    return {pid: held[pid][1:] for pid in ours if pid in held}
