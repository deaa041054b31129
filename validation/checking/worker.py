"""Calling somebody's fit: once here, or again and again in a process that can be stopped.

The process is a fork of this one for a function, or a new interpreter for `MODULE:FUNCTION`.
Problems and answers pass through a pipe, as JSON, but for many rows, which the child reads from an
npz file ("rows"). Just before each fit it says "started": the clock of its limit starts there.
"""

from __future__ import annotations

import importlib
import inspect
import io
import json
import os
import random
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...exact.errors import InputError, meant
from ...exact.tools.lossless import as_float64
from ..commands.interrupts import is_interrupt

HOW = "write MODULE:FUNCTION, say mysolver:fit, or FILE.py:FUNCTION"


def check_name(name: str) -> None:
    """Refuse what cannot name a function."""
    module, _, path = name.partition(":")
    if not (module and path) or (os.sep in module and not module.endswith(".py")):
        raise InputError(f"{name}: {HOW}")


def load_function(name: str) -> Callable[..., Any]:
    """Return the function that `name` stands for, the current folder searched first."""
    check_name(name)
    module_name, _, path = name.partition(":")
    module = _of_file(module_name) if module_name.endswith(".py") else _imported(module_name)
    found: Any = module
    for part in path.split("."):
        if not hasattr(found, part):
            hint = meant(part, (k for k, value in vars(found).items() if callable(value)))
            raise InputError(f"{module_name} has no {path}{hint}")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"{name} is not a function")
    return found


def _of_file(name: str) -> ModuleType:
    """Return the module that the file holds; what it imports from its own folder is found."""
    file = Path(name).resolve()
    if not file.is_file():
        raise InputError(f"{name}: no such file")
    sys.path.insert(0, str(file.parent))
    module = _imported(file.stem)
    if Path(getattr(module, "__file__", None) or "").resolve() != file:
        raise InputError(f"{name}: another module is called {file.stem}; rename the file")
    return module


def _imported(name: str) -> ModuleType:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # all that the module's own code raises
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is None or not f"{name}.".startswith(f"{missing}."):
            raise InputError(f"cannot import {name}: {described(error)}") from error
        hint = meant(name, (file.stem for file in Path.cwd().glob("*.py")))
        where = "in this folder or on Python's path"
        raise InputError(f"cannot import {name}: no {missing} {where}{hint}") from error


def described(error: BaseException) -> str:
    """Return the error's type, its message, and where it was raised."""
    text = " ".join(str(error).split())
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_ours(f.filename)]
    place = ""
    if frames:
        place = f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})"
    elif isinstance(error, TypeError):
        place = " (a fit is called as fit(X, y, lam))"
    return f"{type(error).__name__}{': ' if text else ''}{text[:300]}{place}"


def _is_ours(file: str) -> bool:
    """Whether the file is one of those that call a fit, or Python's own importer."""
    held = ("<frozen", importlib.__file__)
    return file.startswith(held) or Path(file).parent == Path(__file__).parent


SPACING = 1.05  # A point is kept if it came this much later than the last one kept.

OUT_OF_TIME = "out of time"

GRACE = 2.0  # Seconds beyond the limit that a fit with a callback has to come to its next call.


class Point(NamedTuple):
    """Weights (d,) and the seconds after which the fit had them."""

    seconds: float
    w: np.ndarray


class TimeOver(Exception):
    """Raised by the callback when the time is over; it ends the fit and is not a failure."""


class Trace:
    """The callback that a fit is given: it keeps weights, and its own time is not counted."""

    def __init__(self, max_time: float):
        self.points: list[tuple[float, list[float]]] = []
        self._start, self._limit, self._own, self._kept = time.perf_counter(), max_time, 0.0, 0.0
        self._last: tuple[float, Any] | None = None

    def __call__(self, w: Any, *_: Any) -> None:
        """Keep `w` if it comes well after the last one that was kept."""
        now = time.perf_counter()
        seconds = self.seconds(now)
        values = np.array(w, dtype=float).ravel()
        self._last = (seconds, values)
        if seconds >= SPACING * self._kept:
            self._kept = seconds
            self.points.append((seconds, values.tolist()))
            self._last = None
        if seconds > self._limit:
            raise TimeOver
        self._own += time.perf_counter() - now

    def seconds(self, now: float) -> float:
        """Return the seconds of the fit itself."""
        return now - self._start - self._own

    def all_points(self) -> list[tuple[float, list[float]]]:
        """Return the points that were kept, and the last one."""
        last = [] if self._last is None else [(self._last[0], self._last[1].tolist())]
        return [*self.points, *last]


def way_of(takes: tuple[str, ...]) -> str:
    """Return how points of a fit with these arguments are found."""
    return next((name for name in ("callback", "max_iter", "tol") if name in takes), "once")


def points_of(
    runner: Any, request: dict[str, Any], max_time: float
) -> tuple[list[Point], str, str]:
    """Return the points of a fit, how it ended, and how they were found."""
    way = way_of(runner.takes)
    too_long = f"one fit takes longer than {max_time:g} s: raise --max-time"
    if way == "callback":
        answer = runner.ask(request | {"trace": max_time}, max_time + GRACE)
        points = [Point(seconds, np.array(w)) for seconds, w in answer.get("points", [])]
        return points, too_long if answer["kind"] == "timeout" else _ending(answer), way
    points, left = [], max_time
    for arguments in efforts(way):
        if left <= 0:
            return points, OUT_OF_TIME, way
        answer = runner.ask(request | {"arguments": arguments}, left)
        left -= answer["seconds"]
        if answer["kind"] == "timeout" and not points:
            return points, too_long, way
        if answer["kind"] != "w":
            return points, _ending(answer), way
        w = np.array(answer["w"])
        if way == "max_iter" and len(points) > 1 and np.array_equal(w, points[-1].w):
            break  # it had come to its end by itself
        points.append(Point(answer["seconds"], w))
    return points, "finished", way


def efforts(way: str) -> list[dict[str, Any]]:
    """Return the arguments of runs of growing effort: 1, 2, 4, ... iterations, or tol / 10."""
    if way == "max_iter":
        return [{"max_iter": 1 << k} for k in range(31)]
    if way == "tol":
        return [{"tol": float(f"1e-{k}")} for k in range(1, 13)]
    return [{}]


def _ending(answer: dict[str, Any]) -> str:
    if answer["kind"] in ("w", "points"):
        return "finished" if not answer.get("stopped") else OUT_OF_TIME
    return OUT_OF_TIME if answer["kind"] == "timeout" else str(answer["message"])


# kind: "w" (with w), "points" (of a trace), "error", "wrong shape" (with message); seconds; and
# changed: which of X and y the fit wrote into, though they are the caller's.
Answer = dict[str, Any]


def arguments_of(fit: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the arguments of `fit`, as far as they are known."""
    try:
        return tuple(inspect.signature(fit).parameters)
    except (TypeError, ValueError):  # some compiled functions have no signature
        return ()


def call(
    fit: Callable[..., Any],
    request: dict[str, Any],
    seed: int,
    started: Callable[[], object] = lambda: None,
) -> Answer:
    """Call `fit` on one problem; never raise, except for an interrupt."""
    held = np.load(request["rows"]) if "rows" in request else request
    X = np.array(held["X"], dtype=float)
    y = np.array(held["y"], dtype=np.int64)
    weight = request.get("sample_weight")
    extra = {} if weight is None else {"sample_weight": np.array(weight, dtype=float)}
    extra |= request.get("arguments", {})
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - for solvers that draw from it
    before = (X.copy(), y.copy())
    started()
    trace = None
    if "trace" in request:
        extra["callback"] = trace = Trace(request["trace"])
    end, start = None, time.perf_counter()
    try:
        found = fit(X, y, float(request["lam"]), **extra)
        end = time.perf_counter()
        answer = read_weights(found, X.shape[1])
        if trace is not None and answer["kind"] == "w":
            last = (trace.seconds(end), answer["w"])
            answer = {"kind": "points", "points": [*trace.all_points(), last]}
    except TimeOver:
        assert trace is not None
        answer = {"kind": "points", "points": trace.all_points(), "stopped": True}
    except BaseException as error:  # `sys.exit` in a fit is its failure, not ours
        if is_interrupt(error):
            raise
        answer = {"kind": "error", "message": described(error)}
    seconds = (time.perf_counter() if end is None else end) - start
    after = zip("Xy", (X, y), before, strict=True)
    changed = [name for name, now, then in after if not np.array_equal(now, then)]
    return answer | {"seconds": seconds, "changed": changed}


def read_weights(found: Any, d: int) -> Answer:
    """Return what a fit gave back as an answer: `coef_` or `w` of an object, else itself."""
    if found is None:
        return {"kind": "wrong shape", "message": "None returned: does it end with `return w`?"}
    values = getattr(found, "coef_", getattr(found, "w", found))
    if sp.issparse(values):
        values = values.toarray()
    try:
        array = as_float64(values, "what was returned", f"{d} numbers")
    except InputError as error:
        why = "return the weights alone" if isinstance(found, tuple) else str(error)
        return {"kind": "error", "message": f"{type(found).__name__} returned: {why}"}
    if array.shape not in ((d,), (1, d), (d, 1)):
        hint = " (leave out the intercept)" if array.size == d + 1 else ""
        message = f"shape {array.shape} returned, ({d},) wanted{hint}"
        return {"kind": "wrong shape", "message": message}
    return {"kind": "w", "w": array.ravel().tolist()}


class SameProcess:
    """Calls a fit here: it cannot be stopped, and what it prints is dropped."""

    how = "in this process: a fit that never ends cannot be stopped"

    def __init__(self, fit: Callable[..., Any], seed: int):
        self.fit, self.seed, self.takes = fit, seed, arguments_of(fit)

    def ask(self, request: dict[str, Any], limit: float) -> Answer:
        """Return the answer; one that came after `limit` seconds counts as "timeout"."""
        state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
        try:
            with redirect_stdout(io.StringIO()):
                answer = call(self.fit, request, self.seed)
        finally:
            random.setstate(state)
            np.random.set_state(numpy_state)  # noqa: NPY002
        if answer["seconds"] <= limit:
            return answer
        message = f"took {answer['seconds']:.3g} s, {limit:g} s allowed"
        return {"kind": "timeout", "message": message, "seconds": answer["seconds"]}

    def close(self) -> None:
        """Do nothing."""


def serve(fit: Callable[..., Any], seed: int, pipe: Connection) -> None:
    """Answer the requests that come through a pipe until there are no more."""
    pipe.send_bytes(json.dumps({"kind": "ready", "takes": arguments_of(fit)}).encode())
    with suppress(EOFError):
        while True:
            request = json.loads(pipe.recv_bytes())
            answer = call(fit, request, seed, lambda: pipe.send_bytes(b'{"kind": "started"}'))
            pipe.send_bytes(json.dumps(answer).encode())


def main(arguments: list[str]) -> None:
    """Serve MODULE:FUNCTION: its name, the seed and a file descriptor are the arguments."""
    pipe = Connection(int(arguments[2]))
    try:
        fit = load_function(arguments[0])
    except InputError as error:
        pipe.send_bytes(json.dumps({"kind": "refused", "message": str(error)}).encode())
        return
    serve(fit, int(arguments[1]), pipe)


if __name__ == "__main__":
    main(sys.argv[1:])
