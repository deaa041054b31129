"""[Nonlinear, Fig. 1]: test AUC of the stochastic methods over the epochs."""

from __future__ import annotations

import numpy as np

from ...plots import Series
from ..pictures import Panel, Picture
from ..sheet import Sheet
from ..table import Page, Results, Table
from .online import LARGE, ONLINE
from .sets import PAPER, UNAVAILABLE, label, overlap
from .table4 import OPTIMUM, mean_auc

CURVES = ("NSAUC", "NSVMSGD2", "NSOLAM")
TITLE, MEAN = "AUC over the epochs", "mean over the epochs"


def render(results: Results) -> Page:
    """Draw a panel a set; a table has the ends of each curve, and how far it ever falls."""
    panels: list[Panel] = []
    sheet = Sheet()
    for name in LARGE:
        records = list(results.select(set=name))
        if not records:
            continue
        epochs = [float(epoch) for epoch in records[0]["epochs"]]
        series, means = [], {}
        for method in CURVES:
            curves = np.array([record[f"{method}_curve"] for record in records])
            series.append(Series(method, tuple(epochs), tuple(curves.mean(axis=0).tolist())))
            means[method] = curves.mean(axis=1)
            ends = {f"{method}, epoch {epochs[at]:g}": curves[:, at] for at in (0, -1)}
            for column, values in ends.items():
                sheet.mean(label(name), column, values)
            fell = (np.maximum.accumulate(curves, axis=1) - curves).max(axis=1)
            sheet.mean(label(name), f"{method}, largest fall", fell)
        unit, shared = "points of AUC", overlap(name)
        sides, before = (means[method] for method in CURVES[:2]), f"{label(name)}, {MEAN}"
        sheet.paired(sides, CURVES[:2], unit, before=before, overlap=shared)
        first, last = ends  # of NSOLAM
        sides, names = (ends[last], ends[first]), (last, first)
        sheet.paired(sides, names, unit, before=label(name), overlap=shared)
        for line, method in ((OPTIMUM, "optimum"), ("NBAUC", "NBAUC")):
            level = mean_auc(results, method, name)
            series.append(Series(line, (epochs[0], epochs[-1]), (level, level), reference=True))
        panels.append(Panel(label(name), "epochs", "test AUC %", tuple(series)))
    caption = (
        "Means over the splits. The straight lines are proved optima over all pairs, of the hinge "
        "at a larger lam and of the squared hinge (NBAUC)."
    )
    picture = Picture("nonlinear-figure-1", TITLE, tuple(panels), caption)
    return sheet.page(_DIFFERENCES, pictures=(picture,) if panels else ())


_DIFFERENCES = (
    "The printed figure has curves and no numbers, so only the shapes can be compared.",
    "NSVMSGD2 is the last point of the walk whose mean is NSAUC, at the lam chosen for NSAUC.",
    "That NSOLAM meets a local minimum, a saddle point, cannot be: its objective is convex in one "
    "group of variables and concave in the other, and its saddle point is the optimum.",
)

FIGURE_1 = Table(
    "nonlinear-figure-1", PAPER, "Fig. 1", TITLE, ONLINE, render,
    {"acoustic": UNAVAILABLE["acoustic"]},
)  # fmt: skip
