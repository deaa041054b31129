"""A finding of a paper: what is quoted, from which table it is judged, and how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..claims.claim import REGISTRY, Claim, Context, Outcome
from ..claims.recorded import recorded_verdict
from ..tables.pages import shown_value
from ..tables.running.registry import tables
from ..tables.table import Table
from .capping import Deviation, capped
from .judging import Judged
from .numbers import Numbers, numbers_of

Judge = Callable[[Numbers], Judged]

PROTOCOL_LINES = 8
"""Lines of the protocol that a finding names, at most; the page of the table has all."""


@dataclass(frozen=True)
class Finding:
    """What a paper says that its experiments show.

    Attributes
    ----------
    name : str
    table : str
        Table or figure that it is judged from.
    quote : str
        The paper's words.
    statement : str
        The same as something that numbers decide.
    judge : function of the table's numbers
    place : str
        That of the table unless it is given.
    deviations : tuple of Deviation
        Where our run departs from the paper's in what the statement depends on; `capping` says
        what follows.
    """

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
    lines = [line for line in table.experiment.budget if line.full != line.paper]
    shown = [
        f"{line.what}: {shown_value(line.paper)} in print, {shown_value(line.full)} here"
        for line in lines[:PROTOCOL_LINES]
    ]
    if len(lines) > PROTOCOL_LINES:
        shown.append(f"and {len(lines) - PROTOCOL_LINES} more")
    found = "; ".join(shown) or "as printed"
    return " ".join([f"{found}.", *map(str, deviations)])


def enter(findings: tuple[Finding, ...]) -> None:
    """Enter the findings of a paper in the registry of claims.

    Raises
    ------
    ValueError
        If a name is taken.
    """
    for finding in findings:
        if finding.name in REGISTRY:
            raise ValueError(f"two claims are called {finding.name!r}")
        REGISTRY[finding.name] = finding.entered()
