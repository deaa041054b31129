"""Workers that are killed, a scheduler that is lost, Ctrl-C: the same numbers, or one sentence."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact import PartitionedRows, Solution, Step, solve
from aucert.exact.formulation.request import rows_of_dask
from aucert.exact.spaces.partitions import LocalEngine, new_key
from cutting import cut, meet, short_rows
from loops import each, refuses

dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

# Processes that are killed leave sockets behind, and dask's own end stumbles over them.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
KILLS = 20


@pytest.fixture
def cluster() -> Iterator[Any]:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    quick = {"comm.timeouts.connect": "5s", "scheduler.allowed-failures": 99}
    with dask.config.set({f"distributed.{name}": value for name, value in quick.items()}):
        made = distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0")
        client = distributed.Client(made)
        try:
            yield made, client
        finally:
            with suppress(Exception):  # workers that were killed are not where dask looks for them
                client.close(timeout=10)
                made.close(timeout=10)


def rows_in_dask(X: np.ndarray, y: np.ndarray) -> Any:
    return rows_of_dask(da.from_array(X, chunks=(len(X) // 10, 3)), y, None, None)[0]


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):  # it has ended, and its place is not yet filled
        os.kill(pid, signal.SIGKILL)


def same(one: Solution, other: Solution) -> None:
    """Both are certified; who holds which partition decides the order of the sums alone."""
    assert one.status == other.status == "certified"
    meet(one, other)


@pytest.mark.release
def test_killed_workers_change_nothing(cluster: Any) -> None:
    made, client = cluster
    rows = rows_in_dask(*short_rows(200_000))
    calm = solve(rows, None, 0.1, tol=1e-6)
    start = time.monotonic()
    solve(rows, None, 0.1, tol=1e-6)
    took, rng = time.monotonic() - start, np.random.default_rng(0)
    for _ in range(KILLS):
        made.scale(2)  # a worker that is killed while it starts is not started again by itself
        with suppress(TimeoutError):  # else the other one does the work
            client.wait_for_workers(2, timeout=20)
        pids = list(client.run(os.getpid, on_error="ignore").values())
        thread = threading.Timer(float(rng.uniform(0, took)), kill, (int(rng.choice(pids)),))
        thread.start()
        found = solve(rows, None, 0.1, tol=1e-6)
        thread.join()
        same(found, calm)


def test_a_partition_that_kills_every_worker_is_one_sentence(cluster: Any) -> None:
    class Deadly:
        def run(self, blocks: Any, index: int) -> Any:
            os.kill(os.getpid(), signal.SIGKILL)

        def merge(self, first: Any, second: Any) -> Any:
            return first

    rows, said = rows_in_dask(*short_rows(1000)), "workers of the dask cluster died again and again"
    cluster[0].scheduler.allowed_failures = 1
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        refuses(said, rows.engine.run, Deadly(), new_key())


def test_a_cluster_without_workers_is_not_waited_for_for_ever(cluster: Any, monkeypatch) -> None:
    monkeypatch.setattr("aucert.exact.spaces.dask_rows.ASKED_EVERY", 0.5)
    monkeypatch.setattr("aucert.exact.spaces.dask_rows.NO_WORKERS", 1.0)
    rows = rows_in_dask(*short_rows(1000))
    cluster[0].scale(0)
    refuses("has had no workers for 1 seconds", solve, rows, None, 0.1, tol=1e-3)


def test_a_lost_scheduler_is_one_sentence(cluster: Any) -> None:
    rows, seen = rows_in_dask(*short_rows(50_000)), []

    def lose(step: Step) -> None:
        if not seen:
            cluster[0].close(timeout=10)
        seen.append(step)

    refuses("the dask cluster was lost", solve, rows, None, 0.1, tol=1e-9, callback=lose)


def test_ctrl_c_returns_the_best_point_with_its_certificate(cluster: Any) -> None:
    X, y = short_rows(200_000)
    rows = rows_in_dask(X, y)
    solve(rows, None, 0.1, tol=1e-3)
    threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT)).start()
    seen: list[Step] = []

    def slowly(step: Step) -> None:
        seen.append(step)
        time.sleep(0.5)

    found = solve(rows, None, 1e-3, tol=1e-12, callback=slowly)
    assert found.status == "interrupted"
    meet(solve(X, y, 1e-3, tol=1e-6), found)


class Fatal:
    """A partition that kills the process that reads it, as often as a file says."""

    name = "a fatal one"

    def __init__(self, whole: Any, path: str, times: int):
        self.whole, self.path, self.times = whole, path, times

    def blocks(self) -> Iterator[Any]:
        done = len(os.listdir(self.path))
        if done < self.times:
            with open(f"{self.path}/{done}", "w"):
                pass
            os.kill(os.getpid(), signal.SIGKILL)
        return self.whole.blocks()

    def refuse(self, row: int, column: int | None, value: float) -> None:
        raise AssertionError


@each("times", [1, 2, 9])
def test_local_processes_that_die_are_started_again(tmp_path: Any, times: int) -> None:
    X, y = short_rows(5000)
    parts = cut(X, y, None, [1000, 2000])
    calm = solve(PartitionedRows(parts), None, 0.1, tol=1e-3)
    fatal: Any = Fatal(parts[1], str(tmp_path), times)
    engine = LocalEngine([parts[0], fatal, parts[2]], jobs=2)
    if times > 2:
        refuses("died", PartitionedRows, engine)
        return
    same(solve(PartitionedRows(engine), None, 0.1, tol=1e-3), calm)


PLAIN_SCRIPT = """
import dask.array as da
import numpy as np
from aucert.exact import solve
rng = np.random.default_rng(0)
X = rng.normal(size=(60_000, 3))
y = X[:, 0] + rng.normal(size=60_000) > 0
parts = da.from_array(X, chunks=(20_000, 3)), da.from_array(y, chunks=20_000)
print(solve(*parts, lam=1e-2, tol=1e-4).status)
"""


def test_a_plain_script_needs_neither_a_client_nor_a_guard(tmp_path: Path) -> None:
    """Processes of a cluster would run the script again."""
    script = tmp_path / "script.py"
    script.write_text(PLAIN_SCRIPT, encoding="utf-8")
    how: Any = {"capture_output": True, "text": True, "timeout": 240}
    done = subprocess.run([sys.executable, str(script)], **how)
    assert (done.returncode, done.stdout) == (0, "certified\n"), done.stderr
    assert "Traceback" not in done.stderr
