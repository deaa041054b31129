"""The one list of kernels by name."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import reduce
from operator import iadd
from typing import Any, Protocol, cast

import numpy as np
import scipy.sparse as sp

from ..errors import InputError, brief
from ..tools.arrays import as_float64, canonical, check_choice, check_number, out_of_range
from ..tools.rounding import UNIT, gamma

FEATURE_BLOCK = 64  # features summed at a time: long sums have short chains of roundings
EXP_UNITS = 4  # units in the last place by which numpy's exp may be wrong; tests measure below 1.5
LEAST_SQUARE = 1e-290  # Added to k(x, x) in bounds of lengths, to cover underflow.
CLOSE = 0.25  # distances by products below this share of |x|^2 + |z|^2 are taken by differences


class Kernel(Protocol):
    """A positive semidefinite function of two rows, float64 or CSR. An object with these three
    methods is a kernel, a `name` is optional. Several threads may call it at once."""

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Return the matrix of k(x, z): (n, m)."""
        ...

    def diagonal(self, X: Any) -> np.ndarray:
        """Return k(x, x) for every row: (n,)."""
        ...

    def noise(self, X: Any) -> float:
        """Return a bound of |computed k(x, z) - k(x, z)| / sqrt(k(x, x) k(z, z)) on these rows.
        Between rows of two sets, the larger of their bounds must hold."""
        ...


def check_kernel(kernel: Kernel, X: Any) -> None:
    """Raise `InputError` unless a kernel keeps its contract on some of the rows X (n, d)."""
    n = int(X.shape[0])
    # 50: number of rows on which a user's kernel is checked
    some = X[np.unique(np.linspace(0, n - 1, min(n, 50)).astype(int))]
    K, own, noise = np.asarray(kernel(some, some)), kernel.diagonal(some), kernel.noise(some)
    size, called = some.shape[0], name_of(kernel)
    if K.shape != (size, size) or np.shape(own) != (size,):
        raise InputError(
            f"the kernel {called} gives shapes {K.shape} and {np.shape(own)} for {size} rows: "
            f"k(x, z) must be a matrix ({size}, {size}) and its diagonal ({size},)"
        )
    if not (np.isfinite(K).all() and np.isfinite(own).all() and (own >= 0).all()):
        raise InputError(f"the kernel {called} has values that are not finite, or k(x, x) < 0")
    if not 0 <= noise < 1:
        raise InputError(f"the kernel {called} has noise {noise!r}: a bound in [0, 1) is needed")
    lengths = np.sqrt(own) * (1 + gamma(4))
    allowed = 2 * (noise + gamma(4)) * np.outer(lengths, lengths) + LEAST_SQUARE
    if not (np.abs(np.diag(K) - own) <= np.diag(allowed)).all():
        raise InputError(f"the kernel {called} has a diagonal that is not k(x, x) to its noise")
    if not (np.abs(K - K.T) <= allowed).all():
        raise InputError(f"the kernel {called} is not symmetric to its noise")
    least = float(np.linalg.eigvalsh((K + K.T) / 2)[0])
    if least < -(size * (noise + 8 * UNIT)) * float(own.max()) - LEAST_SQUARE:
        raise InputError(f"the kernel {called} has a negative eigenvalue, {least:.2g}, on the rows")


def name_of(kernel: str | Kernel) -> str:
    return kernel if isinstance(kernel, str) else getattr(kernel, "name", type(kernel).__name__)


def chain_of(features: int) -> int:
    """Return the longest chain of roundings in a sum of products over so many features."""
    return min(features, FEATURE_BLOCK) + features // FEATURE_BLOCK + 1


def lengths_of(kernel: Kernel, X: Any) -> np.ndarray:
    """Return upper bounds of the roots of k(x, x): (n,)."""
    squares = np.maximum(kernel.diagonal(X), 0.0) * (1 + 2 * kernel.noise(X)) + LEAST_SQUARE
    return np.sqrt(squares) * (1 + gamma(4))


def features_of(X: Any) -> int:
    """Return the most terms in a sum over features; sparse rows count their entries."""
    if not sp.issparse(X):
        return int(X.shape[1])
    return int(np.diff(sp.csr_matrix(X).indptr).max(initial=0))


def check_size(X: Any) -> None:
    """Raise `InputError` if the square of an entry of `X` overflows."""
    top = float(abs(X).max()) if sp.issparse(X) else float(np.abs(X).max(initial=0.0))
    if not top <= 1e150:  # largest entry of X: squares of differences of larger ones may overflow
        raise out_of_range(X, "so large that their squares overflow")


def feature_blocks(X: Any) -> list[slice]:
    starts = range(0, int(X.shape[1]), FEATURE_BLOCK)
    return [slice(start, start + FEATURE_BLOCK) for start in starts]


def noise_of_exp(relative: float, absolute: float) -> float:
    """Return a bound in [0, 1] of the error of exp(-y), y >= 0: of its exponent and of exp."""
    moved = relative / (2.718 * (1 - relative)) + absolute
    return min((moved + EXP_UNITS * UNIT) * (1 + gamma(16)) + LEAST_SQUARE, 1.0)


def float_rows(X: Any) -> Any:
    """Return rows as float64, sparse ones in canonical form: a product may sort its operands."""
    return canonical(X) if sp.issparse(X) else as_float64(X, "X")


@dataclass(frozen=True)
class Linear:
    """k(x, z) = x'z."""

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        X, Z = float_rows(X), float_rows(Z)
        if not sp.issparse(X) and not sp.issparse(Z):
            return reduce(iadd, (X[:, some] @ Z[:, some].T for some in feature_blocks(X)))
        product = X @ Z.T
        return product.toarray() if sp.issparse(product) else np.asarray(product)

    def diagonal(self, X: Any) -> np.ndarray:
        X = float_rows(X)
        if sp.issparse(X):
            return np.asarray(X.multiply(X).sum(axis=1)).ravel()
        blocks = (X[:, some] for some in feature_blocks(X))
        return reduce(iadd, (np.einsum("ij,ij->i", block, block) for block in blocks))

    def noise(self, X: Any) -> float:
        """Return gamma_k, k the chain of additions: sum_k |x_k z_k| <= |x| |z|."""
        check_size(X)
        k = features_of(X)
        return gamma((k if sp.issparse(X) else chain_of(k)) + 4)


@dataclass(frozen=True)
class Radial:
    """A kernel of a width, which is 1 where x = z."""

    gamma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_number("gamma", self.gamma))

    def at(self, distances: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # zero where the product is beyond all floats
            return np.exp(-self.gamma * distances)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Gaussian(Radial):
    """k(x, z) = exp(-gamma |x - z|^2)."""

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return self.at(squared_distances(X, Z))

    def noise(self, X: Any) -> float:
        """Return a bound of the errors of `squared_distances`, its product with gamma, and exp. By
        differences there are three roundings a term, and the chain of additions. By products, with
        S = |x|^2 + |z|^2 of the centred rows, |x|^2, |z|^2 and 2 x'z err by gamma_k S together
        twice, the rest by less than 12 u S; what is kept is at least CLOSE S before that."""
        check_size(X)
        k, lost = features_of(X), (X.shape[1] + 8) * 2.0**-1070  # to underflow in a sum's terms
        relative = gamma(k + 4)
        if sp.issparse(X) or k > FEATURE_BLOCK:
            chain = k if sp.issparse(X) else chain_of(k)
            share = gamma(2 * chain + 16)
            relative = max(gamma(2 * chain + 4), share / (CLOSE - 2 * share) * (1 + gamma(8)))
        return noise_of_exp(relative + gamma(3), lost * self.gamma)


def squared_distances(X: Any, Z: Any) -> np.ndarray:
    """Return |x - z|^2 (n, m): by differences for few features, otherwise by products, |x|^2 +
    |z|^2 - 2 x'z, and by differences again where rows are so close that these lose digits."""
    X, Z = float_rows(X), float_rows(Z)
    if sp.issparse(X) or sp.issparse(Z):
        rows, others = X, Z
    elif X.shape[1] <= FEATURE_BLOCK:
        return _by_differences(X, Z)
    else:
        middle = Z.mean(axis=0)  # a common offset would lose digits too
        rows, others = X - middle, Z - middle
    found, own, other = Linear()(rows, others), Linear().diagonal(rows), Linear().diagonal(others)
    found *= -2.0
    found += own[:, None]
    found += other
    np.maximum(found, 0.0, out=found)
    for i in range(X.shape[0]):
        close = np.flatnonzero(found[i] < CLOSE * (own[i] + other))
        if close.size:
            found[i, close] = _by_differences(X[i : i + 1], Z[close])
    return found


def _by_differences(X: Any, Z: Any) -> np.ndarray:
    """Return |x - z|^2 without products of different rows; of sparse rows X is one."""
    if sp.issparse(X) or sp.issparse(Z):
        copies = sp.vstack([sp.csr_matrix(X)] * Z.shape[0], format="csr")
        return Linear().diagonal(sp.csr_matrix(Z) - copies)
    from scipy.spatial.distance import cdist

    parts = (cdist(X[:, some], Z[:, some], "sqeuclidean") for some in feature_blocks(X))
    return reduce(iadd, parts)


@dataclass(frozen=True)
class Laplacian(Radial):
    """k(x, z) = exp(-gamma sum_k |x_k - z_k|)."""

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        X, Z = float_rows(X), float_rows(Z)
        if not sp.issparse(X) and not sp.issparse(Z):
            from scipy.spatial.distance import cdist

            parts = (cdist(X[:, k], Z[:, k], "cityblock") for k in feature_blocks(X))
            return self.at(reduce(iadd, parts))
        from sklearn.metrics.pairwise import manhattan_distances

        return self.at(manhattan_distances(_narrow(X), _narrow(Z)))

    def noise(self, X: Any) -> float:
        check_size(X)
        k = features_of(X)
        return noise_of_exp(gamma((2 * k if sp.issparse(X) else chain_of(k)) + 6), 0.0)


def _narrow(X: Any) -> Any:
    """Return sparse rows with indices of 32 bits, which scikit-learn's distances require."""
    if not sp.issparse(X) or X.indices.dtype == np.int32:
        return X
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sp.csr_matrix(parts, shape=X.shape)


LINEAR = "linear"
KERNELS: dict[str, Any] = {LINEAR: Linear, "rbf": Gaussian, "laplacian": Laplacian}
PRECOMPUTED = "precomputed"  # in place of a kernel's name, where the data are its matrix
KERNEL_NAMES = (*KERNELS, PRECOMPUTED)


def get_kernel(kernel: str | Kernel, gamma: float | None = None, dim: int | None = None) -> Kernel:
    """Return the kernel of that name, or the user's own kernel unchanged."""
    check_kernel_name(kernel, gamma)
    if not isinstance(kernel, str):
        return kernel
    if kernel == PRECOMPUTED:
        raise InputError(f"the {kernel} kernel has no formula: its matrix is given")
    make = KERNELS[kernel]
    if not fields(make):
        return make()
    if gamma is None and not dim:
        raise InputError(f"the {kernel} kernel needs a gamma > 0")
    return make(1.0 / cast(int, dim) if gamma is None else gamma)


def check_kernel_name(kernel: object, gamma: float | None = None) -> None:
    """Raise `InputError` unless `kernel` is one of the names, or has the methods of a kernel."""
    if isinstance(kernel, str):
        check_choice("kernel", kernel, KERNEL_NAMES)
        return
    wanted = ("__call__", "diagonal", "noise")
    missing = [part for part in wanted if not callable(getattr(kernel, part, None))]
    if missing or isinstance(kernel, type):
        lacks = f"lacks {missing[0]}" if missing else "is a class: make one of it"
        raise InputError(
            f"unknown kernel {brief(kernel)}: take a name, or an object with {', '.join(wanted)} "
            f"(it {lacks})"
        )
    if gamma is not None:
        raise InputError("gamma is for named kernels: set it in your own kernel")
