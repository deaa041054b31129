"""Whitened rows: the structured norm as a plain one, dense or as an operator on sparse rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.errors import InputError, TooLargeError
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.spaces.rows import Rows
from aucert.exact.structured import Scatter, SparseWhitened, scatter_of, whitened, whitener
from loops import each, seeds
from structures import dense_scatter, fraction_solve, some_pairs

STRUCTURES = (1e-3, 0.3, 1.0, 50.0, 1e3)


def rows_and_scatter(seed: int, sparse: bool) -> tuple[Rows, Scatter, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 5)) * 10.0 ** rng.uniform(-2, 2, 5)
    X[rng.uniform(size=X.shape) < 0.5] = 0.0
    positive = np.arange(40) < 11
    scatter = scatter_of(some_pairs(rng, positive), positive, "sampled")
    return Rows(sp.csr_matrix(X) if sparse else X), scatter, X - X.mean(axis=0)


@each("structure", STRUCTURES)
@each("sparse", [False, True])
@each("seed", seeds(4))
def test_whitened_rows_are_the_rows_times_the_inverse_root(
    seed: int, sparse: bool, structure: float
) -> None:
    space, scatter, X = rows_and_scatter(seed, sparse)
    rng = np.random.default_rng(seed)
    M = np.eye(5) + structure * X.T @ dense_scatter(scatter, 40) @ X
    L = whitener(space, scatter, structure)
    product = L @ L.T
    assert product == pytest.approx(M, rel=1e-10, abs=1e-12)
    white = whitened(space, scatter, structure)
    assert white.dense() @ white.dense().T == pytest.approx(
        X @ np.linalg.solve(M, X.T), rel=1e-9, abs=1e-11
    )
    w, c = rng.normal(size=5), rng.normal(size=40)
    c -= c.mean()
    back = white.to_input(w)
    assert float(w @ w) == pytest.approx(float(back @ M @ back), rel=1e-9)
    assert white.scores(w) == pytest.approx(X @ back, rel=1e-9, abs=1e-10)
    assert white.pull(c) == pytest.approx(white.dense().T @ c, rel=1e-9, abs=1e-10)
    assert white.dual_norm2(c) == pytest.approx(float(c @ white.dense() @ white.pull(c)), rel=1e-9)
    assert white.rows(np.array([3, 17])) == pytest.approx(white.dense()[[3, 17]], abs=1e-12)
    assert (white.norms >= np.linalg.norm(white.dense(), axis=1)).all()
    scores, error = white.careful_scores(w)
    assert (np.abs(scores - X @ back) <= error + 1e-10 * np.abs(scores)).all()


def test_whitening_keeps_sparse_rows_sparse() -> None:
    space, scatter, _ = rows_and_scatter(0, True)
    white = whitened(space, scatter, 2.0)
    assert isinstance(white, SparseWhitened) and white.is_sparse and sp.issparse(white.base.X)


@each(("structure", "scale"), [(0.3, 1.0), (1e3, 1.0), (1e6, 1.0), (0.3, 1e4), (1e3, 1e4)])
@each("seed", seeds(10))
def test_stated_errors_of_sparse_whitened_rows_cover_the_solves_with_L(
    seed: int, structure: float, scale: float
) -> None:
    """Against exact rational solves with the same L."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(7, 3)) * 8) * (rng.uniform(size=(7, 3)) < 0.7)
    X[:, 2] = X[:, 1] * scale + X[:, 2]  # an ill-conditioned L
    positive = np.arange(7) < 3
    space = Rows(sp.csr_matrix(X))
    white = whitened(space, scatter_of(AllPairs(), positive), structure)
    assert isinstance(white, SparseWhitened)
    w, c = rng.normal(size=3), np.array([1.0, 2, 1, -1, -1, -1, -1])
    exact_L = [[Fraction(float(x)) for x in row] for row in white.L]
    offset = [Fraction(float(x)) for x in space.offset]
    rows = [[Fraction(float(x)) - o for x, o in zip(row, offset, strict=True)] for row in X]
    back = fraction_solve(list(map(list, zip(*exact_L, strict=True))), w)
    scores, error = white.careful_scores(w)
    for k, row in enumerate(rows):
        true = sum(x * v for x, v in zip(row, back, strict=True))
        assert abs(Fraction(float(scores[k])) - true) <= Fraction(float(error[k])) + Fraction(
            2.0**-52
        ) * abs(true)
    pulled = [sum(Fraction(float(c[k])) * rows[k][d] for k in range(7)) for d in range(3)]
    g = fraction_solve(exact_L, pulled)
    slip = sum((Fraction(float(x)) - y) ** 2 for x, y in zip(white.pull(c), g, strict=True))
    assert slip <= Fraction(white.pull_error(c)) ** 2
    norm2 = sum(x * x for x in g)
    assert abs(Fraction(white.dual_norm2(c)) - norm2) <= Fraction(white.dual_norm2_error(c))
    for k, row in enumerate(rows):
        image = fraction_solve(exact_L, row)
        assert sum(x * x for x in image) <= Fraction(float(white.norms[k])) ** 2


@each("structure", [1e300, 1e308])
@each("kernel", ["linear", "rbf"])
@each("form", [np.asarray, sp.csr_matrix])
def test_a_structure_that_leaves_nothing_of_the_rows_is_named(structure, kernel, form) -> None:
    rng = np.random.default_rng(0)
    X, y = form(3 * rng.normal(size=(12, 3))), np.arange(12) % 2
    with pytest.raises(InputError, match=r"structure = 1e\+30. is too large .* lower it"):
        formulate(X, y, Request.of(0.1, kernel=kernel, structure=structure))


def test_too_many_features_and_too_large_a_structure_are_refused() -> None:
    positive = np.array([True, False, False])
    wide = Rows(sp.csr_matrix(np.eye(3, 10_001)))
    with pytest.raises(TooLargeError, match="10001 features"):
        whitener(wide, scatter_of(AllPairs(), positive), 1.0)
    line = Rows(np.outer(np.arange(3.0), np.ones(4)) * 1e10)
    with pytest.raises(InputError, match="scale the features"):
        whitener(line, scatter_of(AllPairs(), positive), 1e10)
