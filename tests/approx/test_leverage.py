from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx.landmarks import draw_by_leverage, leverage_scores, uniform
from aucert.approx.nystrom import nystrom_map
from aucert.exact.errors import InputError
from aucert.exact.spaces.kernels import Gaussian, Laplacian, Linear
from loops import each

KERNEL = Gaussian(0.3)
X = np.random.default_rng(0).normal(size=(60, 3))


@each("kernel", [KERNEL, Laplacian(0.2), Linear()], ids=str)
@each("ridge", [1e-3, 0.1])
def test_scores_are_the_diagonal_of_the_smoother(kernel, ridge: float) -> None:
    K = kernel(X, X)
    wanted = np.diag(K @ np.linalg.inv(K + 60 * ridge * np.eye(60)))
    np.testing.assert_allclose(leverage_scores(X, kernel, ridge), wanted, rtol=1e-8, atol=1e-10)


@each("n_pilot", [5, 20, 45])
def test_a_pilot_gives_upper_bounds(n_pilot: int) -> None:
    exact = leverage_scores(X, KERNEL, 0.01)
    found = leverage_scores(X, KERNEL, 0.01, n_pilot, seed=1)
    assert (found >= exact - 1e-12).all() and (found <= 1).all()
    assert (leverage_scores(X, KERNEL, 0.01, 500) == exact).all()


def test_a_lone_row_has_the_highest_score() -> None:
    rows = np.vstack([0.01 * X, [[9.0, 9.0, 9.0]]])
    assert leverage_scores(rows, KERNEL, 0.01).argmax() == 60
    drawn = [60 in draw_by_leverage(rows, 5, KERNEL, seed) for seed in range(40)]
    assert np.mean(drawn) > 0.75
    plain = [60 in np.asarray(uniform(rows, 5, seed).index) for seed in range(40)]
    assert np.mean(plain) < 0.4


@pytest.mark.slow  # 6,000 draws
def test_the_first_draw_follows_the_scores() -> None:
    scores = leverage_scores(X[:6], KERNEL, 0.05)
    rng, count = np.random.default_rng(2), np.zeros(6)
    for _ in range(6000):
        count[draw_by_leverage(X[:6], 1, KERNEL, rng, ridge=0.05)[0]] += 1
    share = scores / scores.sum()
    assert np.abs(count / 6000 - share).max() < 4 * np.sqrt(share.max() / 6000)


def test_landmarks_by_leverage_explain_a_rare_cluster() -> None:
    rng = np.random.default_rng(5)
    rare = np.vstack([rng.normal(size=(190, 2)) * 0.1, rng.normal(size=(10, 2)) + 20.0])
    kernel = Gaussian(1.0)

    def unexplained(index: np.ndarray) -> float:
        return float(nystrom_map(kernel, rare[index]).residual(rare).sum())

    by_score = [unexplained(draw_by_leverage(rare, 10, kernel, s)) for s in range(10)]
    plain = [unexplained(np.asarray(uniform(rare, 10, s).index)) for s in range(10)]
    assert np.mean(by_score) < 0.7 * np.mean(plain)


def test_sparse_rows_have_the_dense_scores() -> None:
    thin = np.where(np.abs(X) > 0.7, X, 0.0)
    np.testing.assert_allclose(
        leverage_scores(sp.csr_array(thin), KERNEL, 0.01),
        leverage_scores(thin, KERNEL, 0.01),
        rtol=1e-7,
    )


def test_bad_numbers_and_a_zero_kernel_are_refused() -> None:
    with pytest.raises(InputError, match="ridge must be > 0"):
        leverage_scores(X, KERNEL, 0.0)
    with pytest.raises(InputError, match="n_pilot must be"):
        leverage_scores(X, KERNEL, 0.1, 0)
    with pytest.raises(InputError, match="zero on every row"):
        leverage_scores(np.zeros((4, 2)), Linear(), 0.1)
