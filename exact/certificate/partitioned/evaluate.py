"""Evaluations over partitions: one pass over the rows, and nothing kept but sums by bin.

A partition answers with the counts of its rows by bin, is told the marginals of the bins, and
answers with its pull. Where its rows have few columns it has gathered the rows' sums by bin while
it counted, and need not read them again.
"""

from __future__ import annotations

import numpy as np

from ...errors import CertificateError
from ...pairs.partitioned_pairs import PartitionedPairs
from ...problem.problem import Problem
from ...spaces.partitions import PartitionedRows
from ...sums.binned import Histogram, Marginals, half_width
from ...sums.gathered.gathered import Gathered, WeighedSums, closed
from ...sums.gathered.whole import WholePull, exponents_of
from ...tools.rounding import UNIT, gamma
from ..blocks.streamed import FullLine
from ..evaluation import Evaluation, Line
from ..notes import note
from .ranges import SLACK, score_extent
from .tasks import GatherTask, Grid, PullTask, Weighing

EXACT = 2.0**52  # Whole weights add up exactly while their sum is below this.


class Partitioned:
    """Evaluations of a hinge problem over partitions."""

    def __init__(self, problem: Problem, bins: int):
        assert isinstance(problem.space, PartitionedRows)
        assert isinstance(problem.pairs, PartitionedPairs)
        self.problem, self.space, self.bins = problem, problem.space, bins
        facts = problem.pairs.facts
        self.whole = facts.whole and float(facts.mass.max()) < EXACT
        ends = np.maximum(facts.high - self.space.offset, self.space.offset - facts.low)
        self.exponents = exponents_of(float(facts.mass.sum()) * np.append(ends, self.space.reach))

    def at(self, w: np.ndarray, width: float) -> Evaluation:
        """Return the evaluation at `w`."""
        return self.with_bins(w, self.bins, half_width(width, self.bins))

    def line(self, start: Evaluation, p: np.ndarray, width: float) -> Line:
        """Return the line from `start.w` along `p`; every trial is an evaluation."""
        return FullLine(self, start.w, p, width)

    def with_bins(self, w: np.ndarray, bins: int, half: int) -> Evaluation:
        """Return the evaluation at `w` for a given grid."""
        w = np.ascontiguousarray(w, dtype=float)
        extent = score_extent(self.space, w)
        while True:
            grid = Grid(self.space.offset, w, extent, bins, half)
            found = self._evaluated(grid)
            if isinstance(found, Evaluation):
                return found
            extent = found

    def _evaluated(self, grid: Grid) -> Evaluation | np.ndarray:
        """Return the evaluation, or a wider range where the scores left that of the grid."""
        space, histogram = self.space, grid.histogram()
        numbers = 2 * histogram.grid.shape[1] * (space.dim + 1)
        task = GatherTask(grid, numbers <= space.engine.kept_together, self.exponents)
        counts, second = space.staged(task)
        # A partition that was lost or counted twice would make a bound false, not just loose.
        self._check_all_counted(counts)
        histogram.seen.ends = counts.ends
        space.last_range = grid.w, counts.ends
        if not histogram.fits:
            return histogram.seen.widened(SLACK)
        sums = closed(histogram, counts, grid.half, self.whole)
        if task.kept:
            # Rows of whole weight weigh one at least, or add nothing: no bin has a longer chain.
            most = float(counts.grid[:, :, 0].max()) if self.whole else float(counts.rows)
            pull = second(Weighing(sums.table, most))
        else:
            pull = space.run(PullTask(grid, sums))
        return self._evaluation(grid, histogram, sums, pull)

    def _evaluation(
        self, grid: Grid, histogram: Histogram, sums: Marginals, pull: WeighedSums | WholePull
    ) -> Evaluation:
        slip, total = self.space.score_slip(grid.w), sums.total / sums.mass
        value = sums.value / sums.mass
        error = pull.bound() + sums.slip * pull.size
        found = Evaluation(
            grid.w,
            value,
            total,
            pull.value,
            sums.value_rounding / sums.mass + 2 * slip + gamma(8) * value,
            (sums.slip + gamma(16)) * total,
            error + UNIT * float(np.linalg.norm(pull.value)),
            2 * grid.half / histogram.bins,
            histogram.bins,
            grid.half,
            sums.excess / sums.mass * (1 + gamma(4)),
        )
        return note(self.problem, found)

    def _check_all_counted(self, counts: Gathered) -> None:
        """Raise `CertificateError` unless every row of every partition was counted once."""
        mass = counts.grid[:, :, 0].sum(axis=1)
        wrong = self.whole and not np.array_equal(mass, self.space.facts.mass)
        if wrong or counts.rows != self.space.n or counts.parts != self.space.parts:
            raise CertificateError(
                f"{counts.rows} rows of {counts.parts} partitions were counted, and there are "
                f"{self.space.n} of {self.space.parts}: please report this"
            )
