from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from aucert.approx.landmarks import (
    LANDMARKS,
    Landmarks,
    choose_landmarks,
    draw_by_class,
    draw_by_pivots,
    kmeans,
    shares,
    uniform,
)
from aucert.exact.errors import InputError
from aucert.exact.spaces.kernels import Gaussian, Linear
from loops import each, seeds

KERNEL = Gaussian(0.3)
X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.arange(40) % 4 == 0


def choose(method: str, rows: object = X, count: int = 8, seed: int = 1) -> Landmarks:
    return choose_landmarks(method, rows, count, KERNEL, Y, seed)


@each("method", ["uniform", "stratified", "pivoted"])
def test_chosen_rows_are_different_rows_of_the_data(method: str) -> None:
    found = choose(method)
    assert found.index is not None and np.unique(found.index).size == 8
    np.testing.assert_array_equal(found.rows, X[found.index])


@each("method", LANDMARKS)
def test_a_seed_names_the_choice(method: str) -> None:
    np.testing.assert_array_equal(choose(method).rows, choose(method).rows)
    assert not np.array_equal(choose(method).rows, choose(method, seed=2).rows)
    rng = np.random.default_rng(1)
    first = choose_landmarks(method, X, 8, KERNEL, Y, rng).rows
    np.testing.assert_array_equal(first, choose(method).rows)
    assert not np.array_equal(first, choose_landmarks(method, X, 8, KERNEL, Y, rng).rows)


@each("method", LANDMARKS)
def test_as_many_landmarks_as_rows_are_the_rows(method: str) -> None:
    found = choose(method, count=40).rows
    np.testing.assert_array_equal(np.unique(found, axis=0), np.unique(X, axis=0))


@each("method", LANDMARKS)
def test_more_landmarks_than_rows_are_refused(method: str) -> None:
    with pytest.raises(InputError, match="41 landmarks are wanted, but X has only 40 rows"):
        choose(method, count=41)


@each("method", LANDMARKS)
@each("count", [0, 2.5, True, "five"])
def test_a_count_that_is_none_is_refused(method: str, count: object) -> None:
    with pytest.raises(InputError, match="n_landmarks must be a whole number"):
        choose_landmarks(method, X, count, KERNEL, Y)  # pyright: ignore[reportArgumentType]


@each("method", LANDMARKS)
def test_a_matrix_with_a_hole_is_refused(method: str) -> None:
    holed = X.copy()
    holed[3, 1] = np.nan
    with pytest.raises(InputError, match="row 3, column 1"):
        choose(method, holed)


@each("method", LANDMARKS)
def test_sparse_rows_give_the_dense_choice(method: str) -> None:
    thin = np.where(np.abs(X) > 0.7, X, 0.0)
    dense, sparse = choose(method, thin), choose(method, sp.csr_array(thin))
    rows = sparse.rows
    rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
    np.testing.assert_allclose(rows, dense.rows, atol=1e-12)


def test_every_set_of_uniform_landmarks_is_equally_likely() -> None:
    rng = np.random.default_rng(3)
    sets = {pair: 0 for pair in combinations(range(5), 2)}
    for _ in range(4000):
        index = uniform(X[:5], 2, rng).index
        assert index is not None
        sets[tuple(sorted(index.tolist()))] += 1
    assert chisquare(list(sets.values())).pvalue > 1e-3


def test_within_a_class_every_row_is_equally_likely() -> None:
    rng = np.random.default_rng(4)
    count = np.zeros(40)
    for _ in range(2000):
        count[draw_by_class(X, 8, Y, rng).index] += 1
    assert count[Y].sum() == 2 * 2000 and count[~Y].sum() == 6 * 2000
    assert chisquare(count[Y]).pvalue > 1e-3 and chisquare(count[~Y]).pvalue > 1e-3


@given(st.lists(st.integers(1, 200), min_size=1, max_size=6), st.data())
def test_shares_add_up_and_are_as_near_to_proportion_as_they_can(sizes, data) -> None:
    total = data.draw(st.integers(len(sizes), sum(sizes)))
    counts = shares(np.array(sizes), total)
    quota = total * np.array(sizes) / sum(sizes)
    assert counts.sum() == total
    assert (counts >= 1).all() and (counts <= sizes).all()
    if (quota >= 1).all():
        assert np.abs(counts - quota).max() < 1


def test_the_smallest_class_has_a_landmark() -> None:
    rare = np.arange(40) == 17
    for seed in range(5):
        index = draw_by_class(X, 2, rare, seed).index
        assert index is not None and 17 in index


def test_fewer_landmarks_than_classes_are_refused() -> None:
    with pytest.raises(InputError, match="1 landmarks cannot have one of each of the 2 classes"):
        draw_by_class(X, 1, Y)


def test_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="40 rows, but labels of shape"):
        draw_by_class(X, 3, Y[:5])
    with pytest.raises(InputError, match="requires y to be passed"):
        choose_landmarks("stratified", X, 3, KERNEL)


def test_every_centre_is_the_mean_of_the_rows_nearest_to_it() -> None:
    found = kmeans(X, 8, seed=0)
    assert found.index is None
    nearest = ((X[:, None] - found.rows[None]) ** 2).sum(-1).argmin(axis=1)
    means = np.array([X[nearest == k].mean(axis=0) for k in range(8)])
    np.testing.assert_allclose(found.rows, means, atol=1e-12)


def test_of_few_distinct_rows_each_is_one_centre() -> None:
    few = np.repeat(X[:3], 10, axis=0)
    centres = kmeans(few, 10, seed=0).rows
    np.testing.assert_allclose(np.unique(centres, axis=0), np.unique(X[:3], axis=0), rtol=1e-14)
    assert len(kmeans(np.ones((5, 2)), 3).rows) == 1


def naive_pivots(K: np.ndarray, count: int, seed: int) -> list[int]:
    """Draw from the diagonal of the Schur complement, made anew from its definition."""
    rng, chosen = np.random.default_rng(seed), []
    for _ in range(count):
        left = K - K[:, chosen] @ np.linalg.pinv(K[np.ix_(chosen, chosen)]) @ K[chosen]
        share = np.clip(np.diag(left), 0, None)
        share[chosen] = 0
        chosen.append(int(rng.choice(len(K), p=share / share.sum())))
    return chosen


@each("seed", seeds(5))
def test_pivots_are_drawn_by_what_is_left_unexplained(seed: int) -> None:
    index = draw_by_pivots(X, 10, KERNEL, seed).index
    assert index is not None and index.tolist() == naive_pivots(KERNEL(X, X), 10, seed)


def test_equal_rows_are_never_both_pivots() -> None:
    doubled = np.repeat(X[:12], 3, axis=0)
    for seed in range(5):
        found = draw_by_pivots(doubled, 36, KERNEL, seed)
        assert len(found.rows) == 12
        assert np.unique(found.rows, axis=0).shape[0] == 12


def test_pivots_explain_more_than_uniform_landmarks_where_a_cluster_is_rare() -> None:
    rng = np.random.default_rng(5)
    rare = np.vstack([rng.normal(size=(190, 2)) * 0.1, rng.normal(size=(10, 2)) + 20.0])
    kernel = Gaussian(1.0)
    K = kernel(rare, rare)

    def unexplained(S: np.ndarray | None) -> float:
        assert S is not None
        return float(np.trace(K - K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], 1e-12) @ K[S]))

    pivots = [unexplained(draw_by_pivots(rare, 10, kernel, s).index) for s in range(10)]
    plain = [unexplained(uniform(rare, 10, s).index) for s in range(10)]
    assert np.mean(pivots) < 0.5 * np.mean(plain)


def test_a_kernel_that_is_zero_has_no_pivots() -> None:
    with pytest.raises(InputError, match="zero on every row"):
        draw_by_pivots(np.zeros((4, 2)), 2, Linear())


def test_another_method_is_refused() -> None:
    with pytest.raises(InputError, match="landmarks must be one of uniform, stratified"):
        choose_landmarks("grid", X, 3, KERNEL)
