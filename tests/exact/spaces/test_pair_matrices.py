"""The Laplacian of weighted pairs, without forming it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from aucert.exact.spaces.pair_matrices import PairGraph
from loops import each, seeds


@each("seed", seeds(10))
def test_it_is_the_sum_over_the_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m, d = int(rng.integers(2, 9)), int(rng.integers(1, 30)), int(rng.integers(1, 5))
    i, j, c = rng.integers(n, size=m), rng.integers(n, size=m), rng.random(m)  # pairs come again
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    graph = PairGraph(i, j, c, n)
    naive = np.zeros((d, d))
    for a, b, share in zip(i, j, c, strict=True):
        naive += share * np.outer(X[a] - X[b], X[a] - X[b])
    np.testing.assert_allclose(X.T @ graph.times(X), naive, atol=1e-13)
    np.testing.assert_allclose(X.T @ graph.times(X[:, 0]), naive[:, 0], atol=1e-13)
    sparse = sp.csr_matrix(X)
    np.testing.assert_allclose((sparse.T @ graph.times(sparse)).toarray(), naive, atol=1e-13)
