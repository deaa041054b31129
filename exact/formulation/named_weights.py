"""Weights with names, put in the order of the columns that they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..tools.arrays import as_float64, frame_names

# What an intercept is called, which cancels in every pair.
INTERCEPTS = frozenset({"intercept", "(intercept)", "intercept_", "const", "bias", "_intercept"})

SHOWN = 5  # Names that a message shows at most.


def in_column_order(
    values: np.ndarray, names: Sequence[str], columns: Sequence[str], what: str = "the weights"
) -> np.ndarray:
    """Return the weights of the columns, (d,), each found by its name. An intercept, wherever it
    stands, is left out unless a column has its name."""
    known = set(columns)
    kept = [k for k, n in enumerate(names) if n in known or n.strip().lower() not in INTERCEPTS]
    place = {names[k]: k for k in kept}
    if len(place) < len(kept):
        twice = next(n for n in place if [names[k] for k in kept].count(n) > 1)
        raise InputError(f"{what}: two are called '{twice}': rename one")
    missing = [name for name in columns if name not in place]
    unknown = [name for name in place if name not in known]
    if missing or unknown:
        parts = [f"no weight for {_listed(missing)}"] if missing else []
        parts += [f"the data have no {_listed(unknown)}"] if unknown else []
        raise InputError(
            f"{what}: their names are not those of the columns: {', and '.join(parts)}; rename "
            "them, or give plain numbers in the order of the columns"
        )
    return values[[place[name] for name in columns]]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(f"'{name}'" for name in names[:SHOWN]) + more


def match_weights(X: object, w: object) -> object:
    """Return `w` in the order of the columns of X where both have names, else as it is."""
    columns = text_names(frame_names(X))
    if isinstance(w, Mapping):
        if columns is None:
            raise InputError("weights by name need data with names: X is not a frame")
        return in_column_order(as_float64([*w.values()], "the weights"), [*map(str, w)], columns)
    names = weight_names(w)
    if columns is None or names is None:
        return w
    values = np.ravel(as_float64(w, "the weights"))
    return in_column_order(values, names, columns)


def cut_off(w: Any, d: int) -> str:
    """Return the sentence that says so where one number more than d was taken as an intercept."""
    if np.size(w) != d + 1:
        return ""
    return f" The last of the {d + 1} numbers was taken as an intercept, which no pair sees."


def weight_names(w: object) -> list[str] | None:
    """Return the names of a pandas Series, or of a frame of one row or one column; or None."""
    names = getattr(w, "index", None)
    shape = getattr(w, "shape", ())
    if len(shape) == 2 and shape[0] == 1 and shape[1] > 1:
        names = getattr(w, "columns", None)
    found = None if callable(names) else text_names(names)
    return found if found is not None and len(found) == int(np.prod(shape)) else None


def text_names(names: object) -> list[str] | None:
    """Return names as a list if there are some and all of them are text, else None."""
    if names is None or callable(names):
        return None
    try:
        found = list(names)  # type: ignore[call-overload]
    except TypeError:
        return None
    return found if found and all(isinstance(name, str) for name in found) else None
