"""Reading one vector of numbers (weights, scores) from a file, with the names of the numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...exact.errors import InputError
from ...exact.tools.lossless import as_float64, loses_digits
from .labels import as_number, is_missing
from .tables import (
    Selection,
    are_places,
    csv_rows,
    damage_reported,
    existing_file,
    fault,
    read_arrays,
    read_raw,
    text_lines,
)

_TEXT_ENDINGS = (".csv", ".csv.gz", ".txt")
# What a line of text above numbers has to say, unless it names each of them.
_TITLE = re.compile(r"weight|coef|score|value|decision|margin|pred|prob|\b(w|f|beta|alpha|theta)\b")

# Opens the title of weights that belong to columns of mean 0 and scale 1.
OF_STANDARDISED = "standardised "


@dataclass(frozen=True, eq=False)
class Vector:
    """Finite numbers (m,), what each belongs to, and the row above them.

    That row is the first of a text where it holds no numbers, or places (0, or 0,1,2).
    """

    values: np.ndarray
    names: list[str] | None = None
    title: Sequence[str] = ()

    @property
    def of_standardised(self) -> bool:
        """Whether its title says that they are for standardised columns."""
        return bool(self.title) and self.title[-1].lower().startswith(OF_STANDARDISED)


def read_vector(
    path: str | Path,
    sizes: Sequence[int] = (),
    what: str = "weights",
    header: bool | None = None,
) -> Vector:
    """Read a vector of finite numbers.

    `header` says whether a first line 0 is a header; where nobody says, it is one if the numbers
    below it are as many as one of `sizes`, and with it they are not as many as the first.
    """
    found, name = existing_file(path), Path(path).name.lower()
    if name.endswith((".npy", ".npz")):
        vector = Vector(_from_array(found, what))
    elif name.endswith(_TEXT_ENDINGS):
        vector = _from_text(found, sizes, what, header)
    else:
        endings = ", ".join(_TEXT_ENDINGS)
        raise InputError(f"{path}: {what} are read from .npy, .npz, {endings} files")
    values = vector.values
    if values.size == 0:
        raise InputError(f"{path}: the file holds no {what}")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        k = bad[0]
        one = f"number {k + 1}" if vector.names is None else f"'{vector.names[k]}'"
        raise InputError(f"{path}: {one} of the {what} is {values[k]}: all must be finite")
    return vector


def read_scores(path: str | Path, n: int, header: bool | None = None) -> np.ndarray:
    """Return one score for each of n rows, (n,): of a table the column `score`, as in `predict`."""
    table = str(path).lower().endswith((".csv", ".csv.gz"))
    first = next(csv_rows(existing_file(path)), (0, []))[1] if table else []
    if len(first) > 1 and "score" in first:
        values = read_raw(path, Selection(columns=("score",), labelled=False)).X[:, 0]
    else:
        values = read_vector(path, (n,), "scores", header).values
    if len(values) != n:
        raise InputError(f"{path}: holds {len(values)} scores where {n} are needed")
    return values


def _from_array(path: Path, what: str) -> np.ndarray:
    if path.suffix.lower() == ".npz":
        arrays = read_arrays(path)
        if len(arrays) != 1:
            names = ", ".join(arrays) or "none"
            raise InputError(f"{path}: must hold a single array of {what}; it holds {names}")
        (held,) = arrays.values()
    else:
        with (
            damage_reported(path, "npy file", ValueError, EOFError, OSError, MemoryError),
            open(path, "rb") as file,
        ):
            start = file.read(6)
            if start[:4] == b"PK\x03\x04":
                raise InputError(f"{path}: this is an npz file under another name: call it .npz")
            if start and start != b"\x93NUMPY":  # numpy would take it for a pickle
                endings = ", ".join(_TEXT_ENDINGS)
                raise ValueError(f"{what} in a text file need a name that ends in {endings}")
            held = np.load(path, allow_pickle=False)
    if held.dtype.kind not in "biuf":
        raise InputError(f"{path}: {what} must be numbers, not {held.dtype}")
    if held.ndim == 0 or held.size != max(held.shape):
        raise InputError(f"{path}: {what} must be one row or one column; the shape is {held.shape}")
    return np.ascontiguousarray(as_float64(held, f"{path}: {what}")).ravel()


def _from_text(path: Path, sizes: Sequence[int], what: str, header: bool | None) -> Vector:
    """Read one number a line, one row, or a name and a number a line, below a title or names."""

    def numbers(fields: Sequence[tuple[int, str]]) -> np.ndarray:
        return np.array([_number(path, row, field, what) for row, field in fields])

    def column(lines: list[tuple[int, list[str]]]) -> np.ndarray:
        """Return the numbers of lines of one each, or of a single line."""
        wide = [row for row, fields in lines if len(fields) > 1]
        if wide and len(lines) > 1:
            raise InputError(
                f"{path}: {what} are one number per line or one row; row "
                f"{max(wide[0], lines[1][0])} is neither"
            )
        return numbers([(row, field) for row, fields in lines for field in fields])

    lines = _fields(path)
    if not lines:
        return Vector(np.empty(0))
    (row, first), below = lines[0], lines[1:]
    titled = len(first) == 2 and (first[0] == "" or as_number(first[1]) is None)
    pairs = below if titled else lines
    if pairs and all(_is_named(fields) for _, fields in pairs):
        values = numbers([(row, fields[1]) for row, fields in pairs])
        return Vector(values, [fields[0] for _, fields in pairs], first)
    if all(as_number(field) is None and not is_missing(field) for field in first):
        text, width = " ".join(first), len(below[0][1]) if below else 0
        if not (width == len(first) > 1 or _TITLE.search(text.lower())):  # a typing error
            raise InputError(
                f"{path}: text {text[:40]!r} in row {row}: {what} must be numbers; a title above "
                f"them must say what they are, as in '{what.removesuffix('s')}'"
            )
        return Vector(column(below), first if width == len(first) > 1 else None, first)
    if header is None:
        header = len(below) in sizes and len(lines) != sizes[0]
    if are_places(first) and (header if len(first) == 1 else below):
        return Vector(column(below), None, first)
    return Vector(column(lines))


def _fields(path: Path) -> list[tuple[int, list[str]]]:
    """Return the row and the fields of each line that is not blank."""
    lines = []
    for row, line in enumerate(text_lines(path), start=1):
        whole = line.strip()
        mark = next((m for m in ",;\t" if m in whole), None)
        with damage_reported(path, "text file", csv.Error):
            whole = whole.rstrip(",; \t") if mark else whole
            fields = next(csv.reader([whole], delimiter=mark), []) if mark else whole.split()
        if fields:
            lines.append((row, [field.strip().strip('"') for field in fields]))
    return lines


def _is_named(fields: list[str]) -> bool:
    named = len(fields) == 2 and fields[0] != "" and as_number(fields[0]) is None
    return named and as_number(fields[1]) is not None


def _number(path: Path, row: int, field: str, what: str) -> float:
    number = as_number(field)
    if number is None:
        raise InputError(f"{path}: {fault(field)[0]} in row {row}: {what} must be numbers")
    if loses_digits(field, number):
        raise InputError(f"{path}: {field[:40]} in row {row} loses digits in float64: round it")
    return number
