"""What the benchmarks share: clocks, rows drawn from a seed, and tables that grow into files."""

from __future__ import annotations

import contextlib
import csv
import math
import os
import re
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Event, Thread
from typing import Any, TypeVar

import click
import numpy as np
import psutil
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from aucert.exact import InputError
from aucert.exact.tools.compiling import compile_at_once

T = TypeVar("T")
Row = dict[str, Any]
Labelled = tuple[Any, np.ndarray]
Part = Callable[..., Iterator[Row]]
"""Takes whether to be quick, and options of its own; yields the rows of a table."""

QUICK, LEAST_ROWS = 100, 300  # `--quick` takes one row of 100, to see whether everything runs
SHORT = 0.02  # seconds below which a call is repeated within a round

MADE: dict[str, list[Row]] = {}
"""The rows of each table, as far as they are made in this run."""


class NotRun(Exception):
    """Why a row has no numbers."""


def timed(
    call: Callable[[], T],
    repeats: int = 1,
    clock: Callable[[], float] = time.process_time,
    enough: float = math.inf,
) -> tuple[T, float]:
    """Return what the last call returned, and the least seconds of `repeats` rounds.

    A first call, which may compile, is not timed, unless it takes `enough` seconds.
    """
    start, calls, best = clock(), 1, math.inf
    found = call()
    if clock() - start >= enough:
        return found, clock() - start
    for _ in range(repeats):
        while True:
            start = clock()
            for _ in range(calls):
                found = call()
            spent = clock() - start
            if spent >= SHORT or calls >= 1000:
                break
            calls *= 2
        best = min(best, spent / calls)
    return found, best


def once(call: Callable[[], T]) -> tuple[T, float]:
    """Return what a single call returned, and its CPU seconds."""
    return timed(call, enough=0.0)


def reading(X: Any) -> Callable[[], object]:
    """Return one blocked reading X'(X w) of the rows without a sort: its time is R."""
    w, step = np.arange(1.0, X.shape[1] + 1), max(1, (1 << 18) // X.shape[1])
    if sp.issparse(X):
        return lambda: X.T @ (X @ w)

    def read() -> object:
        total = np.zeros(X.shape[1])
        for start in range(0, X.shape[0], step):
            rows = X[start : start + step]
            total += (rows @ w) @ rows
        return total

    return read


@dataclass
class Used:
    """CPU seconds, and the most bytes of memory, mapped files excluded, beyond those before."""

    cpu: float = 0.0
    peak: int = 0


@contextlib.contextmanager
def watching() -> Iterator[Used]:
    """Yield what this process and its children use: `cpu` is filled in when the block ends."""
    used, seen, ended, own = Used(), dict[int, float](), Event(), psutil.Process()

    def look() -> int:
        size = 0
        for process in (own, *own.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                spent, memory = process.cpu_times(), process.memory_info()
                seen[process.pid] = spent.user + spent.system
                size += memory.rss - getattr(memory, "shared", 0)
        return size

    def watch() -> None:
        while not ended.wait(0.02):
            used.peak = max(used.peak, look() - held)

    held, before = look(), sum(seen.values())
    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield used
    finally:
        ended.set()
        thread.join()
        used.peak, used.cpu = max(used.peak, look() - held), sum(seen.values()) - before


def proved(found: Any) -> float:
    """Return the relative gap that a solution's certificate proves, rounding included."""
    return found.certificate.gap / found.certificate.primal


def plane(n: int, seed: int = 0) -> Labelled:
    """Return two features of the linear model, 20 % positive. [ScalingUp, Section 4.1]"""
    from aucert.validation.data.datasets import linear

    data = linear(n, seed)
    return data.X, data.is_positive


def plain(n: int, d: int) -> Labelled:
    """Return normal rows whose label is a linear form and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) / np.sqrt(d) + 0.7 * rng.normal(size=n) > 0.5


def curved(n: int, d: int = 10) -> Labelled:
    """Return normal rows whose label is a quadratic form and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.7 * rng.normal(size=n) > 0.5


def sparse(n: int, d: int, entries: int = 60) -> Labelled:
    """Return rows of `entries` numbers each in random columns, labelled as `plain`."""
    rng = np.random.default_rng(0)
    columns = rng.integers(0, d, n * entries)
    values = rng.normal(size=n * entries) / 8
    X = sp.csr_matrix((values, columns, np.arange(0, n * entries + 1, entries)), (n, d))
    X.sum_duplicates()
    return X, np.asarray(X @ rng.normal(size=d)).ravel() + 0.5 * rng.normal(size=n) > 0.5


def fewer(quick: bool) -> Callable[[int], int]:
    """Return the function that says how many of n rows are taken."""
    return (lambda n: max(n // QUICK, min(n, LEAST_ROWS))) if quick else (lambda n: n)


def short(number: float) -> str:
    """Return 1e5 or 1e-3, as it is written in a row's name."""
    return f"{number:.0e}".replace("e+0", "e").replace("e-0", "e-")


def _shown(value: Any) -> str:
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def as_text(rows: list[Row]) -> str:
    """Return rows as aligned columns: text on the left, numbers on the right, `-` for None. Columns
    of nothing else are left out."""
    columns = []
    for title in rows[0]:
        cells = [title, *(_shown(row[title]) for row in rows)]
        if set(cells[1:]) == {"-"}:
            continue
        text, width = any(isinstance(row[title], str) for row in rows), max(map(len, cells))
        columns.append([cell.ljust(width) if text else cell.rjust(width) for cell in cells])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


@cache  # its first table makes the page differ from the commit
def where() -> str:
    """Return the commit (`unknown` outside a clone), the date and the processor of this run."""
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--abbrev=8", "--dirty"]
    commit = subprocess.run(git, capture_output=True, text=True).stdout.strip() or "unknown"
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return f"commit {commit}, {time.strftime('%F')}, {os.cpu_count()} cores of {cpu and cpu[1]}"


def into_page(page: Path, name: str, text: str) -> None:
    """Replace the block that follows `<!-- table NAME -->` in a page."""
    pattern = rf"(<!-- table {re.escape(name)} -->\n+```text\n).*?(\n```)"
    old = page.read_text()
    new, count = re.subn(pattern, lambda m: m[1] + text + m[2], old, count=1, flags=re.DOTALL)
    if not count:
        raise InputError(f"{page}: it has no block for the table {name}")
    page.write_text(new)


def command(parts: dict[str, Part], doc: str | None, *more: Any) -> click.Command:
    """Return the command that prints the tables; options in `more` are passed on to the parts.

    Rows go to stderr, and into their CSV file, as they come.
    """
    existing = click.Path(exists=True, path_type=Path)

    @click.command(help=doc)
    @click.option("--only", multiple=True, type=click.Choice(list(parts)), help="One part.")
    @click.option("--quick", is_flag=True, help=f"One row of {QUICK}, one run each.")
    @click.option("--out", type=existing, help="Folder for each table as NAME.csv.")
    @click.option("--page", type=existing, help="Markdown page whose tables are renewed.")
    def main(
        only: tuple[str, ...], quick: bool, out: Path | None, page: Path | None, **asked: Any
    ) -> None:
        compile_at_once()
        try:
            with threadpool_limits(1), warnings.catch_warnings(action="ignore"):  # gaps say more
                for name in only or parts:
                    rows = MADE[name] = []
                    for row in parts[name](quick, **asked):
                        rows.append(row)
                        click.echo("  ".join(map(_shown, row.values())), err=True)
                        if out is not None:
                            with (out / f"{name}.csv").open("w", newline="") as file:
                                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                                writer.writeheader()
                                writer.writerows(rows)
                    if rows:
                        click.echo(f"\n{name}\n{as_text(rows)}")
                        if page is not None:
                            into_page(page, name, f"{as_text(rows)}\n\n{where()}")
        except InputError as error:
            raise click.UsageError(str(error)) from error

    for option in more:
        main = option(main)
    return main
