"""R, the covariance form of the scores: its definition, its root, weights and sources."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucert.exact.api.solve import solve
from aucert.exact.errors import InputError
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.structured import ClassScatter, PairScatter, check_structure, scatter_of
from loops import each
from structures import dense_scatter, some_labels, some_pairs


@given(seed=st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_R_is_the_covariance_of_the_pair_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    positive = some_labels(rng, n)
    scatter = scatter_of(some_pairs(rng, positive), positive, "sampled")
    R = dense_scatter(scatter, n)
    assert scatter.times(np.eye(n)) == pytest.approx(R, abs=1e-13)
    root = scatter.root()
    assert root @ root.T == pytest.approx(R, abs=1e-13)
    values = rng.normal(size=n)
    assert scatter.times(values) == pytest.approx(R @ values, abs=1e-13)
    assert R @ scatter.centre(values) == pytest.approx(R @ values, abs=1e-13)
    assert (scatter.size(values) >= np.abs(R @ values) - 1e-13).all()
    assert np.linalg.eigvalsh(np.diag(scatter.mass()) - R)[0] >= -1e-13


def test_the_root_of_a_long_list_has_no_more_columns_than_rows() -> None:
    rng = np.random.default_rng(0)
    positive = np.arange(9) < 3
    pairs = PairList(rng.integers(0, 3, 500), rng.integers(3, 9, 500), labels=positive)
    scatter = PairScatter(pairs)
    root = scatter.root()
    assert root.shape == (9, 9)
    assert root @ root.T == pytest.approx(dense_scatter(scatter, positive.size), abs=1e-13)


def test_proposition_1_holds_for_covariances_divided_by_n_and_only_for_them() -> None:
    """[SAUC, Prop. 1]: the covariance of all differences is the sum of the class covariances."""
    rng = np.random.default_rng(1)
    X, positive = rng.normal(size=(64, 3)), np.arange(64) < 23
    differences = (X[positive][:, None] - X[~positive][None]).reshape(-1, 3)
    of_pairs = np.cov(differences.T, ddof=0)
    biased = np.cov(X[positive].T, ddof=0) + np.cov(X[~positive].T, ddof=0)
    unbiased = np.cov(X[positive].T) + np.cov(X[~positive].T)
    assert of_pairs == pytest.approx(biased, rel=1e-13)
    assert np.abs(np.cov(differences.T) - unbiased).max() > 1e-2 * np.abs(of_pairs).max()
    scatter = scatter_of(AllPairs(), positive)
    assert X.T @ scatter.times(X) == pytest.approx(of_pairs, rel=1e-12)


def test_a_list_with_product_weights_has_the_class_scatter_and_another_list_has_not() -> None:
    rng = np.random.default_rng(2)
    positive = np.arange(9) < 4
    a, b = rng.uniform(0.1, 1, 4), rng.uniform(0.1, 1, 5)
    i, j = np.repeat(np.arange(4), 5), np.tile(np.arange(4, 9), 4)
    product = PairScatter(PairList(i, j, np.outer(a, b).ravel(), positive))
    classes = ClassScatter(positive, a / a.sum(), b / b.sum())
    assert product.times(np.eye(9)) == pytest.approx(classes.times(np.eye(9)), abs=1e-15)
    other = PairScatter(PairList(i[::3], j[::3], labels=positive)).times(np.eye(9))
    assert np.abs(other[:4, 4:]).max() > 0.01, "its classes are correlated"


@each(("n_pos", "n_neg"), [(1, 1), (1, 7), (7, 1), (4, 116)])
def test_R_of_all_pairs_is_singular_with_one_constant_for_each_class(
    n_pos: int, n_neg: int
) -> None:
    positive = np.arange(n_pos + n_neg) < n_pos
    R = scatter_of(AllPairs(), positive).times(np.eye(positive.size))
    assert np.linalg.matrix_rank(R, tol=1e-12) == positive.size - 2
    for side in (positive, ~positive):
        assert np.abs(R @ side).max() < 1e-15


def test_the_structure_comes_from_all_rows_unless_the_sampled_ones_are_asked_for() -> None:
    positive = np.arange(6) < 2
    few = PairList(np.array([0, 1]), np.array([2, 3]))
    assert isinstance(scatter_of(few, positive), ClassScatter)
    assert isinstance(scatter_of(few, positive, "sampled"), PairScatter)
    assert isinstance(scatter_of(AllPairs(), positive, "sampled"), ClassScatter)
    with pytest.raises(InputError, match="full, sampled"):
        scatter_of(few, positive, "some")


def test_a_row_weight_means_repetition_in_R() -> None:
    rng = np.random.default_rng(3)
    X, positive = rng.normal(size=(12, 3)), np.arange(12) % 3 == 0
    times = rng.integers(0, 4, 12)
    times[:2] = 2
    weighted = scatter_of(AllPairs(times.astype(float)), positive)
    again = np.repeat(np.arange(12), times)
    repeated = scatter_of(AllPairs(), positive[again])
    assert X.T @ weighted.times(X) == pytest.approx(
        X[again].T @ repeated.times(X[again]), rel=1e-12, abs=1e-14
    )


@each("kernel", ["linear", "rbf"])
@each("loss", ["hinge", "squared_hinge", "square"])
def test_a_row_weight_means_repetition_in_the_structured_optimum(loss: str, kernel: str) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(24, 3)), np.arange(24) % 3 == 0
    times = rng.integers(0, 4, size=24)
    times[:2] = 2
    options = {"loss": loss, "kernel": kernel, "gamma": 0.5, "structure": 7.0, "tol": 1e-10}
    one = solve(X, y, 0.02, sample_weight=times, **options).certificate
    two = solve(np.repeat(X, times, axis=0), np.repeat(y, times), 0.02, **options).certificate
    assert one.reaches(1e-9) and two.reaches(1e-9)
    slack = one.gap + two.gap
    assert abs(one.primal - two.primal) <= slack


@each("structure", [-1.0, np.nan, np.inf, True, "1", None])
def test_a_structure_is_a_number_of_at_least_zero(structure: object) -> None:
    with pytest.raises(InputError, match="structure"):
        check_structure(structure)  # type: ignore[arg-type]
