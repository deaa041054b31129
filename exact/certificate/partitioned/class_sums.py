"""Evaluations of losses that need nothing but sums of each class: the square, the exponential.

With M the mass of a class, and means over its rows in brackets,

    mean (1 - t)^2 = 1 - 2 ([s]+ - [s]-) + [s^2]+ + [s^2]- - 2 [s]+ [s]-,
    pull = 2 ((1 + [s]-) [x]+ - [s x]+) - 2 ((1 - [s]+) [x]- + [s x]-);
    mean exp(-t) = exp(r - l) [f]+ [f]-,    f = exp(l - s) of positives, exp(s - r) of negatives,
    pull = mean exp(-t) (sum f x / sum f of positives, less that of negatives),

l, r the least score of a positive row and the largest of a negative one, or bounds of them. These
are sums at the computed scores, each of which is off by `slip` at most.
"""

from __future__ import annotations

import numpy as np

from ...errors import CertificateError, OverflowingError
from ...losses.loss import Loss
from ...losses.registry import LARGEST_EXPONENT, Exponential, Square
from ...pairs.partitioned_pairs import PartitionedPairs
from ...problem.problem import Problem
from ...spaces.partitions import PartitionedRows
from ...tools.rounding import UNIT, gamma
from ..evaluation import Evaluation
from ..notes import note
from .class_tasks import ClassSums, ExponentialTask, MomentsTask
from .ranges import SLACK, score_extent, widened


class OfClasses:
    """Evaluations of the square or the exponential loss over partitions."""

    doubt, order = np.inf, 1

    def __init__(self, problem: Problem):
        assert isinstance(problem.space, PartitionedRows)
        assert isinstance(problem.pairs, PartitionedPairs)
        self.problem, self.space, self.loss = problem, problem.space, problem.loss

    @staticmethod
    def suits(loss: Loss) -> bool:
        """Return whether it is one of these losses."""
        return isinstance(loss, Square | Exponential)

    def at(self, w: np.ndarray, bins: int) -> Evaluation:
        """Return the evaluation at `w`; `bins` is not used, and the evaluation has one."""
        w = np.ascontiguousarray(w, dtype=float)
        found = self._squares(w) if isinstance(self.loss, Square) else self._exponentials(w)
        return note(self.problem, found)

    def _checked(self, found: ClassSums) -> ClassSums:
        """Raise `CertificateError` unless every row of every partition was counted once."""
        space = self.space
        if found.rows != space.n or found.parts != space.parts:
            raise CertificateError(
                f"{found.rows} rows of {found.parts} partitions were counted, and there are "
                f"{space.n} of {space.parts}: please report this"
            )
        return found

    def _squares(self, w: np.ndarray) -> Evaluation:
        found = self._checked(self.space.run(MomentsTask(self.space.offset, w)))
        self.space.last_range = w, found.seen.ends
        mass = found.numbers[:, 0]
        (size_b, size_a), (b, a), (two_b, two_a) = (found.numbers[:, 1:] / mass[:, None]).T
        means, norms = found.vectors / mass[:, None, None], found.norms / mass[:, None]
        value = 1 - 2 * (a - b) + two_a + two_b - 2 * a * b
        conjugate = 2 * (1 - (a - b)) - value
        chain = gamma(found.chain)
        size = 1 + 2 * (size_a + size_b) + two_a + two_b + 2 * size_a * size_b
        rounding = 4 * chain * size * (1 + 8 * chain)
        pull = 2 * ((1 + b) * means[1, 0] - means[1, 1] - (1 - a) * means[0, 0] - means[0, 1])
        parts = 2 * ((1 + size_b) * norms[1, 0] + norms[1, 1])
        parts += 2 * ((1 + size_a) * norms[0, 0] + norms[0, 1])
        error = (8 * chain + gamma(w.size + 16)) * float(parts) * (1 + 8 * chain)
        slip = 2 * self.space.score_slip(w)
        # (z + slip)^2 - z^2 in the mean, and |z| by the root of the mean of z^2.
        moved = slip * (2 * float(np.sqrt(max(value, 0.0) + rounding)) + slip)
        return Evaluation(
            w, max(value, 0.0), conjugate, pull, rounding + moved * (1 + gamma(8)), 2 * rounding,
            error, 0.0, 1,
        )  # fmt: skip

    def _exponentials(self, w: np.ndarray) -> Evaluation:
        space, extent = self.space, score_extent(self.space, w)
        for _ in range(3):
            levels = float(extent[3]), float(extent[0])
            found = self._checked(space.run(ExponentialTask(space.offset, w, levels)))
            ends = found.seen.ends
            space.last_range = w, ends
            sums = found.numbers[:, 1]
            inside = ends[0] >= extent[0] and ends[3] <= extent[3]
            if inside and (sums > 0).all():
                return self._exponential(w, levels, found)
            extent = ends if inside else widened(ends, SLACK)  # sums were lost to underflow
        raise OverflowingError("the scores are so far apart that the exponential loss has no sums")

    def _exponential(
        self, w: np.ndarray, levels: tuple[float, float], found: ClassSums
    ) -> Evaluation:
        space, worst = self.space, levels[0] - levels[1]
        (_, sum_b, far_b), (_, sum_a, far_a) = found.numbers
        least = float(found.seen.ends[3] - found.seen.ends[0])
        if not max(worst, least) <= LARGEST_EXPONENT:
            raise OverflowingError(
                f"the exponential loss overflows at a margin of {-least:g}: take smaller weights, "
                "a larger lam or another loss"
            )
        mean_b, mean_a = found.numbers[:, 1] / found.numbers[:, 0]
        value = float(np.exp(worst)) * mean_a * mean_b
        pull = value * (found.vectors[1, 0] / sum_a - found.vectors[0, 0] / sum_b)
        # Exponents round by |x| units, exponentials by a few, sums by their chain.
        chain = gamma(found.chain + 32)
        away = 4 * UNIT * (far_a / sum_a + far_b / sum_b + abs(worst)) * (1 + chain)
        relative = 4 * chain + away
        reached = (found.norms[1, 0] / sum_a + found.norms[0, 0] / sum_b) * (1 + 8 * chain)
        error = value * ((8 * chain + gamma(w.size + 16)) * reached + 4 * away * space.reach)
        slip, size = 2 * space.score_slip(w), float(np.linalg.norm(w))
        linear = float(w @ pull)
        conjugate = value + linear
        rounding = value * relative * (1 + relative)
        slack = size * error + gamma(w.size + 8) * (size * float(np.linalg.norm(pull)) + value)
        moved = value * float(np.expm1(slip)) * (1 + relative) * (1 + 1e-12)
        return Evaluation(
            w, value, conjugate, pull, rounding + moved,
            (rounding + slack + 2 * slip * value) * (1 + relative), error * (1 + relative), 0.0, 1,
        )  # fmt: skip
