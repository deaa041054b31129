"""Newton's method for the squared hinge over rows that are read in blocks.

    solve a sample of the rows, and start from its optimum
    until the gap is inside the tolerance:
        evaluate, in two passes over the rows
        take the Newton step of a Hessian that the sample's active pairs estimate
        learn what the step has taught, or draw another Hessian

Value and gradient are those of all pairs; only the Hessian is sampled. The bins are refined where
the pairs that they leave in doubt cost more than a share of the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from ..certificate.blocks.squared import SquaredInBlocks
from ..certificate.evaluation import Evaluation
from ..certificate.solution import Recorder, Status
from ..certificate.solver import INSIDE, Solver
from ..certificate.witness import Witness
from ..curvature.curvature import curvature
from ..curvature.line_search import root_of_slope
from ..curvature.newton_equation import DRAWS, sampled_hessian
from ..curvature.pair_matrices import factored
from ..errors import InputError, OverflowingError
from ..losses.registry import SQUARED_HINGE
from ..problem.problem import Problem
from ..problem.subsample import starting_sample
from ..spaces.rows import Rows
from ..spaces.streamed import StreamedRows
from .descent import DRAWS as DRAWN
from .descent import Descent
from .smoothing.sampled_hessian import PairHessian

LARGEST_DIM = 10_000
"""Coordinates above which no Hessian is formed (800 MB)."""

ROUGH = 1e-4
"""A sample is solved at least to this relative gap."""

BIAS_SHARE = 0.1
"""Share of the tolerance that pairs in doubt may take."""

LEAST_PRIMAL = 1e-7
"""Objectives below this count as this: there the tolerance is absolute."""

DOUBT = 9.0
"""With K bins a unit, about one pair in this many times K^3 is in doubt, at a density of order
one."""

LEAST_BITS, MOST_BITS = 5, 20
"""Bins a unit are a power of two with an exponent between these."""

PATIENCE = 6
"""So many steps in a row that do not halve the gap end the run."""


@dataclass(frozen=True)
class StreamedNewton(Solver):
    """Solve a squared-hinge problem over blocks of rows.

    Parameters
    ----------
    tol : float
        Relative gap to reach.
    max_iter : int
        Newton steps at most.
    seed : int
        Draws the pairs for the Hessian.
    max_time : float, optional
        Seconds.
    """

    tol: float = 1e-9
    max_iter: int = 60
    seed: int = 0
    max_time: float | None = None

    name: ClassVar[str] = "descent"

    def check(self, problem: Problem) -> None:
        """Raise `InputError` unless this is the squared hinge over few enough streamed columns."""
        if problem.loss != SQUARED_HINGE or not isinstance(problem.space, StreamedRows):
            raise InputError("this Newton method is for the squared hinge over streamed rows")
        if problem.space.dim > LARGEST_DIM:
            raise InputError(f"Newton would form a matrix of side {problem.space.dim}")

    def start(self, problem: Problem, recorder: Recorder) -> None:
        """Leave the start to `run`: a sample tells more than a point."""

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Take Newton steps from the optimum of a sample."""
        sample = _held_sample(problem)
        w = recorder.w0
        if w is None:
            tol = max(self.tol, min(ROUGH, problem.space.dim / sample.n))
            part = recorder.part()
            part.w0 = np.zeros(problem.space.dim)
            Descent(tol, finish=False).run(sample, part)
            assert part.best_w is not None
            w = part.best_w
        return Steps(self, _Parts(problem, sample), recorder).from_(w)


def _held_sample(problem: Problem) -> Problem:
    """Return a sample of the rows that is held, or all of them where they are few."""
    sample = starting_sample(problem)
    if sample is not None:
        return sample
    space = problem.space
    assert isinstance(space, StreamedRows)
    return problem.over(Rows(space.rows(np.arange(problem.n))))


class SampledHessian(PairHessian):
    """The Hessian at one point, from active pairs of the sample, and what steps teach about it."""

    def __init__(self, sample: Problem, w: np.ndarray, rng: np.random.Generator):
        scores = sample.space.scores(w)
        size = max(DRAWS, DRAWN * sample.space.dim)
        H = sampled_hessian(sample, curvature(sample, scores), size, rng)
        self.secants, self.factor = [], factored(H)


class _Parts:
    """The squared hinge over blocks of rows, as `Steps` sees it."""

    doubt, order = DOUBT, 3

    def __init__(self, problem: Problem, sample: Problem):
        self.problem, self.sample = problem, sample
        self._sums = SquaredInBlocks(problem)

    def at(self, w: np.ndarray, bins: int) -> Evaluation:
        """Return the evaluation at `w`."""
        return self._sums.at(w, bins)

    def hessian(self, w: np.ndarray, rng: np.random.Generator) -> PairHessian:
        """Return the Hessian at `w`, drawn from the sample."""
        return SampledHessian(self.sample, w, rng)


class Parts(Protocol):
    """A problem with a smooth loss whose sums are binned.

    Attributes
    ----------
    problem : Problem
    doubt : float
    order : int
        With K bins a unit, bins cost about 1 / (doubt K^order).
    """

    problem: Problem
    doubt: float
    order: int

    def at(self, w: np.ndarray, bins: int) -> Evaluation:
        """Return the evaluation at `w`, from `bins` bins a unit of score."""
        ...

    def hessian(self, w: np.ndarray, rng: np.random.Generator) -> PairHessian:
        """Return a Hessian at `w`, drawn from a sample of the rows."""
        ...


class Steps:
    """Newton steps on a problem; `tol` and `max_iter` are the solver's.

    Parameters
    ----------
    solver : Solver
        With a `seed`.
    parts : Parts
    recorder : Recorder
    """

    def __init__(self, solver: StreamedNewton, parts: Parts, recorder: Recorder):
        self.solver, self.parts, self.problem = solver, parts, parts.problem
        self.recorder, self.rng = recorder, np.random.default_rng(solver.seed)
        self.bits = self._bits(self.allowed(1.0) * parts.doubt)

    def allowed(self, primal: float) -> float:
        """Return what the pairs in doubt may cost at this objective."""
        return BIAS_SHARE * self.solver.tol * max(primal, LEAST_PRIMAL)

    def from_(self, w: np.ndarray) -> Status | None:
        """Return why it stopped, after Newton steps from `w`."""
        lam, recorder, best, idle = self.problem.lam, self.recorder, np.inf, 0
        now = self.noted(self.parts.at(w, 1 << self.bits))
        hessian = self.parts.hessian(w, self.rng)
        for _ in range(self.solver.max_iter):
            if recorder.near(INSIDE * self.solver.tol):
                return None
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            idle = 0 if recorder.gap < best / 2 else idle + 1
            best = min(best, recorder.gap)
            finer = self._finer(now)
            # Coarse bins may be what holds the gap: they are refined before the run is given up.
            if idle >= PATIENCE and not finer:
                return Status.STALLED
            if finer:
                now = self.noted(self.parts.at(now.w, 1 << self.bits))
                continue
            gradient = lam * now.w - now.pull
            p = -hessian.solve(gradient)
            moved = self.searched(now, p, float(gradient @ p))
            if moved is None:
                return Status.STALLED
            left = lam * moved.w - moved.pull
            if hessian.poor(gradient, left):
                hessian = self.parts.hessian(moved.w, self.rng)
            else:
                hessian.learn(moved.w - now.w, left - gradient)
            now = moved
        return Status.ITERATION_LIMIT

    def searched(self, now: Evaluation, p: np.ndarray, start: float) -> Evaluation | None:
        """Return the point found along p; None without a move."""
        lam, tried = self.problem.lam, {}

        def slope(t: float) -> float:
            try:
                tried[t] = found = self.parts.at(now.w + t * p, 1 << self.bits)
            except OverflowingError:
                return np.inf  # so far out that the loss overflows, F rises
            return float(p @ (lam * found.w - found.pull))

        t = root_of_slope(slope, start)
        if t == 0.0 or np.array_equal(now.w + t * p, now.w):
            return None
        # The search may end at a length that it has not tried.
        if t not in tried and not np.isfinite(slope(t)):
            return None
        return self.noted(tried[t])

    def noted(self, found: Evaluation) -> Evaluation:
        """Offer an evaluation's points to the recorder, and return it."""
        lam, problem = self.problem.lam, self.problem

        def witness() -> Witness:
            return Witness.from_weights(problem, found.w, found.bins, 0)

        self.recorder.offer(found.w, found.primal(lam), witness, found.dual(lam))
        self.recorder.step()
        return found

    def _bits(self, share: float) -> int:
        """Return the exponent of the bins a unit for which 1 / K^order is about this share."""
        return int(np.clip(np.ceil(-np.log2(share) / self.parts.order), LEAST_BITS, MOST_BITS))

    def _finer(self, now: Evaluation) -> bool:
        """Refine the bins if their doubt costs too much; return whether that is to be seen."""
        allowed = self.allowed(self.recorder.best_primal)
        # An evaluation on coarser bins than those in use tells nothing of what these cost.
        if now.bias <= allowed or now.bins < 1 << self.bits:
            return False
        wanted = self.bits + int(np.ceil(np.log2(now.bias / allowed) / self.parts.order))
        before, self.bits = self.bits, min(wanted, MOST_BITS)
        return self.bits > before
