"""Reading a table of numbers and one label column from CSV, a row at a time."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ....exact.errors import InputError
from ....exact.tools.digits import is_large, loses_digits
from ..column_names import target_place
from ..file_checks import (
    RawTable,
    Refused,
    damage_reported,
    first_not_finite,
    refuse_digits,
    refuse_mixed_words,
)
from ..labels import LabelColumn, Labels, as_number, as_truth
from .csv_rows import GZIP_ERRORS, csv_columns, csv_rows, wrong_width
from .selection import Places, Selection

_NAMES_HINT = " (a row of names may hold no numbers)"


def read_csv(path: Path, target: Selection | str | None = None) -> RawTable:
    """Read a `.csv`, `.tsv` or gzipped file of finite numbers and one column of labels.

    Fields are separated by commas, or by semicolons or tabs if the first row has no comma. The
    text is UTF-8; blank lines are skipped. The first row holds names if none of
    its fields is a number, or if the numbers among them are 0, 1, 2, ..., as pandas numbers
    columns; other first rows with a number are data, so that a text label does not turn one into
    names. A first row 0 or 0,1 is refused, as it may be either, unless `header` is given. Columns
    without a name are called "1", "2", ... . Rows in messages are lines of the file, from 1.
    The words true, yes, false and no of a feature mean 1 and 0, in columns of nothing else.

    Parameters
    ----------
    path : Path
    target : str or Selection, optional
        Label column, the last one by default; or what to read.

    Returns
    -------
    RawTable
        With X of shape (n, d), float64: the nearest double of each text. A whole number beyond
        2^53 that is none is refused.

    Raises
    ------
    InputError
        For anything that is not a complete table of finite numbers with labels.
    """
    asked = Selection.of(target)
    names, has_header = csv_columns(path, asked.header)
    place = target_place(path, names, asked.target) if asked.labelled else None
    read = _Reader(path, names, has_header, asked.places(path, names, place))
    if read.places.unclear:
        read.refuse_columns()
    with damage_reported(path, "gzip", *GZIP_ERRORS):
        n = read.fill()
    if not n:
        raise InputError(f"{path}: no rows below the header")
    guessed = has_header and asked.header is None and as_number(names[place or 0]) is None
    if place is not None and guessed and names[place] in read.labels.table:
        raise InputError(
            f"{path}: '{names[place]}' in row 1 is also a label further down: are these names or "
            "data? Write a first row of names"
        )
    X = read.numbers()
    columns = [names[k] for k in read.places.features]
    if place is None:
        return RawTable(X, Labels([], np.empty(0, int)), columns, "", read.places.ignored)
    return RawTable(X, read.labels.labels(), columns, names[place], read.places.ignored)


@dataclass
class _Reader:
    """One file while it is read: names and places of its columns, and what has been read."""

    path: Path
    names: list[str]
    has_header: bool
    places: Places
    values: array[float] = field(default_factory=lambda: array("d"))
    labels: LabelColumn = field(default_factory=LabelColumn)
    words: dict[int, tuple[int, str]] = field(default_factory=dict)

    def fill(self) -> int:
        """Append every row and return their number; about 2 microseconds for four fields."""
        place, features = self.places.target, self.places.features
        others = [k for k in range(len(self.names)) if k != place]
        table, add_code, add_values = self.labels.table, self.labels.codes.append, self.values
        where, unusual, n = "", [], 0
        if place is not None:
            where = f"{self.path}, column '{self.names[place]}'"
        for line, row in csv_rows(self.path, self.has_header, unusual):
            if len(row) != len(self.names):
                raise wrong_width(self.path, line, len(row), len(self.names))
            n += 1
            if place is not None:
                label = row[place]
                code = table.get(label)
                if code is None:
                    code = self.labels.new_code(label, where, line)
                add_code(code)
            if features == others:
                cells = row if place is None else row[:place] + row[place + 1 :]
            else:
                cells = [row[k] for k in features]
            size = len(add_values)
            try:
                add_values.extend(map(float, cells))
            except ValueError:
                unusual.append("not a number")
            if unusual:
                del add_values[size:]
                add_values.extend(self._unusual(line, row))
                unusual.clear()
        return n

    def _unusual(self, line: int, row: list[str]) -> list[float]:
        """Return the numbers of a row with other cells than `float` reads rightly.

        `float` takes `1_000` and other digits than ours.
        """
        found = []
        for k in self.places.features:
            value = as_number(row[k])
            if value is None:
                value = as_truth(row[k])
                if value is None:
                    self.refuse_columns()
                self.words.setdefault(k, (line, row[k]))
            found.append(value)
        return found  # pyright: ignore[reportReturnType]

    def numbers(self) -> np.ndarray:
        """Return the features (n, d), checked."""
        places = self.places.features
        X = np.frombuffer(self.values, dtype=np.float64).reshape(-1, len(places))
        if first_not_finite(X) is not None:
            self.refuse_columns()
        for k, (line, text) in self.words.items():
            if not np.isin(X[:, places.index(k)], (0.0, 1.0)).all():
                refuse_mixed_words(self.path, self.names[k], line, text)
        self._check_digits(X)
        return X

    def _check_digits(self, X: np.ndarray) -> None:
        """Refuse the first whole number that is not what its text says; others mean the nearest."""
        suspects = is_large(X)
        if not suspects.any():
            return
        for k, (line, row) in enumerate(csv_rows(self.path, self.has_header, [])):
            for j in np.flatnonzero(suspects[k]):
                column = self.places.features[j]
                if loses_digits(row[column], X[k, j]):
                    refuse_digits(self.path, self.names[column], line, row[column])

    def refuse_columns(self) -> None:
        """Read the file again, and refuse every feature that holds no finite numbers."""
        refused = Refused(self.path, self.places.unclear)
        for number, (line, row) in enumerate(csv_rows(self.path, self.has_header, [])):
            if len(row) != len(self.names):
                break
            hint = _NAMES_HINT if number == 0 and not self.has_header else ""
            for k in self.places.features:
                if self.names[k] in refused:
                    continue
                value = as_number(row[k])
                value = as_truth(row[k]) if value is None else value
                if value is None or not np.isfinite(value):
                    refused.add(self.names[k], line, row[k], hint)
        refused.raise_if_any()
