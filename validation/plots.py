"""Pictures as data, and their drawing: readable in grey and without colour vision. A claim returns
the numbers of a picture; matplotlib is loaded only when a report is written."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np

# Okabe and Ito's colours, in an order whose lightness differs; markers and dashes repeat the
# distinction for readers and printers without colour.
STYLES = (
    ("#000000", "o", "-"),
    ("#d55e00", "s", "--"),
    ("#0072b2", "^", "-."),
    ("#cc79a7", "D", ":"),
    ("#009e73", "v", (0, (5, 1, 1, 1, 1, 1))),
    ("#7f7f7f", "x", (0, (8, 3))),
)
_REFERENCES = ("-", (0, (1, 2)))


@dataclass(frozen=True)
class Series:
    """One curve: `x` and `y` of one length, finite; a reference line has no markers."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    reference: bool = False

    @classmethod
    def of(cls, name: str, x: Any, y: Any, reference: bool = False) -> Series:
        """Return the curve through the points that a logarithmic axis can show."""
        points = np.array([x, y], dtype=float)
        kept = points[:, np.isfinite(points).all(axis=0) & (points > 0).all(axis=0)]
        return cls(name, kept[0].tolist(), kept[1].tolist(), reference)


@dataclass(frozen=True)
class Figure:
    """A picture with logarithmic axes: a title, labels, curves, and what to see in it."""

    name: str
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    caption: str


def draw(axes: Any, figure: Any) -> None:
    styles, references = cycle(STYLES), cycle(_REFERENCES)
    for series in figure.series:
        if series.reference:
            style: Any = {"color": "#555555", "lw": 1, "linestyle": next(references)}
        else:
            style = dict(zip(("color", "marker", "linestyle"), next(styles), strict=True))
            style |= {"lw": 1.6, "ms": 5, "markevery": max(1, len(series.x) // 12)}
        axes.plot(series.x, series.y, label=series.name, **style)
    for axis in "xy":
        if any(value > 0 for series in figure.series for value in getattr(series, axis)):
            axes.set(**{f"{axis}scale": "log"})  # nothing to scale, and a warning, otherwise
    axes.set_title(figure.title, fontsize=11)
    axes.set(xlabel=figure.x_label, ylabel=figure.y_label)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    legend_below(axes)


def legend_below(axes: Any) -> None:
    """Put the legend below the label of the x axis, where it covers no point."""
    from matplotlib.transforms import offset_copy

    many = len(axes.get_legend_handles_labels()[1]) > 1
    below = offset_copy(axes.transAxes, axes.get_figure(root=True), y=-36, units="points")
    style: Any = {"fontsize": 9, "frameon": False, "loc": "upper center", "ncols": 1 + many}
    axes.legend(bbox_to_anchor=(0.5, 0.0), bbox_transform=below, **style)


def as_svg(put: Callable[[Any], Any], name: str, size: tuple[float, float], **settings: Any) -> str:
    """Return what is put on a canvas of matplotlib as SVG; equal pictures give equal text."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    asked: Any = {"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9} | settings
    with matplotlib.rc_context(asked):
        canvas = Canvas(figsize=size)
        FigureCanvasSVG(canvas)
        put(canvas)
        text = io.StringIO()
        canvas.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()
