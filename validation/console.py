"""The table of a run on a terminal, and progress while it runs: readable without colour."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from .claim import Claim, Row
from .report import Report, shown, shown_seconds


def claims_table(entries: Sequence[Claim]) -> Table:
    """Return the list of claims that `--list` shows."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("claim", "place", "kind", "expected", "statement"):
        table.add_column(heading, overflow="fold", vertical="top")
    for entry in entries:
        place = f"{entry.paper}, {entry.place}"
        table.add_row(
            *map(Text, (entry.name, place, entry.kind, entry.expected_verdict, entry.statement))
        )
    return table


def report_table(report: Report) -> Table:
    """Return one line a claim: verdict beside the expected one, measured beside printed."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("claim", overflow="fold", ratio=3)
    table.add_column("place", overflow="fold", ratio=2)
    table.add_column("kind", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("expected", no_wrap=True)
    table.add_column("measured (printed)", overflow="fold", ratio=4)
    table.add_column("s", justify="right", no_wrap=True)
    for row in report.rows:
        table.add_row(
            Text(row.name),
            Text(f"{row.paper}, {row.place}"),
            Text(row.kind),
            verdict_text(row),
            Text(row.expected_verdict),
            Text(_measured(row)),
            Text(shown_seconds(row.seconds)),
        )
    return table


def verdict_text(row: Row) -> Text:
    """Return the verdict; one that differs is marked by a sign, capitals and colour."""
    if row.as_expected:
        return Text(f"  {row.verdict}", style="green")
    return Text(f"! {row.verdict.upper()}", style="bold red")


def _measured(row: Row) -> str:
    printed = "" if row.printed is None else f" ({row.printed})"
    return f"{shown(row.measured)}{printed}"


def summary_line(report: Report) -> str:
    """Return the last line: how many verdicts are as expected, and which are not."""
    count, wrong = len(report.rows), report.unexpected
    time = f"{shown_seconds(report.seconds)} s"
    if not wrong:
        return f"All {count} verdicts are the expected ones ({time})."
    names = ", ".join(row.name for row in wrong)
    return f"{len(wrong)} of {count} verdicts differ from the expected ones: {names} ({time})."


def print_report(report: Report, console: Console | None = None) -> None:
    """Print the table and the last line on standard output."""
    console = console or Console(highlight=False)
    console.print(report_table(report))
    console.print(Text(summary_line(report), style="" if not report.unexpected else "bold red"))


@contextmanager
def claims_progress(quiet: bool = False) -> Iterator[object]:
    """Yield a function (done, total, row) for `suite.run`: a bar on standard error.

    Parameters
    ----------
    quiet : bool
        Show nothing, even on a terminal; elsewhere nothing is shown anyway.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
    with bar:
        task = bar.add_task("claims", total=None)

        def show(done: int, total: int, row: Row) -> None:
            bar.update(task, completed=done, total=total, description=f"claims, {row.name} done")

        yield show
