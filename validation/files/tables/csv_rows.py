"""The rows of a CSV file as text: separators, encodings, compression, and names."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path

from ....exact.errors import InputError
from ..column_names import named
from ..file_checks import damage_reported
from ..labels import as_number

_DELIMITERS = ",;\t"
_NO_TEXT = {
    b"\x1f\x8b": "it is gzipped: let its name end in .gz",
    b"PK\x03\x04": "it is a zip archive or a spreadsheet: save the table itself as CSV in UTF-8",
    b"PAR1": "it is a Parquet file: let its name end in .parquet",
    b"\x93NUM": "it is an array of numpy: np.savez it as X and y, with a name in .npz",
}
"""What files begin with that are sometimes called `.csv`, and what to do with them."""

GZIP_ERRORS = (gzip.BadGzipFile, EOFError, zlib.error)


def wrong_width(path: Path, line: int, found: int, wanted: int) -> InputError:
    """Return the error of a row with another number of fields than the rows above it."""
    fields = "1 field" if found == 1 else f"{found} fields"
    return InputError(f"{path}: row {line} has {fields}, the rows above have {wanted}")


def open_text(path: Path) -> io.TextIOBase:
    """Open UTF-8 text, through gzip where the name ends in `.gz`."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")  # type: ignore[return-value]
    return open(path, encoding="utf-8-sig", newline="")


def csv_rows(path: Path, skip_first: bool, unusual: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each row that is not blank.

    A line with characters that `float` reads but a CSV should not hold is added to `unusual`.
    """

    def lines(text: io.TextIOBase) -> Iterator[str]:
        for line in text:
            if "_" in line or not line.isascii():
                unusual.append(line)
            yield line

    with open_text(path) as text:
        try:
            reader = csv.reader(lines(text), delimiter=_delimiter(path), strict=True)
            rows = (row for row in reader if len(row) > 1 or (row and row[0].strip()))
            if skip_first:
                next(rows)
            for row in rows:
                yield reader.line_num, row
        except UnicodeDecodeError:
            raise _not_utf8(path) from None
        except csv.Error as error:
            raise InputError(f"{path}: row {reader.line_num} cannot be split: {error}") from None


def _not_utf8(path: Path) -> InputError:
    """Name the first line that is not UTF-8 (the decoder only knows its place in a block)."""
    with open(path, "rb") as file:
        start = file.read(4)
    for magic, what in _NO_TEXT.items():
        if start.startswith(magic) and path.suffix.lower() != ".gz":
            return InputError(f"{path}: no text, {what}")
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    with opened(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return InputError(f"{path}: row {number} is not UTF-8 text: save it as UTF-8")
    return InputError(f"{path}: not UTF-8 text: save it as UTF-8")


def _delimiter(path: Path) -> str:
    """Return the first of comma, semicolon and tab that the first non-blank line has.

    A name with `.tsv` means tabs.
    """
    if path.name.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"
    with open_text(path) as text:
        first = next((line for line in text if line.strip()), "")
    return next((mark for mark in _DELIMITERS if mark in first), ",")


def csv_columns(path: Path, header: bool | None = None) -> tuple[list[str], bool]:
    """Names of all columns (`named`), and whether the first row holds them: `header` decides it."""
    with damage_reported(path, "gzip", *GZIP_ERRORS):
        first = next((row for _, row in csv_rows(path, False, [])), None)
    if first is None:
        raise InputError(f"{path}: the file is empty")
    if any("\0" in field for field in first):
        raise InputError(f"{path}: zero bytes in row 1: no text, save it as CSV in UTF-8")
    fields = [field.strip() for field in first]
    if not (_looks_like_names(path, fields) if header is None else header):
        return [str(k) for k in range(1, len(fields) + 1)], False
    return named(fields), True


def are_places(fields: list[str]) -> bool:
    """Return whether each cell is its own position, as in the header 0, 1, 2 that pandas writes."""
    return fields == [str(k) for k in range(len(fields))]


def _looks_like_names(path: Path, fields: list[str]) -> bool:
    """See `read_csv`: a text label must not turn the first row of data into names."""
    numbers = [field for field in fields if as_number(field) is not None]
    if numbers and len(numbers) == len(fields) < 3 and are_places(fields):
        raise InputError(
            f"{path}: row 1 ({','.join(fields)}) may be names of columns or data: say which with "
            "--header yes or --header no"
        )
    return not numbers or (len(numbers) > 1 and are_places(numbers))
