"""The minima of the square loss on few features, against least squares over the pairs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss.row_average import moments
from aucert.exact.square_loss.support import SupportLoss, optimum_on, swap_descent
from loops import each, seeds
from pairwise import differences, least_mean_square, mean_square

KINDS = ["plain", "wide", "duplicates", "constants", "separable", "weighted"]


def draw(kind: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """X with 6 features, the positive rows, row weights."""
    rng = np.random.default_rng(seed)
    n = 5 if kind == "wide" else 17
    positive = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, 6)) * [1, 1e3, 1e-3, 1, 1, 1] + 0.4 * positive[:, None]
    if kind == "duplicates":
        X[:, 3] = X[:, 0]
        X[:, 4] = 2 * X[:, 0] - X[:, 2]
    if kind == "constants":
        X[:, 1], X[:, 3], X[:, 4] = 0.1, 7.3, 0.0
    if kind == "separable":
        X[:, 2] = np.where(positive, 0.7, 0.1)
    weight = rng.integers(1, 4, size=n).astype(float) if kind == "weighted" else None
    return X, positive, weight


def support_loss(X, positive, weight=None, lam: float = 0.0) -> SupportLoss:
    return SupportLoss(moments(Rows(X), positive, AllPairs(weight)), lam)


def supports(d: int = 6):
    return [s for k in range(d + 1) for s in itertools.combinations(range(d), k)]


@each("kind", KINDS)
@each("seed", seeds(3))
@each("lam", [0.0, 1e-2, 1.0])
def test_minima_are_those_of_least_squares_over_the_pairs(kind: str, seed: int, lam: float) -> None:
    X, positive, weight = draw(kind, seed)
    loss, at = support_loss(X, positive, weight, lam), np.linspace(-1, 1, 6) / [1, 1e3, 1, 1, 1, 1]
    wanted = mean_square(X, positive, at, weight) + lam / 2 * at @ at
    assert loss.value(at) == pytest.approx(wanted, rel=1e-10)
    unit = X / np.maximum(np.abs(X).max(axis=0), 1e-300)  # without lam F* has no units
    for support in supports():
        found = loss.optimum(support)
        truth = least_mean_square(unit if lam == 0 else X, positive, list(support), weight, lam)
        assert found.value == pytest.approx(truth, rel=1e-6, abs=1e-9), support
        reached = mean_square(X, positive, found.w, weight) + lam / 2 * found.w @ found.w
        assert reached == pytest.approx(found.value, rel=1e-6, abs=1e-9)
        np.testing.assert_array_equal(found.support, support)
        assert set(np.flatnonzero(found.w)) <= set(support)
        if kind == "wide" and lam == 0:  # 5 rows: from 4 features on every pair can be met
            assert np.isinf(found.q) == (len(support) >= 4) == (found.value == 0.0)
    rows = Rows(sp.csr_matrix(X) if seed else X)  # and from the moments of the few alone
    few, whole = optimum_on(rows, positive, [4, 2], AllPairs(weight), lam), loss.optimum([4, 2])
    np.testing.assert_array_equal(few.support, [2, 4])
    np.testing.assert_allclose(few.w, whole.w, rtol=1e-6, atol=1e-12)
    if lam == 0 and kind == "separable":  # another constant in each class
        found = loss.optimum([2])
        assert (found.value, found.q) == (0.0, np.inf)
        np.testing.assert_allclose(differences(X, positive) @ found.w, 1.0, rtol=1e-12)


@each("form", [np.array, sp.csr_matrix])
@each("constant", [0.0, 0.1, -7.3, 1e9, -7.3e9])
def test_constants_units_and_origin_do_not_matter(form: Any, constant: float) -> None:
    X, positive, _ = draw("plain")
    X[:, 3] = constant
    loss = support_loss(form(X), positive)
    assert loss.optimum([3]).value == 1.0
    assert loss.optimum([0, 3]).value == pytest.approx(loss.optimum([0]).value, rel=1e-12)
    X, units = draw("plain")[0], np.array([1e-6, 1e6, -1.0, 3.0, 0.1, 100.0])
    loss = support_loss(X, positive)
    for other in (support_loss(X * units, positive), support_loss(X + 1 / units, positive)):
        for support in supports():
            value = loss.optimum(support).value
            assert other.optimum(support).value == pytest.approx(value, rel=1e-8)


def test_the_best_swap_is_the_lowest_of_all_that_there_is_time_for() -> None:
    loss = support_loss(*draw("duplicates"))
    assert np.isnan(loss.swaps((0, 3), end=0.0)).all()  # equal features: one by one, so none
    assert loss.best_swap((0, 3), end=0.0) is None
    loss = support_loss(*draw("plain"))
    assert loss.best_swap([]) is None and loss.best_swap(range(6)) is None
    swap = loss.best_swap([5, 1])
    assert swap is not None
    pairs = [(out, into) for out in (1, 5) for into in (0, 2, 3, 4)]
    after = {(out, into): loss.optimum({1, 5} - {out} | {into}).value for out, into in pairs}
    assert (swap.out, swap.into) == min(after, key=lambda pair: after[pair])
    assert swap.value == pytest.approx(min(after.values()), rel=1e-10)
    X, positive, _ = draw("plain", seed=5)
    unit, chosen = X / X.std(axis=0), itertools.combinations(range(6), 2)
    least = {pair: least_mean_square(unit, positive, list(pair)) for pair in chosen}
    best = min(least, key=lambda pair: least[pair])
    found = swap_descent(support_loss(X, positive), [0, 1])
    assert tuple(found.support) == best and found.value == pytest.approx(least[best], rel=1e-9)


@each("distance", [0.0, 1e-7, 1e-5, 1e-3, 1e-1])
@each("lam", [0.0, 0.1])
def test_additions_and_swaps_at_once_are_those_one_by_one(distance: float, lam: float) -> None:
    rng = np.random.default_rng(3)
    y = rng.uniform(size=200) < 0.4
    X = rng.normal(size=(200, 14)) + 0.4 * y[:, None]
    X[:, 9] = X[:, 1] + distance * rng.normal(size=200)  # near one inside the support
    X[:, 10] = X[:, 8] + X[:, 2] + distance * rng.normal(size=200)  # near a sum of both kinds
    X[:, 11], X[:, 12] = 1.0, y  # constant, and constant within the classes
    loss = support_loss(X, y, lam=lam)
    for support in ((0, 1, 2, 3, 4), (1,), (0, 1, 2, 9), (0, 8, 2, 10), (0, 12), tuple(range(14))):
        chosen, values = sorted(support), loss.swaps(support)
        more = [loss.optimum({*support, i}).value for i in range(14)]
        np.testing.assert_allclose(loss.additions(support), more, rtol=1e-6, atol=1e-9)
        for place, out in enumerate(chosen):
            slow = loss.additions([j for j in chosen if j != out])
            slow[chosen] = np.nan
            np.testing.assert_allclose(values[place], slow, rtol=1e-6, atol=1e-9)
