"""Reading tables for ranking by query and for survival: features, and the columns that order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ....exact.errors import InputError
from ..column_names import nearest
from ..data_files import column_names, read_raw
from ..file_checks import RawTable, existing_file
from ..labels import Labels, as_truth
from .member_columns import read_words
from .npz_files import read_arrays
from .selection import SVMLIGHT, Selection
from .svmlight_files import read_queries


@dataclass(frozen=True, eq=False)
class OrderedTable:
    """Rows, and what orders them.

    Attributes
    ----------
    X : array (n, d) of float64, or CSR for svmlight
    grade, qid : arrays (n,) or None
        For ranking by query.
    time, event : arrays (n,) or None
        For survival.
    columns : list of str
        Names of the features.
    zero_based, assumed
        As in `RawTable`.
    """

    X: Any
    columns: list[str]
    grade: np.ndarray | None = None
    qid: np.ndarray | None = None
    time: np.ndarray | None = None
    event: np.ndarray | None = None
    zero_based: bool | None = None
    assumed: bool = False


def read_by_query(
    path: str | Path, qid: str, target: Selection | str | None = None
) -> OrderedTable:
    """Read features, grades and queries.

    Parameters
    ----------
    path : str or Path
        As in `read_table`.
    qid : str
        The column of the queries, numbers or words, in npz also an array; "qid" for svmlight.
    target : str or Selection, optional
        The column of the grades, and which are features, as in `read_table`.

    Raises
    ------
    InputError
        As `read_table`, and if the column is not there or a grade is no number.
    """
    if Path(path).name.lower().removesuffix(".gz").endswith(SVMLIGHT):
        asked = Selection.of(target)
        if qid != "qid" or asked.target is not None:
            raise InputError(f"{path}: an svmlight file has the label first: give --qid qid only")
        table, queries = read_queries(existing_file(path), asked)
        base = table.zero_based, table.assumed
        return OrderedTable(
            table.X,
            table.columns,
            _numbers(table.labels, path, "grade"),
            queries,
            None,
            None,
            *base,
        )
    if qid == Selection.of(target).target:
        raise InputError(f"{path}: '{qid}' cannot be both the query and the grade")
    asked = Selection.of(target)
    held = _beside(path, asked, qid)
    try:
        table = read_raw(path, held)
    except InputError:
        words = read_words(existing_file(path), qid, asked.header)
        if words is None:
            raise
        rest = asked if asked.columns is not None else replace(asked, drop=(*asked.drop, qid))
        table = read_raw(path, rest)
        return OrderedTable(table.X, table.columns, _numbers(table.labels, path, "grade"), words)
    if qid == table.target:
        raise InputError(f"{path}: '{qid}' is the last column: name the grade with --target")
    X, columns, queries = _without(path, table, qid)
    return OrderedTable(X, columns, _numbers(table.labels, path, "grade"), queries)


def read_survival(
    path: str | Path, time: str, event: str, features: Selection | None = None
) -> OrderedTable:
    """Read features, times and events.

    Parameters
    ----------
    path : str or Path
        As in `read_table`, but not svmlight.
    time, event : str
        Columns, in npz also arrays; an event is 0 or 1, or no or yes, or false or true.
    features : Selection, optional
        Which columns are features; all others by default.

    Raises
    ------
    InputError
        As `read_table`, and if a column is not there or an event is none of these.
    """
    if Path(path).name.lower().removesuffix(".gz").endswith(SVMLIGHT):
        raise InputError(f"{path}: an svmlight file has no columns for a time and an event")
    if time == event:
        raise InputError(f"{path}: '{time}' cannot be both the time and the event")
    asked = replace(features or Selection(), target=event)
    table = read_raw(path, _beside(path, asked, time))
    X, columns, times = _without(path, table, time)
    seen = _numbers(table.labels, path, "event")
    wrong = np.flatnonzero((seen != 0) & (seen != 1))
    if wrong.size:
        raise InputError(
            f"{path}: the event of data row {wrong[0] + 1} is {seen[wrong[0]]:g}: it must be 0 or 1"
        )
    return OrderedTable(X, columns, time=times, event=seen)


def _beside(path: str | Path, asked: Selection, name: str) -> Selection:
    """Return the selection with a column that orders the rows: it is read, and no feature."""
    if name in (*(asked.columns or ()), *asked.drop):
        raise InputError(
            f"{path}: '{name}' orders the rows: it is no feature and cannot be left out"
        )
    if asked.columns is None:
        return asked
    if str(path).lower().endswith(".npz") and name not in (column_names(path, asked.header) or ()):
        return asked  # an array of its own
    return replace(asked, columns=(*asked.columns, name))


def _numbers(labels: Labels, path: str | Path, what: str) -> np.ndarray:
    """Return the label column as numbers (n,)."""
    values = []
    for value in labels.values:
        number = as_truth(value) if isinstance(value, str) else float(value)
        if number is None:
            raise InputError(f"{path}: the {what} {value!r} is not a number")
        values.append(number)
    return np.array(values)[labels.codes]


def _without(
    path: str | Path, table: RawTable, name: str
) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Return the rows without a column, the names left, and that column."""
    if name in table.columns:
        at = table.columns.index(name)
        if len(table.columns) == 1:
            raise InputError(f"{path}: no feature columns are left beside '{name}'")
        columns = table.columns[:at] + table.columns[at + 1 :]
        return np.delete(table.X, at, axis=1), columns, table.X[:, at].copy()
    if name in table.ignored:
        found = read_arrays(Path(path), (name,)).get(name)
        if found is not None and found.shape == (table.X.shape[0],):
            return table.X, table.columns, found
        raise InputError(f"{path}: array '{name}' must have shape ({table.X.shape[0]},)")
    held = [*table.columns, *table.ignored]
    raise InputError(f"{path}: no column '{name}'; {nearest(name, held)}")
