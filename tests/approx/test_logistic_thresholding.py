"""StoIHT and HSG-HT, step by step against naive ones, and at the convex optimum."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import online_naive
from aucert.approx.logistic_thresholding import (
    LogisticData,
    batch_size,
    block_curvature,
    hsg_ht,
    stoiht,
)
from loops import each
from sparse_signal import draw

X, POSITIVE = online_naive.draw()
KINDS = [np.asarray, sp.csr_matrix]


@each("k", [1, 4, 25, 100])
@each("kind", KINDS)
def test_the_compiled_steps_are_the_naive_ones(kind, k) -> None:
    rng = np.random.default_rng(0)
    data = LogisticData(kind(X), POSITIVE, k, 0.3, None)
    batches = [rng.choice(40, size=int(size), replace=False) for size in rng.integers(1, 9, 90)]
    factors = rng.random(90)
    for part in (slice(0, 1), slice(1, 50), slice(50, 90)):
        data.take(batches[part], factors[part], 2.0)
    w, c = online_naive.thresholded(X, POSITIVE, batches, factors, 2.0, k, 0.3)
    np.testing.assert_allclose(data.w, w, atol=1e-12)
    np.testing.assert_array_equal(data.w != 0, w != 0)
    assert data.c[0] == pytest.approx(c)
    assert (data.n_iter, data.n_rows) == (90, sum(batch.size for batch in batches))


@each("kind", KINDS)
def test_of_tied_features_the_first_are_kept(kind) -> None:
    twin = np.array([[0.0, 1.0, 1.0, -1.0, 1.0], [0.0, -1.0, -1.0, 1.0, -1.0]])
    found = stoiht(kind(twin), [1, 0], 2, max_epochs=3)
    np.testing.assert_array_equal(found.support, [1, 2])


@each("n_blocks", [1, 7])
def test_the_expected_step_is_the_gradient_of_the_mean_loss(n_blocks) -> None:
    rng = np.random.default_rng(1)
    w, c = rng.normal(size=25), 0.4
    moved = []
    for block in np.array_split(rng.permutation(40), n_blocks):  # blocks of two sizes
        data = LogisticData(X, POSITIVE, 25, c, None)
        data.w[:] = w
        data.take([block], np.array([n_blocks / 40]), 1.0)
        moved.append(np.append(w - data.w, c - data.c[0]))
    slope = online_naive.logistic_slopes(X, POSITIVE, w, c).mean(axis=0)
    np.testing.assert_allclose(np.mean(moved, axis=0), slope, atol=1e-12)


@pytest.mark.slow
def test_without_thresholding_it_reaches_the_convex_optimum() -> None:
    rows, y = draw(n=200)
    best = LogisticRegression(C=1e9, tol=1e-12, max_iter=10_000).fit(rows, y)
    found = stoiht(rows, y, 8, max_epochs=2000)
    np.testing.assert_allclose(found.w, best.coef_[0], atol=1e-4)
    assert found.intercept == pytest.approx(best.intercept_[0], abs=1e-4)


def test_the_curvature_of_a_block_is_not_below_that_of_its_loss() -> None:
    rng = np.random.default_rng(0)
    data = LogisticData(X, POSITIVE, 3, "log-odds", None)
    block = np.arange(12)
    ones = np.column_stack([X[block], np.ones(12)])
    top = np.linalg.eigvalsh(ones.T @ ones)[-1] / 4 * 5 / 40
    assert top <= block_curvature(data, block, 5, rng) <= 1.3 * top


@each("kind", KINDS)
def test_it_is_the_naive_method_with_the_same_draws(kind) -> None:
    found = hsg_ht(kind(X), POSITIVE, 4, first=2.0, ratio=0.9, step=1.5, max_passes=20, seed=5)
    rng, batches = np.random.default_rng(5), []
    while sum(batch.size for batch in batches) < 20 * 40:
        size = min(40, math.ceil(2.0 / 0.9 ** len(batches)))
        batches.append(rng.choice(40, size, replace=False, shuffle=False))
    r = POSITIVE.mean()
    w, c = online_naive.thresholded(
        X, POSITIVE, batches, [1 / batch.size for batch in batches], 1.5, 4, math.log(r / (1 - r))
    )
    np.testing.assert_allclose(found.w, w, atol=1e-12)
    assert found.intercept == pytest.approx(c)
    assert (found.n_iter, found.n_rows) == (len(batches), sum(b.size for b in batches))


def test_batches_grow_to_all_rows_and_no_further() -> None:
    sizes = [batch_size(t, 1.0, 0.5, 40) for t in range(2000)]
    assert sizes[:7] == [1, 2, 4, 8, 16, 32, 40]
    assert set(sizes[6:]) == {40}
    assert batch_size(0, 1e9, 0.5, 40) == 40


def test_the_authors_batches_begin_anew_in_each_pass_and_stay_small() -> None:
    found = hsg_ht(X, POSITIVE, 3, mode="authors", step=3.0, intercept=0.0, max_passes=2)
    sizes = [math.floor(1.033**t) for t in range(22)] + [2] * 9  # 1 until 1.033^22 > 2
    assert sum(sizes) == 40
    w, _ = online_naive.thresholded(
        X, POSITIVE, np.split(np.arange(40), np.cumsum(sizes)[:-1]) * 2,
        [1 / size for size in sizes] * 2, 3.0, 3, 0.0,
    )  # fmt: skip
    np.testing.assert_allclose(found.w, w, atol=1e-12)
    assert found.n_rows == 80
