"""Evaluations of the smoothed hinge in the cheapest form, all written into the recorder.

A width delta costs a bias of about rho delta^2 / 24, rho the density of the pairs at the margin.
So every evaluation tells the density, and with it what another width would cost.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...certificate.evaluate_rows import Kept, Streamed, blocked
from ...certificate.evaluation import Evaluation, Evaluator, InMemory
from ...certificate.solution import Recorder
from ...certificate.witness import LONG_ROWS
from ...pairs.all_pairs import AllPairs
from ...problem.evidence import Evidence, Scores, Weights
from ...problem.problem import Problem
from ...spaces.partitions.partitioned_rows import PartitionedRows
from ...spaces.rows import Rows
from ...spaces.streamed import StreamedRows
from ...sums.binned import half_width

MOMENT = 24.0
"""density * width^2 / MOMENT is the bias: the mean of max(0, z) - alpha z over an even density."""

BINS_A_WIDTH = 2.0
"""Bins a width: more gain less than the larger grid costs, where they are no rougher than this."""

ROUGHNESS = 1.5
"""With B bins a width residuals move a row's marginal by about density width / B, so that
|gradient|^2 / (2 lam) stays above about (density width / B)^2 mean|x|^2 / (6 n lam). At a density
of a third that is a fifth of the bias where B^2 = 4 ROUGHNESS mean|x|^2 / (n lam)."""

MOST_BINS_A_WIDTH = 64.0
"""With more bins a width the grid is dearer than sorting."""

LEAST_BITS = 2
"""Bins a unit of the scores are a power of two, with this exponent at least."""

USUAL_SPREAD = 2.0
"""The range of the scores is taken for this before it is known."""

GRID_ROWS, WEIGHTED_GRID = 1.0, 6.0
"""Sums are binned up to this many bins a row: the second number where rows have weights, because
sorting is cheaper for rows that weigh one each."""

SORTED_ROWS = 3000
"""With fewer rows, each of weight one, sorting is as quick as any bins, and exact."""


class Evaluations:
    """The evaluations of one problem.

    Attributes
    ----------
    last : Evaluation or None
        The evaluation that was noted last.
    density : float or None
        Pairs per unit of the margin near it, as a share of all pairs.
    spread : float or None
        The range of the scores.
    fine : bool
        Whether bins are no longer used where rows are held: their gradient is a step function,
        which at a small lam is too rough for the dual point.
    """

    def __init__(self, problem: Problem, recorder: Recorder):
        self.problem, self.recorder = problem, recorder
        self.last: Evaluation | None = None
        self.density: float | None = None
        self.spread: float | None = None
        self.fine = False
        self._forms: dict[int, Evaluator] = {}

    def form(self, width: float) -> Evaluator:
        """Return the form of the sums that is cheapest at this width."""
        # A power of two, so that a score times it is not rounded.
        bins = 1 << max(LEAST_BITS, int(np.ceil(np.log2(self.bins_a_width / width))))
        problem, pairs = self.problem, self.problem.pairs
        streamed = isinstance(problem.space, StreamedRows | PartitionedRows)
        if streamed:  # the same width from half as many bins, where two of them make it
            bins = bins // half_width(width, bins) if bins > 1 << LEAST_BITS else bins
        else:
            bins = bins if isinstance(pairs, AllPairs) and self._suit(bins, pairs) else 0
        if bins not in self._forms:
            self._forms[bins] = self._blocked(bins) if streamed else InMemory(problem, bins)
        return self._forms[bins]

    def _suit(self, bins: int, pairs: AllPairs) -> bool:
        """Return whether bins are quicker than sorting rows that are held."""
        n, whole = self.problem.n, pairs.weight is None
        if self.fine or (whole and n < SORTED_ROWS):
            return False
        most = GRID_ROWS if whole else WEIGHTED_GRID
        return bins * (self.spread or USUAL_SPREAD) <= most * n

    @cached_property
    def bins_a_width(self) -> float:
        """How many bins a width has at least, so that their roughness is far below the bias."""
        space = self.problem.space
        if not isinstance(space, Rows):
            return BINS_A_WIDTH
        rough = float(np.square(space.norms).mean()) / (self.problem.n * self.problem.lam)
        return float(np.clip(2 * np.sqrt(ROUGHNESS * rough), BINS_A_WIDTH, MOST_BINS_A_WIDTH))

    def _blocked(self, bins: int) -> Evaluator:
        known = next(iter(self._forms.values()), None)
        if isinstance(known, Streamed | Kept):
            return known.rebinned(bins)
        return blocked(self.problem, bins)

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return the scores of `w`, which the last evaluation there knows where rows are held."""
        for form in self._forms.values():
            if isinstance(form, InMemory) and form.knows(w):
                return form.scores(w)
        return self.problem.space.scores(w)

    def at(self, w: np.ndarray, width: float) -> Evaluation:
        """Return the evaluation at `w`, and note it."""
        return self.note(self.form(width).at(w, width))

    def note(self, found: Evaluation) -> Evaluation:
        """Offer an evaluation's points to the recorder, and return it."""
        lam, problem, self.last = self.problem.lam, self.problem, found
        scale, self.density = found.scale(lam), MOMENT * found.bias / found.width**2

        def evidence() -> Evidence:
            form = self._forms.get(found.bins)
            # The certificate counts such rows in bins, too: weights and grid say all of it.
            if not (isinstance(form, InMemory) and problem.n <= LONG_ROWS) and found.bins:
                return Weights(found.w, found.bins, found.half, scale)
            if isinstance(form, InMemory) and found.bins:
                # At the rounded scores the slopes are those that the bins gave.
                scores = np.floor(found.bins * form.scores(found.w)) / found.bins
            else:
                scores = problem.space.scores(found.w)
            return Scores(scores, found.width, scale)

        self.recorder.offer(found.w, found.primal(lam), evidence, found.dual(lam, scale))
        self.recorder.step()
        return found

    def pairs_inside(self, width: float) -> float:
        """Return about how many pairs a window of this width has."""
        assert self.density is not None
        return self.density * width * float(self.problem.n_pairs)

    def width_of_bias(self, bias: float) -> float:
        """Return the width that costs about `bias`; infinite where no pair is near the margin."""
        return float(np.sqrt(MOMENT * bias / self.density)) if self.density else np.inf
