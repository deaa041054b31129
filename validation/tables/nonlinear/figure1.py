"""[Nonlinear, Fig. 1]: test AUC of the stochastic methods over the epochs."""

from __future__ import annotations

import numpy as np

from ...plots import Series
from ..pictures import Panel, Picture
from ..statistics import mean_error
from ..table import Entry, Page, Results, Table
from ..wording import NOTHING
from .labels import label
from .online import LARGE, ONLINE
from .sets import PAPER, UNAVAILABLE
from .table4 import mean_auc

CURVES = ("NSAUC", "NSVMSGD2", "NSOLAM")
TITLE = "AUC over the epochs"


def render(results: Results) -> Page:
    """Draw a panel a set, and put the ends of the curves in a table."""
    panels: list[Panel] = []
    entries: list[Entry] = []
    for name in LARGE:
        records = list(results.select(set=name))
        if not records:
            continue
        epochs = [float(epoch) for epoch in records[0]["epochs"]]
        series = []
        for method in CURVES:
            curves = np.array([record[f"{method}_curve"] for record in records])
            series.append(Series(method, tuple(epochs), tuple(curves.mean(axis=0).tolist())))
            for epoch in (0, -1):
                column = f"{method}, epoch {epochs[epoch]:g}"
                ours = mean_error(curves[:, epoch])
                entries.append(Entry(label(name), column, None, *ours, len(records)))
        level = mean_auc(results, "optimum", name)
        ends = (epochs[0], epochs[-1])
        series.append(Series("hinge optimum, proved", ends, (level, level), reference=True))
        level = mean_auc(results, "NBAUC", name)
        series.append(Series("NBAUC", ends, (level, level), reference=True))
        panels.append(Panel(label(name), "epochs", "test AUC %", tuple(series)))
    caption = (
        "Means over the splits. The straight lines are the optimum over all pairs of the hinge, "
        "with its own lam, and of the squared hinge (NBAUC)."
    )
    picture = Picture("nonlinear-figure-1", TITLE, tuple(panels), caption)
    pictures = (picture,) if panels else ()
    return Page(tuple(entries), _conclusion(results), (), _DIFFERENCES, pictures)


def _conclusion(results: Results) -> str:
    ahead, moves, sets = 0, [], 0
    for name in LARGE:
        records = list(results.select(set=name))
        if not records:
            continue
        sets += 1
        curve = {m: np.mean([r[f"{m}_curve"] for r in records], axis=0) for m in CURVES}
        ahead += bool((curve["NSAUC"] >= curve["NSVMSGD2"]).mean() > 0.5)
        moves.append(float(curve["NSOLAM"][-1] - curve["NSOLAM"][0]))
    if not sets:
        return NOTHING
    helps = "averaging helps, as" if 2 * ahead > sets else "averaging does not help as"
    gain = float(np.mean(moves))
    stuck = (
        f"NSOLAM is not stuck after one epoch: it gains {gain:.1f} points of AUC on average until "
        "the last one, slowly, as steps that fall like one over the root of their number must."
        if gain > STUCK
        else f"NSOLAM gains {gain:.1f} points of AUC on average after the first epoch: it is stuck "
        "there, as the paper says."
    )
    return (
        f"NSAUC is above NSVMSGD2 at most epochs on {ahead} of {sets} sets, so {helps} the paper "
        f"says. {stuck}"
    )


STUCK = 0.1
"""Points of AUC; a curve that gains no more after its first epoch looks flat in the figure."""


_DIFFERENCES = (
    "The printed figure has curves and no numbers, so only the shapes can be compared.",
    "That NSOLAM meets a local minimum, a saddle point, cannot be: its objective is convex in one "
    "group of variables and concave in the other, and its saddle point is the optimum.",
    "No curve settles because its objective does: at the paper's lam of 1e-10 to 1e-7 the steps "
    "end long before.",
)

FIGURE_1 = Table(
    "nonlinear-figure-1",
    PAPER,
    "Fig. 1",
    TITLE,
    ONLINE,
    render,
    {"acoustic": UNAVAILABLE["acoustic"]},
)
