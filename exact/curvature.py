"""The second derivative of the squared hinge in score space: twice a graph Laplacian.

The graph joins the active pairs (z > 0) with their weights. Times a vector it costs running sums
over the sorted scores, O(n) once they are sorted; the pairs never exist.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.sparse as sp

from .pair_sums import centred
from .pairs import AllPairs, PairList
from .problem import Problem


class Curvature(Protocol):
    """The Laplacian L of the active pairs at fixed scores."""

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return L values, for values (n,) or (n, k): row i gets sum_j c_ij (v_i - v_j)."""
        ...


class SortedCurvature:
    """L for `AllPairs`. [Nonlinear, Algorithm 2]"""

    def __init__(self, problem: Problem, scores: np.ndarray, pairs: AllPairs):
        self.positive = problem.positive
        t, b, _ = centred(scores, problem.positive)
        self.a, self.b = pairs.normalised(problem.positive)
        self.t_order, self.b_order = np.argsort(t, kind="stable"), np.argsort(b, kind="stable")
        self.above = np.searchsorted(b[self.b_order], t, side="right")
        self.below = np.searchsorted(t[self.t_order], b, side="left")

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


class ListCurvature:
    """L for a `PairList`: A' diag(c 1[z > 0]) A."""

    def __init__(self, problem: Problem, scores: np.ndarray, pairs: PairList):
        active = pairs.c * (pairs.margins(scores) < 1.0)
        incidence = pairs.incidence(problem.n)
        self.matrix = sp.csr_matrix(incidence.T @ sp.diags(active) @ incidence)

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return L values."""
        return self.matrix @ values


def _sums(weight: np.ndarray, values: np.ndarray, order: np.ndarray) -> tuple:
    mass = np.zeros((order.size + 1, *weight.shape[1:]))
    total = np.zeros((order.size + 1, *values.shape[1:]))
    np.cumsum(weight[order], axis=0, out=mass[1:])
    np.cumsum((weight * values)[order], axis=0, out=total[1:])
    return mass, total


def curvature(problem: Problem, scores: np.ndarray) -> Curvature:
    """Return L at `scores` (n,)."""
    if isinstance(problem.pairs, PairList):
        return ListCurvature(problem, scores, problem.pairs)
    return SortedCurvature(problem, scores, problem.pairs)
