"""One frame for all benchmarks: their options, the table as it grows, and its rows as a file.

A benchmark is a function that yields lines; `benchmark` makes a command of it. Its keyword
arguments are the options, with their types and defaults. Each line is shown when it comes:

* a `Table`: a heading and the titles of its columns, to which the rows after it belong;
* a tuple: a row, a value a column; None is shown as a dash;
* a str: text as it stands;
* a dict: a row for the files alone.

What the function returns is the exit status, None for 0.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import io
import math
import re
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from ...exact.errors import InputError
from ...exact.tools.compiling import compile_at_once
from ..files.written_files import write_atomically, write_json

ONE_THREAD = "Set OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1, so that one thread is measured."

_COLUMN = re.compile(r"(.*):([<>]?)(\d*)((?:\.\d+)?[a-z%]?)", re.DOTALL)


class Table:
    """A heading and columns.

    Parameters
    ----------
    heading : str
        Lines above the titles; empty for none.
    *columns : str
        "title:format" with a format of Python, such as "gap:8.1e" or "set:<12". Without a width
        it is free text, set off by two spaces.
    """

    def __init__(self, heading: str, *columns: str):
        self.heading = heading
        self._columns = []
        for column in columns:
            found = _COLUMN.fullmatch(column)
            if found is None:
                raise ValueError(f"{column!r} is not title:format")
            self._columns.append(found.groups())

    @property
    def titles(self) -> list[str]:
        """The names of the columns."""
        return [column[0] for column in self._columns]

    def show(self, values: Sequence[object]) -> str:
        """Return one row as text; values that are text themselves are only aligned."""
        cells = []
        for value, (_, align, width, form) in zip(values, self._columns, strict=True):
            text = "-" if value is None else value if isinstance(value, str) else f"{value:{form}}"
            cells.append(f"{text:{align or '>'}{width}}" if width else f" {text}")
        return " ".join(cells).rstrip()

    def __str__(self) -> str:
        return "\n".join([*filter(None, [self.heading]), self.show(self.titles)])


Line = Table | tuple[Any, ...] | str | dict[str, Any]
Lines = Generator[Line, None, int | None]


@dataclass(frozen=True)
class Benchmark:
    """A command made of a function that yields lines.

    Attributes
    ----------
    lines : function
        The docstring of its module says what is measured.
    help : dict
        Option to what it means.
    """

    lines: Callable[..., Lines]
    help: Mapping[str, str]

    def __call__(self, arguments: Sequence[str] | None = None) -> int:
        """Print the lines, write the files that are asked for, and return the exit status."""
        parser = self._parser()
        options = vars(parser.parse_args(arguments))
        writers = {write: options.pop(kind) for kind, write in _WRITERS.items()}
        for path in filter(None, writers.values()):
            if not path.parent.is_dir():
                parser.error(f"{path}: there is no folder {path.parent}")
        rows: list[dict[str, Any]] = []
        compile_at_once()
        try:
            return self._run(options, rows)
        except InputError as error:
            parser.error(str(error))
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return 130
        finally:
            for write, path in writers.items():
                if path:
                    write(path, rows)

    def _parser(self) -> argparse.ArgumentParser:
        parser = argparse.ArgumentParser(
            description=sys.modules[self.lines.__module__].__doc__,
            epilog=ONE_THREAD,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for name, option in inspect.signature(self.lines, eval_str=True).parameters.items():
            shown = "" if option.default in ((), None) else f"default {_shown(option.default)}"
            told = ", ".join(filter(None, [self.help.get(name, ""), shown]))
            flag = f"--{name.replace('_', '-')}"
            if option.default is False:  # a switch: bool("False") would be True
                parser.add_argument(flag, action="store_true", help=self.help.get(name))
                continue
            parser.add_argument(
                flag,
                type=(get_args(option.annotation) or (option.annotation,))[0],
                nargs="*" if isinstance(option.default, tuple) else None,
                default=option.default,
                help=told.replace("%", "%%"),
            )
        for kind in _WRITERS:
            parser.add_argument(f"--{kind}", type=Path, help=f"file for the rows, as {kind}")
        return parser

    def _run(self, options: dict[str, Any], rows: list[dict[str, Any]]) -> int:
        lines, table = self.lines(**options), Table("")
        while True:
            try:
                line = next(lines)
            except StopIteration as end:
                return end.value or 0
            if isinstance(line, Table):
                table = line
            if isinstance(line, tuple):
                heading = {"table": table.heading.replace("\n", " ")}
                rows.append(heading | dict(zip(table.titles, line, strict=True)))
                line = table.show(line)
            if isinstance(line, dict):
                rows.append(line)
            else:
                print(line, flush=True)


def benchmark(**help: str) -> Callable[[Callable[..., Lines]], Benchmark]:
    """Make a command of a function that yields lines; the arguments explain its options."""
    return lambda lines: Benchmark(lines, help)


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _finite(value: Any) -> Any:
    """Return a plain value; None for NaN and infinity, which JSON does not have."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write_json(path: Path, rows: list[dict[str, Any]]) -> None:
    write_json(path, [{title: _finite(value) for title, value in row.items()} for row in rows])


def _write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    text = io.StringIO()
    file = csv.DictWriter(text, list(dict.fromkeys(title for row in rows for title in row)))
    file.writeheader()
    file.writerows(rows)
    write_atomically(path, lambda file: file.write(text.getvalue().encode()))


_WRITERS = {"json": _write_json, "csv": _write_csv}
