"""Ordered pairs drawn by their weight."""

from __future__ import annotations

import numpy as np

from ...sums.tree import Arrangement, PairWeights

MANY = 40_000  # Rows that are more than the cache next to a core holds.


class Draws:
    """What draws need to know of all rows, kept for further draws."""

    def __init__(self, at: Arrangement, weights: PairWeights):
        self.at = at
        self.running = [
            np.concatenate([[0.0], np.cumsum(term.b.astype(float))]) for term in weights.whole
        ]
        self.slopes = [term.coefficient * term.a.astype(float) for term in weights.whole]
        whole = np.maximum(self._upto(np.arange(at.order.size), at.end), 0.0)
        self.mass = np.cumsum(whole * weights.factor[at.group])

    def _upto(self, place: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return what the pairs of rows at `place` with those below, before `end`, weigh."""
        first = self.at.below[place]
        both = zip(self.slopes, self.running, strict=True)
        return np.add.reduce([a[place] * (b[end] - b[first]) for a, b in both])

    def pairs(self, m: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return rows i and j of `m` pairs, drawn by their weight with replacement.

        First i, by what all its pairs weigh as the upper row; then j among the rows below, by a
        search in what the pairs of i with the rows up to a place weigh. Of many rows, pairs come in
        the order of i, so that searches and reads go through the memory once.
        """
        at, mass = self.at, self.mass
        shares = rng.random(m)
        if mass.size >= MANY:
            shares.sort()
        upper = np.searchsorted(mass, shares * mass[-1], side="right")
        upper = np.minimum(upper, int(np.searchsorted(mass, mass[-1], side="left")))
        wanted = rng.random(m) * self._upto(upper, at.end[upper])
        low, high = at.below[upper], at.end[upper]
        if len(self.slopes) == 1:
            before = self.running[0]
            goal = before[low] + wanted / self.slopes[0][upper]
            return at.order[upper], at.order[self._places(before, goal, low, high)]
        while (high - low > 1).any():  # j is the last place with upto <= wanted
            middle = (low + high) // 2
            less = self._upto(upper, middle) <= wanted
            low, high = np.where(less, middle, low), np.where(less, high, middle)
        return at.order[upper], at.order[low]

    @staticmethod
    def _places(
        before: np.ndarray, goal: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> np.ndarray:
        """Return the last place from `low` on, before `high`, with before[place] <= goal.

        It has a weight: rounding may lead behind the last one that has.
        """
        last = np.searchsorted(before, before[high], side="left") - 1
        found = np.searchsorted(before, goal, side="right") - 1
        return np.clip(found, low, np.maximum(last, low))
