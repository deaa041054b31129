"""Reading svmlight files into sparse rows and labels."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from ....exact.errors import InputError
from ....exact.tools.digits import is_large, loses_digits
from ...memory import check_room
from ..file_checks import RawTable, damage_reported, refuse_digits, refuse_value
from ..labels import array_labels, as_number
from .csv_rows import GZIP_ERRORS
from .selected import selected
from .selection import Selection

_BLOCK = 1 << 20


def read_svmlight(path: Path, target: Selection | str | None = None) -> RawTable:
    """Read an svmlight file without query groups; see `read_queries`.

    Raises
    ------
    InputError
        As `read_queries`, for a line with a query group (`qid:`), or a `target`: the label always
        stands first.
    """
    return _read(path, Selection.of(target), False)[0]


def read_queries(path: Path, asked: Selection) -> tuple[RawTable, np.ndarray]:
    """Read an svmlight file (`label index:value ...` a line) into CSR, through scikit-learn.

    Indices count from 0 if index 0 occurs, else from 1, unless `asked.zero_based` says which. Rows
    that are for a model get its width. A column is called by its index. Rows in messages are lines
    of the file.
    Each line has its query group, a whole number: `label qid:number index:value ...`.

    Raises
    ------
    InputError
        For a line that is not of this form; its number is named. For rows narrower than the model
        that may count from 0 or from 1.
    """
    return _read(path, asked, True)


def _read(path: Path, asked: Selection, queries: bool) -> tuple[RawTable, np.ndarray]:
    """Return the table and the query of each row, or none of them."""
    from sklearn.datasets import load_svmlight_file

    if asked.target is not None:
        raise InputError(f"{path}: an svmlight file holds its label first: leave out the target")
    try:
        found = load_svmlight_file(str(path), dtype=np.float64, query_id=queries, zero_based=True)
        X, y, qid = found if queries else (*found[:2], np.zeros(0))
    except (ValueError, OverflowError, OSError, EOFError, zlib.error) as error:
        with damage_reported(path, "gzip", *GZIP_ERRORS):
            _refuse_line(path, queries)
        raise InputError(f"{path}: damaged, or not a readable svmlight file ({error})") from None
    if X.shape[0] == 0:
        raise InputError(f"{path}: the file is empty")
    if X.shape[1] == 0 or X.nnz == 0:
        raise InputError(f"{path}: no feature columns: no line has an index:value pair")
    sound = np.isfinite(X.data).all() and np.isfinite(y).all()
    if not sound or is_large(X.data).any() or is_large(y).any() or _is_unusual(path):
        _refuse_line(path, queries)
    _check_width(path, X.shape[1])
    X, base, assumed = _based(path, X, asked)
    columns = [str(k) for k in range(base, base + X.shape[1])]
    labels = array_labels(y, f"{path}, labels")
    table = RawTable(sp.csr_array(X), labels, columns, "label", [], base == 0, assumed)
    table = selected(path, table, asked)
    X, width = table.X, max(asked.width or 0, table.X.shape[1])
    X = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
    return replace(table, X=X), np.asarray(qid)


def _based(path: Path, X: Any, asked: Selection) -> tuple[Any, int, bool]:
    """Return the rows without a column 0 that is none, from where indices count, and if assumed."""
    zero, base = bool((X.indices == 0).any()), asked.zero_based
    if zero and base is False:
        raise InputError(
            f"{path}: index 0 occurs, where indices count from 1: say --zero-based yes if they "
            "count from 0 in this file"
        )
    assumed = base is None and not zero
    largest = X.shape[1] - 1
    if assumed and asked.width is not None and (largest < asked.width or asked.is_partial):
        raise InputError(may_count_from(path, largest, asked.width))
    if zero or base:
        return X, 0, False
    rows = sp.csr_array((X.data, X.indices - 1, X.indptr), shape=(X.shape[0], largest))
    return rows, 1, assumed


def may_count_from(path: str | Path, largest: int, width: int) -> str:
    """Return the sentence on a file that is narrower than the model and may count from 0 or 1."""
    return (
        f"{path}: its indices, up to {largest}, may count from 0 or from 1, and the model has "
        f"{width} features: say which with --zero-based yes or --zero-based no"
    )


BYTES_A_FEATURE = 150
"""A name, and about ten vectors of weights while a problem is solved."""


def _check_width(path: Path, d: int) -> None:
    what = f"{path}: its largest index makes {d:,} features"
    check_room(what, BYTES_A_FEATURE * d, "number the features that occur from 1")


def _opened(path: Path) -> IO[bytes]:
    """Open the bytes of a file, through gzip where its name ends in `.gz`."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rb")  # type: ignore[return-value]
    return open(path, "rb")


def _refuse_line(path: Path, queries: bool = False) -> None:
    """Raise for the first line that is not `label index:value ...` with finite numbers.

    With `queries` each line must have a query group beside the label, else none may have one.
    """
    with _opened(path) as file:
        for row, raw in enumerate(file, start=1):
            fields = raw.partition(b"#")[0].decode("utf-8", errors="replace").split()
            if not fields:
                continue
            label = as_number(fields[0])
            if label is None or not np.isfinite(label):
                shown = repr(fields[0][:40])
                raise InputError(f"{path}: row {row} starts with {shown}, not with a number")
            if loses_digits(fields[0], label):
                refuse_digits(path, "label", row, fields[0])
            last, pairs = -1, fields[1:]
            if queries:
                _check_query(path, row, pairs[0] if pairs else "")
                pairs = pairs[1:]
            for pair in pairs:
                last = _check_pair(path, row, pair, last)


def _check_query(path: Path, row: int, text: str) -> None:
    """Raise unless the text is `qid:number`."""
    name, colon, number = text.partition(":")
    if name != "qid" or not colon:
        raise InputError(f"{path}: row {row} has no query group: write qid:number after the label")
    if not (number.isascii() and number.isdigit() and int(number) < 1 << 63):
        raise InputError(f"{path}: row {row}: the query group {text[:40]!r} is no whole number")


def _check_pair(path: Path, row: int, pair: str, last: int) -> int:
    """The index of one `index:value`, which must be above the last one."""
    index, colon, value = pair.partition(":")
    if index == "qid" and colon:
        raise InputError(
            f"{path}: row {row} has a query group ({pair[:40]}): name it with --qid qid to rank "
            "within groups; without, all rows would be ranked as one group"
        )
    number = as_number(value)
    if not (colon and index.isascii() and index.isdigit() and number is not None):
        raise InputError(f"{path}: row {row} holds {pair[:40]!r} where index:value is needed")
    if not np.isfinite(number):
        refuse_value(path, index, row, value)
    if loses_digits(value, number):
        refuse_digits(path, index, row, value)
    if int(index) <= last:
        raise InputError(f"{path}: row {row}: index {index} comes after {last}, sort the indices")
    return int(index)


def _is_unusual(path: Path) -> bool:
    """Whether `1_000` may occur, which Python reads as a number, or `qid:1`, which is skipped."""
    with _opened(path) as file:
        return any(b"_" in block or b"q" in block for block in iter(lambda: file.read(_BLOCK), b""))
