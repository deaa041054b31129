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
    """Whether a cell says that a value is missing: empty, `NA`, `nan`, `?`, `null`, ..."""
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

    @classmethod
    def of(cls, values: np.ndarray, where: str, limited: bool = True) -> Labels:
        """Return those of an array; arguments as of `LabelColumn`."""
        column = LabelColumn(where, limited)
        column.extend(values, range(1, len(values) + 1))
        return column.labels()

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
    """Collects a column of labels, holding each distinct text once.

    `where` opens messages; `limited` refuses more than `MAX_CLASSES` values, which are not labels.
    """

    def __init__(self, where: str, limited: bool = True) -> None:
        self.where, self.limited = where, limited
        self.table: dict[str, int] = {}
        self._codes = array("i")
        self._numbers: list[np.ndarray] = []

    def extend(self, cells: np.ndarray | Sequence[str], rows: Sequence[int]) -> None:
        """Append the labels of these rows of the file: numbers, truth values or text."""
        kind = cells.dtype.kind if isinstance(cells, np.ndarray) else "U"
        if kind not in "biufUS":
            raise InputError(f"{self.where}: labels must be numbers or text, not {cells.dtype}")  # type: ignore[union-attr]
        if kind not in "US":
            finite = np.isfinite(cells)  # type: ignore[call-overload]
            if not finite.all():
                row = rows[int(np.argmin(finite))]
                raise InputError(
                    f"{self.where}, row {row}: missing or infinite value: drop the row"
                )
            self._numbers.append(cells)  # type: ignore[arg-type]
            return
        for text, row in zip(cells, rows, strict=True):
            word = text.decode("utf-8", "backslashreplace") if kind == "S" else str(text)  # type: ignore[union-attr]
            code = self.table.get(word)
            if code is None:
                if is_missing(word):
                    raise InputError(f"{self.where}, row {row}: missing value: drop the row")
                code = self.table.setdefault(word, len(self.table))
                self.limit(len(self.table))
            self._codes.append(code)

    def limit(self, count: int) -> None:
        """Refuse more different values than labels have."""
        if self.limited and count > MAX_CLASSES:
            raise InputError(
                f"{self.where}: more than {MAX_CLASSES} different values: this is not a class label"
            )

    def labels(self) -> Labels:
        """The labels so far: numbers if every distinct text is a finite one."""
        if self._numbers:
            values, codes = np.unique(np.concatenate(self._numbers), return_inverse=True)
            self.limit(len(values))
            numbers = values.astype(int) if values.dtype.kind == "b" else values
            return _sorted([_plain(value) for value in numbers.tolist()], codes)
        found = [_number(text) for text in self.table]
        whole = [number for number in found if number is not None]
        texts = [text.strip() for text in self.table]
        values = whole if len(whole) == len(found) else texts
        return _sorted(values, np.frombuffer(self._codes, dtype=np.intc))


def _sorted(values: Sequence[Label], codes: np.ndarray) -> Labels:
    """Sort the distinct labels and merge equal ones ("1" and "1.0"); renumber the codes."""
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
