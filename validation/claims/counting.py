"""Arrays that count what is done with them, for the claims about costs."""

from math import log2
from typing import Any

import numpy as np

from ...exact.spaces.rows import Rows
from ..extremes import highest

SORTS = ("sort", "argsort", "searchsorted", "partition", "argpartition", "unique", "lexsort")
COUNTED_AS_UFUNCS = ("cumsum", "sum", "prod", "cumprod", "max", "min", "any", "all")


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
        size = highest(map(_size, args), default=1)
        if func.__name__ in SORTS:
            Counted.operations += size * log2(size + 1)
        elif func.__name__ not in COUNTED_AS_UFUNCS:
            Counted.operations += size
        return super().__array_function__(func, types, args, kwargs)  # type: ignore[misc]

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        # A slice or a row is a view: nothing is done yet.
        if isinstance(key, np.ndarray) or not isinstance(found, np.ndarray):
            Counted.operations += _size(found)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        Counted.operations += _size(value)
        super().__setitem__(key, value)


def _size(part: Any) -> int:
    return part.size if isinstance(part, np.ndarray) else 1


def _plain(part: Any) -> Any:
    return part.view(np.ndarray) if isinstance(part, Counted) else part


class CountedRows(Rows):
    """Rows whose products with counted vectors are counted."""

    def scores(self, w: np.ndarray) -> np.ndarray:
        return super().scores(np.asarray(w).view(Counted)).view(Counted)

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return X'c; what is done with it is not counted."""
        return np.asarray(super().pull(c))
