"""How the findings of SHT on simulated data are judged: what is compared, and by which tests.

What the paper says of a table as a whole is judged by the paired tests of its page, in which the
trials of all four k* stand together.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..finding import Judge
from ..judging import Judged, above, minus, tests_above, within
from ..numbers import Cell, Numbers

OURS = "SHT-AUC"
RIVALS = ("SPAM-l1", "SPAM-l2", "FSAUC", "SOLAM", "StoIHT", "HSG-HT")
LOGISTIC = RIVALS[4:]
NEW = "AUC on new rows"


def over_all(what: str, rival: str) -> str:
    """Return the name of the paired test of a measure against a rival, the four k* together."""
    return f"{what}, all four k*: {OURS} minus {rival}"


def ahead_over_all(rivals: Sequence[str], *measures: str) -> Judge:
    """Return the judge that the method is above each rival in each measure, over all four k*."""
    return tests_above(*(over_all(what, rival) for what in measures for rival in rivals))


def level_over_all(rival: str, margin: float) -> Judge:
    """Return the judge that the method is within a margin of AUC of a rival, over all four k*."""
    return lambda numbers: within([numbers.test(over_all(NEW, rival))], margin)


def ahead(rivals: Sequence[str], columns: Sequence[str]) -> Judge:
    """Return the judge that the method is above each rival in each column."""

    def judge(numbers: Numbers) -> Judged:
        cells = ((at, rival, numbers.cell(rival, at)) for rival in rivals for at in columns)
        return above([minus(f"{m}, {at}", numbers.cell(OURS, at), cell) for at, m, cell in cells])

    return judge


def worse_when_rare(numbers: Numbers) -> Judged:
    """Judge that AUC and F1 of the method are higher with even shares than with few positives."""
    found = []
    for what in (NEW, "F1"):
        ends = (numbers.cell(OURS, f"{what}, r = {r}") for r in ("0.5", "0.05"))
        found.append(minus(what, *ends))
    return above(found)


def still_rising(numbers: Numbers) -> Judged:
    """Judge that late epochs raise the training AUC more where positives are few."""
    late = "step r (1 - r), as published: training AUC after 300 epochs minus after 200"
    found = (numbers.test(f"r = {r}, {late}") for r in ("0.05", "0.5"))
    rare, even = (Cell(test.estimate, test.error, int(test.count)) for test in found)
    return above([minus("rise at r = 0.05 minus at r = 0.5", rare, even)])
