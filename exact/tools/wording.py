"""Numbers in sentences: a bound is printed on the side on which it stays one."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal


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
