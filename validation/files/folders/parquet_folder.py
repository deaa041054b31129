"""A folder of Parquet files as rows in partitions, with their labels and weights."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ....exact.errors import InputError
from ....exact.spaces.partitions.engine import Heard, LocalEngine
from ....exact.spaces.partitions.grouped.grouped_rows import GroupedRows
from ....exact.spaces.partitions.partitioned_rows import PartitionedRows
from ..column_names import target_place
from ..file_checks import check_names, damage_reported
from ..labels import (
    MAX_CLASSES,
    Label,
    LabelColumn,
    Labels,
    array_labels,
    too_many_classes,
    two_classes,
)
from ..tables.parquet_files import check_type, is_words, parquet_library
from ..tables.selection import Selection
from .grouped_parquet import GroupedParquetPartition, may_be_cut
from .parquet_partition import ParquetPartition, open_parquet, remote

PARTITION_NUMBERS = 1 << 24
"""Small row groups of a file are put together up to about so many numbers."""


@dataclass(frozen=True, eq=False)
class ParquetFolder:
    """What a folder holds, and how its labels are read.

    Attributes
    ----------
    partitions : list of ParquetPartition
    columns : list of str
    target : str
    positive, negative : label
        As in `TableMeta`; None where rows have a query.
    n : int
        Rows, as the files say.
    qid : str, optional
        The column of the queries.
    """

    partitions: list[ParquetPartition]
    columns: list[str]
    target: str
    positive: Label | None
    negative: Label | None
    n: int
    qid: str | None = None

    def rows(self, jobs: int | None = None, heard: Heard | None = None) -> PartitionedRows:
        """Return the rows, read by `jobs` processes; by default one a processor.

        `heard` is told how far a pass is, as `LocalEngine` says.
        """
        jobs = _processors() if jobs is None else jobs
        engine = LocalEngine(self.partitions, jobs, heard)
        if self.qid is None:
            return PartitionedRows(engine, self.columns)
        told = (
            f"sort the rows of the folder by '{self.qid}', and let no two files share one of its "
            "values"
        )
        return GroupedRows(engine, self.columns, told)


def read_parquet_folder(
    path: str | Path,
    target: Selection | str | None = None,
    positive: object = None,
    weight: str | None = None,
    qid: str | None = None,
) -> ParquetFolder:
    """Find the Parquet files of a folder, and what their labels are.

    Parameters
    ----------
    path : str or Path
        A folder, read with all in it, but for names that begin with "." or "_"; or a path such as
        "s3://bucket/folder", where fsspec and its part for it are installed.
    target : str or Selection, optional
        As in `read_table`.
    positive : label, optional
        As in `read_table`.
    weight : str, optional
        The column of row weights.
    qid : str, optional
        The column of the queries: the target then holds grades. A file is cut only where its
        statistics say that no query is split.

    Raises
    ------
    InputError
        If there are no such files, their columns differ, or a column cannot be used.
    """
    asked = Selection.of(target)
    beside = tuple(name for name in (weight, qid) if name is not None)
    asked = replace(asked, drop=(*asked.drop, *beside))
    files = parquet_paths(str(path))
    types = parquet_library(Path(path))[0].types
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
                used = [*columns, label, *beside]
            for column in used:
                _check_column(name, files[0], column, schema, kinds, types, column in (label, qid))
            n += rows
            parts += _parts_of(name, file.metadata, tuple(columns), label, weight, qid)
    if not n:
        raise InputError(f"{path}: no rows")
    if qid is not None:
        return ParquetFolder(parts, columns, label, None, None, n, qid)
    where = f"{path}, column '{label}'"
    raw, labels = _labels(parts, where, types)
    y, one, zero = two_classes(labels, positive, where)
    meant = frozenset(text for text, is_one in zip(raw, y.tolist(), strict=True) if is_one)
    parts = [replace(part, positive=meant) for part in parts]
    return ParquetFolder(parts, columns, label, one, zero, n)


def is_parquet_folder(path: str) -> bool:
    """Return whether a path is a folder here, or one that only fsspec can reach."""
    return "://" in path or Path(path).is_dir()


def parquet_paths(path: str) -> list[str]:
    """Return the paths of the Parquet files of a folder, in order.

    Raises
    ------
    InputError
        If there are none.
    """
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
    name: str, first: str, column: str, schema: Any, kinds: dict[str, Any], types: Any, label: bool
) -> None:
    """Raise `InputError` unless a file has a column, of a type that can be used, as the first."""
    if column not in schema.names:
        raise InputError(f"{name}: no column '{column}', which {first} has")
    if schema.names.count(column) > 1:
        raise InputError(f"{name}: two columns are named '{column}': rename one of them")
    kind = schema.field(column).type
    check_type(Path(name), column, kind, types, label)
    text = is_words(kind, types) and is_words(kinds[column], types)
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


def _labels(parts: list[ParquetPartition], where: str, types: Any) -> tuple[list[Any], Labels]:
    """Return the distinct cells of the label column, and what label each stands for."""
    pa, _ = parquet_library(Path(parts[0].path))
    from pyarrow.compute import unique

    words, numbers, rows = LabelColumn(), [], 0
    for part in parts:
        with (
            damage_reported(Path(part.path), "Parquet", pa.ArrowException, OSError, EOFError),
            open_parquet(part.path) as file,
        ):
            read = file.read_row_groups(list(part.groups), columns=[part.target], use_threads=False)
        column = read.column(0)
        if column.null_count:
            row = part.first + int(np.argmax(column.is_null().to_numpy())) + 1
            raise InputError(
                f"{part.path}, column '{part.target}', row {row}: the label is missing"
            )
        rows += len(column)
        if is_words(column.type, types):
            for text in unique(column).to_pylist():
                if str(text) not in words.table:
                    words.add(str(text), where, part.first + 1)
            continue
        held = unique(column).to_numpy(zero_copy_only=False)
        if held.size > MAX_CLASSES:
            raise too_many_classes(where)
        numbers.append(held)
    if words.table:
        return list(words.table), words.labels()
    cells = np.unique(np.concatenate(numbers))
    return cells.tolist(), array_labels(cells, where)


def _processors() -> int:
    """Return how many processors this process may use."""
    count = getattr(os, "process_cpu_count", os.cpu_count)()
    return max(1, count or 1)
