"""The real data sets of the papers, read from a folder of npz files that the user provides.

The folder is named by the environment variable AUCERT_DATA. A file holds `X`, `y` with the
original labels, and where they apply: `feature_names`; `X_test` and `y_test`; `n_train` (that
many leading rows are the published training part); `scale` (X is to be multiplied by it).
Missing values are NaN.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ...exact.errors import InputError
from ..files.labels import Labels, two_classes
from ..files.tables import existing_file, feature_names, finite_rows, nearest, read_arrays
from .labelled_data import Dataset, make_dataset

Part = Literal["all", "train", "test"]

FOLDER_VARIABLE = "AUCERT_DATA"


@dataclass(frozen=True)
class Task:
    """A binary task of a paper: a file, the labels counted as positive, columns left out."""

    file: str
    positive: tuple[object, ...]
    note: str
    drop: tuple[str, ...] = ()


def _one_against_rest(prefix: str, labels: Sequence[int]) -> dict[str, Task]:
    note = "one label against the rest, numbered in the order of the labels (inferred)"
    return {f"{prefix}{k}": Task(prefix, (v,), note) for k, v in enumerate(labels, start=1)}


_RATIO = "inferred from the printed class ratio [Nonlinear, Table 1]"
# Name to task. Sets with missing values, which the papers do not say how to fill, are left out.
TASKS: dict[str, Task] = {
    "skin": Task("skin", (1,), "skin against the rest [ScalingUp, Section 4.2]"),
    "bank": Task(
        "bank_additional_full",
        ("yes",),
        "yes against no [ScalingUp, Section 4.2]; that `duration` is the column dropped is usual, "
        "not said",
        drop=("duration",),
    ),
    "accelerometer": Task("accelerometer_gyro", (0,), "standing [ScalingUp, Section 4.2]"),
    "usps": Task("usps", (0, 1, 2, 3, 4), f"0-4 against 5-9, {_RATIO}"),
    "connect-4": Task("connect4", (1, 0), f"win or draw against loss, {_RATIO}"),
    "magic04": Task("magic04", ("g",), f"majority class, {_RATIO}"),
    "spambase": Task("spambase", (0,), f"majority class, {_RATIO}"),
    "ijcnn1": Task("ijcnn1", (-1,), f"majority class, {_RATIO}"),
    "cod-rna": Task("cod_rna", (-1,), f"majority class, {_RATIO}; its third file is missing"),
    "covtype": Task("covtype_sub", (1, 2, 3), f"1-3 against 4-7, {_RATIO}; a subset of the rows"),
    "bupa": Task("bupa", (2,), "larger label; not said in the paper"),
    "diabetes": Task("diabetes", (1,), "diabetic; not said in the paper"),
    "ionosphere": Task("ionosphere", ("g",), "good; not said in the paper"),
    "spectf": Task("spectf", (1,), "abnormal; not said in the paper"),
    "colon": Task("colon", (1,), "tumour [SHT, Section IV.B]"),
    "leukemia": Task("leukemia", ("ALL",), "lymphoblastic [SHT, Section IV.B]"),
    **_one_against_rest("glass", (1, 2, 3, 5, 6, 7)),
    **_one_against_rest("tae", (1, 2, 3)),
}


def real_data_folder() -> Path | None:
    """Folder named by the environment variable AUCERT_DATA; None if it is not set or empty."""
    value = os.environ.get(FOLDER_VARIABLE)
    if not value:
        return None
    folder = Path(value).expanduser()
    if not folder.is_dir():
        raise InputError(f"{FOLDER_VARIABLE}={value}: no such folder")
    return folder


def load_real(name: str, folder: str | Path | None = None, part: Part = "all") -> Dataset:
    """Read a binary task of the papers by its name in `TASKS`; positives are 1."""
    if name not in TASKS:
        raise InputError(f"no real data set {name!r}; {nearest(name, TASKS, 'sets')}")
    where = real_data_folder() if folder is None else Path(folder)
    if where is None:
        raise InputError(f"{name} is read from files: set {FOLDER_VARIABLE} to their folder")
    task = TASKS[name]
    data = load_npz(where / f"{task.file}.npz", positive=task.positive, part=part, drop=task.drop)
    source = f"{data.source}; positive: {task.note}"
    return make_dataset(name, data.X, data.y, source=source)


def load_npz(
    path: str | Path,
    positive: object = None,
    part: Part = "all",
    drop: Sequence[str] = (),
    missing: Literal["refuse", "drop-rows"] = "refuse",
) -> Dataset:
    """Read one of the papers' npz files."""
    found = existing_file(path)
    arrays = read_arrays(found)
    if "X" not in arrays or "y" not in arrays:
        raise InputError(f"{path}: no arrays 'X' and 'y'; {nearest('X', arrays, 'arrays')}")
    X, y = _part(path, arrays, part)
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise InputError(f"{path}: 'X' has shape {X.shape} and 'y' has shape {y.shape}")
    columns = feature_names(arrays, X.shape[1])
    absent = [name for name in drop if name not in columns]
    if absent:
        raise InputError(f"{path}: no column '{absent[0]}'; {nearest(absent[0], columns)}")
    kept = [k for k, name in enumerate(columns) if name not in drop]
    X = X[:, kept] if drop else X
    if missing == "drop-rows" and X.dtype.kind == "f":
        complete = ~np.isnan(X).any(axis=1)
        X, y = X[complete], y[complete]
    rows = finite_rows(found, X, [columns[k] for k in kept])
    if "scale" in arrays:
        rows = rows * _one_number(path, arrays["scale"])
    labels = _positive_rows(path, y, positive)
    name = found.stem if part == "all" else f"{found.stem}-{part}"
    return make_dataset(name, rows, labels, source=f"file {found.name}, {part} rows")


def _part(
    path: str | Path, arrays: dict[str, np.ndarray], part: Part
) -> tuple[np.ndarray, np.ndarray]:
    X, y = arrays["X"], arrays["y"]
    if "X_test" in arrays and "y_test" in arrays:
        n_train = len(X)
        if part != "train":
            X = np.concatenate([X, arrays["X_test"]])
            y = np.concatenate([y, arrays["y_test"]])
    elif "n_train" in arrays:
        n_train = int(arrays["n_train"])
    elif part == "all":
        n_train = len(X)
    else:
        raise InputError(f"{path}: no published split: part must be 'all', not {part!r}")
    rows = {"all": slice(None), "train": slice(n_train), "test": slice(n_train, None)}
    if part not in rows:
        raise InputError(f"part must be one of {', '.join(rows)}, not {part!r}")
    return X[rows[part]], y[rows[part]]


def _one_number(path: str | Path, scale: np.ndarray) -> float:
    if scale.size != 1 or scale.dtype.kind not in "iuf" or not np.isfinite(scale).all():
        raise InputError(f"{path}: 'scale' must be one finite number")
    return float(scale.item())


def _positive_rows(path: str | Path, y: np.ndarray, positive: object) -> np.ndarray:
    """0 and 1: one or several labels against the rest."""
    labels, where = Labels.of(y, f"{path}, array 'y'"), f"{path}, array 'y'"
    if not isinstance(positive, tuple | list):
        return two_classes(labels, positive, where)[0]
    return np.sum([two_classes(labels, label, where)[0] for label in positive], axis=0)
