"""[ScalingUp, Table 3]: linear and kernel models on the three real data sets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..statistics import mean_error, paired_test
from ..table import Entry, Page, Results, Table
from ..wording import NOTHING, change
from .common import PAPER
from .real_sets import EXPERIMENT, SETS, TEST_SHARE

PRINTED = {
    ("skin", "linear"): ("8.38 (2.09)", "94.64 (1.96)"),
    ("skin", "radial"): ("5.82 (0.15)", "98.53 (1.40)"),
    ("bank", "linear"): ("0.43 (0.04)", "74.71 (9.25)"),
    ("bank", "radial"): ("46.33 (9.61)", "76.04 (7.94)"),
    ("accelerometer", "linear"): ("3.54 (0.12)", "88.53 (9.15)"),
    ("accelerometer", "radial"): ("1.60 (0.38)", "89.92 (21.61)"),
}


def render(results: Results) -> Page:
    """Show times and AUC on each set, with the optima over all pairs beside them."""
    entries: list[Entry] = []
    for (name, kernel), printed in PRINTED.items():
        row = f"{SETS[name]}, {kernel}"
        for k, (column, end, digits) in enumerate(_COLUMNS):
            values = results.values(f"{kernel}_{end}", set=name)
            ours, error = mean_error(values)
            shown = printed[k] if k < len(printed) else None
            if ours is not None or shown is not None:
                entries.append(Entry(row, column, shown, ours, error, values.size, digits))
        excess = results.values(f"{kernel}_incomplete_excess", set=name)
        if excess.size:
            text = f"<= {excess.max():.1e}"
            entries.append(Entry(row, "objective above optimum, incomplete", None, text))
    return Page(tuple(entries), _conclusion(results), tuple(_tests(results)), _DIFFERENCES)


def _tests(results: Results) -> Iterator[str]:
    """Yield the kernel against the linear model, and all pairs against drawn ones."""
    overlap = TEST_SHARE / (1 - TEST_SHARE)
    compared = [("radial_full", "linear_full")]
    compared += [(f"{kernel}_full", f"{kernel}_incomplete") for kernel in KERNELS]
    for name, title in SETS.items():
        for a, b in compared:
            first, second = (results.values(f"{x}_auc", set=name) for x in (a, b))
            test = paired_test(first, second, overlap)
            if test is not None:
                yield f"{title}: {test.sentence(_named(a), _named(b), 'points of AUC')}"


def _named(fit: str) -> str:
    return fit.replace("_", ", ").replace("full", "all pairs")


KERNELS = ("linear", "radial")
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
    "The printed seconds are of another machine and may hold the cross-validation; ours hold the "
    "landmarks' features and one fit.",
)


def _conclusion(results: Results) -> str:
    better = [
        float(results.values("radial_full_auc", set=name).mean())
        - float(results.values("linear_full_auc", set=name).mean())
        for name in SETS
        if results.values("radial_full_auc", set=name).size
    ]
    if not better:
        return NOTHING
    found = [title for name, title in SETS.items() if results.values("n_train", set=name).size]
    seconds = np.concatenate(
        [
            results.values(f"{k}_incomplete_seconds") / results.values(f"{k}_full_seconds")
            for k in KERNELS
        ]
    )
    loss = np.concatenate(
        [results.values(f"{k}_full_auc") - results.values(f"{k}_incomplete_auc") for k in KERNELS]
    )
    gains = ", ".join(f"{gain:+.1f}" for gain in better)
    return (
        f"The kernel model gains {gains} points of AUC over the linear one at the optima over all "
        f"pairs, on {', '.join(found)}. Drawing as many pairs as rows "
        f"{change(float(loss.mean()), ('costs', 'gains'), 2)} points on average, and takes "
        f"{np.median(seconds):.1f} times the seconds of the proved optimum (median)."
    )


TABLE_3 = Table(
    "scaling-up-table-3",
    PAPER,
    "Table 3",
    "Linear and kernel ROC-SVM on three real data sets",
    EXPERIMENT,
    render,
)
