"""[Nonlinear, Table 4]: the stochastic methods against the batch one, and the optimum."""

from __future__ import annotations

from ...data.printed_numbers import printed
from ..sheet import Sheet
from ..table import Page, Results, Table
from .online import LARGE, METHODS, ONLINE
from .sets import NOTES, PAPER, SHARED, UNAVAILABLE, label, overlap

PRINTED = printed(PAPER, "Table 4")
COMPARED = (("NSAUC", "NBAUC"), ("NSAUC", "NSOLAM"), ("NSAUC", "NOAM"), ("NSOLAM", "NOAM"))
OPTIMUM = "hinge optimum, lam ≥ 1e-5"


def render(results: Results) -> Page:
    """Show AUC and seconds, without the features, and the optimum of what NSAUC minimises."""
    sheet = Sheet()
    for name, texts in PRINTED.items():
        for field, unit in (("auc", "AUC %"), ("seconds", "s")):
            row = f"{label(name)}, {unit}"
            for method in METHODS:
                values = results.values(f"{method}_{field}", set=name)
                sheet.mean(row, method, values, texts[f"{method}, {unit}"])
            values = results.values(f"optimum_{field}", set=name)
            if values.size:
                sheet.mean(row, OPTIMUM, values)
        for names in COMPARED:
            sides = (results.values(f"{method}_auc", set=name) for method in names)
            sheet.paired(sides, names, "points of AUC", before=label(name), overlap=overlap(name))
    return sheet.page(_differences(results))


def mean_auc(results: Results, method: str, name: str) -> float:
    """Return the mean over the splits; NaN if there is none."""
    values = results.values(f"{method}_auc", set=name)
    return float(values.mean()) if values.size else float("nan")


def _differences(results: Results) -> tuple[str, ...]:
    notes = [f"{name}: {NOTES[name]}." for name in LARGE if name in NOTES and name != "skin"]
    return (
        *notes,
        SHARED,
        "NSOLAM minimises the square loss in a ball, not the squared hinge, as the text says.",
        "The paper names neither the epochs of NSAUC nor C of NOAM; ours are in the budget.",
        "The last column is the proved optimum over all pairs of the hinge, which NSAUC minimises, "
        "but at a far larger lam (the paper's grid of C as far as lam is 1e-5 or more, against "
        f"1e-10 to 1e-7), with a relative gap of at most {_gap(results)}: it is not the point that "
        "NSAUC goes to.",
        "Seconds are those of one fit at the chosen parameters, without the features.",
    )


def _gap(results: Results) -> str:
    gaps = results.values("optimum_gap")
    return f"{gaps.max():.1e}" if gaps.size else "nothing run yet"


TABLE_4 = Table(
    "nonlinear-table-4",
    PAPER,
    "Table 4",
    "Stochastic and online methods in k-means Nyström features",
    ONLINE,
    render,
    {"acoustic": UNAVAILABLE["acoustic"]},
)
