"""Writing result files: complete or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ...exact.errors import InputError


def write_atomically(path: str | Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file under a temporary name in the same folder, then put it in its place.

    A reader sees the old file or the new one, never a part; a failure leaves the old one and
    nothing else behind. Links are followed, and the permissions of an old file are kept. What is
    no ordinary file (`/dev/stdout`, a pipe) is written directly.

    Parameters
    ----------
    path : str or Path
        The folder must exist.
    write : function
        Gets the file, open for bytes.

    Raises
    ------
    InputError
        If the file cannot be written. Whatever `write` itself raises passes through, except
        `OSError`, which becomes an `InputError`.
    """
    final = Path(os.path.realpath(path))
    if final.is_dir():
        raise InputError(f"{path}: this is a folder, a file name is needed")
    if not final.parent.is_dir():
        raise InputError(f"{path}: there is no folder {final.parent}: make it first")
    try:
        if final.exists() and not final.is_file():
            with open(final, "wb") as file:
                write(file)
        else:
            _replace(final, write)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error


def _replace(final: Path, write: Callable[[BinaryIO], object]) -> None:
    temporary = final.with_name(f".{final.name[:100]}.{secrets.token_hex(8)}.tmp")
    # "x" and not a private temporary file: the permissions are those of any new file.
    file = open(temporary, "xb")  # noqa: SIM115
    try:
        with file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if final.exists():
            shutil.copymode(final, temporary)
        os.replace(temporary, final)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


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
