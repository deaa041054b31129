"""What one cell says, class labels as files bring them, and which class is the positive one."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from ...exact.errors import InputError
from ...exact.tools.lossless import loses_digits

MAX_CLASSES = 1000  # A target column with more different values is not a label.
SHOWN = 10  # Names, labels or columns that one message lists at most.

Label = float | int | str
Cells = np.ndarray | Sequence[str]  # A part of a column.

_MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "<na>"})
_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def as_number(text: str) -> float | None:
    """Read one plain number (ASCII, no digit grouping); None if the text is none."""
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def as_truth(text: str) -> float | None:
    """Return 1 for true and yes, 0 for false and no in any case of letters, else None."""
    return _WORDS.get(text.strip().lower())


def is_missing(text: str) -> bool:
    """Whether a cell says that a value is missing: empty, `NA`, `nan`, `?`, `null`, ..."""
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
    def of(cls, values: np.ndarray, where: str, limited: bool = True) -> Labels:
        """Return those of an array; arguments as of `LabelColumn`."""
        column = LabelColumn(where, limited)
        column.extend(values, range(1, len(values) + 1))
        return column.labels()

    def written(self) -> np.ndarray:
        """Each row's label: an array (n,) of numbers or of words."""
        kinds = np.array(self.values)
        if kinds.dtype.kind == "O" or kinds.tolist() != self.values:  # numbers that no type holds
            kinds = np.array([str(value) for value in self.values])
        return kinds[self.codes]

    def counts(self) -> dict[Label, int]:
        """Rows of each label."""
        found = np.bincount(self.codes, minlength=len(self.values))
        return dict(zip(self.values, found.tolist(), strict=True))


class LabelColumn:
    """Collects a column of labels, holding each distinct text once.

    `where` opens messages; `limited` refuses more than `MAX_CLASSES` values, which are not labels.
    """

    def __init__(self, where: str, limited: bool = True) -> None:
        self.where, self.limited = where, limited
        self._places: dict[str, int] = {}
        self._codes = array("i")
        self._numbers: list[np.ndarray] = []

    def extend(self, cells: Cells, rows: Sequence[int]) -> None:
        """Append the labels of these rows of the file: numbers, truth values or text."""
        if isinstance(cells, np.ndarray) and cells.dtype.kind not in "US":
            if cells.dtype.kind not in "biuf":
                raise InputError(f"{self.where}: labels must be numbers or text, not {cells.dtype}")
            finite = np.isfinite(cells)
            if not finite.all():
                row = rows[int(np.argmin(finite))]
                raise InputError(
                    f"{self.where}, row {row}: missing or infinite value: drop the row"
                )
            self._numbers.append(cells)
            return
        for text, row in zip(cells, rows, strict=True):
            word = str(text, "utf-8", "backslashreplace") if isinstance(text, bytes) else str(text)
            code = self._places.get(word)
            if code is None:
                if is_missing(word):
                    raise InputError(f"{self.where}, row {row}: missing value: drop the row")
                code = self._places.setdefault(word, len(self._places))
                self.limit(len(self._places))
            self._codes.append(code)

    def limit(self, count: int) -> None:
        """Refuse more different values than labels have."""
        if self.limited and count > MAX_CLASSES:
            raise InputError(
                f"{self.where}: more than {MAX_CLASSES} different values: this is not a class label"
            )

    def labels(self) -> Labels:
        """The labels so far, sorted, equal ones ("1" and "1.0") as one: numbers if all are."""
        if self._numbers:
            kinds, codes = np.unique(np.concatenate(self._numbers), return_inverse=True)
            self.limit(len(kinds))
            numbers = kinds.astype(int) if kinds.dtype.kind == "b" else kinds
            values: list[Label] = [_plain(value) for value in numbers.tolist()]
        else:
            codes = np.frombuffer(self._codes, dtype=np.intc)
            read = [_number(text) for text in self._places]
            values = [number for number in read if number is not None]
            if len(values) < len(read):
                values = [text.strip() for text in self._places]
        ordered = sorted(set(values))  # type: ignore[type-var]
        place = {value: k for k, value in enumerate(ordered)}
        return Labels(ordered, np.array([place[v] for v in values], dtype=np.intp)[codes])


def two_classes(
    labels: Labels, positive: object, where: str
) -> tuple[np.ndarray, Label, Label | None]:
    """Return 0 and 1 for labels (n,), the positive label, and the other; None for "the rest".

    `positive` None takes the larger of two labels, as scikit-learn does; numbers are compared as
    numbers (`"1"` is `1.0`). With more than two labels it is one against the rest.
    """
    values, place = labels.values, 1
    if len(values) == 1:
        raise InputError(f"{where}: a single class, {values[0]!r}: two are needed")
    if positive is not None:
        place = _find(values, positive)
    elif len(values) > 2:
        raise InputError(
            f"{where}: {len(values)} classes ({listed(values)}) where two are needed: name the "
            "column of the label with --target, or take one class against the rest with --positive"
        )
    if place is None:
        raise InputError(f"{where}: no class {positive!r}; the classes are {listed(values)}")
    y = (labels.codes == place).astype(np.int64)
    return y, values[place], values[1 - place] if len(values) == 2 else None


def _find(values: list[Label], wanted: object) -> int | None:
    """Place of a label, given as itself or as text."""
    text = str(int(wanted) if isinstance(wanted, bool | np.bool_) else wanted).strip()
    number = _number(text)
    for place, value in enumerate(values):
        if value == (text if isinstance(value, str) else number):
            return place
    if text.lower() in {"true", "false"} and set(values) <= {0, 1}:
        return values.index(int(text.lower() == "true"))
    return None


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
    """1 for 1.0, so that labels print as they are written."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
