"""Evaluations of the squared hinge over blocks of rows: two passes, and nothing kept but moments.

They are written as `Evaluation`s: `total` is the mean of alpha - alpha^2 / 4, which takes the place
that the hinge's mean of alpha has in the dual value, and the width is zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from ...errors import InputError
from ...pairs.all_pairs import AllPairs
from ...problem.problem import Problem
from ...spaces.blocks import Pull, StreamedRows
from ...sums.binned import Extent
from ...sums.squared.moments import Moments
from ...tools.rounding import UNIT, gamma
from ..evaluation import Evaluation

SKIPPED = 16  # The first guess of the range of scores uses every sixteenth block of rows.


class SquaredInBlocks:
    """The evaluations of one squared-hinge problem over all pairs of `StreamedRows`."""

    def __init__(self, problem: Problem):
        if not (isinstance(problem.space, StreamedRows) and isinstance(problem.pairs, AllPairs)):
            raise InputError("binned sums of the squared hinge are for all pairs of streamed rows")
        self.problem, self.space = problem, problem.space
        self.weight = problem.pairs.weight
        self._guess: np.ndarray | None = None

    def at(self, w: np.ndarray, bins: int) -> Evaluation:
        """Return the evaluation at `w`, from `bins` bins a unit of score."""
        space, moments = self.space, self._filled(w, bins)
        closed, into = moments.close(), Pull(space.dim)
        for rows, positive, weight in self._blocks():
            block = space.block(rows)
            c = moments.marginals(space.scores_of(block, w), positive, closed, weight)
            space.pull_of(block, c, into, rows)
        # A margin is off by two slips at most: (z + 2 slip)^2 - z^2, and |z| by its mean square.
        slip = 2 * space.score_slip(w)
        upper = closed.value + closed.value_rounding
        moved = slip * (2 * float(np.sqrt(upper)) + slip) * (1 + gamma(8))
        pull = into.value
        error = into.error + space.reach * closed.c_error + UNIT * float(np.linalg.norm(pull))
        return Evaluation(
            w, closed.value, closed.conjugate, pull, closed.value_rounding + moved,
            closed.conjugate_rounding, error * (1 + gamma(8)), 0.0, moments.bins, 0,
            closed.excess,
        )  # fmt: skip

    def _filled(self, w: np.ndarray, bins: int) -> Moments:
        """Return the moments of all rows; a correctly guessed range saves a pass."""
        for skipped in (SKIPPED, 1):  # a few blocks may contain only one class
            if self._guess is None:
                found = Extent()
                for rows, positive, _ in islice(self._blocks(), 0, None, skipped):
                    found.add(self.space.scores_of(self.space.block(rows), w), positive)
                self._guess = found.widened(0.3) if np.isfinite(found.ends).all() else None
        assert self._guess is not None
        while True:
            moments = Moments(self._guess, bins, self.weight is not None)
            for rows, positive, weight in self._blocks():
                scores = self.space.scores_of(self.space.block(rows), w)
                moments.add(scores, positive, weight)
            self._guess = moments.seen.widened(0.02)
            if moments.fits:
                return moments

    def _blocks(self) -> Iterator[tuple[slice, np.ndarray, np.ndarray | None]]:
        for rows in self.space.blocks():
            weight = None if self.weight is None else self.weight[rows]
            yield rows, self.problem.pairs.positive[rows], weight
