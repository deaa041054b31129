"""Rows in partitions: a Parquet dataset read by one or more processes, and workers of dask.

    python docs/benchmarks/partitions.py --n 1000000000 --folder DIR --only files

The dataset, float32 columns and a label, is written and removed again. A reading is one pass over
its columns with pyarrow and nothing else. CPU seconds are those of this process and all that it
started; memory is what they hold beyond what was held before. `cluster` compares the rows of a dask
cluster of this machine with the same rows in this process, one evaluation each, taking turns.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

import common as c
from aucert.exact import PartitionedRows, solve
from aucert.exact.certificate.evaluation import Evaluator
from aucert.exact.formulation.request import Request, partitioned_problem, rows_of_dask
from aucert.validation.files.parquet_folder import ParquetFolder, read_parquet_folder
from aucert.validation.files.tables import Selection

LAM = 1e-2
FILES, GROUP = 8, 1 << 20  # files of the dataset, and rows of their row groups
BINS = 1 << 10  # per unit of score: the grid that a gap of 1e-6 needs


def watched(work: Callable[[], Any]) -> tuple[Any, tuple[float, float, float]]:
    """Return what `work` returns; CPU seconds, seconds by the clock, and the peak in GB."""
    start = time.perf_counter()
    with c.watching() as tree:
        found = work()
    return found, (max(tree.cpu, 0.01), time.perf_counter() - start, tree.peak / 1e9)


def drawn(seed: Any, rows: int, dim: int) -> np.ndarray:
    """Return float32 rows and their label: 20 % positive rows, half a unit above the others."""
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((rows, dim + 1), dtype=np.float32)
    table[:, dim] = rng.random(rows, dtype=np.float32) < 0.2
    table[:, :dim] += np.float32(0.5) * table[:, dim:]
    return table


def split(table: np.ndarray, parts: int) -> PartitionedRows:
    """Return drawn rows in partitions of equal size."""
    return PartitionedRows([(part[:, :-1].copy(), part[:, -1] > 0)
                            for part in np.split(table, parts)])  # fmt: skip


def evaluation(rows: PartitionedRows) -> Callable[[], object]:
    """Return the function that evaluates once, at weights of length 0.8."""
    problem = partitioned_problem(rows, None, Request.of(LAM))
    assert problem is not None
    w = np.full(rows.dim, 0.8 / np.sqrt(rows.dim))
    return lambda: Evaluator(problem).at(w, BINS, 1)


# Files


def write_dataset(folder: Path, n: int, dim: int) -> None:
    """Write the dataset."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = [*((f"x{j}", pa.float32()) for j in range(dim)), ("y", pa.int8())]
    how: dict[str, Any] = {"compression": "none", "use_dictionary": False}
    for k in range(FILES):
        with pq.ParquetWriter(folder / f"part-{k}.parquet", pa.schema(columns), **how) as writer:
            for start in range(0, n // FILES, GROUP):
                *X, y = drawn((k, start), min(GROUP, n // FILES - start), dim).T.copy()
                writer.write_table(pa.table([*X, y.astype(np.int8)], schema=writer.schema), GROUP)


def read_once(found: ParquetFolder) -> None:
    """Read all columns once, a row group at a time, and do nothing with them."""
    import pyarrow.parquet as pq

    names = [*found.columns, found.target]
    for path in dict.fromkeys(part.path for part in found.partitions):
        with pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False) as file:
            for group in range(file.num_row_groups):
                file.read_row_group(group, columns=names, use_threads=False)


def files(
    quick: bool, n: int, dim: int, jobs: tuple[int, ...], folder: Path, **_: Any
) -> Iterator[c.Row]:
    """Yield what a first pass, an evaluation and a solve take."""
    n = n // c.QUICK if quick else n
    with tempfile.TemporaryDirectory(dir=folder) as place:
        write_dataset(Path(place), n, dim)
        found, labels = watched(lambda: read_parquet_folder(place, Selection("y")))
        read_once(found)
        _, bare = watched(lambda: read_once(found))

        def row(what: str, taken: tuple[float, float, float], result: str = "") -> c.Row:
            return {"n": n, "what": what, "CPU s": taken[0], "readings": taken[0] / bare[0],
                    "clock s": taken[1], "ns a row": 1e9 * taken[0] / n, "GB": taken[2],
                    "result": result}  # fmt: skip

        yield row("one bare reading", bare)
        yield row("finding the labels", labels)
        evaluation(split(drawn(0, 100, dim), 2))()  # compiles it
        for count in jobs:
            who = f"{count} processes" if count > 1 else "this process"
            rows, first = watched(partial(found.rows, count))
            yield row(f"{who}: first pass", first)
            solution, solved = watched(partial(solve, rows, None, LAM, tol=1e-6))
            said = f"proved {c.proved(solution):.1e}, {solution.n_iter} evaluations"
            yield row(f"{who}: solve to 1e-6", solved, said)
            yield row(f"{who}: an evaluation", watched(evaluation(rows))[1])


# Dask


def rows_there(n: int, dim: int, parts: int) -> PartitionedRows:
    """Return the rows on the workers of the current client, each partition drawn by one of them."""
    import dask.array as da

    made: Any = da  # its own types fit no use of it

    def block(block_info: Any = None, label: bool = False) -> np.ndarray:
        table = drawn(block_info[None]["chunk-location"][0], n // parts, dim)
        return (table[:, dim] if label else table[:, :dim]).copy()

    sizes = (n // parts,) * parts
    X = made.map_blocks(block, chunks=(sizes, (dim,)), dtype=np.float32)
    y = made.map_blocks(block, label=True, chunks=(sizes,), dtype=np.float32)
    return rows_of_dask(X, y, None, None)[0]


def cluster(quick: bool, n: int, dim: int, workers: tuple[int, ...], **_: Any) -> Iterator[c.Row]:
    """Yield CPU seconds of an evaluation here and on dask's workers, the best of three turns."""
    from distributed import Client, LocalCluster

    parts, n = 10, (n // c.QUICK if quick else n) // 10 * 10
    evaluation(split(drawn(0, 100, dim), 2))()  # compiles it
    table = np.concatenate([drawn(k, n // parts, dim) for k in range(parts)])
    here = evaluation(split(table, parts))
    for count in workers[: 1 if quick else None]:
        how: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": ":0"}
        with LocalCluster(n_workers=count, **how) as made, Client(made):
            rows = rows_there(n, dim, parts)
            there = evaluation(rows)
            there()
            turns = [(watched(here)[1][0], *watched(there)[1]) for _ in range(1 if quick else 3)]
            alone, cpu, clock, _ = (min(column) for column in zip(*turns, strict=True))
            _, idle = watched(lambda: time.sleep(1 if quick else 5))
            found = solve(rows, None, LAM, tol=1e-6)
            yield {"n": n, "d": dim, "workers": count, "here, CPU s": alone, "CPU s": cpu,
                   "clock s": clock, "overhead": cpu / alone - 1,
                   "idle, CPU a s": idle[0] / idle[1], "proved": c.proved(found)}  # fmt: skip


main = c.command(
    {"files": files, "cluster": cluster},
    __doc__,
    click.option("--n", default=20_000_000, show_default=True, help="Rows."),
    click.option("--dim", default=4, show_default=True, help="Columns."),
    click.option("--jobs", multiple=True, default=(1, 2), show_default=True, help="Processes."),
    click.option("--workers", multiple=True, default=(1, 2), show_default=True, help="Dask's."),
    click.option("--folder", type=Path, default=Path(tempfile.gettempdir()), help="For the data."),
)

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
