"""What users have on disk: data tables, weight and score vectors, and files to write.

The ending of a name chooses the reader: `.csv` and `.tsv` (`csv_files`), `.npz` (`npz_files`),
`.parquet` (`parquet_files`, with the optional pyarrow), and svmlight as `.svmlight`, `.libsvm`,
`.svm` or `.txt` (`svmlight_files`). Text may be gzipped, with `.gz` after its own ending.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...exact.errors import InputError
from .file_checks import RawTable, check_no_pipe, existing_file
from .labels import Label, Labels, two_classes
from .tables.csv_files import read_csv
from .tables.csv_rows import csv_columns
from .tables.npz_files import read_arrays, read_npz
from .tables.parquet_files import parquet_names, read_parquet
from .tables.selection import Selection
from .tables.svmlight_files import read_svmlight

_READERS: dict[str, Callable[[Path, Selection], RawTable]] = {
    ".csv": read_csv,
    ".csv.gz": read_csv,
    ".npz": read_npz,
    ".tsv": read_csv,
    ".tsv.gz": read_csv,
    ".parquet": read_parquet,
    ".txt": read_svmlight,
    ".txt.gz": read_svmlight,
    ".libsvm": read_svmlight,
    ".libsvm.gz": read_svmlight,
    ".svm": read_svmlight,
    ".svm.gz": read_svmlight,
    ".svmlight": read_svmlight,
    ".svmlight.gz": read_svmlight,
}


@dataclass(frozen=True)
class TableMeta:
    """What a table held, and how its labels were read.

    Attributes
    ----------
    path : str
    columns : list of str
        Names of the features, in the order of X; "1", "2", ... where the file has none.
    target : str
        The label column.
    classes : dict
        Rows of each label, in order.
    positive, negative : label
        What 1 and 0 stand for; the negative one is None for "the rest".
    n, n_pos, n_neg : int
        Rows.
    labels : Labels
        What stood there for each row.
    ignored : list of str
        Columns, or arrays of an npz file, that were not read.
    zero_based, assumed
        As in `RawTable`.
    """

    path: str
    columns: list[str]
    target: str
    classes: dict[Label, int]
    positive: Label
    negative: Label | None
    n: int
    n_pos: int
    n_neg: int
    labels: Labels
    ignored: list[str]
    zero_based: bool | None = None
    assumed: bool = False


def read_table(
    path: str | Path, target: Selection | str | None = None, positive: object = None
) -> tuple[Any, np.ndarray, TableMeta]:
    """Read a data file into rows and labels 0 and 1.

    Nothing is guessed about bad values: missing ones, infinite ones and text are refused, with
    their column and row (from 1; a line of the file where it has lines).

    Parameters
    ----------
    path : str or Path
        `.csv`, `.tsv`, `.npz`, `.parquet`, or svmlight as `.svmlight`, `.libsvm`, `.svm`, `.txt`;
        text may be gzipped (`.csv.gz`).
    target : str or Selection, optional
        What to read, or the label column alone; the last one by default, `y` in npz. Columns of
        a CSV file without names are called "1", "2", ... . Not for svmlight, where the label
        stands first.
    positive : label, optional
        The positive class; by default the larger of two labels (numeric or text order), as
        scikit-learn has it. Necessary if there are more than two: then one against the rest.

    Returns
    -------
    X : array (n, d) of float64, or CSR for svmlight
    y : array (n,) of int64, 0 or 1
    meta : TableMeta

    Raises
    ------
    InputError
        In one sentence: what is wrong, where, and what to do.
    """
    table = read_raw(path, target)
    where = f"{path}, column '{table.target}'"
    y, one, zero = two_classes(table.labels, positive, where)
    n_pos = int(y.sum())
    meta = TableMeta(
        path=str(path),
        columns=table.columns,
        target=table.target,
        classes=table.labels.counts(),
        positive=one,
        negative=zero,
        n=len(y),
        n_pos=n_pos,
        n_neg=len(y) - n_pos,
        labels=table.labels,
        ignored=table.ignored,
        zero_based=table.zero_based,
        assumed=table.assumed,
    )
    return table.X, y, meta


def read_raw(path: str | Path, target: Selection | str | None = None) -> RawTable:
    """Return the rows and the labels as they stand in the file; arguments as in `read_table`."""
    ending = _ending(path)
    return _READERS[ending](existing_file(path), Selection.of(target))


def column_names(path: str | Path, header: bool | None = None) -> list[str] | None:
    """Return the names of the columns of a file, or None where it has none.

    `header` says whether the first row of a CSV file holds them.

    Raises
    ------
    InputError
        If the file cannot be used.
    """
    ending, found = _ending(path), existing_file(path)
    if _READERS[ending] is read_csv:
        names, has_header = csv_columns(found, header)
        return names if has_header else None
    if _READERS[ending] is read_svmlight:
        return None
    if ending == ".npz":
        arrays = read_arrays(found, ("feature_names",))
        return [str(name) for name in arrays["feature_names"]] if arrays else None
    return parquet_names(found)


def _ending(path: str | Path) -> str:
    check_no_pipe(path)
    name = Path(path).name.lower()
    for ending in _READERS:
        if name.endswith(ending):
            return ending
    # A path that does not exist, or is a folder, is the more helpful thing to say.
    existing_file(path)
    raise InputError(
        f"{path}: unknown kind of file: the name must end in one of {', '.join(_READERS)}"
    )
