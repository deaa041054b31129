from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import Gram
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Ridge, linear_problem, pair_problem
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss.row_average import RowAverage, top_eigenvalue
from loops import each
from pairwise import differences, mean_square, pair_weights

KINDS = ["plain", "shifted", "sparse", "weighted"]


def draw(kind: str, n: int = 23, d: int = 5, seed: int = 0):
    """X (dense), positive, row weights and F, in one of the `KINDS`."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 3.0, 0.2, 1.0, 1.0][:d]
    positive = np.arange(n) % 4 == 0
    X[positive] += 0.5
    weight = None
    if kind == "shifted":
        X = X + 1e3
    if kind == "sparse":
        X[rng.random(X.shape) < 0.6] = 0.0
    if kind == "weighted":
        weight = rng.integers(0, 4, size=n).astype(float)
    rows = Rows(sp.csr_matrix(X) if kind == "sparse" else X)
    return X, positive, weight, RowAverage.of(rows, positive, AllPairs(weight))


def hessian(X, positive, weight=None) -> np.ndarray:
    """2 M from the pairs: the second derivative of the mean of (1 - w'D)^2 is 2 mean D D'."""
    D = differences(X, positive)
    return 2 * (D.T * pair_weights(positive, weight)) @ D


@each("kind", KINDS)
def test_the_average_over_rows_is_the_mean_over_pairs(kind) -> None:
    X, positive, weight, loss = draw(kind)
    for seed in range(3):
        w = np.random.default_rng(seed).normal(size=5)
        assert loss.value(w) == pytest.approx(mean_square(X, positive, w, weight), rel=1e-10)


@each("kind", KINDS[:3])  # the paper has no row weights
def test_the_row_losses_as_printed_have_the_mean_over_pairs_as_their_average(kind) -> None:
    X, positive, _, loss = draw(kind)
    w, r = np.arange(5) / 5, positive.mean()
    plus, minus = X[positive].mean(axis=0), X[~positive].mean(axis=0)
    rows = [  # eq. (4)
        (w @ (x - plus)) ** 2 / r * is_positive
        + (w @ (x - minus)) ** 2 / (1 - r) * (1 - is_positive)
        + (1 + w @ (minus - plus)) ** 2
        for x, is_positive in zip(X, positive, strict=True)
    ]
    assert loss.value(w) == pytest.approx(np.mean(rows), rel=1e-10)
    assert loss.share == pytest.approx(r)


@each("kind", KINDS)
def test_the_gradient_is_that_of_finite_differences(kind) -> None:
    _, _, _, loss = draw(kind)
    w, step = np.linspace(-1, 1, 5), 1e-4
    for j in range(5):
        e = np.zeros(5)
        e[j] = step
        # F is quadratic: the central difference is its derivative up to rounding.
        slope = (loss.value(w + e) - loss.value(w - e)) / (2 * step)
        assert loss.gradient(w)[j] == pytest.approx(slope, rel=1e-6, abs=1e-7)


def test_the_penalty_enters_value_gradient_and_curvature() -> None:
    X, positive, _, loss = draw("plain")
    ridged = RowAverage.of(Rows(X), positive, lam=0.6)
    w, rng = np.arange(5) / 5, np.random.default_rng(0)
    assert ridged.value(w) == pytest.approx(loss.value(w) + 0.3 * (w @ w), rel=1e-12)
    np.testing.assert_allclose(ridged.gradient(w), loss.gradient(w) + 0.6 * w, rtol=1e-12)
    assert ridged.curvature(rng) == pytest.approx(loss.curvature(rng) + 0.6, rel=1e-12)


def test_a_problem_gives_its_own_objective() -> None:
    X, positive, _, _ = draw("plain")
    problem = linear_problem(X, positive.astype(int), 0.4, "square")
    w = np.arange(5) / 5
    assert RowAverage.of_problem(problem).value(w) == pytest.approx(problem.objective(w), rel=1e-12)


@each("kind", ["plain", "sparse"])
def test_a_shift_of_all_rows_changes_nothing(kind) -> None:
    X, positive, _, loss = draw(kind)
    moved = X + np.array([5.0, -3.0, 0.0, 11.0, 0.5])
    other = RowAverage.of(Rows(sp.csr_matrix(moved) if kind == "sparse" else moved), positive)
    w = np.linspace(-1, 1, 5)
    assert other.value(w) == pytest.approx(loss.value(w), rel=1e-11)
    np.testing.assert_allclose(other.gradient(w), loss.gradient(w), rtol=1e-10, atol=1e-11)


@each("kind", KINDS)
@each("m", [1, 3, 23])
def test_parts_of_any_sizes_have_the_whole_as_their_mean(kind, m) -> None:
    _, _, _, loss = draw(kind)  # 23 rows: 3 parts are unequal
    pieces = np.array_split(np.random.default_rng(m).permutation(23), m)
    parts = [loss.part(rows, m) for rows in pieces]
    w = np.linspace(-1, 1, 5)
    mean = np.mean([part.gradient(w) for part in parts], axis=0)
    np.testing.assert_allclose(mean, loss.gradient(w), rtol=1e-9, atol=1e-10)
    assert np.mean([part.value(w) for part in parts]) == pytest.approx(loss.value(w), rel=1e-12)


def test_the_papers_blocks_need_the_weights_b_over_n_where_they_are_unequal() -> None:
    _, _, _, loss = draw("plain")
    sizes, w = [15, 5, 3], np.linspace(-1, 1, 5)
    pieces = np.split(np.random.default_rng(0).permutation(23), np.cumsum(sizes)[:-1])
    gradients = np.array([loss.part(rows, 23 / rows.size).gradient(w) for rows in pieces])
    weighted = np.array(sizes) / 23 @ gradients
    np.testing.assert_allclose(weighted, loss.gradient(w), rtol=1e-10)
    assert np.abs(gradients.mean(axis=0) - loss.gradient(w)).max() > 1e-2


def test_a_part_without_positive_rows_works() -> None:
    X, positive, _, loss = draw("plain")
    part = loss.part(np.flatnonzero(~positive)[:4], 23 / 4)
    w = np.linspace(-1, 1, 5)
    minus, delta = X[~positive].mean(axis=0), X[positive].mean(axis=0) - X[~positive].mean(axis=0)
    rows = X[np.flatnonzero(~positive)[:4]] - minus
    expected = np.mean((rows @ w) ** 2) / (1 - positive.mean()) + (1 - w @ delta) ** 2
    assert part.value(w) == pytest.approx(expected, rel=1e-12)
    assert np.isfinite(part.gradient(w)).all()


@each("kind", KINDS)
@each(("n", "d"), [(23, 5), (4, 5)])
def test_the_curvature_is_the_largest_eigenvalue_where_it_can_be_computed(kind, n, d) -> None:
    X, positive, weight, loss = draw(kind, n, d, seed=3)
    top = float(np.linalg.eigvalsh(hessian(X, positive, weight)).max())
    bound = loss.curvature(np.random.default_rng(0))
    # With an offset of 1000, some 1e-10 of the rows is rounding.
    assert top * (1 - 1e-9) <= bound <= top * (1 + 1e-6)


def test_a_large_curvature_is_bounded_from_above_within_a_quarter() -> None:
    rng = np.random.default_rng(0)
    n = 600
    for seed in range(5):
        spectrum = rng.exponential(size=n)
        if seed % 2:
            spectrum = np.linspace(0, 1, n)  # the largest ones nearly equal: hard for Lanczos
        bound = top_eigenvalue(lambda v, s=spectrum: s * v, n, np.random.default_rng(seed), n)
        assert spectrum.max() <= bound <= spectrum.max() / 0.8 * (1 + 1e-9)


def test_sparse_and_dense_rows_have_comparable_curvature_bounds() -> None:
    X = sp.random(700, 620, density=0.02, random_state=1, format="csr")
    positive = np.arange(700) % 5 == 0
    sparse = RowAverage.of(Rows(X), positive)
    dense = RowAverage.of(Rows(X.toarray()), positive)
    w = np.random.default_rng(0).normal(size=620)
    np.testing.assert_allclose(sparse.gradient(w), dense.gradient(w), rtol=1e-9, atol=1e-12)
    D = np.vstack([np.sqrt(dense.mass)[:, None] * (X.toarray() - sparse.means[positive * 1])])
    top = 2 * np.linalg.norm(np.vstack([D, dense.delta]), 2) ** 2
    for loss in (sparse, dense):
        assert top * (1 - 1e-9) <= loss.curvature(np.random.default_rng(1)) <= 1.26 * top


def test_rows_all_alike_have_no_curvature() -> None:
    same = Rows(np.ones((6, 3)))
    sparse = Rows(sp.csr_matrix((6, 3)))
    for rows in (same, sparse):
        loss = RowAverage.of(rows, np.arange(6) < 2)
        assert loss.curvature(np.random.default_rng(0)) == 0.0


def test_one_sparse_feature_has_its_own_curvature() -> None:
    X, positive = np.array([[1.0], [0.0], [0.0], [2.0]]), np.array([True, False, True, False])
    loss = RowAverage.of(Rows(sp.csr_matrix(X)), positive)
    expected = hessian(X, positive)[0, 0]
    assert loss.curvature(np.random.default_rng(0)) == pytest.approx(expected, rel=1e-8)


def test_other_problems_are_refused() -> None:
    X, positive, _, _ = draw("plain")
    rows = Rows(X)
    listed = PairList(np.array([0]), np.array([1]))
    squares = linear_problem(X, positive, 1.0, "square")
    for problem in (
        pair_problem(rows, positive, AllPairs(), HINGE, Ridge(1.0)),
        pair_problem(rows, positive, listed, squares.loss, Ridge(1.0)),
        squares.over(Gram(X @ X.T)),
    ):
        with pytest.raises(InputError):
            RowAverage.of_problem(problem)
    with pytest.raises(InputError, match="one class"):
        RowAverage.of(rows, np.ones(23, dtype=bool))
    with pytest.raises(InputError, match="lam"):
        RowAverage.of(rows, positive, lam=-1.0)
    with pytest.raises(InputError, match="boolean"):
        RowAverage.of(rows, positive[:-1])
