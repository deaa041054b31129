"""Reading Parquet files, with the optional pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ....exact.errors import InputError
from ....exact.tools.digits import is_large
from ..column_names import named, target_place
from ..file_checks import RawTable, Refused, damage_reported, finite_rows, refuse_lost
from ..labels import LabelColumn, Labels, array_labels, as_number, as_truth
from .selection import Places, Selection

_BATCH_ROWS = 65_536


def read_parquet(path: Path, target: Selection | str | None = None) -> RawTable:
    """Read a Parquet file of numeric columns and one label column; needs pyarrow.

    Parameters
    ----------
    path : Path
    target : str, optional
        Label column; the last one by default.

    Raises
    ------
    InputError
        If pyarrow is not installed, the file is damaged, or a column does not hold finite
        numbers. Rows count from 1.
    """
    pa, pq = parquet_library(path)
    errors = (pa.ArrowException, OSError, EOFError)
    with damage_reported(path, "Parquet", *errors), _open(path, pq) as file:
        names = named(file.schema_arrow.names)
        asked = Selection.of(target)
        place = target_place(path, names, asked.target) if asked.labelled else None
        places = asked.places(path, names, place)
        Refused(path, places.unclear).raise_if_any()
        kinds = file.schema_arrow.types
        for k in places.features if place is None else [place, *places.features]:
            check_type(path, names[k], kinds[k], pa.types, label=k == place)
        return _parquet_rows(path, file, names, places, pa.types)


def parquet_names(path: Path) -> list[str]:
    """Return the names of the columns.

    Raises
    ------
    InputError
        If pyarrow is not installed, or the file is damaged.
    """
    pa, pq = parquet_library(path)
    with (
        damage_reported(path, "Parquet", pa.ArrowException, OSError, EOFError),
        _open(path, pq) as file,
    ):
        return named(file.schema_arrow.names)


def parquet_library(path: Path) -> tuple[Any, Any]:
    """Return pyarrow and its room for Parquet."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"{path}: reading Parquet needs pyarrow: install aucert[parquet]"
        ) from None
    return pa, pq


def _open(path: Path, pq: Any) -> Any:
    """Open with page checksums checked, where the file has them."""
    return pq.ParquetFile(path, page_checksum_verification=True)


def check_type(path: Path, name: str, kind: Any, types: Any, label: bool) -> None:
    """Raise `InputError` unless a column of this type can be a feature, or the label."""
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    if numeric or is_words(kind, types) or (types.is_decimal(kind) and not label):
        return
    raise InputError(f"{path}: column '{name}' holds {kind}, not numbers: drop or convert it")


def is_words(kind: Any, types: Any) -> bool:
    """Return whether a type is that of text, or of a dictionary."""
    return types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind)


def _parquet_rows(path: Path, file: Any, names: list[str], places: Places, types: Any) -> RawTable:
    n, place = file.metadata.num_rows, places.target
    if n == 0:
        raise InputError(f"{path}: no rows")
    columns = [names[k] for k in places.features]
    read = columns if place is None else [*columns, names[place]]
    X, refused = np.empty((n, len(columns))), Refused(path)
    labels = None if place is None else _ParquetLabels(path, names[place], types)
    start = 0
    for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=read):
        stop = start + batch.num_rows
        for name in read:
            column = batch.column(name)
            if column.null_count:
                row = start + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False))) + 1
                refused.add(name, row, "")
            elif labels is not None and name == names[place]:  # type: ignore[index]
                labels.add(column, start)
            else:
                held = as_numbers(column, name, start, refused, types)
                _check_digits(path, name, column, held, start + 1, types)
                X[start:stop, columns.index(name)] = held
        start = stop
    refused.raise_if_any()
    X = finite_rows(path, X, columns)
    if labels is None:
        return RawTable(X, Labels([], np.empty(0, int)), columns, "", places.ignored)
    return RawTable(X, labels.labels(), columns, names[place], places.ignored)  # type: ignore[index]


def as_numbers(column: Any, name: str, start: int, refused: Refused, types: Any) -> np.ndarray:
    """Return a batch of a feature as numbers; of text, only words for 1 and 0 are any."""
    if not is_words(column.type, types):
        return column.cast("float64", safe=False).to_numpy()
    held = np.zeros(len(column))
    for k, text in enumerate(map(str, column.to_pylist())):
        value = as_truth(text)
        if value is None:
            refused.add(name, start + k + 1, text if as_number(text) is None else f"'{text}'")
        held[k] = value or 0.0
    return held


def _check_digits(
    path: Path, name: str, column: Any, held: np.ndarray, row: int, types: Any
) -> None:
    """Refuse whole numbers, and decimals beyond 2^53, that float64 cannot hold."""
    if types.is_floating(column.type) or not is_large(held).any():
        return
    given = np.array(column.to_pylist(), dtype=object)
    refuse_lost(path, given[:, None], [name], row)


class _ParquetLabels:
    """The label column: text by its distinct values, numbers as they are."""

    def __init__(self, path: Path, name: str, types: Any) -> None:
        self._where, self._types = f"{path}, column '{name}'", types
        self._text = LabelColumn()
        self._numbers: list[np.ndarray] = []

    def add(self, column: Any, start: int) -> None:
        """Append a batch whose first row has index `start`."""
        if not is_words(column.type, self._types):
            self._numbers.append(column.to_numpy(zero_copy_only=False))
            return
        for k, text in enumerate(map(str, column.to_pylist())):
            self._text.add(text, self._where, start + k + 1)

    def labels(self) -> Labels:
        """All of them, sorted."""
        if not self._numbers:
            return self._text.labels()
        return array_labels(np.concatenate(self._numbers), self._where)
