"""Points of a fit on its way: through its callback, or by runs of growing effort."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

SPACING = 1.05  # A point is kept if it came this much later than the last one kept.

MOST_ITERATIONS = 1 << 30  # The last `max_iter` of the runs that double it.

LEAST_TOL = 1e-12  # The last `tol` of the runs that divide it by ten.

GRACE = 2.0  # Seconds beyond the limit that a fit with a callback has to come to its next call.


class Point(NamedTuple):
    """Weights (d,) and the seconds after which the fit had them."""

    seconds: float
    w: np.ndarray


class Asked(Protocol):
    """What `checking.process.start` returns."""

    takes: tuple[str, ...]

    def ask(self, request: dict[str, Any], limit: float) -> dict[str, Any]:
        """Return the answer of one call."""
        ...


class TimeOver(Exception):
    """Raised by the callback when the time is over; it ends the fit and is no failure."""


class Trace:
    """The callback that a fit is given: it keeps weights, and its own time is not counted."""

    def __init__(self, max_time: float):
        self.points: list[tuple[float, list[float]]] = []
        self._start, self._limit, self._own, self._kept = time.perf_counter(), max_time, 0.0, 0.0
        self._last: tuple[float, Any] | None = None

    def __call__(self, w: Any, *_: Any) -> None:
        """Keep `w` if it comes well after the last one that was kept."""
        now = time.perf_counter()
        seconds = now - self._start - self._own
        values = np.array(w, dtype=float).ravel()
        self._last = (seconds, values)
        if seconds >= SPACING * self._kept:
            self._kept = seconds
            self.points.append((seconds, values.tolist()))
            self._last = None
        if seconds > self._limit:
            raise TimeOver
        self._own += time.perf_counter() - now

    def all_points(self) -> list[tuple[float, list[float]]]:
        """Return the points that were kept, and the last one."""
        last = [] if self._last is None else [(self._last[0], self._last[1].tolist())]
        return [*self.points, *last]


def way_of(takes: tuple[str, ...]) -> str:
    """Return how points of a fit with these arguments are found."""
    return next((name for name in ("callback", "max_iter", "tol") if name in takes), "once")


def points_of(
    runner: Asked, request: dict[str, Any], max_time: float
) -> tuple[list[Point], str, str]:
    """Return the points of a fit, how it ended, and how they were found."""
    way = way_of(runner.takes)
    if way == "callback":
        answer = runner.ask(request | {"trace": max_time}, max_time + GRACE)
        points = [Point(seconds, np.array(w)) for seconds, w in answer.get("points", [])]
        return points, _ending(answer), way
    points, start = [], time.monotonic()
    for arguments in efforts(way):
        left = max_time - (time.monotonic() - start)
        if left <= 0:
            return points, "out of time", way
        answer = runner.ask(request | {"arguments": arguments}, left)
        if answer["kind"] != "w":
            return points, _ending(answer), way
        w = np.array(answer["w"])
        if way == "max_iter" and len(points) > 1 and np.array_equal(w, points[-1].w):
            break  # it had come to its end by itself
        points.append(Point(answer["seconds"], w))
    return points, "finished", way


def efforts(way: str) -> Iterator[dict[str, Any]]:
    """Yield the arguments of runs of growing effort: 1, 2, 4, ... iterations, or tol / 10."""
    if way == "max_iter":
        k = 1
        while k <= MOST_ITERATIONS:
            yield {"max_iter": k}
            k *= 2
    elif way == "tol":
        tol = 0.1
        while tol >= LEAST_TOL:
            yield {"tol": tol}
            tol /= 10
    else:
        yield {}


def _ending(answer: dict[str, Any]) -> str:
    if answer["kind"] in ("w", "points"):
        return "finished" if not answer.get("stopped") else "out of time"
    return "out of time" if answer["kind"] == "timeout" else str(answer["message"])
