"""A finding of a paper: what is quoted, from which table it is judged, and how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..claims.claim import REGISTRY, Claim, Context, Outcome
from ..claims.recorded import recorded_verdict
from ..tables.pages import departs, shown_value
from ..tables.running.registry import tables
from ..tables.table import Budget, Table
from .capping import Deviation, capped
from .judging import Judged
from .numbers import Numbers, numbers_of

Judge = Callable[[Numbers], Judged]

# Follows what a budget has from the authors' programs, where the paper does not print it.
PROGRAMS = " (programs)"


@dataclass(frozen=True)
class Finding:
    """What a paper says that its experiments show."""

    name: str
    table: str
    quote: str
    statement: str
    judge: Judge
    place: str = ""
    deviations: tuple[Deviation, ...] = ()

    def judged(self, numbers: Numbers) -> Judged:
        """Return what the numbers say, capped by deviations that could have made the verdict."""
        return capped(self.judge(numbers), self.deviations)

    def run(self, context: Context) -> Outcome:
        """Judge the finding from the full reproduction."""
        numbers = numbers_of(self.table)
        found = self.judged(numbers)
        details = {"judged from": f"{self.table}: {numbers.source}"}
        if self.deviations:
            details["deviations"] = " ".join(map(str, self.deviations))
        return Outcome(
            found.verdict,
            found.measured,
            details=details,
            tolerance=found.test,
            turned_by=found.turned_by,
        )

    def entered(self) -> Claim:
        """Return it as a claim."""
        table = tables()[self.table]
        return Claim(
            name=self.name,
            paper=table.paper,
            place=self.place or table.place,
            kind="finding",
            statement=self.statement,
            expected_verdict=recorded_verdict(self.name),
            run=self.run,
            quote=self.quote,
            regime=regime(table, self.deviations),
            tuning=table.experiment.search or "Nothing is tuned.",
        )


def regime(table: Table, deviations: tuple[Deviation, ...]) -> str:
    """Return where our protocol departs from the paper's: from the table's budget, in words."""
    lines = [line for line in table.experiment.budget if departs(line, "full")]
    found = "; ".join(map(_departure, lines)) or "As printed"
    return " ".join([f"{found}.", *map(str, deviations)])


def _departure(line: Budget) -> str:
    """Return a line of the budget in words; a list is counted, the page of the table has it."""
    paper, here = _spent(line.paper), _spent(line.full)
    if paper.startswith("not printed"):  # so that there is nothing to hold a range against
        return f"{line.what}: {paper}, {here.partition(' from ')[0]} here"
    theirs = paper.removesuffix(PROGRAMS)
    where = "in print" if theirs == paper else "in the authors' programs"
    return f"{line.what}: {theirs} {where}, {here} here"


def _spent(value: Any) -> str:
    """Return what is spent: of a list longer than two, how many and from where to where."""
    if not isinstance(value, list | tuple):
        return shown_value(value)
    if len(value) < 3:
        return " and ".join(map(shown_value, value))
    low, high = (shown_value(end(value)) for end in (min, max))
    return f"{len(value)} values from {low} to {high}"


def enter(findings: tuple[Finding, ...]) -> None:
    """Enter the findings of a paper in the registry of claims."""
    for finding in findings:
        if finding.name in REGISTRY:
            raise ValueError(f"two claims are called {finding.name!r}")
        REGISTRY[finding.name] = finding.entered()
