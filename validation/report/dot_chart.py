"""A dot chart as one `<svg>` element: a line a case, a mark a quantity, no script and no font."""

from __future__ import annotations

import math
import textwrap
from html import escape

from .cases import CasePicture, Value

WIDTH, RIGHT, ROW, TOP, AXIS = 736, 20, 22, 8, 30
LABEL = 48  # Characters of a label that fit on one line; a second line holds the rest.
COLOURS = ("currentColor", "#d55e00", "var(--blue, #0072b2)", "#cc79a7", "#009e73", "#7f7f7f")


def dot_chart(chart: CasePicture, title: str) -> str:
    """Return the chart; marks differ in shape as well as in colour."""
    place = _Axis.of(chart)
    legend = [name for name in chart.quantities if name] if len(chart.quantities) > 1 else []
    bottom = TOP + ROW * len(chart.values)
    height = bottom + AXIS + 18 * len(legend)
    body = [f"<title>{escape(title)}</title>"]
    body += [_tick(place, at, bottom) for at in place.ticks]
    for k, (case, row) in enumerate(chart.values.items()):
        y = TOP + ROW * (k + 0.5)
        body.append(_line(place.left, WIDTH - RIGHT, y, y, "var(--grid, #eeeeee)"))
        body.append(_label(case, place.left, y))
        for quantity, value in row.items():
            body.append(_value(place, value, y, chart.quantities.index(quantity)))
    for k, name in enumerate(legend):
        y = bottom + AXIS + 18 * k + 8
        body.append(_mark(place.left + 8, y, k) + _text(place.left + 20, y + 4, name))
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" font-family="inherit" font-size="12">'
        + "".join(body)
        + "</svg>"
    )


class _Axis:
    """Where a number stands from left to right."""

    def __init__(self, left: int, logarithmic: bool, ticks: list[float]) -> None:
        self.left, self.logarithmic, self.ticks = left, logarithmic, ticks
        self.low, self.high = (self._scaled(end) for end in (ticks[0], ticks[-1]))

    @classmethod
    def of(cls, chart: CasePicture) -> _Axis:
        low, high = min(chart.numbers), max(chart.numbers)
        left = 16 + round(6.4 * min(LABEL, max(map(len, chart.values))))
        if chart.logarithmic:
            first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
            step = max(1, math.ceil((last - first) / 7))
            powers = list(range(first, last + step, step))
            return cls(left, True, [10.0**power for power in powers])
        if chart.intervals or 0 < low < 0.5 * high:
            low, high = min(low, 0.0), max(high, 0.0)
        unit = 10.0 ** math.floor(math.log10((high - low) / 4))
        step = next(m * unit for m in (1, 2, 5, 10) if (high - low) / (m * unit) <= 6)
        first, last = math.floor(low / step), math.ceil(high / step)
        return cls(left, False, [k * step for k in range(first, last + 1)])

    def __call__(self, number: float) -> float:
        share = (self._scaled(number) - self.low) / (self.high - self.low)
        return round(self.left + 8 + share * (WIDTH - self.left - RIGHT - 16), 1)

    def _scaled(self, number: float) -> float:
        return math.log10(number) if self.logarithmic else number


def _tick(place: _Axis, number: float, bottom: float) -> str:
    x, zero = place(number), number == 0 and not place.logarithmic
    colour = "var(--reference, #555555)" if zero else "var(--grid, #dddddd)"
    line = _line(x, x, TOP, bottom, colour)
    shown = f"1e{round(math.log10(number))}" if place.logarithmic else f"{round(number, 12):g}"
    return line + _text(x, bottom + 16, shown, "middle")


def _label(case: str, left: int, y: float) -> str:
    lines = textwrap.wrap(case, LABEL)[:2]
    first = y + 4 - 6 * (len(lines) - 1)
    size = 11 if len(lines) == 1 else 10
    return "".join(
        _text(left - 6, first + 11 * k, line, "end", size) for k, line in enumerate(lines)
    )


def _text(x: float, y: float, text: str, anchor: str = "start", size: int = 11) -> str:
    where = f'x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}"'
    return f'<text {where} fill="currentColor">{escape(text)}</text>'


def _value(place: _Axis, value: Value, y: float, k: int) -> str:
    marks = "".join(_mark(place(x), y, k) for x in value.at)
    if not value.half_width:
        return marks
    ends = (place(value.at[0] + sign * value.half_width) for sign in (-1, 1))
    x1, x2 = ends
    return _line(x1, x2, y, y, _colour(k)) + marks


def _line(x1: float, x2: float, y1: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1}" x2="{x2}" y1="{y1}" y2="{y2}" style="stroke: {colour}"/>'


def _colour(k: int) -> str:
    return COLOURS[k % len(COLOURS)]


def _mark(x: float, y: float, k: int) -> str:
    """Return the mark of the k-th quantity: disc, square, triangle, diamond, ring, cross."""
    colour, shape = _colour(k), k % len(COLOURS)
    if shape in (0, 4):
        fill = colour if shape == 0 else "var(--paper, #ffffff)"
        return f'<circle cx="{x}" cy="{y}" r="4" style="fill: {fill}; stroke: {colour}"/>'
    if shape == 5:
        path = f"M{x - 4} {y - 4}L{x + 4} {y + 4}M{x - 4} {y + 4}L{x + 4} {y - 4}"
        return f'<path d="{path}" style="stroke: {colour}" fill="none" stroke-width="1.5"/>'
    corners = {
        1: ((-4, -4), (4, -4), (4, 4), (-4, 4)),
        2: ((0, -5), (5, 4), (-5, 4)),
        3: ((0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0)),
    }[shape]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" style="fill: {colour}"/>'
