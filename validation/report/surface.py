"""The score of a model over two features, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...exact.errors import InputError
from ...exact.problem.problem import split_labels
from ...exact.tools.checks import check_count
from .margins import last_step
from .pictures import BLACK, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def decision_surface(
    model: Any, X: object, y: object, *, resolution: int = 150, axes: Axes | None = None
) -> Figure:
    """Draw the score of a model over the plane, the line where it cuts, and the rows.

    Parameters
    ----------
    model : fitted classifier or pipeline
        With `decision_function` and `classes_`, on two features.
    X : array or frame (n, 2)
    y : array (n,)
        Labels of both classes.
    resolution : int
        Points a side, >= 2.
    axes : matplotlib Axes, optional

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    InputError
        If there are not two features.
    """
    frame: Any = X
    names = list(frame.columns) if hasattr(frame, "columns") else ["x1", "x2"]
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise InputError(f"a surface needs two features, not rows of shape {rows.shape}")
    check_count("resolution", resolution, 2)
    positive, _, _ = split_labels(y, last_step(model)[1].classes_[1])
    low, high = rows.min(axis=0), rows.max(axis=0)
    pad = 0.08 * np.maximum(high - low, 1e-12)
    sides = [np.linspace(low[k] - pad[k], high[k] + pad[k], resolution) for k in (0, 1)]
    first, second = np.meshgrid(*sides)
    grid: Any = np.column_stack([first.ravel(), second.ravel()])
    if hasattr(frame, "columns"):  # a model that was fitted with names asks for them
        grid = type(frame)({name: grid[:, k] for k, name in enumerate(names)})
    height = np.asarray(model.decision_function(grid)).reshape(first.shape)
    figure, axes = canvas(axes, 5.6)
    largest = max(float(np.abs(height).max()), 1e-300)
    filled = axes.contourf(
        first, second, height, 15, cmap="cividis", vmin=-largest, vmax=largest, alpha=0.8
    )
    axes.contour(first, second, height, [0.0], colors=BLACK, linewidths=1.4)
    axes.scatter(*rows[~positive].T, s=16, marker="o", c="white", edgecolors=BLACK, lw=0.6)
    axes.scatter(*rows[positive].T, s=22, marker="^", c=BLACK, edgecolors="white", lw=0.6)
    figure.colorbar(filled, ax=axes, label="decision function")
    axes.set(xlabel=names[0], ylabel=names[1], title="triangles are positive")
    return figure
