from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx.landmarks import LANDMARKS, choose_landmarks
from aucert.approx.nystrom import Nystrom, nystrom_map
from aucert.exact.errors import InputError
from aucert.exact.spaces.kernels import Gaussian, Kernel, Laplacian, Linear
from loops import each, seeds

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=60) > 0
FRESH = RNG.normal(size=(25, 3)) * 2
KERNELS: list[Kernel] = [Gaussian(0.3), Laplacian(0.2), Linear()]


def naive(kernel: Kernel, A: np.ndarray, B: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return e(a)'W^+ e(b), the formula."""
    return kernel(A, Z) @ np.linalg.pinv(kernel(Z, Z), 1e-12, hermitian=True) @ kernel(Z, B)


@each("kernel", KERNELS, ids=str)
def test_the_kernel_of_the_features_is_the_formula_in_and_out_of_sample(kernel: Kernel) -> None:
    found = nystrom_map(kernel, X[:8])
    for A in (X, FRESH):
        wanted = naive(kernel, A, X, X[:8])
        features = found.transform(A) @ found.transform(X).T
        np.testing.assert_allclose(features, wanted, atol=1e-9)
        np.testing.assert_allclose(found(A, X), wanted, atol=1e-9)


@each("kernel", KERNELS, ids=str)
def test_with_all_rows_as_landmarks_the_kernel_is_exact(kernel: Kernel) -> None:
    found = nystrom_map(kernel, X)
    K = kernel(X, X)
    np.testing.assert_allclose(found(X, X), K, atol=1e-11 * K.max())
    np.testing.assert_allclose(found(X, FRESH), kernel(X, FRESH), atol=1e-5)
    assert found.residual(X).max() <= 1e-11 * K.max()


def ill_conditioned(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return landmarks of badly scaled features, some repeated, and rows near and far."""
    rng = np.random.default_rng(seed)
    d, p = int(rng.integers(2, 120)), int(rng.integers(1, 25))
    scale = 10.0 ** rng.uniform(-6, 0, size=p)
    Z = rng.normal(size=(d, p)) * scale
    if seed % 3 == 0:
        Z = Z[rng.integers(0, d, size=d)]
    near = Z + 1e-3 * rng.normal(size=Z.shape) * scale
    return Z, np.vstack([Z, near, 3 * rng.normal(size=(50, p)) * scale, rng.normal(size=(50, p))])


@each("kernel", [*KERNELS, Gaussian(0.01), Gaussian(10.0)], ids=str)
@each("seed", seeds(12))
def test_a_projection_lengthens_no_row(kernel: Kernel, seed: int) -> None:
    Z, rows = ill_conditioned(seed)
    found = nystrom_map(kernel, Z)
    assert (found.diagonal(rows) <= kernel.diagonal(rows) * (1 + 1e-10)).all()


@each("kernel", [*KERNELS, Gaussian(0.01), Gaussian(10.0)], ids=str)
@each("seed", seeds(12))
def test_no_function_is_longer_in_the_true_space_than_its_weights(
    kernel: Kernel, seed: int
) -> None:
    Z, _ = ill_conditioned(seed)
    found = nystrom_map(kernel, Z)
    true_norms = found.projection.T @ kernel(Z, Z) @ found.projection
    eigenvalues = np.linalg.eigvalsh(true_norms)
    assert eigenvalues[-1] <= 1 + 1e-12
    assert eigenvalues[0] >= 0.9  # and it is hardly shorter, even where W is nearly singular


def test_the_plain_pseudo_inverse_does_lengthen_rows() -> None:
    Z, rows = ill_conditioned(1)
    rows = np.vstack([rows, np.eye(Z.shape[1])])
    long = [np.diag(naive(Linear(), r[None], r[None], Z))[0] / (r @ r) for r in rows if r @ r > 0]
    assert max(long) > 1 + 1e-8
    found = nystrom_map(Linear(), Z)
    assert (found.diagonal(rows) <= (rows**2).sum(axis=1) * (1 + 1e-10)).all()


@each("method", LANDMARKS)
@each("kernel", KERNELS, ids=str)
def test_what_is_left_out_is_positive_semidefinite(kernel: Kernel, method: str) -> None:
    landmarks = choose_landmarks(method, X, 12, kernel, Y, 0).rows
    E = kernel(X, X) - nystrom_map(kernel, landmarks)(X, X)
    assert np.linalg.eigvalsh(E)[0] >= -1e-12 * np.abs(kernel(X, X)).max()
    found = nystrom_map(kernel, landmarks)
    np.testing.assert_allclose(found.residual(X), np.maximum(np.diag(E), 0), atol=1e-12)


def test_repeated_landmarks_change_nothing() -> None:
    once = nystrom_map(Gaussian(0.3), X[:8])
    twice = nystrom_map(Gaussian(0.3), X[[*range(8), 2, 2, 5]])
    assert twice.rank == once.rank == 8
    np.testing.assert_allclose(twice(X, FRESH), once(X, FRESH), atol=1e-10)


def test_the_cut_off_drops_eigenvalues_up_to_its_share_of_the_largest() -> None:
    W = Gaussian(0.3)(X, X)
    values = np.linalg.eigvalsh(W)[::-1]
    for rcond in (1e-12, 1e-6, 1e-2):
        found = nystrom_map(Gaussian(0.3), X, rcond)
        assert found.rank == int((values > rcond * values[0]).sum())
        np.testing.assert_allclose(found.eigenvalues, values[: found.rank], atol=1e-13 * values[0])
        dropped = np.sqrt(rcond * values[0])  # times |f|: what a function loses at a landmark
        assert np.sqrt(found.residual(X).max()) <= dropped * (1 + 1e-6)


@each("rcond", [0.0, 1.0, -1e-3, np.nan, "small"])
def test_a_cut_off_outside_its_range_is_refused(rcond: object) -> None:
    with pytest.raises(InputError, match="rcond must be"):
        nystrom_map(Gaussian(0.3), X, rcond)  # pyright: ignore[reportArgumentType]


def test_landmarks_that_span_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="span nothing"):
        nystrom_map(Linear(), np.zeros((3, 2)))
    with pytest.raises(InputError, match="landmarks has a value that is not finite"):
        nystrom_map(Linear(), [[np.inf]])
    with pytest.raises(InputError, match="not finite on the landmarks"):
        nystrom_map(Overflowing(), X)


class Overflowing(Linear):
    """A kernel that overflows."""

    def __call__(self, X: object, Z: object) -> np.ndarray:
        return np.full((60, 60), np.inf)


def test_a_function_is_a_sum_of_kernel_functions_of_the_landmarks() -> None:
    found = nystrom_map(Laplacian(0.2), X[:10])
    w = RNG.normal(size=found.rank)
    theta = found.coefficients(w)
    np.testing.assert_allclose(
        found.transform(FRESH) @ w, Laplacian(0.2)(FRESH, X[:10]) @ theta, rtol=1e-11
    )
    assert theta @ Laplacian(0.2)(X[:10], X[:10]) @ theta == pytest.approx(w @ w, rel=1e-11)


@each("kernel", KERNELS, ids=str)
def test_sparse_rows_and_landmarks_give_the_dense_features(kernel: Kernel) -> None:
    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = nystrom_map(kernel, thin[:8])(thin, thin)
    sparse = sp.csr_matrix(thin)
    for landmarks in (sparse[:8], thin[:8]):
        found = nystrom_map(kernel, landmarks).transform(sparse)
        np.testing.assert_allclose(found @ found.T, dense, atol=1e-9)


# The transformer.


def test_the_transformer_is_the_map_of_its_landmarks() -> None:
    model = Nystrom(gamma=0.4, n_landmarks=9, landmarks="stratified", random_state=3).fit(X, Y)
    chosen = choose_landmarks("stratified", X, 9, Gaussian(0.4), Y, 3)
    np.testing.assert_array_equal(model.landmark_indices_, chosen.index)
    np.testing.assert_array_equal(model.landmarks_, chosen.rows)
    wanted = nystrom_map(Gaussian(0.4), chosen.rows).transform(FRESH)
    np.testing.assert_array_equal(model.transform(FRESH), wanted)


def test_sparse_input_stays_sparse_in_the_landmarks() -> None:
    thin = sp.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    dense = Nystrom(n_landmarks=9, random_state=0).fit(thin.toarray())
    sparse = Nystrom(n_landmarks=9, random_state=0).fit(thin)
    assert sp.issparse(sparse.landmarks_)
    A, B = dense.transform(thin.toarray()), sparse.transform(thin)
    np.testing.assert_allclose(A @ A.T, B @ B.T, atol=1e-9)
