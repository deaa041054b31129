"""Ordered pairs drawn by their weight."""

from __future__ import annotations

import numpy as np

from ...sums.merged.arrangement import Arrangement
from ...sums.merged.weights import PairWeights


def drawn_pairs(
    at: Arrangement, weights: PairWeights, m: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows i and j of `m` pairs, drawn by their weight with replacement.

    First i, by what all its pairs weigh as the upper row; then j among the rows below, by a search
    in what the pairs of i with the rows up to a place weigh.
    """
    n = at.order.size
    running = [np.concatenate([[0.0], np.cumsum(term.b.astype(float))]) for term in weights.whole]
    slopes = [term.coefficient * term.a.astype(float) for term in weights.whole]

    def upto(place: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return what the pairs of rows at `place` with those below, before `end`, weigh."""
        first = at.below[place]
        parts = [a[place] * (b[end] - b[first]) for a, b in zip(slopes, running, strict=True)]
        return np.add.reduce(parts)

    mass = np.cumsum(np.maximum(upto(np.arange(n), at.end), 0.0) * weights.factor[at.group])
    upper = np.searchsorted(mass, rng.random(m) * mass[-1], side="right")
    upper = np.minimum(upper, int(np.searchsorted(mass, mass[-1], side="left")))
    wanted = rng.random(m) * upto(upper, at.end[upper])
    low, high = at.below[upper], at.end[upper]  # j is the last place with upto(place) <= wanted
    while (high - low > 1).any():
        middle = (low + high) // 2
        less = upto(upper, middle) <= wanted
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return at.order[upper], at.order[low]
