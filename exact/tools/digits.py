"""Which numbers float64 cannot hold, and which it would round."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from numbers import Rational, Real
from typing import Any

import numpy as np

from ..errors import InputError

EXACT = 2.0**53  # Every whole number up to here is one of float64.


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
    """Return where float64 cannot hold every whole number of that size."""
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
