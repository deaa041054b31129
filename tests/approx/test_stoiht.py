from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import online_naive
from aucert.approx.logistic_thresholding import LogisticData, block_curvature, stoiht
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


def test_without_thresholding_it_reaches_the_convex_optimum() -> None:
    rows, y = draw(n=200)
    best = LogisticRegression(C=1e9, tol=1e-12, max_iter=10_000).fit(rows, y)
    found = stoiht(rows, y, 8, max_epochs=2000)
    np.testing.assert_allclose(found.w, best.coef_[0], atol=1e-4)
    assert found.intercept == pytest.approx(best.intercept_[0], abs=1e-4)


@pytest.mark.slow
def test_with_blocks_the_error_shrinks_to_the_noise_of_the_blocks() -> None:
    rows, y = draw(n=200)
    best = LogisticRegression(C=1e9, tol=1e-12, max_iter=10_000).fit(rows, y)
    target = np.append(best.coef_[0], best.intercept_)

    def error(step, epochs):
        runs = [
            stoiht(rows, y, 8, n_blocks=10, step=step, max_epochs=epochs, seed=seed)
            for seed in range(8)
        ]
        return np.mean([np.sum((np.append(r.w, r.intercept) - target) ** 2) for r in runs])

    start = np.sum(target**2)
    assert error(0.02, 400) < 0.02 * start
    # The noise that remains is in proportion to the step.
    assert 5 < error(0.4, 400) / error(0.02, 1500) < 80


def test_from_the_log_odds_the_first_step_goes_along_the_mean_difference() -> None:
    rows, y = draw(n=200, r=0.1)
    rows = rows + 2.0  # off the origin: this is what misleads the start at zero
    delta = rows[y == 1].mean(axis=0) - rows[y == 0].mean(axis=0)
    right = stoiht(rows, y, 8, max_epochs=1, step=1.0)
    wrong = stoiht(rows, y, 8, max_epochs=1, step=1.0, intercept=0.0)
    np.testing.assert_allclose(right.w, 0.1 * 0.9 * delta, atol=1e-12)
    cosine = wrong.w @ delta / np.linalg.norm(wrong.w) / np.linalg.norm(delta)
    assert cosine < 0.0


def test_the_curvature_of_a_block_is_not_below_that_of_its_loss() -> None:
    rng = np.random.default_rng(0)
    data = LogisticData(X, POSITIVE, 3, "log-odds", None)
    block = np.arange(12)
    ones = np.column_stack([X[block], np.ones(12)])
    top = np.linalg.eigvalsh(ones.T @ ones)[-1] / 4 * 5 / 40
    assert top <= block_curvature(data, block, 5, rng) <= 1.3 * top
