"""Newton's method for smooth losses over rows in partitions.

As `streamed_newton`: a sample's optimum to start from, exact sums of all pairs for value and
gradient, and a Hessian of pairs drawn from the sample, which steps correct. The sample is held.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...certificate.evaluation import Evaluation
from ...certificate.partitioned.losses import smooth_over_partitions
from ...certificate.solution import Recorder, Status
from ...errors import InputError
from ...losses.registry import HINGE, SQUARED_HINGE
from ...problem.problem import Problem
from ...problem.subsample import held_in_memory, starting_sample
from ...spaces.partitions.partitioned_rows import PartitionedRows
from ...spaces.rows import Rows
from ..descent import Descent
from ..smoothing.sampled_hessian import PairHessian
from ..streamed_newton import LARGEST_DIM, ROUGH, SampledHessian, Steps, StreamedNewton
from .drawn_hessian import DrawnHessian

DRAWS, DRAWS_A_COORDINATE = 100_000, 400
"""Pairs drawn for a Hessian: at least so many, and so many a coordinate."""

INSIDE, INSIDE_A_COORDINATE = 4_000, 40
"""Pairs of a Hessian that should have some curvature."""


@dataclass(frozen=True)
class PartitionedNewton(StreamedNewton):
    """Solve a problem with a smooth loss over rows in partitions.

    Parameters
    ----------
    tol, max_iter, seed, max_time
        As `StreamedNewton`.
    """

    name: ClassVar[str] = "descent"

    def check(self, problem: Problem) -> None:
        """Raise `InputError` unless this is a smooth loss of ours over few enough columns."""
        if problem.loss == HINGE or not isinstance(problem.space, PartitionedRows):
            raise InputError("this Newton method is for smooth losses over rows in partitions")
        if problem.space.dim > LARGEST_DIM:
            raise InputError(f"Newton would form a matrix of side {problem.space.dim}")
        smooth_over_partitions(problem)

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Take Newton steps from the optimum of a sample."""
        sample = starting_sample(problem) or held_in_memory(problem)
        w = recorder.w0
        if w is None:
            tol = max(self.tol, min(ROUGH, problem.space.dim / sample.n))
            part = recorder.part()
            part.w0 = np.zeros(problem.space.dim)
            Descent(tol, finish=False).run(sample, part)
            w = part.w0 if part.best_w is None else part.best_w
        return Steps(self, _Parts(problem, sample), recorder).from_(w)


class _Parts:
    """A smooth loss over partitions, as `Steps` sees it."""

    def __init__(self, problem: Problem, sample: Problem):
        self.problem, self.sample = problem, sample
        self._sums = smooth_over_partitions(problem)
        self.doubt, self.order = self._sums.doubt, self._sums.order

    def at(self, w: np.ndarray, bins: int) -> Evaluation:
        """Return the evaluation at `w`."""
        return self._sums.at(w, bins)

    def hessian(self, w: np.ndarray, rng: np.random.Generator) -> PairHessian:
        """Return the Hessian at `w`, from pairs drawn from the sample."""
        sample = self.sample
        if sample.loss == SQUARED_HINGE:
            return SampledHessian(sample, w, rng)
        assert isinstance(sample.space, Rows)
        dim = sample.space.dim
        size = max(DRAWS, DRAWS_A_COORDINATE * dim)
        enough = max(INSIDE, INSIDE_A_COORDINATE * dim)
        scores, drawn = sample.space.scores(w), _drawn(sample, size, rng)
        return DrawnHessian(sample, scores, 0.0, size, enough, rng, drawn)


def _drawn(sample: Problem, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs drawn by their weight: a positive and a negative row, one regardless of the
    other."""
    pairs = sample.pairs
    found = []
    for rows, mass in zip((pairs.positive, ~pairs.positive), pairs.normalised(), strict=True):
        ends = np.cumsum(mass)
        at = np.searchsorted(ends, rng.random(size) * ends[-1], side="right")
        # The product may round up to the last end: that is still the last row.
        found.append(np.flatnonzero(rows)[np.minimum(at, mass.size - 1)])
    return found[0], found[1]
