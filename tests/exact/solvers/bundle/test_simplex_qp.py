"""The master problem by an active set, against a QP solver and by its own conditions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.solvers.bundle.simplex import best_weights
from aucert.exact.solvers.qp_backends import solve_qp
from loops import each, seeds


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a Gram matrix of cuts with the zero cut first, some equal and some dependent."""
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(2, 30)), int(rng.integers(1, 12))
    G = rng.normal(size=(k, d)) * 10.0 ** rng.uniform(-3, 3)
    G[rng.integers(0, k)] = G[0]
    G = np.vstack([np.zeros(d), G])
    m = np.concatenate([[0.0], rng.uniform(0, 1, k) * float((G**2).sum(axis=1).max())])
    return G @ G.T, m


@each("seed", seeds(20))
def test_the_active_set_is_as_good_as_an_interior_point(seed: int) -> None:
    H, m = drawn(seed)
    start = np.zeros(m.size)
    start[seed % m.size] = 1.0
    x = best_weights(H, m, start, 1e-12)
    assert (x >= 0).all() and x.sum() == pytest.approx(1.0, abs=1e-12)
    A = sp.vstack([sp.identity(m.size), np.ones((1, m.size))], format="csc")
    low, high = np.zeros(m.size + 1), np.full(m.size + 1, np.inf)
    low[-1] = high[-1] = 1.0
    unit = max(float(np.abs(H).max()), 1.0)
    y = np.maximum(solve_qp(sp.csc_matrix(H / unit), -m / unit, A, low, high).x, 0.0)
    y /= y.sum()

    def value(z: np.ndarray) -> float:
        return float(z @ H @ z) / 2 - float(m @ z)

    assert value(x) <= value(y) + 1e-9 * (unit + abs(value(y)))


def test_one_point_of_the_simplex_stays() -> None:
    assert best_weights(np.zeros((1, 1)), np.zeros(1), np.ones(1), 1e-12).tolist() == [1.0]
    x = best_weights(np.zeros((3, 3)), np.zeros(3), np.array([0.0, 1.0, 0.0]), 1e-12)
    assert x.tolist() == [0.0, 1.0, 0.0]
