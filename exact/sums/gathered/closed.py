"""What closed moments tell, whatever the loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ClosedLines:
    """Marginals by class and bin, and sums over all pairs."""

    table: np.ndarray
    conjugate: float
    conjugate_rounding: float
    c_error: float
    value: float
    value_rounding: float
    total: float | None = None
    excess: float = 0.0
