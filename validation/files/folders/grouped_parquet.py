"""Row groups of a Parquet file whose rows have a query and a grade instead of a class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from ....exact.spaces.partitions.grouped.blocks import GroupedBlock, named
from ..tables.parquet_files import is_words, parquet_library
from .parquet_partition import ParquetPartition


@dataclass(frozen=True)
class GroupedParquetPartition(ParquetPartition):
    """Row groups of a file; the label column holds grades.

    Parameters
    ----------
    qid : str
        The column of the queries.
    """

    qid: str = ""

    @property
    def beside(self) -> tuple[str, ...]:
        """Columns that are read beside the features and the grades."""
        return (*super().beside, self.qid)

    def blocks(self) -> Iterator[Any]:
        """Yield its rows in order: of the type `GroupedBlock`."""
        return super().blocks()

    def _blocks_of(self, table: Any, before: int) -> Iterator[Any]:
        """Yield the blocks of a table whose first row is number `before` of the file."""
        key = self._column(table, self.target, before).astype(float)
        group, start = self._groups(table, before), 0
        for block in super()._blocks_of(table, before):
            rows = slice(start, start + block.columns.shape[1])
            start = rows.stop
            yield GroupedBlock(block.columns, block.weight, group[rows], key[rows])

    def _groups(self, table: Any, before: int) -> np.ndarray:
        column = self._whole(table, self.qid, before)
        types = parquet_library(Path(self.path))[0].types
        if is_words(column.type, types):
            return np.array([str(word) for word in column.to_pylist()])
        return named(column.to_numpy(zero_copy_only=False), self.path)

    def _labels(self, table: Any, before: int) -> np.ndarray:
        return np.zeros(table.num_rows, dtype=bool)  # rows have no class


def may_be_cut(metadata: Any, qid: str) -> list[bool]:
    """Return before which row groups a file may be cut, so that no query is split.

    There the largest query before is below the smallest one behind, as the file's own statistics
    say. Where it has none, nothing may be cut.
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
        told = group.column(k).statistics
        if group.column(k).path_in_schema == qid and told is not None and told.has_min_max:
            return told.min, told.max
    return None
