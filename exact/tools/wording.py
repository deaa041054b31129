"""Numbers in sentences: a bound is printed on the side on which it stays one."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from .rounding import above


def at_least(value: float, digits: int = 10) -> str:
    """Return the largest number of so many digits, 15 at most, that is at most `value`."""
    return _rounded(value, digits, ROUND_FLOOR)


def at_most(value: float, digits: int = 3) -> str:
    """Return the smallest number of so many digits, 15 at most, that is at least `value`."""
    return _rounded(value, digits, ROUND_CEILING)


def _rounded(value: float, digits: int, way: str) -> str:
    number = Context(prec=digits, rounding=way).create_decimal(Decimal(float(value)))
    return f"{float(number):.{digits}g}"


def objective(
    primal: float, rounding: float, digits: int, bound: bool = False, unsure: bool = False
) -> str:
    """Return an objective in words, with its rounding where that shows in so many digits.

    Parameters
    ----------
    primal, rounding : float
    digits : int
    bound : bool
        Whether `primal` is an upper bound only, as that of sums in bins is.
    unsure : bool
        Whether the rounding is said whatever it is.
    """
    if bound:
        return f"an objective of at most {at_most(above(primal + rounding), digits)}"
    near = (
        f", up to {at_most(rounding, 2)},"
        if unsure or rounding > 5 * 10.0 ** -(digits + 1) * primal
        else ""
    )
    return f"objective {primal:.{digits}g}{near}"
