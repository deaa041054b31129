"""[Nonlinear, Tables 2 and 3]: AUC and seconds of the batch methods, from one experiment."""

from __future__ import annotations

from collections.abc import Mapping

from ...data.printed_numbers import printed
from ..sheet import Sheet
from ..table import Page, Results, Table
from .batch import BATCH
from .sets import NOTES, PAPER, SHARED, UNAVAILABLE, label, overlap

TITLES = {
    "rbf": "RBF-RankSVM",
    "rbf-subsample": "RBF-RankSVM (subsample)",
    "linear": "Linear RankSVM",
    "rfauc": "RFAUC",
    "nbauc": "NBAUC",
}
COMPARED = (("nbauc", "rfauc"), ("nbauc", "linear"), ("nbauc", "rbf"), ("rbf", "linear"))
PRINTED_AUC = printed(PAPER, "Table 2")
PRINTED_SECONDS = printed(PAPER, "Table 3")


def render_auc(results: Results) -> Page:
    """Show the AUC, with tests of NBAUC against its rivals."""
    sheet = _sheet(results, "auc", PRINTED_AUC)
    for name in PRINTED_AUC:
        gaps = results.values("gap", set=name)
        sheet.largest(label(name), "relative gap, all methods", gaps)
    for name in PRINTED_AUC:
        for pair in COMPARED:
            sides = [("auc", {"set": name, "method": method}) for method in pair]
            values, names = results.matched("rep", *sides), (TITLES[pair[0]], TITLES[pair[1]])
            sheet.paired(values, names, "points of AUC", before=label(name), overlap=overlap(name))
    return sheet.page(_differences())


def render_seconds(results: Results) -> Page:
    """Show the seconds of one fit, features included."""
    return _sheet(results, "seconds", PRINTED_SECONDS).page(_differences())


def _sheet(results: Results, field: str, rows: Mapping[str, Mapping[str, str]]) -> Sheet:
    sheet = Sheet()
    for name, row in rows.items():
        for method, title in TITLES.items():
            values = results.values(field, set=name, method=method)
            sheet.mean(label(name), title, values, row[title])
    return sheet


def _differences() -> tuple[str, ...]:
    found = [f"{name}: {note}." for name, note in NOTES.items() if name != "skin"]
    return (
        *found,
        "The paper gives no error bars and no number of splits; ours are standard errors over "
        "the splits. On usps and ijcnn1 the test part is the published one in every split.",
        "The width of RFAUC is not defined in print: here exp(-d^2 / (2 width^2)).",
        "C is tuned on a part of the training rows, as lam = 1 / (C n_pos n_neg) of all of them.",
        "The rows of RBF-RankSVM are capped, so its AUC may be below what all rows would give. "
        "Where a fifth of the rows is more than the cap, its columns are fits to the same rows.",
        SHARED,
        "Seconds are those of one fit at the chosen parameters, features or kernel included.",
    )


TABLE_2 = Table(
    "nonlinear-table-2",
    PAPER,
    "Table 2",
    "AUC of the batch methods",
    BATCH,
    render_auc,
    UNAVAILABLE,
)
TABLE_3 = Table(
    "nonlinear-table-3",
    PAPER,
    "Table 3",
    "Training seconds of the batch methods",
    BATCH,
    render_seconds,
    UNAVAILABLE,
)
