"""The hinge."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..sums.assembled import PairSums, Whole, assembled
from ..sums.counted import counted_hinge
from ..sums.swept import centred, hinge_roundings, swept
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
        """Return the sums over all pairs: counted, binned or swept, as `pairs.form` says."""
        if pairs.form == "binned":
            from ..sums.binned import binned_hinge

            held = scores.astype(float, copy=False)
            return binned_hinge(held, pairs.positive, pairs.weight, width, pairs.bins)
        if pairs.weight is None and pairs.form != "numpy":
            found = counted_hinge(scores, pairs.positive, width)
            if found is not None:
                return found
        t, b, size = centred(scores, pairs.positive)
        side = swept(t, b, *pairs.sides(), width, fast=pairs.compiled(t, b))
        counts = pairs.weight is None and width == 0
        value_rounding, rounding = hinge_roundings(pairs.n, size, width, unit_of(scores))
        return assembled(pairs, side, value_rounding, None if counts else rounding, linear=True)
