"""Verdicts of findings: each is decided by intervals of differences.

A finding states that one or more differences are above a margin, or within it. Intervals are
Student's, of 95 %: over all differences together where a single one can decide (Bonferroni), each
by itself where a majority does. (That all speak for a statement needs no such correction; it has it
here, which is cautious.) A difference speaks for the statement where its whole interval does,
against it where its whole interval does, else neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ..claims.verdicts import Verdict
from .numbers import Cell, Difference, Numbers

LEVEL = 0.05  # Probability that an interval misses.

SHOWN = 6  # Differences that a verdict names one by one, at most.


@dataclass(frozen=True)
class Judged:
    """What the numbers say."""

    verdict: Verdict
    measured: str
    turned_by: str
    test: str


def interval(difference: Difference, many: int = 1) -> tuple[float, float]:
    """Return the ends of the interval of one of `many` differences."""
    if difference.count < 2 or difference.error == math.inf:
        return -math.inf, math.inf
    width = float(stats.t.ppf(1 - LEVEL / (2 * many), difference.count - 1)) * difference.error
    return difference.estimate - width, difference.estimate + width


def above(
    differences: Sequence[Difference], margin: float = 0.0, how: str = "all", unit: str = ""
) -> Judged:
    """Judge that the differences are above a margin."""
    ends = [interval(difference, _share(differences, how)) for difference in differences]
    slack = [(low - margin, margin - high) for low, high in ends]
    return _combined(differences, slack, how, f"difference > {margin:g}{unit}", unit)


def within(
    differences: Sequence[Difference], margin: float, how: str = "all", unit: str = ""
) -> Judged:
    """Judge that the differences are at most `margin` in size: "comparable", "on par"."""
    ends = [interval(difference, _share(differences, how)) for difference in differences]
    slack = [
        (min(low + margin, margin - high), max(low - margin, -margin - high)) for low, high in ends
    ]
    return _combined(differences, slack, how, f"|difference| < {margin:g}{unit}", unit)


def _share(differences: Sequence[Difference], how: str) -> int:
    """Return how many differences share the level: one where a majority decides."""
    if how not in ("all", "most"):
        raise ValueError(f"how must be 'all' or 'most', not {how!r}")
    return len(differences) if how == "all" else 1


def _combined(
    differences: Sequence[Difference],
    slack: Sequence[tuple[float, float]],
    how: str,
    what: str,
    unit: str,
) -> Judged:
    """Combine the differences; `slack` is how clearly each speaks for and against."""
    many = len(differences)
    if not many:
        return Judged(Verdict.UNDECIDED, "nothing was measured", "any number", what)
    borne, against = (sum(pair[side] > 0 for pair in slack) for side in (0, 1))
    needed = many if how == "all" else many // 2 + 1
    enough_against = 1 if how == "all" else many - needed + 1
    if borne >= needed:
        verdict = Verdict.BORNE_OUT
        margin = sorted((pair[0] for pair in slack), reverse=True)[needed - 1]
    elif against >= enough_against:
        verdict = Verdict.CONTRADICTED
        margin = sorted((pair[1] for pair in slack), reverse=True)[enough_against - 1]
    else:
        verdict = Verdict.UNDECIDED  # either side may be the nearer one
        lacking = (needed - borne, enough_against - against)
        margin = min(
            sorted(-pair[side] for pair in slack if pair[side] <= 0)[lacking[side] - 1]
            for side in (0, 1)
        )
    shown = [_shown(d, _share(differences, how)) for d in differences[:SHOWN]]
    more = f"; and {many - SHOWN} more" if many > SHOWN else ""
    count = "" if many == 1 else f"{borne} for, {against} against, {many} in all: "
    together = " together" if many > 1 and how == "all" else ""
    share = "" if many == 1 else f", {how} of {many} differences"
    return Judged(
        verdict,
        f"{count}{'; '.join(shown)}{more}",
        f"a change of {margin:.2g}{unit} in a difference",
        f"{what}{share}; Student's intervals of 95 %{together}",
    )


def _shown(difference: Difference, many: int) -> str:
    low, high = interval(difference, many)
    return f"{difference.name} {difference.estimate:+.3g} [{low:.3g}, {high:.3g}]"


def tests_above(*names: str) -> Callable[[Numbers], Judged]:
    """Return the judge that each of these paired tests of the page is above zero."""
    return lambda numbers: above([numbers.test(name) for name in names])


def over_splits(cell: Cell, overlap: float) -> Cell:
    """Return a cell over random splits of the same rows, its error raised for what they share.

    `overlap` is as in `paired_test`.
    """
    if cell.error is None:
        return cell
    return Cell(cell.mean, cell.error * math.sqrt(1 + overlap * cell.count), cell.count)


def over(differences: Sequence[Difference], name: str) -> Difference:
    """Return the mean of differences, one a data set, with the error that their spread gives."""
    if not differences:
        raise KeyError(f"{name}: no data set has both numbers")
    values = np.array([difference.estimate for difference in differences])
    error = float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else math.inf
    return Difference(name, float(values.mean()), error, values.size)


def minus(name: str, a: Cell, b: Cell) -> Difference:
    """Return a - b of two cells as if independent, which common splits usually make cautious."""
    errors = (a.error, b.error)
    return Difference(name, a.mean - b.mean, *_joint(errors, (a.count, b.count)))


def log_ratio(name: str, a: Cell, b: Cell) -> Difference:
    """Return log10 (a / b) of two cells above zero, its error by the delta method."""
    errors = tuple(None if c.error is None else c.error / c.mean / math.log(10) for c in (a, b))
    return Difference(name, math.log10(a.mean / b.mean), *_joint(errors, (a.count, b.count)))


def _joint(errors: tuple[float | None, ...], counts: tuple[float, float]) -> tuple[float, float]:
    """Return the error of a difference, and one more than Welch's degrees of freedom."""
    if any(error is None for error in errors) or min(counts) < 2:
        return math.inf, 1
    squares = [float(error or 0.0) ** 2 for error in errors]
    spread = sum(s**2 / (count - 1) for s, count in zip(squares, counts, strict=True))
    freedom = sum(squares) ** 2 / spread if spread > 0 else min(counts) - 1
    return math.sqrt(sum(squares)), freedom + 1


def columns(numbers: Numbers, a: str, b: str, ratio: bool = False) -> list[Difference]:
    """Return the difference, or the ratio, of two columns in each row that has both."""
    make = log_ratio if ratio else minus
    rows = [row for row in numbers.rows(a) if (row, b) in numbers.cells and row != "average"]
    return [make(row, numbers.cell(row, a), numbers.cell(row, b)) for row in rows]


def turned(difference: Difference) -> Difference:
    """Return the difference in the other direction; a name that says which minus which says so."""
    name = f"-({difference.name})" if " minus " in difference.name else difference.name
    return Difference(name, -difference.estimate, difference.error, difference.count)
