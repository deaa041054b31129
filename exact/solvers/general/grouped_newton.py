"""Newton's method over ordered pairs whose groups lie whole in partitions.

    solve a sample of whole groups, and start from its optimum
    take the steps of `pair_steps`: exact sums of all groups, a Hessian of pairs drawn in the sample

The sample is held in memory; each evaluation is one pass over the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...certificate.evaluation import Evaluation
from ...certificate.partitioned.grouped.evaluate import OfGroups
from ...certificate.solution import Recorder, Status
from ...certificate.solver import Solver
from ...certificate.witness import Witness
from ...curvature.line_search import root_of_slope
from ...errors import InputError, NoPairError, OverflowingError
from ...pairs.ordered.ordered_pairs import OrderedPairs
from ...problem.problem import Problem
from ...problem.risk import Mean
from ...spaces.partitions.grouped.drawn import DrawnGroups
from ...spaces.partitions.grouped.grouped_rows import GroupedRows
from ...spaces.rows import Rows
from ..descent import LARGEST_HESSIAN, ROUGH, Descent
from .drawn_hessian import DrawnHessian
from .pair_steps import PairSteps, draws_for

THINNING, LEAST, ROWS_A_COORDINATE = 20, 20_000, 200
"""One row in so many makes the sample, but not fewer rows than the others say."""

MOST_NUMBERS = 50_000_000
"""Numbers in the rows of a sample, at most (400 MB)."""


@dataclass(frozen=True)
class GroupedNewton(Solver):
    """Solve a problem over `GroupedRows` with the ridge.

    Parameters
    ----------
    tol : float
        Relative gap to reach.
    max_iter : int
        Newton steps.
    max_time : float, optional
        Seconds.
    seed : int
        Draws the pairs for the Hessian.
    """

    tol: float = 1e-9
    max_iter: int = 100
    max_time: float | None = None
    seed: int = 0

    name: ClassVar[str] = "descent"

    def check(self, problem: Problem) -> None:
        """Raise `InputError` unless the groups lie in partitions, with few enough columns."""
        if not isinstance(problem.space, GroupedRows):
            raise InputError("this Newton method is for rows with groups in partitions")
        if problem.space.dim > LARGEST_HESSIAN:
            raise InputError(f"Newton would form a matrix of side {problem.space.dim}")

    def start(self, problem: Problem, recorder: Recorder) -> None:
        """Leave the start to `run`: a sample tells more than a point."""

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Take Newton steps from the optimum of a sample."""
        sample, w = sampled_groups(problem), recorder.w0
        if w is None:
            tol = max(self.tol, min(ROUGH, 5 * sample.space.dim / sample.n))
            part = recorder.part()
            Descent(tol, self.max_iter, finish=False, seed=self.seed).run(sample, part)
            w = np.zeros(problem.space.dim) if part.best_w is None else part.best_w
        steps = PairSteps(self.tol, self.max_iter, self.seed)
        return steps.run(_Apart(problem, sample, recorder), recorder, w)


@dataclass(frozen=True, eq=False)
class _Seen:
    """An evaluation, as `PairSteps` sees it."""

    found: Evaluation
    gradient: np.ndarray

    @property
    def w(self) -> np.ndarray:
        return self.found.w

    @property
    def width(self) -> float:
        return self.found.width

    @property
    def bias(self) -> float:
        return self.found.bias


class _Apart:
    """A problem over partitions, as `PairSteps` sees it."""

    def __init__(self, problem: Problem, sample: Problem, recorder: Recorder):
        self.problem, self.sample, self.recorder = problem, sample, recorder
        self.kinked = not np.isfinite(problem.loss.smoothness)
        self._sums = OfGroups(problem)

    def look(self, w: np.ndarray, width: float) -> _Seen:
        """Evaluate at `w`, and offer the point and its minorant."""
        return self._offered(self._seen(w, width))

    def along(self, now: _Seen, step: np.ndarray) -> tuple[_Seen, bool]:
        """Return the point at a good length of the step; every trial is a pass over the rows."""
        trials: dict[float, _Seen] = {}

        def slope(t: float) -> float:
            try:
                trials[t] = self._seen(now.w + t * step, now.width)
            except OverflowingError:
                return np.inf
            return float(trials[t].gradient @ step)

        t = root_of_slope(slope, float(now.gradient @ step))
        # The search may end at a length that it has not tried.
        if t not in trials and (t == 0.0 or not np.isfinite(slope(t))):
            return now, False
        return self._offered(trials[t]), t == 1.0

    def hessian(self, now: _Seen, rng: np.random.Generator) -> DrawnHessian:
        """Return the Hessian there, from pairs drawn in the sample."""
        scores = self.sample.space.scores(now.w)
        sizes = draws_for(self.problem.space.dim)
        return DrawnHessian(self.sample, scores, now.width, *sizes, rng)

    def _seen(self, w: np.ndarray, width: float) -> _Seen:
        found = self._sums.at(w, width)
        return _Seen(found, self.problem.lam * found.w - found.pull)

    def _offered(self, seen: _Seen) -> _Seen:
        found, problem, lam = seen.found, self.problem, self.problem.lam

        def witness() -> Witness:
            return Witness.from_weights(problem, found.w, found.bins, found.half)

        self.recorder.offer(found.w, found.primal(lam), witness, found.dual(lam))
        self.recorder.step()
        return seen


def sampled_groups(problem: Problem) -> Problem:
    """Return a problem over a sample of the rows that is held, whole groups where there are many.

    Where it has no ordered pair, or the rows are few, it has all rows.
    """
    space = problem.space
    assert isinstance(space, GroupedRows)
    size = min(
        max(problem.n // THINNING, LEAST, ROWS_A_COORDINATE * space.dim),
        MOST_NUMBERS // space.dim,
    )
    if 2 * size < problem.n:
        sample = _held(problem, space.drawn_groups(size))
        if sample is not None:
            return sample
    return held_groups(problem)


def held_groups(problem: Problem) -> Problem:
    """Return the problem with all its rows held in memory."""
    space = problem.space
    assert isinstance(space, GroupedRows)
    found = _held(problem, space.all_rows())
    assert found is not None  # the rows have an ordered pair
    return found


def _held(problem: Problem, drawn: DrawnGroups) -> Problem | None:
    """Return the problem over some rows, or None where no two of them are ordered."""
    if not drawn.key.size:
        return None
    try:
        pairs = OrderedPairs(drawn.group, drawn.key, drawn.weight, drawn.weight)
    except NoPairError:  # a sample without ordered rows
        return None
    return Problem(Rows(drawn.rows), Mean(pairs, problem.loss), problem.penalty)
