from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.errors import InputError
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss.row_average import Moments, moments
from aucert.exact.square_loss.support import SupportLoss, optimum_on
from loops import each, seeds
from pairwise import best_subset, differences, least_mean_square, mean_square

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
def test_the_value_is_that_of_the_mean_over_pairs(kind) -> None:
    X, positive, weight = draw(kind)
    loss = support_loss(X, positive, weight)
    w = np.linspace(-1, 1, 6) / [1, 1e3, 1, 1, 1, 1]
    assert loss.value(w) == pytest.approx(mean_square(X, positive, w, weight), rel=1e-10)


@each("kind", KINDS)
@each("seed", seeds(3))
def test_the_minimum_is_that_of_least_squares_over_the_pairs(kind, seed) -> None:
    X, positive, weight = draw(kind, seed)
    loss = support_loss(X, positive, weight)
    unit = X / np.maximum(np.abs(X).max(axis=0), 1e-300)  # F* does not depend on the units
    for support in supports():
        expected = least_mean_square(unit, positive, list(support), weight)
        assert loss.optimum(support).value == pytest.approx(expected, abs=1e-9), support


@each("kind", KINDS)
def test_the_minimiser_attains_the_minimum_and_stays_on_its_support(kind) -> None:
    X, positive, weight = draw(kind)
    loss = support_loss(X, positive, weight)
    for support in supports():
        found = loss.optimum(support)
        assert mean_square(X, positive, found.w, weight) == pytest.approx(found.value, abs=1e-9)
        assert set(np.flatnonzero(found.w)) <= set(support)
        np.testing.assert_array_equal(found.support, support)


def test_the_minimum_is_exactly_zero_where_all_pairs_can_have_margin_one() -> None:
    X, positive, _ = draw("wide")  # 5 rows: from 4 features on every pair can be met
    loss = support_loss(X, positive)
    for support in supports():
        found = loss.optimum(support)
        assert np.isinf(found.q) == (len(support) >= 4)
        if len(support) >= 4:
            assert found.value == 0.0
            np.testing.assert_allclose(differences(X, positive) @ found.w, 1.0, rtol=1e-6)


def test_a_feature_with_another_constant_in_each_class_separates() -> None:
    X, positive, _ = draw("separable")
    found = support_loss(X, positive).optimum([2])
    assert (found.value, found.q) == (0.0, np.inf)
    np.testing.assert_allclose(differences(X, positive) @ found.w, 1.0, rtol=1e-12)


@each("form", [np.array, sp.csr_matrix])
@each("constant", [0.0, 0.1, -7.3, 1e9, -7.3e9])
def test_a_constant_feature_is_no_information_whatever_its_rounding(form, constant) -> None:
    X, positive, _ = draw("plain")
    X[:, 3] = constant
    loss = support_loss(form(X), positive)
    assert loss.optimum([3]).value == 1.0
    assert loss.optimum([0, 3]).value == pytest.approx(loss.optimum([0]).value, rel=1e-12)


@each("seed", seeds(3))
def test_a_redundant_feature_changes_nothing(seed) -> None:
    X, positive, _ = draw("duplicates", seed)
    loss = support_loss(X, positive)
    alone = loss.optimum([0, 2]).value
    assert loss.optimum([0, 2, 3]).value == pytest.approx(alone, rel=1e-9)
    assert loss.optimum([0, 2, 3, 4]).value == pytest.approx(alone, rel=1e-9)


def test_units_and_origin_of_the_features_do_not_matter() -> None:
    X, positive, _ = draw("plain")
    units, loss = np.array([1e-6, 1e6, -1.0, 3.0, 0.1, 100.0]), support_loss(X, positive)
    for other in (support_loss(X * units, positive), support_loss(X + 1 / units, positive)):
        for support in supports():
            value = loss.optimum(support).value
            assert other.optimum(support).value == pytest.approx(value, rel=1e-8)


@each("kind", KINDS)
@each("lam", [1e-2, 1.0])
def test_with_a_penalty_the_minimum_is_that_of_ridge_regression_over_pairs(kind, lam) -> None:
    X, positive, weight = draw(kind)
    loss = support_loss(X, positive, weight, lam)
    for support in supports():
        found = loss.optimum(support)
        expected = least_mean_square(X, positive, list(support), weight, lam)
        assert found.value == pytest.approx(expected, rel=1e-6, abs=1e-9)
        assert loss.value(found.w) == pytest.approx(found.value, rel=1e-7, abs=1e-10)


@each("kind", KINDS)
@each("seed", seeds(3))
def test_additions_are_the_minima_with_one_feature_more(kind, seed) -> None:
    loss = support_loss(*draw(kind, seed))
    for support in supports():
        values = loss.additions(support)
        for i in range(6):
            direct = loss.optimum(set(support) | {i}).value
            assert values[i] == pytest.approx(direct, abs=1e-9), (support, i)


@each("kind", [kind for kind in KINDS if kind != "wide"])
def test_additions_stay_right_where_features_nearly_coincide(kind) -> None:
    X, positive, weight = draw(kind)
    for distance in (1e-2, 1e-4, 1e-5):
        near = np.random.default_rng(7).normal(size=X.shape[0])
        X[:, 5] = X[:, 0] + distance * near
        X[:, 4] = X[:, 0] + X[:, 5] - distance * near * 0.5
        loss = support_loss(X, positive, weight)
        for support in supports():
            values = loss.additions(support)
            direct = [loss.optimum(set(support) | {i}).value for i in range(6)]
            np.testing.assert_allclose(values, direct, rtol=1e-6, atol=1e-9)


@each("distance", [0.0, 1e-7, 1e-5, 1e-3, 1e-1])
@each("lam", [0.0, 0.1])
def test_all_swaps_at_once_are_those_one_by_one(distance: float, lam: float) -> None:
    rng = np.random.default_rng(3)
    y = rng.uniform(size=200) < 0.4
    X = rng.normal(size=(200, 14)) + 0.4 * y[:, None]
    X[:, 9] = X[:, 1] + distance * rng.normal(size=200)  # near one inside the support
    X[:, 10] = X[:, 8] + X[:, 2] + distance * rng.normal(size=200)  # near a sum of both kinds
    X[:, 11], X[:, 12] = 1.0, y  # constant, and constant within the classes
    loss = SupportLoss(moments(Rows(X), y, AllPairs()), lam)
    for support in ((0, 1, 2, 3, 4), (1,), (0, 1, 2, 9), (0, 8, 2, 10), (0, 12), tuple(range(14))):
        chosen, values = sorted(support), loss.swaps(support)
        for place in range(len(chosen)):
            rest = [j for j in chosen if j != chosen[place]]
            slow = loss.additions(rest)
            slow[chosen] = np.nan
            np.testing.assert_allclose(values[place], slow, rtol=1e-6, atol=1e-9)


def test_swaps_that_there_is_no_time_for_are_left_out() -> None:
    loss = support_loss(*draw("duplicates"))
    assert np.isnan(loss.swaps((0, 3), end=0.0)).all()  # equal features: one by one, so none
    assert loss.best_swap((0, 3), end=0.0) is None
    assert np.isfinite(loss.swaps((0, 3))[:, [1, 2, 4, 5]]).all()


def test_the_best_swap_is_the_lowest_of_all() -> None:
    loss = support_loss(*draw("plain"))
    swap = loss.best_swap([5, 1])
    assert swap is not None
    after = {
        (out, into): loss.optimum({1, 5} - {out} | {into}).value
        for out in (1, 5)
        for into in (0, 2, 3, 4)
    }
    assert (swap.out, swap.into) == min(after, key=lambda pair: after[pair])
    assert swap.value == pytest.approx(min(after.values()), rel=1e-10)


def test_there_is_no_swap_with_no_feature_in_or_none_out() -> None:
    loss = support_loss(*draw("plain"))
    assert loss.best_swap([]) is None
    assert loss.best_swap(range(6)) is None


def test_swapping_until_nothing_improves_finds_the_best_subset_of_an_easy_case() -> None:
    X, positive, _ = draw("plain", seed=5)
    loss, support = support_loss(X, positive), [0, 1]
    while (swap := loss.best_swap(support)) and swap.value < loss.optimum(support).value:
        support = [swap.into if j == swap.out else j for j in support]
    best, value = best_subset(X / X.std(axis=0), positive, 2)
    assert tuple(sorted(support)) == best
    assert loss.optimum(support).value == pytest.approx(value, rel=1e-9)


@each("form", [np.array, sp.csr_matrix])
@each("kind", ["plain", "weighted", "separable"])
def test_the_minimum_on_few_features_needs_only_their_moments(form, kind) -> None:
    X, positive, weight = draw(kind)
    whole = support_loss(X, positive, weight, lam=0.2).optimum([4, 2])
    few = optimum_on(Rows(form(X)), positive, [4, 2], AllPairs(weight), lam=0.2)
    np.testing.assert_array_equal(few.support, [2, 4])
    np.testing.assert_allclose(few.w, whole.w, rtol=1e-9)
    assert few.value == pytest.approx(whole.value, rel=1e-10)


@each("support", [[0, 6], [-1], [1, 1], [0.5], [[0, 1]]])
def test_what_is_no_support_is_refused(support) -> None:
    loss = support_loss(*draw("plain"))
    with pytest.raises(InputError, match="support"):
        loss.optimum(support)


def test_moments_that_do_not_fit_are_refused() -> None:
    good = np.ones(2), np.eye(2)
    for delta, sigma in [(np.ones(3), good[1]), (good[0] * np.nan, good[1])]:
        with pytest.raises(InputError):
            SupportLoss(Moments(delta, sigma))
    with pytest.raises(InputError, match="lam"):
        SupportLoss(Moments(*good), lam=-1.0)
    with pytest.raises(InputError, match="w must have 2"):
        SupportLoss(Moments(*good)).value(np.ones(3))
