"""The sums of a smooth loss for many rows of weight one: the same bins, in three loops over rows.

`convolved` has the mathematics; here no row is copied, sorted by class or weighed. What is summed
over rows is summed in blocks of about sqrt(n), so that a term passes 2 sqrt(n) additions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...tools.rounding import is_long
from ..assembled import Whole
from ..binned import Extent
from .bins import LARGEST_GRID, LARGEST_SCORE, Bins
from .contract import Smooth

MANY = 5000  # Rows from which the loops are the quicker form.


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """Rows in bins, by loops over all of them."""

    bins: Bins
    at: np.ndarray
    middle: float
    moments: np.ndarray
    block: int

    @classmethod
    def of(
        cls, pairs: Whole, scores: np.ndarray, loss: Smooth, per_unit: float
    ) -> PlacedRows | None:
        """Return the rows in bins of the width wanted, or None where that takes more care.

        Few rows, weights, the long format, and scores so far apart that bins must be wider.
        """
        if pairs.weight is not None or pairs.n < MANY or is_long(scores):
            return None
        from . import rows_compiled as loops

        scores, extent = np.ascontiguousarray(scores), Extent()
        extent.add(scores, pairs.positive)
        low_a, high_a, low_b, high_b = extent.ends
        low, high = min(low_a, low_b), max(high_a, high_b)
        fits = (high - low + abs(loss.centre)) * per_unit < LARGEST_GRID // 2
        if not (max(-low, high) <= LARGEST_SCORE and fits):
            return None
        shift = round(loss.centre * per_unit)
        ends = np.rint(extent.ends * per_unit) - np.array([shift, shift, 0, 0])
        least, size = ends.min(), int(ends.max() - ends.min()) + 1
        first = np.array([least, least + shift])
        block = max(64, int(np.sqrt(pairs.n)))
        at, counts = np.empty(pairs.n, dtype=np.int32), np.zeros((2, size))
        moments = np.zeros((2, 2))
        loops.place(scores, pairs.positive, per_unit, first, block, at, counts, moments)
        moments /= counts.sum(axis=1)[:, None]
        bins = Bins.counted(per_unit, shift, counts[1], counts[0], 0.0)
        return cls(bins, at, float(low / 2 + high / 2), moments[::-1], block)

    @property
    def chain(self) -> int:
        """How many additions a term of a sum over rows passes at most."""
        return self.block + -(-self.at.size // self.block) + 2

    def marginals(
        self, pairs: Whole, scores: np.ndarray, table: np.ndarray
    ) -> tuple[np.ndarray, float, float, float]:
        """Return c, the sum of c_i (s_i - middle), of its absolute terms, and the largest distance.

        `table` (2, size) has c of a negative and of a positive row in each bin.
        """
        from . import rows_compiled as loops

        c = np.empty(self.at.size)
        scores = np.ascontiguousarray(scores)
        sums = loops.look_up(self.at, pairs.positive, table, scores, self.middle, self.block, c)
        return c, *sums
