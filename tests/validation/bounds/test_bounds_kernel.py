"""What the bounds ask of a kernel and its approximation, against loops and numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.approx.nystrom import nystrom_map
from aucert.exact.errors import InputError
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.kernels import Gaussian, Kernel, Laplacian, Linear
from aucert.validation.bounds.kernel import Approximation, Interval
from loops import each

KERNELS = (Linear(), Gaussian(2.0), Laplacian(0.7))


def rows(n: int = 14, p: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows and the mask of the positive ones."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.permutation(n) < n // 3


def made(kernel: Kernel = KERNELS[1], d: int = 4, **shape: int) -> Approximation:
    X, positive = rows(**shape)
    return Approximation.of_landmarks(kernel, X, X[:d], positive)


def matrices(approximation: Approximation) -> tuple[np.ndarray, np.ndarray]:
    V = approximation.features
    K: Any = approximation.truth
    return K.K, V @ V.T


# What the bounds ask of the two kernels.


@each("kernel", KERNELS)
def test_the_distances_are_those_of_a_double_loop(kernel: Kernel) -> None:
    a = made(kernel)
    K, near = matrices(a)
    pairs = [(i, j) for i in np.flatnonzero(a.positive) for j in np.flatnonzero(~a.positive)]

    def squares(G: np.ndarray) -> list[float]:
        return [G[i, i] + G[j, j] - 2 * G[i, j] for i, j in pairs]

    assert pytest.approx(np.sqrt(max(squares(K)))) == a.R
    assert pytest.approx(np.sqrt(max(squares(near)))) == a.Rp
    assert pytest.approx(np.sqrt(np.mean(squares(near)))) == a.R2
    assert a.R2 <= a.Rp <= a.R * (1 + 1e-12)


def test_the_eigenvalues_are_those_of_numpy() -> None:
    a = made()
    K, near = matrices(a)
    assert pytest.approx(np.linalg.norm(K - near, 2)) == a.E2
    assert a.lam_min.low <= np.linalg.eigvalsh(K)[0] <= a.lam_min.high
    assert a.lam_min.high - a.lam_min.low < 1e-13
    smallest = np.linalg.eigvalsh(near)[-a.features.shape[1]]
    assert a.lam_plus.low == pytest.approx(smallest, rel=1e-9)
    assert pytest.approx(1.0) == a.K_max


def test_matrices_and_landmarks_give_the_same_approximation() -> None:
    a = made()
    other = Approximation.of_matrices(*matrices(a), a.positive)
    for name in ("E2", "R", "Rp", "R2", "K_max"):
        assert getattr(other, name) == pytest.approx(getattr(a, name), rel=1e-9)
    assert other.lam_plus.low == pytest.approx(a.lam_plus.low, rel=1e-6)


@each("kernel", KERNELS)
def test_a_kernel_in_blocks_gives_the_same_numbers(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, positive = rows(n=30)
    held = Approximation.of_landmarks(kernel, X, X[:4], positive)
    monkeypatch.setattr("aucert.validation.bounds.kernel.BLOCK_BYTES", 8 * 20 * 3)
    streamed = Approximation(Gram.of_kernel(kernel, X, held=False), held.features, positive)
    for name in ("R", "Rp", "R2", "K_max"):
        assert getattr(streamed, name) == pytest.approx(getattr(held, name))
    assert held.E2 * (1 - 1e-9) <= streamed.E2 <= held.E2 / 0.79
    assert streamed.lam_min.low == 0.0
    assert held.lam_min.low <= streamed.lam_min.high <= held.lam_min.high + 1e-12
    c = np.where(positive, 1 / positive.sum(), -1 / (~positive).sum())
    assert streamed.error_form(c) == pytest.approx(held.error_form(c), rel=1e-6, abs=1e-9)


def test_the_cost_of_a_dual_point_is_its_quadratic_form_in_the_error() -> None:
    a = made()
    K, near = matrices(a)
    c = np.where(a.positive, 0.7 / a.sizes[0], -0.7 / a.sizes[1])
    form = c @ (K - near) @ c
    assert form <= a.error_form(c) <= form + 1e-12


def test_marginals_that_are_slightly_infeasible_are_paid_for() -> None:
    a = made()
    c = np.where(a.positive, 1 / a.sizes[0], -1 / a.sizes[1])
    excess = c + 1e-7 * (np.arange(a.n) == np.flatnonzero(a.positive)[0])
    root = np.sqrt(a.error_form(c))
    assert np.sqrt(a.error_form(excess)) >= root + 0.9e-7


def test_repeated_rows_make_the_kernel_singular() -> None:
    X, positive = rows()
    X[3] = X[0]
    for kernel in KERNELS:
        a = Approximation.of_landmarks(kernel, X, X[5:8], positive)
        assert a.lam_min == Interval(0.0, 0.0)
        again = Approximation.of_matrices(*matrices(a), positive)
        assert again.lam_min.low == 0.0


def test_a_linear_kernel_with_few_features_is_singular() -> None:
    assert made(Linear()).lam_min == Interval(0.0, 0.0)


def test_matrices_that_do_not_fit_are_refused() -> None:
    X, positive = rows()
    K = Gaussian(1.0)(X, X)
    features = nystrom_map(Gaussian(1.0), X[:3]).transform(X)
    with pytest.raises(InputError, match="from below"):
        Approximation.of_matrices(K, K + np.eye(14), positive)
    with pytest.raises(InputError, match="rows"):
        Approximation.of_matrices(K, np.eye(3), positive)
    with pytest.raises(InputError, match="zero"):
        Approximation.of_matrices(K, np.zeros((14, 14)), positive)
    with pytest.raises(InputError, match="boolean"):
        Approximation.of_matrices(K, features @ features.T, positive[:5])
    with pytest.raises(InputError, match="one class"):
        Approximation.of_landmarks(Gaussian(1.0), X, X[:3], np.ones(14, dtype=bool))


def test_marginals_of_no_alpha_are_refused() -> None:
    a = made()
    c = np.where(a.positive, 1 / a.sizes[0], -1 / a.sizes[1])
    with pytest.raises(InputError, match="no alpha"):
        a.error_form(2 * c)
    with pytest.raises(InputError, match="<= 0 on negative"):
        a.error_form(-c)
    with pytest.raises(InputError, match="14 finite numbers"):
        a.error_form(c[:3])
