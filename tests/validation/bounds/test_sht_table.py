"""[SHT, Theorem 1] against runs from the proved best subset, where its kappa is below one."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.approx.sht import StochasticHardThresholding, sparse_problem
from aucert.approx.thresholding import hard_threshold
from aucert.exact import best_subset
from aucert.validation.bounds.restricted_constants import block_matrices, restricted_constants_exact
from aucert.validation.bounds.sht import sht_theorem1
from loops import each

STEPS = 60


def run(M: np.ndarray, delta: np.ndarray, k: int, step: float, seed: int) -> np.ndarray:
    """All points of one run from zero: (STEPS + 1, d)."""
    rng, points = np.random.default_rng(seed), [np.zeros(delta.size)]
    for block in rng.integers(len(M), size=STEPS):
        w = points[-1]
        points.append(hard_threshold(w - step * 2 * (M[block] @ w - delta), k))
    return np.array(points)


@pytest.mark.slow
@each(
    ("n", "d", "k_star", "k", "r", "m"),
    [
        (20_000, 10, 1, 3, 0.5, 1),
        (20_000, 10, 1, 4, 0.5, 20),
        (20_000, 10, 1, 4, 0.05, 1),
        (20_000, 10, 1, 4, 0.05, 20),
        (2_000, 12, 1, 4, 0.5, 4),
    ],
)
def test_theorem_1_and_its_recursion_hold_where_kappa_is_below_one(n, d, k_star, k, r, m) -> None:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) < r * n).astype(int)
    X = rng.standard_normal((n, d))
    X[:, :k_star] += 0.5 * y[:, None]
    best = best_subset(X, y, k_star)
    assert best.proved
    blocks = StochasticHardThresholding(k, n_blocks=m).blocks(sparse_problem(X, y), rng)
    M, delta = block_matrices(blocks), blocks[0].delta
    constants = restricted_constants_exact(M, 2 * k + k_star)
    runs = [run(M, delta, k, 1 / constants.plus, seed) for seed in range(100)]
    errors = np.mean([np.linalg.norm(points - best.w, axis=1) for points in runs], axis=0)
    for t in (1, 10, STEPS):
        bound = sht_theorem1(M, delta, best.w, np.zeros(d), k, t, nu="lemma2", constants=constants)
        assert bound.quantities["kappa"] < 1
        assert errors[t] <= bound.total
    kappa, sigma = bound.quantities["kappa"], bound.quantities["sigma"]
    assert (errors[1:] <= kappa * errors[:-1] + sigma).all()
