"""AUC, concordance, AUC over groups and their standard errors against double loops and draws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from aucert.exact.pairs.auc import auc, partial_auc
from aucert.exact.pairs.concordance import (
    compare_models,
    concordance,
    concordance_index,
    delong,
    group_auc,
    uno_concordance,
)
from aucert.exact.pairs.kinds import censoring_weights
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from loops import each, seeds
from ordered_naive import naive_ordered, naive_survival


@given(st.lists(st.tuples(st.integers(-2, 2), st.booleans(), st.integers(1, 3)), min_size=2))
def test_auc_is_the_double_loop_with_half_ties(rows):
    scores = np.array([row[0] for row in rows], dtype=float)
    positive = np.array([row[1] for row in rows])
    weight = np.array([row[2] for row in rows], dtype=float)
    if positive.all() or not positive.any():
        return
    right = total = 0.0
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            credit = 0.5 if scores[i] == scores[j] else float(scores[i] > scores[j])
            right += weight[i] * weight[j] * credit
            total += weight[i] * weight[j]
    assert auc(scores, positive, weight) == pytest.approx(right / total, abs=1e-12)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(-2, 2), st.booleans()), min_size=2), st.floats(0.01, 1))
def test_partial_auc_is_that_of_scikit_learn(rows, fpr_max):
    scores, positive = np.array([r[0] for r in rows], float), np.array([r[1] for r in rows])
    if not positive.all() and positive.any():
        known = roc_auc_score(positive, scores, max_fpr=fpr_max)
        assert partial_auc(scores, positive, fpr_max) == pytest.approx(known, abs=1e-12)


def test_partial_auc_has_the_values_of_proc():
    """NDKA of its data aSAH, 72 against 41 rows; those beyond the first 16 do not matter."""
    order = np.array(list("PNPNPNPNNPPPPNNN" + 64 * "N" + 33 * "P"))
    scores = -np.minimum(np.arange(113.0), 16)
    area = partial_auc(scores, order == "P", 0.1, corrected=False)
    assert area == pytest.approx(0.0107046070460705, abs=1e-14)
    assert partial_auc(scores, order == "P", 0.1) == pytest.approx(0.530024247610897, abs=1e-14)


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


def one_by_one(time, event, scores, tol, weight=None) -> tuple:
    """What scikit-survival documents, pair by pair: index, concordant, discordant, ties."""
    upper = event if weight is None else event & (weight > 0)
    true = naive_survival(time, upper, weight, event)
    apart = [scores[i] - scores[j] for i, j in zip(true.i, true.j, strict=True)]
    signs = [0 if abs(t) <= tol else int(np.sign(t)) for t in apart]
    value = sum(c * Fraction(1 + s, 2) for c, s in zip(true.weight, signs, strict=True))
    tied_time = sum(time[i] == time[j] for i, j in zip(true.i, true.j, strict=True))
    return float(value), signs.count(1), signs.count(-1), signs.count(0), tied_time


@each("seed", seeds(60))
def test_harrell_is_that_of_a_double_loop_to_the_last_bit(seed: int) -> None:
    time, event, scores = some_survival(seed)
    for tol in (0.0, 1e-8, 0.3):
        found = concordance_index(time, event, scores, tol)
        numbers = (found.concordant, found.discordant, found.tied_risk, found.tied_time)
        assert (found.value, *numbers) == one_by_one(time, event, scores, tol)


@each("seed", seeds(20))
def test_uno_is_that_of_a_double_loop(seed: int) -> None:
    time, event, scores = some_survival(seed)
    tau = float(time.max())
    if not (event & (time < tau)).any():
        return
    weight = censoring_weights(time, event, tau)
    found = uno_concordance(time, event, scores, tau)
    wanted = one_by_one(time, event, scores, 1e-8, weight)
    assert found.value == pytest.approx(wanted[0], rel=1e-14)
    numbers = (found.concordant, found.discordant, found.tied_risk, found.tied_time)
    assert numbers == wanted[1:]


@each("kind", ["harrell", "uno"])
@each("seed", seeds(4))
def test_influence_is_the_derivative_by_row_weights(kind: str, seed: int) -> None:
    time, event, scores = some_survival(4 * seed + 1)
    tau, weight = float(time.max()), np.ones(time.size)
    found = concordance_index(time, event, scores, 0.0)
    if kind == "uno":
        weight = censoring_weights(time, event, tau)
        found = uno_concordance(time, event, scores, tau, tied_tol=0.0)
    true = naive_survival(time, event & (weight > 0), weight, event)
    i, j, c = np.array(true.i), np.array(true.j), np.array(true.weight, dtype=float)
    right = 0.5 + 0.5 * np.sign(scores[i] - scores[j])

    def index(rows: np.ndarray) -> float:
        """The index where each row counts `rows` times."""
        mass = c * rows[i] * rows[j]
        return float(mass @ right / mass.sum())

    for row in range(time.size):
        step = 1e-4 * (np.arange(time.size) == row)
        slope = (index(1 + step) - index(1 - step)) / 2e-4
        assert found.influence[row] == pytest.approx(slope, abs=1e-7)


@each("share", [None, "equal", "rows"])
@each("seed", seeds(6))
def test_groups_as_units_have_the_spread_of_the_groups(seed: int, share: str | None) -> None:
    """The residuals of a ratio of sums over groups, by a double loop."""
    rng = np.random.default_rng(seed)
    n = 60
    group, key, scores = rng.integers(0, 9, n), rng.integers(0, 3, n), rng.normal(size=n).round(1)
    key = np.minimum(key, 1) if share == "rows" else key  # as `group_auc` has it
    key[group == 8] = 1  # a group without a pair
    true = naive_ordered(group, key, None, None)
    i, j = np.array(true.i), np.array(true.j)
    mass = np.bincount(group[i], minlength=9)
    right = np.bincount(group[i], 0.5 + 0.5 * np.sign(scores[i] - scores[j]), minlength=9)
    held = mass > 0
    if share is not None:
        of = np.bincount(group, minlength=9) if share == "rows" else np.ones(9)
        right, mass = of * right / np.where(held, mass, 1.0), of * held
    value = right.sum() / mass.sum()
    wanted = (right - value * mass)[held] / mass.sum()
    wanted *= np.sqrt(held.sum() / (held.sum() - 1))
    per_row = np.bincount(group)[group] if share == "rows" else share
    pairs = OrderedPairs(group, key, share=per_row)
    if share is not None and key.max() == 1:
        whole = group_auc(group, key, scores, share)
        assert whole.value == pytest.approx(value, rel=1e-13)
        assert abs(float(whole.influence.sum())) < 1e-12
    found = concordance(pairs, scores, units="groups")
    assert found.value == concordance(pairs, scores).value == pytest.approx(value, rel=1e-13)
    assert found.influence == pytest.approx(wanted, abs=1e-14)
    assert pairs.groups_with_pairs == held.sum() < 9


def some_scores(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two models' scores with ties, and classes of two rows or more."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 50))
    positive = rng.random(n) < 0.4
    positive[:4] = [True, True, False, False]
    base = rng.normal(size=n) + positive
    return np.round(base, seed % 3), np.round(base + rng.normal(size=n), 1), positive


def by_definition(scores: list[np.ndarray], positive: np.ndarray) -> np.ndarray:
    """The covariance matrix of the models' AUC, by the placements of a double loop."""
    above = [np.subtract.outer(s[positive], s[~positive]) for s in scores]
    right = [(t > 0) + 0.5 * (t == 0) for t in above]
    of_plus, of_minus = np.array([t.mean(axis=1) for t in right]), [t.mean(axis=0) for t in right]
    plus, minus = np.atleast_2d(np.cov(of_plus)), np.atleast_2d(np.cov(np.array(of_minus)))
    return plus / positive.sum() + minus / (~positive).sum()


@each("seed", seeds(40))
def test_variance_and_covariance_are_those_of_the_definition(seed: int) -> None:
    first, second, positive = some_scores(seed)
    wanted = by_definition([first, second], positive)
    one, other = delong(first, positive), delong(second, positive)
    assert one.value == pytest.approx(auc(first, positive), rel=1e-15)
    assert one.standard_error**2 == pytest.approx(wanted[0, 0], rel=1e-12, abs=1e-15)
    assert one.influence @ other.influence == pytest.approx(wanted[0, 1], rel=1e-10, abs=1e-15)
    found, same = compare_models(one, other), compare_models(one, one)
    assert found.difference == one.value - other.value
    assert (same.difference, same.standard_error, same.z, same.p_value) == (0, 0, 0, 1)
    if found.standard_error > 0:
        assert found.z == found.difference / found.standard_error
        assert found.p_value == pytest.approx(2 * norm.sf(abs(found.z)), rel=1e-9)
        ends = norm.interval(0.95, found.difference, found.standard_error)
        assert found.interval == pytest.approx(ends, abs=1e-12)
    for logit in (False, True):
        inner, outer = (one.interval(level, logit) for level in (0.95, 0.99))
        assert 0 <= outer[0] <= inner[0] <= one.value <= inner[1] <= outer[1] <= 1
        assert inner[0] < inner[1] or one.value in (0, 1)
    variance = wanted[0, 0] + wanted[1, 1] - 2 * wanted[0, 1]
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-9, abs=1e-14)


def test_two_models_without_variance_are_not_said_to_differ() -> None:
    """One parts the classes, one is constant: z was infinite and p = 0, on four rows too."""
    positive = np.array([True, True, False, False])
    apart, flat = delong(np.array([2.0, 2, 1, 1]), positive), delong(np.ones(4), positive)
    found = compare_models(apart, flat)
    assert (found.difference, found.standard_error) == (0.5, 0.0)
    assert np.isnan([found.z, found.p_value, *found.interval]).all()
