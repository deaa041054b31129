"""What closed moments tell, whatever the loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ClosedLines:
    """Marginals by class and bin, and sums over all pairs.

    Attributes
    ----------
    table : array (2, size, powers)
        As `lines` takes it.
    conjugate, conjugate_rounding : float
        The mean of dual(alpha), and a bound of its rounding.
    c_error : float
        A bound of the rounding in all marginals together (sum of absolute errors).
    value, value_rounding : float
        An upper bound of the mean loss, and a bound of its rounding; or, where `total` is given,
        what is to be added to conjugate - c's.
    total : float or None
        The mean of alpha.
    excess : float
        The mean loss is too large by this at most.
    """

    table: np.ndarray
    conjugate: float
    conjugate_rounding: float
    c_error: float
    value: float
    value_rounding: float
    total: float | None = None
    excess: float = 0.0
