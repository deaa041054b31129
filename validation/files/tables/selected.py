"""A part of the columns of a table that was read whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..file_checks import RawTable
from .selection import Selection


def selected(path: Path, table: RawTable, asked: Selection) -> RawTable:
    """Return the table with the features that were asked for.

    Raises
    ------
    InputError
        For a feature that is not there.
    """
    if not asked.is_partial:
        return table
    found = asked.places(path, table.columns, None)
    names = [table.columns[k] for k in found.features]
    rows = table.X[:, found.features]
    return replace(table, X=rows, columns=names, ignored=[*table.ignored, *found.ignored])
