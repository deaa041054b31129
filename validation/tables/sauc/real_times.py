"""[SAUC, Table 4], shown."""

from __future__ import annotations

from ...data.printed_numbers import printed
from ..sheet import Sheet
from ..table import Page, Results, Table
from .data import UNAVAILABLE
from .printed import EXACT, PAPER, PLAIN
from .real import EXPERIMENT, KERNELS, NAMES
from .real_tables import METHODS

TIMES = printed(PAPER, "Table 4")


def render_times(results: Results) -> Page:
    """Show the seconds and the pairs of Table 4."""
    sheet = Sheet()
    for name, row in TIMES.items():
        counts = (
            ("training rows", "rows", row["training rows"]),
            ("pairs, standardised", f"pairs {PLAIN}", row["pairs"]),
            ("pairs, raw units", "raw pairs", row["pairs"]),
        )
        for column, what, text in counts:
            values = results.values(what, set=name, kernel="linear")
            sheet.mean(name, column, values, text, 0)
        for kernel in KERNELS:
            for method in (*METHODS, EXACT):
                values = results.values(f"seconds {method}", set=name, kernel=kernel)
                column = f"s, {method} ({NAMES[kernel]})"
                if values.size or row.get(column):
                    sheet.mean(name, column, values, row.get(column), 3)
    return sheet.page(_TIME_DIFFERENCES)


_TIME_DIFFERENCES = (
    "The text of the paper has another rule for the pairs, by which there would be many more; "
    "that of its programs is inferred here from the counts. Units of the features matter for "
    "it: raw units mostly come nearer to the printed counts.",
    "Printed seconds are of Mosek on a machine of 2006, ours of a certified Newton method to a "
    "relative gap of 1e-6 at the parameters chosen, the kernel's factor and the whitening by "
    "the structure included: compare within a row, not across.",
    "Printed counts of the linear kernel are shown; those of the Gaussian one differ in a few "
    "places (arrhythmia 1,121, glass1 323, glass6 146, spectf 244 and 262, tae2 240), though "
    "pairs do not depend on it.",
)


TABLE_4 = Table(
    "sauc-table-4",
    PAPER,
    "Table 4",
    "Training times and numbers of pairs on real data",
    EXPERIMENT,
    render_times,
    UNAVAILABLE,
)
