"""Result files, complete or not at all; and JSON whose numbers are all finite."""

import csv
import io
import json
import math
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...exact.errors import InputError, meant
from ...exact.tools.atomic_files import write_atomically


def check_name(what: str, name: str, known: Collection[str], otherwise: str) -> None:
    """Raise `InputError` for a name that is not known, with those that are near."""
    if name not in known:
        raise InputError(f"no {what} is called {name!r}{meant(name, known) or f': {otherwise}'}")


def made_folder(out: str | Path) -> Path:
    if not str(out).strip():
        raise InputError("out needs the name of a folder ('.' is the current folder)")
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"out {out}: cannot be made ({error.strerror or error})") from None
    return Path(out)


def write_vector(
    path: str | Path, values: np.ndarray, title: str, names: Sequence[str] | None = None
) -> None:
    """Write one vector as a CSV file that reads back bit for bit, below its title. With names, one
    a number, they stand before the numbers, below the title `feature`."""
    columns = [[title, *map(repr, values.tolist())]]
    columns = columns if names is None else [["feature", *names], *columns]
    write_text(path, csv_text(zip(*columns, strict=True)))


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def write_text(path: str | Path, text: str) -> None:
    write_atomically(path, lambda file: file.write(text.encode()))


def write_json(path: str | Path, document: Any) -> None:
    """Write a JSON document, indented, UTF-8; NumPy numbers and arrays become plain ones. NaN and
    infinity, which JSON does not have, are refused."""
    try:
        form: Any = {"indent": 2, "allow_nan": False, "ensure_ascii": False}
        text = json.dumps(document, default=plain_json, **form)
    except ValueError as error:
        raise InputError(f"{path}: {error}: use null instead") from error
    write_text(path, f"{text}\n")


def plain_json(value: object) -> object:
    """Return what JSON makes of a number or an array of NumPy, or of a path."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def finite_json(text: str | bytes) -> Any:
    """Return what a JSON document says; `ValueError` for NaN, infinity and what no float holds."""
    # int refuses both words
    return json.loads(text, parse_constant=int, parse_float=_finite, parse_int=_whole)


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"{digits} is beyond the range of a float")
    return number


def _whole(digits: str) -> int:
    _finite(digits)
    return int(digits)
