"""Newton's method for the hinge over all pairs: smooth, solve, smooth less.

At width delta the hinge's slope is a ramp and the objective has a Hessian. The gap is a sum of
two terms: what smoothing costs (the bias, of order delta^2), and |gradient|^2 / (2 lam).

    if there are many rows: solve a twentieth of them roughly, and start from its optimum, unless
        a start was given that is as near
    take Newton steps at ever smaller widths (`smoothing/levels.py`)
    if the gap is open, and the rows are held:
        with as many coordinates as rows: try the hard-margin point, all pairs at margin one
        unless it is wide open over many rows: let `ActivePairs` finish, whose window may be small
        let `CuttingPlane` go on, which needs no window
    certify; if only rounding is missing, take the dual point of one more `ActivePairs`

The gradient is exact, only the Hessian is sampled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..certificate.solution import Recorder, Solution, Status
from ..certificate.solver import Solver
from ..errors import InputError
from ..losses.registry import HINGE
from ..problem.problem import Problem
from ..problem.subsample import FEWEST, held_in_memory, starting_sample, subsample
from ..spaces.partitions.partitioned_rows import PartitionedRows
from ..spaces.rows import Rows
from ..spaces.streamed import StreamedRows
from .active_pairs import ActivePairs
from .cutting_plane import CuttingPlane
from .hard_margin import offer_hard_margin
from .smoothing.levels import COLD_WIDTH, WARM_WIDTH, Levels

LARGEST_DIM = 10_000
"""Coordinates above which no Hessian is formed (800 MB)."""

ROUGH, ROUGH_A_COORDINATE = 1e-3, 20
"""A sample is solved to the smaller of this relative gap and this multiple of dim / n: anything
below is noise of the sample."""

SAMPLE_NOISE = 0.2
"""On a sample the optimum of all rows costs about dim (1 / n_pos + 1 / n_neg) times this more than
the sample's own. A start that costs at most twice as much is as near to it as the sample's is."""

FEW_ROWS = 100
"""With fewer rows of a class than this per coordinate, a sample's pairs are far from
independent."""

DRAWN_NUMBERS = 5_000_000
"""If rows are read in blocks, at most this many of their numbers are held for the Hessian."""

TRIED_ROWS = 20_000
"""Up to this many rows, one more evaluation, at the dual point's own w, costs little."""

POLISH_ROUNDS = 12
"""The most rounds of `ActivePairs`. Where it helps, it needs about five."""

FAR = 0.5
"""Above this relative gap the drawn Hessians have told nothing, as with heavy tails. Cuts need
none."""

FEW = 2000
"""Up to this many rows `ActivePairs` is tried however wide the gap is: it costs little there."""

FINER = 0.25
"""Where only rounding was missing, the new dual point aims at this share of the tolerance."""


@dataclass(frozen=True)
class SmoothedNewton(Solver):
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
        Draws the pairs for the Hessian.
    max_time : float, optional
        Seconds.
    """

    tol: float = 1e-9
    max_iter: int = 150
    polish: bool = True
    seed: int = 0
    max_time: float | None = None

    name: ClassVar[str] = "newton"

    def check(self, problem: Problem) -> None:
        """Raise `InputError` if the loss is not the hinge, or the space has no rows or too wide
        ones."""
        if problem.loss != HINGE:
            raise InputError(f"the smoothed Newton method solves the hinge, not {problem.loss}")
        if not isinstance(problem.space, Rows | StreamedRows | PartitionedRows):
            raise InputError("Newton needs rows: factor the kernel first")
        if problem.space.dim > LARGEST_DIM:
            raise InputError(
                f"Newton would form a matrix of {problem.space.dim} x {problem.space.dim}: "
                "use cutting planes"
            )

    def start(self, problem: Problem, recorder: Recorder) -> None:
        """Leave the start to `run`: a sample tells more than a point."""

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Take Newton steps, and finish with other solvers where they do not arrive."""
        levels, width = self._levels(problem, recorder, recorder.w0)
        reason = levels.run(width, self.max_iter)
        held = not isinstance(problem.space, PartitionedRows)
        if held and problem.n <= TRIED_ROWS and levels.seen.last is not None:
            # Where no pair is at its margin, w = g / lam is the optimum itself.
            with np.errstate(over="ignore"):
                w = levels.seen.last.pull / problem.lam
                finite = np.isfinite(w @ w)
            if finite:
                recorder.offer(w, problem.objective(w))
        done = recorder.near(self.tol) or reason == Status.TIME_LIMIT
        if done or not self.polish or not isinstance(problem.space, Rows):
            return reason
        # With so many coordinates all pairs can have margin one, and that point may be the optimum.
        if problem.space.dim >= problem.n - 1:
            offer_hard_margin(problem, recorder)
        promising = problem.n <= FEW or recorder.gap <= FAR * recorder.best_primal
        if not recorder.near(self.tol) and promising:
            reason = self._polish(self.tol, recorder).run(problem, recorder)
        if recorder.near(self.tol) or recorder.out_of_time:
            return reason
        return CuttingPlane(self.tol, max_time=self.max_time).run(problem, recorder)

    def conclude(self, problem: Problem, recorder: Recorder, reason: Status | None) -> Solution:
        """Return the solution; where only rounding is missing, with a better dual point."""
        solution = super().conclude(problem, recorder, reason)
        missing = solution.status == Status.STALLED and recorder.near(self.tol)
        if missing and self.polish and isinstance(problem.space, Rows):
            return self._repeated(problem, recorder, solution)
        return solution

    def _repeated(self, problem: Problem, recorder: Recorder, solution: Solution) -> Solution:
        """Return the better of the solution and one with the dual point of a polish.

        The marginals of a narrow ramp over weighted rows round more than those of single pairs.
        """
        # Forgotten, lest a dual point that rounds too much keep out one that proves more.
        recorder.best_dual, recorder.best_witness = -np.inf, None
        try:
            reason = self._polish(FINER * self.tol, recorder).run(problem, recorder)
        except KeyboardInterrupt:
            reason = Status.INTERRUPTED
        again = recorder.finish(problem, self.tol, reason)
        return solution if solution.certificate.gap <= again.certificate.gap else again

    def _polish(self, tol: float, recorder: Recorder) -> ActivePairs:
        return ActivePairs(tol=tol, max_rounds=POLISH_ROUNDS, max_time=recorder.time_left)

    def _levels(
        self, problem: Problem, recorder: Recorder, w: np.ndarray | None, rough: bool = False
    ) -> tuple[Levels, float]:
        """Return the run on `problem` and its first width, from a solved sample where that pays."""
        dim = problem.space.dim
        sample = starting_sample(problem) if problem.n >= FEWEST else None
        if sample is None:
            start = np.zeros(dim) if w is None else w
            # Rows read in blocks are held for the Hessian: they are few enough.
            held = problem if isinstance(problem.space, Rows) else held_in_memory(problem)
            levels = Levels(problem, held, recorder, start, self.tol, self.seed, rough)
            return levels, COLD_WIDTH if w is None else WARM_WIDTH
        tol = max(self.tol, min(ROUGH, ROUGH_A_COORDINATE * dim / sample.n))
        part = recorder.part()  # what is best on a sample proves nothing of all rows
        inner, width = replace(self, tol=tol)._levels(sample, part, w, rough=True)
        # The caller's start stays where no smaller sample has replaced it, and this one promises to
        # gain little.
        near = w is not None and inner.w is w and inner.begin(width) <= 2 * _noise(sample)
        if not near:
            inner.run(width, self.max_iter)
            w = part.best_w
        assert w is not None
        # Judging the start has made the Hessian there: no need to draw it again.
        hessian = inner.begun[1] if near and inner.begun is not None else None
        if min(sample.n_pos, sample.n_neg) < FEW_ROWS * dim:  # draw from all rows, or from many
            held, hessian = isinstance(problem.space, Rows), None
            sample = problem if held else subsample(problem, max(sample.n, DRAWN_NUMBERS // dim))
        levels = Levels(problem, sample, recorder, w, self.tol, self.seed, rough)
        levels.known = hessian
        return levels, levels.first_width(inner)


def _noise(sample: Problem) -> float:
    """Return about what the optimum of all rows costs on a sample above that of the sample."""
    return SAMPLE_NOISE * sample.space.dim * (1 / sample.n_pos + 1 / sample.n_neg)
