"""The ridge, lam / 2 |f|^2: the penalty of any space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...spaces.rows import Space
from ...tools.checks import check_number
from ...tools.rounding import Bound, gamma

SMALLEST_LAM = 1e-100  # Smallest lam: dividing by less overflows.

LARGEST_LAM = 1e100  # Largest lam: above it, underflow in |f|^2 becomes visible in the objective.


@dataclass(frozen=True)
class Ridge:
    """The penalty lam / 2 |f|^2, in any space.

    Parameters
    ----------
    lam : float
        > 0, in units of the loss over |f|^2.
    """

    lam: float

    def __post_init__(self) -> None:
        # A number of a shorter format would shorten every product with it.
        object.__setattr__(self, "lam", check_weight("lam", self.lam))

    @property
    def l2(self) -> float:
        """lam."""
        return self.lam

    def value(self, space: Space, w: np.ndarray) -> Bound:
        """Return lam / 2 |f|^2."""
        return Bound(self.l2 / 2 * space.norm2(w), self.l2 / 2 * space.norm2_error(w))

    def quick_distance(self, space: Space, c: np.ndarray) -> Bound:
        """Return |pull(c)|, of rows in plain floats."""
        if space.held is None:
            return self.distance(space, c)
        norm = float(np.linalg.norm(space.pull(c)))
        return Bound(norm, space.held.pull_error(c) + gamma(space.dim + 8) * norm)

    def distance(self, space: Space, c: np.ndarray) -> Bound:
        """Return |pull(c)|."""
        norm2, error = space.dual_norm2(c), space.dual_norm2_error(c)
        norm, top = float(np.sqrt(norm2)), float(np.sqrt(norm2 + error))
        return Bound(norm, error / (top + norm) * (1 + gamma(8)) if top > 0 else 0.0)

    def residual(self, g: np.ndarray) -> np.ndarray:
        """Return g."""
        return g

    def support(self, w: np.ndarray) -> float:
        """Return 0: C is the origin."""
        return 0.0

    def best_scale(self, space: Space, c: np.ndarray, linear: float, square: float) -> float:
        """Return the s in [0, 1] with the largest s linear - s^2 (square + |g|^2 / (2 lam))."""
        # Any scale is valid, so rows need not take their careful norm.
        norm2 = space.norm2(space.pull(c)) if space.given is not None else space.dual_norm2(c)
        curvature = norm2 / self.l2 + 2 * square
        return float(min(max(linear / curvature, 0.0), 1.0)) if curvature > 0 else 1.0


def check_weight(name: str, value: float) -> float:
    """Return a penalty's weight as a float; `InputError` unless it is > 0 and not too far off."""
    number = check_number(name, value)
    if number < SMALLEST_LAM:
        raise InputError(f"{name} = {value!r} is below {SMALLEST_LAM:g}: rescale the features")
    if number > LARGEST_LAM:
        raise InputError(f"{name} = {value!r} is above {LARGEST_LAM:g}: rescale the features")
    return number
