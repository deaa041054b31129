"""SAUC-SVM's structure: R, whitened rows, the structured norm, and four roads to one kernel."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from aucert.exact import structured
from aucert.exact.errors import TooLargeError
from aucert.exact.formulation import formulation, request
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.spaces import gram, kernels
from aucert.exact.spaces.rows import Rows, Space
from aucert.exact.structured import (
    ClassScatter,
    Structured,
    class_scatter,
    deformed_gram,
    direct_gram,
    whitened,
    whitener,
)
from loops import each, refuses, seeds
from problems import some_labels, some_pairs


def whole_pairs(rng: np.random.Generator, positive: np.ndarray) -> AllPairs:
    pairs = some_pairs(rng, positive)
    return pairs if isinstance(pairs, AllPairs) else AllPairs()


def dense(pairs: AllPairs | PairList, positive: np.ndarray) -> np.ndarray:
    return np.array(naive.scatter(pairs, positive), dtype=float)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_R_is_the_covariance_of_the_pair_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    positive = some_labels(rng, n)
    pairs = whole_pairs(rng, positive)
    scatter, R = class_scatter(positive, pairs), dense(pairs, positive)
    root, values = scatter.root(), rng.normal(size=n)
    for found in (scatter.times(np.eye(n)), root @ root.T):
        assert found == pytest.approx(R, abs=1e-13)
    assert scatter.times(values) == pytest.approx(R @ values, abs=1e-13)
    assert R @ scatter.centre(values) == pytest.approx(R @ values, abs=1e-13)
    assert (scatter.size(values) >= np.abs(R @ values) - 1e-13).all()
    assert np.linalg.eigvalsh(np.diag(scatter.mass()) - R)[0] >= -1e-13


def test_the_structure_of_listed_pairs_comes_from_all_rows() -> None:
    positive = np.arange(6) < 2
    few, values = PairList(np.array([0, 1]), np.array([2, 3])), np.arange(6.0) ** 2
    listed, every = class_scatter(positive, few), class_scatter(positive)
    np.testing.assert_array_equal(listed.times(values), every.times(values))


STRUCTURES = (1e-3, 0.3, 1.0, 50.0, 1e3)


def rows_and_scatter(seed: int, sparse: bool) -> tuple[Rows, ClassScatter, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 5)) * 10.0 ** rng.uniform(-2, 2, 5)
    X[rng.uniform(size=X.shape) < 0.5] = 0.0
    positive = np.arange(40) < 11
    pairs, moved = whole_pairs(rng, positive), X - X.mean(axis=0)
    sigma = moved.T @ dense(pairs, positive) @ moved
    return Rows(sp.csr_matrix(X) if sparse else X), class_scatter(positive, pairs), moved, sigma


@each("structure", STRUCTURES)
@each("sparse", [False, True])
@each("seed", seeds(4))
def test_whitened_rows_have_the_inverse_root(seed: int, sparse: bool, structure: float) -> None:
    space, scatter, X, sigma = rows_and_scatter(seed, sparse)
    rng, M = np.random.default_rng(seed), np.eye(5) + structure * sigma
    L, white = whitener(space, scatter, structure), whitened(space, scatter, structure)
    assert L @ L.T == pytest.approx(M, rel=1e-10, abs=1e-12)
    dense = white.dense()
    assert dense @ dense.T == pytest.approx(X @ np.linalg.solve(M, X.T), rel=1e-9, abs=1e-11)
    w, c = rng.normal(size=5), rng.normal(size=40)
    c -= c.mean()
    back = white.to_input(w)
    assert float(w @ w) == pytest.approx(float(back @ M @ back), rel=1e-9)
    assert white.scores(w) == pytest.approx(X @ back, rel=1e-9, abs=1e-10)
    assert white.pull(c) == pytest.approx(dense.T @ c, rel=1e-9, abs=1e-10)
    assert white.rows(np.array([3, 17])) == pytest.approx(dense[[3, 17]], abs=1e-12)


@each("structure", [1e300, 1e308])
@each("kernel", ["linear", "rbf"])
@each("form", [np.asarray, sp.csr_matrix])
def test_a_structure_that_leaves_nothing_of_the_rows_is_named(structure, kernel, form) -> None:
    X = form(3 * np.random.default_rng(0).normal(size=(12, 3)))
    asked = request.Request.of(0.1, kernel=kernel, structure=structure)
    said = r"structure = 1e\+30. is too large .* lower it"
    refuses(said, formulation.formulate, X, np.arange(12) % 2, asked)


def test_rows_too_large_to_be_whitened_are_refused(monkeypatch) -> None:
    three, wide = class_scatter(np.arange(3) < 1), Rows(sp.csr_matrix(np.eye(3, 10_001)))
    refuses("10001 features", whitener, wide, three, 1.0, error=TooLargeError)
    far = Rows(np.outer(np.arange(3.0), np.ones(4)) * 1e10)
    refuses("scale the features", whitener, far, three, 1e10)
    monkeypatch.setattr(structured, "FEATURE_NUMBERS", 23)
    few, of = Rows(sp.csr_matrix(np.eye(8, 3))), class_scatter(np.arange(8) < 3)
    refuses("8 sparse rows of 3 features dense", whitened, few, of, 1.0, error=TooLargeError)


def exact_case(seed: int) -> tuple[Structured, list, list, np.ndarray, float]:
    rng = np.random.default_rng([5, seed])
    n, d = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    positive = some_labels(rng, n)
    X = np.round(rng.normal(size=(n, d)) * 8) / 8 * 2.0 ** rng.integers(-6, 7)
    if seed % 3 == 0:
        X += 2.0**14  # a common offset costs digits, and the bounds have to say how many
    pairs = whole_pairs(rng, positive)
    structure = float(2.0 ** rng.integers(-10, 11))
    grams = (gram.Gram.of_kernel(kernels.Linear(), X, held=held) for held in (True, False))
    spaces: list[Space] = [Rows(X), *grams, Rows(sp.csr_matrix(X))]
    space = Structured(spaces[seed % 4], class_scatter(positive, pairs), structure)
    rows = naive.exact(X)
    K = [naive.products(rows, row) for row in rows]
    return space, K, naive.scatter(pairs, positive), X, structure


@each("seed", seeds(120))
def test_norms_and_dual_bounds_are_within_their_stated_rounding(seed: int) -> None:
    space, K, R, X, structure = exact_case(seed)
    n, rng = space.n, np.random.default_rng(seed)
    w = rng.normal(size=space.dim) / max(float(np.abs(X).max()), 1e-9)
    exact_w = naive.exact(w)
    if isinstance(space.base, Rows):
        rows = naive.moved(X, space.base.offset)
        scores, norm2 = naive.products(rows, exact_w), naive.norm2(exact_w)
    else:
        scores = naive.products(K, exact_w)
        norm2 = sum(v * s for v, s in zip(exact_w, scores, strict=True))
    spread = sum(a * b for a, b in zip(scores, naive.products(R, scores), strict=True))
    true = norm2 + Fraction(structure) * spread
    assert abs(Fraction(space.norm2(w)) - true) <= Fraction(space.norm2_error(w))
    c = naive.exact(np.round(rng.normal(size=n) * 16) / 16)
    c[-1] -= sum(c)
    RK = [naive.products(K, row) for row in R]  # K is symmetric
    system = (np.eye(n, dtype=int) + Fraction(structure) * np.array(RK)).tolist()
    theta = naive.solved(system, c)
    true = sum(a * b for a, b in zip(c, naive.products(K, theta), strict=True))
    found = space.dual_norm2(np.array(c, dtype=float))
    bound, error = Fraction(found.value), Fraction(found.error)
    assert bound + error >= true
    assert bound <= true + error + Fraction(1e-9) * true, "loose"


N = 120
X = np.random.default_rng(0).normal(size=(N, 4)) + (np.arange(N) < 4)[:, None]


def true_gram(F: np.ndarray, positive: np.ndarray, structure: float) -> np.ndarray:
    """Return F (I + structure Sigma)^{-1} F' by its definition, [SAUC, eq. (8)]."""
    Sigma = sum(np.cov(F[side].T, ddof=0) for side in (positive, ~positive))
    return F @ np.linalg.solve(np.eye(F.shape[1]) + structure * Sigma, F.T)


def error(G: np.ndarray, truth: np.ndarray) -> float:
    """Largest difference, relative to the largest entry of the (small) deformed kernel."""
    return float(np.abs(G - truth).max() / np.abs(truth).max())


@each("structure", STRUCTURES)
@each("n_pos", [4, 60])
@each("kernel", ["linear", "rbf"])
def test_four_routes_agree(kernel: str, n_pos: int, structure: float) -> None:
    """Direct, pseudo-inverse, root and whitening, at 4:116 and 60:60."""
    positive, F = np.arange(N) < n_pos, X - X.mean(axis=0)
    scatter, K = class_scatter(positive), F @ F.T
    if kernel == "rbf":
        K = kernels.Gaussian(0.5)(X, X)
        values, vectors = np.linalg.eigh(K)
        F = vectors * np.sqrt(np.maximum(values, 0))
    truth = true_gram(F, positive, structure)
    white = whitened(Rows(F), scatter, structure).dense()
    H = np.eye(N) - 1 / N  # whitened rows are centred
    routes = {
        "direct": error(direct_gram(F, scatter, structure), truth),
        "pinv": error(deformed_gram(K, scatter, structure, "pinv"), truth),
        "root": error(deformed_gram(K, scatter, structure), truth),
        "whitening": error(white @ white.T, H @ truth @ H),
    }
    assert max(routes.values()) < 1e-9, routes
    assert max(routes["root"], routes["whitening"]) < 1e-11, routes
