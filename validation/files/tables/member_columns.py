"""Reading a column of groups or queries, which may be words, beside a table of numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ....exact.errors import InputError
from ..column_names import nearest
from ..data_files import column_names, read_raw
from ..file_checks import damage_reported, existing_file
from ..labels import as_number, is_missing
from .csv_rows import GZIP_ERRORS, csv_columns, csv_rows
from .npz_files import array_names, read_arrays
from .parquet_files import is_words, parquet_library
from .selection import Selection


def beside_members(path: str | Path, name: str, asked: Selection) -> tuple[str, ...]:
    """Return the columns to leave out where features and labels are read.

    Parameters
    ----------
    path : str or Path
        As in `read_table`, but not svmlight.
    name : str
        The column of the groups; in npz also an array.
    asked : Selection

    Raises
    ------
    InputError
        If the file has no such column, or it is asked for as something else.
    """
    if name in (asked.target, *(asked.columns or ())):
        raise InputError(f"{path}: '{name}' names the groups: it is neither label nor feature")
    drop = tuple(one for one in asked.drop if one != name)
    if _is_npz(path):
        held = array_names(existing_file(path))
        if name in ("X", "y") or name not in held:
            near = nearest(name, held, "arrays")
            raise InputError(f"{path}: no array '{name}' of groups; {near}")
        return drop
    columns = column_names(path, asked.header)
    if columns is None:
        raise InputError(f"{path}: this file has no names of columns, so none of the groups")
    if name not in columns:
        raise InputError(f"{path}: no column '{name}'; {nearest(name, columns)}")
    return (*drop, name) if asked.columns is None else drop


def read_members(path: str | Path, name: str, asked: Selection, n: int) -> np.ndarray:
    """Return the group of each row: (n,).

    Parameters
    ----------
    path, name
        As in `beside_members`.
    asked : Selection
        Of one feature, a column of numbers: no table is read without features.
    n : int
        Rows of the table.

    Raises
    ------
    InputError
        If an array of an npz file has another shape, or a group is missing.
    """
    if _is_npz(path):
        found = read_arrays(Path(path), (name,))[name]
        if found.shape != (n,):
            raise InputError(f"{path}: array '{name}' must have shape ({n},)")
        return found
    labels = read_raw(path, replace(asked, target=name)).labels
    return np.array(labels.values)[labels.codes]


def _is_npz(path: str | Path) -> bool:
    return str(path).lower().endswith(".npz")


def read_words(path: Path, name: str, header: bool | None = None) -> np.ndarray | None:
    """Return the words of a column (n,), or None where it is not there or holds numbers alone.

    Parameters
    ----------
    path : Path
        A `.csv`, `.tsv` or `.parquet` file; of others None.
    name : str
    header : bool, optional
        As in `Selection`.

    Raises
    ------
    InputError
        If a cell is empty, or the file is damaged.
    """
    ending = path.name.lower().removesuffix(".gz")
    if ending.endswith((".csv", ".tsv")):
        with damage_reported(path, "gzip", *GZIP_ERRORS):
            cells = _of_csv(path, name, header)
        if all(is_missing(text) or as_number(text) is not None for _, text in cells):
            return None
    elif ending.endswith(".parquet"):
        cells = _of_parquet(path, name)
    else:
        return None
    for row, text in cells:
        if is_missing(text):
            raise InputError(f"{path}: missing value in column '{name}', row {row}: drop the row")
    return np.array([text for _, text in cells]) if cells else None


def _of_csv(path: Path, name: str, header: bool | None) -> list[tuple[int, str]]:
    """Return the line and the text of each cell."""
    names, has_header = csv_columns(path, header)
    if name not in names:
        return []
    place = names.index(name)
    rows = csv_rows(path, has_header, [])
    return [(line, row[place].strip()) for line, row in rows if len(row) > place]


def _of_parquet(path: Path, name: str) -> list[tuple[int, str]]:
    """Return the row and the text of each cell of a column of text."""
    pa, pq = parquet_library(path)
    with damage_reported(path, "Parquet", pa.ArrowException, OSError, EOFError):
        schema = pq.read_schema(path)
        if name not in schema.names or not is_words(schema.field(name).type, pa.types):
            return []
        column = pq.read_table(path, columns=[name]).column(name).to_pylist()
    return [(k + 1, "" if text is None else str(text).strip()) for k, text in enumerate(column)]
