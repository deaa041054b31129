"""The rates between which partial AUC is asked for."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from ..errors import InputError


def check_rates(
    fpr_max: float | str | Fraction, tpr_min: float | str | Fraction
) -> tuple[Fraction, Fraction]:
    """Return both rates as fractions, or raise `InputError` if one is out of range."""
    above, below = _rate("fpr_max", fpr_max), _rate("tpr_min", tpr_min)
    if not 0 < above <= 1:
        raise InputError(f"fpr_max = {fpr_max!r}: it must be above 0 and at most 1")
    if not 0 <= below < 1:
        raise InputError(f"tpr_min = {tpr_min!r}: it must be at least 0 and below 1")
    return above, below


def _rate(name: str, value: float | str | Fraction) -> Fraction:
    """Return a rate as the decimal number that is meant."""
    try:
        if isinstance(value, Fraction | int):
            return Fraction(value)
        return Fraction(Decimal(str(value)))
    except (ValueError, ArithmeticError, OverflowError) as error:
        raise InputError(f"{name} = {value!r} is not a number") from error
