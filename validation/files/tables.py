"""Tables that users have on disk: rows, labels, and columns that order or group the rows. The
ending of a name chooses the reader: `.csv` and `.tsv`, `.npz`, `.parquet` (with the optional
pyarrow), and svmlight as `.svmlight`, `.libsvm`, `.svm` or `.txt`. Text may be gzipped, with `.gz`
after its own ending. Nothing is guessed about bad values: missing ones, infinite ones and text are
refused, with their column and row (from 1; a line where a file has lines)."""

from __future__ import annotations

import codecs
import csv
import gzip
import math
import os
import re
import shlex
import sys
import zipfile
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.lib.npyio import NpzFile

from ...exact.errors import InputError, TooLargeError, meant
from ...exact.tools.arrays import EXACT, is_large, loses_digits, lost_digits
from .labels import SHOWN, Cells, Label, Labels, as_number, is_missing, listed, two_classes
from .written import csv_text

CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}  # in any case of letters
SVMLIGHT = (".txt", ".libsvm", ".svm", ".svmlight")  # endings, and each with `.gz`
ROWS = 65_536  # Rows of numbers that are checked or read at a time.
CELLS = 8192  # Cells of text that are held at a time.
BYTES_A_FEATURE = 150  # A name, and about ten vectors of weights while a problem is solved.

Fault = tuple[str, str]  # What is wrong with a column, and what to do about it.
# Some rows after others: their numbers in the file, and their cells by the names of the columns;
# those of the label stand under None, and under (name,) what is copied as the file has it.
Blocks = Iterable[tuple[Sequence[int], Mapping[Any, Any]]]


def check_room(what: str, size: int, do: str) -> None:
    """Raise if something is larger than the memory of the machine, or of its container."""
    limits = list[int]()
    with suppress(AttributeError, ValueError):  # not every system knows both
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in CGROUP_LIMITS:
        with suppress(OSError, ValueError):  # "max" means without a limit
            limits.append(int(Path(path).read_text()))
    limit = min((known for known in limits if known > 0), default=size)
    if size > limit:
        need, had = (f"{count / 2**30:.4g} GiB" for count in (size, limit))
        raise TooLargeError(f"{what}: {need} of memory, where {had} can be had: {do}")


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
    extra: tuple[str, ...] = ()  # Columns that order or group rows; kept ones without labels.

    def table(
        self, path: Path, names: list[str], apart: bool = False, faults: Mapping[str, Fault] = {}
    ) -> Table:
        """Return the table to be read of columns with these names, some of which have faults. The
        label, and what else has no such name, may be `apart` from them."""
        columns, label = self.columns or (), names[-1:] if self.target is None else [self.target]
        label = label if self.labelled and not apart else []
        extra = [name for name in self.extra if name in names or not apart]
        special = [*label, *extra]
        if self.target is None and any(isinstance(name, Unnamed) for name in label):
            do = f"name the label with --target, and leave this one out with --drop '{label[0]}'"
            raise InputError(f"{path}: the last column, taken for the label, has no name: {do}")
        known = {*names}
        absent = [name for name in (*special, *columns, *self.drop) if name not in known]
        if absent:
            raise InputError(f"{path}: no column {listed(absent)}; {nearest(absent[0], names)}")
        unclear = unclear_names(names)
        found = {**unclear, **faults}
        # Columns that are copied next to scores may hold anything, dates too.
        refuse_needed(path, map((found if self.labelled else unclear).get, special))
        if len(set(columns)) < len(columns):
            raise InputError(f"{path}: a column is asked for twice: name each one once")
        for name in special if self.labelled else []:
            if special.count(name) > 1 or name in (*columns, *self.drop):
                what = "is the label column (see --target), or orders or groups the rows"
                do = "it cannot be both, or a feature, or left out"
                raise InputError(f"{path}: '{name}' {what}: {do}")
        wanted = columns if self.columns is not None else [k for k in names if k not in special]
        wanted = [name for name in wanted if name not in self.drop]
        if not wanted:
            without = f" next to {listed(special)}" if special else ""
            text = len(names) == 1 and path.name.lower().endswith((".csv", ".tsv", ".gz"))
            do = ": separate columns by commas, semicolons or tabs" if text else ""
            raise InputError(f"{path}: no feature columns are left{without}{do}")
        taken = {*wanted}
        ignored = [name for name in names if name not in taken and name not in special]
        features = [name for name in wanted if name not in found]
        bad = {name: why for name, why in found.items() if name in taken}
        return Table(features, label[0] if label else "", dict.fromkeys(extra), ignored, bad)


EVERYTHING = Selection()


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a table, and its rows (n, d), float64 or CSR, when they have been read."""

    columns: list[str]  # Names of the d features; places from 1, or svmlight's indices, without.
    target: str  # The name of the label, nothing where none is read.
    # Columns (n,), numbers or words; without labels lists of cells as they are, None for no value.
    extra: dict[str, Any]
    ignored: list[str]  # What else the file holds; it was not used.
    faults: dict[str, Fault]  # What is wrong with features that cannot be read.
    X: Any = None
    labels: Labels = Labels([], np.empty(0, int))  # noqa: RUF009
    zero_based: bool | None = None  # Whether an svmlight file counts from 0; None of other files.
    assumed: bool = False  # Whether it may count either way: no index 0 occurs, and nobody said.
    positive: Label | None = None  # What 1 stands for, by `read_table`.
    negative: Label | None = None  # What 0 stands for; None is "the rest".


def as_numbers(values: np.ndarray, path: str | Path, what: str) -> np.ndarray:
    """Return a column of numbers, or of words for 1 and 0, as float64 (n,)."""
    column = Numbers(what, digits=True)
    cells = values.tolist() if values.dtype.kind == "U" else values
    held = column.of(cells, range(1, len(values) + 1))
    for at in np.flatnonzero(~np.isfinite(held)):
        bad = f"the {what} {str(values[at])!r} of data row {at + 1}"
        raise InputError(f"{path}: {bad} cannot be used as a number")
    refuse_needed(path, [column.bad])
    return held


def read_table(
    path: str | Path, asked: Selection = EVERYTHING, positive: object = None
) -> tuple[Any, np.ndarray, Table]:
    """Read a data file into rows and labels 0 and 1."""
    table = read_raw(path, asked)
    y, one, zero = two_classes(table.labels, positive, f"{path}, column '{table.target}'")
    return table.X, y, replace(table, positive=one, negative=zero)


def read_raw(path: str | Path, asked: Selection = EVERYTHING) -> Table:
    read, found = _reader(path)
    return read(found, asked)


def column_names(path: str | Path, header: bool | None = None) -> list[str] | None:
    """Return the names of the columns of a file, or None where it has none."""
    read, found = _reader(path)
    if read is read_parquet:
        with open_parquet(str(found)) as file:
            return called(file.schema_arrow.names)
    if read is read_npz:
        held = read_arrays(found, ("feature_names",)).get("feature_names")
        return None if held is None else held.astype(str).tolist()
    names, has_header = csv_columns(found, header) if read is read_csv else ([], False)
    return names if has_header else None


def _reader(path: str | Path) -> tuple[Callable[[Path, Selection], Table], Path]:
    """Return what reads a file, by the ending of its name, and its path."""
    found = existing_file(path)
    for ending, read in _READERS.items():
        if found.name.lower().endswith(ending):
            return read, found
    raise InputError(f"{path}: the name must end in one of {', '.join(_READERS)}")


def existing_file(path: str | Path) -> Path:
    """Return the path of a file that can be opened, or raise `InputError`."""
    found = Path(path)
    if found.is_dir():
        raise InputError(f"{path}: this is a folder, a file is needed")
    if str(path) == "-" or (found.exists() and not found.is_file()):
        do = "save it in a file, whose name says its kind (.csv, .tsv, ...)"
        raise InputError(f"{path}: a pipe or a device can be read only once: {do}")
    try:
        with open(found, "rb"):
            return found
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', error)})") from None


@contextmanager
def damage_reported(path: str | Path, kind: str, *errors: type[Exception]) -> Iterator[None]:
    """Turn a reader's own errors into one `InputError`; those of ours pass."""
    try:
        yield
    except InputError:
        raise
    except errors as error:
        detail = " ".join(str(error).split()).rstrip(".")[:200]
        if "allow_pickle" in detail:  # numpy's advice would have a stranger's code run
            detail = "it holds Python objects, which are never read"
        raise InputError(f"{path}: damaged, or not a readable {kind} ({detail})") from None


# How text begins that is not UTF-8; UTF-32 begins as UTF-16 does.
_CODINGS = {
    codecs.BOM_UTF32_LE: "UTF-32", codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16",
}  # fmt: skip


def text_lines(path: Path) -> Iterator[str]:
    """Yield the lines of UTF-8 text, with their ends."""
    coding = {"encoding": "utf-8-sig", "errors": "surrogateescape", "newline": ""}
    damaged = damage_reported(path, "gzip file", gzip.BadGzipFile, EOFError, zlib.error)
    opened: Any = gzip.open if path.suffix.lower() == ".gz" else open
    with damaged, opened(path, "rt", **coding) as file:
        for row, line in enumerate(file, start=1):
            if not line.isascii() and re.search("[\udc80-\udcff]", line):
                head = line[:4].encode(errors="surrogateescape")
                known = (_CODINGS[mark] for mark in _CODINGS if head.startswith(mark))
                do = f"save the file as UTF-8 (iconv -f {next(known, 'latin1')} -t utf-8 OLD > NEW)"
                do += ", or let its name end as its kind does"
                raise InputError(f"{path}: row {row} is not UTF-8 text: {do}")
            yield line


class Unnamed(str):
    """What a column without a name is called; a name that reads so is none of these."""

    __slots__ = ()


def called(fields: Iterable[str]) -> list[str]:
    """Return the names of columns: one without a name is called by its place, "column 1"."""
    return [name or Unnamed(f"column {place}") for place, name in enumerate(fields, start=1)]


def unclear_names(names: Sequence[str]) -> dict[str, Fault]:
    """Return which columns their names do not tell apart."""
    found: dict[str, Fault] = {}
    for name, times in Counter(names).items():
        if isinstance(name, Unnamed):
            found[name] = f"{name} has no name in row 1", "name each column once"
        elif times > 1:
            found[name] = f"two columns are called '{name}'", "name each column once"
    return found


def nearest(name: str, names: Collection[str], what: str = "columns") -> str:
    """Ask whether one of the nearest names was meant, or list the first ones."""
    return meant(name, names).strip(" ()") or f"the {what} are {listed(names) or 'none'}"


def option_of(names: Iterable[str]) -> str:
    """Return names as `--drop` and `--columns` read them: one with a comma between quotes."""
    return csv_text([names]).removesuffix("\n")


class Numbers:
    """Makes float64 of the cells of one column, and keeps what is wrong first. Text means numbers
    where it is `digits`, else only words for 1 and 0 do."""

    def __init__(self, name: str, digits: bool = False) -> None:
        self.name, self.digits = name, digits
        self.bad: Fault | None = None
        self._words = ""  # What is said of the first word for 1 or 0.
        self._others = False  # Whether text meant numbers other than these.

    def of(self, cells: Cells, rows: Sequence[int]) -> np.ndarray:
        """Return the cells of these rows of the file (m,); NaN where one is not a number."""
        if numeric := isinstance(cells, np.ndarray):
            with np.errstate(over="ignore"):
                held, lost = cells.astype(float, copy=False), lost_digits(cells).tolist()
        else:
            held = self._of_text(cells, rows)
            if not self._others:
                self._others = bool(((held != 0.0) & (held != 1.0)).any())
            large = np.flatnonzero(is_large(held)).tolist()
            lost = [k for k in large if loses_digits(cells[k], held[k])]
        if self.bad is None and (lost or not np.isfinite(held).all()):
            at = lost[0] if lost else int(np.argmin(np.isfinite(held)))
            (what, do), then = fault(str(cells[at]), self.digits or numeric), ""
            if lost:
                what, then = str(cells[at]).strip()[:40], " loses digits in float64"
                do = "subtract an offset or round it"
            if lost and np.isinf(held[at]):
                then, do = " overflows float64", "rescale it"
            self.bad = f"{what} in column '{self.name}', row {rows[at]}{then}", do
        elif self.bad is None and self._words and self._others:
            what = f"column '{self.name}' holds {self._words} and numbers other than 0 and 1"
            self.bad = what, "write one or the other"
        return held

    def _of_text(self, cells: Sequence[str], rows: Sequence[int]) -> np.ndarray:
        text = "".join(cells)
        if self.digits and text.isascii() and "_" not in text:  # else `float` takes more: `1_000`
            with suppress(ValueError):
                return np.array([*map(float, cells)], dtype=float)
        held = []
        for row, cell in zip(rows, cells, strict=True):
            truth = _WORDS.get(cell.strip().lower())
            if truth is not None and not self._words:
                self._words = f"words like {cell.strip()[:20]!r} (row {row})"
            held.append(as_number(cell) if truth is None and self.digits else truth)
        return np.array(held, dtype=float)  # NaN for None


def fault(text: str, digits: bool = True) -> Fault:
    """Return what is wrong with a cell that is not a finite number, and what to do about it."""
    value = as_number(text) if digits else None
    if is_missing(text) or (value is not None and math.isnan(value)):
        return "missing value", "fill in missing values"
    if value is not None:
        return "infinite value", "replace infinite values"
    do = "encode text as numbers with a decimal point, or name it with --target if it is the label"
    return f"text {text.strip()[:40]!r}", do


class BadColumnsError(InputError):
    """Features that cannot be used: what is wrong, and what `--drop` would leave out."""

    wrong = ""


def refuse(
    path: str | Path, faults: Mapping[str, Fault], columns: Iterable[Numbers] = (), hint: str = ""
) -> None:
    """Raise one error on all features that have a fault, if any; `--drop` leaves them out."""
    found = {**faults, **{column.name: column.bad for column in columns if column.bad is not None}}
    if found:
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        reasons = "; ".join(what for what, _ in [*found.values()][:SHOWN]) + more
        advice = ", ".join(dict.fromkeys(do for _, do in found.values()))
        wrong, drop = f"{path}: {reasons}{hint}: {advice}", shlex.quote(option_of(found))
        error = BadColumnsError(f"{wrong}, or leave columns out with --drop {drop}")
        error.wrong = wrong
        raise error


def refuse_needed(path: str | Path, faults: Iterable[Fault | None]) -> None:
    """Raise the first fault, if any, of columns that cannot be left out."""
    for what, do in filter(None, faults):
        raise InputError(f"{path}: {what}: {do}")


def filled(path: Path, table: Table, blocks: Blocks, digits: bool = False, hint: str = "") -> Table:
    """Return a table with its labels and other columns, and with its rows unless it has them. Text
    means numbers where it is `digits`; `hint` is for bad cells."""
    labelled = bool(table.target)
    others: dict[Any, list[Any]] = {name: [] for name in table.extra}
    others |= {None: []} if labelled else {}
    features = [Numbers(name, digits) for name in table.columns]
    values, lines, found = array("d"), array("q"), dict[Any, Any]()
    finite = table.X is not None and bool(np.isfinite(table.X).all())
    for rows, columns in blocks:
        lines.extend(rows)
        for name, parts in others.items():
            cells = columns[name,] if (name,) in columns else columns[name]
            words = labelled and not isinstance(cells, np.ndarray)
            parts.append([*map(sys.intern, cells)] if words else cells)
        if table.X is None:
            block = [column.of(columns[column.name], rows) for column in features]
            values.frombytes(np.array(block, dtype=float).T.tobytes())
            continue
        for column in features:
            if not (finite and columns[column.name].dtype == np.float64):
                column.of(columns[column.name], rows)
    if not lines:
        raise InputError(f"{path}: no rows")
    refuse(path, table.faults, features, hint)
    for name, parts in others.items():
        numbers = isinstance(parts[0], np.ndarray)
        cells: Any = np.concatenate(parts) if numbers else [*chain(*parts)]
        where = f"{path}, column '{table.target if name is None else name}'"
        if labelled:
            found[name] = Labels.of(cells, where, name is None, lines)
        else:
            found[name] = cells.tolist() if numbers else cells
    if table.X is None:
        table = replace(table, X=np.frombuffer(values).reshape(len(lines), len(features)))
    if labelled:
        table = replace(table, labels=found.pop(None))
        found = {name: _of_rows(labels) for name, labels in found.items()}
    return replace(table, extra=found)


def _of_rows(labels: Labels) -> np.ndarray:
    """Return a column (n,) of words, or of numbers as float64 where that holds them."""
    held = labels.written()
    return held if held.dtype.kind == "U" or lost_digits(held).size else held.astype(float)


def csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of each row that is not blank. A comma, semicolon or tab
    in the first line is what separates; with `.tsv` it is the tab."""
    mark = "\t"
    if not path.name.lower().removesuffix(".gz").endswith(".tsv"):
        first = next((line for line in text_lines(path) if line.strip()), "")
        mark = next((mark for mark in ",;\t" if mark in first), ",")
    reader = csv.reader(text_lines(path), delimiter=mark, strict=True)
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):
                yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{path}: row {reader.line_num} cannot be split: {error}") from None


def csv_columns(path: Path, header: bool | None = None) -> tuple[list[str], bool]:
    """Return the names of all columns, and whether the first row holds them (as `header` says)."""
    first = next((row for _, row in csv_rows(path)), None)
    if first is None:
        raise InputError(f"{path}: the file is empty")
    if any("\0" in field for field in first):
        raise InputError(f"{path}: zero bytes in row 1: no text, save it as CSV in UTF-8")
    fields = [field.strip() for field in first]
    if header is None:  # see `read_csv`: a text label must not turn the first row into names
        numbers = [field for field in fields if as_number(field) is not None]
        if numbers and len(numbers) == len(fields) < 3 and are_places(fields):
            either = f"row 1 ({','.join(fields)}) may be names of columns or data"
            raise InputError(f"{path}: {either}: say --header yes or --header no")
        header = not numbers or (len(numbers) > 1 and are_places(numbers))
    return (called(fields) if header else [str(k + 1) for k in range(len(fields))]), header


def are_places(fields: list[str]) -> bool:
    """Return whether each cell is its own position, as in the header 0, 1, 2 that pandas writes."""
    return fields == [str(k) for k in range(len(fields))]


def read_csv(path: Path, asked: Selection) -> Table:
    """Read a `.csv` or `.tsv` file of finite numbers and columns of labels. The first row holds
    names if none of its fields is a number, or if the numbers among them are 0, 1, 2, ..., as
    pandas numbers columns; a first row 0 or 0,1 is refused unless `header` says. true, yes, false
    and no mean 1 and 0 in columns of nothing else."""
    names, has_header = csv_columns(path, asked.header)
    table, width = asked.table(path, names), len(names)

    def blocks() -> Blocks:  # 2 microseconds a row of 4
        rows = islice(csv_rows(path), int(has_header), None)
        while held := [*islice(rows, max(1, CELLS // width))]:
            for line, row in held:
                if len(row) != width:
                    fields = f"{len(row)} fields" if len(row) > 1 else "1 field"
                    raise InputError(f"{path}: row {line} has {fields} where {width} are expected")
            lines, fields = zip(*held, strict=True)
            cells = dict(zip(names, zip(*fields, strict=True), strict=True))
            yield lines, cells | {None: cells.get(table.target)}

    hint = "" if has_header else " (row 1 was not read as names: they may hold no numbers)"
    found = filled(path, table, blocks(), True, hint)
    guessed = has_header and asked.header is None and as_number(found.target) is None
    if guessed and found.target in found.labels.values:
        do = "is also a label further down: write a first row of names, or say --header no"
        raise InputError(f"{path}: '{found.target}' in row 1 {do}")
    return found


NPZ_ERRORS = (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, RuntimeError)


def read_arrays(path: Path, wanted: Collection[str] = ()) -> dict[str, Any]:
    """Read arrays of an npz file (all if none are named), never a pickled object; None for those
    that are there and not wanted."""
    arrays: dict[str, Any] = {}
    opened = damage_reported(path, "npz file", *NPZ_ERRORS)
    with opened, open(path, "rb") as file, NpzFile(file, allow_pickle=False) as archive:
        for info in archive.zip.infolist():  # type: ignore[union-attr]
            name = info.filename.removesuffix(".npy")
            arrays[name] = None
            if wanted and name not in wanted:
                continue
            check_room(f"{path}, array '{name}'", info.file_size, "take a part of it")
            # An array that is said to be larger than the file holds may not fit into memory.
            with damage_reported(path, f"array '{name}'", *NPZ_ERRORS, MemoryError):
                arrays[name] = archive[name]
                if not isinstance(arrays[name], np.ndarray):  # other members are bytes
                    raise ValueError("not an array")
    return arrays


def read_npz(path: Path, asked: Selection, arrays: Mapping[str, Any] | None = None) -> Table:
    """Read the arrays `X` (n, d) and `y` (n,), or another label array, of an npz file.
    `feature_names` (d,) names the columns. Other columns are among these, or own arrays. Arrays
    that have been read may be given."""
    target = "y" if asked.target is None else asked.target
    if arrays is None:
        arrays = read_arrays(path, {"X", target, "feature_names", *asked.extra})
    needed = ["X", target] if asked.labelled else ["X"]
    for name in needed:
        if name not in arrays:
            raise InputError(f"{path}: no array '{name}'; {nearest(name, arrays, 'arrays')}")
    X = arrays["X"]
    if X.ndim != 2 or not len(X):
        raise InputError(f"{path}: 'X' must have shape (n, d), with n > 0, not {X.shape}")
    if X.dtype.kind not in "biuf":
        raise InputError(f"{path}: 'X' must hold numbers, not {X.dtype}")
    columns = feature_names(arrays, X.shape[1], path)
    own = {k: x for k, x in arrays.items() if k not in (*needed, "feature_names")}
    cells: dict[Any, Any] = own | {name: X[:, k] for k, name in enumerate(columns)}
    cells |= {None: arrays[target]} if asked.labelled else {}
    for name in asked.extra:
        if name not in cells:
            near = nearest(name, [*columns, *arrays], "columns and arrays")
            raise InputError(f"{path}: no column or array '{name}'; {near}")
    for name in (*asked.extra, *([None] if asked.labelled else [])):
        if cells[name].shape != X.shape[:1]:
            shape = f"'{target if name is None else name}' has shape {cells[name].shape}"
            raise InputError(f"{path}: 'X' has shape {X.shape} and {shape}")
    table = asked.table(path, columns, apart=True)
    rows = X
    if table.columns != columns:
        rows = X[:, [columns.index(name) for name in table.columns]]
    with np.errstate(over="ignore"):  # as it is, where that is how it is
        rows = np.ascontiguousarray(rows, dtype=np.float64)
    ignored = [name for name in own if name not in asked.extra] + table.ignored
    label, extra = target if asked.labelled else "", dict.fromkeys(asked.extra)
    table = replace(table, X=rows, target=label, extra=extra, ignored=ignored)
    return filled(path, table, [(range(1, len(X) + 1), cells)])


def feature_names(arrays: Mapping[str, Any], d: int, path: str | Path) -> list[str]:
    """Return the names of d columns, "1" to "d" where `feature_names` is not text. Names that do
    not fit, are empty or occur twice are refused."""
    names = arrays.get("feature_names")
    if names is None or names.dtype.kind != "U":
        return [str(k) for k in range(1, d + 1)]
    if names.shape != (d,):
        raise InputError(f"{path}: 'feature_names' has shape {names.shape}, X has {d} columns")
    found = called(names.tolist())
    refuse_needed(path, unclear_names(found).values())
    return found


def read_svmlight(path: Path, asked: Selection) -> Table:
    """Read an svmlight file (`label index:value ... # comment` a line) into CSR. Indices count from
    0 if index 0 occurs, else from 1, unless `zero_based` says which. With "qid" asked for, each
    line has its query group, `label qid:number index:value ...`; else none may."""
    queries = asked.extra == ("qid",)
    if asked.target is not None or (asked.extra and not queries):
        first = "a label, which is the target, and then its query group, --qid qid"
        raise InputError(f"{path}: svmlight has no names of columns: {first}")
    named_so = " (by its name this is svmlight: the name of a table ends in .csv or .tsv)"
    y, groups, values = array("d"), array("q"), array("d")
    indices, ends, found = array("q"), array("q", [0]), dict[int, Numbers]()
    for row, line in enumerate(text_lines(path), start=1):
        label, *pairs = line.partition("#")[0].split() or [""]
        if not label:
            continue
        where, last, number = f"{path}: row {row}", -1, as_number(label)
        if number is None:
            raise InputError(f"{where} starts with {label[:40]!r}, not with a number{named_so}")
        if not abs(number) < EXACT:
            column = Numbers("label", digits=True)
            column.of([label], [row])
            refuse_needed(path, [column.bad])
        y.append(number)
        group = pairs.pop(0) if pairs and pairs[0].startswith("qid:") else ""
        if group and not queries:
            ranked = "--qid qid ranks within groups; without, all rows would be one group"
            raise InputError(f"{where} has a query group ({group[:40]}): {ranked}")
        if queries:
            if not re.fullmatch("qid:[0-9]{1,18}", group):
                need = "its query group must be qid: and a whole number"
                raise InputError(f"{where} has {group[:40]!r} after the label: {need}")
            groups.append(int(group[4:]))
        for pair in pairs:
            index, _, value = pair.partition(":")
            held = as_number(value)
            if held is None or len(index) > 18 or not (index.isascii() and index.isdigit()):
                raise InputError(f"{where} holds {pair[:40]!r}, not index:value{named_so}")
            if int(index) <= last:
                raise InputError(f"{where}: index {index} comes after {last}, sort the indices")
            last = int(index)
            if not abs(held) < EXACT:
                found.setdefault(last, Numbers(str(last), digits=True)).of([value], [row])
            indices.append(last)
            values.append(held)
        ends.append(len(values))
    if not y:
        raise InputError(f"{path}: the file is empty")
    if not values:
        raise InputError(f"{path}: no feature columns: no line has an index:value pair")
    least, largest = min(indices), max(indices)
    what = f"{path}: its largest index makes {largest + 1:,} features"
    do = "number the features that occur from 1, unless the file is damaged"
    check_room(what, BYTES_A_FEATURE * (largest + 1), do)
    if least == 0 and asked.zero_based is False:
        do = "say --zero-based yes if they count from 0 in this file"
        raise InputError(f"{path}: index 0 occurs, where indices count from 1: {do}")
    base = 0 if least == 0 or asked.zero_based else 1
    columns, partial = [str(k) for k in range(base, largest + 1)], asked.columns or asked.drop
    faults = {str(k): bad for k, column in sorted(found.items()) if (bad := column.bad)}
    table = Table(columns, "", {}, [], faults)
    if partial:
        table = asked.table(path, columns, True, faults)
    refuse(path, table.faults)
    assumed = asked.zero_based is None and least > 0
    if assumed and asked.width is not None and (largest < asked.width or partial):
        raise InputError(may_count_from(path, largest, asked.width))
    entries = np.asarray(values), np.asarray(indices) - base, np.asarray(ends)
    X = sp.csr_array(entries, shape=(len(y), len(columns)))
    if partial:
        X = X[:, [int(name) - base for name in table.columns]]
    X.resize(len(y), max(asked.width or 0, len(table.columns)))
    extra = {"qid": np.asarray(groups) if asked.labelled else groups.tolist()} if queries else {}
    labels = Labels.of(np.asarray(y), f"{path}, labels")
    table = replace(table, X=X, labels=labels, target="label", extra=extra)
    return replace(table, zero_based=base == 0, assumed=assumed)


def may_count_from(path: str | Path, largest: int, width: int) -> str:
    """Return the sentence on a file that is narrower than the model and may count from 0 or 1."""
    both = f"its indices, up to {largest}, may count from 0 or from 1, and the model has {width}"
    return f"{path}: {both} features: say which with --zero-based yes or --zero-based no"


@contextmanager
def open_parquet(path: str) -> Iterator[Any]:
    """Open a file with page checksums checked."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        do = "install aucert[parquet]"
        raise InputError(f"{path}: reading Parquet needs pyarrow: {do}") from None
    damaged = damage_reported(path, "Parquet file", pa.ArrowException, OSError, EOFError)
    with damaged, pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False) as file:
        yield file


def read_parquet(path: Path, asked: Selection) -> Table:
    """Read a Parquet file of numeric columns and columns of labels; rows count from 1."""
    with open_parquet(str(path)) as file:
        names, types = called(file.schema_arrow.names), file.schema_arrow.types
        faults = {k: bad for k, x in zip(names, types, strict=True) if (bad := fault_of_type(k, x))}
        table = asked.table(path, names, faults=faults)
        read = {*table.columns, *table.extra, *filter(None, [table.target])}
        kept = [] if table.target else [*table.extra]

        def blocks() -> Blocks:
            start = 1
            for batch in file.iter_batches(batch_size=ROWS, columns=read):
                used = read - ({*kept} - {*table.columns})
                cells: dict[Any, Any] = {name: cells_of(batch.column(name)) for name in used}
                cells |= {(name,): batch.column(name).to_pylist() for name in kept}
                yield range(start, start + batch.num_rows), cells | {None: cells.get(table.target)}
                start += batch.num_rows

        return filled(path, table, blocks())


def kind_of(arrow: Any) -> str:
    """Return what columns of a type hold: numbers, decimals, truths or words; else nothing."""
    from pyarrow import types

    if types.is_string(arrow) or types.is_large_string(arrow) or types.is_dictionary(arrow):
        return "words"
    if types.is_integer(arrow) or types.is_floating(arrow):
        return "numbers"
    return "decimals" if types.is_decimal(arrow) else "truths" if types.is_boolean(arrow) else ""


def fault_of_type(name: str, arrow: Any) -> Fault | None:
    """Return what keeps a column of this type from being a feature, or the label."""
    return None if kind_of(arrow) else (f"column '{name}' holds {arrow}, not numbers", "convert it")


def cells_of(column: Any) -> Cells:
    """Return a part of a column as text or as numbers, NaN where one is missing."""
    kind = kind_of(column.type)
    if kind == "words":
        return ["" if cell is None else str(cell) for cell in column.to_pylist()]
    if kind == "decimals" or column.null_count:
        held = numbers_of(column.cast("float64", safe=False).fill_null(np.nan))
        return np.array(column.to_pylist(), dtype=object) if is_large(held).any() else held
    return numbers_of(column)


def numbers_of(column: Any) -> np.ndarray:
    """Return a column of numbers without missing ones; pyarrow's `to_numpy` would load pandas."""
    if kind_of(column.type) == "truths":
        return np.from_dlpack(column.cast("uint8")).astype(bool)
    return np.from_dlpack(column)


_TEXT = {".csv": read_csv, ".tsv": read_csv} | dict.fromkeys(SVMLIGHT, read_svmlight)
_READERS: dict[str, Callable[[Path, Selection], Table]] = {
    name: read for ending, read in _TEXT.items() for name in (ending, f"{ending}.gz")
} | {".npz": read_npz, ".parquet": read_parquet}
