"""A matrix that is said to be semidefinite is so in exact arithmetic, whoever rounds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import aucert.exact.spaces.gram as semidefinite
import naive
from aucert.exact.spaces.gram import Gram, residual_norm, shortfall
from aucert.exact.spaces.kernels import Gaussian
from loops import each, seeds


def is_semidefinite(A: list[list[Fraction]]) -> bool:
    """Whether elimination in fractions meets no negative pivot, nor a zero one with a rest."""
    A = [list(row) for row in A]
    n = len(A)
    for k in range(n):
        if A[k][k] < 0 or (A[k][k] == 0 and any(A[k][k + 1 :])):
            return False
        if A[k][k] == 0:
            continue
        for i in range(k + 1, n):
            factor = A[i][k] / A[k][k]
            for j in range(i, n):
                A[i][j] -= factor * A[k][j]
                A[j][i] = A[i][j]
    return True


def nearly_singular(seed: int) -> np.ndarray:
    """Matrices whose least eigenvalue is zero to rounding: of either sign."""
    rng = np.random.default_rng([21, seed])
    n = int(rng.integers(3, 12))
    if seed % 3 == 0:
        return Gaussian(0.01)(*[rng.normal(size=(n, 1))] * 2)
    F = rng.normal(size=(n, int(rng.integers(1, n)))) * 10.0 ** rng.integers(-6, 7)
    K = F @ F.T
    if seed % 3 == 1:
        K -= 3e-15 * float(np.abs(K).max()) / 4 * np.eye(n)
    return K


def raised(gram: Gram) -> list[list[Fraction]]:
    """Return K + shift I in fractions."""
    rows = naive.exact(gram.K)
    for k, row in enumerate(rows):
        row[k] += Fraction(gram.shift)
    return rows


@each("seed", seeds(45))
def test_the_matrix_that_is_meant_is_semidefinite_in_exact_arithmetic(seed: int) -> None:
    K = nearly_singular(seed)
    gram = Gram(K)
    assert is_semidefinite(raised(gram))
    assert np.array_equal(gram.K, (K + K.T) / 2)
    assert 0 <= gram.shift <= 16 * len(K) * 2.0**-53 * np.abs(K).max()


def least_vector() -> tuple[np.ndarray, np.ndarray]:
    """Return a matrix with the eigenvalue -6e-14 and its eigenvector."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(40, 40)))[0]
    values = np.concatenate([[-6e-14], rng.uniform(0.5, 30, 39)])
    K = (Q * values) @ Q.T
    return (K + K.T) / 2, Q[:, 0]


def test_a_negative_eigenvalue_at_rounding_level_does_not_leave_the_objective_unbounded() -> None:
    """K has the eigenvalue -6e-14 along v, so that lam/2 w'K w -> -inf along it."""
    K, v = least_vector()
    assert np.linalg.eigvalsh(K)[0] < -1e-14
    gram, v = Gram(K), naive.exact(v)
    assert gram.shift > 0
    products = naive.products(raised(gram), v)
    assert sum(x * y for x, y in zip(v, products, strict=True)) >= 0


@each("size", [1.0, 1e5])
@each("share", [Fraction(0), Fraction(1, 2), Fraction(1)])
def test_the_stated_rounding_covers_every_matrix_up_to_the_shift(
    share: Fraction, size: float
) -> None:
    """Scores, norms and pulls of K + t I, with w along the eigenvector of -6e-14."""
    K, v = least_vector()
    gram, w = Gram(K), v * size
    rows, exact_w = naive.exact(K), naive.exact(w)
    for k, row in enumerate(rows):
        row[k] += share * Fraction(gram.shift)
    scores = naive.products(rows, exact_w)
    found, error = gram.careful_scores(w)
    plain, plain_error = gram.scores(w), gram.score_error(w)
    for k, true in enumerate(scores):
        assert abs(naive.exact(found[k]) - true) <= naive.exact(error[k])
        assert abs(naive.exact(plain[k]) - true) <= naive.exact(plain_error[k])
        assert rows[k][k] <= naive.exact(gram.lengths[k]) ** 2
    norm2 = sum(x * s for x, s in zip(exact_w, scores, strict=True))
    assert abs(naive.exact(gram.norm2(w)) - norm2) <= naive.exact(gram.norm2_error(w))
    assert abs(naive.exact(gram.dual_norm2(w)) - norm2) <= naive.exact(gram.dual_norm2_error(w))


def test_a_clearly_definite_matrix_is_meant_as_it_is() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    assert Gram(Gaussian(2.0)(X, X) + 1e-6 * np.eye(200)).shift == 0.0


@each("seed", seeds(20))
def test_the_residual_is_bounded(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng([22, seed])
    n = int(rng.integers(2, 40))
    F = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-3, 3, n)
    monkeypatch.setattr(semidefinite, "ROWS", int(rng.integers(3, 50)))
    A = F @ F.T
    A = (A + A.T) / 2
    # A factor that is as good as can be, or one whose residual is clearly seen.
    L = np.tril(np.linalg.cholesky(A + 10.0 ** -rng.integers(8, 16) * np.trace(A) * np.eye(n)))
    exact_L = naive.exact(L)
    products = [naive.products(exact_L, row) for row in exact_L]
    left = [
        [a - p for a, p in zip(row, line, strict=True)]
        for row, line in zip(naive.exact(A), products, strict=True)
    ]
    bound = Fraction(residual_norm(A, L))
    # |left| in norm is at most its Frobenius norm, and at least any |left v| / |v|.
    v = naive.exact(np.linalg.eigh(np.array(left, dtype=float))[1][:, -1])
    for vector in (v, naive.exact(np.linalg.eigh(np.array(left, dtype=float))[1][:, 0])):
        image = naive.products(left, vector)
        assert naive.norm2(image) <= bound**2 * naive.norm2(vector)
    whole = sum(x * x for row in left for x in row)
    assert whole <= bound**2, "it bounds the Frobenius norm"
    assert float(bound) <= 1.01 * float(whole) ** 0.5 + n * 2.0**-60 * np.trace(A), "and is that"


def test_products_of_the_rounded_factor_are_exact() -> None:
    rng = np.random.default_rng(23)
    L = np.tril(rng.normal(size=(60, 60)) * 10.0 ** rng.uniform(-8, 8, (60, 1)))
    H = naive.exact(semidefinite._rounded(L))
    found = naive.exact(
        semidefinite._exact_product(semidefinite._rounded(L), semidefinite._rounded(L))
    )
    assert found == [naive.products(H, row) for row in H]


def test_what_is_missing_is_said_and_no_factor_is_no_proof() -> None:
    A = np.diag([1.0, 1.0, -1e-3])
    assert shortfall(A) is None
    missing = shortfall(A, 2e-3)
    assert missing is not None and 0 <= missing < 1e-13
    spare = shortfall(np.eye(3), -0.5)
    assert spare is not None and spare < 0.5, "the identity is semidefinite by itself"
