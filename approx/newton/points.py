"""Points of a squared-hinge objective, and the lines that Newton's methods search.

At w the gradient is g = lam w - pull(c). The slopes of the loss are a dual point, and its gap is
|g|^2 / (2 lam) exactly: every point brings its certificate along.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...exact.certificate.solution import Recorder
from ...exact.problem.line_search import root_of_slope
from ...exact.problem.minorant import Scores
from ...exact.problem.problem import Problem
from ...exact.problem.subsample import starting_sample
from ...exact.tools.rounding import UNIT
from .curvature import Curvature, curvature

ROUGH = 1e-3  # a sample is solved at least to this relative gap
SLACK = 1e-13  # share of F below which its values cannot tell progress from rounding
TIGHTER = (0.3, 0.03, 0.003)  # shares of the slope that a search leaves: less where F rose
LOST = 1e-3  # scores that shrink below this share of what they were are computed afresh


@dataclass(frozen=True, eq=False)
class NewtonPoint:
    """What is known at the weights `w`."""

    problem: Problem
    w: np.ndarray
    scores: np.ndarray
    curved: Curvature

    @classmethod
    def at(cls, problem: Problem, w: np.ndarray) -> NewtonPoint:
        """Return the point of the weights `w` (dim,)."""
        scores = problem.space.scores(w)
        return cls(problem, w, scores, curvature(problem, scores))

    @cached_property
    def primal(self) -> float:
        """F."""
        return self.curved.value + self.problem.lam / 2 * self.problem.space.norm2(self.w)

    @cached_property
    def gradient(self) -> np.ndarray:
        """lam w - pull(c)."""
        return self.problem.lam * self.w - self.problem.space.pull(self.curved.c)

    @cached_property
    def size(self) -> float:
        """|gradient|."""
        return float(np.linalg.norm(self.gradient))

    @property
    def gap(self) -> float:
        """F less the value of the slopes' own dual point: |gradient|^2 / (2 lam)."""
        return self.size**2 / (2 * self.problem.lam)

    @cached_property
    def noise(self) -> float:
        """About the rounding in `size`: below it a gradient has no digits."""
        space = self.problem.space.held
        assert space is not None
        moved = float(np.abs(self.curved.c) @ space.norms)
        length = float(np.linalg.norm(self.w))
        spread = float(np.mean(space.norms**2))
        return UNIT * (moved + length * (self.problem.lam + spread))

    def beats(self, before: NewtonPoint) -> bool:
        """Whether F is lower; or no higher than rounding tells, and the gradient smaller."""
        if self.primal < before.primal:
            return True
        return self.primal <= before.primal * (1 + SLACK) and self.size < before.size

    def clearly_beats(self, before: NewtonPoint, least: float) -> bool:
        """Whether F is lower by more than rounding, or the gradient below `least`."""
        return self.primal < before.primal * (1 - SLACK) or self.size < least

    def note(self, recorder: Recorder) -> None:
        """Write a line of history; the last point counts, for rounding hides which is better."""
        dual = self.primal - self.gap
        if dual > recorder.best_dual or self.gap <= SLACK * self.primal:
            recorder.best_dual = max(dual, recorder.best_dual)
            # At the scores of w itself: one evaluation serves the whole certificate.
            recorder.best_witness = lambda: Scores(self.problem.space.scores(self.w))
        recorder.best_primal = min(self.primal, recorder.best_primal)
        recorder.best_w = self.w
        recorder.step()


class NewtonLine:
    """The objective along w + t step, in score space: a trial costs one sort and no product."""

    def __init__(self, start: NewtonPoint, step: np.ndarray):
        self.start, self.step = start, step
        space = start.problem.space
        self.shift = space.scores(step)
        self.along, self.norm2 = space.inner(start.w, step), space.norm2(step)
        self.last: tuple[float, np.ndarray, Curvature] | None = None

    def slope(self, t: float) -> float:
        """Return the derivative at t; it rises with t."""
        curved = self._moved(t)[1]
        lam = self.start.problem.lam
        return lam * (self.along + t * self.norm2) - float(curved.c @ self.shift)

    def at(self, t: float) -> NewtonPoint:
        """Return the point at t."""
        scores, curved = self._moved(t)
        w = self.start.w + t * self.step
        # Their difference has lost so many digits that a product with the data is due.
        if np.abs(scores).max() < LOST * np.abs(self.start.scores).max():
            return NewtonPoint.at(self.start.problem, w)
        return NewtonPoint(self.start.problem, w, scores, curved)

    def search(self) -> NewtonPoint | None:
        """Return a point that beats the start, with a flatter slope; None if there is none."""
        falling = float(self.start.gradient @ self.step)
        for loose in TIGHTER:
            t = root_of_slope(self.slope, falling, loose)
            if t == 0.0 or np.array_equal(self.start.w + t * self.step, self.start.w):
                return None
            found = self.at(t)
            if found.beats(self.start):
                return found
        return None

    def _moved(self, t: float) -> tuple[np.ndarray, Curvature]:
        if self.last is None or self.last[0] != t:
            scores = self.start.scores + t * self.shift
            self.last = t, scores, curvature(self.start.problem, scores)
        return self.last[1], self.last[2]


def sample_problem(problem: Problem, tol: float) -> tuple[Problem, float] | None:
    """Return a sample of a large problem's rows, or None, and the gap worth reaching on it.

    A sample's optimum is off by the order of dim over its rows, so more digits would be wasted.
    """
    sample = starting_sample(problem)
    if sample is None:
        return None
    return sample, max(tol, min(ROUGH, problem.space.dim / sample.n))
