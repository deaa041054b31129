"""The hinge to rounding: a small problem over the pairs near their margin, repeated.

Given a point, pairs far from the margin keep alpha in {0, 1}; the optimum over the others (the
window) gives a new dual point, feasible by construction, and a new w. With few pairs the window is
all of them, and one round is the whole problem. Each round is judged by the sums over ALL pairs.

    until the gap is inside the tolerance:
        open the window: the pairs nearest the margin at the best point, `limit` of them at most
        if there is none (ties): merge equal rows and solve that; if that fails, widen the limit
        alpha, target = the optimum over the window
        offer alpha's dual point, and the best point on the way to target
        if two rounds gained little: merge equal rows and solve that, once
        if a round gained little: widen the limit; if three did and it is widest: stalled
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from ..certificate.certificate import dual_value
from ..certificate.solution import Recorder, Status
from ..certificate.solver import INSIDE, Solver
from ..curvature.line_search import best_on_segment
from ..errors import InputError
from ..formulation.equal_rows import equal_rows
from ..losses.registry import HINGE
from ..pairs.all_pairs import AllPairs
from ..problem.problem import Problem
from ..spaces.rows import Rows
from .qp_backends import direct_backends, solve_qp
from .window.multipliers import WarmMultipliers
from .window.window import Window, open_window
from .window.window_qp import window_qp

MULTIPLIERS = "multipliers"  # The name of our own solver of a window.

LARGEST_WINDOW = 2_000_000  # Pairs that a window never exceeds by itself.

LARGEST_QP = 40_000  # The largest window of the QP solvers, which factor matrices of that side.

# A window is solved to this part of the gap while the gap is above `CLOSE`, then to rounding.
LOOSE = 1e-2

CLOSE = 1e-3  # Relative gap from which a window is likely to hold all pairs that matter.

FINEST = 0.01  # Share of the tolerance to which a window is solved in the end.

# Pairs a coordinate in the first window. The QP solvers get fewer, as each pair costs them more.
FIRST, FIRST_QP = 100, 3

# The first window has at least LEAST pairs (LEAST_QP for the QP solvers), because fewer are all
# overhead, and at most MOST, because then a look at the gap pays.
LEAST, LEAST_QP, MOST = 1000, 1000, 200_000

GROWTH = 4  # Factor by which a window that gains little may grow.

# A round that leaves more than LITTLE of the gap widens the window. One that leaves more than LESS
# is idle.
LITTLE, LESS = 0.2, 0.5

# Idle rounds in a row after which ties are suspected, and after which the run may end.
TIED, PATIENCE = 2, 3

ROUNDING = 1e-11  # Below this relative gap, idle rounds mean that only rounding is left.


@dataclass(frozen=True)
class ActivePairs(Solver):
    """Solve a hinge problem over a window of pairs, again and again."""

    tol: float = 1e-9
    limit: int | None = None
    max_rounds: int = 40
    backend: str = MULTIPLIERS
    max_time: float | None = None

    name: ClassVar[str] = "active-pairs"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.backend == MULTIPLIERS:
            return
        known = (MULTIPLIERS, *direct_backends())
        if self.backend not in known:
            raise InputError(f"unknown backend {self.backend!r}: choose one of {', '.join(known)}")

    def check(self, problem: Problem) -> None:
        """Raise `InputError` if the loss is not the hinge or the space has no rows."""
        if problem.loss != HINGE:
            raise InputError(f"active pairs solve the hinge, not {problem.loss.name}")
        if not isinstance(problem.space, Rows):
            raise InputError("active pairs need rows: factor the kernel first")

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Improve on the recorder's best point; return why it stopped."""
        self.check(problem)
        return _Run(self, problem, recorder).run()


class _Run:
    """One run: the window's size, and the multipliers of the last window."""

    def __init__(self, solver: ActivePairs, problem: Problem, recorder: Recorder):
        self.solver, self.problem, self.recorder = solver, problem, recorder
        quick, dim = solver.backend == MULTIPLIERS, problem.space.dim
        self.top = min(LARGEST_WINDOW if quick else LARGEST_QP, problem.n_pairs)
        start = min(max(LEAST, FIRST * dim), MOST) if quick else max(LEAST_QP, FIRST_QP * dim)
        self.limit = solver.limit or min(start, self.top)
        # A limit that the caller gives is the last word: no window grows beyond it.
        self.top = solver.limit or self.top
        self.width, self.grouped = np.inf, False
        self.warm = WarmMultipliers(problem)

    def run(self) -> Status | None:
        recorder, near, idle = self.recorder, INSIDE * self.solver.tol, 0
        for _ in range(self.solver.max_rounds):
            before = recorder.gap
            if not self._round():
                # More pairs may be tied at the margin than a window of this size can hold.
                if self._in_groups() and recorder.near(near):
                    return None
                if not self._widen():
                    return Status.STALLED
                continue
            recorder.step()
            idle = idle + 1 if recorder.gap > LESS * before else 0
            if idle == TIED and not recorder.near(near) and self._in_groups():
                idle = 0
            if recorder.near(near):
                return None
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            rounding = idle >= TIED and recorder.gap <= ROUNDING * recorder.best_primal
            if rounding or (idle >= PATIENCE and not self._widen()):
                return Status.STALLED
            if idle or recorder.gap > LITTLE * before:
                self._widen()
        return Status.ITERATION_LIMIT

    def _widen(self) -> bool:
        """Make room for more pairs; return whether there is any."""
        self.width = np.inf
        grown = self.limit < self.top
        self.limit = min(GROWTH * self.limit, self.top)
        return grown

    def _in_groups(self) -> bool:
        """Solve with equal rows merged, which unties their pairs; return whether this was done.

        Coordinates stay what they are, so only the dual point needs a way back.
        """
        problem, recorder, space = self.problem, self.recorder, self.problem.space
        assert isinstance(space, Rows)
        if self.grouped or not isinstance(problem.pairs, AllPairs) or not _is_matrix(space.raw):
            return False
        self.grouped = True
        groups = equal_rows(space.raw, problem.pairs.positive)
        if groups is None:
            return False
        positive = problem.pairs.positive[groups.first]
        few = problem.on_rows(groups.space(space), groups.pairs(problem.pairs).on(positive))
        found = replace(self.solver, max_time=recorder.time_left).solve(few, recorder.best_w)
        witness = groups.witness(problem, found.witness)
        primal = problem.objective(found.w)
        recorder.offer(found.w, primal, witness, dual_value(problem, witness)[0])
        recorder.step()
        return True

    def _round(self) -> bool:
        problem, recorder = self.problem, self.recorder
        space, w = problem.space, recorder.best_w
        assert w is not None
        scores = space.scores(w)
        window = open_window(problem, scores, self.limit, self.width)
        if window is None or window.i.size == 0:
            # All margins are alike, as at w = 0: step along the slope and look again.
            target = space.pull(problem.sums(scores).c) / problem.lam
            w, primal = best_on_segment(problem, w, scores, target)
            recorder.offer(w, primal)
            scores = space.scores(w)
            window = open_window(problem, scores, self.limit, self.width)
        if window is None or window.i.size == 0:
            return False
        target = None
        if self.solver.backend == MULTIPLIERS:
            point = self.warm.solve(window, w, scores, self._target(), lambda: recorder.out_of_time)
            alpha, target = point.b, point.w
        else:
            alpha = self._by_qp(window)
        if alpha is None:
            return False
        witness = window.witness(problem, alpha)
        dual, _ = dual_value(problem, witness)
        target = space.pull(witness.c) / problem.lam if target is None else target
        found, primal = target, problem.objective(target)
        # Where the target itself will do, no better point on the way is looked for.
        if not primal - dual <= INSIDE * self.solver.tol * primal:
            found, primal = best_on_segment(problem, w, scores, target)
        self._set_width(scores, space.scores(target), found is target)
        recorder.offer(found, primal, witness, dual)
        return True

    def _set_width(self, scores: np.ndarray, moved: np.ndarray, arrived: bool) -> None:
        """Bound the next window by this step: steps shrink from round to round."""
        shift = moved - scores
        reach = float(shift.max() - shift.min())
        self.width = 2 * reach if arrived and reach > 0 else np.inf

    def _target(self) -> float:
        """Return the gap to which the window is solved."""
        gap, primal = self.recorder.gap, self.recorder.best_primal
        finest = FINEST * self.solver.tol * primal
        return finest if gap <= CLOSE * primal else max(LOOSE * min(gap, primal), finest)

    def _by_qp(self, window: Window) -> np.ndarray | None:
        """Return the window's alpha (m,), in the box."""
        parts = window_qp(self.problem, window, self.recorder.best_primal)
        answer = solve_qp(*parts, self.solver.backend, max_time=self.recorder.time_left)
        alpha = answer.x[: window.i.size]
        return np.clip(alpha, 0.0, 1.0) if np.isfinite(alpha).all() else None


def _is_matrix(rows: object) -> bool:
    return isinstance(rows, np.ndarray) or sp.issparse(rows)
