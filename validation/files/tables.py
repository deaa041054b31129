"""Tables that users have on disk: rows, labels, and columns that order or group the rows.

The ending of a name chooses the reader: `.csv` and `.tsv`, `.npz`, `.parquet` (with the optional
pyarrow), and svmlight as `.svmlight`, `.libsvm`, `.svm` or `.txt`. Text may be gzipped, with `.gz`
after its own ending. A reader hands out columns, cells of text or numbers; `Features` and
`LabelColumn` check them. Nothing is guessed about bad values: missing ones, infinite ones and text
are refused, with their column and row (from 1; a line where a file has lines).
"""

from __future__ import annotations

import csv
import difflib
import gzip
import io
import math
import shlex
import zipfile
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
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
    as_number,
    as_truth,
    is_missing,
    two_classes,
)

# Endings of svmlight files, which may be gzipped.
SVMLIGHT = (".txt", ".libsvm", ".svm", ".svmlight")

ROWS = 65_536  # Rows of numbers that are checked or read at a time.
CELLS = 8192  # Cells of text that are held at a time.

SHOWN_COLUMNS = 10  # Columns that one message names at most.

BYTES_A_FEATURE = 150  # A name, and about ten vectors of weights while a problem is solved.

GZIP_ERRORS = (gzip.BadGzipFile, EOFError, zlib.error)

Cells = np.ndarray | Sequence[str]  # A part of a column.


# What is asked for, and what is found


@dataclass(frozen=True)
class Selection:
    """What to read of a table; None is the default."""

    target: str | None = None  # The label column; by default the last one, or `y` in npz.
    columns: tuple[str, ...] | None = None  # The features in order; by default all other columns.
    drop: tuple[str, ...] = ()  # Columns that are neither read nor checked.
    labelled: bool = True  # False where only features are read: no column is a label.
    header: bool | None = None  # Whether the first row of a CSV file holds names.
    zero_based: bool | None = None  # Whether an svmlight file counts its features from 0.
    width: int | None = None  # Features of the model; an svmlight file leaves out zeros.
    extra: tuple[str, ...] = ()  # Columns next to the features: they order or group the rows.

    @classmethod
    def of(cls, asked: Selection | str | None) -> Selection:
        """Return a selection from one, or from the name of the label column."""
        return asked if isinstance(asked, cls) else cls(target=asked)  # type: ignore[arg-type]

    def places(self, path: Path, names: Sequence[str], target: int | None) -> Places:
        """Return what to read of columns with these names; `target` is the place of the label."""
        label = () if target is None else (names[target],)
        columns, special = self.columns or (), (*label, *self.extra)
        Features(path, unclear_names(names, special)).raise_if_any()
        for name in set(label) & set(self.extra):
            raise InputError(f"{path}: '{name}' is the label column: name another with --target")
        absent = [n for n in (*columns, *self.drop, *self.extra) if n not in names]
        if absent:
            what = "no column" if len(absent) == 1 else "no columns"
            raise InputError(f"{path}: {what} {listed(absent)}; {nearest(absent[0], names)}")
        if len(set(columns)) < len(columns):
            raise InputError(f"{path}: a column is asked for twice: name each one once")
        for name in (*columns, *self.drop):
            if name in label or (name in self.extra and self.labelled):
                advice = ": name another one with --target" if name in label else ""
                what = "is the label column" if name in label else "orders or groups the rows"
                raise InputError(
                    f"{path}: '{name}' {what}: it is not a feature and cannot be left out{advice}"
                )
        wanted = [n for n in names if n not in special] if self.columns is None else columns
        kept = [list(names).index(name) for name in wanted if name not in self.drop]
        if not kept:
            without = " next to " + listed(special) if special else ""
            raise InputError(f"{path}: no feature columns are left{without}")
        extra = [list(names).index(name) for name in self.extra]
        ignored = [name for k, name in enumerate(names) if k not in {target, *kept, *extra}]
        return Places(target, kept, extra, ignored, unclear_names(names, {names[k] for k in kept}))


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
    columns: list[str]  # Names of the d features; places from 1, or svmlight's indices, without.
    target: str
    ignored: list[str]  # What else the file holds; it was not used.
    extra: dict[str, np.ndarray] = field(default_factory=dict)  # Columns (n,), numbers or words.
    zero_based: bool | None = None  # Whether an svmlight file counts from 0; None of other files.
    assumed: bool = False  # Whether it may count either way: no index 0 occurs, and nobody said.
    positive: Label | None = None  # What 1 stands for, by `read_table`.
    negative: Label | None = None  # What 0 stands for; None is "the rest".

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
    read, found = _reader(path)
    return read(found, Selection.of(target))


def read_by_query(path: str | Path, qid: str, target: Selection | str | None = None) -> Table:
    """Read a table whose labels are grades, and the column of queries; "qid" in svmlight."""
    asked = Selection.of(target)
    if _reader(path)[0] is read_svmlight and (qid != "qid" or asked.target is not None):
        raise InputError(f"{path}: an svmlight file has the label first: give --qid qid only")
    if qid == asked.target:
        raise InputError(f"{path}: '{qid}' cannot be both the query and the grade")
    return read_raw(path, replace(asked, extra=(qid,)))


def read_survival(
    path: str | Path, time: str, event: str, features: Selection | None = None
) -> tuple[Table, np.ndarray, np.ndarray]:
    """Read a table with its times and events (n,); an event is 0 or 1, no or yes, false or true."""
    if _reader(path)[0] is read_svmlight:
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
    reader, found = _reader(path)
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


def _reader(path: str | Path) -> tuple[Callable[[Path, Selection], Table], Path]:
    """Return what reads a file, by the ending of its name, and its path."""
    found = existing_file(path)
    for ending, read in _READERS.items():
        if found.name.lower().endswith(ending):
            return read, found
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
    for what, are in (
        ("pipe", (found.is_fifo, found.is_socket)),
        ("device", (found.is_char_device, found.is_block_device)),
    ):
        if any(is_one() for is_one in are):  # a table is read more than once
            raise InputError(
                f"{path}: this is a {what}, which can be read only once: save it in a file, "
                "whose name tells its kind (.csv, .tsv, ...)"
            )
    try:
        with open(found, "rb"):
            return found
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', error)})") from None


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
    Features(path, unclear_names(named(names))).raise_if_any()


# The form that every reader fills, and what it refuses

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


class Features:
    """Makes numbers of cells; the first bad cell of each column is kept, to name all at once.

    `unclear` are columns that their names do not tell apart, and why; text means numbers where it
    is `digits`, else only words for 1 and 0 do.
    """

    def __init__(
        self, path: Path, unclear: Mapping[str, str] | None = None, digits: bool = False
    ) -> None:
        self._path, self._unclear, self._digits = path, unclear or {}, digits
        self._cells: dict[str, str] = {}
        self._advice = {"name each column once": None} if unclear else {}
        self._words: dict[str, tuple[int, str]] = {}
        self.first_row = 0  # The row where names may have been meant, if any.

    def numbers(self, name: str, cells: Cells, rows: Sequence[int]) -> np.ndarray:
        """Return cells of a column, of these rows of the file, as float64; NaN where it is none."""
        if isinstance(cells, np.ndarray):
            held = cells.astype(np.float64, copy=False)
            lost = lost_digits(cells).tolist()
        else:
            held = self._of_text(name, cells, rows)
            large = np.flatnonzero(is_large(held)).tolist()
            lost = [k for k in large if loses_digits(cells[k], held[k])]
        if lost:
            raise InputError(
                f"{self._path}: {str(cells[lost[0]]).strip()[:40]} in column '{name}', row "
                f"{rows[lost[0]]} loses digits in float64: subtract an offset, round it, or drop "
                "the column"
            )
        if name not in self._cells and not np.isfinite(held).all():
            at = int(np.argmin(np.isfinite(held)))
            self._refuse(name, rows[at], str(cells[at]), isinstance(cells, np.ndarray))
        return held

    def _of_text(self, name: str, cells: Sequence[str], rows: Sequence[int]) -> np.ndarray:
        """Read `float` where it can be trusted: it takes `1_000` and foreign digits."""
        text = "".join(cells)
        if self._digits and text.isascii() and "_" not in text:
            with suppress(ValueError):
                return np.array([*map(float, cells)], dtype=float)
        held = np.full(len(cells), np.nan)
        for k, cell in enumerate(cells):
            value, truth = as_number(cell) if self._digits else None, as_truth(cell)
            if truth is not None:
                self._words.setdefault(name, (rows[k], cell))
                value = truth
            if value is not None:
                held[k] = value
        return held

    def _refuse(self, name: str, row: int, text: str, number: bool) -> None:
        if not number and not self._digits and as_number(text) is not None:
            text = f"'{text}'"
        kind = _kind_of(text)
        hint = " (a row of names may hold no numbers)" if row == self.first_row else ""
        self._cells[name] = f"{kind} in column '{name}', row {row}{hint}"
        self._advice[_ADVICE[kind.split()[0]]] = None

    def check(self, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """Return the rows (n, d); refuse bad cells, and words among numbers other than 0 and 1."""
        self.raise_if_any()
        for name, (row, text) in self._words.items():
            if not np.isin(X[:, names.index(name)], (0.0, 1.0)).all():
                raise InputError(
                    f"{self._path}: column '{name}' holds words like {text.strip()[:20]!r} "
                    f"(row {row}) and numbers other than 0 and 1: write one or the other, or drop "
                    "the column"
                )
        return X

    def raise_if_any(self) -> None:
        """Raise one `InputError` on all that was refused."""
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
    refused = Features(path, digits=True)
    refused.numbers(column, [text], [row])
    refused.raise_if_any()
    raise AssertionError


def finite_rows(path: Path, X: np.ndarray, columns: list[str]) -> np.ndarray:
    """Return X as float64 in C order (itself if it is); refuse other types, no rows, NaN, inf."""
    if X.dtype.kind not in "biuf":
        raise InputError(f"{path}: 'X' must hold numbers, not {X.dtype}")
    if 0 in X.shape:
        raise InputError(f"{path}: 'X' has shape {X.shape}: there is nothing to read")
    found = Features(path)
    for start in range(0, len(X), ROWS):
        block = X[start : start + ROWS]
        if X.dtype != np.float64 or not np.isfinite(block).all():
            for k, name in enumerate(columns):
                found.numbers(name, block[:, k], range(start + 1, start + 1 + len(block)))
    return found.check(np.ascontiguousarray(X, dtype=np.float64), columns)


def read_blocks(
    path: Path,
    names: Sequence[str],
    places: Places,
    features: Features,
    blocks: Iterable[tuple[Sequence[int], Callable[[int], Cells]]],
) -> tuple[Table, list[LabelColumn]]:
    """Return a table of blocks: the rows of each in the file, and its cells by column.

    With it come the columns that are not features, the label first.
    """
    special = [*([] if places.target is None else [places.target]), *places.extra]
    others = [
        LabelColumn(f"{path}, column '{names[k]}'", limited=k == places.target) for k in special
    ]
    columns, values = [names[k] for k in places.features], array("d")
    for rows, cells in blocks:
        for k, other in zip(special, others, strict=True):
            other.extend(cells(k), rows)
        block = np.empty((len(rows), len(columns)))
        for at, k in enumerate(places.features):
            block[:, at] = features.numbers(names[k], cells(k), rows)
        values.frombytes(block.tobytes())
    if not values:
        raise InputError(f"{path}: no rows")
    X = features.check(np.frombuffer(values).reshape(-1, len(columns)), columns)
    found = [other.labels() for other in others]
    labels = Labels.none() if places.target is None else found.pop(0)
    extra = {names[k]: one.of_rows() for k, one in zip(places.extra, found, strict=True)}
    label = "" if places.target is None else names[places.target]
    return Table(X, labels, columns, label, places.ignored, extra), others


# CSV


def opened(path: Path, text: bool = True) -> Any:
    """Open UTF-8 text, or bytes, through gzip where the name ends in `.gz`."""
    openers: Any = gzip.open if path.suffix.lower() == ".gz" else open
    more = {"encoding": "utf-8-sig", "newline": ""} if text else {}
    return openers(path, "rt" if text else "rb", **more)


def csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of each row that is not blank."""
    with damage_reported(path, "gzip", *GZIP_ERRORS), opened(path) as text:
        try:
            reader = csv.reader(text, delimiter=_delimiter(path), strict=True)
            for row in reader:
                if len(row) > 1 or (row and row[0].strip()):
                    yield reader.line_num, row
        except UnicodeDecodeError:
            raise _not_utf8(path) from None
        except csv.Error as error:
            raise InputError(f"{path}: row {reader.line_num} cannot be split: {error}") from None


def _not_utf8(path: Path) -> InputError:
    """Name the first line that is not UTF-8 (the decoder only knows its place in a block)."""
    with opened(path, text=False) as file:
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
    with opened(path) as text:
        first = next((line for line in text if line.strip()), "")
    return next((mark for mark in ",;\t" if mark in first), ",")


def csv_columns(path: Path, header: bool | None = None) -> tuple[list[str], bool]:
    """Names of all columns (`named`), and whether the first row holds them: `header` decides it."""
    first = next((row for _, row in csv_rows(path)), None)
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
    places = asked.places(path, names, place)
    features = Features(path, places.unclear, digits=True)
    blocks = _csv_blocks(path, len(names), has_header, features)
    table, others = read_blocks(path, names, places, features, blocks)
    guessed = has_header and asked.header is None and as_number(table.target) is None
    if guessed and table.target and table.target in others[0].table:
        raise InputError(
            f"{path}: '{table.target}' in row 1 is also a label further down: are these names or "
            "data? Write a first row of names"
        )
    return table


def _csv_blocks(
    path: Path, width: int, has_header: bool, features: Features
) -> Iterator[tuple[Sequence[int], Callable[[int], Cells]]]:
    """Yield the lines of some rows, and their columns; 2 microseconds a row of 4."""
    rows, most = csv_rows(path), max(1, CELLS // width)
    if has_header:
        next(rows)
    lines: list[int] = []
    held: list[list[str]] = []
    for line, row in rows:
        if len(row) != width:
            fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
            raise InputError(f"{path}: row {line} has {fields}, the rows above have {width}")
        features.first_row = features.first_row or (-1 if has_header else line)
        lines.append(line)
        held.append(row)
        if len(lines) == most:
            yield lines, [*zip(*held, strict=True)].__getitem__
            lines, held = [], []
    if lines:
        yield lines, [*zip(*held, strict=True)].__getitem__


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
    inside = tuple(name for name in asked.extra if name in columns)
    extra = {name: X[:, columns.index(name)] for name in inside}
    for name in [name for name in asked.extra if name not in inside]:
        if name in ("X", target, "feature_names") or name not in arrays:
            near = nearest(name, [*columns, *held], "columns and arrays")
            raise InputError(f"{path}: no column or array '{name}'; {near}")
        if arrays[name].shape != y.shape:
            raise InputError(f"{path}: array '{name}' must have shape ({len(y)},)")
        extra[name] = arrays[name]
    places = replace(asked, extra=inside).places(path, columns, None)
    rows = X[:, places.features] if places.ignored or inside or asked.columns else X
    kept = [columns[k] for k in places.features]
    return Table(
        finite_rows(path, rows, kept),
        Labels.of(y, f"{path}, array '{target}'") if asked.labelled else Labels.none(),
        kept,
        target,
        [name for name in held if name not in read] + places.ignored,
        {k: Labels.of(v, f"{path}, column '{k}'", False).of_rows() for k, v in extra.items()},
    )


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
        _refuse_line(path, queries)
        raise InputError(f"{path}: damaged, or not a readable svmlight file ({error})") from None
    X, y = found[:2]
    if X.shape[0] == 0:
        raise InputError(f"{path}: the file is empty")
    if X.nnz == 0:
        raise InputError(f"{path}: no feature columns: no line has an index:value pair")
    numbers = np.concatenate([X.data, y])
    if not np.isfinite(numbers).all() or is_large(numbers).any() or _is_unusual(path):
        _refuse_line(path, queries)
    what = f"{path}: its largest index makes {X.shape[1]:,} features"
    check_room(what, BYTES_A_FEATURE * X.shape[1], "number the features that occur from 1")
    X, base, assumed = _based(path, X, asked)
    columns, ignored = [str(k) for k in range(base, base + X.shape[1])], []
    if asked.columns is not None or asked.drop:
        places = replace(asked, extra=()).places(path, columns, None)
        X, ignored = X[:, places.features], places.ignored
        columns = [columns[k] for k in places.features]
    shape = (X.shape[0], max(asked.width or 0, X.shape[1]))
    return Table(
        sp.csr_array((X.data, X.indices, X.indptr), shape=shape),
        Labels.of(y, f"{path}, labels"),
        columns,
        "label",
        ignored,
        {"qid": np.asarray(found[2])} if queries else {},
        base == 0,
        assumed,
    )


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
    with damage_reported(path, "gzip", *GZIP_ERRORS), opened(path, text=False) as file:
        for row, raw in enumerate(file, start=1):
            fields = raw.partition(b"#")[0].decode("utf-8", errors="replace").split()
            if fields:
                _check_line(path, row, fields, queries)


def _check_line(path: Path, row: int, fields: list[str], queries: bool) -> None:
    """Raise unless it is a number, a query `qid:number` if there are some, and `index:value`."""
    (first, *pairs), where, last = fields, f"{path}: row {row}", -1
    features, label = Features(path, digits=True), as_number(first)
    if label is None or not np.isfinite(label):
        raise InputError(f"{where} starts with {first[:40]!r}, not with a number")
    features.numbers("label", [first], [row])
    if queries:
        name, _, number = (pairs.pop(0) if pairs else "").partition(":")
        if name != "qid" or not number:
            raise InputError(f"{where} has no query group: write qid:number after the label")
        if not (number.isascii() and number.isdigit() and int(number) < 1 << 63):
            raise InputError(f"{where}: the query group {number[:40]!r} is not a whole number")
    for pair in pairs:
        index, colon, value = pair.partition(":")
        if index == "qid" and colon:
            raise InputError(
                f"{where} has a query group ({pair[:40]}): name it with --qid qid to rank "
                "within groups; without, all rows would be ranked as one group"
            )
        if not (colon and index.isascii() and index.isdigit() and as_number(value) is not None):
            raise InputError(f"{where} holds {pair[:40]!r} where index:value is needed")
        features.numbers(index, [value], [row])
        features.raise_if_any()
        if int(index) <= last:
            raise InputError(f"{where}: index {index} comes after {last}, sort the indices")
        last = int(index)


def _is_unusual(path: Path) -> bool:
    """Whether `1_000` may occur, which Python reads as a number, or `qid:1`, which is skipped."""
    with opened(path, text=False) as file:
        blocks = iter(lambda: file.read(1 << 20), b"")
        return any(b"_" in block or b"q" in block for block in blocks)


# Parquet


@contextmanager
def open_parquet(path: str, pre_buffer: bool = True) -> Iterator[Any]:
    """Open a file with page checksums checked, through fsspec one of "s3://" and the like."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"{path}: reading Parquet needs pyarrow: install aucert[parquet]"
        ) from None
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
        features = Features(path, places.unclear)
        features.raise_if_any()
        special = [*([] if place is None else [place]), *places.extra]
        for k in [*special, *places.features]:
            check_type(path, names[k], kinds[k], label=k in special)

        def blocks() -> Iterator[tuple[Sequence[int], Callable[[int], Cells]]]:
            start, read = 1, [names[k] for k in [*special, *places.features]]
            for batch in file.iter_batches(batch_size=ROWS, columns=read):
                rows = range(start, start + batch.num_rows)
                yield rows, lambda k, batch=batch: cells_of(batch.column(names[k]))
                start += batch.num_rows

        return read_blocks(path, names, places, features, blocks())[0]


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
    return column.is_null().index(True).as_py()


def cells_of(column: Any) -> Cells:
    """Return a part of a column as text or as numbers, NaN where one is missing."""
    from pyarrow import types

    if is_words(column.type):
        return ["" if cell is None else str(cell) for cell in column.to_pylist()]
    if types.is_decimal(column.type) or column.null_count:
        held = numbers_of(column.cast("float64", safe=False).fill_null(np.nan))
        return np.array(column.to_pylist(), dtype=object) if is_large(held).any() else held
    return numbers_of(column)


def numbers_of(column: Any) -> np.ndarray:
    """Return a column of numbers without missing ones; pyarrow's `to_numpy` would load pandas."""
    from pyarrow import types

    if types.is_boolean(column.type):
        return np.from_dlpack(column.cast("uint8")).astype(bool)
    return np.from_dlpack(column)


_TEXT: dict[str, Callable[[Path, Selection], Table]] = {".csv": read_csv, ".tsv": read_csv}
_TEXT |= dict.fromkeys(SVMLIGHT, read_svmlight)
_READERS: dict[str, Callable[[Path, Selection], Table]] = {
    name: read for ending, read in _TEXT.items() for name in (ending, f"{ending}.gz")
} | {".npz": read_npz, ".parquet": read_parquet}
