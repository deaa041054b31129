"""What users read: bounds printed on the side on which they stay bounds, and warnings."""

from __future__ import annotations

import sys
import warnings
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import StrEnum
from typing import Self


class Advised(StrEnum):
    """Words, each with what it means and what to do, in one sentence: its `advice`."""

    advice: str

    def __new__(cls, word: str, advice: str) -> Self:
        made = str.__new__(cls, word)
        made._value_, made.advice = word, advice
        return made


def at_least(value: float, digits: int = 10) -> str:
    """Return the largest number of so many digits that is at most `value`."""
    return _rounded(value, digits, ROUND_FLOOR)


def at_most(value: float, digits: int = 3) -> str:
    """Return the smallest number of so many digits that is at least `value`."""
    return _rounded(value, digits, ROUND_CEILING)


def _rounded(value: float, digits: int, way: str) -> str:
    number = Context(prec=digits, rounding=way).create_decimal(Decimal(float(value)))
    # Fifteen digits pass through a float as they are.
    return f"{float(number):.{digits}g}" if digits <= 15 else str(number)


def warn_the_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn in the line of the user's call, of what a call that is under way found."""
    package, frame, level = __name__.partition(".")[0], sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
