"""Reading arrays, and a table with labels, from npz files."""

from __future__ import annotations

import math
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np

from ....exact.errors import InputError
from ...memory import check_room, shown
from ..column_names import nearest
from ..file_checks import RawTable, damage_reported, finite_rows
from ..labels import Labels, array_labels
from .selected import selected
from .selection import Selection


def read_arrays(path: Path, wanted: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """Read arrays of an npz file, never a pickled object.

    Parameters
    ----------
    path : Path
    wanted : names of the arrays; all of them if empty. Absent ones are left out.

    Raises
    ------
    InputError
        If the file is damaged, or not a readable npz, or an array holds Python objects.
    """
    errors = (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, NotImplementedError)
    with damage_reported(path, "npz", *errors, RuntimeError):
        if not zipfile.is_zipfile(path):
            raise InputError(f"{path}: damaged, or not a readable npz file")
        check_declared(path, wanted)
        with np.load(path, allow_pickle=False) as archive:
            arrays = {k: archive[k] for k in archive.files if not wanted or k in wanted}
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):  # np.load hands out other members as bytes
            raise InputError(
                f"{path}: damaged, or not a readable npz file ('{name}' is not an array)"
            )
    return arrays


def check_declared(path: Path, wanted: tuple[str, ...] = ()) -> None:
    """Raise if an array of an npz file is said to be larger than its bytes, or than the memory.

    Raises
    ------
    InputError
    ValueError
        If a header is damaged.
    """
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name == info.filename or (wanted and name not in wanted):
                continue
            with archive.open(info) as member:
                size = declared_size(member)
            if size > info.file_size:
                raise InputError(
                    f"{path}: damaged, array '{name}' is said to have {shown(size)}, "
                    f"the file holds {shown(info.file_size)} of it"
                )
            check_room(f"{path}, array '{name}'", size, "take a part of it")


def declared_size(file: IO[bytes]) -> int:
    """Return the bytes of the array that the header of an npy file declares."""
    read = np.lib.format
    major, _ = read.read_magic(file)
    header = read.read_array_header_1_0 if major == 1 else read.read_array_header_2_0
    if major > 2:
        return 0  # names of fields in Unicode: nothing that we read
    shape, _, dtype = header(file)
    return math.prod(shape) * dtype.itemsize


def array_names(path: Path) -> list[str]:
    """Names of the arrays in an npz file, without reading them."""
    with damage_reported(path, "npz", zipfile.BadZipFile, OSError), zipfile.ZipFile(path) as file:
        return [name.removesuffix(".npy") for name in file.namelist()]


def read_npz(path: Path, target: Selection | str | None = None) -> RawTable:
    """Read the arrays `X` (n, d) and `y` (n,), or another label array, of an npz file.

    Parameters
    ----------
    path : Path
    target : str, optional
        Name of the label array; `y` by default.

    Returns
    -------
    RawTable
        Columns are named by the array `feature_names` (d,) if there is one. Rows count from 1.

    Raises
    ------
    InputError
        If an array is missing, or does not hold finite numbers, or the shapes do not fit.
    """
    asked = Selection.of(target)
    target = "y" if asked.target is None else asked.target
    held = array_names(path)
    for name in ("X", target) if asked.labelled else ("X",):
        if name not in held:
            raise InputError(f"{path}: no array '{name}'; {nearest(name, held, 'arrays')}")
    read = ("X", target, "feature_names") if asked.labelled else ("X", "feature_names")
    arrays = read_arrays(path, read)
    X = arrays["X"]
    y = arrays[target] if asked.labelled else np.zeros(X.shape[:1])
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise InputError(
            f"{path}: 'X' must have shape (n, d) and '{target}' shape (n,); "
            f"they have {X.shape} and {y.shape}"
        )
    _check_feature_names(path, arrays.get("feature_names"), X.shape[1])
    columns = column_names(arrays, X.shape[1])
    where = f"{path}, array '{target}'"
    unused = [name for name in held if name not in read]
    labels = array_labels(y, where) if asked.labelled else Labels([], np.empty(0, int))
    table = selected(path, RawTable(X, labels, columns, target, unused), asked)
    return replace(table, X=finite_rows(path, table.X, table.columns))


def _check_feature_names(path: Path, names: np.ndarray | None, d: int) -> None:
    """Refuse names of which nobody can tell which column they mean."""
    if names is None or names.dtype.kind != "U":
        return
    if names.shape != (d,):
        raise InputError(f"{path}: 'feature_names' has shape {names.shape}, X has {d} columns")
    found, counts = np.unique(names, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"{path}: 'feature_names' has '{found[counts > 1][0]}' twice: rename one")


def column_names(arrays: dict[str, np.ndarray], d: int) -> list[str]:
    """Names from `feature_names` if they are d pieces of text, else "1" to "d"."""
    names = arrays.get("feature_names")
    if names is not None and names.shape == (d,) and names.dtype.kind == "U":
        return [str(name) for name in names]
    return [str(k) for k in range(1, d + 1)]
