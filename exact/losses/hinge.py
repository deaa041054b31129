"""The hinge."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..sums.assembled import PairSums, SideSums, Whole, assembled
from ..sums.counted import counted_hinge
from ..sums.grid import counted_sides, grid_ramps
from ..sums.sorted import centred, hinge_roundings, hinge_sides
from ..tools.rounding import unit_of


@dataclass(frozen=True)
class Hinge:
    """The hinge max(0, 1 - t); alpha in [0, 1]; dual part alpha.

    [ScalingUp, eq. (4), eq. (13); SAUC, eq. (2); Nonlinear, eq. (2)], p = 1.
    """

    name: str = field(default="hinge", init=False)
    lipschitz: float = field(default=1.0, init=False)
    smoothness: float = field(default=np.inf, init=False)
    nonincreasing: bool = field(default=True, init=False)

    def value(self, t: np.ndarray) -> np.ndarray:
        """Return max(0, 1 - t)."""
        return np.maximum(0.0, 1.0 - t)

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        """Return 1[t < 1], or clip((1 - t) / width + 1/2, 0, 1) where width > 0."""
        if width > 0:
            return np.clip((1.0 - t) / width + 0.5, 0.0, 1.0)
        return (t < 1.0).astype(float)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha."""
        return alpha

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha clipped to [0, 1]."""
        return np.clip(alpha, 0.0, 1.0)

    def all_pairs(self, pairs: Whole, scores: np.ndarray, width: float) -> PairSums:
        """Return the sums over all pairs: counted, binned or sorted, as `pairs.form` says."""
        if pairs.form == "binned":
            from ..sums.binned import binned_hinge

            held = scores.astype(float, copy=False)
            return binned_hinge(held, pairs.positive, pairs.weight, width, pairs.bins)
        if pairs.weight is None and pairs.compiled(scores):
            found = counted_hinge(scores, pairs.positive, width)
            if found is not None:
                return found
        t, b, size = centred(scores, pairs.positive)
        side = _sides(pairs, t, b, width)
        smoothed = 0.0 if side.exact else width
        counts = pairs.weight is None and smoothed == 0
        value_rounding, rounding = hinge_roundings(pairs.n, size, smoothed, unit_of(scores))
        return assembled(pairs, side, value_rounding, None if counts else rounding, linear=True)


def _sides(pairs: Whole, t: np.ndarray, b: np.ndarray, width: float) -> SideSums:
    weights = pairs.sides()
    if not pairs.compiled(t, b):
        side = hinge_sides(t, b, *weights, width)
        if width > 0 and pairs.weight is None and pairs.form != "numpy":
            ramps = grid_ramps(t, b, np.argsort(t), np.argsort(b), width)
            return side if ramps is None else SideSums(side.value, *ramps, True, side.near)
        return side
    if width > 0 and pairs.weight is None:
        return counted_sides(t, b, width)
    from ..sums.sorted_compiled import hinge_sides_compiled

    return hinge_sides_compiled(t, b, *weights, width)
