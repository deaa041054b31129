"""Concordance, AUC over groups and their standard errors against double loops."""

from __future__ import annotations

import importlib
from fractions import Fraction

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.exact.pairs.auc import auc
from aucert.exact.pairs.concordance import (
    compare_models,
    concordance,
    concordance_index,
    group_auc,
    right_share,
    share_between,
    uno_concordance,
)
from aucert.exact.pairs.kinds import censoring_weights
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from loops import each, seeds


def some_survival(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, events and scores with ties of every kind."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 60))
    time, event = rng.integers(0, 1 + seed % 12 + n // 4, n).astype(float), rng.random(n) < 0.6
    time, event[0] = time + 1, True
    time[:2] = [0, 1]
    scores = np.round(rng.normal(size=n), seed % 3)
    if seed % 4 == 0:
        scores = scores + 1e-8 * rng.integers(-2, 3, n)
    return time, event, scores


def double_loop(time, event, scores, tol, weight=None) -> tuple:
    """What scikit-survival documents, pair by pair: index, concordant, discordant, ties."""
    concordant = discordant = tied_risk = tied_time = 0
    right, mass = 0.0, 0.0
    for i in range(time.size):
        for j in range(time.size):
            same = time[i] == time[j] and not event[j]
            if not event[i] or i == j or not (time[i] < time[j] or same):
                continue
            w = 1.0 if weight is None else weight[i]
            if w == 0:
                continue
            mass += w
            tied_time += same
            if abs(scores[j] - scores[i]) <= tol:
                tied_risk, right = tied_risk + 1, right + w / 2
            elif scores[j] < scores[i]:
                concordant, right = concordant + 1, right + w
            else:
                discordant += 1
    return right / mass, concordant, discordant, tied_risk, tied_time


@each("seed", seeds(60))
def test_harrell_is_that_of_a_double_loop_to_the_last_bit(seed: int) -> None:
    time, event, scores = some_survival(seed)
    for tol in (0.0, 1e-8, 0.3):
        found = concordance_index(time, event, scores, tol)
        numbers = (found.concordant, found.discordant, found.tied_risk, found.tied_time)
        assert (found.value, *numbers) == double_loop(time, event, scores, tol)


@each("seed", seeds(20))
def test_uno_is_that_of_a_double_loop(seed: int) -> None:
    time, event, scores = some_survival(seed)
    tau = float(time.max())
    if not (event & (time < tau)).any():
        return
    weight = censoring_weights(time, event, tau)
    found = uno_concordance(time, event, scores, tau)
    wanted = double_loop(time, event, scores, 1e-8, weight)
    assert found.value == pytest.approx(wanted[0], rel=1e-14)
    numbers = (found.concordant, found.discordant, found.tied_risk, found.tied_time)
    assert numbers == wanted[1:]


@pytest.mark.slow
def test_the_package_itself_agrees() -> None:
    try:
        metrics = importlib.import_module("sksurv.metrics")
    except ImportError:
        pytest.skip("scikit-survival is not installed")
    for seed in range(371):
        time, event, scores = some_survival(seed)
        wanted = metrics.concordance_index_censored(event, time, scores)
        found = concordance_index(time, event, scores)
        numbers = (found.concordant, found.discordant, found.tied_risk, found.tied_time)
        assert (found.value, *numbers) == tuple(wanted)


def weighted_index(time, event, scores, rows: np.ndarray, weight: np.ndarray) -> float:
    """The index where each row counts `rows` times."""
    right = mass = 0.0
    for i in range(time.size):
        for j in range(time.size):
            later = time[i] < time[j] or (time[i] == time[j] and not event[j])
            if event[i] and i != j and later:
                pair = rows[i] * rows[j] * weight[i]
                mass += pair
                right += pair * (0.5 + 0.5 * np.sign(scores[i] - scores[j]))
    return right / mass


@each("kind", ["harrell", "uno"])
@each("seed", seeds(4))
def test_influence_is_the_derivative_by_row_weights(kind: str, seed: int) -> None:
    time, event, scores = some_survival(4 * seed + 1)
    tau = float(time.max())
    weight = np.ones(time.size)
    found = concordance_index(time, event, scores, 0.0)
    if kind == "uno":
        weight = censoring_weights(time, event, tau)
        found = uno_concordance(time, event, scores, tau, tied_tol=0.0)
    for row in range(time.size):
        step = 1e-4 * (np.arange(time.size) == row)
        up = weighted_index(time, event, scores, 1 + step, weight)
        down = weighted_index(time, event, scores, 1 - step, weight)
        assert found.influence[row] == pytest.approx((up - down) / 2e-4, abs=1e-7)


def test_two_models_are_compared_on_the_same_rows() -> None:
    rng = np.random.default_rng(1)
    n = 150
    risk = rng.normal(size=n)
    time, event = rng.exponential(np.exp(-risk)), rng.random(n) < 0.8
    first, second = risk + 0.1 * rng.normal(size=n), rng.normal(size=n)
    one, other = (concordance_index(time, event, s) for s in (first, second))
    found = compare_models(one, other)
    assert found.difference == one.value - other.value and found.p_value < 1e-4
    values = []
    for _ in range(200):
        rows = rng.integers(0, n, n)
        pair = [concordance_index(time[rows], event[rows], s[rows]).value for s in (first, second)]
        values.append(pair[0] - pair[1])
    assert found.standard_error == pytest.approx(float(np.std(values)), rel=0.2)
    same = compare_models(one, one)
    assert (same.difference, same.standard_error, same.z, same.p_value) == (0, 0, 0, 1)


@each("share", ["equal", "rows"])
@each("seed", seeds(10))
def test_group_auc_is_the_mean_of_the_groups_auc(seed: int, share: str) -> None:
    rng = np.random.default_rng(seed)
    n = 50
    group, y = rng.integers(0, 6, n), rng.integers(0, 2, n)
    group[y == 1] %= 5  # the last group has one class
    scores = np.round(rng.normal(size=n), 1)
    total, mass = Fraction(0), Fraction(0)
    for g in range(6):
        rows = group == g
        if len(set(y[rows])) == 2:
            weight = 1 if share == "equal" else int(rows.sum())
            total += weight * Fraction(auc(scores[rows], y[rows] == 1))
            mass += weight
    found = group_auc(group, y, scores, share)
    assert found.value == pytest.approx(float(total / mass), rel=1e-14)
    assert abs(float(found.influence.sum())) < 1e-12


@each("share", [None, "equal"])
@each("seed", seeds(6))
def test_groups_as_units_have_the_spread_of_the_groups(seed: int, share: str | None) -> None:
    """The residuals of a ratio of sums over groups, by a double loop."""
    rng = np.random.default_rng(seed)
    n = 60
    group, key, scores = rng.integers(0, 9, n), rng.integers(0, 3, n), rng.normal(size=n).round(1)
    key[group == 8] = 1  # a group without a pair
    right, mass = np.zeros(9), np.zeros(9)
    for i in range(n):
        for j in range(n):
            if group[i] == group[j] and key[i] > key[j]:
                mass[group[i]] += 1
                right[group[i]] += 0.5 + 0.5 * np.sign(scores[i] - scores[j])
    held = mass > 0
    if share == "equal":
        right, mass = right / np.where(held, mass, 1.0), held.astype(float)
    value = right.sum() / mass.sum()
    wanted = (right - value * mass)[held] / mass.sum()
    wanted *= np.sqrt(held.sum() / (held.sum() - 1))
    pairs = OrderedPairs(group, key, share=share)
    found = concordance(pairs, scores, units="groups")
    assert found.value == concordance(pairs, scores).value == pytest.approx(value, rel=1e-13)
    assert found.influence == pytest.approx(wanted, abs=1e-14)
    assert pairs.groups_with_pairs == held.sum() < 9


def test_one_group_is_no_unit() -> None:
    with pytest.raises(InputError, match="groups as units need two"):
        concordance(OrderedPairs(None, [0, 1, 2]), [0.0, 1.0, 2.0], units="groups")
    with pytest.raises(InputError, match="units"):
        concordance(OrderedPairs(None, [0, 1, 2]), [0.0, 1.0, 2.0], units="queries")


@each("kind", ["plain", "weights", "shares", "equal"])
def test_bounds_between_two_scores_a_row_are_those_of_each_pair_at_its_worst(kind: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        n = int(rng.integers(4, 20))
        group, key = rng.integers(0, 2, n), rng.integers(0, 3, n)
        upper, lower = rng.integers(0, 4, (2, n)) if kind == "weights" else np.ones((2, n), int)
        share = {"shares": np.array([2.0, 0.5])[group], "equal": "equal"}.get(kind)
        try:
            pairs = OrderedPairs(group, key, upper, lower, share=share)
        except InputError:  # no two rows are ordered
            continue
        low = np.round(rng.normal(size=n), 1)
        high = low + np.round(rng.exponential(0.3, n), 1)
        mass = (group[:, None] == group) * (key[:, None] > key) * np.outer(upper, lower)
        weight = mass / mass.sum()
        if share is not None:
            each = [mass * np.equal.outer(group, g) * (group == g)[:, None] for g in (0, 1)]
            of = [1.0, 1.0] if kind == "equal" else [2.0, 0.5]
            held = [(k, part) for k, part in zip(of, each, strict=True) if part.sum()]
            weight = sum(k * p / p.sum() for k, p in held) / sum(k for k, _ in held)
        found = share_between(pairs, low, high)
        for value, (up, down) in zip(found, ((low, high), (high, low)), strict=True):
            worst = np.sum(weight * (np.sign(up[:, None] - down) + 1) / 2)
            assert value == pytest.approx(worst, abs=1e-12)
        for _ in range(5):
            between = low + (high - low) * rng.random(n)
            assert found[0] - 1e-12 <= right_share(pairs, between) <= found[1] + 1e-12


def test_bad_input_is_refused() -> None:
    time, event, scores = np.arange(4.0), np.ones(4, dtype=bool), np.zeros(4)
    with pytest.raises(InputError, match="finite"):
        concordance_index(time, event, [0, 1, np.nan, 2])
    with pytest.raises(InputError, match="4 rows"):
        concordance_index(time, event, [0, 1])
    with pytest.raises(InputError, match="tied_tol"):
        concordance_index(time, event, scores, -1.0)
    with pytest.raises(InputError, match="no pair"):
        concordance_index(time, ~event, scores)
    with pytest.raises(InputError, match="gain"):
        concordance(OrderedPairs(None, time, gain=time), scores)
    found = concordance_index(time, event, scores)
    with pytest.raises(InputError, match="same rows"):
        compare_models(found, concordance_index(time[1:], event[1:], scores[1:]))
    with pytest.raises(InputError, match="level"):
        found.interval(1.0)
