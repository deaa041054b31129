"""Spaces given by a kernel matrix, held or streamed: the same numbers, honest bounds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from aucert.exact.certificate.certificate import Certificate, Minorant
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import LOSSES
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.problem import Ridge, pair_problem
from aucert.exact.spaces.gram import Gram, blocked_product, chain_of
from aucert.exact.spaces.kernels import Gaussian, Kernel, Laplacian, Linear
from aucert.exact.tools.rounding import LONG_UNIT, gamma
from loops import each, seeds

KERNELS: list[Kernel] = [Linear(), Gaussian(0.3), Laplacian(0.4)]


@given(seed=st.integers(0, 2**32), sparse=st.booleans())
@settings(max_examples=80, deadline=None)
def test_a_streamed_matrix_is_the_held_one(seed: int, sparse: bool) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 5))
    X = np.round(rng.normal(size=(n, d)), int(rng.integers(0, 5)))
    kernel = KERNELS[rng.integers(3)]
    held = Gram.of_kernel(kernel, X)
    streamed = Gram.of_kernel(kernel, sp.csr_matrix(X) if sparse else X, held=False)
    w, c = rng.normal(size=n) * (rng.uniform(size=n) < 0.7), rng.normal(size=n)
    c -= c.mean()
    size = held.reach**2 * float(np.abs(w).sum()) + 1e-9
    assert streamed.scores(w) == pytest.approx(held.scores(w), abs=1e-13 * size)
    assert streamed.careful_scores(w)[0] == pytest.approx(
        held.careful_scores(w)[0].astype(float), abs=1e-13 * size
    )
    larger = (held.reach * (np.abs(w).sum() + np.abs(c).sum())) ** 2 + 1e-9
    assert streamed.norm2(w) == pytest.approx(held.norm2(w), abs=1e-13 * larger)
    assert streamed.dual_norm2(c) == pytest.approx(held.dual_norm2(c), abs=1e-13 * larger)
    assert streamed.inner(w, c) == pytest.approx(held.inner(w, c), abs=1e-13 * larger)
    assert streamed.reach == pytest.approx(held.reach, rel=1e-14)
    assert np.array_equal(streamed.pull(c), held.pull(c))


def dyadic(seed: int) -> tuple[np.ndarray, Any, np.random.Generator]:
    """Return rows whose kernel matrix is exact in doubles, and that matrix in fractions."""
    rng = np.random.default_rng([7, seed])
    n = int(rng.integers(2, 9))
    X = np.round(rng.normal(size=(n, 2)) * 8) / 8
    if seed % 2:
        X += 1024.0
    rows = [[Fraction(x) for x in row] for row in X.tolist()]
    K = [[sum((x * z for x, z in zip(p, q, strict=True)), Fraction(0)) for q in rows] for p in rows]
    return X, K, rng


@each("make", [lambda X: Gram(X @ X.T), lambda X: Gram.of_kernel(Linear(), X, held=False)])
@each("seed", seeds(40))
def test_scores_and_norms_are_within_their_stated_rounding(
    seed: int, make: Callable[[np.ndarray], Gram]
) -> None:
    X, K, rng = dyadic(seed)
    space, n = make(X), len(X)
    null = np.linalg.svd(X.T)[2][-1] * 10.0 ** rng.integers(0, 9)  # cancels in K w
    w = rng.normal(size=n) + null
    exact = [Fraction(float(x)) for x in w]
    scores = [sum(k * x for k, x in zip(row, exact, strict=True)) for row in K]
    careful, error = space.careful_scores(w)
    plain, plain_error = space.scores(w), space.score_error(w)
    for k, true in enumerate(scores):
        high = float(careful[k])
        found = Fraction(high) + Fraction(float(careful[k] - np.longdouble(high)))
        assert abs(found - true) <= Fraction(float(error[k]))
        assert abs(Fraction(float(plain[k])) - true) <= Fraction(float(plain_error[k]))
    norm2 = sum(x * s for x, s in zip(exact, scores, strict=True))
    assert abs(Fraction(space.norm2(w)) - norm2) <= Fraction(space.norm2_error(w))
    assert abs(Fraction(space.dual_norm2(w)) - norm2) <= Fraction(space.dual_norm2_error(w))
    assert all(row[k] <= Fraction(space.reach) ** 2 for k, row in enumerate(K))


def test_blocked_products_bound_their_chain() -> None:
    rng = np.random.default_rng(3)
    K, w = rng.normal(size=(3, 1000)), rng.normal(size=1000)
    for values, unit in ((w, 2.0**-53), (w.astype(np.longdouble), LONG_UNIT)):
        found = blocked_product(K, values)
        assert found.dtype == values.dtype
        for row, score in zip(K, found, strict=True):
            true = sum(
                Fraction(a) * Fraction(b) for a, b in zip(row.tolist(), w.tolist(), strict=True)
            )
            high = float(score)
            exact = Fraction(high) + Fraction(float(score - np.longdouble(high)))
            size = float(np.abs(row) @ np.abs(w))
            assert abs(exact - true) <= Fraction(gamma(chain_of(1000), unit) * size * 1.0001)


@each(
    ("K", "message"),
    [
        (np.ones((2, 3)), "square"),
        (np.array([[1.0, 0.5], [0.2, 1.0]]), r"not symmetric: see entries \(0, 1\)"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), r"negative eigenvalue \(-1\).*add 2 to its diagonal"),
        (-np.eye(3), "negative eigenvalue"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "K has a value that is not finite in row 0"),
        (np.zeros((0, 0)), "empty"),
    ],
)
def test_a_matrix_that_is_no_kernel_is_refused(K: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Gram(K)


@each("rank", [1, 3, 30])
@each("scale", [1e-12, 1.0, 1e12])
def test_a_matrix_without_full_rank_is_accepted_at_any_scale(rank: int, scale: float) -> None:
    features = np.random.default_rng(4).normal(size=(120, rank)) * scale
    assert Gram(features @ features.T).n == 120


def test_an_eigenvalue_below_rounding_is_refused_and_its_cure_works() -> None:
    features = np.random.default_rng(5).normal(size=(30, 5))
    K = features @ features.T - 1e-9 * np.eye(30)
    with pytest.raises(InputError, match="negative eigenvalue") as caught:
        Gram(K)
    advised = float(str(caught.value).split("add ")[1].split(" to")[0])
    assert Gram(K + advised * np.eye(30)).n == 30


def test_rounding_stays_small_at_small_lam() -> None:
    """Coefficients are of size 1 / lam there, and their sums cancel."""
    rng = np.random.default_rng(6)
    X, positive = rng.normal(size=(600, 2)), np.arange(600) % 3 == 0
    space = Gram.of_kernel(Gaussian(1.0), X)
    problem = pair_problem(space, positive, AllPairs(), LOSSES["hinge"], Ridge(1e-6))
    witness = Minorant.from_scores(problem, np.zeros(600), scale=1e-3)
    found = Certificate.of(problem, witness.c / 1e-6, witness)
    assert np.abs(witness.c / 1e-6).sum() > 1000 and found.rounding < 1e-9 * found.primal
