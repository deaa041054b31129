"""What a smooth loss states so that its sums can be convolved."""

from __future__ import annotations

from typing import Protocol

import numpy as np

# Largest error of an entry of a loss's kernels, in units in the last place of one.
KERNEL_UNITS = 16


class Smooth(Protocol):
    """What a loss states so that its sums can be convolved."""

    @property
    def smoothness(self) -> float:
        """L: a bound of loss''."""
        ...

    @property
    def centre(self) -> float:
        """The margin around which alpha falls from one to zero."""
        ...

    @property
    def reach(self) -> float:
        """How far from `centre` alpha differs from zero or one; beyond, `tail` is paid."""
        ...

    def beside_step(self, x: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return alpha - step and dual(alpha) - dual(1) step at t = centre + x.

        `step` is 1, 1/2 or 0; both results are right to `KERNEL_UNITS` units of max(1, dual).
        """
        ...

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        """Return -loss*(-alpha)."""
        ...

    def tail(self, distance: float) -> float:
        """Return an upper bound of what a pair loses whose margin is this far from `centre`."""
        ...
