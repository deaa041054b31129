"""Numbers as float64, unless float64 cannot hold them.

A certificate is about the numbers that were computed with. So what would be rounded (time stamps in
nanoseconds, whole numbers beyond 2^53, the long format) or dropped (imaginary parts, what is under
a mask) is refused. Decimal text and decimal fractions mean the nearest float64, as everywhere.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from numbers import Rational, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError

EXACT = 2.0**53
"""Every whole number up to here is one of float64."""


def check_labels(y: object, name: str = "y") -> np.ndarray:
    """Return labels as an array that keeps different ones apart.

    Raises
    ------
    InputError
        If they are masked, or a list mixes types so that numpy would merge some of them.
    """
    _refuse_masked(y, name)
    labels = in_memory(np.asarray(y))
    if isinstance(y, list | tuple) and labels.dtype.kind == "f":
        as_float64(y, name)
    return labels


def as_float64(values: object, name: str, what: str = "numbers") -> np.ndarray:
    """Return numbers as float64, themselves if they are an array of it in memory.

    Parameters
    ----------
    values : array or sequence of any shape, series, or data frame
    name, what : str
        For messages: `name` must be `what`.

    Raises
    ------
    InputError
        If they are no real numbers, are masked, or float64 cannot hold one of them.
    """
    if sp.issparse(values):
        raise InputError(f"{name} must be {what}, not a sparse matrix")
    _refuse_masked(values, name)
    columns = _mixed_columns(values)
    if columns is not None:
        parts = [_column(k, column, name, what) for k, column in enumerate(columns)]
        return np.column_stack(parts) if parts else np.empty((len(values), 0))  # type: ignore[arg-type]
    try:
        given = np.asarray(values)
        if isinstance(values, list | tuple) and given.dtype.kind == "f" and is_large(given).any():
            given = np.array(values, dtype=object)  # numpy has rounded whole numbers already
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must be {what}: {error}") from None
    return in_memory(_float64(given, name, what))


def _column(k: int, column: Any, name: str, what: str) -> np.ndarray:
    _refuse_masked(column, name)
    try:
        given = np.asarray(column)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must be {what}: {error}") from None
    return _float64(given, name, what, k)


def _mixed_columns(values: Any) -> list[Any] | None:
    """Return the columns of a data frame of several types, which numpy would make one of."""
    if hasattr(values, "iloc") and getattr(values, "ndim", 0) == 2:  # as pandas has it
        kinds = list(values.dtypes)
        if all(isinstance(kind, np.dtype) and kind == kinds[0] for kind in kinds):
            return None
        return [values.iloc[:, k] for k in range(len(kinds))]
    for method in ("iter_columns", "itercolumns"):  # as polars and pyarrow have it
        if callable(getattr(values, method, None)):
            return list(getattr(values, method)())
    return None


def _refuse_masked(values: object, name: str) -> None:
    """Refuse masked arrays with masked entries: numpy reads what is under the mask."""
    parts: Any = values if isinstance(values, list | tuple) else [values]
    for row, part in enumerate(parts):
        if part is np.ma.masked or (isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part)):
            at = tuple(int(k) for k in np.argwhere(np.ma.getmaskarray(part))[0])
            place = place_of(at if part is values else (row, *at))
            raise InputError(f"{name} is masked{place}: fill in or remove what is missing first")


def _float64(given: np.ndarray, name: str, what: str, column: int | None = None) -> np.ndarray:
    kind = given.dtype.kind
    if kind == "c" or (kind == "O" and any(map(_is_complex, given.flat))):
        raise InputError(f"{name} must be {what}; it holds complex ones")
    if kind not in "biufOSU":
        raise InputError(f"{name} must be {what}, not of {given.dtype}")

    def place(at: int) -> str:
        where = tuple(int(k) for k in np.unravel_index(at, given.shape))
        return place_of(where if column is None else (*where, column))

    try:
        return promoted_exactly(given, name, place)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} must be {what}: {error}") from None


def _is_complex(value: object) -> bool:
    return isinstance(value, complex | np.complexfloating)


def place_of(where: tuple[int, ...]) -> str:
    """Return the words that say where a number stands."""
    if not where:
        return ""
    if len(where) == 2:
        return f" in row {where[0]}, column {where[1]} (from 0)"
    return f" at place {', '.join(map(str, where))} (from 0)"


def promoted_exactly(given: np.ndarray, name: str, place: Callable[[int], str]) -> np.ndarray:
    """Return float64 of real numbers, or refuse the first that it cannot hold."""
    with np.errstate(over="ignore", invalid="ignore"):
        held = given.astype(float, copy=False)
    lost = _lost(given, held)
    if lost.size:
        at = int(lost[0])
        if given.dtype.kind == "f":
            raise InputError(
                f"{name} has a number of the long format{place(at)} that float64 cannot hold: "
                "round it first, with astype(float)"
            )
        raise InputError(
            f"{name} holds {given.flat[at]}{place(at)}, which float64 would round to "
            f"{held.flat[at]:.17g}: subtract an offset or round it first"
        )
    return held


def lost_digits(given: np.ndarray) -> np.ndarray:
    """Return the flat places of the numbers that float64 cannot hold."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _lost(given, given.astype(float, copy=False))


def is_large(held: np.ndarray) -> np.ndarray:
    """Where float64 does not hold every whole number."""
    return (held >= EXACT) | (held <= -EXACT)


def _lost(given: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Return the flat places of the numbers that became others."""
    kind, size = given.dtype.kind, given.dtype.itemsize
    if kind in "OSU":
        suspects = range(held.size) if kind == "O" else np.flatnonzero(is_large(held))
        found = [k for k in suspects if loses_digits(given.flat[k], held.flat[k])]
        return np.array(found, dtype=int)
    if kind == "f" and size > 8:
        return np.flatnonzero((held != given) & ~np.isnan(given))
    if kind in "iu" and size == 8:
        top = 2.0**63 if kind == "i" else 2.0**64
        with np.errstate(invalid="ignore"):
            back = held.astype(given.dtype)
        return np.flatnonzero(is_large(held) & ((held >= top) | (back != given)))
    return np.empty(0, dtype=int)


def loses_digits(given: Any, held: float) -> bool:
    """Return whether a number or its text is not what the float64 `held` made of it is.

    Text and decimals mean the nearest float64 where they are smaller than 2^53, and so does text
    with an exponent; beyond that they are taken for whole numbers that have to be kept.
    """
    if isinstance(given, str | bytes):
        text = given.decode() if isinstance(given, bytes) else given
        if not (EXACT <= abs(held) < np.inf) or "e" in text.lower():
            return False
        try:
            given = Decimal(text.strip())
        except InvalidOperation:
            return False
    held = float(held)
    if isinstance(given, np.generic):
        given = given.item()  # as numpy compares, a float would make the whole number one
    if isinstance(given, Decimal) or (isinstance(given, Rational) and given.denominator != 1):
        return EXACT <= abs(held) < np.inf and given != Decimal(held)  # exact, as == of Decimals is
    return isinstance(given, Real) and given == given and given != held


def in_memory(array: np.ndarray) -> np.ndarray:
    """Return an array, copied if it lies on disk."""
    return np.array(array) if on_disk(array) else array


def on_disk(array: np.ndarray) -> bool:
    """Return whether an array is a view of a memory-mapped file."""
    base: Any = array
    while base is not None:
        if isinstance(base, np.memmap | mmap.mmap):
            return True
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return False
