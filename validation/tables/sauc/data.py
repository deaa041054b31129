"""The eighteen binary tasks of [SAUC, Table 3], read with their missing values.

The paper does not say which class is the positive one. Anchors of nearest pairs come from it, so
the pair counts of Table 4 tell: with k = 10 there are about as many tens of pairs as anchors. The
AUC itself does not depend on the choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...data.real_data import load_npz
from ...files.tables import read_arrays


@dataclass(frozen=True)
class Task:
    """A file, the labels of the anchors' class, a column left out, and what to do about gaps."""

    file: str
    positive: tuple[object, ...]
    drop: tuple[str, ...] = ()
    complete_rows: bool = False


def _rest(file: str, labels: tuple[int, ...]) -> dict[str, Task]:
    return {f"{file}{k}": Task(file, (label,)) for k, label in enumerate(labels, start=1)}


TASKS = {
    "automobile": Task("automobile", (1, 2, 3), complete_rows=True),
    "arrhythmia": Task("arrhythmia", (1,), ("J",), complete_rows=True),
    "bupa": Task("bupa", (1,)),
    "diabetes": Task("diabetes", (1,)),
    **_rest("glass", (1, 2, 3, 5, 6, 7)),
    "hepatitis": Task("hepatitis", (1,)),
    "ionosphere": Task("ionosphere", ("g",)),
    "spectf": Task("spectf", (0,)),
    **_rest("tae", (1, 2, 3)),
    "wdbc": Task("wdbc", ("M",)),
}

UNAVAILABLE = {
    "import": "the paper names two binary tasks of one file, imports-85, and says of neither which "
    "classes it separates; automobile is taken as symboling above 0, import is left out. What it "
    "is cannot be told from the 377 printed pairs either: of 50 tasks that we cut out of the 159 "
    "complete rows, by symboling and by columns, seven have within a tenth of that number, "
    "with a linear AUC on standardised columns from 0.68 to 0.97, printed 0.88"
}


def load_task(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return rows (n, d), NaN where a value is missing, and the positive mask."""
    task = TASKS[name]
    path = folder / f"{task.file}.npz"
    if name != "hepatitis":
        rule = "drop-rows" if task.complete_rows else "refuse"
        data = load_npz(path, positive=task.positive, drop=task.drop, missing=rule)
        return np.asarray(data.X, dtype=float), data.is_positive
    arrays = read_arrays(path)
    return arrays["X"].astype(float), arrays["y"] == task.positive[0]


def half_split(positive: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a random training half and of the rest, each class halved.

    Of an odd class one row more goes to training, by a coin.
    """
    train = []
    for side in (positive, ~positive):
        rows = rng.permutation(np.flatnonzero(side))
        train.append(rows[: (rows.size + int(rng.integers(2))) // 2])
    first = np.sort(np.concatenate(train))
    return first, np.setdiff1d(np.arange(positive.size), first)


def prepared(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both parts with gaps filled by medians and standardised, both of the training rows."""
    middle = np.nan_to_num(np.nanmedian(train, axis=0))
    parts = [np.where(np.isnan(part), middle, part) for part in (train, test)]
    mean, spread = parts[0].mean(axis=0), parts[0].std(axis=0)
    unit = np.where(spread > 1e-12 * (1 + np.abs(mean)), spread, np.inf)
    return (parts[0] - mean) / unit, (parts[1] - mean) / unit


def unscaled(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both parts in the units of the file, gaps filled by zeros."""
    return np.nan_to_num(train), np.nan_to_num(test)
