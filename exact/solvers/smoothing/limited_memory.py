"""L-BFGS on the smoothed sums, at one width after another.

No Hessian is formed, so that many coordinates cost what they hold: a step takes one product for the
scores along it and one for the gradient, of a kernel only the latter. Over many pairs the smoothed
sums are nearly quadratic where it matters, and a few tens of steps do.

    until the gap is inside the tolerance:
        if the gradient's part of the gap is small beside the bias: narrow the width
        p = the direction of the last gradients and steps (two loops)
        search along p in score space: a trial costs the sums alone

The memory is kept from width to width: the curvature changes little.
"""

from __future__ import annotations

import numpy as np

from ...certificate.solution import Recorder, Status
from ...certificate.solver import INSIDE
from ...curvature.line_search import root_of_slope
from ...problem.evidence import Scores
from ...problem.problem import Problem
from ...sums.assembled import PairSums
from .functions import Functions
from .levels import BIAS_SHARE, COLD_WIDTH, LEAST_PRIMAL, WARM_WIDTH
from .memory import Memory

SHRINK = 0.2
"""The least factor from one width to the next."""

SOLVED = 0.5
"""A width is solved once the gradient's part of the gap is at most this share of its bias."""

FLAT, TRIALS = 0.1, 6
"""A search ends at this share of the first slope, or after so many trials."""

PROGRESS, FLATTER, PATIENCE = 0.9, 0.25, 60
"""The run has stalled after so many steps in a row that each leave more than the first share of the
gap and more than the second share of the smallest squared gradient."""


class LimitedMemory:
    """One run on a hinge problem with the ridge.

    Parameters
    ----------
    problem : Problem
    functions : Functions
    recorder : Recorder
        Keeps the best points; the run starts from its best one.
    tol : float
        Relative gap to reach.
    """

    def __init__(self, problem: Problem, functions: Functions, recorder: Recorder, tol: float):
        self.problem, self.functions, self.recorder, self.tol = problem, functions, recorder, tol
        w = recorder.best_w
        assert w is not None
        self.f = functions.of(w)
        self.scores = functions.scores(self.f)
        self.width = WARM_WIDTH if w.any() else COLD_WIDTH
        self.memory = Memory(functions.inner)
        self._evaluate(problem.sums(self.scores, self.width))

    def run(self, max_iter: int) -> Status | None:
        """Return why it stopped, after at most `max_iter` steps; None if it seems to be there."""
        recorder, idle, best, least = self.recorder, 0, np.inf, np.inf
        for _ in range(max_iter):
            if recorder.near(INSIDE * self.tol):
                return None
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            gained = recorder.gap < PROGRESS * best or self.steep < FLATTER * least
            idle = 0 if gained else idle + 1
            best, least = min(best, recorder.gap), min(least, self.steep)
            if idle >= PATIENCE:
                return Status.STALLED
            if self.steep / (2 * self.problem.lam) <= SOLVED * self.bias and self._narrowed():
                continue
            # Old steps may have misled the direction: without them the next one is down the
            # gradient.
            if not self._moved() and not self.memory.forget():
                return Status.STALLED
        return Status.ITERATION_LIMIT

    def _evaluate(self, sums: PairSums) -> None:
        """Set the gradient and the bias at the present scores, and offer what they tell."""
        functions, lam = self.functions, self.problem.lam
        pull = functions.pull(sums.c)
        self.sums, self.gradient = sums, lam * self.f - pull
        self.steep = max(functions.inner(self.gradient, self.gradient), 0.0)
        norm2, pulled2 = (max(functions.inner(x, x), 0.0) for x in (self.f, pull))
        along = float(sums.c @ self.scores)
        self.bias = max(sums.value - sums.conjugate + along, 0.0)
        # What alpha shrunk by s proves, s V - s^2 |g|^2 / (2 lam), is largest at this s.
        scale = min(1.0, lam * sums.conjugate / pulled2) if pulled2 > 0 else 1.0
        dual = scale * sums.conjugate - scale**2 * pulled2 / (2 * lam)
        # The evidence is made at the end, when `self` is at another point.
        scores, width = self.scores, self.width

        def evidence() -> Scores:
            return Scores(scores, width, scale)

        primal = sums.value + lam / 2 * norm2
        self.recorder.offer(functions.weights(self.f), primal, evidence, dual)
        self.recorder.step()

    def _narrowed(self) -> bool:
        """Narrow the width to what the tolerance needs, not too far at once; return whether it
        fell."""
        allowed = BIAS_SHARE * self.tol * max(self.recorder.best_primal, LEAST_PRIMAL)
        if self.bias <= allowed:
            return False
        needed = self.width * float(np.sqrt(allowed / self.bias))  # a bias grows as its square
        self.width = max(needed, SHRINK * self.width)
        self._evaluate(self.problem.sums(self.scores, self.width))
        return True

    def _moved(self) -> bool:
        """Take a step; return whether there was one."""
        lam, functions, before = self.problem.lam, self.functions, self.gradient
        p = self.memory.direction(before)
        shift = functions.scores(p)
        along, length2 = functions.inner(self.f, p), functions.inner(p, p)
        last: dict[float, PairSums] = {}

        def slope(t: float) -> float:
            last[t] = self.problem.sums(self.scores + t * shift, self.width)
            return lam * (along + t * length2) - float(last[t].c @ shift)

        t = root_of_slope(slope, functions.inner(before, p), FLAT, TRIALS)
        moved = self.f + t * p
        if t == 0.0 or t not in last or np.array_equal(moved, self.f):
            return False
        self.f, self.scores = moved, self.scores + t * shift
        self._evaluate(last[t])
        self.memory.remember(t * p, self.gradient - before)
        return True
