"""Kernels in 60 digits; matrices held, in blocks, tiles or factored; what they mean."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import aucert.exact as ac
import naive
from aucert.exact.formulation import formulation
from aucert.exact.spaces import factor, gram
from aucert.exact.spaces.factor import GramFactor, factor_gram, factor_kernel, rows_of
from aucert.exact.spaces.gram import Gram, blocked_product, chain_of, residual_norm, shortfall
from aucert.exact.spaces.kernels import (
    EXP_UNITS,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    get_kernel,
    lengths_of,
)
from aucert.exact.structured import ClassScatter, Structured
from aucert.exact.tools.rounding import LONG_UNIT, gamma
from decimal_losses import DIGITS, decimal, true_kernel
from loops import each, refuses, seeds

KERNELS: list[Kernel] = [Linear(), Gaussian(0.3), Laplacian(0.4)]
DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(90, 8))
Y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * DRAW.normal(size=90) > 0.3


def some_rows(rng: np.random.Generator) -> np.ndarray:
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 5))
    X = np.round(rng.normal(size=(n, d)), int(rng.integers(0, 6)))
    X = X[rng.integers(0, n, n)] if rng.integers(2) else X
    X[0, 0] += 2.0
    return X


def check_bounds(space: Gram, K: list[list[Fraction]], w: np.ndarray) -> None:
    exact, true = naive.exact(w), naive.products(K, naive.exact(w))
    for found, error in (space.careful_scores(w), (space.scores(w), space.score_error(w))):
        for one, bound, score in zip(found, error, true, strict=True):
            assert abs(naive.exact(one) - score) <= naive.exact(bound)
    norm2 = sum(x * s for x, s in zip(exact, true, strict=True))
    assert abs(naive.exact(space.norm2(w)) - norm2) <= naive.exact(space.norm2_error(w))
    dual = space.dual_norm2(w)
    assert (dual.value, dual.error) == (space.norm2(w), space.norm2_error(w))
    assert all(row[k] <= naive.exact(space.lengths[k]) ** 2 for k, row in enumerate(K))


@each("held", [True, False])
@each("seed", seeds(40))
def test_scores_and_norms_are_within_their_stated_rounding(seed: int, held: bool) -> None:
    rng = np.random.default_rng([7, seed])
    n = int(rng.integers(2, 9))
    X = np.round(rng.normal(size=(n, 2)) * 8) / 8 + 1024.0 * (seed % 2)  # K is exact in floats
    space = Gram(X @ X.T) if held else Gram.of_kernel(Linear(), X, held=False)
    null = np.linalg.svd(X.T)[2][-1] * 10.0 ** rng.integers(0, 9)  # cancels in K w
    rows = naive.exact(X)
    check_bounds(space, [naive.products(rows, row) for row in rows], rng.normal(size=n) + null)


def test_blocked_products_bound_their_chain() -> None:
    rng = np.random.default_rng(3)
    K, w = rng.normal(size=(3, 1000)), rng.normal(size=1000)
    for values, unit in ((w, 2.0**-53), (w.astype(np.longdouble), LONG_UNIT)):
        found, sizes = blocked_product(K, values), np.abs(K) @ np.abs(w)
        assert found.dtype == values.dtype
        true = naive.products(naive.exact(K), naive.exact(w))
        for one, score, size in zip(found, true, sizes, strict=True):
            bound = gamma(chain_of(1000), unit) * float(size) * 1.0001
            assert abs(naive.exact(one) - score) <= Fraction(bound)


def raised(gram: Gram, share: Fraction = Fraction(1)) -> list[list[Fraction]]:
    rows = naive.exact(gram.K)
    for k, row in enumerate(rows):
        row[k] += share * Fraction(gram.shift)
    return rows


@each("seed", seeds(45))
def test_the_matrix_that_is_meant_is_semidefinite_in_exact_arithmetic(seed: int) -> None:
    """Its least eigenvalue is zero to rounding: of either sign."""
    rng = np.random.default_rng([21, seed])
    n = int(rng.integers(3, 12))
    F = rng.normal(size=(n, int(rng.integers(1, n)))) * 10.0 ** rng.integers(-6, 7)
    K = F @ F.T if seed % 3 else Gaussian(0.01)(*[rng.normal(size=(n, 1))] * 2)
    K -= (seed % 3 == 1) * 3e-15 * float(np.abs(K).max()) / 4 * np.eye(n)
    before = K.copy()
    gram = Gram(K)
    assert naive.semidefinite(raised(gram)) and np.array_equal(K, before)
    assert np.array_equal(gram.K, (K + K.T) / 2)
    assert 0 <= gram.shift <= 16 * n * 2.0**-53 * np.abs(K).max()


@each("size", [1.0, 1e5])
@each("share", [Fraction(0), Fraction(1, 2), Fraction(1)])
def test_rounding_covers_every_matrix_up_to_the_shift(share: Fraction, size: float) -> None:
    """K has the eigenvalue -6e-14 along v: lam/2 w'K w would fall to -inf along it."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(40, 40)))[0]
    K = (Q * np.concatenate([[-6e-14], rng.uniform(0.5, 30, 39)])) @ Q.T
    gram = Gram((K + K.T) / 2)
    assert np.linalg.eigvalsh(gram.K)[0] < -1e-14 and gram.shift > 0
    v = naive.exact(Q[:, 0])
    products = naive.products(raised(gram), v)
    assert sum(x * y for x, y in zip(v, products, strict=True)) >= 0
    check_bounds(gram, raised(gram, share), Q[:, 0] * size)
    assert Gram(Gaussian(2.0)(X, X) + 1e-6 * np.eye(90)).shift == 0.0


@each("seed", seeds(20))
def test_the_residual_of_a_factor_is_bounded(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng([22, seed])
    n = int(rng.integers(2, 24))
    F = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-3, 3, n)
    monkeypatch.setattr(gram, "ROWS", int(rng.integers(3, 50)))
    A = (F @ F.T + (F @ F.T).T) / 2
    # A factor that is as good as can be, or one whose residual is clearly seen.
    L = np.tril(np.linalg.cholesky(A + 10.0 ** -rng.integers(8, 16) * np.trace(A) * np.eye(n)))
    exact_L = naive.exact(L)
    left = [
        [a - p for a, p in zip(row, naive.products(exact_L, line), strict=True)]
        for row, line in zip(naive.exact(A), exact_L, strict=True)
    ]
    bound, whole = Fraction(residual_norm(A, L)), sum(map(naive.norm2, left))
    assert whole <= bound**2, "it bounds the Frobenius norm"
    assert float(bound) <= 1.01 * float(whole) ** 0.5 + n * 2.0**-60 * np.trace(A), "and is that"
    L = np.tril(rng.normal(size=(30, 30)) * 10.0 ** rng.uniform(-8, 8, (30, 1)))
    H = gram._rounded(L)
    rows = naive.exact(H)  # products of the rounded factor are exact
    assert naive.exact(gram._exact_product(H, H)) == [naive.products(rows, row) for row in rows]


def test_what_is_missing_is_said_and_no_factor_is_no_proof() -> None:
    A = np.diag([1.0, 1.0, -1e-3])
    missing, spare = shortfall(A, 2e-3), shortfall(np.eye(3), -0.5)
    assert shortfall(A) is None and missing is not None and 0 <= missing < 1e-13
    assert spare is not None and spare < 0.5, "the identity is semidefinite by itself"


@each("rank", [1, 3, 30])
@each("scale", [1e-12, 1.0, 1e12])
def test_a_matrix_without_full_rank_is_accepted_at_any_scale(rank: int, scale: float) -> None:
    features = np.random.default_rng(4).normal(size=(120, rank)) * scale
    assert Gram(features @ features.T).n == 120
    K = features[:40] @ features[:40].T - 1e-9 * scale**2 * np.eye(40)
    if rank < 40 and scale == 1.0:  # an eigenvalue below rounding is refused, and its cure works
        with pytest.raises(ac.InputError, match="negative eigenvalue") as caught:
            Gram(K)
        advised = float(str(caught.value).split("add ")[1].split(" to")[0])
        assert Gram(K + advised * np.eye(40)).n == 40
    assert Gram(sp.identity(3)).norm2(np.ones(3)) == 3.0
    assert Gram(np.ones((3, 3))).norm2(np.array([1.0, -1.0, 0.0])) == 0.0
    assert Gram(np.zeros((2, 2))).reach == 0.0


def test_rounding_stays_small_at_small_lam() -> None:
    """Coefficients are of size 1 / lam there, and their sums cancel."""
    X, positive = np.random.default_rng(6).normal(size=(600, 2)), np.arange(600) % 3 == 0
    problem = ac.linear_problem(X, positive, 1e-6).over(Gram.of_kernel(Gaussian(1.0), X))
    witness = ac.Minorant.from_scores(problem, np.zeros(600), scale=1e-3)
    found = ac.Certificate.of(problem, witness.c / 1e-6, witness)
    assert np.abs(witness.c / 1e-6).sum() > 1000 and found.rounding < 1e-9 * found.primal


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formulation, "DENSE_LIMIT", 10)
    monkeypatch.setattr(factor, "PLAIN_FROM", 2)
    monkeypatch.setattr(factor, "PLAIN_RANK", 3.0)
    monkeypatch.setattr(gram, "SIDE", 16)
    monkeypatch.setattr(gram, "BLOCK_BYTES", 8 * 90 * 13)


@each("n", [1, 16, 17, 90])
@each("tol", [1e-9, 1e-3])
def test_products_of_tiles_are_those_of_the_matrix(n: int, tol: float, streamed: None) -> None:
    product, c = Gram.of_kernel(Gaussian(0.1), X[:n], held=False).product(tol), DRAW.normal(size=n)
    exact = Gaussian(0.1)(X[:n], X[:n]) @ c
    assert product(c) == pytest.approx(exact, abs=1e-13 if tol < 1e-6 else 1e-5)


def test_what_does_not_fit_in_memory_or_time_is_no_matrix(monkeypatch, streamed: None) -> None:
    product = Gram.of_kernel(Gaussian(0.1), X, held=False).product(1e-9, lambda: True)
    assert not product(np.ones(90)).any()
    found = ac.solve(X, Y, 1e-2, kernel="rbf", gamma=0.1, method="cutting-plane", max_time=1e-6)
    assert found.certificate.gap >= 0 and found.certificate.primal <= 1.0 + 1e-12
    assert gram.free_memory() > 0
    monkeypatch.setattr(gram, "free_memory", lambda: 4 * 0.5 * 90 * 106 / gram.SPARE + 8.0)
    assert gram.format_for(90, 1e-9) is np.float32  # double precision does not fit
    monkeypatch.setattr(gram, "free_memory", lambda: 10_000.0)
    said, asked = r"kernel matrix of 90 rows .* take landmarks", {"kernel": "rbf", "gamma": 0.1}
    refuses(said, ac.solve, X, Y, 1e-2, **asked, error=ac.TooLargeError)


@pytest.mark.long_digits
def test_plain_sums_state_their_rounding(streamed: None) -> None:
    rng = np.random.default_rng(4)
    space, whole = Gram.of_kernel(Gaussian(0.1), X, held=False), Gram.of_kernel(Gaussian(0.1), X)
    plain = space.plain()
    for w in rng.normal(size=(2, 90)):
        exact, error = whole.careful_scores(w)
        scores, bound = plain.careful_scores(w)
        assert np.all(np.abs(scores - exact) <= bound + error)
        assert plain.norm2_error(w) > space.norm2_error(w) > 0
        assert plain.norm2(w) == pytest.approx(whole.norm2(w), rel=1e-12)
        assert np.abs(plain.scores(w) * (1 + 1e-9) - whole.scores(w)).max() > bound.max()


def check_factor(factor: GramFactor, K: np.ndarray) -> None:
    top, F, P = float(np.diag(K).max()), factor.features, factor.pivots
    assert F @ F.T == pytest.approx(K, abs=1e-12 * top)
    assert F[P] @ F[P].T == pytest.approx(factor.L @ factor.L.T, abs=1e-12 * top)
    assert np.array_equal(factor.L, np.tril(factor.L)) and len(set(P.tolist())) == P.size
    assert (np.diag(K) - (F**2).sum(axis=1)).max() <= 1e-12 * top


@each("seed", seeds(60))
def test_the_factor_gives_the_kernel_back(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    X, kernel = some_rows(rng), KERNELS[seed % 3]
    K, held = kernel(X, X), factor_gram(kernel(X, X))
    check_factor(held, K)
    assert held.pivots.size <= len(np.unique(X, axis=0)), "a repeated row adds no feature"
    # Features of new rows continue those of the old ones.
    again, top = held.map(kernel(X, X[held.pivots])), float(np.diag(K).max())
    assert again @ again.T == pytest.approx(K, abs=1e-11 * top)
    # A function w of the features is a sum of kernels at the pivots, with the same norm.
    w = held.features.T @ rng.normal(size=len(X))
    theta = held.coefficients(w)
    size = float(np.abs(theta).sum()) * top + 1e-9
    assert np.flatnonzero(theta).size <= held.pivots.size
    assert K @ theta == pytest.approx(held.features @ w, abs=1e-11 * size)
    within = 1e-11 * size * np.abs(theta).max()
    assert theta @ K @ theta == pytest.approx(float(w @ w), abs=within)
    monkeypatch.setattr(factor, "DENSE_LIMIT", 0)  # a column at a time
    made = factor_kernel(kernel, X if seed % 2 else sp.csr_matrix(X))
    check_factor(made, K)
    assert np.array_equal(made.L, made.features[made.pivots])


def test_the_rank_can_be_bounded_and_many_columns_fit(monkeypatch) -> None:
    X = np.random.default_rng(1).normal(size=(270, 6))
    K, residuals = Gaussian(2.0)(X[:60, :2], X[:60, :2]), []
    for rank in (5, 10, 20):
        F = factor_gram(K, max_rank=rank).features
        assert F.shape == (60, rank)
        residuals.append(np.diag(K - F @ F.T).max())
    assert residuals[0] > residuals[1] > residuals[2] > 0
    monkeypatch.setattr(factor, "DENSE_LIMIT", 0)
    F = factor_kernel(Gaussian(2.0), X[:60, :2], max_rank=10).features
    assert np.diag(K - F @ F.T).max() == pytest.approx(residuals[1])
    full = factor_kernel(Laplacian(1.0), X)  # more than the 256 that are made room for at first
    check_factor(full, Laplacian(1.0)(X, X))
    assert full.pivots.size == 270
    refuses("zero on every row", factor_kernel, Linear(), np.zeros((3, 2)))


def test_sparse_rows_stay_where_dense_ones_would_be_many_more_numbers(monkeypatch) -> None:
    given: Any = {"format": "csr", "random_state": 1}
    sparse, fuller = (ac.Rows(sp.random(600, 2000, density, **given)) for density in (2e-3, 0.1))
    assert rows_of(sparse)[0] is sparse
    assert rows_of(sparse, few=True)[0].dim <= 600 and rows_of(fuller)[0].dim <= 600
    scatter = ClassScatter(np.arange(15) < 5, np.full(5, 0.2), np.full(10, 0.1))
    refuses("Structured has neither", rows_of, Structured(ac.Rows(X[:15]), scatter, 1.0))
    monkeypatch.setattr(factor, "SQUARE_LIMIT", 11)
    refuses("600 sparse rows of 2000 features", rows_of, sparse, error=ac.TooLargeError, few=True)


SHAPES = ((1, 1.0), (3, 1e-3), (3, 1e6), (65, 1.0), (65, 1e-3), (200, 1.0), (200, 1e6))


def hard_rows(rng: np.random.Generator, n: int, d: int, scale: float, kind: int) -> np.ndarray:
    """Return rows that are plain, far from the origin, repeated, or two tight clouds far apart."""
    X = rng.normal(size=(n, d))
    X[rng.random((n, d)) < 0.2] = 0.0
    near, first = rng.integers(0, max(n // 2, 1), n), (np.arange(n) < n // 2)[:, None]
    copies = X[near] + 1e-7 * (np.arange(n) == 0)[:, None]
    return scale * (X, X + 1e6, copies, 1e-4 * X + 1e4 * first)[kind]


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
            assert noise < 1e-11
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
    for exponent, value in zip(x.tolist(), np.exp(x).tolist(), strict=True):
        true = DIGITS.exp(Decimal(exponent))
        assert abs(Decimal(value) - true) / true <= Decimal(EXP_UNITS) / 2 * Decimal(2) ** -53


def test_kernels_have_names_and_a_width_above_zero() -> None:
    assert get_kernel("linear") == Linear() and get_kernel("rbf", 2.0) == Gaussian(2.0)
    assert get_kernel("laplacian", dim=5) == Laplacian(0.2)
    bad: Any
    for bad in (0.0, -1.0, np.nan, np.inf, True, "1", None):
        for kind in (Gaussian, Laplacian):
            refuses("gamma must be", kind, bad)
    refuses("needs a gamma", get_kernel, "rbf")
    for kernel in (Gaussian(1.0), Laplacian(1.0), Linear()):
        refuses("so large", formulation.true_space, kernel, np.array([[1e200], [0.0]]))


@pytest.mark.filterwarnings("error")
@each("kernel", [Gaussian, Laplacian])
@each("gamma", [1e300, 1e308, 1.7e308])
def test_a_gamma_near_the_largest_float_has_a_bound(kernel: type, gamma: float) -> None:
    """gamma times a distance overflows, and so did gamma times what underflow takes from one."""
    X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [0.0, 1.0]])
    np.testing.assert_array_equal(kernel(gamma)(X, X), np.eye(4))
    assert 0 < kernel(gamma).noise(X) <= 1
    name = "rbf" if kernel is Gaussian else "laplacian"
    found = ac.solve(X, [0, 1, 1, 0], 0.01, kernel=name, gamma=gamma).certificate
    assert found.dual <= 0.005 <= found.primal
