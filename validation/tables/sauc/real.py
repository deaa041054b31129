"""[SAUC, Tables 3 and 4]: three machines on eighteen real tasks, both kernels, run.

`BUDGET` has the grids of [SAUC, Section 4], as printed and as run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...data.printed_numbers import number, printed
from ..table import Budget, Entry, Experiment, Job, Page, Part, Results, Run, Sheet, Table
from .machines import (
    ALL,
    AUC,
    EXACT,
    OTHERS,
    PAPER,
    PLAIN,
    PRINTED_TASKS,
    RAW,
    RAW_STRUCTURED,
    READINGS,
    SEARCH,
    STRUCTURED,
    SVM,
    SVM_STEPS,
    TASKS,
    UNAVAILABLE,
    Grid,
    Sides,
    all_machines,
    chosen_pair_machine,
    half_split,
    load_task,
    prepared,
    unscaled,
)

KERNELS = ("linear", "rbf")
NAMES = {"linear": "linear", "rbf": "Gaussian"}
NEIGHBOURS = 10

POWERS = [1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1e3]
SIGMAS = "2^-10, 2^-9, ..., 2^10"
WIDTHS = [2.0**power for power in range(-10, 11)]

SEARCHED = (
    Budget("folds", 5, 2, 5),
    Budget("grid of C", POWERS, [0.01, 1.0, 100.0], POWERS),
    Budget("grid of lambda", POWERS, [1.0, 1e3], [1e-3, 0.1, 10.0, 1e3], POWERS),
)
READING = Budget("units and pairs", "not said; union", None, None, [*READINGS])
SIGMA = Budget("grid of sigma", SIGMAS, [2.0, 8.0], [0.5, 2.0, 4.0, 8.0, 32.0], WIDTHS)
COARSE = (
    Budget(f"repetitions{OTHERS}", 10, None, None, 4),
    Budget(f"grid of lambda{OTHERS}", POWERS, None, None, [1e-3, 0.1, 10.0, 1e3]),
    Budget(f"grid of sigma{OTHERS}", SIGMAS, None, None, [0.5, 2.0, 8.0, 32.0, 128.0, 512.0]),
)
BUDGET = (
    Budget("splits into halves", 10, 3, 10),
    Budget("neighbours k", 10, 10, 10),
    READING,
    *SEARCHED,
    SIGMA,
    *COARSE,
)


def read(budget: Mapping[str, Any], parts: list[Part]) -> list[Part]:
    """Return the parts under each reading of a budget that has some, the paper's own first."""
    first, *others = budget.get("units and pairs", [""])
    if not first:
        return parts
    few = budget[f"repetitions{OTHERS}"]
    some = [
        part for part in parts if part.parameters.get("split", part.parameters.get("draw")) < few
    ]
    return [part.named(reading=first) for part in parts] + [
        part.named(reading=reading) for reading in others for part in some
    ]


def own(results: Results) -> Results:
    """Return the results under the paper's own reading alone."""
    first = results.budget.get("units and pairs", [None])[0]
    kept = (part for part in results.parts if part.parameters.get("reading") == first)
    return replace(results, parts=tuple(kept))


def parts(run: Run, budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each task, kernel and split: the splits first, tasks within."""
    return read(
        budget,
        [
            Part(
                f"{name},{kernel},split={split}",
                {"set": name, "kernel": kernel, "split": split},
                (TASKS[name].file,),
            )
            for split in range(budget["splits into halves"])
            for name in TASKS
            for kernel in KERNELS
        ],
    )


def split_sides(job: Job, reading: str = "") -> Sides:
    """Return the split of a task, by default with columns standardised and pairs of anchors."""
    name = job["set"]
    X, positive = load_task(name, job.file(TASKS[name].file).parent)
    train, test = half_split(positive, job.rng(f"split {name} {job['split']}"))
    units, _, rule = (reading or READINGS[-1]).partition(", ")
    left, right = (unscaled if units == "raw" else prepared)(X[train], X[test])
    return Sides(left, positive[train], right, positive[test], rule)


def compute(job: Job) -> dict[str, Any]:
    """Run the machines on one split with one kernel."""
    name, kernel, k = job["set"], job["kernel"], job.budget["neighbours k"]
    reading = job.part.parameters.get("reading", "")
    sides, raw = split_sides(job, reading), split_sides(job, "raw, anchor")
    seed = job.draw_seed(f"folds {name} {job['split']}")
    grid = Grid.of(job.budget, reading)
    found = all_machines(sides, kernel, grid, k, seed, exact=not reading)
    if reading:  # which the paper does not have: on the coarse grid
        coarse = Grid.of(job.budget, READINGS[-1])
        found[EXACT] = chosen_pair_machine(sides, kernel, coarse, [0.0], ALL, seed)
    if kernel == "linear" and not reading:
        found[RAW] = chosen_pair_machine(raw, kernel, grid, [0.0], k, seed)
        found[RAW_STRUCTURED] = chosen_pair_machine(raw, kernel, grid, grid.structures, k, seed)
    flat: dict[str, Any] = {
        f"{what} {method}": value
        for method, numbers in found.items()
        for what, value in numbers.items()
    }
    flat["rows"] = int(sides.positive.size)
    flat["raw pairs"] = raw.pairs(k).on(raw.positive).count()
    flat["gap"] = max(numbers.get("gap", 0.0) for numbers in found.values())
    return flat


EXPERIMENT = Experiment(
    "sauc-real", BUDGET, parts, compute, SEARCH, quick_minutes=1.2, printed_minutes=400
)


METHODS = (SVM, PLAIN, STRUCTURED)
# Columns that the paper does not have.
ADDED = {"linear": (EXACT, RAW, RAW_STRUCTURED), "rbf": (EXACT,)}


def render_auc(results: Results) -> Page:
    """Show the AUC of Table 3."""
    sheet, results = Sheet(), own(results)
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
            sheet.paired(sides, (a, b), "in AUC", 4, f"{text}, means of the tasks")
        columns = [f"{m} ({NAMES[kernel]})" for m in (STRUCTURED, PLAIN)]
        sides = [np.array([number(AUC[name][at]) for name in PRINTED_TASKS]) for at in columns]
        sheet.paired(sides, (STRUCTURED, PLAIN), "in AUC", 4, f"The printed means, {text}")
    for names in ((STRUCTURED, PLAIN), (RAW_STRUCTURED, RAW)):  # the paper speaks of this set
        sides = [results.values(f"auc {m}", set="wdbc", kernel="linear") for m in names]
        sheet.paired(sides, names, "in AUC", 4, "wdbc, linear kernel", overlap=1.0)


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
        "hepatitis and glass3 come out far above print as their columns are standardised here; "
        "the columns in raw units, gaps of hepatitis filled by zeros, come nearer. Columns "
        "standardised or brought to the unit interval leave hepatitis above 0.82 at the best C "
        "however gaps are filled; that glass3 is label 3 is confirmed by its pairs (Table 4).",
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
    found.append(
        "With so few splits a difference on one task must be more than twice the scatter of a "
        "single split to be clear: `not clear` does not mean `equal`. The last line has 18 tasks "
        "in print, `import` among them."
    )
    return tuple(found)


TABLE_3 = Table(
    "sauc-table-3",
    PAPER,
    "Table 3",
    "AUC of SVM, AUC-SVM and SAUC-SVM on real data, ten nearest pairs",
    EXPERIMENT,
    render_auc,
    UNAVAILABLE,
)


TIMES = printed(PAPER, "Table 4")


def render_times(results: Results) -> Page:
    """Show the seconds and the pairs of Table 4."""
    sheet, results = Sheet(), own(results)
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
