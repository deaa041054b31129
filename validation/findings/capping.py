"""What a deviation from the paper's protocol does to a verdict: one rule, for every finding.

A deviation caps the verdict that it could have made by itself. One that can only help the statement
leaves no room for `borne-out`, one that can only hurt it none for `contradicted`, and one that can
do either none for both: such a finding is `undecided`, whatever the numbers say. What helps and
is contradicted all the same stays contradicted, and alike for what hurts.

Of seconds and steps follows: they decide between two sides only where both ran as the paper's did,
or where what differs can only work against the verdict. Absolute seconds, another algorithm on
one side, and a stopping rule that is not printed leave them undecided. How one program's seconds
grow with the rows is another thing, where its steps do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ..claims.verdicts import Verdict
from .judging import Judged


class Bearing(StrEnum):
    """Which way a deviation can move what is compared."""

    FOR = "can only help the statement"
    AGAINST = "can only hurt the statement"
    EITHER = "can work either way"
    NEITHER = "moves nothing that is compared"


# Verdict to the bearings that leave no room for it.
CAPPED = {
    Verdict.BORNE_OUT: (Bearing.FOR, Bearing.EITHER),
    Verdict.CONTRADICTED: (Bearing.AGAINST, Bearing.EITHER),
}


@dataclass(frozen=True)
class Deviation:
    """Where our run departs from the paper's in what a statement depends on."""

    words: str
    bearing: Bearing
    lines: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.bearing not in tuple(Bearing):
            raise ValueError(f"{self.bearing!r} is no bearing of a deviation")

    def __str__(self) -> str:
        return f"{self.words} ({self.bearing}.)"


def capped(found: Judged, deviations: Sequence[Deviation]) -> Judged:
    """Return what the numbers say, undecided where a deviation could have made the verdict."""
    bearings = {each.bearing for each in deviations}
    turned_by = f"none while this deviation stands; without it {found.turned_by}"
    if found.verdict not in CAPPED and all(bearings & set(bars) for bars in CAPPED.values()):
        return replace(found, turned_by=turned_by)
    barred = CAPPED.get(found.verdict, ())
    deciding = " ".join(each.words for each in deviations if each.bearing in barred)
    if not deciding:
        return found
    measured = f"{found.measured} (by itself {found.verdict}; capped: {deciding})"
    return Judged(Verdict.UNDECIDED, measured, turned_by, found.test)
