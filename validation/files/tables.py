"""Tables that users have on disk: rows, labels, and columns that order or group the rows.

The ending of a name chooses the reader: `.csv` and `.tsv`, `.npz`, `.parquet` (with the optional
pyarrow), and svmlight as `.svmlight`, `.libsvm`, `.svm` or `.txt`. Text may be gzipped, with `.gz`
after its own ending. Every reader gives a `Table`. Nothing is guessed about bad values: missing
ones, infinite ones and text are refused, with their column and row (from 1; a line where a file has
lines).
"""

from __future__ import annotations

import csv
import difflib
import gzip
import io
import math
import os
import shlex
import stat
import zipfile
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np
import scipy.sparse as sp

from ...exact.errors import InputError
from ...exact.tools.lossless import as_float64, is_large, loses_digits, lost_digits
from ..memory import check_room, shown
from .labels import (
    Label,
    LabelColumn,
    Labels,
    array_labels,
    as_number,
    as_truth,
    is_missing,
    two_classes,
)

# Endings of svmlight files, which may be gzipped.
SVMLIGHT = (".txt", ".libsvm", ".svm", ".svmlight")

ROWS = 65_536  # Rows that are checked or read at a time.

SHOWN_COLUMNS = 10  # Columns that one message names at most.

BYTES_A_FEATURE = 150  # A name, and about ten vectors of weights while a problem is solved.

GZIP_ERRORS = (gzip.BadGzipFile, EOFError, zlib.error)


# What is asked for, and what is found


@dataclass(frozen=True)
class Selection:
    """What to read of a table; None is the default."""

    target: str | None = None  # The label column; by default the last one, or `y` in npz.
    columns: tuple[str, ...] | None = None
    """The features, in this order; by default all other columns."""
    drop: tuple[str, ...] = ()  # Columns that are neither read nor checked.
    labelled: bool = True  # False where only features are read: no column is a label.
    header: bool | None = None
    """Whether the first row of a CSV file holds names; by default as it looks."""
    zero_based: bool | None = None
    """Whether an svmlight file counts its features from 0; by default as it looks."""
    width: int | None = None
    """Features of the model that the rows are for: an svmlight file leaves out zeros."""
    extra: tuple[str, ...] = ()
    """Columns that are read next to the features: they order or group the rows."""

    @classmethod
    def of(cls, asked: Selection | str | None) -> Selection:
        """Return a selection from one, or from the name of the label column."""
        return asked if isinstance(asked, cls) else cls(target=asked)  # type: ignore[arg-type]

    def places(self, path: Path, names: Sequence[str], target: int | None) -> Places:
        """Return what to read of columns with these names; `target` is the place of the label."""
        label = () if target is None else (names[target],)
        Refused(path, unclear_names(names, (*label, *self.extra))).raise_if_any()
        for name in set(label) & set(self.extra):
            raise InputError(f"{path}: '{name}' is the label column: name another with --target")
        columns, special = self.columns or (), (*label, *self.extra)
        absent = [n for n in (*columns, *self.drop, *self.extra) if n not in names]
        if absent:
            what = "no column" if len(absent) == 1 else "no columns"
            raise InputError(f"{path}: {what} {listed(absent)}; {nearest(absent[0], names)}")
        if len(set(columns)) < len(columns):
            raise InputError(f"{path}: a column is asked for twice: name each one once")
        for name in (*columns, *self.drop):
            if name in label:
                raise InputError(
                    f"{path}: '{name}' is the label column, which is not a feature and cannot be "
                    "left out: name another one with --target"
                )
            if name in self.extra and self.labelled:
                raise InputError(
                    f"{path}: '{name}' orders or groups the rows: it is not a feature and cannot "
                    "be left out"
                )
        wanted = [n for n in names if n not in special] if self.columns is None else columns
        kept = [list(names).index(name) for name in wanted if name not in self.drop]
        if not kept:
            without = " next to " + listed(special) if special else ""
            raise InputError(f"{path}: no feature columns are left{without}")
        extra = [list(names).index(name) for name in self.extra]
        used = {target, *kept, *extra}
        ignored = [name for k, name in enumerate(names) if k not in used]
        unclear = unclear_names(names, {names[k] for k in kept})
        return Places(target, kept, extra, ignored, unclear)

    def of_read(self, path: Path, table: Table) -> Table:
        """Return a table that was read whole with the features that are asked for."""
        if self.columns is None and not self.drop:
            return table
        found = replace(self, extra=()).places(path, table.columns, None)
        names = [table.columns[k] for k in found.features]
        ignored = [*table.ignored, *found.ignored]
        return replace(table, X=table.X[:, found.features], columns=names, ignored=ignored)


class Places(NamedTuple):
    """Where the columns stand: the label (None without labels), features, others, names not read.

    `unclear` names the features that their names do not tell apart, and says why.
    """

    target: int | None
    features: list[int]
    extra: list[int]
    ignored: list[str]
    unclear: dict[str, str]


@dataclass(frozen=True, eq=False)
class Table:
    """A table as read: rows (n, d), float64 or CSR, with their labels."""

    X: Any
    labels: Labels
    columns: list[str]
    """Names of the d features; their places from 1, or svmlight's indices, where there are none."""
    target: str
    ignored: list[str]  # What else the file holds; it was not used.
    extra: dict[str, np.ndarray] = field(default_factory=dict)
    """The columns (n,) that were asked for next to the features, numbers or words."""
    zero_based: bool | None = None  # Whether an svmlight file counts from 0; None of other files.
    assumed: bool = False  # Whether it may count either way: no index 0 occurs, and nobody said.
    positive: Label | None = None
    negative: Label | None = None
    """What 1 and 0 stand for, by `read_table`; the negative one is None for "the rest"."""

    def numbers(self, path: str | Path, what: str) -> np.ndarray:
        """Return the labels as numbers (n,); yes, no, true and false mean 1 and 0."""
        return _numbers(self.labels.of_rows(), f"{path}: the {what}")


def _numbers(values: np.ndarray, what: str) -> np.ndarray:
    """Return a column of numbers, or of words for 1 and 0, as float64."""
    if values.dtype.kind != "U":
        return as_float64(values, what)
    kinds, codes = np.unique(values, return_inverse=True)
    found = [as_truth(text) if as_number(text) is None else as_number(text) for text in kinds]
    bad = [k for k, value in enumerate(found) if value is None or not math.isfinite(value)]
    bad = bad or [k for k, value in enumerate(found) if value not in (0, 1)]
    if bad:
        row = int(np.argmax(codes == bad[0])) + 1
        raise InputError(
            f"{what} {str(kinds[bad[0]])!r} of data row {row} cannot be used as a number"
        )
    return np.array(found, dtype=float)[codes]


def read_table(
    path: str | Path, target: Selection | str | None = None, positive: object = None
) -> tuple[Any, np.ndarray, Table]:
    """Read a data file into rows and labels 0 and 1."""
    table = read_raw(path, target)
    y, one, zero = two_classes(table.labels, positive, f"{path}, column '{table.target}'")
    return table.X, y, replace(table, positive=one, negative=zero)


def read_raw(path: str | Path, target: Selection | str | None = None) -> Table:
    """Return the rows and the labels as they stand in the file; arguments as in `read_table`."""
    ending = _ending(path)
    return _READERS[ending](existing_file(path), Selection.of(target))


def read_by_query(path: str | Path, qid: str, target: Selection | str | None = None) -> Table:
    """Read a table whose labels are grades, and the column of queries; "qid" in svmlight."""
    asked = Selection.of(target)
    if _ending(path).removesuffix(".gz") in SVMLIGHT and (qid != "qid" or asked.target is not None):
        raise InputError(f"{path}: an svmlight file has the label first: give --qid qid only")
    if qid == asked.target:
        raise InputError(f"{path}: '{qid}' cannot be both the query and the grade")
    return read_raw(path, replace(asked, extra=(qid,)))


def read_survival(
    path: str | Path, time: str, event: str, features: Selection | None = None
) -> tuple[Table, np.ndarray, np.ndarray]:
    """Read a table with its times and events (n,); an event is 0 or 1, no or yes, false or true."""
    if _ending(path).removesuffix(".gz") in SVMLIGHT:
        raise InputError(f"{path}: an svmlight file has no columns for a time and an event")
    if time == event:
        raise InputError(f"{path}: '{time}' cannot be both the time and the event")
    table = read_raw(path, replace(features or Selection(), target=event, extra=(time,)))
    seen = table.numbers(path, "event")
    wrong = np.flatnonzero((seen != 0) & (seen != 1))
    if wrong.size:
        raise InputError(
            f"{path}: the event of data row {wrong[0] + 1} is {seen[wrong[0]]:g}: it must be 0 or 1"
        )
    return table, _numbers(table.extra[time], f"{path}: the time"), seen


def column_names(path: str | Path, header: bool | None = None) -> list[str] | None:
    """Return the names of the columns of a file, or None where it has none.

    `header` says whether the first row of a CSV file holds them.
    """
    reader, found = _READERS[_ending(path)], existing_file(path)
    if reader is read_csv:
        names, has_header = csv_columns(found, header)
        return names if has_header else None
    if reader is read_npz:
        arrays = read_arrays(found, ("feature_names",))
        return [str(name) for name in arrays["feature_names"]] if arrays else None
    if reader is read_parquet:
        with open_parquet(str(found)) as file:
            return named(file.schema_arrow.names)
    return None


def _ending(path: str | Path) -> str:
    check_no_pipe(path)
    name = Path(path).name.lower()
    for ending in _READERS:
        if name.endswith(ending):
            return ending
    existing_file(path)  # that there is none, or a folder, is the more helpful thing to say
    raise InputError(
        f"{path}: unknown kind of file: the name must end in one of {', '.join(_READERS)}"
    )


# Files


def existing_file(path: str | Path) -> Path:
    """Return the path of a file that can be opened, or raise `InputError`."""
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


# Names of columns


class Unnamed(str):
    """What a column without a name is called; a name that reads so is none of these."""

    __slots__ = ()


def named(fields: Sequence[str]) -> list[str]:
    """Return the names of columns: one without a name is called by its place, "column 1"."""
    return [name or Unnamed(f"column {place}") for place, name in enumerate(fields, start=1)]


def unclear_names(names: Sequence[str], used: Collection[str] | None = None) -> dict[str, str]:
    """Return which of the used columns (all by default) their names do not tell apart, and why."""
    found: dict[str, str] = {}
    for name, times in Counter(names).items():
        if used is not None and name not in used:
            continue
        if isinstance(name, Unnamed):
            found[name] = f"{name} has no name in row 1"
        elif times > 1:
            found[name] = f"{'two' if times == 2 else times} columns are called '{name}'"
    return found


def target_place(path: Path, names: Sequence[str], target: str | None) -> int:
    """Place of the target column (the last one by default), leaving at least one feature."""
    if target is not None and target not in names:
        raise InputError(f"{path}: no column '{target}'; {nearest(target, names)}")
    place = len(names) - 1 if target is None else list(names).index(target)
    if len(names) == 1:
        raise InputError(
            f"{path}: no feature columns: '{names[place][:40]}' is the only column; commas, "
            "semicolons or tabs stand between columns"
        )
    return place


def nearest(name: str, names: Collection[str], what: str = "columns") -> str:
    """Say which of the names are nearest, or list the first ones."""
    near = difflib.get_close_matches(name, list(names), n=3, cutoff=0.5)
    if near:
        return "the nearest names are " + ", ".join(f"'{n}'" for n in near)
    shown_names = ", ".join(f"'{n}'" for n in list(names)[:10])
    return f"the {what} are {shown_names}" + (", ..." if len(names) > 10 else "")


def listed(names: Sequence[str]) -> str:
    """Return the first names, each in quotes."""
    more = f" and {len(names) - SHOWN_COLUMNS} more" if len(names) > SHOWN_COLUMNS else ""
    return ", ".join(f"'{name}'" for name in names[:SHOWN_COLUMNS]) + more


def option_of(names: Iterable[str]) -> str:
    """Return names as `--drop` and `--columns` read them: one with a comma between quotes."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


def check_names(path: Path, names: Sequence[str]) -> None:
    """Refuse column names that are empty or occur twice."""
    Refused(path, unclear_names(named(names))).raise_if_any()


# Values that are refused

# What to do about each kind of cell, by the first word that `_kind_of` says of it.
_ADVICE = {
    "missing": "fill in missing values",
    "infinite": "replace infinite values",
    "number": "write numbers with a decimal point and nothing between the thousands: 1234.5",
    "text": "encode text as numbers, or name it with --target if it is the label",
}


def _kind_of(text: str) -> str:
    value = as_number(text)
    if is_missing(text) or (value is not None and math.isnan(value)):
        return "missing value"
    if value is not None:
        return "infinite value"
    digits = "".join(character for character in text if character not in ",.' ")
    comma = "," in text and as_number(digits) is not None
    return f"{'number with a comma' if comma else 'text'} {text.strip()[:40]!r}"


class Refused:
    """Collects the first cell of each column that is not a finite number, to name them all at once.

    `unclear` are columns that their names do not tell apart, and why.
    """

    def __init__(self, path: Path, unclear: Mapping[str, str] | None = None) -> None:
        self._path, self._unclear = path, unclear or {}
        self._cells: dict[str, str] = {}
        self._advice = {"name each column once": None} if unclear else {}

    def __contains__(self, column: str) -> bool:
        return column in self._cells

    def add(self, column: str, row: int, text: str, hint: str = "") -> None:
        """Note the first cell of a column that cannot be used; `row` counts from 1."""
        if column not in self._cells:
            kind = _kind_of(text)
            self._cells[column] = f"{kind} in column '{column}', row {row}{hint}"
            self._advice[_ADVICE[kind.split()[0]]] = None

    def raise_if_any(self) -> None:
        """Raise one `InputError` on all of them."""
        reasons = [*self._unclear.values(), *self._cells.values()]
        if not reasons:
            return
        bad = [*self._unclear, *(name for name in self._cells if name not in self._unclear)]
        more = f" and {len(reasons) - SHOWN_COLUMNS} more" if len(reasons) > SHOWN_COLUMNS else ""
        raise InputError(
            f"{self._path}: {'; '.join(reasons[:SHOWN_COLUMNS])}{more}: {', '.join(self._advice)}, "
            f"or leave columns out with --drop {shlex.quote(option_of(bad))}"
        )


def refuse_value(path: Path, column: str, row: int, text: str) -> NoReturn:
    """Raise the sentence for a cell that is not a finite number; `row` counts from 1."""
    refused = Refused(path)
    refused.add(column, row, text)
    refused.raise_if_any()
    raise AssertionError


def refuse_digits(path: Path, column: str, row: int, text: str) -> NoReturn:
    """Raise the sentence for a number that float64 cannot hold; `row` counts from 1."""
    raise InputError(
        f"{path}: {text.strip()[:40]} in column '{column}', row {row} loses digits in float64: "
        "subtract an offset, round it, or drop the column"
    )


def refuse_lost(path: Path, values: np.ndarray, columns: Sequence[str], row: int) -> None:
    """Refuse a block of numbers, the first row number `row`, where float64 cannot hold one."""
    lost = lost_digits(values)
    if lost.size:
        at = [int(k) for k in np.unravel_index(lost[0], values.shape)]
        refuse_digits(path, columns[at[-1]], row + at[0], str(values[tuple(at)]))


def finite_rows(path: Path, X: np.ndarray, columns: list[str]) -> np.ndarray:
    """Return X as float64 in C order (itself if it is); refuse other types, no rows, NaN, inf."""
    if X.dtype.kind not in "biuf":
        raise InputError(f"{path}: 'X' must hold numbers, not {X.dtype}")
    if 0 in X.shape:
        raise InputError(f"{path}: 'X' has shape {X.shape}: there is nothing to read")
    rows = np.ascontiguousarray(X, dtype=np.float64)
    for start in range(0, 0 if X.dtype == rows.dtype else len(X), ROWS):
        refuse_lost(path, X[start : start + ROWS], columns, start + 1)
    if not all_finite(rows):
        refused = Refused(path)
        for k, name in enumerate(columns):
            bad = np.flatnonzero(~np.isfinite(rows[:, k]))
            if bad.size:
                refused.add(name, int(bad[0]) + 1, str(rows[bad[0], k]))
        refused.raise_if_any()
    return rows


def all_finite(X: np.ndarray) -> bool:
    """Return whether all entries are finite, looking at some rows at a time."""
    return all(np.isfinite(X[k : k + ROWS]).all() for k in range(0, X.shape[0], ROWS))


# CSV


def open_text(path: Path) -> io.TextIOBase:
    """Open UTF-8 text, through gzip where the name ends in `.gz`."""
    opened: Any = gzip.open if path.suffix.lower() == ".gz" else open
    return opened(path, "rt", encoding="utf-8-sig", newline="")


def open_bytes(path: Path) -> IO[bytes]:
    """Open the bytes of a file, through gzip where its name ends in `.gz`."""
    opened: Any = gzip.open if path.suffix.lower() == ".gz" else open
    return opened(path, "rb")


def csv_rows(path: Path, skip_first: bool, unusual: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of each row that is not blank.

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
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return InputError(
                    f"{path}: row {number} is not UTF-8 text: save it as UTF-8, or let its name "
                    "end as its kind has it"
                )
    return InputError(f"{path}: not UTF-8 text: save it as UTF-8")


def _delimiter(path: Path) -> str:
    """Return the first of comma, semicolon and tab in the first line; with `.tsv` it is the tab."""
    if path.name.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"
    with open_text(path) as text:
        first = next((line for line in text if line.strip()), "")
    return next((mark for mark in ",;\t" if mark in first), ",")


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


def read_csv(path: Path, target: Selection | str | None = None) -> Table:
    """Read a `.csv` or `.tsv` file of finite numbers and columns of labels.

    The first row holds names if none of its fields is a number, or if the numbers among them are
    0, 1, 2, ..., as pandas numbers columns; a first row 0 or 0,1 is refused unless `header` says.
    true, yes, false and no mean 1 and 0 in columns of nothing else.
    """
    asked = Selection.of(target)
    names, has_header = csv_columns(path, asked.header)
    place = target_place(path, names, asked.target) if asked.labelled else None
    read = _CsvReader(path, names, has_header, asked.places(path, names, place))
    if read.places.unclear:
        read.refuse_columns()
    with damage_reported(path, "gzip", *GZIP_ERRORS):
        X, words = read.read()
    label = "" if place is None else names[place]
    guessed = has_header and asked.header is None and as_number(label) is None
    if guessed and label and label in words[0].table:
        raise InputError(
            f"{path}: '{label}' in row 1 is also a label further down: are these names or data? "
            "Write a first row of names"
        )
    found = [column.labels() for column in words]
    labels = Labels.none() if place is None else found.pop(0)
    columns, ignored = [names[k] for k in read.places.features], read.places.ignored
    extra = {name: column.of_rows() for name, column in zip(asked.extra, found, strict=True)}
    return Table(X, labels, columns, label, ignored, extra)


@dataclass
class _CsvReader:
    """One file while it is read."""

    path: Path
    names: list[str]
    has_header: bool
    places: Places
    truths: dict[int, tuple[int, str]] = field(default_factory=dict)

    def read(self) -> tuple[np.ndarray, list[LabelColumn]]:
        """Return the features (n, d), checked, and the other columns; 2 microseconds a row of 4."""
        features, target = self.places.features, self.places.target
        kept = [*([] if target is None else [target]), *self.places.extra]
        columns = [
            LabelColumn(f"{self.path}, column '{self.names[k]}'", limited=k == target) for k in kept
        ]
        values, unusual, width = array("d"), [], len(self.names)
        for line, row in csv_rows(self.path, self.has_header, unusual):
            if len(row) != width:
                fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
                raise InputError(
                    f"{self.path}: row {line} has {fields}, the rows above have {width}"
                )
            for k, column in zip(kept, columns, strict=True):
                column.add(row[k], line)
            size = len(values)
            try:
                values.extend(map(float, [row[k] for k in features]))
            except ValueError:
                unusual.append("not a number")
            if unusual:
                del values[size:]
                values.extend(self._unusual(line, row))
                unusual.clear()
        X = np.frombuffer(values, dtype=np.float64).reshape(-1, len(features))
        if not len(X):
            raise InputError(f"{self.path}: no rows below the header")
        self._check(X)
        return X, columns

    def _unusual(self, line: int, row: list[str]) -> Iterator[float]:
        """Yield the numbers of a row that `float` misreads: it takes `1_000` and foreign digits."""
        for k in self.places.features:
            value = as_number(row[k])
            if value is None:
                value = as_truth(row[k])
                if value is None:
                    self.refuse_columns()
                self.truths.setdefault(k, (line, row[k]))
            yield value  # type: ignore[misc]

    def _check(self, X: np.ndarray) -> None:
        """Refuse numbers that are not finite, words among other numbers, and lost digits."""
        features = self.places.features
        if not all_finite(X):
            self.refuse_columns()
        for k, (line, text) in self.truths.items():
            if not np.isin(X[:, features.index(k)], (0.0, 1.0)).all():
                raise InputError(
                    f"{self.path}: column '{self.names[k]}' holds words like "
                    f"{text.strip()[:20]!r} (row {line}) and numbers other than 0 and 1: write one "
                    "or the other, or drop the column"
                )
        suspects = is_large(X)
        if suspects.any():
            for k, (line, row) in enumerate(csv_rows(self.path, self.has_header, [])):
                for j in np.flatnonzero(suspects[k]):
                    text = row[features[j]]
                    if loses_digits(text, X[k, j]):
                        refuse_digits(self.path, self.names[features[j]], line, text)

    def refuse_columns(self) -> None:
        """Read the file again, and refuse every feature that holds no finite numbers."""
        refused = Refused(self.path, self.places.unclear)
        for number, (line, row) in enumerate(csv_rows(self.path, self.has_header, [])):
            if len(row) != len(self.names):
                break
            first = number == 0 and not self.has_header
            for k in self.places.features:
                if self.names[k] not in refused:
                    value = as_number(row[k])
                    value = as_truth(row[k]) if value is None else value
                    if value is None or not np.isfinite(value):
                        hint = " (a row of names may hold no numbers)" if first else ""
                        refused.add(self.names[k], line, row[k], hint)
        refused.raise_if_any()


# npz


def read_arrays(path: Path, wanted: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """Read arrays of an npz file (all if none are named), never a pickled object; none absent."""
    errors = (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, NotImplementedError)
    with damage_reported(path, "npz", *errors, RuntimeError):
        if not zipfile.is_zipfile(path):
            raise InputError(f"{path}: damaged, or not a readable npz file")
        _check_declared(path, wanted)
        with np.load(path, allow_pickle=False) as archive:
            arrays = {k: archive[k] for k in archive.files if not wanted or k in wanted}
    for name, held in arrays.items():
        if not isinstance(held, np.ndarray):  # np.load hands out other members as bytes
            raise InputError(
                f"{path}: damaged, or not a readable npz file ('{name}' is not an array)"
            )
    return arrays


def _check_declared(path: Path, wanted: tuple[str, ...]) -> None:
    """Raise if an array of an npz file is said to be larger than its bytes, or than the memory."""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name == info.filename or (wanted and name not in wanted):
                continue
            with archive.open(info) as member:
                size = declared_size(member)
            if size > info.file_size:
                raise InputError(
                    f"{path}: damaged, array '{name}' is said to have {shown(size)}, "
                    f"the file holds {shown(info.file_size)} of it"
                )
            check_room(f"{path}, array '{name}'", size, "take a part of it")


def declared_size(file: IO[bytes]) -> int:
    """Return the bytes of the array that the header of an npy file declares."""
    read = np.lib.format
    major, _ = read.read_magic(file)
    if major > 2:
        return 0  # names of fields in Unicode: nothing that we read
    header = read.read_array_header_1_0 if major == 1 else read.read_array_header_2_0
    shape, _, dtype = header(file)
    return math.prod(shape) * dtype.itemsize


def array_names(path: Path) -> list[str]:
    """Names of the arrays in an npz file, without reading them."""
    with damage_reported(path, "npz", zipfile.BadZipFile, OSError), zipfile.ZipFile(path) as file:
        return [name.removesuffix(".npy") for name in file.namelist()]


def read_npz(path: Path, target: Selection | str | None = None) -> Table:
    """Read the arrays `X` (n, d) and `y` (n,), or another label array, of an npz file.

    Columns are named by the array `feature_names` (d,) if there is one. Other columns
    are among these, or arrays of their own.
    """
    asked = Selection.of(target)
    target = "y" if asked.target is None else asked.target
    held = array_names(path)
    for name in ("X", target) if asked.labelled else ("X",):
        if name not in held:
            raise InputError(f"{path}: no array '{name}'; {nearest(name, held, 'arrays')}")
    read = ("X", "feature_names", *asked.extra, *((target,) if asked.labelled else ()))
    arrays = read_arrays(path, read)
    X = arrays["X"]
    y = arrays[target] if asked.labelled else np.zeros(X.shape[:1])
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise InputError(
            f"{path}: 'X' must have shape (n, d) and '{target}' shape (n,); "
            f"they have {X.shape} and {y.shape}"
        )
    columns = feature_names(arrays, X.shape[1], path)
    own = [name for name in asked.extra if name not in columns]
    for name in own:
        if name in ("X", target, "feature_names") or name not in arrays:
            near = nearest(name, [*columns, *held], "columns and arrays")
            raise InputError(f"{path}: no column or array '{name}'; {near}")
        if arrays[name].shape != y.shape:
            raise InputError(f"{path}: array '{name}' must have shape ({len(y)},)")
    inside = tuple(name for name in asked.extra if name in columns)
    places = replace(asked, extra=inside).places(path, columns, None)
    extra = {name: arrays[name] for name in own}
    extra |= {name: X[:, columns.index(name)] for name in inside}
    rows = X[:, places.features] if places.ignored or inside or asked.columns else X
    kept = [columns[k] for k in places.features]
    return Table(
        finite_rows(path, rows, kept),
        array_labels(y, f"{path}, array '{target}'") if asked.labelled else Labels.none(),
        kept,
        target,
        [name for name in held if name not in read] + places.ignored,
        {name: _plain(path, name, values) for name, values in extra.items()},
    )


def _plain(path: Path, name: str, values: np.ndarray) -> np.ndarray:
    """Return a column as words or numbers without missing ones; float64 where it holds them."""
    labels = array_labels(values, f"{path}, column '{name}'", limited=False)
    return labels.of_rows()


def feature_names(arrays: dict[str, np.ndarray], d: int, path: Path | None = None) -> list[str]:
    """Names from `feature_names` if they are d pieces of text, else "1" to "d"."""
    names = arrays.get("feature_names")
    if names is not None and names.dtype.kind == "U":
        if names.shape == (d,):
            found = [str(name) for name in names]
            if path is not None:
                check_names(path, found)
            return found
        if path is not None:
            raise InputError(f"{path}: 'feature_names' has shape {names.shape}, X has {d} columns")
    return [str(k) for k in range(1, d + 1)]


# svmlight


def read_svmlight(path: Path, target: Selection | str | None = None) -> Table:
    """Read an svmlight file (`label index:value ...` a line) into CSR, through scikit-learn.

    Indices count from 0 if index 0 occurs, else from 1, unless `zero_based` says which. With "qid"
    asked for, each line has its query group, `label qid:number index:value ...`; else none may.
    """
    from sklearn.datasets import load_svmlight_file

    asked = Selection.of(target)
    queries = asked.extra == ("qid",)
    if asked.target is not None:
        raise InputError(f"{path}: an svmlight file holds its label first: leave out the target")
    if asked.extra and not queries:
        raise InputError(f"{path}: this file has no names of columns, so no '{asked.extra[0]}'")
    try:
        found = load_svmlight_file(str(path), dtype=np.float64, query_id=queries, zero_based=True)
    except (ValueError, OverflowError, OSError, EOFError, zlib.error) as error:
        with damage_reported(path, "gzip", *GZIP_ERRORS):
            _refuse_line(path, queries)
        raise InputError(f"{path}: damaged, or not a readable svmlight file ({error})") from None
    X, y = found[:2]
    if X.shape[0] == 0:
        raise InputError(f"{path}: the file is empty")
    if X.nnz == 0:
        raise InputError(f"{path}: no feature columns: no line has an index:value pair")
    sound = np.isfinite(X.data).all() and np.isfinite(y).all()
    if not sound or is_large(X.data).any() or is_large(y).any() or _is_unusual(path):
        _refuse_line(path, queries)
    what = f"{path}: its largest index makes {X.shape[1]:,} features"
    check_room(what, BYTES_A_FEATURE * X.shape[1], "number the features that occur from 1")
    X, base, assumed = _based(path, X, asked)
    table = Table(
        sp.csr_array(X),
        array_labels(y, f"{path}, labels"),
        [str(k) for k in range(base, base + X.shape[1])],
        "label",
        [],
        {"qid": np.asarray(found[2])} if queries else {},
        base == 0,
        assumed,
    )
    table = asked.of_read(path, table)
    X = table.X
    shape = (X.shape[0], max(asked.width or 0, X.shape[1]))
    return replace(table, X=sp.csr_array((X.data, X.indices, X.indptr), shape=shape))


def _based(path: Path, X: Any, asked: Selection) -> tuple[Any, int, bool]:
    """Return the rows without a column 0 that is none, from where indices count, and if assumed."""
    zero, base = bool((X.indices == 0).any()), asked.zero_based
    if zero and base is False:
        raise InputError(
            f"{path}: index 0 occurs, where indices count from 1: say --zero-based yes if they "
            "count from 0 in this file"
        )
    assumed, largest = base is None and not zero, X.shape[1] - 1
    partial = asked.columns is not None or bool(asked.drop)
    if assumed and asked.width is not None and (largest < asked.width or partial):
        raise InputError(may_count_from(path, largest, asked.width))
    if zero or base:
        return X, 0, False
    rows = sp.csr_array((X.data, X.indices - 1, X.indptr), shape=(X.shape[0], largest))
    return rows, 1, assumed


def may_count_from(path: str | Path, largest: int, width: int) -> str:
    """Return the sentence on a file that is narrower than the model and may count from 0 or 1."""
    return (
        f"{path}: its indices, up to {largest}, may count from 0 or from 1, and the model has "
        f"{width} features: say which with --zero-based yes or --zero-based no"
    )


def _refuse_line(path: Path, queries: bool) -> None:
    """Raise for the first line that is not as `read_svmlight` says, with finite numbers."""
    with open_bytes(path) as file:
        for row, raw in enumerate(file, start=1):
            fields = raw.partition(b"#")[0].decode("utf-8", errors="replace").split()
            if not fields:
                continue
            label, pairs = as_number(fields[0]), fields[1:]
            if label is None or not np.isfinite(label):
                shown_field = repr(fields[0][:40])
                raise InputError(f"{path}: row {row} starts with {shown_field}, not with a number")
            if loses_digits(fields[0], label):
                refuse_digits(path, "label", row, fields[0])
            if queries:
                _check_query(path, row, pairs[0] if pairs else "")
                pairs = pairs[1:]
            last = -1
            for pair in pairs:
                last = _check_pair(path, row, pair, last)


def _check_query(path: Path, row: int, text: str) -> None:
    """Raise unless the text is `qid:number`."""
    name, colon, number = text.partition(":")
    if name != "qid" or not colon:
        raise InputError(f"{path}: row {row} has no query group: write qid:number after the label")
    if not (number.isascii() and number.isdigit() and int(number) < 1 << 63):
        raise InputError(f"{path}: row {row}: the query group {text[:40]!r} is not a whole number")


def _check_pair(path: Path, row: int, pair: str, last: int) -> int:
    """Return the index of one `index:value`, which must be above the last one."""
    index, colon, value = pair.partition(":")
    if index == "qid" and colon:
        raise InputError(
            f"{path}: row {row} has a query group ({pair[:40]}): name it with --qid qid to rank "
            "within groups; without, all rows would be ranked as one group"
        )
    number = as_number(value)
    if not (colon and index.isascii() and index.isdigit() and number is not None):
        raise InputError(f"{path}: row {row} holds {pair[:40]!r} where index:value is needed")
    if not np.isfinite(number):
        refuse_value(path, index, row, value)
    if loses_digits(value, number):
        refuse_digits(path, index, row, value)
    if int(index) <= last:
        raise InputError(f"{path}: row {row}: index {index} comes after {last}, sort the indices")
    return int(index)


def _is_unusual(path: Path) -> bool:
    """Whether `1_000` may occur, which Python reads as a number, or `qid:1`, which is skipped."""
    with open_bytes(path) as file:
        blocks = iter(lambda: file.read(1 << 20), b"")
        return any(b"_" in block or b"q" in block for block in blocks)


# Parquet


def parquet_library(path: str | Path) -> tuple[Any, Any]:
    """Return pyarrow and its room for Parquet."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"{path}: reading Parquet needs pyarrow: install aucert[parquet]"
        ) from None
    return pa, pq


@contextmanager
def open_parquet(path: str, pre_buffer: bool = True) -> Iterator[Any]:
    """Open a file with page checksums checked, through fsspec one of "s3://" and the like."""
    pa, pq = parquet_library(path)
    with damage_reported(Path(path), "Parquet", pa.ArrowException, OSError, EOFError):
        if "://" in path:
            file = pq.ParquetFile(remote(path)[0].open(remote(path)[1]))
        else:
            file = pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=pre_buffer)
        with file:
            yield file


def remote(path: str) -> tuple[Any, str]:
    """Return the file system of a path like "s3://bucket/folder", and the path in it."""
    try:
        import fsspec

        return fsspec.core.url_to_fs(path)
    except (ImportError, ValueError) as error:
        kind = path.split("://")[0]
        raise InputError(
            f"{path}: reading {kind}:// needs fsspec and its part for {kind} ({error})"
        ) from None


def read_parquet(path: Path, target: Selection | str | None = None) -> Table:
    """Read a Parquet file of numeric columns and columns of labels; rows count from 1."""
    asked = Selection.of(target)
    with open_parquet(str(path)) as file:
        names, kinds = named(file.schema_arrow.names), file.schema_arrow.types
        place = target_place(path, names, asked.target) if asked.labelled else None
        places = asked.places(path, names, place)
        Refused(path, places.unclear).raise_if_any()
        special = [*([] if place is None else [place]), *places.extra]
        for k in [*special, *places.features]:
            check_type(path, names[k], kinds[k], label=k in special)
        if not file.metadata.num_rows:
            raise InputError(f"{path}: no rows")
        columns, refused = [names[k] for k in places.features], Refused(path)
        X = np.empty((file.metadata.num_rows, len(columns)))
        parts: dict[str, list[np.ndarray]] = {names[k]: [] for k in special}
        start = 0
        for batch in file.iter_batches(batch_size=ROWS, columns=[*columns, *parts]):
            for name in (*columns, *parts):
                column = batch.column(name)
                if column.null_count:
                    refused.add(name, start + first_null(column) + 1, "")
                elif name in parts:
                    parts[name].append(_cells(column))
                else:
                    held = as_numbers(path, column, name, start, refused)
                    X[start : start + len(held), columns.index(name)] = held
            start += batch.num_rows
    refused.raise_if_any()
    found = {name: np.concatenate(cells) for name, cells in parts.items()}
    label = None if place is None else names[place]
    where = f"{path}, column '{label}'"
    return Table(
        finite_rows(path, X, columns),
        Labels.none() if label is None else array_labels(found[label], where),
        columns,
        label or "",
        places.ignored,
        {name: _plain(path, name, found[name]) for name in asked.extra},
    )


def check_type(path: str | Path, name: str, kind: Any, label: bool) -> None:
    """Raise `InputError` unless a column of this type can be a feature, or the label."""
    from pyarrow import types

    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    if not (numeric or is_words(kind) or (types.is_decimal(kind) and not label)):
        raise InputError(f"{path}: column '{name}' holds {kind}, not numbers: drop or convert it")


def is_words(kind: Any) -> bool:
    """Return whether a type is that of text, or of a dictionary."""
    from pyarrow import types

    return types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind)


def first_null(column: Any) -> int:
    """Return the first place of a column without a value."""
    return int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))


def _cells(column: Any) -> np.ndarray:
    """Return a batch of a column as numbers, or as text."""
    if is_words(column.type):
        return np.array([str(word) for word in column.to_pylist()])
    return column.to_numpy(zero_copy_only=False)


def as_numbers(path: Path, column: Any, name: str, start: int, refused: Refused) -> np.ndarray:
    """Return a batch of a feature, the first row number `start`, as float64.

    Of text, only words for 1 and 0 are numbers. Whole numbers, and decimals beyond 2^53, that
    float64 cannot hold are refused.
    """
    from pyarrow import types

    if is_words(column.type):
        held = np.zeros(len(column))
        for k, text in enumerate(map(str, column.to_pylist())):
            value = as_truth(text)
            if value is None:
                refused.add(name, start + k + 1, text if as_number(text) is None else f"'{text}'")
            held[k] = value or 0.0
        return held
    held = column.cast("float64", safe=False).to_numpy()
    if not types.is_floating(column.type) and is_large(held).any():
        given = np.array(column.to_pylist(), dtype=object)
        refuse_lost(path, given[:, None], [name], start + 1)
    return held


_TEXT: dict[str, Callable[[Path, Selection], Table]] = {".csv": read_csv, ".tsv": read_csv}
_TEXT |= dict.fromkeys(SVMLIGHT, read_svmlight)
_READERS: dict[str, Callable[[Path, Selection], Table]] = {
    name: read for ending, read in _TEXT.items() for name in (ending, f"{ending}.gz")
} | {".npz": read_npz, ".parquet": read_parquet}
