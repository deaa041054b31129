"""Cutting planes on the pair sums: a bundle method for the hinge over any number of pairs.

Each evaluation at a point gives a plane below the loss, U(s) >= m_k - c_k's, with m_k the mass of
the active pairs and c_k their marginals. The best combination theta of the planes gives a dual
point (a convex combination of feasible ones is feasible) and the function sum theta_k pull(c_k) /
lam.

    try the hard-margin point, which may be the optimum already
    for every cut:
        add the plane of the last point
        theta = the best combination of the planes (`bundle/simplex.py`);  target = its function
        best = the best point on the way from the best one to target
        the next cut is at best; now and then, and where best has not moved, nearer to target
        every PATIENCE cuts: forget idle planes; stalled if the gap has hardly fallen
        every LOOK cuts: if the rate of the gap promises many more, let `ActivePairs` try to finish

Scores along the way are combinations of scores that are known, so that a cut takes one product to
add it and, over rows, one for the target (`bundle/images.py`). The line search keeps the primal
from jumping about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..certificate.solution import Recorder, Status
from ..certificate.solver import INSIDE, Solver
from ..errors import InputError
from ..losses.registry import HINGE
from ..problem.problem import Problem
from ..spaces.rows import Rows
from .active_pairs import ActivePairs
from .bundle.cuts import ACTIVE_SET, Bundle, Cut
from .bundle.images import Place, images_of
from .bundle.segment import Evaluated, Segment
from .hard_margin import offer_hard_margin
from .qp_backends import direct_backends

# The run has stalled once PATIENCE cuts have left more than PROGRESS of the gap.
PATIENCE, PROGRESS = 60, 0.9

# Every third cut is made between best and target: this share of best, the rest of target.
TURN, NEAR_BEST = 3, 0.9

# Every LOOK cuts, `ActivePairs` is tried if more than MANY cuts are still needed at the present
# rate.
LOOK, MANY = 40, 150

FINISH_ROUNDS = 12  # Rounds of `ActivePairs` in one try.

# After a try that failed, the next one waits until the gap has fallen to CLOSER of what it was, or
# to LAST times tol.
CLOSER, LAST = 0.1, 10.0


@dataclass(frozen=True)
class CuttingPlane(Solver):
    """Solve a hinge problem by cutting planes."""

    tol: float = 1e-9
    max_iter: int = 1000
    finish_from: float = 1e-2
    window: int | None = None
    backend: str = ACTIVE_SET
    max_time: float | None = None

    name: ClassVar[str] = "cutting-plane"

    def __post_init__(self) -> None:
        super().__post_init__()
        known = (ACTIVE_SET, *direct_backends())
        if self.backend not in known:
            raise InputError(f"unknown backend {self.backend!r}: choose one of {', '.join(known)}")

    def check(self, problem: Problem) -> None:
        """Raise `InputError` if the loss is not the hinge."""
        if problem.loss != HINGE:
            raise InputError(f"cutting planes solve the hinge, not {problem.loss.name}")

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Improve on the recorder's best point; return why it stopped."""
        offer_hard_margin(problem, recorder)
        if recorder.near(INSIDE * self.tol):
            return None
        return _Run(self, problem, recorder).run()


class _Run:
    """One run: the bundle, the best point, and what it has gained."""

    def __init__(self, solver: CuttingPlane, problem: Problem, recorder: Recorder):
        self.solver, self.problem, self.recorder = solver, problem, recorder
        images = images_of(problem, solver.tol, lambda: recorder.out_of_time)
        self.images, self.bundle = images, Bundle(problem, images, solver.backend)
        w = recorder.best_w
        assert w is not None
        # At zero, where most runs begin, scores and norm take no product with the data.
        known = bool(w.any())
        scores = problem.space.scores(w) if known else np.zeros(problem.n)
        norm2 = problem.space.norm2(w) if known else 0.0
        self.best = Evaluated.of(problem, Place(w, scores, norm2))
        self.finish_at = solver.finish_from if isinstance(problem.space, Rows) else 0.0

    def run(self) -> Status | None:
        solver, recorder, goal = self.solver, self.recorder, INSIDE * self.solver.tol
        stalled_from, looked_at, point = np.inf, np.inf, self.best
        for k in range(1, solver.max_iter + 1):
            point = self._improved(point, k)
            recorder.step()
            if recorder.near(goal):
                return None
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            if k % PATIENCE == 0 or self.bundle.full:
                self.bundle.drop_idle()
            slow = k % PATIENCE == 0 and recorder.gap > PROGRESS * stalled_from
            if k % PATIENCE == 0:
                stalled_from = recorder.gap
            # A run that has hardly moved is left to `ActivePairs` before it is called stalled.
            if k % LOOK == 0 or slow:
                if self.finish_at and (slow or self._is_slow(looked_at)):
                    reason = self._finished()
                    if recorder.near(solver.tol) or recorder.out_of_time:
                        return reason
                    point = self.best
                looked_at = recorder.gap
            # `stalled_from` is the gap before that try, so that what the try has gained counts.
            if slow and not recorder.gap <= PROGRESS * stalled_from:
                return Status.STALLED
        return Status.ITERATION_LIMIT

    def _improved(self, point: Evaluated, k: int) -> Evaluated:
        """Cut at `point`, offer what follows, and return the point of the next cut."""
        recorder, bundle = self.recorder, self.bundle
        bundle.add(Cut.at(self.problem, point))
        target, dual = bundle.combine(recorder.gap, recorder.best_primal)
        recorder.offer(witness=bundle.witness_maker(), dual=dual)
        way = Segment(self.problem, self.images, self.best, target)
        share, found = way.best()
        if share > 0:
            self.best = found
            recorder.offer(found.place.w, found.primal)
        # The plane at a best point that has not moved is in the bundle already.
        if share == 0 or k % TURN == 0:
            return way.at(NEAR_BEST * share + 1 - NEAR_BEST)
        return found

    def _is_slow(self, gap_then: float) -> bool:
        """Return whether many more cuts are needed if the last ones tell the rate."""
        recorder = self.recorder
        goal = INSIDE * self.solver.tol * recorder.best_primal
        # There is no rate yet at the first look; later, the gap has not fallen since the last one.
        if not recorder.gap < gap_then < np.inf:
            return gap_then < np.inf
        # If LOOK cuts always lower the gap by the same factor, this compares the cuts that are left
        # with MANY.
        return LOOK * np.log(recorder.gap / goal) > MANY * np.log(gap_then / recorder.gap)

    def _finished(self) -> Status | None:
        """Let `ActivePairs` try; return why it stopped."""
        recorder, solver, problem = self.recorder, self.solver, self.problem
        # A gap above F means that nothing is proved yet: too early for a window of pairs.
        if not (recorder.near(self.finish_at) or recorder.gap <= recorder.best_primal):
            return None
        finish = ActivePairs(solver.tol, solver.window, FINISH_ROUNDS, max_time=recorder.time_left)
        reason = finish.run(problem, recorder)
        if recorder.near(self.finish_at):
            self.finish_at = max(CLOSER * self.finish_at, LAST * solver.tol)
        w = recorder.best_w
        assert w is not None
        # `ActivePairs` has found a better point, and the cuts go on from there.
        if w is not self.best.place.w:
            place = Place(w, problem.space.scores(w), problem.space.norm2(w))
            self.best = Evaluated.of(problem, place)
        return reason
