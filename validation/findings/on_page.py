"""What the findings say of a page: judged from the very numbers that the page shows."""

from __future__ import annotations

from collections.abc import Sequence

from ..claims.verdicts import Verdict
from ..tables.said import Said
from ..tables.table import Page, Results, Table
from .capping import Bearing, Deviation, capped
from .numbers import Numbers, of_page
from .registry import FINDINGS

NOT_RUN = "What has been run does not suffice to judge it."

# What caps every verdict on a page of the quick profile.
QUICK = Deviation(
    "a quick run, whose budget stands below, is far from the paper's protocol", Bearing.EITHER
)


def said_on(table: Table, page: Page, results: Results) -> tuple[Said, ...]:
    """Return each finding of a table with its verdict on a page of it."""
    if len(results.done) < len(results.parts):
        return tuple(
            Said(finding.name, finding.statement, str(Verdict.UNDECIDED), NOT_RUN)
            for finding in FINDINGS.values()
            if finding.table == table.name
        )
    numbers = of_page(table.name, "this page", page)
    return said_by(numbers, () if results.run.profile == "full" else (QUICK,))


def said_by(numbers: Numbers, instead: Sequence[Deviation] = ()) -> tuple[Said, ...]:
    """Return each finding of a table with its verdict by these numbers.

    `instead` are deviations that take the place of the finding's own.
    """
    found = []
    for finding in FINDINGS.values():
        if finding.table != numbers.table:
            continue
        try:
            judged = capped(finding.judge(numbers), instead or finding.deviations)
            verdict, measured = judged.verdict, judged.measured
        except (KeyError, ValueError, ZeroDivisionError):  # of numbers that are not there
            verdict, measured = Verdict.UNDECIDED, NOT_RUN
        found.append(Said(finding.name, finding.statement, str(verdict), measured))
    return tuple(found)
