"""Reading one vector of numbers (weights, scores) from a file, with the names of the numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...exact.errors import InputError
from ...exact.tools.lossless import as_float64, loses_digits
from ..memory import shown
from .labels import as_number, is_missing
from .tables import (
    GZIP_ERRORS,
    are_places,
    damage_reported,
    declared_size,
    existing_file,
    opened,
    read_arrays,
)

_TEXT_ENDINGS = (".csv", ".csv.gz", ".txt")
# What a line of text above numbers has to say, unless it names each of them.
_TITLE = re.compile(r"weight|coef|score|value|decision|margin|pred|prob|\b(w|f|beta|alpha|theta)\b")

# Opens the title of weights that belong to columns of mean 0 and scale 1.
OF_STANDARDISED = "standardised "

Line = tuple[int, list[str]]  # A row of the file, counted from 1, and its fields.


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
    """Read a vector of finite numbers."""
    name = Path(path).name.lower()
    found = existing_file(path)
    if name.endswith((".npy", ".npz")):
        vector = Vector(_from_array(found, what))
    elif name.endswith(_TEXT_ENDINGS):
        vector = _from_text(found, sizes, what, header)
    else:
        raise InputError(
            f"{path}: {what} are read from .npy, .npz, {', '.join(_TEXT_ENDINGS)} files"
        )
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
    """Return one score for each of n rows, (n,), as `read_vector` does."""
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
        held = next(iter(arrays.values()))
    else:
        with damage_reported(path, "npy", ValueError, EOFError, OSError):
            with open(path, "rb") as file:
                start = file.read(6)
                if start[:4] == b"PK\x03\x04":
                    raise InputError(
                        f"{path}: this is an npz file under another name: call it .npz"
                    )
                if start and start != b"\x93NUMPY":  # numpy would take it for a pickle
                    raise InputError(
                        f"{path}: damaged, or not a readable npy file; {what} in a text file need "
                        f"a name that ends in {', '.join(_TEXT_ENDINGS)}"
                    )
                file.seek(0)
                size = declared_size(file)
            if size > path.stat().st_size:
                raise InputError(f"{path}: damaged, {shown(size)} are declared and not there")
            held = np.load(path, allow_pickle=False)
    if held.dtype.kind not in "biuf":
        raise InputError(f"{path}: {what} must be numbers, not {held.dtype}")
    if held.ndim == 0 or held.size != max(held.shape):
        raise InputError(f"{path}: {what} must be one row or one column; the shape is {held.shape}")
    return np.ascontiguousarray(as_float64(held, f"{path}: {what}")).ravel()


def _from_text(path: Path, sizes: Sequence[int], what: str, header: bool | None) -> Vector:
    with (
        damage_reported(path, "gzip", *GZIP_ERRORS),
        damage_reported(path, "UTF-8 text", UnicodeDecodeError, csv.Error),
    ):
        lines = list(_lines(path))
    if not lines:
        return Vector(np.empty(0))
    first, below = lines[0], lines[1:]
    pairs = below if _is_title_of_pairs(first[1]) else lines
    if pairs and all(_is_named(fields) for _, fields in pairs):
        values = np.array([_number(path, fields[1], row, what) for row, fields in pairs])
        return Vector(values, [fields[0] for _, fields in pairs], first[1])
    if all(as_number(field) is None and not is_missing(field) for field in first[1]):
        _check_title(path, first, len(below[0][1]) if below else 0, what)
        named = bool(below) and len(first[1]) == len(below[0][1]) > 1
        return Vector(_column(path, below, what), first[1] if named else None, first[1])
    if are_places(first[1]) and _is_header(len(first[1]), len(below), sizes, header):
        return Vector(_column(path, below, what), None, first[1])
    return Vector(_column(path, lines, what))


def _lines(path: Path) -> Iterator[Line]:
    """Yield the fields of each line that is not blank."""
    with opened(path) as text:
        for row, line in enumerate(text, start=1):
            whole = line.strip()
            mark = next((m for m in ",;\t" if m in whole), None)
            whole = whole.rstrip(",; \t") if mark else whole
            fields = next(csv.reader([whole], delimiter=mark), []) if mark else whole.split()
            fields = [field.strip().strip('"') for field in fields]
            if fields:
                yield row, fields


def _is_header(width: int, below: int, sizes: Sequence[int], header: bool | None) -> bool:
    """Return whether 0, or 0, 1, 2, in the first row are places: see `read_vector`."""
    if width > 1:
        return below > 0
    return below in sizes and below + 1 != sizes[0] if header is None else header


def _column(path: Path, lines: Sequence[Line], what: str) -> np.ndarray:
    """Return the numbers of lines of one each, or of a single line."""
    wide = len(lines) > 0 and len(lines[0][1]) > 1
    for row, fields in lines[1:]:
        if wide or len(fields) > 1:
            raise InputError(
                f"{path}: {what} are one number per line or one row; row {row} is neither"
            )
    return np.array([_number(path, field, row, what) for row, fields in lines for field in fields])


def _is_title_of_pairs(fields: list[str]) -> bool:
    return len(fields) == 2 and (fields[0] == "" or as_number(fields[1]) is None)


def _is_named(fields: list[str]) -> bool:
    named = len(fields) == 2 and fields[0] != "" and as_number(fields[0]) is None
    return named and as_number(fields[1]) is not None


def _check_title(path: Path, first: Line, below: int, what: str) -> None:
    """Refuse text above the numbers that is neither their names nor a title: a typing error."""
    row, fields = first
    text = " ".join(fields)
    if (below > 1 and len(fields) == below) or _TITLE.search(text.lower()):
        return
    raise InputError(
        f"{path}: text {text[:40]!r} in row {row}: {what} must be numbers; a title above them "
        f"must say what they are, as in '{what.removesuffix('s')}'"
    )


def _number(path: Path, field: str, row: int, what: str) -> float:
    number = as_number(field)
    if number is None:
        kind = "missing value" if is_missing(field) else f"text {field[:40]!r}"
        raise InputError(f"{path}: {kind} in row {row}: {what} must be numbers")
    if loses_digits(field, number):
        raise InputError(f"{path}: {field[:40]} in row {row} loses digits in float64: round it")
    return number
