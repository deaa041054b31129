"""The table of a run on a terminal, and progress while it runs: readable without colour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...claims.claim import Claim
from ...claims.verdicts import PAPER_KINDS
from ...report.document import Report, shown, shown_seconds
from ...report.row import Row


def claims_table(entries: Sequence[Claim]) -> Table:
    """Return the list of claims that `--list` shows."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("claim", "place", "kind", "recorded", "statement"):
        table.add_column(heading, overflow="fold", vertical="top")
    for entry in entries:
        place = f"{entry.paper}, {entry.place}"
        table.add_row(
            *map(Text, (entry.name, place, entry.kind, entry.expected_verdict, entry.statement))
        )
    return table


WIDE = 130
"""Columns of a terminal from which every claim fits in a line or two of a table."""


def report_table(report: Report, width: int = WIDE) -> Table:
    """Return the verdicts beside the expected ones, and what was measured beside what is printed.

    Parameters
    ----------
    report : Report
    width : int
        Columns of the terminal; below `WIDE` the claim, its place and the numbers share a column.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("verdict", no_wrap=True)
    table.add_column("recorded", no_wrap=True)
    table.add_column("s", justify="right", no_wrap=True)
    if width >= WIDE:
        table.add_column("claim", no_wrap=True)
        table.add_column("place", overflow="fold")
        table.add_column("kind", no_wrap=True)
        table.add_column("measured; printed", overflow="fold")
    else:
        table.add_column("claim; place, kind; measured; printed", overflow="fold")
    for row in report.rows:
        start = (verdict_text(row), Text(row.expected_verdict), Text(shown_seconds(row.seconds)))
        place = f"{row.paper}, {row.place}"
        if width >= WIDE:
            table.add_row(*start, *map(Text, (row.name, place, row.kind, _measured(row))))
        else:
            name = Text(f"{row.name}\n", style="bold")
            table.add_row(*start, name + Text(f"{place}, {row.kind}\n{_measured(row)}"))
    return table


def verdict_text(row: Row) -> Text:
    """Return the verdict; one that differs is marked by a sign, capitals and colour."""
    if row.as_expected:
        return Text(f"  {row.verdict}", style="green")
    return Text(f"! {row.verdict.upper()}", style="bold red")


def _measured(row: Row) -> str:
    printed = "" if row.printed is None else f"; printed: {row.printed}"
    return f"{shown(row.measured)}{printed}"


def summary_line(report: Report) -> str:
    """Return the last line: what the papers' statements came to, and which verdicts changed."""
    count, wrong = len(report.rows), report.unexpected
    time = f"{shown_seconds(report.seconds)} s"
    if report.taken_over:
        time += f"; {report.taken_over} of them taken over from an earlier run"
    if not wrong:
        return f"{counts_line(report)}All {count} verdicts are the recorded ones ({time})."
    names = ", ".join(row.name for row in wrong)
    changed = f"{len(wrong)} of {count} verdicts differ from the recorded ones: {names}"
    return f"{counts_line(report)}{changed} ({time})."


def counts_line(report: Report) -> str:
    """Return how many theorems and findings of the papers came to what."""
    parts = []
    for kind in PAPER_KINDS:
        found = Counter(row.verdict for row in report.rows if row.kind == kind)
        if found:
            parts.append(f"{kind}s: " + ", ".join(f"{n} {verdict}" for verdict, n in found.items()))
    return "; ".join(parts) + ".\n" if parts else ""


def print_report(report: Report, console: Console | None = None) -> None:
    """Print the table and the last line on standard output."""
    target = Console(highlight=False) if console is None else console
    target.print(report_table(report, target.width))
    target.print(Text(summary_line(report), style="" if not report.unexpected else "bold red"))
