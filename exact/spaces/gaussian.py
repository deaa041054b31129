"""The Gaussian kernel, and the distances that it is a function of.

Widths are written as gamma. A width sigma of exp(-d^2 / (2 sigma^2)) is gamma = 1 / (2 sigma^2); a
scale b of exp(-d^2 / b) is gamma = 1 / b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..tools.rounding import gamma
from .kernel import (
    FEATURE_BLOCK,
    Linear,
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

# A distance by products below this share of |x|^2 + |z|^2 is computed again by differences.
CLOSE = 0.25

TINY = 2.0**-1070  # What one term of a sum can lose to underflow.


@dataclass(frozen=True)
class Gaussian:
    """k(x, z) = exp(-gamma |x - z|^2)."""

    gamma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_gamma(self.gamma))

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Return the matrix of k(x, z): (n, m)."""
        return exp_of(self.gamma, squared_distances(X, Z))

    def diagonal(self, X: Any) -> np.ndarray:
        """Return ones: (n,)."""
        return np.ones(X.shape[0])

    def noise(self, X: Any) -> float:
        """Return a bound of the errors of `squared_distances`, its product with gamma, and exp."""
        check_size(X)
        return noise_of_exp(distance_noise(X) + gamma(3), (X.shape[1] + 8) * TINY * self.gamma)


def squared_distances(X: Any, Z: Any) -> np.ndarray:
    """Return |x - z|^2 (n, m): by differences for few features, otherwise by products.

    Products, |x|^2 + |z|^2 - 2 x'z, are much faster for many features, but lose the digits of rows
    that are close together and far from the rest. Those distances are computed again by
    differences.
    """
    X, Z = float_rows(X), float_rows(Z)
    if sp.issparse(X) or sp.issparse(Z):
        rows, others = X, Z
    elif X.shape[1] <= FEATURE_BLOCK:
        return _by_differences(X, Z)
    else:
        middle = Z.mean(axis=0)  # a common offset would lose digits too
        rows, others = X - middle, Z - middle
    squares = Linear().diagonal(rows), Linear().diagonal(others)
    found = Linear()(rows, others)
    found *= -2.0
    found += squares[0][:, None]
    found += squares[1]
    np.maximum(found, 0.0, out=found)
    for i in range(X.shape[0]):
        close = np.flatnonzero(found[i] < CLOSE * (squares[0][i] + squares[1]))
        if close.size:
            found[i, close] = _by_differences(X[i : i + 1], Z[close])
    return found


def distance_noise(X: Any) -> float:
    """Return a bound of the relative error of `squared_distances` between any of these rows.

    By differences: three roundings a term, and the chain of additions. By products, with S = |x|^2
    + |z|^2 of the centred rows: |x|^2, |z|^2 and 2 x'z err by gamma_k S together twice, the two
    additions and the centring by less than 12 u S; what is kept is at least CLOSE S before that.
    """
    k = features_of(X)
    if not sp.issparse(X) and k <= FEATURE_BLOCK:
        return gamma(k + 4)
    chain = k if sp.issparse(X) else chain_of(k)
    share = gamma(2 * chain + 16)
    return max(gamma(2 * chain + 4), share / (CLOSE - 2 * share) * (1 + gamma(8)))


def _by_differences(X: Any, Z: Any) -> np.ndarray:
    """Return |x - z|^2 without products of different rows; of sparse rows X is one."""
    if sp.issparse(X) or sp.issparse(Z):
        copies = sp.vstack([sp.csr_matrix(X)] * Z.shape[0], format="csr")
        return Linear().diagonal(sp.csr_matrix(Z) - copies)
    from scipy.spatial.distance import cdist

    return summed(cdist(X[:, some], Z[:, some], "sqeuclidean") for some in feature_blocks(X))
