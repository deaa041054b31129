"""Checks of the numbers that solvers and estimators take as parameters."""

from __future__ import annotations

import math
from collections.abc import Collection
from copy import copy
from functools import cache
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from ..errors import InputError, brief, meant

T = TypeVar("T")

# Largest quotient of two weights > 0: products of those further apart would lose digits, or all of
# them, below the smallest float.
FAR_APART = 1e100


def adapted(own: Any, base: type[T], what: str, *more: str) -> T:
    """Return `own` as a child of `base`, whose defaults stand in for the powers that it lacks."""
    if isinstance(own, base):
        return own
    wanted = (*more, *sorted(base.__abstractmethods__))  # type: ignore[attr-defined]
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
    """Return `value` as a float between `low` and `high`."""
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
        raise InputError(
            f"{name} must be {left}{right if high < math.inf else ''}, not {brief(value)}"
        )
    return number


def check_count(name: str, value: object, low: int = 1) -> int:
    """Return `value` as a whole number of at least `low`, or raise `InputError`. Beyond 2^62 none
    can be counted up to, and int64 does not hold twice as many."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < low:
        raise InputError(f"{name} must be a whole number >= {low}, not {brief(value)}")
    if int(value) > 2**62:  # largest count
        raise InputError(f"{name} must be a whole number <= 2^62, not {brief(value)}")
    return int(value)


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Return `value` if it is one of the words `choices`, or raise `InputError`."""
    if not isinstance(value, str) or value not in choices:
        hint = meant(value, choices) if isinstance(value, str) else ""
        raise InputError(f"{name} must be one of {', '.join(choices)}, not {brief(value)}{hint}")
    return value


def check_callback(callback: object) -> None:
    """Raise `InputError` unless `callback` is None or can be called."""
    if callback is not None and not callable(callback):
        raise InputError(f"callback must be a function or None, not {brief(callback)}")


def rescale_weights(weight: np.ndarray) -> np.ndarray:
    """Return weights, scaled by a power of two if their products would overflow or underflow."""
    top = float(weight.max(initial=0.0))
    if top == 0.0:
        return weight
    least = float(weight.min(where=weight > 0, initial=top))
    if least < top / FAR_APART:
        raise InputError(
            f"the weights above zero are between {least:g} and {top:g}: where they are more than a "
            f"factor of {FAR_APART:g} apart their products lose digits, so set small ones to zero"
        )
    if 1e-50 < top < 1e50:
        return weight
    return np.ldexp(weight, -int(np.frexp(top)[1]))


def own(values: np.ndarray) -> np.ndarray:
    """Return an array that its maker cannot change while it is computed with: itself, or a copy."""
    if not values.flags.writeable and values.base is None:
        return values
    copy = values.copy()
    copy.flags.writeable = False
    return copy


def check_scores(scores: np.ndarray, positive: np.ndarray) -> None:
    """Raise `InputError` unless there is one finite score a row."""
    if scores.shape != positive.shape:
        raise InputError(f"{positive.size} rows, but scores of shape {scores.shape}")
    if not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise InputError(f"the score of row {row} is {scores[row]}: scores must be finite")


def as_float_scores(scores: np.ndarray) -> np.ndarray:
    """Return scores as float64; longdouble ones stay, since bounds of rounding cover both."""
    return scores if scores.dtype == np.longdouble else scores.astype(float, copy=False)


def check_tolerance(tol: float, max_time: float | None) -> None:
    """Raise `InputError` unless tol > 0 and max_time > 0 or None."""
    check_number("tol", tol)
    if max_time is not None:
        check_number("max_time", max_time)
