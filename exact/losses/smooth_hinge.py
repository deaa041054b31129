"""The smooth hinge: the hinge with a rounded corner."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..errors import InputError
from ..sums.assembled import PairSums, Whole
from ..sums.convolved import convolved, few_pairs

# The range of `corner`: a narrower one is a hinge to the solvers, a wider one a square.
NARROWEST, WIDEST = 1e-3, 1e3


@dataclass(frozen=True)
class SmoothHinge:
    """0 for t >= 1, (1 - t)^2 / (2 corner) to t = 1 - corner, then 1 - t - corner / 2.

    alpha in [0, 1]; dual part alpha - corner alpha^2 / 2.

    Parameters
    ----------
    corner : float
        Width of the rounded corner, in units of the margin, from 0.001 to 1000.

    Raises
    ------
    InputError
        If `corner` is outside that range.
    """

    corner: float = 1.0
    name: str = field(default="smooth_hinge", init=False)
    lipschitz: float = field(default=1.0, init=False)
    nonincreasing: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        if not NARROWEST <= self.corner <= WIDEST:
            raise InputError(
                f"corner = {self.corner!r}: the smooth hinge's corner is a number between "
                f"{NARROWEST:g} and {WIDEST:g}"
            )

    @property
    def smoothness(self) -> float:
        """The largest slope of the slope: 1 / corner, rounded up."""
        return float(np.nextafter(1.0 / self.corner, np.inf))

    @property
    def centre(self) -> float:
        """Where alpha is one half: 1 - corner / 2."""
        return 1.0 - self.corner / 2.0

    @property
    def reach(self) -> float:
        """How far from `centre` alpha can be other than zero or one."""
        return self.corner / 2.0 + 1e-9 * (1.0 + self.corner)

    def value(self, t: np.ndarray) -> np.ndarray:
        """Return the loss of the margin t."""
        z = np.maximum(0.0, 1.0 - t)
        rounded = np.minimum(z, self.corner)
        return rounded * (rounded / (2.0 * self.corner)) + (z - rounded)

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        """Return clip((1 - t) / corner, 0, 1); there is no kink to smooth."""
        return np.clip((1.0 - t) / self.corner, 0.0, 1.0)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha - corner alpha^2 / 2."""
        return alpha - self.corner * alpha**2 / 2.0

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha clipped to [0, 1]."""
        return np.clip(alpha, 0.0, 1.0)

    def shrunk_dual(self, total: float, conjugate: float) -> tuple[float, float]:
        """Return p, q: the conjugate sum of s alpha is s p - s^2 q; see `losses.loss`."""
        return total, total - conjugate

    def beside_step(self, x: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return alpha - step and dual(alpha) - dual(1) step at t = centre + x.

        See `sums.convolved`.
        """
        alpha = np.clip(0.5 - x / self.corner, 0.0, 1.0)
        return alpha - step, self.dual(alpha) - (1.0 - self.corner / 2.0) * step

    def tail(self, distance: float) -> float:
        """Return 0: outside its corner the loss is linear."""
        return 0.0

    def all_pairs(self, pairs: Whole, scores: np.ndarray, width: float) -> PairSums | None:
        """Return the sums over all pairs by one convolution, or None where the pairs are few."""
        return None if few_pairs(pairs) else convolved(pairs, scores, self, width)
