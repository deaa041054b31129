"""Evaluations of ordered pairs over partitions: one pass, each with the sums of its own groups.

The hinge's sums are whole numbers on a grid that all partitions share: its value, its total and the
marginals of rows are the same bits for any cut between groups. Pulls, and the sums of other losses,
are added in floats, with a bound that knows how many partitions there are.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ....errors import CertificateError, InputError
from ....losses.loss import loss_slip
from ....losses.registry import HINGE
from ....pairs.partitioned_pairs import PartitionedOrder
from ....problem.problem import Problem
from ....spaces.groups import GroupedRows
from ....sums.tree import finest_grid
from ....tools.rounding import UNIT, above, gamma
from ...evaluation import Evaluation
from ...notes import note
from .tasks import GroupHingeTask, GroupLossTask, GroupSums


class OfGroups:
    """Evaluations of a problem over ordered pairs in partitions."""

    def __init__(self, problem: Problem):
        assert isinstance(problem.space, GroupedRows)
        assert isinstance(problem.pairs, PartitionedOrder)
        self.problem, self.space, self.pairs = problem, problem.space, problem.pairs
        self.loss = problem.loss

    def at(self, w: np.ndarray, width: float = 0.0) -> Evaluation:
        """Return the evaluation at `w`; the hinge's is smoothed by about `width`."""
        if self.loss != HINGE:
            return self._smooth(np.ascontiguousarray(w, dtype=float))
        k, half = self._grid(w, width)
        return self.with_grid(w, 1 << k, half)

    def with_grid(self, w: np.ndarray, bins: int, half: int) -> Evaluation:
        """Return the evaluation at `w` on a grid of `bins` steps a unit, a power of two."""
        if self.loss != HINGE:
            return self.at(w)
        w, k = np.ascontiguousarray(w, dtype=float), int(bins).bit_length() - 1
        if bins != 1 << k or k > self._grid(w, 2 * half / bins)[0]:
            raise InputError(f"a grid of {bins} steps a unit is too fine for exact sums here")
        found = self._counted(self.space.run(GroupHingeTask(self.space.offset, w, k, half)))
        return note(self.problem, self._hinge(w, k, half, found))

    def _grid(self, w: np.ndarray, width: float) -> tuple[int, int]:
        far = self.space.reach * float(np.linalg.norm(w)) * (1 + 1e-9)
        found = finest_grid(far, self.space.order.top, width)
        if found is None:
            raise InputError("the scores are so large that they have no exact sums: rescale X")
        return found

    def _counted(self, found: GroupSums) -> GroupSums:
        """Raise `CertificateError` unless every pair of every partition was counted once."""
        space = self.space
        told, there = (found.rows, found.mass), (space.n, space.order.mass)
        if told != there or found.pull.parts != space.parts:
            raise CertificateError(
                f"{found.rows} rows of {found.pull.parts} partitions were counted, and there are "
                f"{space.n} of {space.parts}: please report this"
            )
        return found

    def _hinge(self, w: np.ndarray, k: int, half: int, found: GroupSums) -> Evaluation:
        sums, mass = found.whole, self.pairs.mass
        slip = 2 * self.space.score_slip(w)
        # The two terms nearly cancel, so that they are subtracted as whole numbers.
        whole = Fraction((sums.hard << k) - sums.moment, mass << k)
        step = float(np.ldexp(1.0, -k))
        fraction = step * (sums.fraction / mass)
        value = max(float(whole) - fraction, 0.0)
        # Pairs with m = 0 are counted as zero, and have less than a step each.
        rounding = step * ((sums.ties + sums.fraction_error) / mass)
        rounding += gamma(self.space.parts + 8) * (value + 2 * step * (sums.hard / mass))
        share = Fraction(1, 2 * half * mass) if half else Fraction(1, mass)
        total = float((sums.soft if half else sums.hard) * share)
        pull, scale = found.pull, float(share)
        g = pull.value * scale
        error = pull.bound() * scale + 4 * UNIT * float(np.linalg.norm(g))
        return Evaluation(
            w,
            value,
            total,
            g,
            above((rounding + slip) * (1 + gamma(16))),
            gamma(2) * total,
            error * (1 + gamma(16)),
            2 * half * step,
            1 << k,
            half,
        )

    def _smooth(self, w: np.ndarray) -> Evaluation:
        task = GroupLossTask(self.space.offset, w, self.loss)
        found = self._counted(self.space.run(task))
        mass, chain = float(self.pairs.mass), gamma(self.space.parts + 16)
        value, conjugate, size, value_error, conjugate_error, c_error = found.smooth / mass
        slip = np.full(2, self.space.score_slip(w))
        upper = value * (1 + chain) + value_error * (1 + chain)
        # Every row has the same bound of its error: two rows of mass one stand for the two sides.
        moved = loss_slip(self.loss, np.ones(2), slip, upper)
        pull = found.pull
        g = pull.value / mass
        error = pull.bound() / mass + self.space.reach * c_error
        error += 4 * UNIT * float(np.linalg.norm(g))
        return note(
            self.problem,
            Evaluation(
                w,
                value,
                conjugate,
                g,
                above((value_error + moved + chain * value) * (1 + gamma(32))),
                (conjugate_error + chain * size) * (1 + gamma(32)),
                error * (1 + chain),
                0.0,
                1,
            ),
        )
