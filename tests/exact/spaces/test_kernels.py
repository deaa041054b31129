"""Kernels, and certificates over them, against their formulas in 60 digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import solve
from aucert.exact.errors import InputError
from aucert.exact.formulation import formulation
from aucert.exact.spaces.kernels import (
    EXP_UNITS,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    get_kernel,
    lengths_of,
    squared_distances,
)
from decimal_losses import DIGITS, decimal, true_kernel
from loops import each

SHAPES = ((1, 1.0), (3, 1e-3), (3, 1e6), (65, 1.0), (65, 1e-3), (200, 1.0), (200, 1e6))


def hard_rows(rng: np.random.Generator, n: int, d: int, scale: float, kind: int) -> np.ndarray:
    """Return rows that are plain, far from the origin, repeated, or two tight clouds far apart."""
    X = rng.normal(size=(n, d))
    X[rng.random((n, d)) < 0.2] = 0.0
    if kind == 1:
        X += 1e6
    elif kind == 2:
        X = X[rng.integers(0, max(n // 2, 1), n)]
        X[0] += 1e-7
    elif kind == 3:
        X *= 1e-4
        X[: n // 2] += 1e4
    return X * scale


def kernels_for(X: np.ndarray) -> tuple[Kernel, ...]:
    """Return kernels, whose values on these rows are neither all one nor all zero."""
    square = max(float(((X - X[:1]) ** 2).sum(axis=1).mean()), 1e-300)
    length = max(float(np.abs(X - X[:1]).sum(axis=1).mean()), 1e-300)
    return Gaussian(1 / square), Laplacian(1 / length), Linear()


@each("sparse", [False, True], ids=["dense", "sparse"])
@each(("d", "scale"), SHAPES)
def test_every_kernel_value_is_within_its_noise(d: int, scale: float, sparse: bool) -> None:
    for kind in range(4):
        X = hard_rows(np.random.default_rng([12, d, kind]), 6, d, scale, kind)
        rows = sp.csr_matrix(X) if sparse else X
        for kernel in (*kernels_for(X), Gaussian(1e6), Gaussian(1e-9), Laplacian(1e-9)):
            true, found, noise = true_kernel(kernel, X), kernel(rows, rows), kernel.noise(rows)
            assert isinstance(found, np.ndarray) and noise < 1e-11
            diagonal, lengths = kernel.diagonal(rows), lengths_of(kernel, rows)
            with localcontext(DIGITS):
                for i in range(6):
                    assert abs(decimal(diagonal[i]) - true[i][i]) <= decimal(noise) * true[i][i]
                    assert true[i][i] <= decimal(lengths[i]) ** 2
                    for j in range(6):
                        slip = abs(decimal(found[i, j]) - true[i][j])
                        size = (true[i][i] * true[j][j]).sqrt()
                        assert slip <= decimal(noise) * size, f"{kernel}, {kind}, {(i, j)}"


def test_the_exponential_of_numpy_is_as_good_as_is_assumed() -> None:
    rng = np.random.default_rng(13)
    x = -np.concatenate([rng.uniform(0, 1, 2000), 10.0 ** rng.uniform(-9, 2.84, 4000)])
    worst = Decimal(0)
    for exponent, value in zip(x.tolist(), np.exp(x).tolist(), strict=True):
        true = DIGITS.exp(Decimal(exponent))
        worst = max(worst, abs(Decimal(value) - true) / true)
    assert worst <= Decimal(EXP_UNITS) / 2 * Decimal(2) ** -53


@each("d", [3, 30, 80])  # few features and many are computed differently
def test_distances_keep_their_digits(d: int) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, d))
    for kind in (Gaussian, Laplacian):  # a common offset costs no more than it must
        moved, kernel = X + 1e6, kind(1 / d)
        assert kernel(moved, moved) == pytest.approx(kernel(moved - 1e6, moved - 1e6), abs=2e-14)
    again = np.vstack([X, X])
    assert np.diag(squared_distances(again, again)[:20, 20:]) == pytest.approx(0.0, abs=1e-13)
    assert (squared_distances(again, again) >= 0).all()
    # |x|^2 - 2 x'z + |z|^2 would lose it: two rows 0.3 apart, 10,000 away from the rest.
    X[0] *= 1e4 / np.linalg.norm(X[0])
    X[1] = X[0]
    X[1, 0] += 0.3
    K = Gaussian(1.0)(X, X)
    assert K[0, 1] == pytest.approx(np.exp(-((X[1, 0] - X[0, 0]) ** 2)), rel=1e-13)
    assert np.diag(K) == pytest.approx(1.0, abs=1e-15) and np.abs(K - K.T).max() <= 1e-15
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for kernel in (Linear(), Gaussian(0.4), Laplacian(0.2)):
        np.testing.assert_allclose(kernel(wide, wide), kernel(X, X), rtol=1e-11)


@each("gamma", [0.0, -1.0, np.nan, np.inf, True, "1", None])
def test_kernels_have_names_and_a_width_above_zero(gamma: Any) -> None:
    assert get_kernel("linear") == Linear() and get_kernel("rbf", 2.0) == Gaussian(2.0)
    assert get_kernel("laplacian", dim=5) == Laplacian(0.2)
    for kind in (Gaussian, Laplacian):
        with pytest.raises(InputError, match="gamma must be"):
            kind(gamma)
    with pytest.raises(InputError, match="kernel must be"):
        get_kernel("poly")
    with pytest.raises(InputError, match="needs a gamma"):
        get_kernel("rbf")
    for kernel in (Gaussian(1.0), Laplacian(1.0), Linear()):
        with pytest.raises(InputError, match="so large"):
            formulation.true_space(kernel, np.array([[1e200], [0.0]]))


@pytest.mark.filterwarnings("error")
@each("kernel", [Gaussian, Laplacian])
@each("gamma", [1e300, 1e308, 1.7e308])
def test_a_gamma_near_the_largest_float_has_a_bound(kernel: type, gamma: float) -> None:
    """gamma times a distance overflows, and so did gamma times what underflow takes from one."""
    X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [0.0, 1.0]])
    np.testing.assert_array_equal(kernel(gamma)(X, X), np.eye(4))
    assert 0 < kernel(gamma).noise(X) <= 1
    name = "rbf" if kernel is Gaussian else "laplacian"
    found = solve(X, [0, 1, 1, 0], 0.01, kernel=name, gamma=gamma).certificate
    assert found.dual <= 0.005 <= found.primal
