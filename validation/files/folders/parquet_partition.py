"""Some row groups of a Parquet file as a partition: read again at each pass, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ....exact.errors import InputError
from ....exact.spaces.partitions.partition import Block, block_memory, block_rows
from ....exact.tools.digits import is_large
from ..file_checks import Refused, damage_reported, refuse_lost, refuse_value
from ..tables.parquet_files import as_numbers, is_words, parquet_library

GROUP_NUMBERS = 1 << 24
"""Row groups of more numbers than this are read in batches, which is slower but bounded."""

BATCH_ROWS = 1 << 16
"""Rows of such a batch."""


def open_parquet(path: str) -> Any:
    """Return the open file: a local one, or through fsspec one of "s3://" and the like.

    Raises
    ------
    InputError
        If pyarrow or what the path needs is not installed, or the file is damaged.
    """
    pa, pq = parquet_library(Path(path))
    with damage_reported(Path(path), "Parquet", pa.ArrowException, OSError, EOFError):
        if "://" not in path:
            return pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False)
        return pq.ParquetFile(remote(path)[0].open(remote(path)[1]))


def remote(path: str) -> tuple[Any, str]:
    """Return the file system of a path like "s3://bucket/folder", and the path in it.

    Raises
    ------
    InputError
        If fsspec, or its part for this kind of path, is not installed.
    """
    try:
        import fsspec

        return fsspec.core.url_to_fs(path)
    except (ImportError, ValueError) as error:
        kind = path.split("://")[0]
        raise InputError(
            f"{path}: reading {kind}:// needs fsspec and its part for {kind} ({error})"
        ) from None


@dataclass(frozen=True)
class ParquetPartition:
    """Row groups of a file.

    Parameters
    ----------
    path : str
    groups : tuple of int
        Numbers of the row groups.
    first : int
        Rows of the file before them.
    columns : tuple of str
        The features.
    target : str
        The label column.
    positive : object
        What its cells are compared with: the positive label in the column's own type, or several.
    weight : str, optional
        The column of row weights.
    """

    path: str
    groups: tuple[int, ...]
    first: int
    columns: tuple[str, ...]
    target: str
    positive: frozenset[Any]
    weight: str | None = None

    @property
    def beside(self) -> tuple[str, ...]:
        """Columns that are read beside the features and the labels."""
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
        pa, _ = parquet_library(Path(self.path))
        read = [*self.columns, self.target, *self.beside]
        with (
            damage_reported(Path(self.path), "Parquet", pa.ArrowException, OSError, EOFError),
            open_parquet(self.path) as file,
        ):
            for group in self.groups:
                if group >= file.num_row_groups:
                    raise InputError(f"{self.path} changed while it was worked with: start again")
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
        step, memory = block_rows(len(held)), block_memory()
        for start in range(0, table.num_rows, step):
            rows = slice(start, start + step)
            own = positive[rows]
            columns = memory.array(len(held), own.size)
            for k, column in enumerate(held):
                columns[k] = column[rows]
            more = None if weight is None else weight[rows].astype(float)
            yield Block(columns, own, more)

    def _column(self, table: Any, name: str, before: int) -> np.ndarray:
        """Return a column as numbers; those of floating point as they are."""
        column = self._whole(table, name, before)
        types = parquet_library(Path(self.path))[0].types
        if types.is_floating(column.type) and column.type.bit_width >= 32:
            return column.to_numpy()
        refused = Refused(Path(self.path))
        held = as_numbers(column, name, before, refused, types)
        refused.raise_if_any()
        if not types.is_floating(column.type) and is_large(held).any():
            given = np.array(column.to_pylist(), dtype=object)
            refuse_lost(Path(self.path), given[:, None], [name], before + 1)
        return held

    def _whole(self, table: Any, name: str, before: int) -> Any:
        """Return a column in one piece, without missing values."""
        chunks = table.column(name)
        column = chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks()
        if column.null_count:
            row = before + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False))) + 1
            refuse_value(Path(self.path), name, row, "")
        return column

    def _labels(self, table: Any, before: int) -> np.ndarray:
        column = self._whole(table, self.target, before)
        types = parquet_library(Path(self.path))[0].types
        if is_words(column.type, types):
            column = column.dictionary_encode() if not types.is_dictionary(column.type) else column
            known = [str(word) in self.positive for word in column.dictionary.to_pylist()]
            return np.array(known, dtype=bool)[column.indices.to_numpy()]
        values = column.to_numpy(zero_copy_only=False)
        found = np.zeros(values.size, dtype=bool)
        for label in self.positive:
            found |= values == label
        return found
