"""What a loss of a pair must state, and what follows from it.

A loss is a convex function of the margin t = f(x_i) - f(x_j). Its dual part is
``dual(alpha) = -loss*(-alpha)``, the least value of loss(t) + alpha t over all t; alpha is
feasible where that is not minus infinity. For every feasible alpha, Fenchel's inequality says
``loss(t) >= dual(alpha) - alpha t``, with equality at alpha = -loss'(t). Certificates need no more.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..errors import InputError, brief

# Margins, and dual variables, at which a loss of one's own is held to its contract.
GRID = np.concatenate([-np.geomspace(500, 1e-3, 25), [0.0], np.geomspace(1e-3, 500, 25)])


class Loss(Protocol):
    """A convex loss of the margin t, with value >= 0 and dual(0) >= 0. Each function takes an array
    and returns one, elementwise, right to a few units in the last place of its largest term. A loss
    may also have ``all_pairs(pairs, scores, width)``, its sums over all pairs without the pairs, or
    None where it leaves them to be summed pair by pair; so are those of other losses, for up to
    4e8 pairs."""

    @property
    def name(self) -> str:
        """The loss's name on the command line."""
        ...

    @property
    def lipschitz(self) -> float:
        """A bound of |loss'|; infinite where there is none."""
        ...

    @property
    def smoothness(self) -> float:
        """A bound of loss''; infinite where the loss has a kink."""
        ...

    @property
    def nonincreasing(self) -> bool:
        """Whether a larger margin never costs more: alpha >= 0."""
        ...

    def value(self, t: np.ndarray) -> np.ndarray:
        """Return loss(t)."""
        ...

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        """Return -loss'(t), smoothed over `width` where the loss has a kink."""
        ...

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        """Return -loss*(-alpha), the least value of loss(t) + alpha t, for feasible alpha."""
        ...

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        """Return the nearest feasible alpha."""
        ...


def kinked(loss: Loss) -> bool:
    """Return whether a loss must be smoothed: it has a kink, and bounded slopes on both sides. The
    exponential loss has no bound of its second derivative either, but no kink."""
    return not np.isfinite(loss.smoothness) and bool(np.isfinite(loss.lipschitz))


def check_loss(loss: Loss) -> Loss:
    """Return `loss` if it keeps its contract on a grid of margins, or raise `InputError`. A grid
    proves nothing between its points; it catches a missing method, a sign, a factor."""
    wanted = ("name", "lipschitz", "smoothness", "nonincreasing", "value", "alpha", "dual", "clip")
    missing = [part for part in wanted if not hasattr(loss, part)]
    if missing:
        raise InputError(
            f"unknown loss {brief(loss)}: take a name, or an object with {', '.join(wanted)} "
            f"(it lacks {missing[0]})"
        )
    value, alpha = np.asarray(loss.value(GRID)), np.asarray(loss.clip(loss.alpha(GRID)))
    dual = np.asarray(loss.dual(alpha))
    above = float(np.asarray(loss.dual(np.asarray(loss.clip(np.zeros(1)))))[0])
    if not (np.isfinite(value).all() and (value >= 0).all() and above >= 0):
        raise InputError(f"the loss {loss.name!r} must have value >= 0 and dual(0) >= 0")
    terms = np.abs(dual)[:, None] + np.abs(alpha[:, None] * GRID[None, :]) + value[None, :]
    excess = dual[:, None] - alpha[:, None] * GRID[None, :] - value[None, :]
    if not (excess <= 1e-12 * (1 + terms)).all():
        k, j = np.argwhere(~(excess <= 1e-12 * (1 + terms)))[0]
        raise InputError(
            f"the loss {loss.name!r} breaks loss(t) >= dual(alpha) - alpha t at t = {GRID[j]:g}, "
            f"alpha = {alpha[k]:g}: its dual part is not -loss*(-alpha)"
        )
    if loss.nonincreasing and (alpha < 0).any():
        raise InputError(f"the loss {loss.name!r} has alpha < 0, so it is not nonincreasing")
    return loss


def shrunk_dual(loss: Loss, total: float, conjugate: float) -> tuple[float, float]:
    """Return p and q with sum c dual(s alpha) >= s p - s^2 q for every s in [0, 1]. A dual part is
    concave with dual(0) >= 0, so that p = sum c dual(alpha), q = 0 will do for any loss; a loss
    with a method `shrunk_dual` knows better."""
    own = getattr(loss, "shrunk_dual", None)
    return (conjugate, 0.0) if own is None else own(total, conjugate)


def steepness(loss: Loss, t: np.ndarray, slip: np.ndarray) -> np.ndarray:
    """Return a bound of |loss'| within `slip` of t: lipschitz, or |alpha| + smoothness slip. The
    slope of a convex loss grows with t: where neither is known, it is largest at an end."""
    if np.isfinite(loss.lipschitz):
        return np.full(t.shape, loss.lipschitz)
    if not np.isfinite(loss.smoothness):
        ends = np.abs(loss.alpha(t - slip)), np.abs(loss.alpha(t + slip))
        return np.maximum(*ends) * (1 + 1e-12)
    return np.abs(loss.alpha(t)) + loss.smoothness * slip


def loss_slip(loss: Loss, mass: np.ndarray, error: np.ndarray, value: float) -> float:
    """Return what errors of the scores can do to the mean loss. The mean moves by at most lipschitz
    mean |e|. A smooth loss that is >= 0 has loss'^2 <= 2 smoothness loss, so that the mean also
    moves by at most sqrt(2 smoothness value) rms(e) + smoothness / 2 rms(e)^2, with e = e_i + e_j
    of a pair. A loss with a method ``slip(mass, error, value)`` bounds it in its own way."""
    own = getattr(loss, "slip", None)
    if own is not None:
        return float(own(mass, error, value))
    slips = []
    if np.isfinite(loss.lipschitz):
        slips.append(loss.lipschitz * float(mass @ error))
    if np.isfinite(loss.smoothness):
        with np.errstate(over="ignore"):  # infinite is a bound, too
            rms = float(np.sqrt(2 * float(mass @ error**2)))
        rough = float(np.sqrt(2 * loss.smoothness * value))
        slips.append(rough * rms + loss.smoothness / 2 * rms**2)
    if not slips:
        raise InputError(f"the loss {loss.name!r} bounds neither its slope nor its curvature")
    return min(slips)
