"""The steps of Newton's method over pairs that can be drawn, wherever their rows lie.

The sums and the gradient are exact, the Hessian is that of drawn pairs, corrected by what steps
teach. A loss with a kink is smoothed: at width h the gap splits into what smoothing costs, the
bias, and |gradient|^2 / (2 lam). The width falls once the Newton decrement is below the bias, no
further than the tolerance needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...certificate.solution import Recorder, Status
from ..smoothing.sampled_hessian import PairHessian

FIRST_WIDTH, LATER_WIDTH = 1.0, 0.03
"""The first width, from zero and from the solution of a part of the rows."""

DRAWS, DRAWS_A_COORDINATE = 100_000, 400
"""Pairs drawn for a Hessian: at least so many, and so many a coordinate."""

INSIDE, INSIDE_A_COORDINATE = 4_000, 40
"""Pairs of a Hessian that should have some curvature."""

NEAR = 0.8
"""Share of the tolerance to reach: the rest is left for the certificate's rounding."""

BIAS_SHARE = NEAR / 3
"""Share of the tolerance that smoothing may cost."""

LEAST_PRIMAL = 1e-7
"""Objectives below this count as this: there the tolerance is absolute."""

TOO_WIDE = 1.5
"""A width falls while its bias is more than this many times the allowed one."""

SETTLED = 0.3
"""Share of the bias below which the Newton decrement lets the width fall."""

STEEPEST_FALL = 0.05
"""Least factor of the width in one step."""

PATIENCE, PROGRESS = 12, 0.9
"""The method has stalled after so many steps in a row that leave more than this share of the
gap."""


class SeenPoint(Protocol):
    """What a step needs to know at the weights `w`."""

    @property
    def w(self) -> np.ndarray:
        """The weights."""
        ...

    @property
    def gradient(self) -> np.ndarray:
        """Of the smoothed objective."""
        ...

    @property
    def width(self) -> float:
        """Over which the loss is smoothed."""
        ...

    @property
    def bias(self) -> float:
        """What smoothing costs, >= 0 up to rounding."""
        ...


class Looks(Protocol):
    """A problem as the steps see it.

    Attributes
    ----------
    kinked : bool
        Whether its loss has a kink.
    """

    kinked: bool

    def look(self, w: np.ndarray, width: float) -> Any:
        """Evaluate at `w`, and offer the point and its minorant: a `SeenPoint`."""
        ...

    def along(self, now: Any, step: np.ndarray) -> tuple[Any, bool]:
        """Return the point at a good length of the step, and whether that was the full step."""
        ...

    def hessian(self, now: Any, rng: np.random.Generator) -> PairHessian:
        """Return the Hessian there, from drawn pairs."""
        ...


@dataclass(frozen=True)
class PairSteps:
    """Newton steps until the gap is near the tolerance.

    Parameters
    ----------
    tol : float
    max_iter : int
    seed : int
        Draws the pairs for the Hessian.
    """

    tol: float
    max_iter: int
    seed: int

    def run(self, looks: Looks, recorder: Recorder, w: np.ndarray) -> Status | None:
        """Step from `w`; return why it stopped, or None where it has arrived."""
        width = (LATER_WIDTH if w.any() else FIRST_WIDTH) if looks.kinked else 0.0
        rng = np.random.default_rng(self.seed)
        now = looks.look(w, width)
        hessian, idle, least = looks.hessian(now, rng), 0, np.inf
        for _ in range(self.max_iter):
            if recorder.near(NEAR * self.tol):
                return None
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            idle = 0 if recorder.gap < PROGRESS * least else idle + 1
            least = min(least, recorder.gap)
            if idle >= PATIENCE:
                return Status.STALLED
            step = -hessian.solve(now.gradient)
            decrement = -float(now.gradient @ step) / 2
            goal = BIAS_SHARE * self.tol * max(recorder.best_primal, LEAST_PRIMAL)
            if looks.kinked and decrement <= SETTLED * now.bias and now.bias > TOO_WIDE * goal:
                # The bias grows with the square of the width.
                fall = max(float(np.sqrt(goal / now.bias)), STEEPEST_FALL)
                now = looks.look(now.w + step, now.width * fall)  # so near, the full step is safe
                hessian = looks.hessian(now, rng)
                continue
            moved, full = looks.along(now, step)
            if np.array_equal(moved.w, now.w):
                return Status.STALLED
            if not full or hessian.poor(now.gradient, moved.gradient):
                hessian = looks.hessian(moved, rng)
            else:
                hessian.learn(moved.w - now.w, moved.gradient - now.gradient)
            now = moved
        return Status.ITERATION_LIMIT


def draws_for(dim: int) -> tuple[int, int]:
    """Return how many pairs are drawn for a Hessian, and how many should have some curvature."""
    size = max(DRAWS, DRAWS_A_COORDINATE * dim)
    return size, max(INSIDE, INSIDE_A_COORDINATE * dim)
