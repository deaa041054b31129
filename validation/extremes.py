"""`max` and `min` that refuse NaN: the built-in ones drop it wherever it does not come first.

A claim is judged by the largest of its measures. With `worst = max(worst, nan)` a solver that
returns NaN would hold.

    from ..extremes import highest, lowest
"""

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np


class NaNError(ValueError):
    """A measure is NaN: nothing can be judged by it."""


def highest(*values: Any, key: Callable[[Any], Any] | None = None, **default: Any) -> Any:
    """Return what the built-in `max` does."""
    return builtins.max(_checked(values, key), key=key, **default)


def lowest(*values: Any, key: Callable[[Any], Any] | None = None, **default: Any) -> Any:
    """Return what the built-in `min` does."""
    return builtins.min(_checked(values, key), key=key, **default)


def _checked(values: tuple[Any, ...], key: Callable[[Any], Any] | None) -> list[Any]:
    found = list(values[0]) if len(values) == 1 else list(values)
    for value in found:
        if has_nan(value if key is None else key(value)):
            raise NaNError(f"one of {len(found)} measures is NaN")
    return found


def has_nan(value: Any) -> bool:
    """Return whether a value is NaN, or holds NaN in a tuple, list, dict or array."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return bool(np.isnan(value).any())
    if isinstance(value, dict):
        return any(map(has_nan, value.values()))
    if isinstance(value, tuple | list) or getattr(value, "ndim", 0):
        return any(map(has_nan, value))
    try:
        return math.isnan(value)
    except (TypeError, OverflowError):  # no number, or a whole one of any size
        return False


def above(left: Any, right: Any) -> Any:
    """Return left > right, of numbers or arrays."""
    if has_nan(left) or has_nan(right):
        raise NaNError("one of the sides that are compared is NaN")
    return left > right
