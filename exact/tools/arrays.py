"""The one door for data and parameters: all become float64 here, once, or what would be rounded or
dropped is refused, as a certificate is about the numbers that were computed with. Decimal text and
fractions mean the nearest float64. The caller's data are never written to; what may change
meanwhile (on disk), or a sparse matrix that is not in its one form, is copied."""

import math
import mmap
from collections.abc import Callable, Collection, Mapping
from copy import copy
from decimal import Decimal, InvalidOperation
from functools import cache
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError, brief, meant

EXACT = 2.0**53  # every whole number up to here is one of float64
# Largest quotient of two weights > 0: products of those further apart lose digits, or underflow.
FAR_APART = 1e100


@np.errstate(over="ignore", invalid="ignore")
def promoted_exactly(given: np.ndarray, name: str, place: Callable[[int], str]) -> np.ndarray:
    """Return float64 of real numbers, or refuse the first that it cannot hold."""
    held = given.astype(float, copy=False)
    lost = _lost(given, held)
    if lost.size:
        at = int(lost[0])
        if given.dtype.kind == "f":
            do = "round it first, with astype(float)"
            do = do if np.isfinite(held.flat[at]) else "it overflows there, so rescale it first"
            raise InputError(
                f"{name} has a number of the long format{place(at)} that float64 cannot hold: {do}"
            )
        raise InputError(
            f"{name} holds {given.flat[at]}{place(at)}, which float64 would round to "
            f"{held.flat[at]:.17g}: subtract an offset or round it first"
        )
    return held


@np.errstate(over="ignore", invalid="ignore")
def lost_digits(given: np.ndarray) -> np.ndarray:
    """Return the flat places of the numbers that float64 cannot hold."""
    return _lost(given, given.astype(float, copy=False))


def is_large(held: np.ndarray) -> np.ndarray:
    """Return where float64 cannot hold every whole number of that size."""
    return (held >= EXACT) | (held <= -EXACT)


def _lost(given: np.ndarray, held: np.ndarray) -> np.ndarray:
    kind, size = given.dtype.kind, given.dtype.itemsize
    if kind in "OSU":
        suspects = range(held.size) if kind == "O" else np.flatnonzero(is_large(held))
        return np.array([k for k in suspects if loses_digits(given.flat[k], held.flat[k])], int)
    if kind == "f" and size > 8:
        return np.flatnonzero((held != given) & ~np.isnan(given))
    if kind in "iu" and size == 8:
        top, back = 2.0**63 if kind == "i" else 2.0**64, held.astype(given.dtype)
        return np.flatnonzero(is_large(held) & ((held >= top) | (back != given)))
    return np.empty(0, dtype=int)


def loses_digits(given: Any, held: float) -> bool:
    """Whether `held` is another number; decimals below 2^53 and text with an exponent may round."""
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


def check_labels(y: object, name: str = "y") -> np.ndarray:
    """Return labels as an array that keeps different ones apart."""
    _refuse_masked(y, name)
    try:
        labels = in_memory(np.asarray(y))
    except ValueError:  # a list of lists of several lengths
        raise InputError(f"{name} must have one entry each, not a list of lists") from None
    if isinstance(y, list | tuple) and labels.dtype.kind == "f":
        as_float64(y, name)  # refuses what numpy has rounded
    return labels


def check_one_type(parts: Mapping[str, np.ndarray], what: str) -> None:
    """Raise `InputError` unless arrays to be joined are of one type, so that labels stay apart."""
    seen: dict[str, str] = {}
    for name, part in parts.items():
        seen.setdefault("text" if part.dtype.kind in "OUS" else str(part.dtype), name)
    if len(seen) > 1:
        both = " and ".join(f"{kind} in {name}" for kind, name in list(seen.items())[:2])
        raise InputError(f"{what} are {both}: make them of one type")


def why_unsorted(labels: np.ndarray, where: str = "") -> str:
    """Return why labels (objects) have no order: one is missing, or they are of mixed types."""
    # What stands for a missing value differs from itself, or does not say.
    missing = np.array([one is None or (one != one) is not False for one in labels.tolist()])
    try:
        np.unique(labels[~missing])
    except TypeError:
        return "the labels are of mixed types: use numbers or strings"
    row = int(np.argmax(missing))
    return f"the label of row {row}{where} is missing: remove the row or set a label"


def as_float64(values: object, name: str, what: str = "numbers") -> np.ndarray:
    """Return numbers as float64, themselves if they are an array of it in memory."""
    if sp.issparse(values):
        raise InputError(f"{name} must be {what}, not a sparse matrix")
    columns = _mixed_columns(values)
    if columns is None:
        return in_memory(_float64(values, name, what))
    parts, names = [], frame_names(values) or range(len(columns))
    for k, (column, title) in enumerate(zip(columns, names, strict=True)):
        try:
            parts.append(_float64(column, name, what, k))
        except InputError:
            if any(isinstance(value, str) for value in np.asarray(column, object).flat):
                text = f"column {title!r} of {name} holds text: encode or drop it"
                raise InputError(text) from None
            raise
    return np.column_stack(parts) if parts else np.empty((len(values), 0))  # type: ignore[arg-type]


def _mixed_columns(values: Any) -> list[Any] | None:
    """Return the columns of a data frame of several types, which numpy would make one of."""
    if hasattr(values, "iloc") and getattr(values, "ndim", 0) == 2:  # as pandas has it
        kinds = list(values.dtypes)
        if all(isinstance(k, np.dtype) and k == kinds[0] and k.kind != "O" for k in kinds):
            return None
        return [values.iloc[:, k] for k in range(len(kinds))]
    for method in ("iter_columns", "itercolumns"):  # as polars and pyarrow have it
        if callable(getattr(values, method, None)):
            return list(getattr(values, method)())
    return None


def frame_names(X: Any) -> list[Any]:
    """Return the names of the columns of a pandas, polars or pyarrow table, and none otherwise."""
    columns = getattr(X, "columns", None)
    if isinstance(columns, list) and not all(isinstance(name, str) for name in columns):
        columns = getattr(X, "column_names", columns)  # `columns` of pyarrow are the data
    return list(columns) if hasattr(columns, "__iter__") else []  # type: ignore[arg-type]


def _refuse_masked(values: object, name: str) -> None:
    """Refuse arrays with masked entries: numpy reads what is under the mask."""
    parts: Any = values if isinstance(values, list | tuple) else [values]
    for row, part in enumerate(parts):
        if part is np.ma.masked or (isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part)):
            at = tuple(int(k) for k in np.argwhere(np.ma.getmaskarray(part))[0])
            place = place_of(at if part is values else (row, *at))
            raise InputError(f"{name} is masked{place}: fill in or remove what is missing first")


def _float64(values: Any, name: str, what: str, column: int | None = None) -> np.ndarray:
    _refuse_masked(values, name)

    def place(at: int) -> str:
        where = tuple(int(k) for k in np.unravel_index(at, given.shape))
        return place_of(where if column is None else (*where, column))

    try:
        given = np.asarray(values)
        if isinstance(values, list | tuple) and given.dtype.kind == "f" and is_large(given).any():
            given = np.array(values, dtype=object)  # numpy has rounded whole numbers already
        kind = given.dtype.kind
        if kind == "c" or (
            kind == "O" and any(isinstance(x, complex | np.complexfloating) for x in given.flat)
        ):
            raise InputError(f"{name} must be {what}; it holds complex ones")
        if kind not in "biufOSU":
            raise InputError(f"{name} must be {what}, not of {given.dtype}")
        return given if given.dtype == np.float64 else promoted_exactly(given, name, place)
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must be {what}: {error}") from None


def place_of(where: tuple[int, ...]) -> str:
    if len(where) == 2:
        return f" in row {where[0]}, column {where[1]} (from 0)"
    return f" at place {', '.join(map(str, where))} (from 0)" if where else ""


def out_of_range(X: Any, why: str, start: int = 0) -> InputError:
    """Return the error that names the largest value; `start` is the number of the first row."""
    entries: Any = sp.coo_matrix(X)
    at = int(np.argmax(np.abs(entries.data)))
    place = place_of((start + int(entries.row[at]), int(entries.col[at])))
    return InputError(f"X has values {why}: rescale it; the largest is {entries.data[at]:g}{place}")


def in_memory(array: np.ndarray) -> np.ndarray:
    return np.array(array) if on_disk(array) else array


def on_disk(array: np.ndarray) -> bool:
    """Return whether an array is a view of a memory-mapped file."""
    base: Any = array
    while base is not None:
        if isinstance(base, np.memmap | mmap.mmap):
            return True
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return False


def check_matrix(X: object, name: str = "X") -> np.ndarray | sp.csr_matrix:
    """Return X as float64: dense, or CSR in canonical form; copied if on disk."""
    if sp.issparse(X):
        matrix: Any = canonical(X, name)
        values = matrix.data
    else:
        matrix = values = as_float64(X, name, "a matrix of numbers")
    if matrix.ndim != 2:
        raise _no_matrix(name, matrix.ndim)
    if 0 in matrix.shape:
        raise InputError(f"{name} is empty: its shape is {matrix.shape}")
    if not np.isfinite(values).all():
        coo: Any = sp.coo_matrix(matrix)
        at = int(np.argmin(np.isfinite(coo.data)))
        place = place_of((int(coo.row[at]), int(coo.col[at])))
        raise InputError(f"{name} has a value that is not finite{place}: remove or impute it first")
    return matrix


def _no_matrix(name: str, ndim: int) -> InputError:
    shown = {0: "a single value", 1: "one row of numbers: X.reshape(-1, 1) makes one column of it"}
    found = shown.get(ndim, f"an array of {ndim} dimensions")
    return InputError(f"{name} must be a matrix, one row per sample, not {found}")


def canonical(X: Any, name: str = "X") -> sp.csr_matrix:
    """Return a sparse matrix as CSR of float64: no repeated, no zero entries, sorted. It shares the
    arrays of a matrix that is all this already."""
    if X.ndim != 2:
        raise _no_matrix(name, X.ndim)
    kind = np.dtype(getattr(X, "dtype", object)).kind
    if kind == "c":
        raise InputError(f"{name} must be a matrix of numbers; it holds complex ones")
    if kind not in "fiub":
        raise InputError(f"{name} must be a matrix of numbers, not of {X.dtype}")
    try:
        # A new matrix has no flags that may be out of date.
        if X.format in ("csr", "csc"):
            kept = sp.csr_matrix if X.format == "csr" else sp.csc_matrix
            own = kept((X.data, X.indices, X.indptr), shape=X.shape)
            own.check_format(full_check=True)
        else:
            own = X.tocoo(copy=True)
    except (ValueError, IndexError) as error:
        raise InputError(f"{name} is not a valid sparse matrix: {error}") from None
    if kind == "b":  # repeated truth values stay such; others become float64 before they are summed
        own = own.copy()
        own.sum_duplicates()

    def place(at: int) -> str:
        entries = own.tocoo()
        return place_of((int(entries.row[at]), int(entries.col[at])))

    own.data = promoted_exactly(own.data, name, place)
    made = sp.csr_matrix(own)
    parts = (made.data, made.indices, made.indptr)
    whole = made.has_canonical_format and made.data.size == made.nnz and made.data.all()
    if not whole or any(on_disk(x) or not x.flags.c_contiguous for x in parts):
        made = made.copy()
        made.sum_duplicates()
        made.eliminate_zeros()
    return made


def adapted(own: Any, base: Any, what: str, *more: str) -> Any:
    """Return `own` as a child of `base`, whose defaults stand in for the powers that it lacks."""
    if isinstance(own, base):
        return own
    wanted = (*more, *sorted(base.__abstractmethods__))
    missing = [name for name in wanted if not hasattr(own, name)]
    if missing:
        raise InputError(
            f"unknown {what} {brief(own)}: take one of ours, or an object with {', '.join(wanted)} "
            f"(it lacks {missing[0]})"
        )
    made = copy(own)
    object.__setattr__(made, "__class__", _child(type(own), base))
    return made


@cache
def _child(kind: type, base: type) -> type:
    return type(base)(kind.__name__, (kind, base), {})


def check_number(
    name: str, value: object, low: float = 0.0, high: float = math.inf, *, closed: str = "neither"
) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name} must be a number, not {brief(value)}")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        number = math.inf
    above = number >= low if closed in ("low", "both") else number > low
    below = number <= high if closed in ("high", "both") else number < high
    if not (math.isfinite(number) and above and below):
        left = f"{'>=' if closed in ('low', 'both') else '>'} {low:g}"
        right = f" and {'<=' if closed in ('high', 'both') else '<'} {high:g}"
        right = right if high < math.inf else "" if math.isfinite(number) else " and finite"
        raise InputError(f"{name} must be {left}{right}, not {brief(value)}")
    return number


def check_count(name: str, value: object, low: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < low:
        raise InputError(f"{name} must be a whole number >= {low}, not {brief(value)}")
    if int(value) > 2**62:
        raise InputError(f"{name} must be a whole number <= 2^62, not {brief(value)}")
    return int(value)


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        hint = meant(value, choices) if isinstance(value, str) else ""
        raise InputError(f"{name} must be one of {', '.join(choices)}, not {brief(value)}{hint}")
    return value


def check_callback(callback: object) -> None:
    if callback is not None and not callable(callback):
        raise InputError(f"callback must be a function or None, not {brief(callback)}")


def rescale_weights(weight: np.ndarray) -> np.ndarray:
    """Return weights, scaled by a power of two if their products would overflow or underflow."""
    top = float(weight.max(initial=0.0))
    least = float(weight.min(where=weight > 0, initial=top))
    if least < top / FAR_APART:
        raise InputError(
            f"the weights above zero are between {least:g} and {top:g}: where they are more than a "
            f"factor of {FAR_APART:g} apart their products lose digits, so set small ones to zero"
        )
    within = 1e-50 < top < 1e50 or top == 0
    return weight if within else np.ldexp(weight, -int(np.frexp(top)[1]))


def own(values: np.ndarray) -> np.ndarray:
    """Return an array that its maker cannot change while it is computed with: itself, or a copy."""
    if values.flags.writeable or values.base is not None:
        values = values.copy()
        values.flags.writeable = False
    return values


def check_scores(scores: np.ndarray, positive: np.ndarray) -> None:
    if scores.shape != positive.shape:
        raise InputError(f"{positive.size} rows, but scores of shape {scores.shape}")
    if not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise InputError(f"the score of row {row} is {scores[row]}: scores must be finite")


def as_float_scores(scores: np.ndarray) -> np.ndarray:
    """Return scores as float64; longdouble ones stay, since bounds of rounding cover both."""
    return scores if scores.dtype == np.longdouble else scores.astype(float, copy=False)


def check_tolerance(tol: float, max_time: float | None) -> None:
    check_number("tol", tol)
    if max_time is not None:
        check_number("max_time", max_time)
