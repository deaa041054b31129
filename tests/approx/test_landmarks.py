"""Landmarks: how each method draws, and leverage scores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from aucert.approx.landmarks import (
    LANDMARKS,
    Landmarks,
    choose_landmarks,
    draw_by_class,
    draw_by_leverage,
    draw_by_pivots,
    kmeans,
    leverage_scores,
    shares,
)
from aucert.exact.errors import InputError
from aucert.exact.spaces.kernels import Gaussian, Laplacian, Linear
from loops import each, seeds

KERNEL = Gaussian(0.3)
X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.arange(40) % 4 == 0


@given(st.lists(st.integers(1, 200), min_size=1, max_size=6), st.data())
def test_shares_add_up_and_are_as_near_to_proportion_as_they_can(sizes, data) -> None:
    total = data.draw(st.integers(len(sizes), sum(sizes)))
    counts = shares(np.array(sizes), total)
    quota = total * np.array(sizes) / sum(sizes)
    assert counts.sum() == total
    assert (counts >= 1).all() and (counts <= sizes).all()
    if (quota >= 1).all():
        assert np.abs(counts - quota).max() < 1


def test_every_centre_is_the_mean_of_the_rows_nearest_to_it() -> None:
    found = kmeans(X, 8, seed=0)
    assert found.index is None
    nearest = ((X[:, None] - found.rows[None]) ** 2).sum(-1).argmin(axis=1)
    means = np.array([X[nearest == k].mean(axis=0) for k in range(8)])
    np.testing.assert_allclose(found.rows, means, atol=1e-12)
    few = np.repeat(X[:3], 10, axis=0)
    centres = kmeans(few, 10, seed=0).rows
    np.testing.assert_allclose(np.unique(centres, axis=0), np.unique(X[:3], axis=0), rtol=1e-14)
    assert len(kmeans(np.ones((5, 2)), 3).rows) == 1


def choose(method: str, rows: object = X, count: int = 8, seed: int = 1) -> Landmarks:
    return choose_landmarks(method, rows, count, KERNEL, Y, seed)


WRONG: list[tuple[str, Callable[[], object]]] = [
    ("only 40 rows", lambda: choose("kmeans", count=41)),
    ("whole number", lambda: choose_landmarks("pivoted", X, 2.5, KERNEL, Y)),  # type: ignore[arg-type]
    ("whole number", lambda: choose("uniform", count=0)),
    (
        "row 3, column 1",
        lambda: choose("uniform", np.where(np.arange(120).reshape(40, 3) == 10, np.nan, X)),
    ),
    ("each of the 2 classes", lambda: draw_by_class(X, 1, Y)),
    ("labels of shape", lambda: draw_by_class(X, 3, Y[:5])),
    ("requires y", lambda: choose_landmarks("stratified", X, 3, KERNEL)),
    ("zero on every row", lambda: draw_by_pivots(np.zeros((4, 2)), 2, Linear())),
    ("one of uniform", lambda: choose_landmarks("grid", X, 3, KERNEL)),
    ("ridge must be > 0", lambda: leverage_scores(LX, KERNEL, 0.0)),
    ("n_pilot must be", lambda: leverage_scores(LX, KERNEL, 0.1, 0)),
    ("zero on every row", lambda: leverage_scores(np.zeros((4, 2)), Linear(), 0.1)),
]


@each(("word", "call"), WRONG)
def test_what_cannot_be_chosen_from_is_refused(word: str, call: Callable[[], object]) -> None:
    with pytest.raises(InputError, match=word):
        call()


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
    found = draw_by_pivots(np.repeat(X[:12], 3, axis=0), 36, KERNEL, seed)
    assert len(found.rows) == 12 == np.unique(found.rows, axis=0).shape[0]  # equal rows: one


LX = np.random.default_rng(0).normal(size=(60, 3))


@each("kernel", [KERNEL, Laplacian(0.2), Linear()], ids=str)
@each("ridge", [1e-3, 0.1])
def test_scores_are_the_diagonal_of_the_smoother(kernel, ridge: float) -> None:
    thin = np.where(np.abs(LX) > 0.7, LX, 0.0)
    for rows in (LX, thin):
        K = kernel(rows, rows)
        wanted = np.diag(K @ np.linalg.inv(K + 60 * ridge * np.eye(60)))
        found = leverage_scores(rows if rows is LX else sp.csr_array(thin), kernel, ridge)
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-10)


@each("n_pilot", [5, 20, 45])
def test_a_pilot_gives_upper_bounds(n_pilot: int) -> None:
    exact = leverage_scores(LX, KERNEL, 0.01)
    found = leverage_scores(LX, KERNEL, 0.01, n_pilot, seed=1)
    assert (found >= exact - 1e-12).all() and (found <= 1).all()
    assert (leverage_scores(LX, KERNEL, 0.01, 500) == exact).all()


@pytest.mark.slow  # 6,000 draws
def test_the_first_draw_follows_the_scores() -> None:
    scores = leverage_scores(LX[:6], KERNEL, 0.05)
    rng, count = np.random.default_rng(2), np.zeros(6)
    for _ in range(6000):
        count[draw_by_leverage(LX[:6], 1, KERNEL, rng, ridge=0.05)[0]] += 1
    share = scores / scores.sum()
    assert np.abs(count / 6000 - share).max() < 4 * np.sqrt(share.max() / 6000)


@each("method", LANDMARKS)
def test_a_seed_names_the_choice_of_different_rows(method: str) -> None:
    found = choose(method)
    if found.index is not None and method != "leverage":
        assert np.unique(found.index).size == 8
        np.testing.assert_array_equal(found.rows, X[found.index])
    np.testing.assert_array_equal(found.rows, choose(method).rows)
    assert not np.array_equal(found.rows, choose(method, seed=2).rows)
    rng = np.random.default_rng(1)
    first = choose_landmarks(method, X, 8, KERNEL, Y, rng).rows
    np.testing.assert_array_equal(first, found.rows)
    assert not np.array_equal(first, choose_landmarks(method, X, 8, KERNEL, Y, rng).rows)
    every = choose(method, count=40).rows  # as many as there are rows
    np.testing.assert_array_equal(np.unique(every, axis=0), np.unique(X, axis=0))
