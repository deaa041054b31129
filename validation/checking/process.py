"""The process that somebody's fit runs in: started, asked, stopped, and started again."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from typing import Any

from ...exact.errors import InputError
from .worker import Answer, Connection, SameProcess, load_function, serve

START_SECONDS = 120.0  # For imports and reading rows; not part of a fit's time.

KEPT_OUTPUT = 2000  # Characters of what the fit has printed last.


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
        """End the process, and all that it has started itself."""
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
        reasons = {"timeout": f"{self.fit}: importing it took more than {START_SECONDS:g} s"}
        message = str(first["message"])
        named = message if message.startswith(str(self.fit)) else f"{self.fit}: {message}"
        raise InputError(reasons.get(first["kind"], named))

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
            _redirect(self._printed.fileno())
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
        except (EOFError, ConnectionResetError):
            return self._ended()
        self.close()
        return {"kind": "timeout", "message": f"stopped after {limit:g} s"}

    def _ended(self) -> Answer:
        """Return how the process ended by itself, with the last line it printed."""
        code = os.waitstatus_to_exitcode(self._kill())
        how = f"exit status {code}" if code >= 0 else signal.Signals(-code).name
        self._printed.seek(max(self._printed.seek(0, os.SEEK_END) - KEPT_OUTPUT, 0))
        text = self._printed.read().decode("utf-8", "replace")
        self._printed.close()
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        last = lines[-1] if lines else "it printed nothing"
        return {"kind": "crash", "message": f"its process ended ({how}): {last[:300]}"}


def _redirect(output: int) -> None:
    """Read nothing from the terminal, and print into `output`, whoever prints."""
    empty = os.open(os.devnull, os.O_RDONLY)
    faulthandler.disable()  # it may hold another way to the terminal
    for source, target in ((empty, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115


def start(fit: Callable[..., Any] | str, seed: int, isolate: bool) -> OwnProcess | SameProcess:
    """Return what calls the fit: a process of its own where the system has them."""
    if isolate and hasattr(os, "fork"):
        return OwnProcess(fit, seed)
    return SameProcess(load_function(fit) if isinstance(fit, str) else fit, seed)
