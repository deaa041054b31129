"""The picture of an error budget: a bar a term, with what Theorem 4' allows it."""

from __future__ import annotations

import io
from typing import Any

from .terms import ErrorBudget


def budget_picture(budget: ErrorBudget, title: str = "Error budget") -> str:
    """Return the budget as one SVG picture.

    A bar is a term's part of F(f) - p*, hatched where it is negative (a gain); a diamond what
    Theorem 4' allows it. Below them the total, and one standard error of the mean loss on the
    test rows: differences well below it are not seen there.

    Parameters
    ----------
    budget : ErrorBudget
    title : str

    Returns
    -------
    str
        Equal budgets give equal text.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": title, "font.size": 10}
    with matplotlib.rc_context(settings):
        canvas = Canvas(figsize=(7.2, 3.2), layout="constrained")
        FigureCanvasSVG(canvas)
        draw_budget(canvas.subplots(), budget, title)
        text = io.StringIO()
        canvas.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def bars(budget: ErrorBudget) -> list[tuple[str, float, float | None]]:
    """Return what is drawn: name, value, and what the theorem allows, from top to bottom."""
    rows = [(term.name, term.value, term.bound) for term in budget.terms]
    allowed = budget.allowed
    rows.append(("total", budget.total, allowed))
    if budget.test is not None:
        rows.append(("finite test set, 1 s.e.", budget.test.loss_error, None))
    return rows


def draw_budget(axes: Any, budget: ErrorBudget, title: str = "Error budget") -> None:
    """Draw the bars on the axes of matplotlib, on a logarithmic scale."""
    rows = bars(budget)
    sizes = [abs(value) for _, value, _ in rows]
    seen = [size for size in sizes if size > budget.slack] or [max(*sizes, 1e-16)]
    floor, names = max(budget.slack, min(seen) / 10, 1e-17), []
    for at, (name, value, allowed) in enumerate(rows):
        gain, known = value < 0, abs(value) > budget.slack
        axes.barh(
            at,
            max(abs(value), floor) if known else floor,
            color="#ffffff" if gain else "#0072b2",
            edgecolor="#0072b2",
            hatch="///" if gain else None,
        )
        names.append(f"{name}  {value:.1e}" if known else f"{name}  0")
        if allowed is not None and allowed > floor:
            axes.plot([allowed], [at], "D", color="#d55e00", markersize=6)
    if budget.bound is not None:
        axes.plot([], [], "D", color="#d55e00", label="allowed by Theorem 4'")
    axes.axvline(1.0, color="#555555", linewidth=1, linestyle=":", label="F(0) = 1")
    axes.set_xscale("log")
    axes.set_xlim(left=floor)
    axes.set_yticks(range(len(rows)), names)
    axes.invert_yaxis()
    axes.set_xlabel("part of F(f) - p* on the training rows")
    axes.set_title(title, fontsize=11)
    axes.legend(fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
