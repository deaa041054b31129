"""One evaluation of a hinge problem at given weights: loss, marginals' mass and pull, in any form.

Three forms of the pair sums, one interface: sorted (`problem.sums`, in memory), binned in memory,
and binned over blocks of rows. A smoothed evaluation at width delta has alpha = clip(z / delta +
1/2, 0, 1); with g its pull the smoothed objective has gradient lam w - g, and the gap splits into

    primal - dual = bias + |lam w - g|^2 / (2 lam),   bias = mean of max(0, z) - alpha z >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..problem.problem import Problem
from ..tools.rounding import gamma


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What one evaluation at the weights `w` tells.

    Attributes
    ----------
    w : array (dim,)
    loss : float
        Mean hinge; from bins an upper bound.
    total : float
        The mass of alpha.
    pull : array (dim,)
        g = sum_ij c_ij alpha_ij (x_i - x_j).
    loss_rounding, total_rounding, pull_error : float
        Bounds of their rounding; that of `pull` in the Euclidean norm.
    width : float
        Smoothing actually used, in units of score.
    bins, half : int
        Bins a unit and half width in bins; 0 bins where the sums are sorted.
    """

    w: np.ndarray
    loss: float
    total: float
    pull: np.ndarray
    loss_rounding: float
    total_rounding: float
    pull_error: float
    width: float
    bins: int = 0
    half: int = 0

    @property
    def bias(self) -> float:
        """The cost of smoothing: the mean of max(0, z) - alpha z, >= 0 up to rounding."""
        return max(self.loss - self.total + float(self.w @ self.pull), 0.0)

    def primal(self, lam: float) -> float:
        """Return F(w)."""
        return self.loss + lam / 2 * float(self.w @ self.w)

    def primal_rounding(self, lam: float) -> float:
        """Return a bound of the rounding in `primal`."""
        size = float(self.w @ self.w)
        sums = gamma(self.w.size + 8) * (lam * size + abs(self.loss))
        return (self.loss_rounding + sums) * (1 + gamma(8))

    def scale(self, lam: float) -> float:
        """Return the best shrinking factor of alpha."""
        norm2 = float(self.pull @ self.pull)
        return min(1.0, lam * self.total / norm2) if norm2 > 0 else 1.0

    def dual(self, lam: float, scale: float = 1.0) -> float:
        """Return the lower bound that scale * alpha proves."""
        return scale * self.total - scale**2 * float(self.pull @ self.pull) / (2 * lam)

    def dual_rounding(self, lam: float, scale: float = 1.0) -> float:
        """Return a bound of the rounding in `dual`."""
        norm, error = float(np.linalg.norm(self.pull)), self.pull_error
        square = error * (2 * norm + error) + gamma(self.w.size + 8) * norm**2
        size = scale * self.total + scale**2 * norm**2 / (2 * lam)
        rounding = scale * self.total_rounding + scale**2 * square / (2 * lam) + gamma(8) * size
        return rounding * (1 + gamma(16))


class Line(Protocol):
    """The smoothed objective along w + t p."""

    def slope(self, t: float) -> float:
        """Return its derivative at t."""
        ...

    def at(self, t: float) -> Evaluation:
        """Return the evaluation at t."""
        ...


class Evaluator(Protocol):
    """A problem's evaluations in one form of the sums."""

    problem: Problem

    def at(self, w: np.ndarray, width: float) -> Evaluation:
        """Return the evaluation at `w`, smoothed by about `width`."""
        ...

    def line(self, start: Evaluation, p: np.ndarray, width: float) -> Line:
        """Return the line from `start.w` along `p`."""
        ...


class FullLine:
    """A line each of whose points takes an evaluation."""

    def __init__(self, evaluator: Evaluator, w: np.ndarray, p: np.ndarray, width: float):
        self.evaluator, self.w, self.p, self.width = evaluator, w, p, width
        self.last: tuple[float, Evaluation] | None = None

    def slope(self, t: float) -> float:
        """Return the derivative at t."""
        found = self.evaluator.at(self.w + t * self.p, self.width)
        self.last = t, found
        return float(self.p @ (self.evaluator.problem.lam * found.w - found.pull))

    def at(self, t: float) -> Evaluation:
        """Return the evaluation at t."""
        if self.last is None or self.last[0] != t:
            self.slope(t)
        assert self.last is not None
        return self.last[1]
