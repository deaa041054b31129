"""The hinge to rounding: a small problem over the pairs near their margin, repeated.

Given a point, pairs far from the margin keep alpha in {0, 1}; the optimum over the others (the
window) gives a new dual point, feasible by construction, and a new w. With few pairs the window is
all of them, and one round is the whole problem. Each round is judged by the sums over ALL pairs.

    until the gap is inside the tolerance:
        open the window: the pairs nearest the margin at the best point, `limit` of them at most
        if there is none (ties): widen the limit
        alpha, target = the optimum over the window
        offer alpha's dual point, and the best point on the way to target
        if a round gained little: widen the limit; if three did and it is widest: stalled
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..certificate.certificate import dual_value
from ..certificate.solution import INSIDE, Recorder, Solver, Status
from ..errors import InputError
from ..losses.registry import HINGE
from ..pairs.all_pairs import AllPairs
from ..problem.line_search import best_on_segment
from ..problem.problem import Problem
from .stall import STALL, Idle
from .window import WarmMultipliers, listed_pairs, open_window

MOST = 200_000  # pairs in the first window, of 100 a coordinate and 1000 at least


@dataclass(frozen=True)
class ActivePairs(Solver):
    """Solve a hinge problem over a window of pairs, again and again."""

    tol: float = 1e-9
    limit: int | None = None
    largest: int = 2_000_000  # pairs that a window never exceeds by itself
    max_rounds: int = 40
    max_time: float | None = None

    name: ClassVar[str] = "active-pairs"

    def check(self, problem: Problem) -> None:
        """Raise `InputError` if the loss is not the hinge or the space has no rows."""
        if problem.loss != HINGE:
            raise InputError(f"active pairs solve the hinge, not {problem.loss.name}")
        if problem.space.held is None:
            raise InputError("active pairs need rows: factor the kernel first")

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Improve on the recorder's best point; return why it stopped."""
        self.check(problem)
        run = _Run(self, problem, recorder)
        # Of ordered pairs only few are listed: there smoothing stalls, as a handful decide all.
        if run.listed is None and not isinstance(problem.pairs, AllPairs):
            return Status.STALLED
        return run.run()


class _Run:
    """One run: the window's size, and the multipliers of the last window."""

    def __init__(self, solver: ActivePairs, problem: Problem, recorder: Recorder):
        self.solver, self.problem, self.recorder = solver, problem, recorder
        self.top = min(solver.largest, problem.n_pairs)
        start = min(max(1000, 100 * problem.space.dim), MOST)
        self.limit = solver.limit or min(start, self.top)
        # A limit that the caller gives is the last word: no window grows beyond it.
        self.top = solver.limit or self.top
        self.width = np.inf
        self.warm, self.listed = WarmMultipliers(problem), listed_pairs(problem)

    def run(self) -> Status | None:
        recorder, near, idle = self.recorder, INSIDE * self.solver.tol, Idle(STALL.finish)
        idle.after(recorder.gap)
        for _ in range(self.solver.max_rounds):
            before = recorder.gap
            if not self._round():
                # More pairs may be tied at the margin than a window of this size can hold.
                if not self._widen():
                    return Status.STALLED
                continue
            recorder.step()
            stalled = idle.after(recorder.gap)
            if recorder.near(near):
                return None
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            # 1e-11: below this relative gap, idle rounds mean that only rounding is left
            rounding = idle.rounds >= 2 and recorder.gap <= 1e-11 * recorder.best_primal
            if rounding or (stalled and not self._widen()):
                return Status.STALLED
            # 0.2: a round that leaves more of the gap widens the window
            if idle.rounds or recorder.gap > 0.2 * before:
                self._widen()
        return Status.ITERATION_LIMIT

    def _widen(self) -> bool:
        """Make room for more pairs; return whether there is any."""
        self.width = np.inf
        grown = self.limit < self.top
        # 4: factor by which a window that gains little may grow
        self.limit = min(4 * self.limit, self.top)
        return grown

    def _round(self) -> bool:
        problem, recorder = self.problem, self.recorder
        space, w = problem.space, recorder.best_w
        assert w is not None

        def late() -> bool:
            return recorder.out_of_time

        scores = space.scores(w)
        window = open_window(problem, scores, self.limit, self.width, self.listed)
        if window is None or window.i.size == 0:
            # All margins are alike, as at w = 0: step along the slope and look again.
            target = space.pull(problem.sums(scores).c) / problem.lam
            w, primal = best_on_segment(problem, w, scores, target)
            recorder.offer(w, primal)
            scores = space.scores(w)
            window = open_window(problem, scores, self.limit, self.width, self.listed)
        if window is None or window.i.size == 0:
            return False
        point = self.warm.solve(window, w, scores, self._target(), late)
        target = point.w
        witness = window.witness(problem, point.b)
        dual, _ = dual_value(problem, witness)
        found, primal = target, problem.objective(target)
        # Where the target itself will do, no better point on the way is looked for.
        if not primal - dual <= INSIDE * self.solver.tol * primal:
            found, primal = best_on_segment(problem, w, scores, target, stop=late)
        # Steps shrink from round to round: the next window is bounded by this one.
        reach = float(np.ptp(space.scores(target) - scores))
        self.width = 2 * reach if found is target and reach > 0 else np.inf
        recorder.offer(found, primal, witness, dual)
        return True

    def _target(self) -> float:
        """Return the gap to which the window is solved."""
        gap, primal = self.recorder.gap, self.recorder.best_primal
        # 0.01: share of the tolerance to which a window is solved in the end
        finest = 0.01 * self.solver.tol * primal
        # 1e-2, 1e-3: a window is solved to this part of the gap while the gap is above the latter
        return finest if gap <= 1e-3 * primal else max(1e-2 * min(gap, primal), finest)
