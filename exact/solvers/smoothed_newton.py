"""Newton's method for the hinge over all pairs: smooth, solve, smooth less.

At width delta the hinge's slope is a ramp, the objective has a Hessian, and the gap splits into
what smoothing costs (the bias, of order delta^2) and |gradient|^2 / (2 lam). The width falls as
the Newton decrement falls below the bias, no further than the tolerance needs. Large problems are
first solved on a twentieth of their rows. The gradient is exact, only the Hessian is sampled. Where
the window has too few pairs left for a Hessian, `ActivePairs` finishes; cutting planes come last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..certificate.evaluate_rows import InMemory, Streamed
from ..certificate.evaluation import Evaluation, Evaluator
from ..certificate.solution import Callback, Recorder, Solution, Status
from ..certificate.witness import LONG_ROWS, Witness
from ..errors import InputError
from ..losses.registry import HINGE
from ..pairs.all_pairs import AllPairs
from ..problem.problem import Problem
from ..problem.subsample import subsample
from ..spaces.rows import Rows
from ..spaces.streamed import StreamedRows
from ..tools.root_of_slope import root_of_slope
from .active_pairs import ActivePairs
from .cutting_plane import CuttingPlane
from .hard_margin import offer_hard_margin
from .sampled_hessian import PairHessian

THINNING = 20
"""A problem is first solved on one row in so many."""

LARGEST_DIM = 10_000
"""Coordinates above which no Hessian is formed (800 MB)."""

TRIED_ROWS = 20_000
"""Rows up to which one more evaluation, of the dual point's own w, costs little."""

GRID_ROWS, WEIGHTED_GRID = 1.0, 6.0
"""Bins a row up to which they are used; sorting is cheaper for rows that weigh one each."""

DRAWN_NUMBERS = 5_000_000
"""Numbers in the rows that are held for the Hessian where the others are read in blocks."""


@dataclass(frozen=True)
class SmoothedNewton:
    """Solve a hinge problem by Newton steps on ever less smoothed sums.

    Parameters
    ----------
    tol : float
        Relative gap to reach.
    max_iter : int
        Evaluations of all pairs at most.
    polish : bool
        Whether `ActivePairs` may finish.
    seed : int
        Of the pairs drawn for the Hessian.
    max_time : float, optional
        Seconds.
    """

    tol: float = 1e-9
    max_iter: int = 150
    polish: bool = True
    seed: int = 0
    max_time: float | None = None

    def solve(
        self, problem: Problem, w0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Solution:
        """Return the solution, started from `w0` (a smaller problem's solution by default).

        Raises
        ------
        InputError
            If the loss is not the hinge, or the space has no rows.
        """
        if problem.loss != HINGE:
            raise InputError(f"the smoothed Newton method solves the hinge, not {problem.loss}")
        if not isinstance(problem.space, Rows | StreamedRows):
            raise InputError("Newton needs rows: factor the kernel first")
        if problem.space.dim > LARGEST_DIM:
            raise InputError(
                f"Newton would form a matrix of {problem.space.dim} x {problem.space.dim}: "
                "use cutting planes"
            )
        recorder = Recorder(self.max_time, callback, "newton")
        start = None if w0 is None else problem.check_weights(w0)
        try:
            reason = self._run(problem, recorder, start)
        except KeyboardInterrupt:
            reason = Status.INTERRUPTED
        solution = recorder.finish(problem, self.tol, reason)
        if solution.status == Status.STALLED and recorder.near(self.tol) and self.polish:
            return self._repeated(problem, recorder, solution)
        return solution

    def _repeated(self, problem: Problem, recorder: Recorder, solution: Solution) -> Solution:
        """Return the solution with the dual point of a polish, where only rounding is missing.

        The marginals of a narrow ramp over weighted rows round more than those of single pairs.
        """
        if not isinstance(problem.space, Rows):
            return solution
        recorder.best_dual, recorder.best_witness = -np.inf, None
        finish = ActivePairs(tol=self.tol / 4, max_rounds=12, max_time=_left(recorder))
        try:
            reason = finish.run(problem, recorder)
        except KeyboardInterrupt:
            reason = Status.INTERRUPTED
        again = recorder.finish(problem, self.tol, reason)
        proved = [one.certificate.gap + one.certificate.rounding for one in (solution, again)]
        return solution if proved[0] <= proved[1] else again

    def _run(self, problem: Problem, recorder: Recorder, w: np.ndarray | None) -> Status:
        level = self._level(problem, recorder, w)
        reason = level.run()
        if problem.n <= TRIED_ROWS and level.last is not None:
            # Where no pair is at its margin, w = g / lam is the optimum itself.
            w = level.last.pull / problem.lam
            recorder.offer(w, problem.objective(w))
        done = recorder.near(self.tol) or reason not in (Status.STALLED, Status.ITERATION_LIMIT)
        if done or not self.polish or not isinstance(problem.space, Rows):
            return reason
        offer_hard_margin(problem, recorder)
        if not recorder.near(self.tol):
            finish = ActivePairs(tol=self.tol, max_rounds=12, max_time=_left(recorder))
            reason = finish.run(problem, recorder)
        if recorder.near(self.tol) or recorder.out_of_time:
            return reason
        return CuttingPlane(self.tol, max_time=self.max_time).run(problem, recorder)

    def _level(self, problem: Problem, recorder: Recorder, w: np.ndarray | None) -> _Level:
        """Return the first level of `problem`, started from a solved sample where that pays."""
        dim = problem.space.dim
        base = max(5000, 20 * dim)
        if not isinstance(problem.pairs, AllPairs) or problem.n < 10 * base:
            start = np.zeros(dim) if w is None else w
            sample = problem
            if isinstance(problem.space, StreamedRows):  # few enough to hold
                sample = problem.over(Rows(problem.space.rows(np.arange(problem.n))))
            return _Level(self, problem, sample, recorder, start, 4.0 if w is None else 0.05)
        sample = subsample(problem, max(base, min(problem.n // THINNING, 100 * base)))
        tol = max(self.tol, min(1e-3, 20 * dim / sample.n))
        silent = Recorder(_left(recorder))
        inner = replace(self, tol=tol, polish=False)._level(sample, silent, w)
        inner.rough = True
        inner.run()
        start = inner.recorder.best_w
        assert start is not None
        # Pairs of few rows are far from independent: then draw them from all rows, or from many.
        if min(sample.n_pos, sample.n_neg) < 100 * dim:
            held = isinstance(problem.space, Rows)
            sample = problem if held else subsample(problem, max(sample.n, DRAWN_NUMBERS // dim))
        level = _Level(self, problem, sample, recorder, start, 0.05)
        level.density, level.spread = inner.density, inner.spread
        level.width = level.first_width(silent.best_primal)
        return level


def _left(recorder: Recorder) -> float | None:
    if recorder.max_time is None:
        return None
    return max(recorder.max_time - recorder.seconds, 1e-3)


class _Level:
    """Newton steps on one problem, its Hessian drawn from `sample` (the problem or a part)."""

    def __init__(
        self,
        solver: SmoothedNewton,
        problem: Problem,
        sample: Problem,
        recorder: Recorder,
        w: np.ndarray,
        width: float,
    ):
        self.solver, self.problem, self.sample, self.recorder = solver, problem, sample, recorder
        self.w, self.width = w, width
        self.rng = np.random.default_rng(solver.seed)
        self.draws = max(5000, 40 * problem.space.dim)
        self.spread: float | None = None
        self.density: float | None = None
        self.evaluators: dict[int, Evaluator] = {}
        self.last: Evaluation | None = None
        self.rough = False  # whether a point within `tol` by the decrement will do

    def first_width(self, primal: float) -> float:
        """Return the width that the tolerance needs, from what the sample told."""
        if not self.density:
            return 0.05
        needed = np.sqrt(24 * 0.25 * self.solver.tol * max(primal, 1e-7) / self.density)
        least = 100 * self.problem.space.dim / (self.density * float(self.problem.n_pairs))
        return float(np.clip(needed, min(least, 0.05), 0.05))

    def run(self) -> Status:
        """Return why it stopped; the best points are in the recorder."""
        solver, lam = self.solver, self.problem.lam
        now = self.evaluate(self.w, self.width)
        hessian, best, idle = self.hessian(now), np.inf, 0
        for _ in range(solver.max_iter):
            if self.recorder.near(solver.tol / 2):
                return Status.STALLED
            if self.recorder.out_of_time:
                return Status.TIME_LIMIT
            gap = self.recorder.best_primal - self.recorder.best_dual
            idle = 0 if gap < 0.9 * best else idle + 1
            best = min(best, gap)
            if idle >= 12:
                return Status.STALLED
            r = lam * now.w - now.pull
            p = -hessian.solve(r)
            decrement = -float(r @ p) / 2
            if self.rough and decrement + now.bias <= solver.tol * self.recorder.best_primal:
                return Status.STALLED
            if decrement <= 0.3 * now.bias and now.bias > 1.5 * self.goal:
                narrower = self.narrower(now)
                if narrower is None:
                    return Status.STALLED
                now = self.evaluate(now.w + p, narrower)  # so near, the full step is safe
                hessian = self.hessian(now)
                continue
            line = self.evaluator(now.width).line(now, p, now.width)
            t = root_of_slope(line.slope, float(r @ p))
            if t == 0.0 or np.array_equal(now.w + t * p, now.w):
                return Status.STALLED
            moved = line.at(t)
            self.note(moved)
            left = lam * moved.w - moved.pull
            if t != 1.0 or hessian.poor(r, left):
                hessian = self.hessian(moved)
            else:
                hessian.learn(moved.w - now.w, left - r)
            now = moved
        return Status.ITERATION_LIMIT

    @property
    def goal(self) -> float:
        """The bias that the tolerance leaves room for."""
        return 0.25 * self.solver.tol * max(self.recorder.best_primal, 1e-7)

    def narrower(self, now: Evaluation) -> float | None:
        """Return the next width: what the tolerance needs, but not too small at once."""
        needed = now.width * float(np.sqrt(self.goal / now.bias))
        roomy = self.pairs_inside(now, 0.02 * now.width) > 100 * self.problem.space.dim
        width = max(needed, (0.02 if roomy else 0.2) * now.width)
        few = 3 * self.problem.space.dim + 30
        if self.pairs_inside(now, width) < few and self.pairs_inside(now, now.width) < 10 * few:
            return None
        return width if width < 0.95 * now.width else None

    def pairs_inside(self, now: Evaluation, width: float) -> float:
        """Return about how many pairs a window has: the bias is their density width^2 / 24."""
        density = 24 * now.bias / now.width**2
        return density * width * float(self.problem.n_pairs)

    def evaluator(self, width: float) -> Evaluator:
        """Return the form of the sums that is cheapest at this width."""
        # Two bins a width: more gain less than the larger grid costs.
        bins, pairs = 1 << max(2, int(np.ceil(np.log2(2.0 / width)))), self.problem.pairs
        form = Streamed if isinstance(self.problem.space, StreamedRows) else InMemory
        if form is InMemory:
            most = GRID_ROWS if pairs.weight is None else WEIGHTED_GRID
            grid = bins * (self.spread or 2.0)
            bins = bins if isinstance(pairs, AllPairs) and grid <= most * self.problem.n else 0
        if bins not in self.evaluators:
            self.evaluators[bins] = form(self.problem, bins)
        return self.evaluators[bins]

    def evaluate(self, w: np.ndarray, width: float) -> Evaluation:
        """Evaluate, and keep the point if it is the best."""
        found = self.evaluator(width).at(w, width)
        self.note(found)
        return found

    def note(self, found: Evaluation) -> None:
        """Write an evaluation into the history."""
        lam, problem, self.last = self.problem.lam, self.problem, found
        scale, self.density = found.scale(lam), 24 * found.bias / found.width**2

        def witness() -> Witness:
            held = isinstance(problem.space, Rows) and problem.n <= LONG_ROWS
            if found.bins and not held:
                return Witness.from_weights(problem, found.w, found.bins, found.half, scale)
            return Witness.from_scores(problem, problem.space.scores(found.w), found.width, scale)

        self.recorder.offer(found.w, found.primal(lam), witness, found.dual(lam, scale))
        self.recorder.step()

    def hessian(self, now: Evaluation) -> PairHessian:
        """Return the Hessian at a point, from pairs drawn from the sample."""
        scores = self.sample.space.scores(now.w)
        self.spread = float(np.ptp(scores)) + 1.0
        return PairHessian(self.sample, scores, now.width, self.draws, self.rng)
