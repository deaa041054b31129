"""Entries of docs/errata.md that no claim shows: what is printed next to what is right."""

import numpy as np
import pytest

from aucert.approx.nystrom import nystrom_map
from aucert.exact.spaces.kernels import Gaussian

POSITIVE = np.arange(18) < 7
X = np.random.default_rng(0).normal(size=(18, 3)) + 0.5 * POSITIVE[:, None]


def test_e16_the_score_of_a_new_row_needs_the_approximate_features() -> None:
    kernel, S, new = Gaussian(0.3), X[:5], np.random.default_rng(1).standard_normal((4, 3))
    change = nystrom_map(kernel, S).transform
    right = kernel(new, S) @ np.linalg.pinv(kernel(S, S)) @ kernel(S, X)
    np.testing.assert_allclose(change(new) @ change(X).T, right, atol=1e-10)
    assert np.abs(kernel(new, X) - right).max() > 0.01


def test_e33_the_printed_hessian_of_a_block_is_not_symmetric() -> None:
    chosen, r = np.array([0, 3, 9, 12, 15]), POSITIVE.mean()
    means = np.stack([X[~POSITIVE].mean(axis=0), X[POSITIVE].mean(axis=0)])
    delta, sides = means[1] - means[0], POSITIVE.astype(int)[chosen]
    own, from_plus = X[chosen] - means[sides], X[chosen] - means[1]
    weights = 1 / np.where(sides == 1, r, 1 - r) / len(chosen)
    printed, right = (first.T @ (weights[:, None] * own) for first in (from_plus, own))
    assert np.abs(printed - printed.T).max() > 0.1

    def loss(w: np.ndarray) -> float:
        return float((1 - w @ delta) ** 2 + weights @ (own @ w) ** 2)

    w, v = np.array([0.3, -1.0, 0.7]), np.array([0.5, 2.0, -1.0])
    second = 2 * float(v @ (right + np.outer(delta, delta)) @ v)
    assert loss(w + v) - 2 * loss(w) + loss(w - v) == pytest.approx(second)


def test_e34_restricted_smoothness_needs_the_projection() -> None:
    H, v = np.array([[1.0, 0.9], [0.9, 1.0]]), np.array([1.0, 0.0])
    assert np.linalg.norm(H @ v) > 1.3 * (v @ H @ v)
    assert np.linalg.norm((H @ v)[:1]) == v @ H @ v


def test_e42_section_d_of_sht_uses_another_smoothness_bound_than_eq_13() -> None:
    n, k, lam, log = 1e6, 7, 1.3, np.log(1000)
    unit = 32 / 3 * k * log
    for r in (1e-4, 1e-3):  # n- stands for n in the print, and 1 for 1 - r
        base = lam / 2 - 6 * np.sqrt(2 * k * log / (r * n))
        convex, smooth = base**2 - unit / (r * n), 16 * k * log * (np.log(50) / 2 + log) / r
        printed = 3 * lam**2 * r / (128 * k * log) + 27 / (4 * n)
        printed -= (9 * np.sqrt(2) * lam / (16 * np.sqrt(k * log * n)) + 1 / n) * np.sqrt(r)
        assert printed == pytest.approx((base**2 - unit / (n * np.sqrt(r))) / (unit / r))
        assert abs(printed) > 5 * abs(convex / smooth)


def test_e48_the_printed_nystrom_map_does_not_give_the_nystrom_kernel() -> None:
    rows = np.random.default_rng(0).normal(size=(30, 3))
    E = np.exp(-0.5 * ((rows[:, None] - rows[None, :8]) ** 2).sum(-1))
    values, U = np.linalg.eigh(E[:8])
    wanted, root = E @ np.linalg.inv(E[:8]) @ E.T, np.diag(values**-0.5)
    right, printed = root @ U.T @ E.T, U @ root @ E.T
    np.testing.assert_allclose(right.T @ right, wanted, atol=1e-10)
    np.testing.assert_allclose(printed.T @ printed, E @ np.diag(1 / values) @ E.T)
    assert np.abs(printed.T @ printed - wanted).max() > 1
