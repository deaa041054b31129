"""Evaluations of smooth losses over partitions: one pass over the rows, as for the hinge.

They are written as `Evaluation`s whose `total` is the mean of dual(alpha), which takes the place
that the hinge's mean of alpha has in the dual value; width and half are zero.

The squared hinge is bounded by its moments (`sums.squared`). For the losses of `sums.convolved`
the mean is at most V - c's + (L/2) mean e^2 + tail, and c's = w'pull for the true
scores s = w'(x - offset). The bins are those of computed scores, which are off by `slip` each: that
moves the mean loss by 2 slip lipschitz at most, and c's by slip |c|_1.
"""

from __future__ import annotations

import numpy as np

from ...errors import CertificateError, InputError
from ...losses.loss import Loss
from ...losses.registry import Logistic, SmoothHinge, SquaredHinge
from ...pairs.partitioned_pairs import PartitionedPairs
from ...problem.problem import Problem
from ...spaces.partitions import PartitionedRows
from ...sums.convolved import closed_smooth, smooth_ruler
from ...sums.gathered.closed import ClosedLines
from ...sums.gathered.gathered import WeighedSums
from ...sums.gathered.lines import Lines, Ruler
from ...sums.squared.ruled import closed_squared, squared_ruler
from ...tools.rounding import UNIT, gamma
from ..evaluation import Evaluation
from ..notes import note
from .evaluate import EXACT
from .line_tasks import LinePullTask, LinesTask
from .ranges import SLACK, score_extent, widened
from .tasks import Weighing

CONVOLVED = (Logistic, SmoothHinge)  # Losses that are summed by a convolution.


class Lined:
    """Evaluations of a smooth loss over partitions."""

    def __init__(self, problem: Problem):
        assert isinstance(problem.space, PartitionedRows)
        assert isinstance(problem.pairs, PartitionedPairs)
        if not isinstance(problem.loss, SquaredHinge | Logistic | SmoothHinge):
            raise InputError(f"partitions have no sums of the loss {problem.loss.name!r} by bin")
        self.problem, self.space, self.loss = problem, problem.space, problem.loss
        facts = problem.pairs.facts
        self.whole = facts.whole and float(facts.mass.max()) < EXACT
        self.doubt, self.order = 9.0, 3
        if isinstance(self.loss, CONVOLVED):
            self.doubt, self.order = 12.0 / self.loss.smoothness, 2

    def at(self, w: np.ndarray, bins: int) -> Evaluation:
        """Return the evaluation at `w`, from `bins` bins a unit of score or fewer."""
        w = np.ascontiguousarray(w, dtype=float)
        extent = score_extent(self.space, w)
        while True:
            ruler = _ruler(extent, bins, self.loss)
            found = self._evaluated(w, ruler)
            if isinstance(found, Evaluation):
                return found
            extent = found

    def _evaluated(self, w: np.ndarray, ruler: Ruler) -> Evaluation | np.ndarray:
        """Return the evaluation, or a wider range where the scores left that of the grid."""
        space, weighted = self.space, self.space.facts.weighted
        numbers = 2 * ruler.size * ruler.powers * (space.dim + 1)
        task = LinesTask(
            space.offset, w, ruler, weighted, kept=numbers <= space.engine.kept_numbers
        )
        found, second = space.staged(task)
        self._check_all_counted(found)
        space.last_range = w, found.ends
        if not ruler.holds(found.ends):
            return widened(found.ends, SLACK)
        closed = _closed(ruler, found, self.whole, self.loss)
        if task.kept:
            pull = second(Weighing(closed.table, found.longest))
        else:
            pull = space.run(LinePullTask(space.offset, w, ruler, closed.table))
        return note(self.problem, self._evaluation(w, ruler, closed, pull))

    def _evaluation(
        self, w: np.ndarray, ruler: Ruler, closed: ClosedLines, pull: WeighedSums
    ) -> Evaluation:
        slip, g = self.space.score_slip(w), pull.value
        error = pull.bound() + self.space.reach * closed.c_error + UNIT * float(np.linalg.norm(g))
        error *= 1 + gamma(8)
        value, rounding = closed.value, closed.value_rounding
        if closed.total is None:
            # A margin is off by two slips at most: (z + 2 slip)^2 - z^2, and |z| by its mean.
            upper = value + rounding
            rounding += 2 * slip * (2 * float(np.sqrt(upper)) + 2 * slip) * (1 + gamma(8))
        else:
            size = float(np.linalg.norm(w))
            linear = float(w @ g)
            value += closed.conjugate - linear
            rounding += size * error + gamma(w.size + 4) * size * float(np.linalg.norm(g))
            rounding += 2 * slip * (self.loss.lipschitz + closed.total + closed.c_error)
            rounding += gamma(8) * (abs(closed.conjugate) + abs(linear) + abs(value))
            rounding *= 1 + gamma(8)
        return Evaluation(
            w, max(value, 0.0), closed.conjugate, g, rounding, closed.conjugate_rounding, error,
            0.0, ruler.bins, 0, closed.excess,
        )  # fmt: skip

    def _check_all_counted(self, found: Lines) -> None:
        """Raise `CertificateError` unless every row of every partition was counted once."""
        mass, space = found.held[..., 0].sum(axis=1), self.space
        wrong = self.whole and not np.array_equal(mass, space.facts.mass)
        if wrong or found.rows != space.n or found.parts != space.parts:
            raise CertificateError(
                f"{found.rows} rows of {found.parts} partitions were counted, and there are "
                f"{space.n} of {space.parts}: please report this"
            )


def _ruler(extent: np.ndarray, bins: int, loss: Loss) -> Ruler:
    if isinstance(loss, CONVOLVED):
        return smooth_ruler(extent, bins, loss)
    return squared_ruler(extent, bins)


def _closed(ruler: Ruler, found: Lines, whole: bool, loss: Loss) -> ClosedLines:
    if isinstance(loss, CONVOLVED):
        return closed_smooth(ruler, found, whole, loss)
    return closed_squared(ruler, found, whole)
