"""Kernels against their formulas, on any storage and at any offset."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.errors import InputError
from aucert.exact.spaces.kernels import (
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    get_kernel,
    squared_distances,
)
from loops import each

KERNELS: list[Kernel] = [Linear(), Gaussian(0.4), Laplacian(0.2)]
NAMES = ["linear", "rbf", "laplacian"]


def naive(kernel: Kernel, x: np.ndarray, z: np.ndarray) -> float:
    pairs = list(zip(x.tolist(), z.tolist(), strict=True))
    if isinstance(kernel, Linear):
        return math.fsum(a * b for a, b in pairs)
    if isinstance(kernel, Gaussian):
        return math.exp(-kernel.gamma * math.fsum((a - b) ** 2 for a, b in pairs))
    assert isinstance(kernel, Laplacian)
    return math.exp(-kernel.gamma * math.fsum(abs(a - b) for a, b in pairs))


@each("d", [1, 3, 80])  # few features and many are computed differently
@each("kernel", KERNELS, ids=NAMES)
@each("sparse", [False, True])
def test_a_kernel_is_its_formula(kernel: Kernel, d: int, sparse: bool) -> None:
    rng = np.random.default_rng(d)
    X, Z = rng.normal(size=(7, d)), rng.normal(size=(5, d))
    X[rng.uniform(size=X.shape) < 0.4] = 0.0
    expected = np.array([[naive(kernel, x, z) for z in Z] for x in X])
    found = kernel(sp.csr_matrix(X), sp.csr_matrix(Z)) if sparse else kernel(X, Z)
    assert isinstance(found, np.ndarray)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-14)


@each("kernel", KERNELS, ids=NAMES)
@each("sparse", [False, True])
def test_the_diagonal_is_that_of_the_matrix(kernel: Kernel, sparse: bool) -> None:
    X = np.random.default_rng(0).normal(size=(9, 20))
    rows = sp.csr_matrix(X) if sparse else X
    assert kernel.diagonal(rows) == pytest.approx(np.diag(kernel(rows, rows)), rel=1e-13)


@each("d", [3, 80])
@each("kind", [Gaussian, Laplacian])
def test_a_common_offset_costs_no_more_than_it_must(kind: type, d: int) -> None:
    """Both sides see the same rounded rows; sums over 80 features then lose some units."""
    X = np.random.default_rng(1).normal(size=(12, d))
    moved, kernel = X + 1e6, kind(1 / d)
    assert kernel(moved, moved) == pytest.approx(kernel(moved - 1e6, moved - 1e6), abs=2e-14)


@each("d", [4, 80])
def test_a_repeated_row_is_at_distance_zero(d: int) -> None:
    X = np.random.default_rng(2).normal(size=(10, d))
    again = np.vstack([X, X])
    assert np.diag(squared_distances(again, again)[:10, 10:]) == pytest.approx(0.0, abs=1e-13)
    assert (squared_distances(again, again) >= 0).all()


@each("d", [4, 30, 80])
def test_neighbours_far_from_the_others_keep_their_distance(d: int) -> None:
    """|x|^2 - 2 x'z + |z|^2 would lose it: two rows 0.3 apart, 10,000 away from the rest."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, d))
    X[0] *= 1e4 / np.linalg.norm(X[0])
    X[1] = X[0]
    X[1, 0] += 0.3
    K = Gaussian(1.0)(X, X)
    apart = X[1, 0] - X[0, 0]
    assert K[0, 1] == pytest.approx(math.exp(-(apart**2)), rel=1e-13)
    assert np.diag(K) == pytest.approx(1.0, abs=1e-15)
    assert np.abs(K - K.T).max() <= 1e-15


def test_kernels_have_names_and_a_default_width() -> None:
    assert get_kernel("linear") == Linear()
    assert get_kernel("rbf", 2.0) == Gaussian(2.0)
    assert get_kernel("laplacian", dim=5) == Laplacian(0.2)
    assert get_kernel("rbf", dim=4) == Gaussian(0.25)


@each("gamma", [0.0, -1.0, np.nan, np.inf, True, "1", None])
@each("kernel", [Gaussian, Laplacian])
def test_a_width_is_a_number_above_zero(kernel: type, gamma: object) -> None:
    with pytest.raises(InputError, match="gamma must be"):
        kernel(gamma)


def test_unknown_kernels_and_missing_widths_are_refused() -> None:
    with pytest.raises(InputError, match="kernel must be"):
        get_kernel("poly")
    with pytest.raises(InputError, match="needs a gamma"):
        get_kernel("rbf")


@each("kernel", KERNELS, ids=NAMES)
def test_kernel_matrices_are_symmetric_and_semidefinite(kernel: Kernel) -> None:
    X = np.random.default_rng(4).normal(size=(60, 3))
    K = kernel(X, X)
    assert np.array_equal(K, K.T) or np.abs(K - K.T).max() < 1e-14
    assert np.linalg.eigvalsh(K)[0] > -1e-13 * np.linalg.eigvalsh(K)[-1]


@each("kernel", KERNELS, ids=NAMES)
def test_wide_indices_change_nothing(kernel: Kernel) -> None:
    dense = np.random.default_rng(3).normal(size=(5, 3))
    wide = sp.csr_array(dense)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    np.testing.assert_allclose(kernel(wide, wide), kernel(dense, dense), rtol=1e-12)
