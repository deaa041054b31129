"""The names of columns: what a nameless one is called, which are unclear, and which are meant."""

from __future__ import annotations

import csv
import difflib
import io
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from ...exact.errors import InputError


class Unnamed(str):
    """What a column without a name is called; a name that reads so is none of these."""

    __slots__ = ()


def named(fields: Sequence[str]) -> list[str]:
    """Return the names of columns: one without a name is called by its place, "column 1"."""
    return [name or Unnamed(f"column {place}") for place, name in enumerate(fields, start=1)]


def unclear_names(names: Sequence[str], used: Collection[str] | None = None) -> dict[str, str]:
    """Return which columns their names do not tell apart, and why.

    Parameters
    ----------
    names : list of str
        Of all columns, as `named` returns them.
    used : collection of str, optional
        The columns that matter; all by default.
    """
    found: dict[str, str] = {}
    times = Counter(names)
    for place, name in enumerate(names, start=1):
        if used is not None and name not in used:
            continue
        if isinstance(name, Unnamed):
            origin = "a saved row index" if place == 1 else "a separator at the end of each row"
            hint = f" ({origin}?)" if place in (1, len(names)) else ""
            found[name] = f"column {place} has no name in row 1{hint}"
        elif times[name] > 1:
            shown = "two" if times[name] == 2 else times[name]
            found[name] = f"{shown} columns are called '{name}'"
    return found


def target_place(path: Path, names: Sequence[str], target: str | None) -> int:
    """Place of the target column (the last one by default), leaving at least one feature.

    Raises
    ------
    InputError
        If there is no such column, or nothing is left beside it.
    """
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
    shown = [f"'{n}'" for n in list(names)[:10]]
    return f"the {what} are " + ", ".join(shown) + (", ..." if len(names) > 10 else "")


def option_of(names: Iterable[str]) -> str:
    """Return names as `--drop` and `--columns` read them: one with a comma between quotes."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()
