"""Newton steps on one problem, at one width after another.

    evaluate at the first width; draw a Hessian
    until the gap is inside the tolerance:
        if the last steps gained little with binned sums: sort from now on
        p = the Newton step;  decrement = what it promises
        if the decrement is small beside the bias: take p, narrow the width, draw a Hessian
        else: search along p, then draw a Hessian or teach the old one what p has changed

The width falls no further than the tolerance needs. Where the narrower window would hold too few
pairs for a Hessian the run has stalled: `ActivePairs` can list so few.
"""

from __future__ import annotations

import numpy as np

from ...certificate.evaluation import Evaluation
from ...certificate.solution import Recorder, Status
from ...certificate.solver import INSIDE
from ...curvature.line_search import root_of_slope
from ...problem.problem import Problem
from ...spaces.partitions.partitioned_rows import PartitionedRows
from ...spaces.rows import Rows
from ...spaces.streamed import StreamedRows
from .evaluations import Evaluations
from .sampled_hessian import PairHessian

COLD_WIDTH, WARM_WIDTH = 4.0, 0.05
"""The first width: far from the optimum the window holds nearly all pairs, near it few will do."""

LEAST_DRAWS, DRAWS_A_ROW, DRAWS_A_COORDINATE = 5000, 1, 40
"""Pairs drawn for a Hessian: so many a coordinate make its error small in every direction, and at
least the first number; of few rows without outliers as many as there are rows, so that drawing
costs less than evaluating."""

OUTLYING = 10.0
"""A row this many times longer than the mean is an outlier, which few drawn pairs would miss."""

PROGRESS, FLATTER, PATIENCE = 0.9, 0.25, 12
"""The run has stalled after PATIENCE steps in a row that each leave more than PROGRESS of the gap
and more than FLATTER of the smallest squared gradient. The gradient counts because at
a small lam the gap stays open long after F is optimal."""

ROUGH_IDLE = 2
"""After this many such steps with binned sums, the sums are sorted."""

BIAS_SHARE = 0.25
"""Share of the tolerance that the bias may take."""

LEAST_PRIMAL = 1e-7
"""Objectives below this count as this: there the tolerance is absolute."""

SOLVED = 0.3
"""A width is solved once the decrement is at most this share of its bias."""

STEP_LEAVES = 3e-3
"""A Newton step that is taken in full leaves about this share of the decrement."""

ROUNDINGS, CLOSE = 4.0, 0.95
"""Over blocks the gap may come within this many roundings of the tolerance, and up to this share of
it."""

START_BIAS, FAR = 2.5e-6, 0.1
"""A run over blocks starts at the width of this relative bias where the tolerance needs less than
this share of that width."""

WIDE = 1.5
"""A width is too wide while its bias is more than this many times the allowed one."""

SHRINK, CAREFUL = 0.02, 0.2
"""The least factor from one width to the next: the first where the window stays roomy, else the
second."""

ROOMY = 100
"""A window is roomy from this many pairs a coordinate on."""

FEW_PAIRS, FEW_MORE = 3, 30
"""A window of fewer than FEW_PAIRS pairs a coordinate plus FEW_MORE is too small for a Hessian."""

STILL_FEW = 10
"""A window with this many times the fewest pairs may shrink once more, whatever is left then."""

NO_LESS = 0.95
"""A width that would shrink by less than this factor stays."""


class Levels:
    """One run, its Hessian drawn from `sample` (the problem or a part of its rows).

    Parameters
    ----------
    problem, sample : Problem
        Hinge; the sample over `Rows`.
    recorder : Recorder
        Keeps the best points.
    w : array (dim,)
        Start.
    tol : float
        Relative gap to reach.
    seed : int
        Draws the pairs.
    rough : bool
        Whether a point within `tol` by the decrement will do.
    """

    def __init__(
        self,
        problem: Problem,
        sample: Problem,
        recorder: Recorder,
        w: np.ndarray,
        tol: float,
        seed: int,
        rough: bool = False,
    ):
        self.problem, self.sample, self.recorder = problem, sample, recorder
        self.w, self.tol, self.rough = w, tol, rough
        self.rng = np.random.default_rng(seed)
        self.streamed = isinstance(problem.space, StreamedRows | PartitionedRows)
        self.draws = max(_least_draws(problem), DRAWS_A_COORDINATE * problem.space.dim)
        self.seen = Evaluations(problem, recorder)
        self.full_steps = False  # whether Newton's steps have been taken in full
        self.known: PairHessian | None = None  # at the start, where somebody has it
        self.begun: tuple[Evaluation, PairHessian] | None = None

    def first_width(self, solved: Levels) -> float:
        """Return the width that the tolerance needs, from what a solved sample tells."""
        self.seen.density, self.seen.spread = solved.seen.density, solved.seen.spread
        if not self.seen.density:
            return WARM_WIDTH
        needed = self.seen.width_of_bias(self.allowed(solved.recorder.best_primal))
        # The pairs inside grow with the width, so that at this one the window is just roomy.
        least = ROOMY * self.problem.space.dim / self.seen.pairs_inside(1.0)
        if isinstance(self.problem.space, StreamedRows):  # a coarser grid costs less to count on
            coarse = self.seen.width_of_bias(START_BIAS * solved.recorder.best_primal)
            needed = coarse if needed < FAR * coarse else needed
        return float(np.clip(needed, min(least, WARM_WIDTH), WARM_WIDTH))

    @property
    def can_sort(self) -> bool:
        """Whether the sums can be sorted instead of binned: the rows are held."""
        return isinstance(self.problem.space, Rows)

    def begin(self, width: float) -> float:
        """Evaluate at the start, and return what the first Newton step promises to gain."""
        now = self.seen.at(self.w, width)
        hessian = self.hessian(now) if self.known is None else self.known
        self.begun = now, hessian
        gradient = self.problem.lam * now.w - now.pull
        return float(gradient @ hessian.solve(gradient)) / 2

    def run(self, width: float, max_iter: int) -> Status | None:
        """Return why it stopped, after at most `max_iter` steps; None if it seems to be there."""
        lam, recorder, idle = self.problem.lam, self.recorder, 0
        best = least = np.inf
        if self.begun is None:
            self.begin(width)
        assert self.begun is not None
        now, hessian = self.begun
        for _ in range(max_iter):
            if recorder.near(self.inside(now) * self.tol):
                return None
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            gradient = lam * now.w - now.pull
            steep = float(gradient @ gradient)
            gained = recorder.gap < PROGRESS * best or steep < FLATTER * least
            idle = 0 if gained else idle + 1
            best, least = min(best, recorder.gap), min(least, steep)
            # The gradient of binned sums is a step function, which may be what holds the gap.
            if idle >= ROUGH_IDLE and now.bins and self.can_sort:
                self.seen.fine, idle = True, 0
                now = self.seen.at(now.w, now.width)
                continue
            if idle >= PATIENCE:
                return Status.STALLED
            p = -hessian.solve(gradient)
            decrement = -float(gradient @ p) / 2
            # A sample's optimum is only a start, so that a promised gain will do for a proved gap.
            if self.rough and decrement + now.bias <= self.tol * recorder.best_primal:
                return None
            wide = now.bias > WIDE * self.allowed(recorder.best_primal)
            # After full steps the next one leaves little, so that the width may fall before it is
            # taken.
            left = STEP_LEAVES * decrement if self.full_steps else decrement
            if wide and left <= SOLVED * now.bias:
                narrower = self.narrower(now)
                if narrower is None:
                    return Status.STALLED
                now = self.seen.at(now.w + p, narrower)  # so near, the full step is safe
                hessian = self.hessian(now)
                continue
            found = self.searched(now, p, gradient, hessian)
            if found is None:
                return Status.STALLED
            now, hessian = found
        return Status.ITERATION_LIMIT

    def inside(self, now: Evaluation) -> float:
        """Return the share of the tolerance that the gap may take: the rest is for rounding.

        Over blocks the certificate has the same rounding as the evaluation.
        """
        if not self.streamed:
            return INSIDE
        lam = self.problem.lam
        rounding = now.primal_rounding(lam) + now.dual_rounding(lam)
        spare = ROUNDINGS * rounding / (self.tol * max(now.primal(lam), LEAST_PRIMAL))
        return float(np.clip(1 - spare, INSIDE, CLOSE))

    def searched(
        self, now: Evaluation, p: np.ndarray, gradient: np.ndarray, hessian: PairHessian
    ) -> tuple[Evaluation, PairHessian] | None:
        """Return the point found along p, and the Hessian to use there; None without a move."""
        line = self.seen.form(now.width).line(now, p, now.width)
        t = root_of_slope(line.slope, float(gradient @ p))
        if t == 0.0 or np.array_equal(now.w + t * p, now.w):
            return None
        moved = self.seen.note(line.at(t))
        self.full_steps = t == 1.0 and self.streamed
        left = self.problem.lam * moved.w - moved.pull
        # A step of another length, or one that leaves much, says that the window has changed.
        if t != 1.0 or hessian.poor(gradient, left):
            return moved, self.hessian(moved)
        hessian.learn(moved.w - now.w, left - gradient)
        return moved, hessian

    def allowed(self, primal: float) -> float:
        """Return the bias that the tolerance leaves room for at this objective."""
        return BIAS_SHARE * self.tol * max(primal, LEAST_PRIMAL)

    def narrower(self, now: Evaluation) -> float | None:
        """Return the next width: what the tolerance needs, but not too small at once."""
        dim, inside = self.problem.space.dim, self.seen.pairs_inside
        roomy = inside(SHRINK * now.width) > ROOMY * dim
        at_once = 0.0 if roomy and self.streamed else SHRINK if roomy else CAREFUL
        least = at_once * now.width
        width = max(self.seen.width_of_bias(self.allowed(self.recorder.best_primal)), least)
        few = FEW_PAIRS * dim + FEW_MORE
        if inside(width) < few and inside(now.width) < STILL_FEW * few:
            return None
        return width if width < NO_LESS * now.width else None

    def hessian(self, now: Evaluation) -> PairHessian:
        """Return the Hessian at a point, from pairs drawn from the sample."""
        whole = self.sample is self.problem
        scores = self.seen.scores(now.w) if whole else self.sample.space.scores(now.w)
        self.seen.spread = float(np.ptp(scores)) + 1.0  # negatives are shifted by the margin
        return PairHessian(self.sample, scores, now.width, self.draws, self.rng)


def _least_draws(problem: Problem) -> int:
    """Return how many pairs are drawn for a Hessian at least."""
    space = problem.space
    if not isinstance(space, Rows) or space.reach > OUTLYING * float(space.norms.mean()):
        return LEAST_DRAWS
    return min(LEAST_DRAWS, DRAWS_A_ROW * problem.n)
