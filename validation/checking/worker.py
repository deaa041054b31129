"""Calling somebody's fit: here, or in a process that is started, asked, stopped, started again. It
is a fork of this one for a function, or a new interpreter for `MODULE:FUNCTION`. Just before a fit
it says "started": then its limit begins."""

import faulthandler
import importlib
import inspect
import io
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from copy import deepcopy
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from ...exact.errors import InputError, meant
from ...exact.tools.arrays import as_float64
from ..commands.endings import is_interrupt


def check_name(name: str) -> tuple[str, str]:
    """Return the module, or the file, and the path of the function in it."""
    module, _, path = name.partition(":")
    if not (module and path) or (os.sep in module and not module.endswith(".py")):
        how = "write MODULE:FUNCTION, say mysolver:fit, or FILE.py:FUNCTION"
        raise InputError(f"{name}: {how}")
    return module, path


def load_function(name: str) -> Callable[..., Any]:
    """Return the function that `name` stands for, the current folder searched first."""
    module, path = check_name(name)
    found: Any
    if module.endswith(".py"):
        file = Path(module).resolve()
        if not file.is_file():
            raise InputError(f"{module}: no such file")
        sys.path.insert(0, str(file.parent))  # what it imports from its own folder is found
        found = _imported(file.stem)
        if Path(getattr(found, "__file__", None) or "").resolve() != file:
            raise InputError(f"{module}: another module is called {file.stem}; rename the file")
    else:
        found = _imported(module)
    for part in path.split("."):
        if not hasattr(found, part):
            hint = meant(part, (k for k, value in vars(found).items() if callable(value)))
            raise InputError(f"{module} has no {path}{hint}")
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

# X (n, d), y (n,), lam, and the arguments of a fit that has more. With "trace", seconds, the fit is
# given a callback, which ends it once they are over.
Request = dict[str, Any]

# kind: "w" (with w), "stopped" (by the callback), "error", "wrong shape" (with message); seconds;
# points that the callback kept; changed: which of X and y the fit wrote into, though the caller's.
Answer = dict[str, Any]

Point = tuple[float, Sequence[float]]  # Seconds of the fit, and the weights (d,) it had then.


class TimeOver(Exception):
    """Raised by the callback when the time is over; it ends the fit and is not a failure."""


def call(
    fit: Callable[..., Any], request: Request, seed: int, started: Callable[[], object]
) -> Answer:
    """Call `fit` on one problem; never raise, except for an interrupt."""
    X, y, lam, limit = (request.pop(name, None) for name in ("X", "y", "lam", "trace"))
    points: list[Point] = []
    own = 0.0  # seconds in the callback: they are not the fit's

    def keep(w: Any, *_: Any) -> None:
        """Keep `w`, in place of the last one where that came soon after the one before."""
        nonlocal own
        now = time.perf_counter()
        seconds = now - start - own
        if len(points) > 1 and points[-1][0] < SPACING * points[-2][0]:
            del points[-1]
        points.append((seconds, np.array(w, dtype=float).ravel().tolist()))
        if seconds > limit:
            raise TimeOver
        own += time.perf_counter() - now

    if limit is not None:
        request["callback"] = keep
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - for solvers that draw from it
    before = (X.copy(), y.copy())
    started()
    start = time.perf_counter()
    try:
        try:
            found = fit(X, y, float(lam), **request)
        finally:
            seconds = time.perf_counter() - start - own
        answer = read_weights(found, X.shape[1])
    except TimeOver:
        answer = {"kind": "stopped"}
    except BaseException as error:  # `sys.exit` in a fit is its failure, not ours
        if is_interrupt(error):
            raise
        answer = {"kind": "error", "message": described(error)}
    after = zip("Xy", (X, y), before, strict=True)
    changed = [name for name, now, then in after if not np.array_equal(now, then)]
    return answer | {"seconds": seconds, "points": points, "changed": changed}


def read_weights(found: Any, d: int) -> Answer:
    """Return what a fit gave back as an answer: `coef_` or `w` of an object, else itself."""
    if found is None:
        return {"kind": "wrong shape", "message": "None returned: does it end with `return w`?"}
    values = getattr(found, "coef_", getattr(found, "w", found))
    try:
        dense = values.toarray() if sp.issparse(values) else values
        array = as_float64(dense, "what was returned", f"{d} numbers")
    except InputError as error:
        why = "return the weights alone" if isinstance(found, tuple) else str(error)
        return {"kind": "error", "message": f"{type(found).__name__} returned: {why}"}
    if array.shape not in ((d,), (1, d), (d, 1)):
        hint = " (leave out the intercept)" if array.size == d + 1 else ""
        wanted = f"({d},) wanted{hint}"
        return {"kind": "wrong shape", "message": f"shape {array.shape} returned, {wanted}"}
    return {"kind": "w", "w": array.ravel().tolist()}


def arguments_of(fit: Callable[..., Any]) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(fit).parameters)
    except (TypeError, ValueError):  # some compiled functions have no signature
        return ()


class SameProcess:
    """Calls a fit here: it cannot be stopped, and what it prints is dropped."""

    how = "in this process: a fit that never ends cannot be stopped"

    def __init__(self, fit: Callable[..., Any], seed: int):
        self.fit, self.seed, self.takes = fit, seed, arguments_of(fit)

    def ask(self, request: Request, limit: float) -> Answer:
        """Return the answer; one that came after `limit` seconds counts as "timeout"."""
        state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
        try:
            with redirect_stdout(io.StringIO()):
                answer = call(self.fit, deepcopy(request), self.seed, lambda: None)
        finally:
            random.setstate(state)
            np.random.set_state(numpy_state)  # noqa: NPY002
        if answer["seconds"] <= limit:
            return answer
        message = f"took {answer['seconds']:.3g} s, {limit:g} s allowed"
        return {"kind": "timeout", "message": message, "seconds": answer["seconds"]}

    def close(self) -> None:
        """Do nothing."""


def serve(fit: Callable[..., Any] | str, seed: int, pipe: Connection) -> None:
    """Answer the requests that come through a pipe until there are no more."""
    parent = os.getppid()

    def end_with_parent() -> None:
        """Kill this process and all it has started once its parent is gone, however it ended."""
        while os.getppid() == parent:
            time.sleep(1.0)
        os.killpg(0, signal.SIGKILL)

    def say(answer: Answer) -> None:
        """Send JSON: nothing that a fit wrote is unpickled."""
        pipe.send_bytes(json.dumps(answer).encode())

    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        function = load_function(fit) if isinstance(fit, str) else fit
    except InputError as error:
        say({"kind": "refused", "message": str(error)})
        return
    say({"kind": "ready", "takes": arguments_of(function)})
    with suppress(EOFError):
        while True:
            say(call(function, pipe.recv(), seed, lambda: say({"kind": "started"})))


START_SECONDS = 120.0  # for imports and reading rows; not part of a fit's time
KEPT_OUTPUT = 2000  # characters of what the fit has printed last


class OwnProcess:
    """Asks a fit in a process of its own, and stops it when its time is over."""

    def __init__(self, fit: Callable[..., Any] | str, seed: int):
        self.fit, self.seed, self._pid = fit, seed, 0
        kind = "a new interpreter" if isinstance(fit, str) else "a fork of this process"
        self.how = f"in {kind}, stopped when its time is over"
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 - as long as this object

    @property
    def takes(self) -> Sequence[str]:
        """The names of the function's arguments."""
        self._start()
        return self._takes

    def ask(self, request: Request, limit: float) -> Answer:
        """Return the answer; its kind is "timeout" or "crash" where the process had to be ended."""
        self._start()
        self._printed.seek(0)  # what earlier fits have printed is dropped; the fit prints here
        self._printed.truncate()
        with suppress(ConnectionError):  # it has ended; reading says how
            self._pipe.send(request)
        start, answer = time.perf_counter(), self._read(START_SECONDS)
        if answer["kind"] == "started":
            start, answer = time.perf_counter(), self._read(limit)
        return {"seconds": time.perf_counter() - start} | answer

    def close(self) -> None:
        if self._pid:
            self._kill()
        self._printed.close()

    def _kill(self) -> int:
        """Kill the process and its group; return its status, which is its own if it had ended."""
        for kill in (os.killpg, os.kill):  # its group, and itself if it has none yet
            with suppress(ProcessLookupError):
                kill(self._pid, signal.SIGKILL)
        status, self._pid = os.waitpid(self._pid, 0)[1], 0
        self._pipe.close()
        return os.waitstatus_to_exitcode(status)

    def _start(self) -> None:
        """Fork, unless one is running: the only way to run what only this process knows."""
        if self._pid:
            return
        self._pipe, theirs = Pipe()
        with theirs, warnings.catch_warnings():
            # Python warns if there are threads; the child starts none and holds no lock of theirs.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
            if not self._pid:
                self._be_asked(theirs)
        first = self._read(START_SECONDS)
        if first["kind"] != "ready":
            late = f"importing it took more than {START_SECONDS:g} s"
            said = late if first["kind"] == "timeout" else first["message"]
            raise InputError(said if said.startswith(str(self.fit)) else f"{self.fit}: {said}")
        self._takes: Sequence[str] = first["takes"]

    def _be_asked(self, theirs: Connection) -> NoReturn:
        """In the child, serve the function, or become an interpreter that imports and serves it."""
        try:
            os.setsid()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            for output in (1, 2):
                os.dup2(self._printed.fileno(), output)
            if isinstance(self.fit, str):
                os.set_inheritable(theirs.fileno(), True)
                command = [sys.executable, "-u", "-m", f"{__package__}.worker", self.fit]
                os.execv(sys.executable, [*command, str(self.seed), str(theirs.fileno())])
            self._pipe.close()
            faulthandler.disable()  # it may hold another way to the terminal
            sys.stdin = open(0, closefd=False)  # noqa: SIM115
            sys.stdout = sys.stderr = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115
            from threadpoolctl import threadpool_limits

            # The threads of a linear algebra library do not survive a fork.
            with threadpool_limits(1):
                serve(self.fit, self.seed, theirs)
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
            code = self._kill()
            how = f"exit status {code}" if code >= 0 else signal.Signals(-code).name
            self._printed.seek(max(self._printed.seek(0, os.SEEK_END) - KEPT_OUTPUT, 0))
            text = self._printed.read().decode("utf-8", "replace").strip()
            last = text.splitlines()[-1].strip() if text else "it printed nothing"
            return {"kind": "crash", "message": f"its process ended ({how}): {last[:300]}"}
        self._kill()
        return {"kind": "timeout", "message": f"stopped after {limit:g} s"}


def start(fit: Callable[..., Any] | str, seed: int, isolate: bool) -> OwnProcess | SameProcess:
    if isolate and hasattr(os, "fork"):
        return OwnProcess(fit, seed)
    return SameProcess(load_function(fit) if isinstance(fit, str) else fit, seed)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), Connection(int(sys.argv[3])))
