"""[SAUC, Table 3], shown."""

from __future__ import annotations

import numpy as np

from ...data.printed_numbers import number
from ..sheet import Sheet
from ..statistics import clear_scatter, paired_test
from ..table import Entry, Page, Results, Table
from ..wording import CLEAR, change, is_clear
from .data import TASKS, UNAVAILABLE
from .machines import SVM_STEPS
from .printed import AUC, EXACT, PAPER, PLAIN, RAW, RAW_STRUCTURED, STRUCTURED, SVM
from .printed import TASKS as PRINTED_TASKS
from .real import EXPERIMENT, KERNELS, NAMES

METHODS = (SVM, PLAIN, STRUCTURED)
# Columns that the paper does not have.
ADDED = {"linear": (EXACT, RAW, RAW_STRUCTURED), "rbf": (EXACT,)}


def render_auc(results: Results) -> Page:
    """Show the AUC of Table 3."""
    sheet = Sheet()
    for name in PRINTED_TASKS:
        for kernel in KERNELS:
            for method in (*METHODS, *ADDED[kernel]):
                values = results.values(f"auc {method}", set=name, kernel=kernel)
                if values.size or method in METHODS:
                    column = f"{method} ({NAMES[kernel]})"
                    sheet.mean(name, column, values, AUC[name].get(column), 3)
    sheet.entries += _averages(results)
    _enter_tests(results, sheet)
    return sheet.page(_differences(results))


def _averages(results: Results) -> list[Entry]:
    """Return the last line: means over the tasks, of those that were run for ours."""
    entries = []
    for kernel in KERNELS:
        for method in (*METHODS, *ADDED[kernel]):
            means = set_means(results, method, kernel)
            ours = float(np.mean(list(means.values()))) if means else None
            column = f"{method} ({NAMES[kernel]})"
            text = AUC["average"].get(column)
            if means or text:
                entries.append(Entry("average", column, text, ours, None, len(means), 4))
    return entries


def set_means(results: Results, method: str, kernel: str) -> dict[str, float]:
    """Return the mean AUC of each task that was run."""
    found = {}
    for name in TASKS:
        values = results.values(f"auc {method}", set=name, kernel=kernel)
        if values.size:
            found[name] = float(values.mean())
    return found


PAIRS = ((STRUCTURED, PLAIN), (STRUCTURED, SVM), (EXACT, STRUCTURED), (EXACT, PLAIN))


def _enter_tests(results: Results, sheet: Sheet) -> None:
    for kernel in KERNELS:
        text = f"{NAMES[kernel]} kernel"
        more = ((RAW_STRUCTURED, RAW),) if kernel == "linear" else ()
        for a, b in (*PAIRS, *more):
            sides = [np.array([*set_means(results, m, kernel).values()]) for m in (a, b)]
            up, down = clear_sets(results, a, b, kernel)
            after = (
                f"Task by task, with the correction for overlapping splits, {a} is clearly "
                f"(p < 0.05) better in {up}, worse in {down} of {sides[0].size}."
            )
            sheet.paired(sides, (a, b), "in AUC", 4, f"{text}, means of the tasks", after=after)
        columns = [f"{m} ({NAMES[kernel]})" for m in (STRUCTURED, PLAIN)]
        sides = [np.array([number(AUC[name][at]) for name in PRINTED_TASKS]) for at in columns]
        sheet.paired(sides, (STRUCTURED, PLAIN), "in AUC", 4, f"The printed means, {text}")
    for names in ((STRUCTURED, PLAIN), (RAW_STRUCTURED, RAW)):  # the paper speaks of this set
        sides = [results.values(f"auc {m}", set="wdbc", kernel="linear") for m in names]
        sheet.paired(sides, names, "in AUC", 4, "wdbc, linear kernel", overlap=1.0)


def clear_sets(results: Results, a: str, b: str, kernel: str) -> tuple[int, int]:
    """Return on how many tasks a is better and worse than b, clear of chance (p < 0.05)."""
    up = down = 0
    for name in TASKS:
        first, second = (results.values(f"auc {m}", set=name, kernel=kernel) for m in (a, b))
        test = paired_test(first, second, overlap=1.0) if first.size == second.size else None
        up, down = up + is_clear(test, 1), down + is_clear(test, -1)
    return up, down


def _differences(results: Results) -> tuple[str, ...]:
    found = [
        "Other random halves: the printed ones are not known. Brackets hold printed variances of "
        "the single splits, ours after ± are standard errors of the mean; the splits share rows, "
        "which the tests allow for and the standard errors do not.",
        "Features are standardised by the training half and gaps filled by its medians "
        "(hepatitis), none of which the paper mentions; the widths sigma are therefore in other "
        "units than the paper's.",
        "Not said in the paper: the positive class (taken so that the pair counts of Table 4 come "
        "out), what is cross-validated (here the AUC), the width's convention (here "
        "exp(-d^2 / 2 sigma^2)), and the rule of the pairs (see Table 4).",
        "arrhythmia: column J and the 32 rows that still have gaps are left out, which gives the "
        "printed 210 or 211 training rows. automobile: the 159 complete rows, symboling above 0 "
        "against the rest, is our reading; the numbering of glass and tae is by label.",
        *_units(results),
        "The six glass tasks share their rows, as do the three of tae: a test over the tasks "
        "counts them as independent, and is to be read with that in mind.",
    ]
    gaps = results.values("gap")
    if gaps.size:
        steps = np.concatenate([results.values(f"steps {SVM}", kernel=k) for k in KERNELS])
        found.append(
            "Every AUC-SVM and SAUC-SVM shown is within a proved relative gap of "
            f"{gaps.max():.0e}; SVM is libsvm's, without a proof, and {(steps >= SVM_STEPS).sum()} "
            f"of its {steps.size} fits stopped at {SVM_STEPS:,} steps."
        )
    splits = results.budget["splits into halves"]
    needed = clear_scatter(splits, 1.0, CLEAR)
    found.append(
        f"With {splits} splits into halves a difference on one task must be {needed:.1f} times the "
        "scatter of a single split to be clear: `not clear` does not mean `equal`. The last line "
        "has 18 tasks in print, `import` among them."
    )
    return tuple(found)


def _units(results: Results) -> list[str]:
    """Return what the units of the columns explain: hepatitis and glass3 above print."""
    off: dict[str, list[float]] = {PLAIN: [], RAW: []}
    for method, found in off.items():
        for name, ours in set_means(results, method, "linear").items():
            found.append(abs(ours - number(AUC[name][f"{PLAIN} (linear)"])))
    raw = set_means(results, RAW, "linear")
    if "hepatitis" not in raw or "glass3" not in raw:
        return []
    print_of = {name: AUC[name][f"{PLAIN} (linear)"].split()[0] for name in raw}
    pairs, of_glass3 = (
        results.values("raw pairs", set=name, kernel="linear").mean()
        for name in ("hepatitis", "glass3")
    )
    others = [
        results.values("raw pairs", set=name, kernel="linear").mean()
        for name in raw
        if name.startswith("glass") and name != "glass3"
    ] or [np.nan]
    gain = 100 * np.mean([*set_means(results, RAW_STRUCTURED, "linear").values()])
    gain -= 100 * np.mean([*raw.values()])
    better = np.mean(off[RAW]) < np.mean(off[PLAIN])
    return [
        "hepatitis and glass3 come out far above print because their columns are standardised "
        "here. In the units of the file, the gaps of hepatitis filled by zeros, AUC-SVM with the "
        f"linear kernel has {raw['hepatitis']:.3f} on hepatitis (printed {print_of['hepatitis']}), "
        f"with {pairs:.0f} pairs (printed 160), and {raw['glass3']:.3f} on glass3 (printed "
        f"{print_of['glass3']}). Over all tasks the mean distance from print is "
        f"{np.mean(off[RAW]):.3f} in raw units and {np.mean(off[PLAIN]):.3f} standardised"
        + (": the paper seems not to have scaled. " if better else ". ")
        + f"In raw units the structure {change(float(gain), ('gains', 'loses'), 1)} points, "
        "printed 2.5. Columns standardised or brought to the unit interval leave hepatitis above "
        "0.82 at the best C however gaps are filled; that glass3 is label 3 is confirmed by its "
        f"pairs ({of_glass3:.0f} here, 90 in print; {min(others):.0f} to {max(others):.0f} for the "
        "other labels).",
    ]


TABLE_3 = Table(
    "sauc-table-3",
    PAPER,
    "Table 3",
    "AUC of SVM, AUC-SVM and SAUC-SVM on real data, ten nearest pairs",
    EXPERIMENT,
    render_auc,
    UNAVAILABLE,
)
