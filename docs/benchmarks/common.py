"""What the benchmarks share: clocks, rows drawn from a seed, and tables that grow into files."""

from __future__ import annotations

import contextlib
import csv
import math
import re
import time
import warnings
from collections.abc import Callable, Iterator
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

QUICK = 100
"""`--quick` takes one row of so many, to see whether everything runs."""

LEAST_ROWS = 300

SHORT = 0.02
"""Seconds below which a call is repeated within a round."""


class NotRun(Exception):
    """Why a row has no numbers."""


# Clocks


def timed(
    call: Callable[[], T], repeats: int = 1, clock: Callable[[], float] = time.process_time
) -> tuple[T, float]:
    """Return what the last call returned, and the least seconds of `repeats` rounds."""
    best, calls, found = math.inf, 1, call()
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
    start = time.process_time()
    found = call()
    return found, time.process_time() - start


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


class Tree:
    """Watches this process and its children while the block runs.

    `cpu` are their seconds, `peak` the most bytes of memory of their own (mapped files are not
    among it) beyond what was held before.
    """

    def __enter__(self) -> Tree:
        self.peak, self._ended, self._seen = 0, Event(), {}
        self._held = self._look()
        self._before = sum(self._seen.values())
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._watch()
        self.cpu = sum(self._seen.values()) - self._before

    def _watch(self) -> None:
        while True:
            self.peak = max(self.peak, self._look() - self._held)
            if self._ended.wait(0.02):
                return

    def _look(self) -> int:
        size, own = 0, psutil.Process()
        for process in (own, *own.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                spent, memory = process.cpu_times(), process.memory_info()
                self._seen[process.pid] = spent.user + spent.system
                size += memory.rss - getattr(memory, "shared", 0)
        return size


def proved(found: Any) -> float:
    """Return the relative gap that a solution's certificate proves, rounding included."""
    held = found.certificate
    return (held.gap + held.rounding) / held.primal


# Rows


def plane(n: int, seed: int = 0) -> Labelled:
    """Return two features of the linear model, 20 % positive. [ScalingUp, Section 4.1]"""
    from aucert.validation.data.generators import linear

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


def standardised(X: np.ndarray) -> np.ndarray:
    """Return rows whose columns have mean zero and variance one, or are constant."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


# Tables


def as_text(rows: list[Row]) -> str:
    """Return rows as aligned columns: text on the left, numbers on the right, `-` for None."""
    titles = list(rows[0])
    cells = [titles, *([_shown(row[title]) for title in titles] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    left = [any(isinstance(row[title], str) for row in rows) for title in titles]
    lines = (
        "  ".join(
            cell.ljust(width) if text else cell.rjust(width)
            for cell, width, text in zip(line, widths, left, strict=True)
        )
        for line in cells
    )
    return "\n".join(line.rstrip() for line in lines)


def _shown(value: Any) -> str:
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


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
            with threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the gaps say more
                for name in only or parts:
                    kept = _kept(parts[name](quick, **asked), out / f"{name}.csv" if out else None)
                    if rows := list(kept):
                        click.echo(f"\n{name}\n{as_text(rows)}")
                        if page is not None:
                            into_page(page, name, as_text(rows))
        except InputError as error:
            raise click.UsageError(str(error)) from error

    for option in more:
        main = option(main)
    return main


def _kept(rows: Iterator[Row], path: Path | None) -> Iterator[Row]:
    """Yield the rows; each is in the file before the next is made."""
    file = path.open("w", newline="", encoding="utf-8") if path else None
    writer = None
    try:
        for row in rows:
            click.echo("  ".join(_shown(value) for value in row.values()), err=True)
            if file:
                writer = writer or csv.DictWriter(file, list(row), lineterminator="\n")
                if file.tell() == 0:
                    writer.writeheader()
                writer.writerow(row)
                file.flush()
            yield row
    finally:
        if file:
            file.close()


def fewer(quick: bool) -> Callable[[int], int]:
    """Return the function that says how many of n rows are taken."""
    return (lambda n: max(n // QUICK, min(n, LEAST_ROWS))) if quick else (lambda n: n)
