"""Tables that a command reads by names: chosen columns, and columns of mean 0 and scale 1."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
import scipy.sparse as sp

from ....exact.errors import InputError
from ....exact.spaces.kernels import PRECOMPUTED
from ...files.tables import Selection

STANDARDISED = (
    "The columns are standardised: this is about them, not about the columns as the file has them."
)


def in_units(scaler: Any) -> str:
    """Return the sentence that standardised columns need, or nothing."""
    return "" if scaler is None else f" {STANDARDISED}"


def split_names(text: str | None) -> tuple[str, ...] | None:
    """Return the names of an option like `--drop a,b`, or None where it was not given.

    They are one line of a CSV file: a name that holds a comma stands between double quotes.

    Raises
    ------
    InputError
        For an empty name.
    """
    if text is None:
        return None
    try:
        row = next(csv.reader([text], skipinitialspace=True, strict=True), [])
    except csv.Error:
        row = []
    names = tuple(name.strip() for name in row)
    if not names or not all(names):
        raise InputError(
            f"{text!r}: give names of columns with one comma between two, and a name that holds "
            'a comma between double quotes: "a, b"'
        )
    return names


def selection_of(options: dict[str, Any]) -> Selection:
    """Return what `--target`, `--columns`, `--drop`, `--worst-of` and so on ask for."""
    columns, drop = (split_names(options.get(key)) for key in ("columns", "drop"))
    header, zero_based = (_told(options.get(key)) for key in ("header", "zero_based"))
    member = options.get("worst_of")
    return Selection(
        options.get("target"),
        columns,
        drop or (),
        header=header,
        zero_based=zero_based,
        beside=() if member is None else (member,),
    )


def _told(word: str | None) -> bool | None:
    return None if word is None else word == "yes"


def row_counters(X: Any, columns: list[str] | None) -> list[str]:
    """Return the named columns that hold k, k + 1, k + 2, ...: most likely saved row indices.

    Few rows can do so by chance; of fewer than 20 none is named.
    """
    if columns is None or not isinstance(X, np.ndarray) or len(X) < 20:
        return []
    ends = np.flatnonzero((X[1] - X[0] == 1) & (X[-1] - X[0] == len(X) - 1))
    return [columns[k] for k in ends if (np.diff(X[:, k]) == 1).all()]


def true_names(columns: list[str]) -> list[str] | None:
    """Return names of columns, or None where they are only their places in the file."""
    if all(name.isdigit() for name in columns):
        places = [int(name) for name in columns]
        if places == sorted(places):
            return None
    return columns


def fit_scaling(X: Any, names: list[str] | None, options: dict[str, Any]) -> Any:
    """Return the `StandardScaler` of these rows, or None unless `--standardise` was given.

    Sparse rows are divided and not centred; the centre does not matter to pairs.
    """
    if not options.get("standardise"):
        return None
    if options["kernel"] == PRECOMPUTED:
        raise InputError("--standardise is for columns of features, not for a precomputed kernel")
    from sklearn.preprocessing import StandardScaler

    with np.errstate(all="ignore"):
        scaler = StandardScaler(with_mean=not sp.issparse(X)).fit(X)
    if not np.isfinite(scaler.scale_).all():
        k = int(np.argmin(np.isfinite(scaler.scale_)))
        name = f"'{names[k]}'" if names else f"number {k + 1}"
        raise InputError(f"column {name} is too large to standardise: its variance overflows")
    if names:
        scaler.feature_names_in_ = np.array(names, dtype=object)
    return scaler


def scaled(scaler: Any, X: Any) -> Any:
    """Return the rows as the scaler makes them: new ones, without scikit-learn's word on names.

    Raises
    ------
    InputError
        If a number overflows.
    """
    if scaler is None:
        return X
    rows = X / scaler.scale_ if scaler.mean_ is None or not scaler.with_mean else None
    if rows is None:
        rows = (X - scaler.mean_) / scaler.scale_
    rows = sp.csr_array(rows) if sp.issparse(X) else np.ascontiguousarray(rows)
    if not np.isfinite(rows.data if sp.issparse(rows) else rows).all():
        raise InputError("a number overflows when the columns are standardised: rescale the data")
    return rows
