"""What the last steps tell of the curvature, and the direction that follows: L-BFGS's two loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

STEPS = 30
"""Steps that are remembered."""

CURVED = 1e-12
"""A step and its change of gradient are remembered from this cosine on: below it is rounding."""

Product = Callable[[np.ndarray, np.ndarray], float]


class Memory:
    """Steps and the changes of the gradient along them.

    Parameters
    ----------
    inner : callable
        The inner product.

    Attributes
    ----------
    inverse : callable or None
        Applies an inverse Hessian that is known, in place of a multiple of the identity.
    """

    def __init__(self, inner: Product):
        self.inner = inner
        self.inverse: Callable[[np.ndarray], np.ndarray] | None = None
        self.steps: list[np.ndarray] = []
        self.changes: list[np.ndarray] = []
        self.curvatures: list[float] = []

    def remember(self, step: np.ndarray, change: np.ndarray) -> None:
        """Keep a step and the change of the gradient along it, if it tells a curvature."""
        inner = self.inner
        curvature, step2, change2 = inner(step, change), inner(step, step), inner(change, change)
        if not (step2 > 0 and change2 > 0):  # rounding, which may be larger than squares of kernels
            return
        if not curvature > CURVED * np.sqrt(step2) * np.sqrt(change2):
            return
        self.steps, self.changes = [*self.steps, step], [*self.changes, change]
        self.curvatures = [*self.curvatures, curvature]
        for kept in (self.steps, self.changes, self.curvatures):
            del kept[:-STEPS]

    def forget(self) -> bool:
        """Forget the steps, which may mislead; return whether there were any."""
        held = bool(self.steps)
        self.steps, self.changes, self.curvatures = [], [], []
        return held

    def direction(self, gradient: np.ndarray) -> np.ndarray:
        """Return minus the inverse Hessian times the gradient, as far as it is known."""
        inner, p = self.inner, -gradient
        memory = list(zip(self.steps, self.changes, self.curvatures, strict=True))
        shares = []
        for step, change, curvature in reversed(memory):
            share = inner(step, p) / curvature
            shares.append(share)
            p -= share * change
        if self.inverse is not None:
            p = self.inverse(p)
        elif memory:
            p *= self.curvatures[-1] / inner(self.changes[-1], self.changes[-1])
        else:
            steep = max(inner(gradient, gradient), 0.0)
            p = p / np.sqrt(steep) if steep > 0 else p
        for (step, change, curvature), share in zip(memory, reversed(shares), strict=True):
            p += (share - inner(change, p) / curvature) * step
        return p
