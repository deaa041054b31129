"""L-BFGS on the smoothed hinge for many coordinates and for kernels; cuts where it does not arrive.

try the hard-margin point, which may be the optimum already
take quasi-Newton steps at ever smaller widths (`limited_memory.py`)
if the gap is open, over rows of many coordinates: keep the width and find the multipliers of the
    pairs near their margin (`multiplier_steps.py`)
if it still is: let `CuttingPlane` go on from there
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...certificate.solution import Recorder, Solution, Status
from ...certificate.solver import INSIDE, Solver
from ...errors import InputError
from ...losses.registry import HINGE
from ...problem.problem import Problem
from ..cutting_plane import CuttingPlane
from ..hard_margin import offer_hard_margin
from .functions import functions_of
from .limited_memory import LimitedMemory
from .multiplier_steps import MultiplierSteps

FINER = 0.25
"""Share of the tolerance that a dual point aims at where only rounding was missing."""

CLOSE = 1e-3
"""Relative gap from which the pairs near their margin are likely to be those of the optimum."""

SEPARATED = 0.1
"""Share of F that the loss may have at the best point of rows that are taken for separable."""


@dataclass(frozen=True)
class QuasiNewton(Solver):
    """Solve a hinge problem by L-BFGS on ever less smoothed sums.

    Parameters
    ----------
    tol : float
        Relative gap to reach.
    max_iter : int
        Steps at most; cuts that follow are not counted.
    max_time : float, optional
        Seconds.
    """

    tol: float = 1e-9
    max_iter: int = 1000
    max_time: float | None = None

    name: ClassVar[str] = "quasi-newton"

    def check(self, problem: Problem) -> None:
        """Raise `InputError` if the loss is not the hinge."""
        if problem.loss != HINGE:
            raise InputError(f"this quasi-Newton method solves the hinge, not {problem.loss.name}")

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Improve on the recorder's best point; return why it stopped."""
        offer_hard_margin(problem, recorder)
        if recorder.near(INSIDE * self.tol):
            return None
        functions = functions_of(problem, self.tol, lambda: recorder.out_of_time)
        run = LimitedMemory(problem, functions, recorder, self.tol)
        reason = run.run(self.max_iter)
        if recorder.near(self.tol) or reason == Status.TIME_LIMIT:
            return reason
        # Almost all of F is penalty, so that all pairs may have their margin at the optimum, even
        # with few coordinates.
        if self._is_separated(problem, recorder):
            offer_hard_margin(problem, recorder, separable=True)
            if recorder.near(INSIDE * self.tol):
                return None
        if MultiplierSteps.suits(problem) and recorder.gap <= CLOSE * recorder.best_primal:
            steps = MultiplierSteps(problem, functions, recorder, self.tol, run.f, run.width)
            reason = steps.run()
            if recorder.near(self.tol) or reason == Status.TIME_LIMIT:
                return reason
        return CuttingPlane(self.tol, max_time=self.max_time).run(problem, recorder)

    def conclude(self, problem: Problem, recorder: Recorder, reason: Status | None) -> Solution:
        """Return the solution; where only rounding is missing, with a dual point of cuts.

        The marginals of a narrow ramp over weighted rows round more than those of single pairs.
        """
        solution = super().conclude(problem, recorder, reason)
        if solution.status != Status.STALLED or not recorder.near(self.tol):
            return solution
        # Forgotten, lest a dual point that rounds too much keep out one that proves more.
        recorder.best_dual, recorder.best_witness = -np.inf, None
        cuts = CuttingPlane(FINER * self.tol, max_time=recorder.time_left)
        try:
            reason = cuts.run(problem, recorder)
        except KeyboardInterrupt:
            reason = Status.INTERRUPTED
        again = recorder.finish(problem, self.tol, reason)
        return solution if solution.certificate.gap <= again.certificate.gap else again

    def _is_separated(self, problem: Problem, recorder: Recorder) -> bool:
        """Return whether the best point's objective is nearly all penalty."""
        w = recorder.best_w
        assert w is not None
        penalty = problem.lam / 2 * problem.space.norm2(w)
        return recorder.best_primal - penalty <= SEPARATED * recorder.best_primal
