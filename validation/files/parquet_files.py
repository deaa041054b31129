"""Reading Parquet files, with the optional pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...exact.errors import InputError
from ...exact.tools.lossless import is_large
from .file_checks import (
    TEXT_ADVICE,
    RawTable,
    check_names,
    damage_reported,
    finite_rows,
    refuse_lost,
    refuse_value,
    target_place,
)
from .labels import LabelColumn, Labels, array_labels

_BATCH_ROWS = 65_536


def read_parquet(path: Path, target: str | None = None) -> RawTable:
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
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"{path}: reading Parquet needs pyarrow: install aucert[parquet]"
        ) from None
    errors = (pa.ArrowException, OSError, EOFError)
    with damage_reported(path, "Parquet", *errors), _open(path, pq) as file:
        names = list(file.schema_arrow.names)
        check_names(path, names)
        place = target_place(path, names, target)
        for name, kind in zip(names, file.schema_arrow.types, strict=True):
            _check_type(path, name, kind, pa.types, label=name == names[place])
        return _parquet_rows(path, file, names, place, pa.types)


def _open(path: Path, pq: Any) -> Any:
    """Open with page checksums checked, where the file has them."""
    return pq.ParquetFile(path, page_checksum_verification=True)


def _check_type(path: Path, name: str, kind: Any, types: Any, label: bool) -> None:
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    text = _is_text(kind, types) or types.is_dictionary(kind)
    if numeric or (types.is_decimal(kind) and not label) or (text and label):
        return
    if text:
        raise InputError(f"{path}: text in column '{name}', row 1: {TEXT_ADVICE}")
    raise InputError(f"{path}: column '{name}' holds {kind}, not numbers: drop or convert it")


def _is_text(kind: Any, types: Any) -> bool:
    return types.is_string(kind) or types.is_large_string(kind)


def _parquet_rows(path: Path, file: Any, names: list[str], place: int, types: Any) -> RawTable:
    n = file.metadata.num_rows
    if n == 0:
        raise InputError(f"{path}: no rows")
    columns = names[:place] + names[place + 1 :]
    X = np.empty((n, len(columns)))
    labels, start = _ParquetLabels(path, names[place], types), 0
    for batch in file.iter_batches(batch_size=_BATCH_ROWS):
        stop = start + batch.num_rows
        for k, column in enumerate(batch.columns):
            if column.null_count:
                row = start + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False))) + 1
                refuse_value(path, names[k], row, "")
            if k == place:
                labels.add(column, start)
            else:
                held = column.cast("float64", safe=False).to_numpy()
                _check_digits(path, names[k], column, held, start + 1, types)
                X[start:stop, k - (k > place)] = held
        start = stop
    return RawTable(finite_rows(path, X, columns), labels.labels(), columns, names[place], [])


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
        if not (self._types.is_dictionary(column.type) or _is_text(column.type, self._types)):
            self._numbers.append(column.to_numpy(zero_copy_only=False))
            return
        for k, text in enumerate(map(str, column.to_pylist())):
            self._text.add(text, self._where, start + k + 1)

    def labels(self) -> Labels:
        """All of them, sorted."""
        if not self._numbers:
            return self._text.labels()
        return array_labels(np.concatenate(self._numbers), self._where)
