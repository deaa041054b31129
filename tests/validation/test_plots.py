"""The drawing of a claim's picture."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from aucert.validation.plots import Figure, Series, draw


def test_the_legend_covers_no_point_and_lies_inside_the_picture() -> None:
    rng, x = np.random.default_rng(0), np.geomspace(1, 1e4, 200)
    curves = [
        Series.of(f"cloud {k}", x.tolist(), (10 ** rng.uniform(0, 5, 200)).tolist())
        for k in range(6)
    ]
    canvas = Canvas(figsize=(7.2, 4.8), layout="constrained")
    drawn = FigureCanvasAgg(canvas)
    axes = canvas.subplots()
    draw(axes, Figure("full", "Points everywhere", "x", "y", tuple(curves), "No room."))
    drawn.draw()
    legend = axes.get_legend()
    assert legend is not None
    box = legend.get_window_extent()
    points = [
        axes.transData.transform(np.column_stack([line.get_xdata(), line.get_ydata()]))
        for line in axes.get_lines()
    ]
    assert len(points) == 6
    assert not any(box.contains(*point) for point in np.concatenate(points))
    assert canvas.bbox.x0 <= box.x0 and box.x1 <= canvas.bbox.x1
    assert canvas.bbox.y0 <= box.y0 and box.y1 <= canvas.bbox.y1


@pytest.mark.filterwarnings("error")
def test_a_picture_without_positive_numbers_is_drawn_without_a_warning() -> None:
    empty = (Series.of("nothing", [], []), Series.of("zero", [0.0], [0.0]))
    axes = Canvas().subplots()
    draw(axes, Figure("empty", "Nothing yet", "x", "y", empty, "No points."))
    assert axes.get_xscale() == axes.get_yscale() == "linear"
    draw(axes, Figure("one", "One", "x", "y", (Series.of("one", [1.0], [2.0]),), "One point."))
    assert axes.get_xscale() == axes.get_yscale() == "log"
