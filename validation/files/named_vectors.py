"""Weights with their names in a text file: `feature,weight` lines, or names above one row."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from ...exact.errors import InputError
from .file_checks import existing_file
from .labels import as_number
from .tables.csv_rows import open_text
from .vector_files import read_vector
from .written_files import write_atomically

_TEXT = (".csv", ".csv.gz", ".txt")

OF_STANDARDISED = "standardised "
"""Opens the title of weights that belong to columns of mean 0 and scale 1."""


def write_named_vector(path: str | Path, values: np.ndarray, names: list[str], what: str) -> None:
    """Write a CSV file of two columns, `feature` and `what`, that reads back bit for bit.

    Raises
    ------
    InputError
        If the values are not finite, or the file cannot be written.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (len(names),) or not np.isfinite(numbers).all():
        raise InputError(f"{path}: {what} to write must be one finite number for each name")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["feature", what])
    writer.writerows(zip(names, map(repr, numbers.tolist()), strict=True))
    write_atomically(path, lambda file: file.write(text.getvalue().encode()))


def read_named_vector(
    path: str | Path, what: str = "weights"
) -> tuple[list[str] | None, np.ndarray]:
    """Read a vector as `read_vector` does, with the name of each number where the file has them.

    Names stand before each number of a text file (`age,0.5`, below a title or not), or in a row
    above the numbers, one for each.

    Returns
    -------
    names : list of str, or None
    values : array (m,) of float64

    Raises
    ------
    InputError
        If the file is not such a vector.
    """
    if not Path(path).name.lower().endswith(_TEXT):
        return None, read_vector(path, what=what)
    lines = _lines(existing_file(path))
    pairs = lines[1:] if lines and _is_title(lines[0]) else lines
    if pairs and all(_is_named(fields) for fields in pairs):
        return [name for name, _ in pairs], _numbers(path, pairs, what)
    values = read_vector(path, what=what)
    first = lines[0] if lines else []
    above = len(first) == values.size > 1 and all(as_number(f) is None for f in first)
    return (first if above else None), values


def of_standardised(path: str | Path) -> bool:
    """Return whether a text file says above its numbers that they are for standardised columns."""
    if not Path(path).name.lower().endswith(_TEXT):
        return False
    lines = _lines(existing_file(path))
    return bool(lines) and lines[0][-1].lower().startswith(OF_STANDARDISED)


def _lines(path: Path) -> list[list[str]]:
    """Return the fields of the lines; none where the text is damaged, which others tell."""
    try:
        with open_text(path) as text:
            start = text.readline()
            mark = next((m for m in ",;\t" if m in start), ",")
            text.seek(0)
            rows = csv.reader(text, delimiter=mark)
            return [[f.strip() for f in row] for row in rows if any(f.strip() for f in row)]
    except (OSError, EOFError, ValueError, csv.Error):
        return []


def _is_title(fields: list[str]) -> bool:
    return len(fields) == 2 and (fields[0] == "" or as_number(fields[1]) is None)


def _is_named(fields: list[str]) -> bool:
    named = len(fields) == 2 and fields[0] != "" and as_number(fields[0]) is None
    return named and as_number(fields[1]) is not None


def _numbers(path: str | Path, pairs: list[list[str]], what: str) -> np.ndarray:
    values = np.array([as_number(text) for _, text in pairs], dtype=float)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        name, text = pairs[bad[0]]
        raise InputError(f"{path}: '{name}' of the {what} is {text}: all must be finite")
    return values
