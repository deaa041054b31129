"""Newton's method over any pairs that can be drawn: ordered pairs, say.

The steps are those of `pair_steps`. Large problems are first solved on a part of their rows, and on
a grid that is no finer than the width asks for; where that leads nowhere, on the finest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...certificate.notes import sums_at
from ...certificate.solution import Recorder, Solution, Status
from ...certificate.solver import Solver
from ...curvature.line_search import root_of_slope
from ...errors import InputError, OverflowingError
from ...losses.hinge import Hinge
from ...problem.minorant import Minorant
from ...problem.penalties.ridge import Ridge
from ...problem.problem import Problem
from ...problem.risk import Mean
from ...spaces.rows import Rows
from ...sums.assembled import PairSums
from .drawn_hessian import DrawnHessian
from .listed import solve_listed
from .pair_steps import NEAR, PairSteps, draws_for
from .proximal import Proximal

LARGEST_DIM = 5000
"""Coordinates above which no Hessian is formed."""

LARGE, THINNING = 40_000, 20
"""From this many rows on, one row in so many is solved first."""

PART_A_COORDINATE = 200
"""Rows a coordinate that such a part has at least: fewer tell too little."""

ROUGH, ROUGH_A_COORDINATE = 1e-3, 5
"""The part is solved to this relative gap, or to so many times dim over its rows where that is
less: what lies below is its noise."""


@dataclass(frozen=True, eq=False)
class NewtonLook:
    """What is known at the weights `w`: scores, sums, gradient of the smoothed objective."""

    w: np.ndarray
    scores: np.ndarray
    sums: PairSums
    pull: np.ndarray
    gradient: np.ndarray
    width: float

    @property
    def bias(self) -> float:
        """What smoothing costs, >= 0 up to rounding."""
        return max(self.sums.value - self.sums.conjugate + float(self.pull @ self.w), 0.0)


@dataclass(frozen=True)
class PairNewton(Solver):
    """Solve a problem over rows, with the ridge and pairs that have `draw`, by Newton steps.

    Parameters
    ----------
    tol : float
        Relative gap to reach.
    max_iter : int
        Newton steps.
    max_time : float, optional
        Seconds.
    seed : int
        Draws the pairs for the Hessian, and the part of the rows.
    """

    tol: float = 1e-9
    max_iter: int = 100
    max_time: float | None = None
    seed: int = 0

    name: ClassVar[str] = "pair-newton"

    def check(self, problem: Problem) -> None:
        """Raise `InputError` unless it is a ridge problem over rows and pairs that can be drawn."""
        if not (isinstance(problem.risk, Mean) and hasattr(problem.pairs, "draw")):
            raise InputError(
                "pair-newton needs a mean over pairs that can be drawn, such as those of queries "
                "or survival times: take the method auto"
            )
        if not isinstance(problem.penalty, Ridge):
            raise InputError("Newton's method needs the ridge penalty")
        if not isinstance(problem.space, Rows):
            raise InputError("Newton needs rows: factor the kernel first")
        if problem.space.dim > LARGEST_DIM:
            raise InputError(
                f"Newton would form a matrix of {problem.space.dim} x {problem.space.dim}: "
                "use the proximal method"
            )

    def start(self, problem: Problem, recorder: Recorder) -> None:
        """Start from the solution of a part of the rows, where there are many."""
        if recorder.w0 is None:
            recorder.w0 = self._of_part(problem, recorder)
        if recorder.w0 is None:
            recorder.w0 = np.zeros(problem.space.dim)

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Improve on `recorder.w0`."""
        assert recorder.w0 is not None
        binned = in_bins(problem)
        reason = self._newton(binned, recorder, recorder.w0)
        # The coarse grid may be what has held the gap.
        if binned is not problem and reason is Status.STALLED and not recorder.near(self.tol):
            assert recorder.best_w is not None
            reason = self._newton(problem, recorder, recorder.best_w)
        if reason is not Status.STALLED or recorder.near(NEAR * self.tol):
            return reason
        solve_listed(problem, recorder, self.tol)
        if recorder.near(NEAR * self.tol):
            return None
        return Proximal(self.tol, max_time=recorder.time_left).run(problem, recorder)

    def conclude(self, problem: Problem, recorder: Recorder, reason: Status | None) -> Solution:
        """Return the solution, certified anew on the grid of the last steps, or the finest one."""
        found = recorder.finish(in_bins(problem), self.tol, reason)
        if found.status is Status.CERTIFIED or in_bins(problem) is problem:
            return found
        return recorder.finish(problem, self.tol, reason)

    def _of_part(self, problem: Problem, recorder: Recorder) -> np.ndarray | None:
        """Return the solution of a part of the rows, or None where all are few enough."""
        size = max(problem.n // THINNING, PART_A_COORDINATE * problem.space.dim, LARGE // THINNING)
        part = getattr(problem.pairs, "part", None)
        if problem.n < LARGE or 2 * size > problem.n or part is None:
            return None
        found = part(size, np.random.default_rng(self.seed))
        if found is None:
            return None
        rows, pairs = found
        space = problem.space
        assert isinstance(space, Rows)
        smaller = Problem(Rows(space.raw[rows]), Mean(pairs, problem.loss), problem.penalty)
        silent = recorder.part()
        tol = max(self.tol, min(ROUGH, ROUGH_A_COORDINATE * space.dim / rows.size))
        solver = PairNewton(tol, self.max_iter, seed=self.seed)
        solver.start(smaller, silent)
        assert silent.w0 is not None
        solver._newton(in_bins(smaller), silent, silent.w0)
        return silent.best_w

    def _newton(self, problem: Problem, recorder: Recorder, w: np.ndarray) -> Status | None:
        steps = PairSteps(self.tol, self.max_iter, self.seed)
        return steps.run(_InMemory(problem, recorder), recorder, w)


def in_bins(problem: Problem) -> Problem:
    """Return a large problem with sums on a grid no finer than needed, or the problem itself."""
    coarser = getattr(problem.pairs, "by", None)
    small = problem.n < LARGE or not isinstance(problem.loss, Hinge)
    if coarser is None or small or problem.pairs.form != "auto":
        return problem
    return replace(problem, risk=Mean(coarser("binned"), problem.loss))


class _InMemory:
    """A problem over rows that are held, as `PairSteps` sees it."""

    def __init__(self, problem: Problem, recorder: Recorder):
        self.problem, self.recorder = problem, recorder
        self.kinked = not np.isfinite(problem.loss.smoothness)

    @np.errstate(over="ignore")
    def look(self, w: np.ndarray, width: float) -> NewtonLook:
        """Evaluate at `w`, and offer the point and its minorant."""
        found = self._evaluated(w, self.problem.space.scores(w), width)
        self._offer(found)
        return found

    def hessian(self, now: NewtonLook, rng: np.random.Generator) -> DrawnHessian:
        """Return the Hessian there, from drawn pairs."""
        sizes = draws_for(self.problem.space.dim)
        return DrawnHessian(self.problem, now.scores, now.width, *sizes, rng)

    @np.errstate(over="ignore")  # a bound that overflows is infinitely bad
    def along(self, now: NewtonLook, step: np.ndarray) -> tuple[NewtonLook, bool]:
        """Return the look at a good length of the step, and whether that was the full step.

        A trial at the length t costs the sums at scores + t shift, and no product with the data.
        That of the full step has the scores of its point to the last digit.
        """
        whole = self.problem.space.scores(now.w + step)
        shift = whole - now.scores
        trials: dict[float, NewtonLook] = {}

        def slope(t: float) -> float:
            scores = whole if t == 1.0 else now.scores + t * shift
            try:
                trials[t] = self._evaluated(now.w + t * step, scores, now.width)
            except OverflowingError:
                return np.inf
            return float(trials[t].gradient @ step)

        t = root_of_slope(slope, float(now.gradient @ step))
        # The search may end at a length that it has not tried.
        if t not in trials and (t == 0.0 or not np.isfinite(slope(t))):
            return now, False
        self._offer(trials[t])
        return trials[t], t == 1.0

    def _evaluated(self, w: np.ndarray, scores: np.ndarray, width: float) -> NewtonLook:
        problem = self.problem
        sums = sums_at(problem, scores, width)
        pull = problem.space.pull(sums.c)
        return NewtonLook(w, scores, sums, pull, problem.lam * w - pull, width)

    def _offer(self, now: NewtonLook) -> None:
        lam, norm2 = self.problem.lam, float(now.pull @ now.pull)
        primal = now.sums.value + lam / 2 * float(now.w @ now.w)
        dual = now.sums.conjugate - norm2 / (2 * lam)
        # Zero is a bound without a minorant.
        self.recorder.offer(now.w, primal, lambda: self._witness(now), max(dual, 0.0))
        self.recorder.step()

    def _witness(self, now: NewtonLook) -> Minorant:
        """Return the minorant at the scores that the certificate makes: one evaluation serves both.

        Those of a trial on a line may differ in their last digits.
        """
        scores = self.problem.space.scores(now.w)
        if np.array_equal(scores, now.scores):
            return Minorant.of_sums(self.problem, now.sums, scores, now.width, 1.0)
        return Minorant.from_scores(self.problem, scores, now.width, 1.0)
