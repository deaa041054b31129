"""[Nonlinear, Table 1]: sizes and class ratios of the sets as they could be had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...data.real_data import load_real
from ..table import Budget, Entry, Experiment, Job, Page, Part, Results, Run, Table
from .sets import NOTES, PAPER, PRINTED, PUBLISHED, SETS, TEST_SHARE, UNAVAILABLE, file_of, label

BUDGET = (Budget("share of the test part, where none is published", 0.2, TEST_SHARE, TEST_SHARE),)


def parts(run: Run, budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each set."""
    return [Part(name, {"set": name}, (file_of(name),)) for name in SETS]


def compute(job: Job) -> dict[str, Any]:
    """Count."""
    name = job["set"]
    data = load_real(name, job.run.data_dir)
    found = {"columns": data.X.shape[1], "sha256": data.sha256}
    if name in PUBLISHED:
        n_train = load_real(name, job.run.data_dir, "train").y.size
    else:
        n_train = round((1 - TEST_SHARE) * data.y.size)
    ratio = data.n_pos / data.n_neg
    train = load_real(name, job.run.data_dir, "train") if name in PUBLISHED else data
    return {
        **found,
        "train": n_train,
        "test": data.y.size - n_train,
        "ratio": max(ratio, 1 / ratio),
        "ratio_train": max(train.n_pos / train.n_neg, train.n_neg / train.n_pos),
    }


def render(results: Results) -> Page:
    """Show the counts."""
    entries = []
    for name in PRINTED:
        record = next(results.select(set=name), None)
        values = (
            (None,) * 4
            if record is None
            else (record["train"], record["test"], record["columns"], record["ratio_train"])
        )
        for (column, shown), ours in zip(PRINTED[name].items(), values, strict=True):
            digits = 2 if column == "ratio" else 0
            entries.append(Entry(label(name), column, shown, ours, None, 1, digits))
    records = list(results.select())
    if not records:
        return Page(tuple(entries))
    off = [abs(round(r["ratio_train"], _decimals(r["set"])) - _ratio(r["set"])) for r in records]
    equal, near = sum(d < 1e-9 for d in off), sum(1e-9 <= d < 0.011 for d in off)
    conclusion = (
        f"{len(records)} of the {len(PRINTED)} sets could be read; {equal} of them have the "
        f"printed ratio of the classes to its last digit, {near} more to within 0.01. Which labels "
        "were grouped is inferred from these ratios; where they differ, so may everything else."
    )
    notes = tuple(f"{name}: {note}." for name, note in NOTES.items())
    return Page(tuple(entries), differences=notes, conclusion=conclusion)


def _ratio(name: str) -> float:
    return float(PRINTED[name]["ratio"])


def _decimals(name: str) -> int:
    return len(PRINTED[name]["ratio"].partition(".")[2])


TABLE_1 = Table(
    "nonlinear-table-1",
    PAPER,
    "Table 1",
    "The benchmark sets",
    Experiment("nonlinear-table-1", BUDGET, parts, compute),
    render,
    UNAVAILABLE,
)
