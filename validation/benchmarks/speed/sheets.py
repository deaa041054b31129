"""A table that is printed as it grows, kept as a CSV file, and printed whole again from it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ....exact.errors import InputError
from ...files.written_files import write_atomically
from ..harness import Table

Row = tuple[Any, ...]
Rows = Generator[Row, None, None]


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table and its rows.

    Attributes
    ----------
    name : str
        Of its file.
    table : Table
    rows : list of tuples
        A value a column; None and NaN for what is not known.
    """

    name: str
    table: Table
    rows: list[Row] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The table whole, as it was printed."""
        return "\n".join([str(self.table), *(self.table.show(row) for row in self.rows)])

    def column(self, title: str) -> list[Any]:
        """Return the values of one column."""
        return [row[self.table.titles.index(title)] for row in self.rows]

    def write(self, folder: Path) -> None:
        """Write the rows as FOLDER/NAME.csv; numbers read back bit for bit."""
        text = io.StringIO()
        file = csv.writer(text, lineterminator="\n")
        file.writerow(self.table.titles)
        file.writerows([["" if x is None else x for x in row] for row in self.rows])
        path = folder / f"{self.name}.csv"
        write_atomically(path, lambda file: file.write(text.getvalue().encode()))

    def read(self, folder: Path) -> Sheet:
        """Return the sheet with the rows of FOLDER/NAME.csv; without rows if there is no file.

        Raises
        ------
        InputError
            If the file has other columns.
        """
        path = folder / f"{self.name}.csv"
        if not path.exists():
            return self
        with path.open(newline="", encoding="utf-8") as file:
            titles, *rows = list(csv.reader(file)) or [[]]
        if titles != self.table.titles or any(len(row) != len(titles) for row in rows):
            raise InputError(
                f"{path}: its columns are not {', '.join(self.table.titles)}: remove it"
            )
        return Sheet(self.name, self.table, [tuple(map(_value, row)) for row in rows])


def filled(sheet: Sheet, rows: Iterable[Row]) -> Generator[Table | Row, None, None]:
    """Yield the table and its rows, and keep each row in the sheet."""
    yield sheet.table
    for row in rows:
        sheet.rows.append(tuple(_plain(value) for value in row))
        yield sheet.rows[-1]


def _plain(value: Any) -> Any:
    """Return a plain value; None for what is not finite, and for no text."""
    value = value.item() if hasattr(value, "item") else value
    unknown = value == "" or (isinstance(value, float) and not math.isfinite(value))
    return None if unknown else value


def _value(text: str) -> Any:
    """Return what was written: a whole number, a number, text, or None."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None
