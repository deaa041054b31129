"""What the findings say of a page: judged from the very numbers that the page shows."""

from __future__ import annotations

from ..claims.verdicts import Verdict
from ..tables.said import Said
from ..tables.table import Page, Table
from .numbers import Numbers, of_page
from .registry import FINDINGS

NOT_RUN = "The numbers on the page do not suffice to judge it."


def said_on(table: Table, page: Page) -> tuple[Said, ...]:
    """Return each finding of a table with its verdict on a page of it.

    Parameters
    ----------
    table : Table
    page : Page
        May lack numbers: a finding that needs one of them is undecided.
    """
    return said_by(of_page(table.name, "this page", page))


def said_by(numbers: Numbers) -> tuple[Said, ...]:
    """Return each finding of a table with its verdict by these numbers."""
    found = []
    for finding in FINDINGS.values():
        if finding.table != numbers.table:
            continue
        try:
            judged = finding.judged(numbers)
            verdict, measured = judged.verdict, judged.measured
        except (KeyError, ValueError, ZeroDivisionError):  # of numbers that are not there
            verdict, measured = Verdict.UNDECIDED, NOT_RUN
        found.append(Said(finding.name, finding.statement, str(verdict), measured))
    return tuple(found)
