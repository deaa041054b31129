"""Entries of docs/errata.md that one short calculation shows, without the library where it can."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.approx.nystrom import nystrom_map
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.spaces.kernels import Gaussian
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss.row_average import moments
from aucert.validation import suite
from aucert.validation.claims.sauc import TABLE_3_LINEAR
from aucert.validation.tables.scaling_up import PRINTED_1

CLAIMS = {entry.name for entry in suite.claims()}


def test_the_printed_tables_have_a_size_that_the_text_leaves_out() -> None:
    # E17: the text has 5, 50 and 100 thousand rows
    assert set(PRINTED_1) - {5000, 50_000, 100_000} == {10_000}


def test_without_a_cut_off_rows_grow_longer_than_the_kernel_allows() -> None:
    # ScalingUp (11): K(x, x) = 1, and |v~|^2 = k_S' K_SS^+ k_S is at most that in exact arithmetic
    naive, ours = 0.0, 0.0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        kernel, S, X = Gaussian(0.1), rng.standard_normal((60, 2)), rng.standard_normal((200, 2))
        values, vectors = np.linalg.eigh(kernel(S, S))
        kept = values > 0
        rows = kernel(X, S) @ vectors[:, kept] / np.sqrt(values[kept])
        naive = max(naive, float((rows**2).sum(axis=1).max()) - 1)
        ours = max(ours, float((nystrom_map(kernel, S).transform(X) ** 2).sum(axis=1).max()) - 1)
    assert naive > 1e-6 > 100 * ours


def test_two_dual_points_of_one_optimum() -> None:
    # moving weight around a square of pairs changes no marginal, and so no dual value
    first = np.full((2, 2), 0.5)
    second = first + 0.25 * np.array([[1, -1], [-1, 1]])
    for axis in (0, 1):
        assert np.array_equal(first.sum(axis=axis), second.sum(axis=axis))
    assert first.sum() == second.sum() and (first > 0).sum() == 4
    third = first + 0.5 * np.array([[1, -1], [-1, 1]])
    assert np.array_equal(first.sum(axis=0), third.sum(axis=0)) and (third > 0).sum() == 2


def test_two_linear_rows_of_table_3_where_structure_is_behind() -> None:
    behind = [name for name, (_, plain, sauc) in TABLE_3_LINEAR.items() if sauc < plain]
    assert behind == ["arrhythmia", "glass6"]


def test_the_best_loss_on_a_support_does_not_depend_on_scaling() -> None:
    X, positive = rows()
    for scaled in (X, X * [1.0, 20.0, 0.05]):
        m = moments(Rows(scaled), positive, AllPairs())
        q = m.delta @ np.linalg.solve(m.sigma, m.delta)
        pairs = (scaled[positive][:, None] - scaled[~positive]).reshape(-1, 3)
        w = np.linalg.lstsq(pairs, np.ones(len(pairs)), rcond=None)[0]
        assert np.mean((1 - pairs @ w) ** 2) == pytest.approx(1 / (1 + q))
    # the first step of hard thresholding from zero goes along delta, which scales with the columns
    delta = moments(Rows(X), positive, AllPairs()).delta
    largest = [int(np.abs(delta * scale).argmax()) for scale in ([1, 1, 1], [1, 0.05, 20])]
    assert largest[0] != largest[1]


def rows(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """18 rows, 7 of them positive."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((18, 3)) + np.repeat([[0.5], [0.0]], [7, 11], 0), np.arange(18) < 7


def test_the_score_of_a_new_row_needs_the_approximate_features() -> None:
    # E16: beta from K~ goes with v~, and K~(x, x') = k_S(x)' K_SS^+ k_S(x') on any rows
    X, _ = rows()
    kernel, S = Gaussian(0.3), X[:5]
    change = nystrom_map(kernel, S).transform
    new = np.random.default_rng(1).standard_normal((4, 3))
    inverse = np.linalg.pinv(kernel(S, S))
    right = kernel(new, S) @ inverse @ kernel(S, X)
    np.testing.assert_allclose(change(new) @ change(X).T, right, atol=1e-10)
    # K_S^+ ^(1/2) k_S(x) is not the row that a factor of the whole kernel matrix would give
    assert np.abs(kernel(new, X) - right).max() > 0.01


def block_hessian(X: np.ndarray, positive: np.ndarray, chosen: np.ndarray, printed: bool) -> object:
    mean = {True: X[positive].mean(axis=0), False: X[~positive].mean(axis=0)}
    r, total = positive.mean(), np.zeros((3, 3))
    for j in chosen:
        own = X[j] - mean[bool(positive[j])]
        first = X[j] - mean[True] if printed and not positive[j] else own
        total += np.outer(first, own) / (r if positive[j] else 1 - r) / len(chosen)
    delta = mean[False] - mean[True]
    cross = np.outer(0 * delta, delta) if printed else np.outer(delta, delta)
    return (1 if printed else 2) * (total + cross)


def test_the_printed_hessian_of_a_block_is_not_symmetric() -> None:
    # E33; the right one is the second difference of the block's loss
    X, positive = rows()
    chosen = np.array([0, 3, 9, 12, 15])
    H = np.asarray(block_hessian(X, positive, chosen, printed=True))
    assert np.abs(H - H.T).max() > 0.1
    right = np.asarray(block_hessian(X, positive, chosen, printed=False))
    means = X[~positive].mean(axis=0), X[positive].mean(axis=0)

    def loss(w: np.ndarray) -> float:
        r, value = positive.mean(), (1 - w @ (means[1] - means[0])) ** 2
        for j in chosen:
            own = w @ (X[j] - means[int(positive[j])])
            value += own**2 / (r if positive[j] else 1 - r) / len(chosen)
        return float(value)

    w, v = np.array([0.3, -1.0, 0.7]), np.array([0.5, 2.0, -1.0])
    assert loss(w + v) - 2 * loss(w) + loss(w - v) == pytest.approx(float(v @ right @ v))


def test_the_mean_square_loss_is_the_mean_and_not_the_sum_of_its_blocks() -> None:
    # E36: F = (1/m) sum of f_Bi
    X, positive = rows()
    w, r = np.array([0.3, -1.0, 0.7]), 7 / 18
    means = X[~positive].mean(axis=0), X[positive].mean(axis=0)
    own = np.array([w @ (x - means[int(p)]) for x, p in zip(X, positive, strict=True)])
    each = own**2 / np.where(positive, r, 1 - r) + (1 - w @ (means[1] - means[0])) ** 2
    whole = np.mean((1 - (X[positive] @ w)[:, None] + X[~positive] @ w) ** 2)
    blocks = [block.mean() for block in np.split(each, 6)]
    assert np.mean(blocks) == pytest.approx(whole)
    assert np.sum(blocks) == pytest.approx(6 * whole)


def test_precision_and_recall_agree_only_for_as_many_features() -> None:
    # E45: over those selected, over those related
    true, found = {1, 2, 3, 4}, {3, 4, 5}
    common = len(true & found)
    assert common / len(found) != common / len(true)
    assert common / len(found | {6}) == common / len(true)


def test_the_printed_shares_of_the_two_classes_are_those_of_the_other_class() -> None:
    # E46: colon has 40 of 62 positive rows, leukemia 47 of 72, while r <= 1/2 is assumed
    assert 22 / 62 == pytest.approx(0.355, abs=5e-4)
    assert 40 / 62 > 0.5
    assert 47 / 72 == pytest.approx(0.653, abs=5e-4)


def test_the_double_sum_divided_by_n_is_no_error_rate() -> None:
    # E47: a score in the wrong order has AUC 0, and the printed mean is n+ n- / n
    positive = np.arange(10) < 5
    scores = np.where(positive, -1.0, 1.0)
    wrong = float(np.sum(scores[positive][:, None] <= scores[~positive]))
    assert wrong / 10 == 2.5
    assert wrong / 25 == 1.0


def test_the_products_of_algorithm_2_conform_with_a_row_a_point_only() -> None:
    # E51: D = max(0, 1 - A (w'X)) against D = max(0, 1 - A X w)
    X, positive = rows()
    A = (np.eye(18)[:7, None] - np.eye(18)[None, 7:]).reshape(77, 18)
    w = np.ones(3)
    with pytest.raises(ValueError, match=r"mismatch|align"):
        np.matmul(A, w @ X)
    margins = (X[positive] @ w)[:, None] - X[~positive] @ w
    np.testing.assert_allclose(A @ X @ w, margins.ravel())
