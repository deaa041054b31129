"""Newton's method over any pairs that can be drawn: ordered pairs, say.

The sums and the gradient are exact, the Hessian is that of drawn pairs, corrected by what steps
teach. A loss with a kink is smoothed: at width h the gap splits into what smoothing costs, the
bias, and |gradient|^2 / (2 lam). The width falls once the Newton decrement is below the bias, no
further than the tolerance needs. Large problems are first solved on a part of their rows, and on a
grid that is no finer than the width asks for; where that leads nowhere, on the finest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...certificate.solution import Recorder, Solution, Status
from ...certificate.solver import Solver
from ...errors import InputError, OverflowingError
from ...losses.hinge import Hinge
from ...problem.minorant import Minorant
from ...problem.penalties import Ridge
from ...problem.problem import Problem
from ...problem.risk import Mean
from ...spaces.rows import Rows
from ...sums.assembled import PairSums
from ...tools.root_of_slope import root_of_slope
from .drawn_hessian import DrawnHessian
from .listed import solve_listed
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
            raise InputError("this Newton method needs a mean over pairs that can be drawn")
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
        kinked = not np.isfinite(problem.loss.smoothness)
        width = (LATER_WIDTH if w.any() else FIRST_WIDTH) if kinked else 0.0
        rng = np.random.default_rng(self.seed)
        now = _look(problem, recorder, w, problem.space.scores(w), width)
        hessian, idle, least = _hessian(problem, now, rng), 0, np.inf
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
            if kinked and decrement <= SETTLED * now.bias and now.bias > TOO_WIDE * goal:
                fall = max(float(np.sqrt(goal / now.bias)), STEEPEST_FALL)
                w = now.w + step  # so near, the full step is safe
                now = _look(problem, recorder, w, problem.space.scores(w), now.width * fall)
                hessian = _hessian(problem, now, rng)
                continue
            moved, full = _along(problem, recorder, now, step)
            if np.array_equal(moved.w, now.w):
                return Status.STALLED
            if not full or hessian.poor(now.gradient, moved.gradient):
                hessian = _hessian(problem, moved, rng)
            else:
                hessian.learn(moved.w - now.w, moved.gradient - now.gradient)
            now = moved
        return Status.ITERATION_LIMIT


def in_bins(problem: Problem) -> Problem:
    """Return a large problem with sums on a grid no finer than needed, or the problem itself."""
    coarser = getattr(problem.pairs, "by", None)
    small = problem.n < LARGE or not isinstance(problem.loss, Hinge)
    if coarser is None or small or problem.pairs.form != "auto":
        return problem
    return replace(problem, risk=Mean(coarser("binned"), problem.loss))


def _look(
    problem: Problem, recorder: Recorder, w: np.ndarray, scores: np.ndarray, width: float
) -> NewtonLook:
    """Evaluate at `w`, and offer the point and its minorant."""
    found = _evaluated(problem, w, scores, width)
    _offer(problem, recorder, found)
    return found


def _evaluated(problem: Problem, w: np.ndarray, scores: np.ndarray, width: float) -> NewtonLook:
    sums = problem.sums(scores, width)
    pull = problem.space.pull(sums.c)
    return NewtonLook(w, scores, sums, pull, problem.lam * w - pull, width)


def _offer(problem: Problem, recorder: Recorder, now: NewtonLook) -> None:
    lam, norm2 = problem.lam, float(now.pull @ now.pull)
    primal = now.sums.value + lam / 2 * float(now.w @ now.w)
    dual = now.sums.conjugate - norm2 / (2 * lam)
    # Zero is a bound without a minorant.
    recorder.offer(now.w, primal, lambda: _witness(problem, now), max(dual, 0.0))
    recorder.step()


def _witness(problem: Problem, now: NewtonLook) -> Minorant:
    """Return the minorant at the scores that the certificate makes: one evaluation serves both.

    Those of a trial on a line may differ in their last digits.
    """
    scores = problem.space.scores(now.w)
    if np.array_equal(scores, now.scores):
        return Minorant.of_sums(problem, now.sums, scores, now.width, 1.0)
    return Minorant.from_scores(problem, scores, now.width, 1.0)


def _hessian(problem: Problem, now: NewtonLook, rng: np.random.Generator) -> DrawnHessian:
    dim = problem.space.dim
    size = max(DRAWS, DRAWS_A_COORDINATE * dim)
    enough = max(INSIDE, INSIDE_A_COORDINATE * dim)
    return DrawnHessian(problem, now.scores, now.width, size, enough, rng)


def _along(
    problem: Problem, recorder: Recorder, now: NewtonLook, step: np.ndarray
) -> tuple[NewtonLook, bool]:
    """Return the look at a good length of the step, and whether that was the full step.

    A trial at the length t costs the sums at scores + t shift, and no product with the data. That
    of the full step has the scores of its point to the last digit.
    """
    whole = problem.space.scores(now.w + step)
    shift = whole - now.scores
    trials: dict[float, NewtonLook] = {}

    def slope(t: float) -> float:
        scores = whole if t == 1.0 else now.scores + t * shift
        try:
            trials[t] = _evaluated(problem, now.w + t * step, scores, now.width)
        except OverflowingError:
            return np.inf
        return float(trials[t].gradient @ step)

    t = root_of_slope(slope, float(now.gradient @ step))
    if t not in trials and (t == 0.0 or not np.isfinite(slope(t))):
        return now, False
    _offer(problem, recorder, trials[t])
    return trials[t], t == 1.0
