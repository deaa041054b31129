"""Rows in partitions: a Parquet dataset of n x 4 float32 columns, read by one or more processes.

Written here and removed afterwards. A reading is one pass over the same columns with pyarrow and
nothing else. CPU seconds are those of this process and all that it started; seconds by the clock
stand beside them. Memory is the largest sum of the resident sizes of these processes.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np

from ....exact.api.solve import solve
from ....exact.errors import InputError
from ...files.parquet_folder import ParquetFolder, read_parquet_folder
from ..harness import Line, Lines, Table, benchmark
from ..measuring.partitions_work import compile_evaluation, evaluation, said, watched

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


CLUSTERS = (1e9, 1, 2), (1e10, 4, 16), (1e12, 100, 16)
"""Rows, machines, and cores of each, for which a solve is projected."""

LEAST_SECONDS = 1e-6
"""What a reading takes at least: the clock may not move over a small file."""


@benchmark(
    n="rows",
    dim="columns of features",
    lam="weight of the penalty",
    jobs="processes of the local adapter",
    folder="where the dataset is written",
)
def main(
    n: int = 20_000_000,
    dim: int = 4,
    lam: float = 1e-2,
    jobs: tuple[int, ...] = (1, 2),
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
            *("what:<39", "CPU s:9.2f", "readings:9.2f", "clock s:9.1f", "ns a row:9.1f"),
            *("GB:6.2f", "result:"),
        )
        found, cpu, opened, most = watched(lambda: read_parquet_folder(place, "y"))
        read_once(found)
        _, unit, clock, peak = watched(lambda: read_once(found))
        unit = max(unit, LEAST_SECONDS)
        yield "one bare reading", unit, 1.0, clock, 1e9 * unit / n, peak, ""
        yield "finding the labels", cpu, cpu / unit, opened, 1e9 * cpu / n, most, ""
        compile_evaluation(dim)
        least = float("inf")
        for count in jobs:
            least = min(least, (yield from _local(found, count, lam, unit, (cpu, opened))))
    if jobs:
        yield from _projected(least, dim)
    return 0


def _local(
    found: ParquetFolder, jobs: int, lam: float, unit: float, labels: tuple[float, float]
) -> Generator[Line, None, float]:
    """Yield the lines of the local adapter; return the seconds a row of first pass and solve.

    `labels` took so many seconds, CPU and by the clock.
    """
    name, n = f"{jobs} processes" if jobs > 1 else "this process", found.n

    def line(what: str, cpu: float, clock: float, peak: float, told: str = "") -> tuple[Any, ...]:
        return f"{name}: {what}", cpu, cpu / unit, clock, 1e9 * cpu / n, peak, told

    rows, first, begun, peak = watched(lambda: found.rows(jobs))
    yield line("first pass", first, begun, peak)
    solution, cpu, clock, peak = watched(lambda: solve(rows, None, lam, tol=1e-6))
    yield line("solve to 1e-6", cpu, clock, peak, said(solution))
    _, *once = watched(evaluation(rows))
    yield line("an evaluation", once[0], once[1], once[2])
    yield line(
        "labels, first pass, solve", labels[0] + first + cpu, labels[1] + begun + clock, peak
    )
    return (first + cpu) / n


def _projected(second: float, dim: int) -> Lines:
    """Yield what a solve takes on clusters, at so many seconds a row."""
    yield Table(
        f"projected, not run: {1e9 * second:.0f} ns a row, first pass and solve, {dim} columns",
        *("rows:>6.0e", "data GB:9.0f", "machines:9d", "cores:6d", "core hours:11.1f"),
        *("minutes:8.1f", "GB of rows a machine:21.0f"),
    )
    for n, machines, cores in CLUSTERS:
        size, hours = 4e-9 * n * dim, n * second / 3600
        yield (
            n,
            size,
            machines,
            machines * cores,
            hours,
            60 * hours / machines / cores,
            size / machines,
        )
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    raise SystemExit(main())
