"""What the paper says of a table, with the verdicts that the numbers of its page give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .table import Page, Results, Table

# Verdicts of findings as they stand before statements.
FATES = {"borne-out": "Borne out", "contradicted": "Contradicted", "undecided": "Undecided"}


@dataclass(frozen=True)
class Said:
    """A statement of the paper, judged from the numbers of a page."""

    name: str
    statement: str
    verdict: str
    measured: str


# Returns what the numbers of a page say of the paper's statements.
Judge = Callable[[Table, Page, Results], Sequence[Said]]


def sorted_by_fate(said: Sequence[Said]) -> str:
    """Return the statements, those of one verdict together."""
    found = []
    for verdict, word in FATES.items():
        of_it = " ".join(item.statement for item in said if item.verdict == verdict)
        found += [f"{word}: {of_it}"] if of_it else []
    return " ".join(found)


def statements(said: Sequence[Said]) -> list[str]:
    """Return a line of Markdown for each statement: its verdict, itself, and what was measured."""
    return [
        f"**{item.verdict}**: {item.statement} {item.measured} (`{item.name}`)" for item in said
    ]
