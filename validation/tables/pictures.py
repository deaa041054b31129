"""Pictures of several panels, drawn as SVG files: readable in grey and without colour vision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from ..plots import Figure, Series, as_svg, draw

COLUMNS = 3  # Panels side by side, at most.

# Colours, of different lightness, and markers of scattered points.
POINTS = (("#000000", "x"), ("#e69f00", "o"), ("#56b4e9", "^"), ("#009e73", "s"))


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    log_x: bool = True
    log_y: bool = False
    points: tuple[Series, ...] = ()
    errors: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    ticks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Picture:
    """Panels under one legend; `name` is that of its file."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    caption: str


def picture_svg(picture: Picture) -> str:
    """Return the text of an SVG file; equal pictures give equal text."""
    count = len(picture.panels)
    columns = min(COLUMNS, count)
    lines = -(-count // columns)

    def put(canvas: Any) -> None:
        canvas.set_layout_engine("constrained")
        grid = canvas.subplots(lines, columns, squeeze=False).ravel()
        handles: dict[str, Any] = {}
        for axes, panel in zip(grid, picture.panels, strict=False):
            _draw_panel(axes, panel)
            found, names = axes.get_legend_handles_labels()
            handles |= dict(zip(names, found, strict=True))
        for axes in grid[count:]:
            axes.set_axis_off()
        canvas.legend(
            handles.values(), handles.keys(), loc="outside lower center", ncols=3, frameon=False
        )
        canvas.suptitle(picture.title, fontsize=11)

    return as_svg(put, picture.name, (3.4 * columns + 0.6, 2.9 * lines + 0.9))


def _draw_panel(axes: Any, panel: Panel) -> None:
    figure = Figure("panel", panel.title, panel.x_label, panel.y_label, panel.series, "")
    draw(axes, figure)
    for line in list(axes.get_lines()):
        half = panel.errors.get(line.get_label())
        if half:
            x, y = line.get_data()
            color = line.get_color()
            axes.errorbar(x, y, half, fmt="none", ecolor=color, elinewidth=0.8, capsize=2)
    for series, (color, marker) in zip(panel.points, cycle(POINTS), strict=False):
        axes.scatter(
            series.x, series.y, s=12, color=color, marker=marker, linewidths=0.7, label=series.name
        )
    axes.set_xscale("log" if panel.log_x else "linear")
    axes.set_yscale("log" if panel.log_y else "linear")
    if panel.ticks:
        axes.set_xticks(range(len(panel.ticks)), panel.ticks)
    axes.set_title(panel.title, fontsize=10)
    if axes.get_legend() is not None:
        axes.get_legend().remove()
