"""Writing result files: complete or not at all."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from ...exact.errors import InputError
from ...exact.tools.atomic_files import write_atomically

__all__ = ["write_atomically", "write_json", "write_vector"]


def write_vector(path: str | Path, values: np.ndarray, name: str) -> None:
    """Write a CSV file of one column that reads back bit for bit.

    Parameters
    ----------
    path : str or Path
    values : array (m,) of float
    name : str
        The column's name, the first line.

    Raises
    ------
    InputError
        If the values are not one finite vector, or the file cannot be written.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise InputError(f"{path}: {name} to write must be one vector of finite numbers")
    text = "\n".join([name, *map(repr, numbers.tolist())]) + "\n"
    write_atomically(path, lambda file: file.write(text.encode()))


def write_named_vector(path: str | Path, values: np.ndarray, names: list[str], what: str) -> None:
    """Write a CSV file of two columns, `feature` and `what`, that reads back bit for bit.

    Raises
    ------
    InputError
        If the values are not finite, or the file cannot be written.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (len(names),) or not np.isfinite(numbers).all():
        raise InputError(f"{path}: {what} to write must be one finite number for each name")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["feature", what])
    writer.writerows(zip(names, map(repr, numbers.tolist()), strict=True))
    write_atomically(path, lambda file: file.write(text.getvalue().encode()))


def write_json(path: str | Path, document: Any) -> None:
    """Write a JSON document, indented, UTF-8; NumPy numbers and arrays become plain ones.

    Raises
    ------
    InputError
        If it holds NaN or infinity, which JSON does not have, or cannot be written.
    """
    try:
        text = json.dumps(
            document, indent=2, allow_nan=False, ensure_ascii=False, default=_plain_json
        )
    except ValueError as error:
        raise InputError(f"{path}: {error}: use null instead") from error
    write_atomically(path, lambda file: file.write(f"{text}\n".encode()))


def _plain_json(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
