"""A folder of Parquet files as rows in partitions, with their labels and weights.

A partition is some row groups of a file, read again at each pass, in bounded memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ...exact.errors import InputError
from ...exact.spaces.groups import GroupedRows
from ...exact.spaces.partitions import (
    Block,
    LocalEngine,
    PartitionedRows,
    block_rows,
    named,
)
from .tables import (
    EVERYTHING,
    MAX_CLASSES,
    Label,
    Labels,
    Numbers,
    Selection,
    cells_of,
    check_type,
    is_words,
    numbers_of,
    open_parquet,
    refuse,
    refuse_value,
    remote,
    two_classes,
)
from .tables import named as called

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
        """What to call it in a message."""
        return f"{self.path}, row groups {self.groups[0]} to {self.groups[-1]}"

    def refuse(self, row: int, column: int | None, value: float) -> NoReturn:
        """Raise the sentence for a number of row `row` of the partition that cannot be used."""
        place = self.first + row + 1
        if column is not None:
            refuse_value(Path(self.path), self.columns[column], place, str(value))
        where = f"the weight in column '{self.weight}', row {place}, is {value}"
        raise InputError(f"{self.path}: {where}: weights are >= 0, finite and of moderate size")

    def blocks(self) -> Iterator[Block]:
        """Yield its rows in order."""
        read = [*self.columns, *filter(None, (self.target, self.weight, self.qid))]
        with open_parquet(self.path, pre_buffer=False) as file:
            if self.groups[-1] >= file.num_row_groups:
                raise InputError(f"{self.path} changed while it was being read: start again")
            before, most = self.first, max(1, NUMBERS // len(read))
            for batch in file.iter_batches(most, self.groups, read, use_threads=False):
                yield from self._blocks_of(batch, before)
                before += batch.num_rows

    def _blocks_of(self, batch: Any, before: int) -> Iterator[Block]:
        """Yield the blocks of a batch whose first row is number `before` of the file."""
        held = [self._numbers(batch, name, before) for name in self.columns]
        weight = group = key = None
        if self.weight is not None:
            weight = self._numbers(batch, self.weight, before).astype(float)
        if self.qid is None:
            positive = self._positive(self._whole(batch, self.target, before))
        else:
            positive = np.zeros(batch.num_rows, dtype=bool)
            key = self._numbers(batch, self.target, before).astype(float)
            column = self._whole(batch, self.qid, before)
            cells = np.asarray(cells_of(column))
            group = cells if is_words(column.type) else named(cells, self.path)
        step = block_rows(len(held))
        for start in range(0, batch.num_rows, step):
            rows = slice(start, start + step)
            columns = np.empty((len(held), positive[rows].size))
            for k, column in enumerate(held):
                columns[k] = column[rows]
            more = (None if one is None else one[rows] for one in (weight, group, key))
            yield Block(columns, positive[rows], *more)

    def _whole(self, batch: Any, name: str, before: int) -> Any:
        """Return a column without missing values."""
        column = batch.column(name)
        if column.null_count:
            refuse_value(Path(self.path), name, before + first_null(column) + 1, "")
        return column

    def _numbers(self, batch: Any, name: str, before: int) -> np.ndarray:
        """Return a column as numbers; those of floating point as they are."""
        from pyarrow import types

        column = self._whole(batch, name, before)
        if types.is_floating(column.type) and column.type.bit_width >= 32:
            return numbers_of(column)
        numbers = Numbers(Path(self.path), name)
        held = numbers.of(cells_of(column), range(before + 1, before + 1 + len(column)))
        refuse(Path(self.path), {}, [numbers])
        return held

    def _positive(self, column: Any) -> np.ndarray:
        """Return which cells of the label column are positive."""
        from pyarrow import types

        if is_words(column.type):
            column = column if types.is_dictionary(column.type) else column.dictionary_encode()
            known = [str(word) in self.positive for word in column.dictionary.to_pylist()]
            return np.array(known, dtype=bool)[numbers_of(column.indices)]
        return np.isin(numbers_of(column), [*self.positive])


def first_null(column: Any) -> int:
    """Return the first place of a column without a value."""
    return column.is_null().index(True).as_py()


def may_be_cut(metadata: Any, qid: str) -> list[bool]:
    """Return before which row groups a file may be cut, so that no query is split. There its
    statistics say that the largest query before is below the smallest one behind."""
    ends: list[tuple[Any, Any]] = []
    for k in range(metadata.num_row_groups):
        group = metadata.row_group(k)
        columns = map(group.column, range(group.num_columns))
        known = next(column for column in columns if column.path_in_schema == qid).statistics
        if known is None or not known.has_min_max:
            return [k == 0 for k in range(metadata.num_row_groups)]
        ends.append((known.min, known.max))
    highest = [*accumulate((high for _, high in ends), max)]
    return [k == 0 or highest[k - 1] < ends[k][0] for k in range(len(ends))]


@dataclass(frozen=True, eq=False)
class ParquetFolder:
    """What a folder of n rows holds; labels are as in `Table`, None where rows have a query."""

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
        if self.qid is None:
            return PartitionedRows(engine, self.columns)
        advice = f"sort the rows of the folder by '{self.qid}', and let no two files share a value"
        return GroupedRows(engine, self.columns, advice)


def read_parquet_folder(
    path: str | Path,
    asked: Selection = EVERYTHING,
    positive: object = None,
    weight: str | None = None,
    qid: str | None = None,
) -> ParquetFolder:
    """Find the Parquet files of a folder, and what their labels are."""
    extra = tuple(name for name in (weight, qid) if name is not None)
    asked = replace(asked, drop=(*asked.drop, *extra))
    paths, parts, n = parquet_paths(str(path)), list[ParquetPartition](), 0
    whole, kinds = None, dict[str, Any]()
    for name in paths:
        with open_parquet(name) as file:
            schema, metadata = file.schema_arrow, file.metadata
        if whole is None:
            names, kinds = called(schema.names), dict(zip(schema.names, schema.types, strict=True))
            places = asked.places(Path(name), names)
            assert places.target is not None
            refuse(Path(name), places.unclear)
            columns = tuple(names[k] for k in places.features)
            whole = ParquetPartition(name, (), 0, columns, names[places.target], weight, qid)
        for column in (*whole.columns, whole.target, *extra):
            _check_column(name, paths[0], column, schema, kinds, column in (whole.target, qid))
        n += metadata.num_rows
        parts += _parts_of(replace(whole, path=name), metadata)
    if whole is None or not n:
        raise InputError(f"{path}: no rows")
    one = zero = None
    if qid is None:
        meant, one, zero = _positive_cells(parts, positive, f"{path}, column '{whole.target}'")
        parts = [replace(part, positive=meant) for part in parts]
    return ParquetFolder(parts, [*whole.columns], whole.target, one, zero, n, qid)


def is_parquet_folder(path: str) -> bool:
    """Return whether a path is a folder here, or one that only fsspec can reach."""
    return "://" in path or Path(path).is_dir()


def parquet_paths(path: str) -> list[str]:
    """Return the paths of the Parquet files of a folder, in order; there is one at least."""
    base = path
    if "://" in path:
        system, inside = remote(path)
        base = system.unstrip_protocol(inside)
        try:
            found = [system.unstrip_protocol(name) for name in system.find(inside)]
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error})") from None
    else:
        found = [str(name) for name in Path(path).rglob("*") if name.is_file()]
    kept = [
        name
        for name in sorted(found)
        if name.endswith((".parquet", ".parq", ".pq"))
        and not any(part.startswith((".", "_")) for part in Path(os.path.relpath(name, base)).parts)
    ]
    if not kept:
        raise InputError(f"{path}: no Parquet files in this folder: names must end in .parquet")
    return kept


def _check_column(
    name: str, first: str, column: str, schema: Any, kinds: dict[str, Any], label: bool
) -> None:
    """Raise `InputError` unless a file has a column, of a type that can be used, as the first."""
    if column not in schema.names:
        raise InputError(f"{name}: no column '{column}', which {first} has")
    if schema.names.count(column) > 1:
        raise InputError(f"{name}: two columns are named '{column}': rename one of them")
    kind = schema.field(column).type
    check_type(name, column, kind, label)
    if label and kind != kinds[column] and not (is_words(kind) and is_words(kinds[column])):
        both = f"holds {kind}, and in {first} it holds {kinds[column]}: write one or the other"
        raise InputError(f"{name}: column '{column}' {both}")


def _parts_of(file: ParquetPartition, metadata: Any) -> list[ParquetPartition]:
    """Return the partitions of one file: its row groups, small ones together."""
    most = max(1, NUMBERS // (len(file.columns) + 1))
    cut = None if file.qid is None else may_be_cut(metadata, file.qid)
    found: list[ParquetPartition] = []
    groups: list[int] = []
    first = held = 0
    for k in range(metadata.num_row_groups):
        rows = metadata.row_group(k).num_rows
        if groups and held + rows > most and (cut is None or cut[k]):
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
        with open_parquet(part.path, pre_buffer=False) as file:
            read = file.read_row_groups(list(part.groups), columns=[part.target], use_threads=False)
        column = read.column(0)
        if column.null_count:
            place = f"column '{part.target}', row {part.first + first_null(column) + 1}"
            raise InputError(f"{part.path}, {place}: missing value: drop the row")
        for cell in cells_of(unique(column)):
            cells.setdefault(cell, part.first + 1)
        if len(cells) > MAX_CLASSES:  # which are refused below
            break
    labels = Labels.of(np.array([*cells]), where, rows=[*cells.values()])
    y, one, zero = two_classes(labels, positive, where)
    return frozenset(cell for cell, is_one in zip(cells, y, strict=True) if is_one), one, zero


def _processors() -> int:
    """Return how many processors this process may use."""
    count = getattr(os, "process_cpu_count", os.cpu_count)()
    return max(1, count or 1)
