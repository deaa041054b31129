"""Pictures of a claim's numbers, where their names say that they can be compared.

Claims name their numbers `case: quantity`, or `quantity, case`, or give one name to several of
them, `case: first, second`. Numbers of one quantity in two cases or more make a dot chart: a line a
case, a mark a quantity, whiskers where a number comes with its error. No claim has to draw it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_ROWS, MOST_PICTURES = 24, 2
ROUNDING = 1e-6  # Below it a certified gap is called zero by the claims.

ALIKE = 10.0  # Numbers of two quantities, at most that many times larger, stand in one picture.

# A mean and half the width of its interval, "+0.03 +- 0.01, > 0 in 41 of 45".
PAIRED = re.compile(r"([+-]?[\d.]+(?:e[+-]?\d+)?) \+- ([\d.]+(?:e[+-]?\d+)?)\b")
RANGE = re.compile(r"([\d.]+) to ([\d.]+)")
SETTING = re.compile(r"\S.*? = \S+")


@dataclass(frozen=True)
class Value:
    """A number of one or more draws, and half the width of its interval if it has one."""

    at: tuple[float, ...]
    half_width: float = 0.0


@dataclass(frozen=True)
class CasePicture:
    """Numbers of one kind: `values[case][quantity]`."""

    quantities: tuple[str, ...]
    values: Mapping[str, Mapping[str, Value]]

    @property
    def numbers(self) -> list[float]:
        """All ends of all values."""
        parts = [value for row in self.values.values() for value in row.values()]
        return [x + s * p.half_width for p in parts for x in p.at for s in (-1, 0, 1)]

    @property
    def intervals(self) -> bool:
        """Whether some number comes with the width of its interval."""
        return any(value.half_width for row in self.values.values() for value in row.values())

    @property
    def logarithmic(self) -> bool:
        """Whether all are positive and the largest is fifty times the least."""
        return min(self.numbers) > 0 and max(self.numbers) > 50 * min(self.numbers)

    @property
    def caption(self) -> str:
        """What the marks are."""
        what = ", ".join(name for name in self.quantities if name) or "the measured numbers"
        scale = "; logarithmic axis" if self.logarithmic else ""
        return f"{what}, by case{scale}" + ("; lines are intervals" if self.intervals else "")

    @property
    def telling(self) -> bool:
        """Whether the numbers differ, and are not all zero to rounding."""
        return len(set(self.numbers)) > 1 and max(map(abs, self.numbers)) > ROUNDING

    def joined(self, other: CasePicture) -> CasePicture | None:
        """Return one picture of both; None if cases or the size of the numbers differ."""
        tops = max(map(abs, self.numbers)), max(map(abs, other.numbers))
        alike = max(tops) <= ALIKE * min(tops) and list(self.values) == list(other.values)
        if not alike or set(self.quantities) & set(other.quantities):
            return None
        rows = {case: {**row, **other.values[case]} for case, row in self.values.items()}
        return CasePicture(self.quantities + other.quantities, rows)


def case_pictures(details: Mapping[str, Any]) -> list[CasePicture]:
    """Return the pictures that the names of the numbers allow, those of most cases first."""
    found: dict[tuple[str, ...], dict[str, dict[str, Value]]] = {}
    for name, number in details.items():
        for quantities, case, values in _read(name, number):
            found.setdefault(quantities, {})[case] = values
    charts: list[CasePicture] = []
    for quantities, rows in found.items():
        chart = CasePicture(quantities, rows)
        if len(rows) > MOST_ROWS or (len(rows) < 2 and not chart.intervals):
            continue
        for at, earlier in enumerate(charts):
            if both := earlier.joined(chart):
                charts[at] = both
                break
        else:
            charts.append(chart)
    charts = [chart for chart in charts if chart.telling]
    return sorted(charts, key=lambda chart: -len(chart.values))[:MOST_PICTURES]


def _read(name: str, number: Any) -> list[tuple[tuple[str, ...], str, dict[str, Value]]]:
    """Return quantities, case and values of one entry; nothing where the name tells none."""
    case, colon, quantity = name.rpartition(": ")
    value = _value(number)
    if value is None:
        return []
    names = tuple(part.strip() for part in re.split(r"[,;] ", quantity))
    if colon and isinstance(number, list) and len(names) == len(number) and len(names) > 1:
        return [(names, case, {n: Value((float(x),)) for n, x in zip(names, number, strict=True)})]
    if colon:
        return [((quantity,), case, {quantity: value})]
    head, comma, tail = name.partition(", ")
    if comma and not SETTING.fullmatch(head) and not value.half_width:
        return [((head,), tail, {head: value})]
    named = SETTING.fullmatch(name) or re.fullmatch(r"[\d.,e+-]+ \w+|[\w-]+\d*", name)
    listed = value.half_width or len(value.at) > 1
    if listed or (named and isinstance(number, float)):
        return [(("",), name, {"": value})]
    return []


def _value(number: Any) -> Value | None:
    """Return a finite number, a list of them, or a mean with its interval; None for all else."""
    if isinstance(number, str):
        if match := PAIRED.match(number):
            return Value((float(match[1]),), float(match[2]))
        if match := RANGE.fullmatch(number):
            low, high = float(match[1]), float(match[2])
            return Value(((low + high) / 2,), (high - low) / 2)
        return None
    numbers = number if isinstance(number, list) else [number]
    if not numbers or not all(
        isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x) for x in numbers
    ):
        return None
    return Value(tuple(float(x) for x in numbers))
