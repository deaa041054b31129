"""The Laplacian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..tools.rounding import gamma
from .kernel import (
    chain_of,
    check_gamma,
    check_size,
    exp_of,
    feature_blocks,
    features_of,
    float_rows,
    noise_of_exp,
    summed,
)


@dataclass(frozen=True)
class Laplacian:
    """k(x, z) = exp(-gamma sum_k |x_k - z_k|)."""

    gamma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_gamma(self.gamma))

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Return the matrix of k(x, z): (n, m)."""
        X, Z = float_rows(X), float_rows(Z)
        if not sp.issparse(X) and not sp.issparse(Z):
            from scipy.spatial.distance import cdist

            parts = (cdist(X[:, k], Z[:, k], "cityblock") for k in feature_blocks(X))
            return exp_of(self.gamma, summed(parts))
        from sklearn.metrics.pairwise import manhattan_distances

        return exp_of(self.gamma, manhattan_distances(_narrow(X), _narrow(Z)))

    def diagonal(self, X: Any) -> np.ndarray:
        """Return ones: (n,)."""
        return np.ones(X.shape[0])

    def noise(self, X: Any) -> float:
        """Return a bound of the errors of the distances, their product with gamma, and exp."""
        check_size(X)
        k = features_of(X)
        return noise_of_exp(gamma((2 * k if sp.issparse(X) else chain_of(k)) + 6), 0.0)


def _narrow(X: Any) -> Any:
    """Return sparse rows with indices of 32 bits, which scikit-learn's distances require."""
    if not sp.issparse(X) or X.indices.dtype == np.int32:
        return X
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sp.csr_matrix(parts, shape=X.shape)
