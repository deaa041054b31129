"""What a proof file claims of the bounds that its checker has verified."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..certificate.solution import Solution

MARGIN = 0.02  # Part of the verified gap added to either bound: another machine rounds otherwise.


def claims_of(upper: Fraction, lower: Fraction) -> tuple[float, float, float]:
    """Return what is claimed of the primal, the dual and the gap where so much was verified."""
    gap = float(upper - lower)
    primal = float(np.nextafter(float(upper) + MARGIN * gap, np.inf))
    dual = max(float(np.nextafter(float(lower) - MARGIN * gap, -np.inf)), 0.0)
    return primal, dual, (1 + 3 * MARGIN) * gap


def supports(solution: Solution, gap: Fraction) -> bool:
    """Whether the evidence proves about as much as the solution's certificate says."""
    reported = solution.certificate
    # The checker's own rounding is about 1e-12, whatever the objective is.
    allowed = 2 * reported.gap + 1e-6 * reported.primal + 1e-11
    return float(gap) <= allowed
