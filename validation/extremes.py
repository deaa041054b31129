"""`max`, `min` and > that refuse NaN: the built-in `max` drops it wherever it does not come first,
and a solver that returns NaN would then hold in a claim that is judged by its largest measure."""

from typing import Any

import numpy as np


class NaNError(ValueError):
    """A measure is NaN: nothing can be judged by it."""


def highest(*values: Any, **options: Any) -> Any:
    """Return what the built-in `max` does."""
    return max(_checked(values, **options), **options)


def lowest(*values: Any, **options: Any) -> Any:
    """Return what the built-in `min` does."""
    return min(_checked(values, **options), **options)


def _checked(values: tuple[Any, ...], key: Any = None, default: Any = None) -> list[Any]:
    found = list(values[0] if len(values) == 1 else values)
    if has_nan(found if key is None else [*map(key, found)]):
        raise NaNError(f"one of {len(found)} measures is NaN")
    return found


def has_nan(value: Any) -> bool:
    """Return whether a value is NaN, or holds NaN in a tuple, list, dict or array."""
    if isinstance(value, dict | list | tuple):
        return any(map(has_nan, value.values() if isinstance(value, dict) else value))
    return bool(np.any(value != value))  # NaN alone differs from itself


def above(left: Any, right: Any) -> Any:
    """Return left > right, of numbers or arrays."""
    if has_nan([left, right]):
        raise NaNError("one of the sides that are compared is NaN")
    return left > right
