"""Calling somebody's fit: here, or in a process that is started, asked, stopped, started again. The
process is a fork of this one for a function, or a new interpreter for `MODULE:FUNCTION`. Problems
and answers pass through a pipe, as JSON, but for many rows, which the child reads from an npz file
("rows"). Just before each fit it says "started": the clock of its limit starts there."""

import faulthandler
import importlib
import inspect
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...exact.errors import InputError, meant
from ...exact.tools.arrays import as_float64
from ..commands.endings import is_interrupt

HOW = "write MODULE:FUNCTION, say mysolver:fit, or FILE.py:FUNCTION"


def check_name(name: str) -> None:
    module, _, path = name.partition(":")
    if not (module and path) or (os.sep in module and not module.endswith(".py")):
        raise InputError(f"{name}: {HOW}")


def load_function(name: str) -> Callable[..., Any]:
    """Return the function that `name` stands for, the current folder searched first."""
    check_name(name)
    module_name, _, path = name.partition(":")
    found: Any
    if module_name.endswith(".py"):
        file = Path(module_name).resolve()
        if not file.is_file():
            raise InputError(f"{module_name}: no such file")
        sys.path.insert(0, str(file.parent))  # what it imports from its own folder is found
        found = _imported(file.stem)
        if Path(getattr(found, "__file__", None) or "").resolve() != file:
            other = f"another module is called {file.stem}"
            raise InputError(f"{module_name}: {other}; rename the file")
    else:
        found = _imported(module_name)
    for part in path.split("."):
        if not hasattr(found, part):
            hint = meant(part, (k for k, value in vars(found).items() if callable(value)))
            raise InputError(f"{module_name} has no {path}{hint}")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"{name} is not a function")
    return found


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
    ours, place = ("<frozen", importlib.__file__, str(Path(__file__).parent)), ""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f[0].startswith(ours)]
    if frames:
        place = f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})"
    elif isinstance(error, TypeError):
        place = " (a fit is called as fit(X, y, lam))"
    return f"{type(error).__name__}{': ' if text else ''}{text[:300]}{place}"


SPACING = 1.05  # a point is kept if it came this much later than the last one kept
OUT_OF_TIME = "out of time"
GRACE = 2.0  # seconds beyond the limit that a fit with a callback has to come to its next call

Point = tuple[float, Sequence[float]]  # Seconds of the fit, and the weights (d,) it had then.


class TimeOver(Exception):
    """Raised by the callback when the time is over; it ends the fit and is not a failure."""


class Trace:
    """The callback that a fit is given: it keeps weights, and its own time is not counted."""

    def __init__(self, max_time: float):
        self.points: list[Point] = []
        self._start, self._limit, self._own = time.perf_counter(), max_time, 0.0

    def __call__(self, w: Any, *_: Any) -> None:
        """Keep `w`, in place of the last one where that came soon after the one before."""
        now = time.perf_counter()
        seconds, kept = self.seconds(now), self.points
        if len(kept) > 1 and kept[-1][0] < SPACING * kept[-2][0]:
            del kept[-1]
        kept.append((seconds, np.array(w, dtype=float).ravel().tolist()))
        if seconds > self._limit:
            raise TimeOver
        self._own += time.perf_counter() - now

    def seconds(self, now: float) -> float:
        return now - self._start - self._own


MOST_IN_C = 2**31 - 1  # iterations that a solver written in C may count at most

# The arguments of runs of growing effort.
EFFORTS: dict[str, list[dict[str, Any]]] = {
    "max_iter": [{"max_iter": 1 << k} for k in range(63)],
    "tol": [{"tol": float(f"1e-{k}")} for k in range(1, 13)],
    "once": [{}],
}


def way_of(takes: tuple[str, ...]) -> str:
    return next((name for name in ("callback", "max_iter", "tol") if name in takes), "once")


def points_of(runner: Any, request: dict[str, Any], max_time: float) -> tuple[list[Point], str]:
    way = way_of(runner.takes)
    if way == "callback":
        answer = runner.ask(request | {"trace": max_time}, max_time + GRACE)
        points = answer.get("points", [])
        if answer["kind"] == "timeout":
            return points, f"no call came back in {max_time + GRACE:g} s: call callback more often"
        if answer["kind"] == "points":
            return points, OUT_OF_TIME if answer.get("stopped") else "finished"
        return points, str(answer["message"])
    points, left = [], max_time
    for arguments in EFFORTS[way]:
        if left <= 0:
            return points, OUT_OF_TIME
        answer = runner.ask(request | {"arguments": arguments}, left)
        left -= answer["seconds"]
        if answer["kind"] == "timeout":
            too_long = f"one fit takes longer than {max_time:g} s: raise --max-time"
            return points, OUT_OF_TIME if points else too_long
        if answer["kind"] == "error" and arguments.get("max_iter", 0) > MOST_IN_C:
            break
        if answer["kind"] != "w":
            return points, str(answer["message"])
        if way == "max_iter" and len(points) > 1 and answer["w"] == points[-1][1]:
            break  # it had come to its end by itself
        points.append((answer["seconds"], answer["w"]))
    return points, "finished"


# kind: "w" (with w), "points" (of a trace), "error", "wrong shape" (with message); seconds; and
# changed: which of X and y the fit wrote into, though they are the caller's.
Answer = dict[str, Any]


def arguments_of(fit: Callable[..., Any]) -> tuple[str, ...]:
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
            answer = {"kind": "points", "points": [*trace.points, last]}
    except BaseException as error:  # `sys.exit` in a fit is its failure, not ours
        if is_interrupt(error):
            raise
        answer = {"kind": "error", "message": described(error)}
        if trace is not None and isinstance(error, TimeOver):
            answer = {"kind": "points", "points": trace.points, "stopped": True}
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
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    pipe.send_bytes(json.dumps({"kind": "ready", "takes": arguments_of(fit)}).encode())
    with suppress(EOFError):
        while True:
            request = json.loads(pipe.recv_bytes())
            answer = call(fit, request, seed, lambda: pipe.send_bytes(b'{"kind": "started"}'))
            pipe.send_bytes(json.dumps(answer).encode())


def _end_with(parent: int) -> None:
    """Kill this process and all that it has started once its parent is gone, however it ended."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os.killpg(0, signal.SIGKILL)


START_SECONDS = 120.0  # for imports and reading rows; not part of a fit's time
KEPT_OUTPUT = 2000  # characters of what the fit has printed last


class OwnProcess:
    """Asks a fit in a process of its own, and stops it when its time is over."""

    def __init__(self, fit: Callable[..., Any] | str, seed: int):
        self.fit, self.seed = fit, seed
        kind = "a new interpreter" if isinstance(fit, str) else "a fork of this process"
        self.how = f"in {kind}, stopped when its time is over"
        self.pid: int | None = None
        self._start()

    def ask(self, request: dict[str, Any], limit: float) -> Answer:
        """Return the answer; its kind is "timeout" or "crash" where the process had to be ended."""
        if self.pid is None:
            self._start()
        self._printed.seek(0)  # what earlier fits have printed is dropped; the fit prints here
        self._printed.truncate()
        with suppress(BrokenPipeError, ConnectionResetError):  # it has ended; reading says how
            self._pipe.send_bytes(json.dumps(request).encode())
        start, answer = time.perf_counter(), self._read(START_SECONDS)
        if answer["kind"] == "started":
            start, answer = time.perf_counter(), self._read(limit)
        return {"seconds": time.perf_counter() - start} | answer

    def close(self) -> None:
        if self.pid is not None:
            self._kill()
            self._printed.close()

    def _kill(self) -> int:
        """Kill the process and its group; return its status, which is its own if it had ended."""
        assert self.pid is not None
        for kill in (os.killpg, os.kill):  # its group, and itself if it has none yet
            with suppress(ProcessLookupError):
                kill(self.pid, signal.SIGKILL)
        status, self.pid = os.waitpid(self.pid, 0)[1], None
        self._pipe.close()
        return status

    def _start(self) -> None:
        self._pipe, theirs = Pipe()
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        with theirs:
            begin = self._execute if isinstance(self.fit, str) else self._fork
            self.pid = begin(theirs)
        first = self._read(START_SECONDS)
        if first["kind"] == "ready":
            self.takes = tuple(first["takes"])
            return
        self.close()
        message = first["message"]
        if first["kind"] == "timeout":
            message = f"importing it took more than {START_SECONDS:g} s"
        raise InputError(message if message.startswith(str(self.fit)) else f"{self.fit}: {message}")

    def _execute(self, theirs: Connection) -> int:
        """Start a new interpreter; the solver's module is imported there and not here."""
        command = [sys.executable, "-u", "-m", f"{__package__}.worker", str(self.fit)]
        process = subprocess.Popen(
            [*command, str(self.seed), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=self._printed,
            stderr=self._printed,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        process.returncode = 0  # waited for by its number, in `_kill`
        return process.pid

    def _fork(self, theirs: Connection) -> int:
        """Fork: the one way to run a function that only this process knows."""
        with warnings.catch_warnings():
            # Python warns if there are threads; the child starts none and holds no lock of theirs.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid:
            return pid
        try:
            os.setsid()
            self._pipe.close()
            faulthandler.disable()  # it may hold another way to the terminal
            empty, output = os.open(os.devnull, os.O_RDONLY), self._printed.fileno()
            for source, target in ((empty, 0), (output, 1), (output, 2)):
                os.dup2(source, target)
            sys.stdin = open(0, closefd=False)  # noqa: SIM115
            sys.stdout = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
            from threadpoolctl import threadpool_limits

            # The threads of a linear algebra library do not survive a fork.
            with threadpool_limits(1):
                serve(self.fit, self.seed, theirs)  # pyright: ignore[reportArgumentType]
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)

    def _read(self, limit: float) -> Answer:
        """Return the next answer, at the latest after `limit` seconds."""
        try:
            if self._pipe.poll(max(limit, 0.0)):
                return json.loads(self._pipe.recv_bytes())
        except (EOFError, ConnectionResetError):  # it has ended by itself
            code = os.waitstatus_to_exitcode(self._kill())
            how = f"exit status {code}" if code >= 0 else signal.Signals(-code).name
            self._printed.seek(max(self._printed.seek(0, os.SEEK_END) - KEPT_OUTPUT, 0))
            text = self._printed.read().decode("utf-8", "replace").strip()
            self._printed.close()
            last = text.splitlines()[-1].strip() if text else "it printed nothing"
            return {"kind": "crash", "message": f"its process ended ({how}): {last[:300]}"}
        self.close()
        return {"kind": "timeout", "message": f"stopped after {limit:g} s"}


def start(fit: Callable[..., Any] | str, seed: int, isolate: bool) -> OwnProcess | SameProcess:
    if isolate and hasattr(os, "fork"):
        return OwnProcess(fit, seed)
    return SameProcess(load_function(fit) if isinstance(fit, str) else fit, seed)


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
