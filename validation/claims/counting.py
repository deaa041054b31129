"""Arrays that count what is done with them, for the claims about costs."""

from math import log2
from typing import Any

import numpy as np

from ...exact.spaces.rows import Rows
from ..extremes import highest

SORTS = ("sort", "argsort", "searchsorted", "partition", "argpartition", "unique", "lexsort")


class Counted(np.ndarray):
    """An array whose operations are counted, an operation an entry; a sort has log2 of them."""

    operations = 0.0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **rest: Any) -> Any:
        if rest.get("out"):
            rest["out"] = tuple(map(_plain, rest["out"]))
        found = getattr(ufunc, method)(*map(_plain, inputs), **rest)
        if ufunc is np.matmul:  # an entry of a product has as many operations as columns
            Counted.operations += _size(found) * inputs[0].shape[-1]
        else:
            Counted.operations += highest(map(_size, (*inputs, found)))
        return found.view(Counted) if isinstance(found, np.ndarray) else found

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        size, before = highest(map(_size, args), default=1), Counted.operations
        found = super().__array_function__(func, types, args, kwargs)  # type: ignore[misc]
        if func.__name__ in SORTS:
            Counted.operations += size * log2(size + 1)
        elif Counted.operations == before:  # else by the ufuncs that it calls
            Counted.operations += size
        return found

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(key, np.ndarray) or not isinstance(found, np.ndarray):  # no mere view
            Counted.operations += _size(found)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        Counted.operations += _size(value)
        super().__setitem__(key, value)


def _size(part: Any) -> int:
    return getattr(part, "size", 1)


def _plain(part: Any) -> Any:
    return part.view(np.ndarray) if isinstance(part, Counted) else part


class CountedRows(Rows):
    """Rows whose scores are counted, like what is made of them."""

    def scores(self, w: np.ndarray) -> np.ndarray:
        return super().scores(np.asarray(w).view(Counted)).view(Counted)
