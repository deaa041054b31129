"""Kernels: a formula and a few lines of code each.

Gaussian widths are written as gamma. A width sigma of exp(-d^2 / (2 sigma^2)) is gamma =
1 / (2 sigma^2); a scale b of exp(-d^2 / b) is gamma = 1 / b.

What is meant is the formula at the rows and the gamma as stored in float64, and `noise` bounds how
far the computed values are from it. With u = 2^-53 and `chain_of` the longest chain of roundings in
a sum over features: a sum of terms >= 0 errs by gamma_k of itself, so distances by differences do;
distances by products err by that of |x|^2 + |z|^2, and are kept where they are a quarter of it at
least. An error of relative size r in the exponent y moves exp(-y) by at most r y exp(-(1 - r) y) <=
r / (e (1 - r)). Beside IEEE arithmetic, one thing is taken from numpy: `EXP_UNITS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..tools.lossless import as_float64
from ..tools.rounding import UNIT, gamma
from .incoming import canonical


class Kernel(Protocol):
    """A positive semidefinite function of two rows."""

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Return the matrix of k(x, z): (n, m)."""
        ...

    def diagonal(self, X: Any) -> np.ndarray:
        """Return k(x, x) for every row: (n,)."""
        ...

    def noise(self, X: Any) -> float:
        """Return a bound of |computed k(x, z) - k(x, z)| / sqrt(k(x, x) k(z, z)) on these rows."""
        ...


FEATURE_BLOCK = 64
"""Features that are summed at a time: sums over many then have short chains of roundings. Up to so
many, distances are taken by differences, which lose no digits."""

CLOSE = 0.25
"""Share of |x|^2 + |z|^2 below which a distance by products is taken again by differences."""

EXP_UNITS = 4
"""Units by which numpy's exp may be off. Measured (and tested) is less than one and a half."""

LARGEST_ENTRY = 1e150
"""Above this squares of differences leave the range of floating point."""

TINY, LEAST_SQUARE = 2.0**-1070, 1e-290
"""What underflow takes from a sum's term, and what is added to k(x, x) in bounds of lengths."""


def chain_of(features: int) -> int:
    """Return how many roundings in a row a sum of products over so many features has at most."""
    return min(features, FEATURE_BLOCK) + features // FEATURE_BLOCK + 1


def lengths_of(kernel: Kernel, X: Any) -> np.ndarray:
    """Return upper bounds of the roots of k(x, x): (n,)."""
    squares = np.maximum(kernel.diagonal(X), 0.0) * (1 + 2 * kernel.noise(X)) + LEAST_SQUARE
    return np.sqrt(squares) * (1 + gamma(4))


def _features_of(X: Any) -> int:
    """Return how many terms a sum over features has at most: for sparse rows their entries."""
    if not sp.issparse(X):
        return int(X.shape[1])
    return int(np.diff(sp.csr_matrix(X).indptr).max(initial=0))


def _check_size(X: Any) -> None:
    top = float(abs(X).max()) if sp.issparse(X) else float(np.abs(X).max(initial=0.0))
    if not top <= LARGEST_ENTRY:
        raise InputError("X has values so large that their squares overflow: rescale it")


def _feature_blocks(X: Any) -> list[slice]:
    d = int(X.shape[1])
    return [slice(start, start + FEATURE_BLOCK) for start in range(0, d, FEATURE_BLOCK)]


def _summed(parts: Iterator[np.ndarray]) -> np.ndarray:
    total = next(parts)
    for part in parts:
        total += part
    return total


def _noise_of_exp(relative: float, absolute: float) -> float:
    """Return what errors of the exponent and of exp do to exp(-y), y >= 0: between 0 and 1."""
    moved = relative / (2.718 * (1 - relative)) + absolute
    return min((moved + EXP_UNITS * UNIT) * (1 + gamma(16)) + LEAST_SQUARE, 1.0)


def _exp_of(gamma: float, distances: np.ndarray) -> np.ndarray:
    """Return exp(-gamma distances): zero where the product is beyond all floats."""
    with np.errstate(over="ignore"):
        return np.exp(-gamma * distances)


@dataclass(frozen=True)
class Linear:
    """k(x, z) = x'z."""

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Return the matrix of k(x, z): (n, m)."""
        X, Z = _rows(X), _rows(Z)
        if not sp.issparse(X) and not sp.issparse(Z):
            return _summed(X[:, some] @ Z[:, some].T for some in _feature_blocks(X))
        product = X @ Z.T
        return product.toarray() if sp.issparse(product) else np.asarray(product)

    def diagonal(self, X: Any) -> np.ndarray:
        """Return k(x, x) for every row: (n,)."""
        X = _rows(X)
        if sp.issparse(X):
            return np.asarray(X.multiply(X).sum(axis=1)).ravel()
        blocks = (X[:, some] for some in _feature_blocks(X))
        return _summed(np.einsum("ij,ij->i", block, block) for block in blocks)

    def noise(self, X: Any) -> float:
        """Return gamma_k, k the chain of additions: sum_k |x_k z_k| <= |x| |z|."""
        _check_size(X)
        k = _features_of(X)
        return gamma((k if sp.issparse(X) else chain_of(k)) + 4)


def _rows(X: Any) -> Any:
    """Return rows as float64, sparse ones as a canonical copy: a product may sort its operands."""
    return canonical(X) if sp.issparse(X) else as_float64(X, "X")


@dataclass(frozen=True)
class Gaussian:
    """k(x, z) = exp(-gamma |x - z|^2).

    Parameters
    ----------
    gamma : float
        > 0, in units of one over a squared distance.
    """

    gamma: float

    def __post_init__(self) -> None:
        _check_gamma(self.gamma)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Return the matrix of k(x, z): (n, m)."""
        return _exp_of(self.gamma, squared_distances(X, Z))

    def diagonal(self, X: Any) -> np.ndarray:
        """Return ones: (n,)."""
        return np.ones(X.shape[0])

    def noise(self, X: Any) -> float:
        """Return what the errors of `squared_distances`, of gamma times them and of exp make."""
        _check_size(X)
        return _noise_of_exp(distance_noise(X) + gamma(3), (X.shape[1] + 8) * TINY * self.gamma)


def squared_distances(X: Any, Z: Any) -> np.ndarray:
    """Return |x - z|^2 (n, m): by differences for few features, else by products.

    Products, |x|^2 + |z|^2 - 2 x'z, are much faster for many features, but lose the digits of rows
    that are close together and far from the rest: those are taken again, by differences.
    """
    X, Z = _rows(X), _rows(Z)
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
    k = _features_of(X)
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

    return _summed(cdist(X[:, some], Z[:, some], "sqeuclidean") for some in _feature_blocks(X))


def _narrow(X: Any) -> Any:
    """Return sparse rows with indices of 32 bits, which scikit-learn's distances insist on."""
    if not sp.issparse(X) or X.indices.dtype == np.int32:
        return X
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sp.csr_matrix(parts, shape=X.shape)


@dataclass(frozen=True)
class Laplacian:
    """k(x, z) = exp(-gamma sum_k |x_k - z_k|).

    Parameters
    ----------
    gamma : float
        > 0, in units of one over a distance.
    """

    gamma: float

    def __post_init__(self) -> None:
        _check_gamma(self.gamma)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Return the matrix of k(x, z): (n, m)."""
        X, Z = _rows(X), _rows(Z)
        if not sp.issparse(X) and not sp.issparse(Z):
            from scipy.spatial.distance import cdist

            parts = (cdist(X[:, k], Z[:, k], "cityblock") for k in _feature_blocks(X))
            return _exp_of(self.gamma, _summed(parts))
        from sklearn.metrics.pairwise import manhattan_distances

        return _exp_of(self.gamma, manhattan_distances(_narrow(X), _narrow(Z)))

    def diagonal(self, X: Any) -> np.ndarray:
        """Return ones: (n,)."""
        return np.ones(X.shape[0])

    def noise(self, X: Any) -> float:
        """Return what the errors of the distances, of gamma times them and of exp make."""
        _check_size(X)
        k = _features_of(X)
        return _noise_of_exp(gamma((2 * k if sp.issparse(X) else chain_of(k)) + 6), 0.0)


def get_kernel(name: str, gamma: float | None = None, dim: int | None = None) -> Kernel:
    """Return the kernel of that name.

    Parameters
    ----------
    name : {"linear", "rbf", "laplacian"}
    gamma : float, optional
        > 0; 1 / dim by default, as scikit-learn's kernels have it.
    dim : int, optional
        Number of features, for the default.

    Raises
    ------
    InputError
        For another name, or a gamma that is not > 0.
    """
    if name == "linear":
        return Linear()
    if name not in ("rbf", "laplacian"):
        raise InputError(f"unknown kernel {name!r}: choose linear, rbf, laplacian or precomputed")
    if gamma is None:
        if not dim:
            raise InputError(f"the {name} kernel needs a gamma > 0")
        gamma = 1.0 / dim
    return Gaussian(gamma) if name == "rbf" else Laplacian(gamma)


def _check_gamma(gamma: object) -> None:
    if isinstance(gamma, bool) or not isinstance(gamma, int | float | np.number):
        raise InputError(f"gamma must be a number, not {gamma!r}")
    if not (np.isfinite(gamma) and gamma > 0):
        raise InputError(f"gamma must be > 0 and finite, not {gamma!r}")
