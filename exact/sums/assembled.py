"""What sums over pairs return, and how the sums of the two classes are combined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..tools.rounding import gamma


@dataclass(frozen=True, eq=False)
class PairSums:
    """The result of one evaluation at given scores."""

    value: float
    c: np.ndarray
    conjugate: float
    total: float
    value_rounding: float
    rounding: float
    conjugate_rounding: float
    relative: float | None = None
    excess: float = 0.0


@dataclass(frozen=True, eq=False)
class SideSums:
    """Value and marginals of the two classes, in their own order, before normalisation."""

    value: np.floating | float
    u: np.ndarray
    v: np.ndarray
    near: float | None = None  # Hinge: the mass of all pairs that may be active, with rounding.


def assembled(
    pairs: Any, side: SideSums, value_rounding: float, rounding: float | None, linear: bool
) -> PairSums:
    """Return the sums of both classes in the order of the rows, normalised."""
    positive, mass = pairs.positive, pairs.mass
    c = np.empty(positive.size)
    c[positive] = side.u / mass
    c[~positive] = -side.v / mass
    value, total = float(side.value / mass), side.u.sum(dtype=np.longdouble) / mass
    conjugate = float(total if linear else total - side.value / mass)
    # The mean of a loss >= 0 is below zero by rounding only.
    value = max(value, 0.0)
    if side.near is not None:
        # Only pairs that may be active have rounded: the bound shrinks with their share.
        value_rounding *= min(float(side.near / mass) * (1 + 1e-9), 1.0)
    value_rounding += gamma(4) * abs(value)
    relative = gamma(8) if rounding is None else None
    if rounding is None:
        rounding = 2 * gamma(8) * float(total)
    rounding += gamma(4) * float(np.abs(c).sum())
    conjugate_rounding = rounding + gamma(4) * (abs(float(total)) + abs(value))
    if not linear:
        conjugate_rounding += value_rounding
    roundings = value_rounding, rounding, conjugate_rounding
    return PairSums(value, c, conjugate, float(total), *roundings, relative)
