"""Kernels: a formula and a few lines of code each.

Gaussian widths are written as gamma. A width sigma of exp(-d^2 / (2 sigma^2)) is gamma =
1 / (2 sigma^2); a scale b of exp(-d^2 / b) is gamma = 1 / b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from .errors import InputError
from .incoming import canonical
from .lossless import as_float64


class Kernel(Protocol):
    """A positive semidefinite function of two rows."""

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Return the matrix of k(x, z): (n, m)."""
        ...

    def diagonal(self, X: Any) -> np.ndarray:
        """Return k(x, x) for every row: (n,)."""
        ...


DIFFERENCES_UP_TO = 64
"""Features up to which distances are taken by differences, which lose no digits. Products, for
more features, are faster and lose those of rows that are close together but far from the rest."""


@dataclass(frozen=True)
class Linear:
    """k(x, z) = x'z."""

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Return the matrix of k(x, z): (n, m)."""
        product = _rows(X) @ _rows(Z).T
        return product.toarray() if sp.issparse(product) else np.asarray(product)

    def diagonal(self, X: Any) -> np.ndarray:
        """Return k(x, x) for every row: (n,)."""
        X = _rows(X)
        if sp.issparse(X):
            return np.asarray(X.multiply(X).sum(axis=1)).ravel()
        return np.einsum("ij,ij->i", X, X)


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
        return np.exp(-self.gamma * squared_distances(X, Z))

    def diagonal(self, X: Any) -> np.ndarray:
        """Return ones: (n,)."""
        return np.ones(X.shape[0])


def squared_distances(X: Any, Z: Any) -> np.ndarray:
    """Return |x - z|^2 (n, m): by differences for few features, else by products."""
    X, Z = _rows(X), _rows(Z)
    if not sp.issparse(X) and not sp.issparse(Z) and X.shape[1] <= DIFFERENCES_UP_TO:
        from scipy.spatial.distance import cdist

        return cdist(X, Z, "sqeuclidean")
    from sklearn.metrics.pairwise import euclidean_distances

    if not sp.issparse(X) and not sp.issparse(Z):
        # |x|^2 - 2 x'z + |z|^2 loses the digits of a common offset.
        middle = Z.mean(axis=0)
        X, Z = X - middle, Z - middle
    found = euclidean_distances(X, Z, squared=True)
    _mend_close_rows(found, X, Z)
    return found


def _mend_close_rows(found: np.ndarray, X: Any, Z: Any) -> None:
    """Take again, by differences, the distances that are small against the rows' lengths."""
    squares_x, squares_z = Linear().diagonal(X), Linear().diagonal(Z)
    for i in range(X.shape[0]):
        close = np.flatnonzero(found[i] < 1e-2 * (squares_x[i] + squares_z))
        if close.size == 0:
            continue
        if sp.issparse(X) or sp.issparse(Z):
            row = sp.csr_matrix(X[i])
            difference = sp.csr_matrix(Z[close]) - sp.vstack([row] * close.size, format="csr")
            found[i, close] = Linear().diagonal(difference)
        else:
            found[i, close] = Linear().diagonal(Z[close] - X[i])


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
        from sklearn.metrics.pairwise import manhattan_distances

        return np.exp(-self.gamma * manhattan_distances(_narrow(_rows(X)), _narrow(_rows(Z))))

    def diagonal(self, X: Any) -> np.ndarray:
        """Return ones: (n,)."""
        return np.ones(X.shape[0])


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
