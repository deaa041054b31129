"""One evaluation of a hinge problem at given weights: loss, marginals' mass and pull, in any form.

Three forms of the pair sums, one interface: sorted (`problem.sums`, in memory) and binned in
memory, both here, and binned over blocks of rows (`blocks/`, `partitioned/`).

A smoothed evaluation at width delta has alpha = clip(z / delta + 1/2, 0, 1). With g its pull the
smoothed objective has gradient lam w - g, and the gap splits into

    primal - dual = bias + |lam w - g|^2 / (2 lam),   bias = mean of max(0, z) - alpha z >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..pairs.all_pairs import AllPairs
from ..problem.problem import Problem
from ..spaces.rows import Rows
from ..sums.assembled import PairSums
from ..sums.binned import half_width
from ..tools.rounding import gamma


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What one evaluation at the weights `w` tells."""

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
    excess: float = 0.0

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
        """Return the best factor in [0, 1] by which to shrink alpha."""
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


class InMemory:
    """Evaluations through scores that are held: sorted sums, or bins."""

    def __init__(self, problem: Problem, bins: int = 0):
        assert isinstance(problem.space, Rows)
        self.space, self.bins = problem.space, bins
        if isinstance(problem.pairs, AllPairs):
            form = "binned" if bins else problem.pairs.form
            problem = problem.with_pairs(replace(problem.pairs, form=form, bins=bins or 1))
        self.problem = problem
        self._known: tuple[np.ndarray, np.ndarray] | None = None

    def knows(self, w: np.ndarray) -> bool:
        """Return whether `w` is the very array whose scores were used last."""
        return self._known is not None and self._known[0] is w

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return the scores of `w`, remembered from the last call."""
        if self._known is None or self._known[0] is not w:
            self._known = w, self.space.scores(w)
        return self._known[1]

    def at(self, w: np.ndarray, width: float) -> Evaluation:
        """Return the evaluation at `w`."""
        scores = self.scores(w)
        return self._evaluation(w, self.problem.sums(scores, width), width)

    def _evaluation(self, w: np.ndarray, sums: PairSums, width: float) -> Evaluation:
        half = half_width(width, self.bins) if self.bins else 0
        width = 2 * half / self.bins if self.bins else width
        # The hinge has slope one, and both scores of a pair may be off.
        slip = 2 * self.space.score_slip(w)
        error = self.space.pull_error(sums.c) + self.space.reach * sums.rounding
        return Evaluation(
            w,
            sums.value,
            sums.conjugate,
            self.space.pull(sums.c),
            sums.value_rounding + slip,
            sums.conjugate_rounding,
            error,
            width,
            self.bins,
            half,
            sums.excess,
        )

    def line(self, start: Evaluation, p: np.ndarray, width: float) -> Line:
        """Return the line from `start.w` along `p`, searched in score space."""
        return _ScoreLine(self, start.w, p, width)


class _ScoreLine:
    def __init__(self, evaluator: InMemory, w: np.ndarray, p: np.ndarray, width: float):
        self.evaluator, self.w, self.p, self.width = evaluator, w, p, width
        self.scores, self.shift = evaluator.scores(w), evaluator.space.scores(p)
        self.inner, self.norm2 = float(w @ p), float(p @ p)
        self.last: tuple[float, np.ndarray, PairSums] | None = None

    def slope(self, t: float) -> float:
        problem = self.evaluator.problem
        moved = self.scores + t * self.shift
        sums = problem.sums(moved, self.width)
        self.last = t, moved, sums
        return problem.lam * (self.inner + t * self.norm2) - float(sums.c @ self.shift)

    def at(self, t: float) -> Evaluation:
        if self.last is None or self.last[0] != t:
            self.slope(t)
        assert self.last is not None
        _, moved, sums = self.last
        w = self.w + t * self.p
        # Whoever evaluates at this very array next needs no product with the data.
        self.evaluator._known = w, moved
        return self.evaluator._evaluation(w, sums, self.width)
