"""Reading one vector of numbers (weights, scores) from a file."""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from array import array
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ...exact.errors import InputError
from ...exact.tools.digits import loses_digits
from ...exact.tools.lossless import as_float64
from ..memory import shown
from .file_checks import damage_reported, existing_file, is_missing
from .labels import as_number
from .tables.csv_rows import open_text
from .tables.npz_files import declared_size, read_arrays

_TEXT_ENDINGS = (".csv", ".csv.gz", ".txt")
_BETWEEN = re.compile(r"[,;\s]+")
_TITLE = re.compile(r"weight|coef|score|value|decision|margin|pred|prob|\b(w|f|beta|alpha|theta)\b")
"""What a line of text above numbers has to say, unless it names each of them."""


def read_vector(path: str | Path, length: int | None = None, what: str = "weights") -> np.ndarray:
    """Read a vector of finite numbers.

    Parameters
    ----------
    path : str or Path
        `.npy`; `.npz` with a single array; `.csv`, `.csv.gz` or `.txt` with one number a line or
        all in one row (separated by commas, semicolons, tabs or blanks). Above may stand one name
        for each number of a row, or a title that says what the numbers are ("weight", "score").
    length : int, optional
        How many there must be.
    what : str
        What they are, for the messages: "weights", "scores".

    Returns
    -------
    array (m,) of float64

    Raises
    ------
    InputError
        If the file is not such a vector, or its length differs (both lengths are named).
    """
    name = Path(path).name.lower()
    if not name.endswith((".npy", ".npz", *_TEXT_ENDINGS)):
        existing_file(path)
        raise InputError(
            f"{path}: {what} are read from .npy, .npz, {', '.join(_TEXT_ENDINGS)} files"
        )
    found = existing_file(path)
    if name.endswith((".npy", ".npz")):
        values = _from_array(found, what)
    else:
        values = _from_text(found, what)
    if values.size == 0:
        raise InputError(f"{path}: the file holds no {what}")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(
            f"{path}: number {bad[0] + 1} of the {what} is {values[bad[0]]}: all must be finite"
        )
    if length is not None and len(values) != length:
        raise InputError(f"{path}: holds {len(values)} {what} where {length} are needed")
    return values


def _declared(file: BinaryIO) -> int:
    file.seek(0)
    return declared_size(file)


def _from_array(path: Path, what: str) -> np.ndarray:
    if path.suffix.lower() == ".npz":
        arrays = read_arrays(path)
        if len(arrays) != 1:
            names = ", ".join(arrays) or "none"
            raise InputError(f"{path}: must hold a single array of {what}; it holds {names}")
        held = next(iter(arrays.values()))
    else:
        with damage_reported(path, "npy", ValueError, EOFError, OSError):
            _check_beginning(path, what)
            with open(path, "rb") as file:
                size = 0 if zipfile.is_zipfile(file) else _declared(file)
            if size > path.stat().st_size:
                raise InputError(f"{path}: damaged, {shown(size)} are declared and not there")
            held = np.load(path, allow_pickle=False)
        if not isinstance(held, np.ndarray):
            raise InputError(f"{path}: this is an npz file under another name: call it .npz")
    if held.dtype.kind not in "biuf":
        raise InputError(f"{path}: {what} must be numbers, not {held.dtype}")
    if held.ndim == 0 or held.size != max(held.shape):
        raise InputError(f"{path}: {what} must be one row or one column; the shape is {held.shape}")
    return np.ascontiguousarray(as_float64(held, f"{path}: {what}")).ravel()


def _check_beginning(path: Path, what: str) -> None:
    """Refuse what numpy would take for a pickle, and then advise to load it unsafely."""
    with path.open("rb") as file:
        start = file.read(6)
    if start and start != b"\x93NUMPY" and start[:2] != b"PK":
        raise InputError(
            f"{path}: damaged, or not a readable npy file; {what} in a text file need a name that "
            f"ends in {', '.join(_TEXT_ENDINGS)}"
        )


def _from_text(path: Path, what: str) -> np.ndarray:
    values = array("d")
    rows, place, wide = 0, 0, False
    title: list[str] = []
    with (
        damage_reported(path, "gzip", gzip.BadGzipFile, EOFError, zlib.error),
        damage_reported(path, "UTF-8 text", UnicodeDecodeError),
        open_text(path) as text,
    ):
        for row, line in enumerate(text, start=1):
            fields = [f.strip('"') for f in _BETWEEN.split(line.strip().rstrip(",;"))]
            if fields == [""]:
                continue
            if not (rows or title) and all(map(_is_name, fields)):
                title, place = fields, row
                continue
            if title and not rows:
                _check_title(path, title, place, len(fields), what)
            rows, wide = rows + 1, wide or len(fields) > 1
            if wide and rows > 1:
                raise InputError(
                    f"{path}: {what} are one number a line or one row; row {row} is neither"
                )
            values.extend(_number(path, field, row, what) for field in fields)
    if title and not rows:
        _check_title(path, title, place, 0, what)
    return np.array(values)


def _check_title(path: Path, fields: list[str], row: int, below: int, what: str) -> None:
    """Refuse text above the numbers that is neither their names nor a title: a typing error."""
    text = " ".join(fields)
    if (below > 1 and len(fields) == below) or _TITLE.search(text.lower()):
        return
    raise InputError(
        f"{path}: text {text[:40]!r} in row {row}: {what} must be numbers; a title above them "
        f"must say what they are, as in '{what.removesuffix('s')}'"
    )


def _is_name(field: str) -> bool:
    return as_number(field) is None and not is_missing(field)


def _number(path: Path, field: str, row: int, what: str) -> float:
    number = as_number(field)
    if number is None:
        kind = "missing value" if is_missing(field) else f"text {field[:40]!r}"
        raise InputError(f"{path}: {kind} in row {row}: {what} must be numbers")
    if loses_digits(field, number):
        raise InputError(f"{path}: {field[:40]} in row {row} loses digits in float64: round it")
    return number
