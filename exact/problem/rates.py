"""The rates between which partial AUC is asked for, and the risk that they make."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from numbers import Real

import numpy as np

from ..errors import InputError
from ..losses.loss import Loss
from ..pairs.all_pairs import AllPairs
from .risk import Mean
from .tail import Tail


def check_rates(fpr_max: float | Fraction, tpr_min: float | Fraction) -> tuple[Fraction, Fraction]:
    """Return both rates as fractions, or raise `InputError` if one is out of range."""
    above, below = _rate("fpr_max", fpr_max), _rate("tpr_min", tpr_min)
    if not 0 < above <= 1:
        raise InputError(f"fpr_max = {fpr_max!r}: it must be above 0 and at most 1")
    if not 0 <= below < 1:
        raise InputError(f"tpr_min = {tpr_min!r}: it must be at least 0 and below 1")
    return above, below


def tail_risk(
    pairs: AllPairs,
    loss: Loss,
    fpr_max: float | Fraction = 1.0,
    tpr_min: float | Fraction = 0.0,
) -> Mean | Tail:
    """Return the risk of partial AUC: false positive rates up to, true positive rates from.

    kq = fpr_max n_neg and kp = (1 - tpr_min) n_pos, each at least one row. The whole range is the
    mean over all pairs.

    Parameters
    ----------
    pairs : AllPairs
        With labels.
    loss : Loss
    fpr_max : number in (0, 1]
        A float is taken as the decimal number that it prints, so that 0.1 of 10 rows is one row.
    tpr_min : number in [0, 1)

    Raises
    ------
    InputError
        As `Tail`, and if a rate is out of range.
    """
    above, below = check_rates(fpr_max, tpr_min)
    if above == 1 and below == 0:
        return Mean(pairs, loss)
    kp, kq = (1 - below) * pairs.n_pos, above * pairs.n_neg
    return Tail(Mean(pairs, loss), max(kp, Fraction(1)), max(kq, Fraction(1)))


def _rate(name: str, value: float | Fraction) -> Fraction:
    """Return a rate as the decimal number that is meant."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real | Decimal):
        raise InputError(f"{name} = {value!r} is not a number")
    try:
        if isinstance(value, Fraction | int):
            return Fraction(value)
        return Fraction(Decimal(str(value)))
    except (ValueError, ArithmeticError, OverflowError) as error:
        raise InputError(f"{name} = {value!r} is not a number") from error
