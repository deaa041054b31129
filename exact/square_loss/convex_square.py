"""Convex problems with the mean square loss over all pairs, and a gap for any weights.

    minimise F(w) + l1 |w|_1 + l2/2 |w|^2,     or     minimise F(w) over a ball |w| <= radius,

F the mean of (1 - w'(x_i - x_j))^2 over all positive-negative pairs, l2 the `lam` of the loss. As
F(w) = |A w - t|^2 with one row of A for each row of the data and one for delta, a multiple
2 s (A w - t) of the residual is a point of the dual

    D(s) = 2 s (1 - w'delta) - s^2 F(w) - conjugate of the penalty at - s gradient F(w),

a lower bound of the optimum for every s >= 0 where it is finite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from ..tools.arrays import check_choice, check_number
from ..tools.rounding import UNIT, above, gamma
from .row_average import RowAverage, SquareParts, square_parts


class Judged(NamedTuple):
    """The objective at some weights, a bound of its rounding (infinite outside the ball), and a
    lower bound of the optimum, rounding included."""

    value: float
    error: float
    lower: float

    @property
    def gap(self) -> float:
        if not np.isfinite(self.error):
            return np.inf
        apart = above(self.value + self.error) - self.lower
        return above(apart) if apart > 0 else 0.0


@dataclass(frozen=True, eq=False)
class ConvexSquare:
    """A convex problem with the mean square loss over all pairs. [SHT, eq. (3)] without the k.

    Attributes
    ----------
    loss : RowAverage
        Its `lam` is the weight l2 of the penalty l2/2 |w|^2; zero with a ball.
    l1 : float
        >= 0; zero with a ball.
    ball : {"none", "l1", "l2"}
        The norm that `radius` bounds.
    radius : float
        > 0.
    """

    loss: RowAverage
    l1: float = 0.0
    ball: str = "none"
    radius: float = np.inf

    def __post_init__(self) -> None:
        object.__setattr__(self, "l1", check_number("l1", self.l1, closed="low"))
        check_choice("ball", self.ball, ("none", "l1", "l2"))
        if self.ball != "none":
            object.__setattr__(self, "radius", check_number("radius", self.radius))
            if self.l1 > 0 or self.loss.lam > 0:
                raise InputError("give a ball or penalties, not both")

    def value(self, w: np.ndarray) -> float:
        """Return the objective at `w` (d,), whether it is in the ball or not."""
        return self.judged(w).value

    def lower_bound(self, w: np.ndarray) -> float:
        """Return a lower bound >= 0 of the optimum, rounding included; tighter for better `w`."""
        return self.judged(w).lower

    def gap(self, w: np.ndarray) -> float:
        """Return how far `value(w)` is from the optimum, at most; inf outside the ball. Rounding is
        included, for the rows as `loss` has them."""
        return self.judged(w).gap

    def judged(self, w: np.ndarray) -> Judged:
        """Return both sides at `w` (d,), from one evaluation."""
        parts = square_parts(self.loss, w)
        penalty = self.l1 * float(np.abs(w).sum()) + self.loss.lam / 2 * float(w @ w)
        error = parts.square_error + gamma(w.size + 8) * (penalty + parts.square)
        return Judged(parts.square + penalty, error + self._outside(w), self._lower_bound(parts))

    @property
    def in_words(self) -> str:
        """The problem, in words."""
        mean = "the mean square loss over all pairs"
        if self.ball != "none":
            norm = "|w|_1" if self.ball == "l1" else "|w|"
            return f"{mean} among the weights with {norm} <= {float(self.radius)!r}"
        names = {"|w|_1": self.l1, "|w|^2 / 2": self.loss.lam}
        penalties = (f"{float(size)!r} {name}" for name, size in names.items() if size)
        return " + ".join([mean, *penalties])

    def _outside(self, w: np.ndarray) -> float:
        """Return by how much the objective may rise until `w` is in the ball: 0, tiny, or inf.
        Weights that rounding has put outside count: as F(0) = 1, F(w / (1 + e)) <= F(w) + e."""
        if self.ball == "none":
            return 0.0
        size = np.abs(w).sum() if self.ball == "l1" else np.linalg.norm(w)
        if not size <= self.radius * (1 + 1e-12):
            return np.inf
        return max(float(size * (1 + gamma(w.size + 8)) / self.radius - 1), 0.0) * (1 + gamma(8))

    def _lower_bound(self, parts: SquareParts) -> float:
        l2, square = self.loss.lam, (parts.square + parts.square_error) * (1 + 2 * UNIT)
        line = parts.line - parts.line_error - 2 * UNIT * abs(parts.line)
        slope = (np.abs(parts.slope) + parts.slope_error) * (1 + gamma(parts.slope.size + 8))
        steepest = float(slope.max(initial=0.0))
        if not (np.isfinite(square) and np.isfinite(steepest) and np.isfinite(line)):
            return 0.0
        if self.ball != "none":
            size = steepest if self.ball == "l1" else float(np.linalg.norm(slope))
            line -= self.radius * size / 2 * (1 + 4 * UNIT) + 2 * UNIT * abs(line)
            return max(line, 0.0) ** 2 / square * (1 - 8 * UNIT) if square > 0 else 0.0
        bounds = [0.0]
        fit = line / square if square > 0 else 0.0
        feasible = self.l1 / steepest * (1 - 4 * UNIT) if steepest > 0 else np.inf
        for s in {1.0, fit, min(fit, feasible)}:
            if s <= 0 or (l2 == 0 and s > feasible):
                continue
            over = np.maximum(s * slope * (1 + 4 * UNIT) - self.l1, 0.0)
            cost = float(over @ over) / (2 * l2) * (1 + gamma(over.size + 8)) if l2 > 0 else 0.0
            gain = 2 * s * line - s * s * square - cost
            bounds.append(gain - gamma(8) * (2 * s * abs(line) + s * s * square + cost))
        return max(bounds)
