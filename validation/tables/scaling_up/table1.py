"""[ScalingUp, Table 1]: the full model against the incomplete one, on the linear model."""

from __future__ import annotations

from ...data.population import population_auc, share_for_auc
from ...data.printed_numbers import printed
from ..sheet import Sheet
from ..table import Page, Results, Table
from .common import PAPER
from .linear_model import EXPERIMENT, PRINTED

POPULATION = printed(PAPER, "below Table 1")["linear"]["AUC of the true score"]


def render(results: Results) -> Page:
    """Show times and AUC at every size, the paper's dashes filled."""
    sheet = Sheet()
    sizes = dict.fromkeys(part.parameters["n"] for part in reversed(results.parts))
    for n in sorted(sizes):
        row, shown = f"{n:,}", PRINTED.get(n, {})
        for column, name, digits in _COLUMNS:
            values = results.values(name, n=n)
            if values.size or column in shown:
                sheet.mean(row, column, values, shown.get(column), digits)
        for column, name in _ADDED:
            sheet.largest(row, column, results.values(name, n=n))
        sides = [("full_auc", {"n": n}), ("incomplete_auc", {"n": n})]
        names = ("full", "incomplete")
        pairs = results.matched("rep", *sides)
        sheet.paired(pairs, names, "points of AUC", 4, f"n = {n:,}")
    return sheet.page(_differences(results))


_COLUMNS = (
    ("s, full", "full_seconds", 3),
    ("s, incomplete", "incomplete_seconds", 2),
    ("AUC %, full", "full_auc", 3),
    ("AUC %, incomplete", "incomplete_auc", 3),
)
_ADDED = (
    ("objective above optimum, full", "full_excess"),
    ("objective above optimum, incomplete", "incomplete_excess"),
)


def _differences(results: Results) -> tuple[str, ...]:
    exact = 100 * population_auc("linear")
    share = 100 * share_for_auc("linear", float(POPULATION) / 100)
    found = [
        f"With 20 % positives the model has a population AUC of {exact:.3f} %; {POPULATION} % is "
        f"that with {share:.1f} %, and the paper says approximately 80 % negative: compare losses, "
        "not levels.",
        "The printed errors of the AUC are in units of 0.0001, it seems; ours are standard errors "
        "of the mean, in points. One test set serves all repetitions, as in the paper, so they do "
        "not show how much another test set would change.",
        "The printed seconds are of another machine and may hold the cross-validation; ours are "
        "of one fit at the lam chosen. Both models use the lam chosen by the full one.",
    ]
    true = results.values("true_auc")
    if true.size:
        found.insert(1, f"On our test set the true score has an AUC of {true[0]:.3f} %.")
    return tuple(found)


TABLE_1 = Table(
    "scaling-up-table-1",
    PAPER,
    "Table 1",
    "Full and incomplete ROC-SVM on the linear model",
    EXPERIMENT,
    render,
)
