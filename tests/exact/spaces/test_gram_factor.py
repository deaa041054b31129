"""The factor of a kernel: features that give the kernel back, and reach new rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import aucert.exact.spaces.factor as factor_module
from aucert.exact.errors import InputError, TooLargeError
from aucert.exact.spaces.factor import GramFactor, factor_gram, factor_kernel, rows_of
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.kernels import Gaussian, Kernel, Laplacian, Linear
from aucert.exact.spaces.rows import Rows
from aucert.exact.structured import ClassScatter, Structured
from loops import each

KERNELS: list[Kernel] = [Linear(), Gaussian(0.5), Laplacian(0.3)]


def some_rows(rng: np.random.Generator) -> np.ndarray:
    """Return rows with ties and repetitions now and then."""
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 5))
    X = np.round(rng.normal(size=(n, d)), int(rng.integers(0, 6)))
    X = X[rng.integers(0, n, n)] if rng.integers(2) else X
    X[0, 0] += 2.0
    return X


def check_factor(factor: GramFactor, K: np.ndarray) -> None:
    """K is given back, by features, pivots and L alike."""
    top = float(np.diag(K).max())
    F, P = factor.features, factor.pivots
    assert F @ F.T == pytest.approx(K, abs=1e-12 * top)
    assert F[P] @ F[P].T == pytest.approx(factor.L @ factor.L.T, abs=1e-12 * top)
    assert np.array_equal(factor.L, np.tril(factor.L)) and len(set(P.tolist())) == P.size
    assert 0 <= factor.residual <= 1e-12 * top
    left = np.diag(K) - (F**2).sum(axis=1)
    assert left.max() <= factor.residual + 1e-14 * top


@pytest.mark.slow
@given(seed=st.integers(0, 2**32))
@settings(max_examples=80, deadline=None)
def test_the_factor_gives_the_kernel_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, kernel = some_rows(rng), KERNELS[rng.integers(3)]
    factor = factor_gram(kernel(X, X))
    check_factor(factor, kernel(X, X))
    assert factor.pivots.size <= len(np.unique(X, axis=0)), "a repeated row adds no feature"
    # Features of new rows continue those of the old ones.
    again = factor.map(kernel(X, X[factor.pivots]))
    again_K, top = again @ again.T, float(np.diag(kernel(X, X)).max())
    assert again_K == pytest.approx(kernel(X, X), abs=1e-11 * top)
    # A function w of the features is a sum of kernels at the pivots, with the same norm.
    w = factor.features.T @ rng.normal(size=len(X))
    theta = factor.coefficients(w)
    assert np.flatnonzero(theta).size <= factor.pivots.size
    size = float(np.abs(theta).sum()) * top + 1e-9
    assert kernel(X, X) @ theta == pytest.approx(factor.features @ w, abs=1e-11 * size)
    assert theta @ kernel(X, X) @ theta == pytest.approx(
        float(w @ w), abs=1e-11 * size * np.abs(theta).max()
    )


@pytest.mark.slow
@given(seed=st.integers(0, 2**32), sparse=st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_column_at_a_time_gives_the_same_factor(seed: int, sparse: bool) -> None:
    rng = np.random.default_rng(seed)
    X, kernel = some_rows(rng), KERNELS[rng.integers(3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factor_module, "DENSE_LIMIT", 0)
        found = factor_kernel(kernel, sp.csr_matrix(X) if sparse else X)
    check_factor(found, kernel(X, X))
    assert np.array_equal(found.L, found.features[found.pivots])


@pytest.mark.slow
def test_many_columns_fit() -> None:
    """More than the 256 that are made room for at first."""
    X = np.random.default_rng(0).normal(size=(300, 6))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factor_module, "DENSE_LIMIT", 0)
        found = factor_kernel(Laplacian(1.0), X)
    assert found.pivots.size == 300
    check_factor(found, Laplacian(1.0)(X, X))


@pytest.mark.slow
def test_columns_in_blocks_take_hardly_more_of_them() -> None:
    """Smooth kernels: neighbours of a pivot are spent with it, and must not be pivots too."""
    X = np.random.default_rng(1).normal(size=(700, 2))
    one = factor_gram(Gaussian(0.5)(X, X))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factor_module, "DENSE_LIMIT", 0)
        many = factor_kernel(Gaussian(0.5), X)
    check_factor(many, Gaussian(0.5)(X, X))
    assert many.pivots.size <= 1.05 * one.pivots.size


def test_the_rank_can_be_bounded_and_the_residual_says_what_is_lost() -> None:
    X = np.random.default_rng(1).normal(size=(60, 2))
    K = Gaussian(2.0)(X, X)
    residuals = []
    for rank in (5, 10, 20):
        factor = factor_gram(K, max_rank=rank)
        assert factor.features.shape == (60, rank)
        left = np.diag(K - factor.features @ factor.features.T)
        assert factor.residual == pytest.approx(left.max(), abs=1e-14)
        residuals.append(factor.residual)
    assert residuals[0] > residuals[1] > residuals[2] > 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factor_module, "DENSE_LIMIT", 0)
        assert factor_kernel(Gaussian(2.0), X, max_rank=10).residual == pytest.approx(residuals[1])


def test_a_kernel_that_is_zero_or_not_finite_is_refused() -> None:
    with pytest.raises(InputError, match="diagonal entry > 0"):
        factor_gram(np.zeros((3, 3)))
    with pytest.raises(InputError, match="finite"):
        factor_gram(np.array([[1.0, np.nan], [np.nan, 1.0]]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factor_module, "DENSE_LIMIT", 0)
        with pytest.raises(InputError, match="zero on every row"):
            factor_kernel(Linear(), np.zeros((3, 2)))


# Rows for every space


def check_rows(space: Rows | Gram, few: bool) -> None:
    """The rows have the functions of the space: scores up to a constant, and norms."""
    rows, lift, _ = rows_of(space, few)
    rng = np.random.default_rng(3)
    c = rng.normal(size=space.n)
    c -= c.mean()
    w = rows.pull(c)  # every point of a solver is of this kind
    lifted = lift(w)
    assert lifted.shape == (space.dim,)
    one, two = rows.scores(w), space.scores(lifted)
    assert one - one.mean() == pytest.approx(two - two.mean(), abs=1e-8)
    assert space.norm2(lifted) == pytest.approx(rows.norm2(w), rel=1e-8)
    assert space.dual_norm2(c) == pytest.approx(rows.dual_norm2(c), rel=1e-8)


X = np.random.default_rng(2).normal(size=(15, 4))
WIDE = np.random.default_rng(2).normal(size=(12, 40)) + 5.0
WIDE[11] = 2 * WIDE[0] - 3 * WIDE[1]


@each("few", [False, True])
@each(
    "space",
    [
        Rows(X),
        Rows(sp.csr_matrix(X)),
        Rows(WIDE),
        Rows(sp.csr_matrix(WIDE)),
        Gram(X @ X.T),
        Gram(Gaussian(0.5)(X, X)),
        Gram.of_kernel(Gaussian(0.5), X, held=False),
    ],
    ids=["dense", "sparse", "wide", "wide-sparse", "rank-deficient", "gaussian", "streamed"],
)
def test_every_space_has_rows_with_the_same_functions(space: Rows | Gram, few: bool) -> None:
    check_rows(space, few)


def test_rows_are_changed_only_where_there_are_more_features_than_rows() -> None:
    for space in (Rows(X), Rows(sp.csr_matrix(X))):
        assert rows_of(space)[0] is space
    for space in (Rows(WIDE), Rows(sp.csr_matrix(WIDE))):
        assert rows_of(space)[0].dim <= 12


def test_sparse_rows_stay_where_dense_ones_would_be_many_more_numbers() -> None:
    sparse = Rows(sp.random(600, 2000, density=2e-3, format="csr", random_state=1))
    assert rows_of(sparse)[0] is sparse
    assert rows_of(sparse, few=True)[0].dim <= 600
    fuller = Rows(sp.random(600, 2000, density=0.1, format="csr", random_state=1))
    assert rows_of(fuller)[0].dim <= 600


def test_spaces_without_rows_and_matrices_past_memory_are_refused() -> None:
    scatter = ClassScatter(np.arange(15) < 5, np.full(5, 0.2), np.full(10, 0.1))
    with pytest.raises(InputError, match="Structured has neither"):
        rows_of(Structured(Rows(X), scatter, 1.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factor_module, "SQUARE_LIMIT", 11)
        with pytest.raises(TooLargeError, match="12 sparse rows of 40 features"):
            rows_of(Rows(sp.csr_matrix(WIDE)), few=True)
