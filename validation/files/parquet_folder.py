"""A folder of Parquet files as rows in partitions, with their labels and weights. A partition is
some row groups of a file, read again at each pass, in bounded memory."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ...exact.errors import InputError
from ...exact.spaces.groups import GroupedRows
from ...exact.spaces.partitions import ArrayPartition, Block, LocalEngine, PartitionedRows
from . import tables
from .labels import MAX_CLASSES, Label, Labels, two_classes
from .tables import Fault, Numbers

NUMBERS = 1 << 24  # Small row groups are one partition up to about so many; a batch has no more.


@dataclass(frozen=True)
class ParquetPartition:
    """Row groups of a file; with `qid` the label column holds grades, and rows have no class."""

    path: str
    groups: tuple[int, ...]
    first: int  # Rows of the file before them.
    columns: tuple[str, ...]
    target: str
    weight: str | None = None  # The column of row weights.
    qid: str | None = None  # The column of queries.
    positive: frozenset[Any] = frozenset()  # Positive cells of the label column, in its own type.

    @property
    def name(self) -> str:
        return f"{self.path}, row groups {self.groups[0]} to {self.groups[-1]}"

    def refuse(self, row: int, column: int | None, value: float) -> NoReturn:
        """Raise the sentence for a row weight."""
        assert column is None  # a feature's numbers are checked in `blocks`
        where = f"the weight in column '{self.weight}', row {self.first + row + 1}, is {value}"
        raise InputError(f"{self.path}: {where}: weights are >= 0, finite and of moderate size")

    def batches(self, names: Sequence[str]) -> Iterator[tuple[Any, range]]:
        """Yield these columns, batch after batch, with the numbers of the rows in the file."""
        with tables.open_parquet(self.path) as file:
            if self.groups[-1] >= file.num_row_groups or not {*names} <= {*file.schema_arrow.names}:
                raise InputError(f"{self.path} changed while it was being read: start again")
            start, most = self.first + 1, max(1, NUMBERS // len(names))
            for batch in file.iter_batches(most, self.groups, [*names], use_threads=False):
                yield batch, range(start, start + batch.num_rows)
                start += batch.num_rows

    def blocks(self) -> Iterator[Block]:
        needed = [*filter(None, (self.target, self.weight, self.qid))]
        for batch, places in self.batches([*self.columns, *needed]):
            features = [Numbers(name) for name in self.columns]
            X = np.stack([numbers_in(batch, column, places) for column in features])
            tables.refuse(self.path, {}, features)
            others = [Numbers(name) for name in (self.weight, self.qid and self.target) if name]
            held: Any = {column.name: numbers_in(batch, column, places) for column in others}
            tables.refuse_needed(self.path, [column.bad for column in others])
            positive = group = None
            if self.qid is None:
                positive = self._positive(whole(self.path, batch, self.target, places))
            else:
                group = np.asarray(tables.cells_of(whole(self.path, batch, self.qid, places)))
            weight, key = held.get(self.weight), held.get(self.target)
            yield from ArrayPartition(X.T, positive, weight, self.path, group, key).blocks()

    def _positive(self, column: Any) -> np.ndarray:
        if tables.kind_of(column.type) != "words":
            return np.isin(tables.cells_of(column), [*self.positive])
        column = column if hasattr(column, "dictionary") else column.dictionary_encode()
        known = [str(word) in self.positive for word in column.dictionary.to_pylist()]
        return np.array(known, dtype=bool)[tables.numbers_of(column.indices)]


def numbers_in(batch: Any, column: Numbers, places: range) -> np.ndarray:
    return column.of(tables.cells_of(batch.column(column.name)), places)


def whole(path: str, batch: Any, name: str, places: range) -> Any:
    """Return a column without missing values."""
    column = batch.column(name)
    if column.null_count:
        row = places[column.is_null().index(True).as_py()]
        raise InputError(f"{path}, column '{name}', row {row}: missing value: drop the row")
    return column


def refuse_all(path: str, parts: list[ParquetPartition], faults: dict[str, Fault]) -> None:
    """Raise one error on all features with these faults, or with a bad cell. It reads no more than
    some partitions of a large folder."""
    found, left = dict(faults), 8 * NUMBERS
    for part in parts:
        columns = [Numbers(name) for name in part.columns if name not in found]
        if left < 0 or not columns:
            break
        for batch, places in part.batches([column.name for column in columns]):
            left -= len(columns) * len(places)
            for column in columns:
                numbers_in(batch, column, places)
        bad = {column.name: column.bad for column in columns if column.bad is not None}
        found |= {name: (f"{what} ({part.path})", do) for name, (what, do) in bad.items()}
    tables.refuse(path, found)


def cuts_between(metadata: Any, qid: str) -> list[int]:
    """Return before which row groups a file may be cut, so that no query is split. There its
    statistics say that the largest query before is below the smallest one behind."""
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    columns = [map(group.column, range(group.num_columns)) for group in groups]
    known = [next(x.statistics for x in some if x.path_in_schema == qid) for some in columns]
    if not all(one is not None and one.has_min_max for one in known):
        return []
    highest = [*accumulate((one.max for one in known), max)]
    return [k for k in range(1, len(known)) if highest[k - 1] < known[k].min]


@dataclass(frozen=True, eq=False)
class ParquetFolder:
    """What a folder of n rows holds; labels are as in `Table`, None where rows have a query."""

    path: str
    partitions: list[ParquetPartition]
    columns: list[str]
    target: str
    positive: Label | None
    negative: Label | None
    n: int
    qid: str | None = None

    def rows(
        self, jobs: int | None = None, heard: Callable[[int, int], object] | None = None
    ) -> PartitionedRows:
        """Return the rows, read by so many processes; `heard` is as in `LocalEngine`."""
        if jobs is None:  # a process takes seconds to start: few rows need no second one
            jobs = min(_processors(), 1 + self.n * len(self.columns) // NUMBERS)
        engine = LocalEngine(self.partitions, jobs, heard)
        advice = f"sort the rows of the folder by '{self.qid}', and let no two files share a value"
        try:
            if self.qid is None:
                return PartitionedRows(engine, self.columns)
            return GroupedRows(engine, self.columns, advice)
        except tables.BadColumnsError:
            refuse_all(self.path, self.partitions, {})
            raise


def read_parquet_folder(
    path: str | Path, asked: tables.Selection = tables.EVERYTHING, positive: object = None,
    weight: str | None = None, qid: str | None = None,
) -> ParquetFolder:  # fmt: skip
    """Find the Parquet files of a folder, and what their labels are."""
    extra = [name for name in (weight, qid) if name is not None]
    asked = replace(asked, drop=(*asked.drop, *extra))
    paths, parts, n = parquet_paths(Path(path)), list[ParquetPartition](), 0
    with tables.open_parquet(paths[0]) as file:
        first = file.schema_arrow
    table = asked.table(Path(paths[0]), tables.called(first.names))
    target, columns, faults = table.target, table.columns, table.faults
    for name in paths:
        with tables.open_parquet(name) as file:
            schema, metadata = file.schema_arrow, file.metadata
        for column in (target, *extra, *columns):
            bad = fault_in(schema, column, first, paths[0], column in (target, qid))
            if bad and column in columns:
                faults.setdefault(column, (f"{bad[0]} ({name})", bad[1]))
            else:
                tables.refuse_needed(name, [bad])
        n += metadata.num_rows
        file = ParquetPartition(name, (), 0, tuple(columns), target, weight, qid)
        parts += _parts_of(file, metadata)
    if faults:
        refuse_all(str(path), parts, faults)
    if not n:
        raise InputError(f"{path}: no rows")
    one = zero = None
    if qid is None:
        meant, one, zero = _positive_cells(parts, positive, f"{path}, column '{target}'")
        parts = [replace(part, positive=meant) for part in parts]
    return ParquetFolder(str(path), parts, columns, target, one, zero, n, qid)


def is_parquet_folder(path: str) -> bool:
    return Path(path).is_dir()


def parquet_paths(folder: Path) -> list[str]:
    """Return the paths of the Parquet files of a folder, in order; there is one at least. Files and
    folders below it whose name begins with a dot or an underscore are left out."""
    found = []
    for name in folder.rglob("*.p*"):
        hidden = any(part.startswith((".", "_")) for part in name.relative_to(folder).parts)
        if name.suffix in (".parquet", ".parq", ".pq") and name.is_file() and not hidden:
            found.append(str(name))
    if not found:
        raise InputError(f"{folder}: no Parquet files in this folder: names must end in .parquet")
    return sorted(found)


def fault_in(schema: Any, column: str, first: Any, path: str, label: bool) -> Fault | None:
    """Return why a file's column cannot be used next to that of the first file, if it cannot."""
    if column not in schema.names:
        return f"no column '{column}', which {path} has", "write the same columns"
    if schema.names.count(column) > 1:
        return f"two columns are named '{column}'", "rename one of them"
    kind, before = schema.field(column).type, first.field(column).type
    words = tables.kind_of(kind) == tables.kind_of(before) == "words"
    if label and kind != before and not words:
        both = f"column '{column}' holds {kind}, and in {path} it holds {before}"
        return both, "write one or the other"
    return tables.fault_of_type(column, kind)


def _parts_of(file: ParquetPartition, metadata: Any) -> list[ParquetPartition]:
    """Return the partitions of one file: its row groups, small ones together."""
    most = max(1, NUMBERS // (len(file.columns) + 1))
    cuts = range(metadata.num_row_groups) if file.qid is None else cuts_between(metadata, file.qid)
    found: list[ParquetPartition] = []
    groups: list[int] = []
    first = held = 0
    for k in range(metadata.num_row_groups):
        rows = metadata.row_group(k).num_rows
        if groups and held + rows > most and k in cuts:
            found.append(replace(file, groups=tuple(groups), first=first))
            first, held, groups = first + held, 0, []
        groups.append(k)
        held += rows
    return [*found, replace(file, groups=tuple(groups), first=first)] if groups else found


def _positive_cells(
    parts: list[ParquetPartition], positive: object, where: str
) -> tuple[frozenset[Any], Label, Label | None]:
    """Return the cells of the label column that are positive, that label, and the other."""
    from pyarrow.compute import unique

    cells: dict[Any, int] = {}  # and where each may stand first
    for part in parts:
        for batch, rows in part.batches([part.target]):
            for cell in tables.cells_of(unique(whole(part.path, batch, part.target, rows))):
                cells.setdefault(cell, rows[0])
        if len(cells) > MAX_CLASSES:  # which are refused below
            break
    labels = Labels.of(np.array([*cells]), where, rows=[*cells.values()])
    y, one, zero = two_classes(labels, positive, where)
    return frozenset(cell for cell, is_one in zip(cells, y, strict=True) if is_one), one, zero


def _processors() -> int:
    """Return how many processors this process may use."""
    return getattr(os, "process_cpu_count", os.cpu_count)() or 1
