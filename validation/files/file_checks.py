"""What every reader of users' files shares: opening them, and refusing values."""

from __future__ import annotations

import math
import os
import re
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from ...exact.errors import InputError
from ...exact.tools.digits import lost_digits
from .column_names import named, option_of, unclear_names
from .labels import Labels, as_number, is_missing

_CHECK_ROWS = 65_536

TEXT_ADVICE = "encode it as numbers, drop the column, or name it with --target if it is the label"

NUMBER_ADVICE = "write numbers with a decimal point and nothing between the thousands: 1234.5"


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table as read: the rows, the labels of the target column, and the names.

    Attributes
    ----------
    X : array (n, d) of float64, or CSR
    labels : Labels
    columns : list of str
        Names of the d features; "1", "2", ... (their place in the file) where there are none.
    target : str
    ignored : list of str
        What the file holds besides, and was not used.
    zero_based : bool, optional
        Whether an svmlight file counts from 0; None of other files.
    assumed : bool
        Whether it may count either way: no index 0 occurs, and nobody said.
    """

    X: Any
    labels: Labels
    columns: list[str]
    target: str
    ignored: list[str]
    zero_based: bool | None = None
    assumed: bool = False


def existing_file(path: str | Path) -> Path:
    """Return the path of a file that can be opened.

    Raises
    ------
    InputError
        If there is none, if it is a folder, or if it may not be read.
    """
    found = Path(path)
    if str(path) == "-":
        raise InputError("-: a pipe can be read only once: save it in a file, and give its name")
    if found.is_dir():
        raise InputError(f"{path}: this is a folder, a file is needed")
    check_no_pipe(found)
    try:
        with open(found, "rb"):
            return found
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def check_no_pipe(path: str | Path) -> None:
    """Raise `InputError` for a pipe, a terminal or a device: a table is read more than once."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        what = "pipe" if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else "device"
        raise InputError(
            f"{path}: this is a {what}, which can be read only once: save it in a file, "
            "whose name tells its kind (.csv, .tsv, ...)"
        )


@contextmanager
def damage_reported(path: Path, kind: str, *errors: type[Exception]) -> Iterator[None]:
    """Turn a reader's own errors into one `InputError`; those of ours pass."""
    try:
        yield
    except InputError:
        raise
    except errors as error:
        detail = " ".join(str(error).split()).rstrip(".")[:200]
        if "allow_pickle" in detail:  # numpy's advice would have a stranger's code run
            detail = "it holds Python objects, which are never read"
        raise InputError(f"{path}: damaged, or not a readable {kind} file ({detail})") from None


def refuse_value(path: Path, column: str, row: int, text: str, hint: str = "") -> NoReturn:
    """Raise the sentence for a cell that is no finite number; `row` counts from 1."""
    place = f"in column '{column}', row {row}"
    value = as_number(text)
    if is_missing(text) or (value is not None and math.isnan(value)):
        raise InputError(f"{path}: missing value {place}: fill it in or drop the row or column")
    if value is not None:
        raise InputError(f"{path}: infinite value {place}: only finite numbers can be used")
    shown = repr(text.strip()[:40])
    advice = NUMBER_ADVICE if _has_comma(text) else TEXT_ADVICE
    raise InputError(f"{path}: text {shown} {place}{hint}: {advice}")


class Refused:
    """Collects the first cell of each column that is no finite number, to name them all at once.

    Parameters
    ----------
    path : Path
    unclear : mapping of str to str
        Columns that their names do not tell apart, and why.
    """

    def __init__(self, path: Path, unclear: Mapping[str, str] = MappingProxyType({})) -> None:
        self._path, self._unclear = path, unclear
        self._cells: dict[str, tuple[int, str, str]] = {}

    def __contains__(self, column: str) -> bool:
        return column in self._cells

    def add(self, column: str, row: int, text: str, hint: str = "") -> None:
        """Note the first cell of a column that cannot be used; `row` counts from 1."""
        self._cells.setdefault(column, (row, text, hint))

    def raise_if_any(self) -> None:
        """Raise one sentence on all of them.

        Raises
        ------
        InputError
        """
        if not self._cells and not self._unclear:
            return
        if len(self._cells) == 1 and not self._unclear:
            ((column, (row, text, hint)),) = self._cells.items()
            refuse_value(self._path, column, row, text, hint)
        if not self._cells and len(self._unclear) == 1:
            ((name, reason),) = self._unclear.items()
            raise InputError(
                f"{self._path}: {reason}: name each column once, or leave out what has this name "
                f"with --drop {shlex.quote(option_of([name]))}"
            )
        self._raise_all()

    def _raise_all(self) -> NoReturn:
        kinds = {column: _kind_of(text) for column, (_, text, _) in self._cells.items()}
        reasons = [*self._unclear.values()]
        reasons += [f"'{one}' ({kinds[one]}, row {self._cells[one][0]})" for one in kinds]
        bad = [*self._unclear, *(name for name in kinds if name not in self._unclear)]
        more = f" and {len(reasons) - SHOWN_COLUMNS} more" if len(reasons) > SHOWN_COLUMNS else ""
        advice = [words for words, start in _ADVICE.items() if _any_starts(kinds.values(), start)]
        advice = ["name each column once", *advice] if self._unclear else advice
        raise InputError(
            f"{self._path}: {len(bad)} columns cannot be used: {', '.join(reasons[:SHOWN_COLUMNS])}"
            f"{more}: {', '.join(advice)}, or leave columns out with "
            f"--drop {shlex.quote(option_of(bad[:SHOWN_COLUMNS]))}"
        )


SHOWN_COLUMNS = 10
"""Columns that one message names at most."""


_NUMBER_WITH_COMMAS = re.compile(
    r"[+-]?(\d+|\d{1,3}([.'\s]\d{3})+),\d+|[+-]?\d{1,3}((,\d{3})+|([.'\s]\d{3}){2,})(\.\d+)?"
)

_ADVICE = {
    "fill in missing values": "missing",
    "replace infinite values": "infinite",
    "write numbers with a decimal point (1234.5)": "number with a comma",
    "encode text as numbers": "text",
}
"""What to do about each kind of cell, by the words that `_kind_of` begins with."""


def _any_starts(kinds: Iterable[str], start: str) -> bool:
    return any(kind.startswith(start) for kind in kinds)


def _kind_of(text: str) -> str:
    value = as_number(text)
    if is_missing(text) or (value is not None and math.isnan(value)):
        return "missing value"
    if value is not None:
        return "infinite value"
    return f"{'number with a comma' if _has_comma(text) else 'text'} {text.strip()[:20]!r}"


def _has_comma(text: str) -> bool:
    """Whether a text is a number but for its commas, or what stands between its thousands."""
    return _NUMBER_WITH_COMMAS.fullmatch(text.strip()) is not None


def refuse_mixed_words(path: Path, column: str, row: int, text: str) -> NoReturn:
    """Raise the sentence for a column of words for 0 and 1 that holds other numbers too."""
    raise InputError(
        f"{path}: column '{column}' holds words like {text.strip()[:20]!r} (row {row}) and numbers "
        "other than 0 and 1: write one or the other, or drop the column"
    )


def first_not_finite(X: np.ndarray) -> tuple[int, int] | None:
    """Row and column of the first entry that is NaN or infinite, in reading order."""
    for start in range(0, X.shape[0], _CHECK_ROWS):
        bad = ~np.isfinite(X[start : start + _CHECK_ROWS])
        if bad.any():
            row, column = np.argwhere(bad)[0]
            return start + int(row), int(column)
    return None


def finite_rows(path: Path, X: np.ndarray, columns: list[str]) -> np.ndarray:
    """Return X as float64 in C order (itself if it is); refuse other types, no rows, NaN, inf."""
    if X.dtype.kind not in "biuf":
        raise InputError(f"{path}: 'X' must hold numbers, not {X.dtype}")
    if 0 in X.shape:
        raise InputError(f"{path}: 'X' has shape {X.shape}: there is nothing to read")
    rows = np.ascontiguousarray(X, dtype=np.float64)
    for start in range(0, 0 if X.dtype == rows.dtype else len(X), _CHECK_ROWS):
        refuse_lost(path, X[start : start + _CHECK_ROWS], columns, start + 1)
    if first_not_finite(rows) is not None:
        refused = Refused(path)
        for k, name in enumerate(columns):
            bad = np.flatnonzero(~np.isfinite(rows[:, k]))
            if bad.size:
                refused.add(name, int(bad[0]) + 1, str(rows[bad[0], k]))
        refused.raise_if_any()
    return rows


def refuse_lost(path: Path, values: np.ndarray, columns: Sequence[str], row: int) -> None:
    """Refuse a block of numbers, the first row number `row`, where float64 cannot hold one."""
    lost = lost_digits(values)
    if lost.size:
        at = [int(k) for k in np.unravel_index(lost[0], values.shape)]
        refuse_digits(path, columns[at[-1]], row + at[0], str(values[tuple(at)]))


def refuse_digits(path: Path, column: str, row: int, text: str) -> NoReturn:
    """Raise the sentence for a number that float64 cannot hold; `row` counts from 1."""
    raise InputError(
        f"{path}: {text.strip()[:40]} in column '{column}', row {row} loses digits in float64: "
        "subtract an offset, round it, or drop the column"
    )


def check_names(path: Path, names: Sequence[str]) -> None:
    """Refuse column names that are empty or occur twice."""
    Refused(path, unclear_names(named(names))).raise_if_any()
