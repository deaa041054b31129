"""Class labels as files bring them, and which class is the positive one."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from ...exact.errors import InputError
from ...exact.tools.lossless import loses_digits

# A target column with more different values is taken for something else than a label.
MAX_CLASSES = 1000

Label = float | int | str

_MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "<na>"})


def as_number(text: str) -> float | None:
    """Read one plain number (ASCII, no digit grouping); None if the text is none."""
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None


# Words of features that mean 1 and 0, in any case of letters.
_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def as_truth(text: str) -> float | None:
    """Return 1 for true and yes, 0 for false and no; None for anything else."""
    return _WORDS.get(text.strip().lower())


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no value: empty, `NA`, `nan`, `?`, `null`, ..."""
    return text.strip().lower() in _MISSING


@dataclass(frozen=True, eq=False)
class Labels:
    """Distinct labels, numbers or text in their order, and their places (n,) in the rows."""

    values: list[Label]
    codes: np.ndarray

    def written(self) -> np.ndarray:
        """Each row's label: an array (n,) of numbers or of words."""
        kinds = np.array(self.values)
        if kinds.dtype.kind == "O" or kinds.tolist() != self.values:  # numbers that no type holds
            kinds = np.array([str(value) for value in self.values])
        return kinds[self.codes]

    @classmethod
    def none(cls) -> Labels:
        """Return those of a table that is read without labels."""
        return cls([], np.empty(0, int))

    def of_rows(self) -> np.ndarray:
        """The label of each row (n,): text, or numbers as float64 where that holds them."""
        held = self.values
        exact = not any(isinstance(v, str) for v in held) and all(float(v) == v for v in held)
        mixed = not exact and any(isinstance(v, float) for v in held)
        return np.array(held, dtype=float if exact else object if mixed else None)[self.codes]

    def counts(self) -> dict[Label, int]:
        """Rows of each label."""
        found = np.bincount(self.codes, minlength=len(self.values))
        return dict(zip(self.values, found.tolist(), strict=True))


class LabelColumn:
    """Collects a column of text row by row, holding each distinct text once.

    `where` opens messages; `limited` refuses more than `MAX_CLASSES` texts, which are not labels.
    """

    def __init__(self, where: str, limited: bool = True) -> None:
        self.where, self.limited = where, limited
        self.table: dict[str, int] = {}
        self.codes = array("i")

    def add(self, text: str, row: int) -> None:
        """Append the label of one row, counted from 1."""
        code = self.table.get(text)
        if code is None:
            if is_missing(text):
                raise InputError(f"{self.where}, row {row}: missing value: drop the row")
            if self.limited and len(self.table) >= MAX_CLASSES:
                raise too_many_classes(self.where)
            code = self.table.setdefault(text, len(self.table))
        self.codes.append(code)

    def labels(self) -> Labels:
        """The labels so far: numbers if every distinct text is a finite one."""
        return _of_texts([*self.table], np.frombuffer(self.codes, dtype=np.intc))


def _of_texts(texts: list[str], codes: np.ndarray) -> Labels:
    """Return labels of distinct texts: numbers if all of them are finite ones."""
    numbers = [_number(text) for text in texts]
    found = [n for n in numbers if n is not None]
    values: list[Label] = [*found] if len(found) == len(texts) else [t.strip() for t in texts]
    return sort_labels(values, codes)


def sort_labels(values: Sequence[Label], codes: np.ndarray) -> Labels:
    """Sort the distinct labels and merge equal ones ("1" and "1.0"); renumber the codes."""
    ordered = sorted(set(values))  # type: ignore[type-var]
    place = {value: k for k, value in enumerate(ordered)}
    return Labels(ordered, np.array([place[v] for v in values], dtype=np.intp)[codes])


def array_labels(y: np.ndarray, where: str, limited: bool = True) -> Labels:
    """Labels of an array of numbers, truth values or text; `where` and `limited` as above."""
    if y.dtype.kind not in "biufUS":
        raise InputError(f"{where}: labels must be numbers or text, not {y.dtype}")
    if y.dtype.kind == "S":
        y = np.char.decode(y, "utf-8")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.argmin(np.isfinite(y))) + 1
        raise InputError(f"{where}, row {row}: missing or infinite value: drop the row")
    values, codes = np.unique(y, return_inverse=True)
    if limited and len(values) > MAX_CLASSES:
        raise too_many_classes(where)
    if y.dtype.kind == "U":
        lost = [k for k, text in enumerate(values.tolist()) if is_missing(text)]
        if lost:
            row = int(np.argmax(codes == lost[0])) + 1
            raise InputError(f"{where}, row {row}: missing value: drop the row")
        return _of_texts(values.tolist(), codes)
    if y.dtype.kind == "b":
        values = values.astype(np.int64)
    return sort_labels([_plain(v) for v in values.tolist()], codes)


def too_many_classes(where: str) -> InputError:
    """The error for a target that is not a class label."""
    return InputError(
        f"{where}: more than {MAX_CLASSES} different values: this is not a class label"
    )


def two_classes(
    labels: Labels, positive: object, where: str
) -> tuple[np.ndarray, Label, Label | None]:
    """Return 0 and 1 for labels (n,), the positive label, and the other; None for "the rest".

    `positive` None takes the larger of two labels, as scikit-learn does; numbers are compared as
    numbers (`"1"` is `1.0`). With more than two labels it is one against the rest.
    """
    values = labels.values
    if len(values) == 1:
        raise InputError(f"{where}: a single class, {_show(values[0])}: two are needed")
    if positive is None:
        if len(values) > 2:
            raise InputError(
                f"{where}: {len(values)} classes ({_list(values)}) where two are needed: "
                "name the column of the label with --target, or take one class against the rest "
                "with --positive"
            )
        place = 1
    else:
        place = _find(values, positive)
        if place is None:
            raise InputError(f"{where}: no class {positive!r}; the classes are {_list(values)}")
    y = (labels.codes == place).astype(np.int64)
    return y, values[place], values[1 - place] if len(values) == 2 else None


def _find(values: list[Label], wanted: object) -> int | None:
    """Place of a label, given as itself or as text."""
    if isinstance(wanted, bool | np.bool_):
        wanted = int(wanted)
    text = str(wanted).strip()
    number = _number(text)
    for place, value in enumerate(values):
        if value == text if isinstance(value, str) else value == number:
            return place
    if text.lower() in {"true", "false"} and set(values) <= {0, 1}:
        return values.index(int(text.lower() == "true"))
    return None


def _number(text: str) -> Label | None:
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


def _show(value: Label) -> str:
    return repr(value) if isinstance(value, str) else str(value)


def _list(values: list[Label]) -> str:
    shown = ", ".join(_show(v) for v in values[:10])
    return shown + (", ..." if len(values) > 10 else "")
