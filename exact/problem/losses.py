"""The losses of a pair, as functions of its margin t = f(x_i) - f(x_j).

Each loss knows its value, minus its slope (the dual variable alpha that it suggests), and its
dual part ``dual(alpha) = -loss*(-alpha)``: for every feasible alpha, Fenchel's inequality says
``loss(t) >= dual(alpha) - alpha t``, with equality at alpha = -loss'(t).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ..errors import InputError


class Loss(Protocol):
    """A convex loss of the margin t."""

    @property
    def name(self) -> str:
        """The loss's name on the command line."""
        ...

    def value(self, t: np.ndarray) -> np.ndarray:
        """Return loss(t)."""
        ...

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        """Return -loss'(t), smoothed over `width` where the loss has a kink."""
        ...

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        """Return -loss*(-alpha), defined for feasible alpha."""
        ...

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        """Return the nearest feasible alpha."""
        ...


@dataclass(frozen=True)
class Hinge:
    """The hinge max(0, 1 - t); alpha in [0, 1]; dual part alpha.

    [ScalingUp, eq. (4), eq. (13); SAUC, eq. (2); Nonlinear, eq. (2)], p = 1.
    """

    name: str = field(default="hinge", init=False)

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


@dataclass(frozen=True)
class SquaredHinge:
    """The squared hinge max(0, 1 - t)^2; alpha >= 0; dual part alpha - alpha^2 / 4.

    [Nonlinear, eq. (2), eq. (5)], p = 2.
    """

    name: str = field(default="squared_hinge", init=False)

    def value(self, t: np.ndarray) -> np.ndarray:
        """Return max(0, 1 - t)^2."""
        return np.maximum(0.0, 1.0 - t) ** 2

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        """Return 2 max(0, 1 - t); there is no kink to smooth."""
        return 2.0 * np.maximum(0.0, 1.0 - t)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha - alpha^2 / 4."""
        return alpha - alpha**2 / 4.0

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        """Return max(0, alpha)."""
        return np.maximum(0.0, alpha)


@dataclass(frozen=True)
class Square:
    """The square (1 - t)^2; any alpha; dual part alpha - alpha^2 / 4.

    [SHT, eq. (3)]
    """

    name: str = field(default="square", init=False)

    def value(self, t: np.ndarray) -> np.ndarray:
        """Return (1 - t)^2."""
        return (1.0 - t) ** 2

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        """Return 2 (1 - t); there is no kink to smooth."""
        return 2.0 * (1.0 - t)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha - alpha^2 / 4."""
        return alpha - alpha**2 / 4.0

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha: every value is feasible."""
        return alpha


HINGE = Hinge()
SQUARED_HINGE = SquaredHinge()
SQUARE = Square()

LOSSES: dict[str, Loss] = {loss.name: loss for loss in (HINGE, SQUARED_HINGE, SQUARE)}


_KINDS = (Hinge, SquaredHinge, Square)


def check_loss(loss: object) -> Loss:
    """Return `loss` if it is one of ours, no child of theirs either, or raise `InputError`.

    The best scale of a dual point and the bounds of rounding know the dual parts of these
    losses only: alpha, and alpha - alpha^2 / 4. With any other, "lower bounds" can be too high.
    """
    if isinstance(loss, Hinge | SquaredHinge | Square) and type(loss) in _KINDS:
        return loss
    raise InputError(
        f"unknown loss {loss!r}: choose one of {', '.join(LOSSES)}, "
        "as certificates know the dual parts of no others"
    )


def get_loss(loss: str | Loss) -> Loss:
    """Return the loss of that name, or the loss itself.

    Raises
    ------
    InputError
        If there is no loss of that name, or the loss is none of ours.
    """
    if not isinstance(loss, str):
        return check_loss(loss)
    if loss not in LOSSES:
        raise InputError(f"unknown loss {loss!r}: choose one of {', '.join(LOSSES)}")
    return LOSSES[loss]
