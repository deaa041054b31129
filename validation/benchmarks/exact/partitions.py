"""Rows in partitions: a Parquet dataset of n x 4 float32 columns, read by processes and by dask.

Written here and removed afterwards. A reading is one pass over the same columns with pyarrow and
nothing else. CPU seconds are those of this process and all that it started; seconds by the clock
stand beside them. Memory is the largest sum of the resident sizes of these processes.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ....exact.api.solve import solve
from ....exact.certificate.partitioned.evaluate import Partitioned
from ....exact.errors import InputError
from ....exact.formulation.partitioned import partitioned_problem, rows_of_dask
from ....exact.formulation.request import Request
from ....exact.spaces.partitions.partitioned_rows import PartitionedRows
from ...files.folders.parquet_folder import ParquetFolder, read_parquet_folder
from ..harness import Lines, Table, benchmark
from ..measuring.process_tree import Tree

FILES, GROUP = 8, 1 << 20
"""Files of the dataset, and rows of their row groups."""


def write_dataset(folder: Path, n: int, dim: int, seed: int = 0) -> int:
    """Write the dataset and return its bytes: 20 % positive rows, half a unit above the others."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, size = np.random.default_rng(seed), 0
    for k in range(FILES):
        path, left = folder / f"part-{k}.parquet", n // FILES
        names = [f"x{j}" for j in range(dim)]
        schema = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.int8())])
        plain = {"compression": "none", "use_dictionary": False}
        with pq.ParquetWriter(path, schema, **plain) as writer:  # type: ignore[arg-type]
            while left:
                rows = min(GROUP, left)
                y = rng.random(rows, dtype=np.float32) < 0.2
                columns = [rng.standard_normal(rows, dtype=np.float32) for _ in names]
                parts = [column + np.float32(0.5) * y for column in columns]
                writer.write_table(pa.table([*parts, y.astype(np.int8)], schema), GROUP)
                left -= rows
        size += path.stat().st_size
    return size


def read_once(found: ParquetFolder) -> None:
    """Read all columns once, a row group at a time, and do nothing with them."""
    import pyarrow.parquet as pq

    names = [*found.columns, found.target]
    for path in dict.fromkeys(part.path for part in found.partitions):
        with pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False) as file:
            for group in range(file.num_row_groups):
                file.read_row_group(group, columns=names, use_threads=False)


def watched(work: Callable[[], Any]) -> tuple[Any, float, float, float]:
    """Return what `work` returns, CPU seconds, seconds by the clock, and the peak in GB."""
    with Tree() as tree:
        start = time.perf_counter()
        found = work()
        clock = time.perf_counter() - start
    return found, tree.cpu, clock, tree.peak / 1e9


def evaluation(rows: PartitionedRows, lam: float, w: np.ndarray) -> Callable[[], object]:
    """Return the function that evaluates once, at the grid that a gap of 1e-6 needs."""
    problem = partitioned_problem(rows, None, Request.of(lam))
    assert problem is not None
    return lambda: Partitioned(problem, 1 << 10).with_bins(w, 1 << 10, 1)


LEAST_SECONDS = 1e-6
"""What a reading takes at least: the clock may not move over a small file."""


@benchmark(
    n="rows",
    dim="columns of features",
    lam="weight of the penalty",
    jobs="processes of the local adapter",
    workers="of dask; none leaves dask out",
    folder="where the dataset is written",
)
def main(
    n: int = 20_000_000,
    dim: int = 4,
    lam: float = 1e-2,
    jobs: tuple[int, ...] = (1, 2),
    workers: tuple[int, ...] = (1, 2),
    folder: Path | None = None,
) -> Lines:
    """Yield the lines of the table."""
    folder = Path(tempfile.gettempdir()) if folder is None else folder
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder")
    with tempfile.TemporaryDirectory(dir=folder) as place:
        size = write_dataset(Path(place), n, dim)
        yield f"{n:.0e} rows of {dim} float32 columns and a label, {size / 1e9:.2f} GB of Parquet"
        yield Table(
            "readings: CPU seconds over those of one bare reading",
            *("what:<30", "CPU s:9.2f", "readings:9.2f", "clock s:9.1f", "ns a row:9.1f"),
            *("GB:6.2f", "result:"),
        )
        found = read_parquet_folder(place, "y")
        read_once(found)
        _, unit, clock, peak = watched(lambda: read_once(found))
        unit = max(unit, LEAST_SECONDS)
        yield "one bare reading", unit, 1.0, clock, 1e9 * unit / n, peak, ""
        for count in jobs:
            yield from _local(found, count, lam, unit, n)
        for count in workers:
            yield from _on_dask(place, found, count, lam, unit, n)
    return 0


def _local(found: ParquetFolder, jobs: int, lam: float, unit: float, n: int) -> Lines:
    """Yield the lines of the local adapter."""
    name = f"{jobs} processes" if jobs > 1 else "this process"
    rows, cpu, clock, peak = watched(lambda: found.rows(jobs))
    yield f"{name}: first pass", cpu, cpu / unit, clock, 1e9 * cpu / n, peak, ""
    yield from _timed(name, rows, lam, unit, n)


def _timed(name: str, rows: PartitionedRows, lam: float, unit: float, n: int) -> Lines:
    """Yield the lines of an evaluation and of a whole solve."""
    once = evaluation(rows, lam, np.full(rows.dim, 0.4))
    once()  # compiles
    _, cpu, clock, peak = watched(once)
    yield f"{name}: an evaluation", cpu, cpu / unit, clock, 1e9 * cpu / n, peak, ""
    solution, cpu, clock, peak = watched(lambda: solve(rows, None, lam, tol=1e-6))
    held = solution.certificate
    proved = (held.gap + held.rounding) / held.primal
    told = f"{solution.status}, proved {proved:.1e}, {solution.n_iter} evaluations"
    yield f"{name}: solve to 1e-6", cpu, cpu / unit, clock, 1e9 * cpu / n, peak, told


def _on_dask(
    place: str, found: ParquetFolder, workers: int, lam: float, unit: float, n: int
) -> Lines:
    """Yield the lines of a cluster of this machine, which holds the columns in memory."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    words: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=workers, **words) as cluster, Client(cluster):
        frames: Any = dd  # its types take fewer values than it does
        table = frames.read_parquet(place, split_row_groups=True)
        X, y = table[found.columns], table[found.target]
        rows, _ = rows_of_dask(X, y, None, None)
        yield from _timed(f"dask, {workers} workers", rows, lam, unit, n)
        sent = message_bytes(rows, lam)
        there, back = (size / 1e6 for size in sent)
        yield f"a partition and evaluation: {there:.2f} MB there, {back:.2f} MB back"


def message_bytes(rows: PartitionedRows, lam: float) -> tuple[int, int]:
    """Return the bytes that a partition is sent, and sends, in one evaluation."""
    from distributed.protocol import serialize_bytes

    sent = [0, 0]
    engine = rows.engine
    there, heard = engine._there, engine._folded

    def to(task: Any, key: np.ndarray) -> Any:
        sent[0] += len(serialize_bytes(task)) + key.nbytes
        return there(task, key)

    def back(name: str, task: Any, replies: list[Any], join: Any) -> Any:
        sent[1] += len(serialize_bytes(replies[0].result()))
        return heard(name, task, replies, join)

    engine._there, engine._folded = to, back
    evaluation(rows, lam, np.full(rows.dim, 0.4))()
    engine._there, engine._folded = there, heard
    return sent[0], sent[1]


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    raise SystemExit(main())
