"""The squared hinge in score space: value, slope and curvature at given scores.

With the shortfall z_ij = 1 - (s_i - s_j) of a pair, the second derivative is twice a graph
Laplacian L. Its graph joins the active pairs (z > 0) with their weights. Times a vector it costs
running sums over the sorted scores, O(n) once they are sorted; the pairs never exist. One sort
serves the value, the slope and all products.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ...exact.curvature.pair_matrices import Drawn, draw_from_ranges
from ...exact.pairs.all_pairs import AllPairs, PairList
from ...exact.problem.problem import Problem
from ...exact.sums.grid import COMPILED_FROM
from ...exact.sums.sorted import centred
from ...exact.tools.checks import check_scores
from ...exact.tools.rounding import is_long


class Curvature(Protocol):
    """The squared hinge at fixed scores, with the Laplacian L of its active pairs."""

    @property
    def value(self) -> float:
        """sum_ij c_ij max(0, z_ij)^2."""
        ...

    @property
    def c(self) -> np.ndarray:
        """Signed marginals (n,) of alpha = 2 max(0, z)."""
        ...

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return L values, for values (n,) or (n, k): row i gets sum_j c_ij (v_i - v_j)."""
        ...

    def drawn(self, size: int, rng: np.random.Generator) -> Drawn:
        """Return up to `size` active pairs; their shares add up, in expectation, to c_ij's."""
        ...


class SortedCurvature:
    """The `Curvature` of all pairs, by sorting. [Nonlinear, Algorithm 2]"""

    def __init__(self, problem: Problem, scores: np.ndarray, pairs: AllPairs):
        self.positive = problem.pairs.positive
        t, b, _ = centred(scores, problem.pairs.positive)
        self.a, self.b = pairs.normalised()
        self.t_order, self.b_order = np.argsort(t, kind="stable"), np.argsort(b, kind="stable")
        self.above = np.searchsorted(b[self.b_order], t, side="right")
        self.below = np.searchsorted(t[self.t_order], b, side="left")
        # Mirrored, because z = b - t = (-t) - (-b): the shortfall of `own` over `others`.
        first_t, second_t = _shortfalls(-t, -b, self.b)
        first_b, _ = _shortfalls(b, t, self.a)
        self.value = float(self.a @ second_t)
        self.c = np.empty(scores.size)
        self.c[problem.pairs.positive] = 2 * self.a * first_t
        self.c[~problem.pairs.positive] = -2 * self.b * first_b

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return L values."""
        plus, minus = values[self.positive], values[~self.positive]
        shape = (-1,) + (1,) * (values.ndim - 1)
        a, b = self.a.reshape(shape), self.b.reshape(shape)
        mass_b, sum_b = _sums(b, minus, self.b_order)
        mass_t, sum_t = _sums(a, plus, self.t_order)
        out = np.empty_like(values)
        out[self.positive] = a * (
            (mass_b[-1] - mass_b[self.above]) * plus - (sum_b[-1] - sum_b[self.above])
        )
        out[~self.positive] = b * (mass_t[self.below] * minus - sum_t[self.below])
        return out

    def drawn(self, size: int, rng: np.random.Generator) -> Drawn:
        """Return up to `size` active pairs."""
        plus, minus = np.flatnonzero(self.positive), np.flatnonzero(~self.positive)
        row, at, share = draw_from_ranges(self.b_order.size - self.above, size, rng)
        column = self.b_order[self.above[row] + at]
        return plus[row], minus[column], self.a[row] * self.b[column] * share


class MergedCurvature:
    """The `Curvature` of all pairs of many rows, compiled."""

    def __init__(self, problem: Problem, scores: np.ndarray, pairs: AllPairs):
        from ...exact.sums.squared_hinge_compiled import Merged

        positive = problem.pairs.positive
        t, b, _ = centred(scores, positive)
        self.merged = merged = Merged(t, b, *pairs.normalised())
        self.t_rows = np.flatnonzero(positive)[merged.t_order]
        self.b_rows = np.flatnonzero(~positive)[merged.b_order]
        self.value = max(float(merged.value), 0.0)
        self.c = np.empty(positive.size)
        self.c[self.t_rows], self.c[self.b_rows] = merged.u, -merged.v

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return L values."""
        if values.ndim == 1:
            return self.merged.laplacian(values, self.t_rows, self.b_rows)
        # Column by column, each of which lies together in this order.
        out = np.empty(values.shape, order="F")
        for k in range(values.shape[1]):
            out[:, k] = self.merged.laplacian(values[:, k], self.t_rows, self.b_rows)
        return out

    def drawn(self, size: int, rng: np.random.Generator) -> Drawn:
        """Return up to `size` active pairs."""
        merged = self.merged
        row, at, share = draw_from_ranges(self.b_rows.size - merged.above, size, rng)
        column = merged.above[row] + at
        return self.t_rows[row], self.b_rows[column], merged.a_t[row] * merged.a_b[column] * share


class ListCurvature:
    """The `Curvature` of a `PairList`: L = A' diag(c 1[z > 0]) A."""

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


def _shortfalls(
    own: np.ndarray, others: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each of `own`, the weighted sums of z and z^2, z = max(0, own - others).

    From one point of the common order to the next, d on, they grow by d mass and by 2 d (sum of
    z) + d^2 mass: every term is >= 0, so small sums keep their digits.
    """
    joint = np.concatenate([own, others])
    order = np.argsort(joint, kind="stable")
    # Only the others weigh: the points of `own` are where the sums are read off.
    mass = np.cumsum(np.concatenate([np.zeros(own.size), weight])[order])[:-1]
    d = np.diff(joint[order])
    first = np.concatenate([[0.0], np.cumsum(d * mass)])
    second = np.concatenate([[0.0], np.cumsum(d * (2 * first[:-1] + d * mass))])
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    return first[place[: own.size]], second[place[: own.size]]


def _sums(weight: np.ndarray, values: np.ndarray, order: np.ndarray) -> tuple:
    mass = np.zeros((order.size + 1, *weight.shape[1:]))
    total = np.zeros((order.size + 1, *values.shape[1:]))
    np.cumsum(weight[order], axis=0, out=mass[1:])
    np.cumsum((weight * values)[order], axis=0, out=total[1:])
    return mass, total


def curvature(problem: Problem, scores: np.ndarray) -> Curvature:
    """Return the squared hinge at `scores` (n,), in the form that suits the pairs."""
    check_scores(scores, problem.pairs.positive)
    pairs = problem.pairs
    if isinstance(pairs, PairList):
        return ListCurvature(problem, scores, pairs)
    many = pairs.form == "auto" and problem.n >= COMPILED_FROM
    if not is_long(scores) and (many or pairs.form == "compiled"):
        return MergedCurvature(problem, scores, pairs)
    return SortedCurvature(problem, scores, pairs)
