"""Newton's method for the squared hinge over any number of pairs.

The objective is piecewise quadratic with gradient lam w - pull(c); its generalised Hessian is
lam I + 2 X'L X with L the Laplacian of the active pairs. Full steps can cycle (there is a
four-row example in the tests), so each step is searched until the slope along it has clearly
fallen; a test on values would stall in the last digits. At the slope's own dual point the gap is
exactly |gradient|^2 / (2 lam). It ends where only rounding is left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..certificate.solution import Callback, Recorder, Solution, Status
from ..curvature.newton_equation import Conditioning
from ..curvature.points import Line, Point, smaller, time_left
from ..errors import InputError
from ..losses.registry import SQUARED_HINGE
from ..problem.problem import Problem
from ..spaces.rows import Rows

PATIENCE = 10
"""Steps in a row that clearly lower neither F nor the gradient: then only rounding is left."""

DRAWN = 40
"""Pairs a coordinate from which the preconditioner is made."""


@dataclass(frozen=True)
class Newton:
    """Solve a squared-hinge problem by Newton steps.

    Parameters
    ----------
    tol : float
        Relative gap to reach.
    max_iter : int
    max_time : float, optional
        Seconds.
    """

    tol: float = 1e-9
    max_iter: int = 200
    max_time: float | None = None

    def solve(
        self, problem: Problem, w0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Solution:
        """Return the solution, started from `w0`; by default zero, or a sample's solution.

        Raises
        ------
        InputError
            If the loss is not the squared hinge or the space has no rows.
        """
        if problem.loss != SQUARED_HINGE:
            raise InputError(f"Newton solves the squared hinge, not {problem.loss.name}")
        if not isinstance(problem.space, Rows):
            raise InputError("Newton needs rows: factor the kernel first")
        recorder = Recorder(self.max_time, callback, "newton")
        start = None if w0 is None else problem.check_weights(w0)
        try:
            reason = self._run(problem, recorder, self._start(problem, recorder, start))
        except KeyboardInterrupt:
            reason = Status.INTERRUPTED
        return recorder.finish(problem, self.tol, reason)

    def _start(self, problem: Problem, recorder: Recorder, w: np.ndarray | None) -> np.ndarray:
        """Return `w`, or zero, or for many rows the solution of a sample of them."""
        sample = smaller(problem, self.tol) if w is None else None
        if sample is None:
            return np.zeros(problem.space.dim) if w is None else w
        silent = Recorder(time_left(recorder))
        inner = replace(self, tol=sample[1])
        inner._run(sample[0], silent, inner._start(sample[0], silent, None))
        assert silent.best_w is not None
        return silent.best_w

    def _run(self, problem: Problem, recorder: Recorder, w: np.ndarray) -> Status:
        conditioning, now, idle, least = Conditioning(DRAWN), Point.at(problem, w), 0, np.inf
        for _ in range(self.max_iter):
            now.note(recorder)
            if now.gap <= self.tol * 1e-3 * now.primal or now.size <= now.noise or idle >= PATIENCE:
                return Status.STALLED  # until the certificate says better
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            rtol = min(0.1, 0.1 * float(np.sqrt(now.size)))
            step = conditioning.step(now, rtol, 500)
            least = min(least, now.size)
            found = Line(now, step).search()
            if found is None:
                return Status.STALLED
            idle = 0 if found.clearly_beats(now, least) else idle + 1
            now = found
        return Status.ITERATION_LIMIT
