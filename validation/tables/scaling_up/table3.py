"""[ScalingUp, Table 3]: linear and kernel models on the three real data sets."""

from __future__ import annotations

from ...data.printed_numbers import printed
from ..sheet import Sheet
from ..table import Page, Results, Table
from .common import PAPER
from .real_sets import EXPERIMENT, SETS, TEST_SHARE

PRINTED = printed(PAPER, "Table 3")


def render(results: Results) -> Page:
    """Show times and AUC on each set, with the optima over all pairs beside them."""
    sheet = Sheet()
    for place, texts in PRINTED.items():
        name, kernel = place.split(", ")
        row = f"{SETS[name]}, {kernel}"
        for column, end, digits in _COLUMNS:
            values = results.values(f"{kernel}_{end}", set=name)
            if values.size or column in texts:
                sheet.mean(row, column, values, texts.get(column), digits)
        excess = results.values(f"{kernel}_incomplete_excess", set=name)
        sheet.largest(row, "objective above optimum, incomplete", excess)
    # The kernel against the linear model, and all pairs against drawn ones.
    compared = [(f"radial_{pairs}", f"linear_{pairs}") for pairs in ("full", "incomplete")]
    compared += [(f"{kernel}_full", f"{kernel}_incomplete") for kernel in KERNELS]
    for name, title in SETS.items():
        for fits in compared:
            sides = (results.values(f"{fit}_auc", set=name) for fit in fits)
            names = (_named(fits[0]), _named(fits[1]))
            sheet.paired(sides, names, "points of AUC", before=title, overlap=OVERLAP)
    return sheet.page(_DIFFERENCES)


def _named(fit: str) -> str:
    return fit.replace("_", ", ").replace("full", "all pairs")


KERNELS = ("linear", "radial")
OVERLAP = TEST_SHARE / (1 - TEST_SHARE)
_COLUMNS = (
    ("s", "incomplete_seconds", 2),
    ("AUC %", "incomplete_auc", 2),
    ("s, all pairs", "full_seconds", 2),
    ("AUC %, all pairs", "full_auc", 2),
)
_DIFFERENCES = (
    "The paper says neither the share of the test part nor the width, the grid of lam or whether "
    "columns were standardised: ours are, by the training part's mean and deviation.",
    "Bank: which columns were dropped is not said (19 in the text, 18 in the table); here all but "
    "`duration`, categories as codes.",
    "The printed errors are in units of 0.001 of AUC, by the table's own note; ours are standard "
    "errors of the mean, in points. Tests allow for the overlap of the splits.",
    "All pairs with the radial kernel are fitted in the same Nyström features as the drawn ones: "
    "the two columns differ by the drawing alone. Landmarks are drawn uniformly; in print they are "
    "the centres of k-means, and the results are called not overly sensitive to the choice.",
    "The printed seconds are of another machine and may hold the cross-validation; ours hold the "
    "landmarks' features and one fit.",
)


TABLE_3 = Table(
    "scaling-up-table-3",
    PAPER,
    "Table 3",
    "Linear and kernel ROC-SVM on three real data sets",
    EXPERIMENT,
    render,
)
