"""The squared hinge in score space: value, slope and curvature at given scores.

With the shortfall z_ij = 1 - (s_i - s_j) of a pair, the second derivative is twice a graph
Laplacian L. Its graph joins the active pairs (z > 0) with their weights. Times a vector it costs
running sums over the sorted scores, O(n) once they are sorted; the pairs never exist. One sort
serves the value, the slope and all products.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...exact.pairs.all_pairs import AllPairs, PairList
from ...exact.pairs.near import Near as Drawn
from ...exact.pairs.near import draw_from_ranges
from ...exact.problem.problem import Problem
from ...exact.sums.loops import laplacian
from ...exact.sums.swept import both_orders, centred
from ...exact.tools.checks import check_scores


class SortedCurvature:
    """The squared hinge of all pairs at fixed scores, by sorting. [Nonlinear, Algorithm 2]

    `value` is sum_ij c_ij max(0, z_ij)^2, `c` the signed marginals of alpha = 2 max(0, z).
    """

    def __init__(self, problem: Problem, scores: np.ndarray, pairs: AllPairs):
        sums = problem.sums(scores)
        self.value, self.c = sums.value, sums.c
        positive = problem.pairs.positive
        t, b, _ = centred(scores.astype(float, copy=False), positive)
        t_order, b_order = both_orders(t, b)
        self.rows = np.flatnonzero(positive)[t_order], np.flatnonzero(~positive)[b_order]
        a, c = pairs.normalised()
        self.weights, t, b = (a[t_order], c[b_order]), t[t_order], b[b_order]
        # Row i of t is active with b[above[i]:], row j of b with t[:below[j]].
        self.above = np.searchsorted(b, t, side="right")
        self.below = np.searchsorted(t, b, side="left")

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return L values (n,) or (n, k): row i gets sum_j c_ij (v_i - v_j)."""
        out = np.empty(values.shape, order="F")
        for k in np.ndindex(values.shape[1:]):
            at = (slice(None), *k)
            own = np.ascontiguousarray(values[at])
            laplacian(own, *self.rows, *self.weights, self.above, self.below, out[at])
        return out

    def drawn(self, size: int, rng: np.random.Generator) -> Drawn:
        """Return up to `size` active pairs; their shares add up, in expectation, to c_ij's."""
        (plus, minus), (a, b) = self.rows, self.weights
        row, at, share = draw_from_ranges(minus.size - self.above, size, rng)
        column = self.above[row] + at
        return plus[row], minus[column], a[row] * b[column] * share


class ListCurvature:
    """The same of a `PairList`: L = A' diag(c 1[z > 0]) A."""

    def __init__(self, problem: Problem, scores: np.ndarray, pairs: PairList):
        sums = problem.sums(scores)
        self.value, self.c, self.pairs = sums.value, sums.c, pairs
        self.active = pairs.c * (pairs.margins(scores) < 1.0)
        self._matrix: sp.csr_matrix | None = None

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return L values."""
        if self._matrix is None:
            incidence = self.pairs.incidence()
            self._matrix = sp.csr_matrix(incidence.T @ sp.diags(self.active) @ incidence)
        return self._matrix @ values

    def drawn(self, size: int, rng: np.random.Generator) -> Drawn:
        """Return up to `size` active pairs."""
        held = np.flatnonzero(self.active)
        kept = held if held.size <= size else held[rng.integers(0, held.size, size)]
        share = self.active[kept] * (held.size / max(kept.size, 1))
        return self.pairs.i[kept], self.pairs.j[kept], share


Curvature = SortedCurvature | ListCurvature


def curvature(problem: Problem, scores: np.ndarray) -> Curvature:
    """Return the squared hinge at `scores` (n,), in the form that suits the pairs."""
    check_scores(scores, problem.pairs.positive)
    pairs = problem.pairs
    if isinstance(pairs, PairList):
        return ListCurvature(problem, scores, pairs)
    return SortedCurvature(problem, scores, pairs)
