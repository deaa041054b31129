"""What one cell says, class labels as files bring them, and which class is the positive one."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from ...exact.errors import InputError
from ...exact.tools.arrays import loses_digits

MAX_CLASSES = 1000  # A target column with more different values is not a label.
SHOWN = 10  # Names, labels or columns that one message lists at most.

Label = float | int | str
Cells = np.ndarray | Sequence[str]  # A part of a column.

_MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "<na>"})


def as_number(text: str) -> float | None:
    """Read one plain number (ASCII, no digit grouping); None if the text is none."""
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def is_missing(text: str) -> bool:
    return text.strip().lower() in _MISSING


def listed(values: Collection[object]) -> str:
    """Return the first names or labels as Python writes them, and how many there are beyond."""
    more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
    return ", ".join(map(repr, [*values][:SHOWN])) + more


@dataclass(frozen=True, eq=False)
class Labels:
    """Distinct labels, numbers or text in their order, and their places (n,) in the rows."""

    values: list[Label]
    codes: np.ndarray

    @classmethod
    def of(cls, cells: Cells, where: str, limited: bool = True, rows: Sequence[int] = ()) -> Labels:
        """Return those of a column, sorted, equal ones ("1" and "1.0") as one: numbers if all are.
        `where` opens messages, `rows` are places in the file, by default from 1; `limited` refuses
        more than `MAX_CLASSES` values, which are not labels."""
        rows = rows or range(1, len(cells) + 1)
        values: list[Any]  # None for a missing one
        if isinstance(cells, np.ndarray) and cells.dtype.kind not in "US":
            if cells.dtype.kind not in "biuf":
                raise InputError(f"{where}: labels must be numbers or text, not {cells.dtype}")
            kinds, codes = np.unique(cells, return_inverse=True)
            values = [_plain(one) if math.isfinite(one) else None for one in kinds.tolist()]
            what = "missing or infinite value"
        else:
            places: dict[Any, int] = {}
            codes = np.array([places.setdefault(cell, len(places)) for cell in cells], dtype=int)
            words = [
                str(cell, "utf-8", "backslashreplace") if isinstance(cell, bytes) else str(cell)
                for cell in places
            ]
            values = [_number(word) for word in words]
            if None in values:  # one text makes all of them text
                values = [None if is_missing(word) else word.strip() for word in words]
            what = "missing value"
        if None in values:
            at = np.array([value is None for value in values])[codes].argmax()
            raise InputError(f"{where}, row {rows[int(at)]}: {what}: drop the row")
        if limited and len(values) > MAX_CLASSES:
            many = f"more than {MAX_CLASSES} different values"
            raise InputError(f"{where}: {many}: this is not a class label")
        ordered = sorted(set(values))
        place = {value: k for k, value in enumerate(ordered)}
        return cls(ordered, np.array([place[v] for v in values], dtype=np.intp)[codes])

    def written(self) -> np.ndarray:
        """Each row's label: an array (n,) of numbers or of words."""
        kinds = np.array(self.values)
        if kinds.dtype.kind == "O" or kinds.tolist() != self.values:  # numbers that no type holds
            kinds = np.array([str(value) for value in self.values])
        return kinds[self.codes]


def two_classes(
    labels: Labels, positive: object, where: str
) -> tuple[np.ndarray, Label, Label | None]:
    """Return 0 and 1 for labels (n,), the positive label, and the other; None for "the rest".
    `positive` None takes the larger of two labels, as scikit-learn does; numbers are compared as
    numbers (`"1"` is `1.0`). With more than two labels it is one against the rest."""
    values, place = labels.values, 1
    if len(values) == 1:
        raise InputError(f"{where}: a single class, {values[0]!r}: two are needed")
    if positive is not None:
        text = str(int(positive) if isinstance(positive, bool | np.bool_) else positive).strip()
        if values == [0, 1]:
            text = {"true": "1", "false": "0"}.get(text.lower(), text)
        wanted = text if isinstance(values[0], str) else _number(text)
        if wanted not in values:
            raise InputError(f"{where}: no class {positive!r}; the classes are {listed(values)}")
        place = values.index(wanted)
    elif len(values) > 2:
        do = "name the column of the label with --target, or take one class against the rest with "
        many = f"{len(values)} classes ({listed(values)})"
        raise InputError(f"{where}: {many} where two are needed: {do}--positive")
    y = (labels.codes == place).astype(np.int64)
    return y, values[place], values[1 - place] if len(values) == 2 else None


def _number(text: str) -> Label | None:
    """Read a finite label, and as a whole number one that a float would round."""
    value = as_number(text)
    if value is None or not math.isfinite(value):
        return None
    if loses_digits(text, value):  # two such labels may be one float
        exact = Decimal(text.strip())
        return int(exact) if exact == int(exact) else None
    return _plain(value)


def _plain(value: Label) -> Label:
    """1 for 1.0 or True, so that labels print as they are written."""
    return int(value) if value == int(value) else value
