"""Where the numbers of an undecided finding lean, what keeps them from deciding, and how many do.

A finding is undecided because its intervals cross the line, or because our run departs from the
paper's in what could have made its verdict; then "measured" ends with that verdict and why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..claims.verdicts import ERROR, Verdict
from .clauses import first_clause, shortened
from .row import Row

CAPPED = re.compile(r" ?\(by itself (?P<verdict>[a-z-]+); capped: (?P<why>.*)\)$", re.DOTALL)
# One of the deviations as a row's details have them: its words, and which way it works.
DEVIATION = re.compile(r"(?P<words>.*?) \((?:can|moves) [a-z ]+\.\)(?: |$)", re.DOTALL)

# Begins what was measured where there are several comparisons.
COUNT = re.compile(r"\d+ for, \d+ against, \d+ in all")


def by_itself(row: Row) -> str:
    """Return the verdict of the numbers alone."""
    found = CAPPED.search(str(row.measured))
    return row.verdict if found is None else found["verdict"]


def measured_alone(row: Row) -> str | float:
    """Return what was measured, without what it would say by itself and why it does not."""
    return CAPPED.sub("", row.measured) if isinstance(row.measured, str) else row.measured


def departures(row: Row) -> list[str]:
    """Return the deviations that keep the numbers from deciding, in their own words."""
    found = CAPPED.search(str(row.measured))
    if found is None:
        return []
    all_of_them = [each["words"] for each in DEVIATION.finditer(row.details.get("deviations", ""))]
    return [words for words in all_of_them if words in found["why"]] or [found["why"]]


def by_departure(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows under the first clause of the first of them, "" where there is none."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        first = next(iter(departures(row)), "")
        found.setdefault(first_clause(first), []).append(row)
    return found


def in_short(row: Row) -> str:
    """Return what the landing page shows of a finding that has no departure above it.

    The verdicts of several comparisons are counted where they come to none together.
    """
    text = str(measured_alone(row))
    count = COUNT.match(text) if row.verdict == Verdict.UNDECIDED else None
    return count[0] if count else shortened(text)


def told(rows: Sequence[Row]) -> str:
    """Return how the findings among the rows fare, and where the undecided ones lean."""
    findings = [row for row in rows if row.kind == "finding"]
    if not findings:
        return ""
    counts = {
        name: sum(r.verdict == name for r in findings) for name in (*map(str, Verdict), ERROR)
    }
    always = (Verdict.BORNE_OUT, Verdict.CONTRADICTED, Verdict.UNDECIDED)
    named = [
        f"{counts[name] or 'none'} {name.replace('-', ' ')}"
        for name in (*always, Verdict.NOT_TESTABLE, ERROR)
        if name in always or counts[name]
    ]
    many = f"{len(findings)} finding{'s' if len(findings) > 1 else ''}"
    said = f"{many}: {', '.join(named)}."
    open_ones = [row for row in findings if row.verdict == Verdict.UNDECIDED]
    lean = [by_itself(row) for row in open_ones]
    pro, con = lean.count(Verdict.BORNE_OUT), lean.count(Verdict.CONTRADICTED)
    if not open_ones:
        return said
    rest = len(lean) - pro - con
    where = f"{'the other ' if pro or con else ''}{'one' if rest == 1 else rest}"
    crossing = f"; in {where} an interval crosses the line" if rest else ""
    return (
        f"{said} The numbers alone would bear out {pro or 'none'} of the {len(lean)} undecided and "
        f"contradict {con or 'none'}{crossing}."
    )
