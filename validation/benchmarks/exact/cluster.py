"""Rows on a dask cluster of this machine, against the same rows in this process.

n x dim float32 rows are drawn where they lie: by this process, and by the workers, processes of one
thread each. CPU seconds are those of this process and all that it started, for one evaluation, the
best of several. An evaluation in this process and one on the cluster take turns, so that both
have the same machine. The overhead is CPU over that of this process; what it is made of stands in a
second table. Memory is the largest that a worker had in the evaluations and the solve, beyond its
share of the rows.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ....exact.api.solve import solve
from ....exact.formulation.partitioned import rows_of_dask
from ....exact.spaces.partitions.partition import ArrayPartition
from ....exact.spaces.partitions.partitioned_rows import PartitionedRows
from ..harness import Lines, Table, benchmark
from ..measuring.cluster_work import Spent, spent, watch_tasks
from ..measuring.partitions_work import compile_evaluation, evaluation, said, watched

IDLE = 5.0
"""Seconds for which an idle cluster is watched."""


def drawn(k: int, rows: int, dim: int) -> np.ndarray:
    """Return rows and label of partition `k`: 20 % positive rows, half a unit above the others."""
    rng = np.random.default_rng(k)
    table = rng.standard_normal((rows, dim + 1), dtype=np.float32)
    table[:, dim] = rng.random(rows, dtype=np.float32) < 0.2
    table[:, :dim] += np.float32(0.5) * table[:, dim:]
    return table


def rows_here(n: int, dim: int, parts: int) -> PartitionedRows:
    """Return the rows in this process."""
    found = []
    for k in range(parts):
        table = drawn(k, n // parts, dim)
        X = np.ascontiguousarray(table[:, :dim])
        found.append(ArrayPartition(X, table[:, dim] > 0, None, f"partition {k}"))
    return PartitionedRows(found)


def rows_there(n: int, dim: int, parts: int) -> PartitionedRows:
    """Return the rows on the workers of the current client, each partition drawn by one of them."""
    import dask.array as da

    def block(block_info: Any = None, label: bool = False) -> np.ndarray:
        table = drawn(block_info[None]["chunk-location"][0], n // parts, dim)
        return (table[:, dim] if label else table[:, :dim]).copy()

    sizes, arrays = (n // parts,) * parts, da  # dask's own types fit neither way
    made: Any = arrays
    X = made.map_blocks(block, chunks=(sizes, (dim,)), dtype=np.float32)
    y = made.map_blocks(block, label=True, chunks=(sizes,), dtype=np.float32)
    return rows_of_dask(X, y, None, None)[0]


def in_turns(
    here: PartitionedRows, there: PartitionedRows, client: Any, repeats: int
) -> tuple[float, Spent]:
    """Return least CPU seconds of an evaluation in this process, and what one takes there."""
    one, other = evaluation(here), evaluation(there)
    one()
    other()
    units, found = [], []
    for _ in range(repeats):
        start = time.process_time()
        one()
        units.append(time.process_time() - start)
        found.append(spent(client, other))
    return min(units), min(found)


def begin_peak() -> None:
    """Forget the most bytes that this process has held so far; Linux alone can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_here() -> int:
    """Return the most bytes that this process has held since `begin_peak`."""
    told = Path("/proc/self/status").read_text()
    return 1024 * int(told.partition("VmHWM:")[2].split()[0])


def message_bytes(rows: PartitionedRows) -> tuple[int, int]:
    """Return the bytes that a worker is sent, and what all tasks send back, in one evaluation."""
    from distributed.protocol import serialize_bytes

    sent = [0, 0]
    engine = rows.engine
    there, heard = engine._there, engine._heard

    def to(task: Any, key: np.ndarray) -> Any:
        sent[0] += len(serialize_bytes(task)) + key.nbytes
        return there(task, key)

    def back(name: str, where: Any, task: Any, asked: list[Any], add: Any) -> Any:
        sent[1] += sum(len(serialize_bytes(future.result())) for future in asked)
        return heard(name, where, task, asked, add)

    engine._there, engine._heard = to, back
    evaluation(rows)()
    engine._there, engine._heard = there, heard
    return sent[0], sent[1]


@benchmark(
    n="rows",
    dim="columns",
    parts="partitions",
    workers="of dask",
    repeats="evaluations of which the best counts",
    lam="weight of the penalty; 0 leaves the solve out",
)
def main(
    n: int = 10_000_000,
    dim: int = 10,
    parts: int = 10,
    workers: tuple[int, ...] = (1, 2),
    repeats: int = 3,
    lam: float = 1e-2,
) -> Lines:
    """Yield the lines of the table."""
    n -= n % parts
    yield Table(
        f"{n:.0e} rows of {dim} float32 columns in {parts} partitions: one evaluation",
        *("what:<18", "here CPU s:10.2f", "CPU s:8.2f", "clock s:8.2f", "overhead:9.1%"),
        *("worker MB beyond rows:22.0f", "MB to a worker:15.2f", "MB back a partition:20.2f"),
        "solve:",
    )
    compile_evaluation(dim)
    here = rows_here(n, dim, parts)
    told = said(solve(here, None, lam, tol=1e-6)) if lam else ""
    yield ("this process", *(None,) * 7, told)
    profiles = []
    for count in workers:
        line, profile = _on_dask(here, n, dim, parts, count, repeats, lam)
        yield line
        profiles.append(profile)
    yield Table(
        "what the overhead is made of, in shares of the CPU of this process",
        *("what:<18", "tasks:8d", "in tasks:9.1%", "around them:12.1%"),
        *("client, scheduler:18.1%", "of it idle:11.1%", "idle CPU a s:13.3f"),
    )
    yield from profiles
    return 0


def _on_dask(
    here: PartitionedRows, n: int, dim: int, parts: int, workers: int, repeats: int, lam: float
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the lines of a cluster of this machine in both tables."""
    from distributed import Client, LocalCluster

    words: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=workers, **words) as cluster, Client(cluster) as made:
        client: Any = made  # dask's own types fit no use of what it returns
        client.run(watch_tasks)
        rows = rows_there(n, dim, parts)
        client.run(begin_peak)
        idle = watched(lambda: time.sleep(IDLE))[1] / IDLE
        unit, found = in_turns(here, rows, client, repeats)
        told = said(solve(rows, None, lam, tol=1e-6)) if lam else ""
        there, back = message_bytes(rows)
        peaks = client.run(peak_here)
        held = {address: 0 for address in peaks}
        for addresses in client.who_has(rows.engine._parts).values():
            for address in addresses:
                held[address] += n // parts * (4 * dim + 1)
        beyond = max(peaks[address] - held[address] for address in peaks) / 1e6
    name = f"dask, {workers} {'workers' if workers > 1 else 'worker'}"
    sent = there / 1e6, back / 1e6 / parts
    line = (*(name, unit, found.cpu, found.clock, found.cpu / unit - 1, beyond, *sent, told),)
    around = found.cpu - found.here - found.tasks
    shares = found.tasks / unit - 1, around / unit, found.here / unit, idle * found.clock / unit
    return line, (name, found.count, *shares, idle)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    raise SystemExit(main())
