from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import online_naive
from aucert.approx.logistic_thresholding import batch_size, hsg_ht
from loops import each
from sparse_signal import draw

X, POSITIVE = online_naive.draw()
KINDS = [np.asarray, sp.csr_matrix]


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


def test_a_batch_of_any_size_is_unbiased() -> None:
    rng = np.random.default_rng(0)
    slopes = online_naive.logistic_slopes(X, POSITIVE, rng.normal(size=25), 0.2)
    for size in (1, 7, 40):  # each row is in a batch with the chance size / n: no replacement
        hits = np.zeros(40)
        for _ in range(4000):
            batch = rng.choice(40, size, replace=False, shuffle=False)
            assert np.unique(batch).size == size
            hits[batch] += 1
        share = hits / 4000 / size
        np.testing.assert_allclose(share, 1 / 40, atol=5 / np.sqrt(4000 * size * 40))
        noise = np.linalg.norm((share - 1 / 40) @ slopes)
        assert noise < 0.1 * np.abs(slopes).sum(axis=1).mean()


def test_without_thresholding_it_reaches_the_convex_optimum() -> None:
    rows, y = draw(n=200)
    best = LogisticRegression(C=1e9, tol=1e-12, max_iter=10_000).fit(rows, y)
    found = hsg_ht(rows, y, 8, ratio=0.95, max_passes=20_000)
    np.testing.assert_allclose(found.w, best.coef_[0], atol=1e-4)
    assert found.intercept == pytest.approx(best.intercept_[0], abs=1e-4)


def test_growing_batches_end_nearer_than_batches_that_begin_anew() -> None:
    rows, y = draw(n=400)
    common = {"step": 1.0, "max_passes": 300}
    right = [hsg_ht(rows, y, 8, seed=s, **common).objective for s in range(4)]
    best = LogisticRegression(C=1e9, tol=1e-12, max_iter=10_000).fit(rows, y)
    score = best.decision_function(rows)
    optimum = np.logaddexp(0, np.where(y == 1, -score, score)).mean()
    theirs = hsg_ht(rows, y, 8, mode="authors", **common).objective
    assert max(right) - optimum < 1e-3 < theirs - optimum


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
