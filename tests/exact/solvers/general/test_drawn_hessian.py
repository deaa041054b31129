"""The curvature of ordered pairs: of all of them where they are few, else of those drawn."""

from __future__ import annotations

import numpy as np

from aucert.exact.curvature.pair_matrices import solved
from aucert.exact.losses.registry import ALL_LOSSES
from aucert.exact.pairs.ordered.ordered_pairs import OrderedPairs
from aucert.exact.problem.penalties.registry import penalty_from
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.solvers.general.drawn_hessian import DrawnHessian
from aucert.exact.spaces.rows import Rows
from loops import each

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
GROUP, KEY = RNG.integers(0, 4, 60), RNG.integers(0, 3, 60).astype(float)
WEIGHT = RNG.integers(0, 3, 60).astype(float)


def by_hand(pairs: OrderedPairs, lam: float) -> np.ndarray:
    """Return lam I + sum of c_ij 2 d d' over every pair of rows: that of the square loss."""
    rows = [
        (i, j, WEIGHT[i] * WEIGHT[j])
        for i in range(60)
        for j in range(60)
        if GROUP[i] == GROUP[j] and KEY[i] > KEY[j]
    ]
    whole = sum(c for _, _, c in rows)
    H = lam * np.eye(3)
    for i, j, c in rows:
        d = X[i] - X[j]
        H += 2 * c / whole * np.outer(d, d)
    return H


@each(("size", "near"), [(100_000, 1e-12), (200, 0.9)])
def test_few_pairs_make_the_very_hessian(size: int, near: float) -> None:
    pairs = OrderedPairs(GROUP, KEY, WEIGHT, WEIGHT)
    problem = Problem(Rows(X), Mean(pairs, ALL_LOSSES["square"]), penalty_from(0.1))
    rng = np.random.default_rng(1)
    found = DrawnHessian(problem, X @ np.ones(3), 0.0, size, size // 10, rng)
    H = by_hand(pairs, 0.1)
    error = max(float(np.abs(solved(found.factor, H[k]) - np.eye(3)[k]).max()) for k in range(3))
    assert error < near and (size > 200 or error > 1e-6)
