"""What users have on disk: data tables, weight and score vectors, and files to write.

The ending of a name chooses the reader: `.csv` and `.csv.gz` (`csv_files`), `.npz` (`npz_files`),
`.parquet` (`parquet_files`, with the optional pyarrow), and svmlight as `.txt`, `.libsvm` or
`.svm` (`svmlight_files`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...exact.errors import InputError
from .csv_files import read_csv
from .file_checks import RawTable, existing_file
from .labels import Label, two_classes
from .npz_files import read_npz
from .parquet_files import read_parquet
from .svmlight_files import read_svmlight
from .vector_files import read_vector
from .written_files import write_atomically, write_json, write_vector

__all__ = [
    "TableMeta",
    "read_raw",
    "read_table",
    "read_vector",
    "write_atomically",
    "write_json",
    "write_vector",
]

_READERS: dict[str, Callable[[Path, str | None], RawTable]] = {
    ".csv": read_csv,
    ".csv.gz": read_csv,
    ".npz": read_npz,
    ".parquet": read_parquet,
    ".txt": read_svmlight,
    ".libsvm": read_svmlight,
    ".svm": read_svmlight,
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
    ignored : list of str
        Arrays of an npz file that were not read.
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
    ignored: list[str]


def read_table(
    path: str | Path, target: str | None = None, positive: object = None
) -> tuple[Any, np.ndarray, TableMeta]:
    """Read a data file into rows and labels 0 and 1.

    Nothing is guessed about bad values: missing ones, infinite ones and text are refused, with
    their column and row (from 1; a line of the file where it has lines).

    Parameters
    ----------
    path : str or Path
        `.csv`, `.csv.gz`, `.npz`, `.parquet`, or svmlight as `.txt`, `.libsvm`, `.svm`.
    target : str, optional
        The label column; the last one by default, `y` in npz. Columns of a CSV file without
        names are called "1", "2", ... . Not for svmlight, where the label stands first.
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
        ignored=table.ignored,
    )
    return table.X, y, meta


def read_raw(path: str | Path, target: str | None = None) -> RawTable:
    """Return the rows and the labels as they stand in the file; arguments as in `read_table`."""
    ending = _ending(path)
    return _READERS[ending](existing_file(path), target)


def _ending(path: str | Path) -> str:
    name = Path(path).name.lower()
    for ending in _READERS:
        if name.endswith(ending):
            return ending
    # A path that does not exist, or is a folder, is the more helpful thing to say.
    existing_file(path)
    raise InputError(
        f"{path}: unknown kind of file: the name must end in one of {', '.join(_READERS)}"
    )
