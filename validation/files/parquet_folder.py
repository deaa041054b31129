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
    block_memory,
    block_rows,
    named,
)
from .labels import Label, LabelColumn, two_classes
from .tables import (
    Features,
    Selection,
    cells_of,
    check_names,
    check_type,
    first_null,
    is_words,
    numbers_of,
    open_parquet,
    refuse_value,
    remote,
    target_place,
)

# Small row groups of a file are put together up to about so many numbers.
PARTITION_NUMBERS = 1 << 24

# Row groups of more numbers than this are read in batches, which is slower but bounded.
GROUP_NUMBERS = 1 << 24

BATCH_ROWS = 1 << 16  # Rows of such a batch.


@dataclass(frozen=True)
class ParquetPartition:
    """Row groups of a file."""

    path: str
    groups: tuple[int, ...]
    first: int  # Rows of the file before them.
    columns: tuple[str, ...]
    target: str
    positive: frozenset[Any]  # Positive cells of the label column, in its own type.
    weight: str | None = None  # The column of row weights.

    @property
    def extra(self) -> tuple[str, ...]:
        """Columns that are read next to the features and the labels."""
        return () if self.weight is None else (self.weight,)

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return f"{self.path}, row groups {self.groups[0]} to {self.groups[-1]}"

    def refuse(self, row: int, column: int | None, value: float) -> NoReturn:
        """Raise the sentence for a number of row `row` of the partition that cannot be used."""
        place = self.columns[column] if column is not None else str(self.weight)
        if column is None:
            raise InputError(
                f"{self.path}: the weight in column '{place}', row {self.first + row + 1}, is "
                f"{value}: weights are >= 0 and finite, and of moderate size"
            )
        refuse_value(Path(self.path), place, self.first + row + 1, str(value))

    def blocks(self) -> Iterator[Block]:
        """Yield its rows in order."""
        before = self.first
        for table in self._tables():
            rows = table.num_rows
            yield from self._blocks_of(table, before)
            before += rows

    def _tables(self) -> Iterator[Any]:
        """Yield the columns of a row group at a time, or of a part of a large one."""
        import pyarrow as pa

        read = [*self.columns, self.target, *self.extra]
        with open_parquet(self.path, pre_buffer=False) as file:
            for group in self.groups:
                if group >= file.num_row_groups:
                    raise InputError(f"{self.path} changed while it was being read: start again")
                if file.metadata.row_group(group).num_rows * len(read) <= GROUP_NUMBERS:
                    yield file.read_row_group(group, columns=read, use_threads=False)
                    continue
                for batch in file.iter_batches(
                    BATCH_ROWS, row_groups=[group], columns=read, use_threads=False
                ):
                    yield pa.table(batch.columns, names=batch.schema.names)

    def _blocks_of(self, table: Any, before: int) -> Iterator[Block]:
        """Yield the blocks of a table whose first row is number `before` of the file."""
        held = [self._column(table, name, before) for name in self.columns]
        positive = self._labels(table, before)
        weight = None if self.weight is None else self._column(table, self.weight, before)
        step = block_rows(len(held))
        for start in range(0, table.num_rows, step):
            rows = slice(start, start + step)
            own = positive[rows]
            columns = block_memory(len(held), own.size)
            for k, column in enumerate(held):
                columns[k] = column[rows]
            more = None if weight is None else weight[rows].astype(float)
            yield Block(columns, own, more)

    def _column(self, table: Any, name: str, before: int) -> np.ndarray:
        """Return a column as numbers; those of floating point as they are."""
        column = self._whole(table, name, before)
        from pyarrow import types

        if types.is_floating(column.type) and column.type.bit_width >= 32:
            return numbers_of(column)
        features, rows = Features(Path(self.path)), range(before + 1, before + 1 + len(column))
        held = features.numbers(name, cells_of(column), rows)
        features.raise_if_any()
        return held

    def _whole(self, table: Any, name: str, before: int) -> Any:
        """Return a column in one piece, without missing values."""
        chunks = table.column(name)
        column = chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks()
        if column.null_count:
            refuse_value(Path(self.path), name, before + first_null(column) + 1, "")
        return column

    def _labels(self, table: Any, before: int) -> np.ndarray:
        column = self._whole(table, self.target, before)
        from pyarrow import types

        if is_words(column.type):
            column = column.dictionary_encode() if not types.is_dictionary(column.type) else column
            known = [str(word) in self.positive for word in column.dictionary.to_pylist()]
            return np.array(known, dtype=bool)[numbers_of(column.indices)]
        values = numbers_of(column)
        found = np.zeros(values.size, dtype=bool)
        for label in self.positive:
            found |= values == label
        return found


@dataclass(frozen=True)
class GroupedParquetPartition(ParquetPartition):
    """Row groups of a file; the label column holds grades, and the column `qid` queries."""

    qid: str = ""

    @property
    def extra(self) -> tuple[str, ...]:
        """Columns that are read next to the features and the grades."""
        return (*super().extra, self.qid)

    def _blocks_of(self, table: Any, before: int) -> Iterator[Any]:
        """Yield the blocks of a table whose first row is number `before` of the file."""
        key = self._column(table, self.target, before).astype(float)
        group, start = self._groups(table, before), 0
        for block in super()._blocks_of(table, before):
            rows = slice(start, start + block.columns.shape[1])
            start = rows.stop
            yield block._replace(group=group[rows], key=key[rows])

    def _groups(self, table: Any, before: int) -> np.ndarray:
        column = self._whole(table, self.qid, before)
        if is_words(column.type):
            return np.array([str(word) for word in column.to_pylist()])
        return named(np.asarray(cells_of(column)), self.path)

    def _labels(self, table: Any, before: int) -> np.ndarray:
        return np.zeros(table.num_rows, dtype=bool)  # rows have no class


def may_be_cut(metadata: Any, qid: str) -> list[bool]:
    """Return before which row groups a file may be cut, so that no query is split.

    There its statistics say that the largest query before is below the smallest one behind.
    """
    ends = [_ends(metadata.row_group(k), qid) for k in range(metadata.num_row_groups)]
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return [k == 0 for k in range(len(ends))]
    highest = list(accumulate((high for _, high in known), max))
    return [k == 0 or highest[k - 1] < known[k][0] for k in range(len(ends))]


def _ends(group: Any, qid: str) -> tuple[Any, Any] | None:
    """Return the smallest and the largest query of a row group, if the file says them."""
    for k in range(group.num_columns):
        known = group.column(k).statistics
        if group.column(k).path_in_schema == qid and known is not None and known.has_min_max:
            return known.min, known.max
    return None


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
            jobs = min(_processors(), 1 + self.n * len(self.columns) // PARTITION_NUMBERS)
        engine = LocalEngine(self.partitions, jobs, heard)
        if self.qid is None:
            return PartitionedRows(engine, self.columns)
        advice = (
            f"sort the rows of the folder by '{self.qid}', and let no two files share one of its "
            "values"
        )
        return GroupedRows(engine, self.columns, advice)


def read_parquet_folder(
    path: str | Path,
    target: Selection | str | None = None,
    positive: object = None,
    weight: str | None = None,
    qid: str | None = None,
) -> ParquetFolder:
    """Find the Parquet files of a folder, and what their labels are."""
    asked = Selection.of(target)
    extra = tuple(name for name in (weight, qid) if name is not None)
    asked = replace(asked, drop=(*asked.drop, *extra))
    files = parquet_paths(str(path))
    parts: list[ParquetPartition] = []
    names: list[str] | None = None
    n = 0
    for name in files:
        with open_parquet(name) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
            if names is None:
                names, kinds = (
                    list(schema.names),
                    dict(zip(schema.names, schema.types, strict=True)),
                )
                check_names(Path(name), names)
                label = names[target_place(Path(name), names, asked.target)]
                places = asked.places(Path(name), names, names.index(label))
                columns = [names[k] for k in places.features]
                used = [*columns, label, *extra]
            for column in used:
                _check_column(name, files[0], column, schema, kinds, column in (label, qid))
            n += rows
            parts += _parts_of(name, file.metadata, tuple(columns), label, weight, qid)
    if not n:
        raise InputError(f"{path}: no rows")
    if qid is not None:
        return ParquetFolder(parts, columns, label, None, None, n, qid)
    meant, one, zero = _positive_cells(parts, positive, f"{path}, column '{label}'")
    parts = [replace(part, positive=meant) for part in parts]
    return ParquetFolder(parts, columns, label, one, zero, n)


def is_parquet_folder(path: str) -> bool:
    """Return whether a path is a folder here, or one that only fsspec can reach."""
    return "://" in path or Path(path).is_dir()


def parquet_paths(path: str) -> list[str]:
    """Return the paths of the Parquet files of a folder, in order; there is one at least."""
    if "://" in path:
        system, inside = remote(path)
        try:
            found = [system.unstrip_protocol(name) for name in system.find(inside)]
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error})") from None
        base = system.unstrip_protocol(inside)
    else:
        found = [str(name) for name in Path(path).rglob("*") if name.is_file()]
        base = path
    hidden = (".", "_")
    kept = [
        name
        for name in sorted(found)
        if name.endswith((".parquet", ".parq", ".pq"))
        and not any(part.startswith(hidden) for part in Path(os.path.relpath(name, base)).parts)
    ]
    if not kept:
        raise InputError(
            f"{path}: no Parquet files in this folder: their names must end in .parquet"
        )
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
    text = is_words(kind) and is_words(kinds[column])
    if label and not text and kind != kinds[column]:
        raise InputError(
            f"{name}: column '{column}' holds {kind}, and in {first} it holds {kinds[column]}: "
            "write one or the other"
        )


def _parts_of(
    name: str,
    metadata: Any,
    columns: tuple[str, ...],
    label: str,
    weight: str | None,
    qid: str | None,
) -> list[ParquetPartition]:
    """Return the partitions of one file: its row groups, small ones together."""

    def part(first: int, groups: list[int]) -> ParquetPartition:
        words = name, tuple(groups), first, columns, label, frozenset[Any](), weight
        return ParquetPartition(*words) if qid is None else GroupedParquetPartition(*words, qid)

    most = max(1, PARTITION_NUMBERS // (len(columns) + 1))
    cut = [True] * metadata.num_row_groups if qid is None else may_be_cut(metadata, qid)
    found: list[ParquetPartition] = []
    groups: list[int] = []
    first = held = 0
    for k in range(metadata.num_row_groups):
        rows = metadata.row_group(k).num_rows
        if groups and held + rows > most and cut[k]:
            found.append(part(first, groups))
            first, held, groups = first + held, 0, []
        groups.append(k)
        held += rows
    return [*found, part(first, groups)] if groups else found


def _positive_cells(
    parts: list[ParquetPartition], positive: object, where: str
) -> tuple[frozenset[Any], Label, Label | None]:
    """Return the cells of the label column that are positive, that label, and the other."""
    from pyarrow.compute import unique

    labels, cells = LabelColumn(where), []
    for part in parts:
        with open_parquet(part.path, pre_buffer=False) as file:
            read = file.read_row_groups(list(part.groups), columns=[part.target], use_threads=False)
        column = read.column(0)
        if column.null_count:
            place = f"column '{part.target}', row {part.first + first_null(column) + 1}"
            raise InputError(f"{part.path}, {place}: missing value: drop the row")
        found = list(cells_of(unique(column)))
        labels.limit(len(found))
        labels.extend(np.array(found), [part.first + 1] * len(found))
        cells += found
    y, one, zero = two_classes(labels.labels(), positive, where)
    return frozenset(cell for cell, is_one in zip(cells, y, strict=True) if is_one), one, zero


def _processors() -> int:
    """Return how many processors this process may use."""
    count = getattr(os, "process_cpu_count", os.cpu_count)()
    return max(1, count or 1)
