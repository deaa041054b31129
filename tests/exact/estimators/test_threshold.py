"""Rules that set a threshold, against every possible cut."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucert.exact.estimators.thresholds import (
    RULES,
    all_cuts,
    get_rule,
    threshold_accuracy,
    threshold_equal_error,
    threshold_for_sensitivity,
    threshold_for_specificity,
    threshold_midpoint,
    threshold_youden,
)
from loops import each

EVERY_RULE = [
    *RULES.values(),
    partial(threshold_for_sensitivity, sensitivity=0.8),
    partial(threshold_for_specificity, specificity=0.8),
]


def rates(scores, positive, threshold: float, weight=None) -> tuple[float, float]:
    """Sensitivity and specificity, row by row."""
    weight = np.ones(len(scores)) if weight is None else np.asarray(weight, dtype=float)
    above = np.asarray(scores) > threshold
    return (
        float(weight[positive & above].sum() / weight[positive].sum()),
        float(weight[~positive & ~above].sum() / weight[~positive].sum()),
    )


@st.composite
def samples(draw) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Few rows with many ties, both classes, whole weights."""
    n = draw(st.integers(2, 9))
    scores = draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))
    positive = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    positive[:2] = [True, False]
    weight = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    weight[:2] = np.maximum(weight[:2], 1)
    return np.array(scores) / 2, positive, weight.astype(float)


@given(samples())
def test_equal_error_is_within_one_score_of_equality(sample) -> None:
    scores, positive, weight = sample
    cut = threshold_equal_error(*sample)
    below = scores[(scores < cut) & (weight > 0)]
    above = scores[(scores > cut) & (weight > 0)]
    # At the next cut on either side the difference has changed its sign or is zero.
    lower = below.max() - 0.1 if below.size else scores.min() - 1
    upper = above.min() + 0.1 if above.size else scores.max() + 1
    for place, sign in ((lower, 1), (upper, -1)):
        sens, spec = rates(scores, positive, place, weight)
        assert sign * (sens - spec) >= -1e-9
    turned = threshold_equal_error(-scores, ~positive, weight)  # exchanging the classes
    assert turned == pytest.approx(-cut, abs=1e-9)


def test_rounding_of_weights_does_not_choose_between_cuts_that_are_equally_good() -> None:
    scores = np.array([0.0, -0.5, 0.0, 0.0, 0.0, 0.0, 0.5])
    positive = np.array([True, False, False, False, True, True, True])
    assert_repetition(scores, positive, np.array([1.0, 1.0, 0.0, 2.0, 2.0, 3.0, 3.0]))


@each("rule", EVERY_RULE[:4])
def test_separable_scores_are_cut_halfway_between_the_classes(rule) -> None:
    scores, positive = np.array([0.0, 1.0, 3.0, 7.0]), np.array([False, False, True, True])
    assert rule(scores, positive, None) == pytest.approx(2.0)


def test_equal_error_by_hand_where_the_curve_jumps_over_the_diagonal() -> None:
    # Cuts -1/2 | 0 | 1 | 2: specificity - sensitivity is -1, 0 - 1/2, 1 - 1/2, 1.
    scores, positive = np.array([0.0, 1.0, 2.0]), np.array([True, False, True])
    cuts = all_cuts(scores, positive)
    np.testing.assert_allclose(cuts.balance, [-1, -0.5, 0.5, 1])
    np.testing.assert_allclose(cuts.at, [-2, 0.5, 1.5, 4])
    assert threshold_equal_error(scores, positive) == pytest.approx(1.0)


def test_no_rule_tells_equal_scores_apart() -> None:
    for value in (0.0, 3.5, 1e20, -1e-300):
        positive = np.array([True, False, True])
        for rule in EVERY_RULE:
            cut = rule(np.full(3, value), positive, None)
            assert np.isfinite(cut)
        everything = threshold_for_sensitivity(np.full(3, value), positive, sensitivity=1.0)
        assert value > everything
        nothing = threshold_for_specificity(np.full(3, value), positive, specificity=1.0)
        assert not value > nothing


@each("low", [1.0, np.nextafter(1.0, 2.0)])  # their middles round differently
def test_neighbouring_floats_are_still_told_apart(low: float) -> None:
    high = np.nextafter(low, 2)
    scores, positive = np.array([low, high]), np.array([False, True])
    for rule in (threshold_youden, threshold_equal_error, threshold_accuracy):
        assert rates(scores, positive, rule(scores, positive)) == (1.0, 1.0)


def test_rules_have_names() -> None:
    assert get_rule("youden") is threshold_youden
    assert get_rule(threshold_midpoint) is threshold_midpoint


@given(samples())
def test_the_cuts_are_all_there_are_and_the_rules_take_the_best(sample) -> None:
    scores, positive, weight = sample
    outcomes = [rates(scores, positive, cut, weight) for cut in (scores.min() - 1, *scores)]
    cuts = all_cuts(*sample)
    found = list(zip(cuts.sensitivity, cuts.specificity, strict=True))
    counted = [rates(scores, positive, cut, weight) for cut in cuts.at]
    np.testing.assert_allclose(found, counted, atol=1e-12)
    assert {tuple(np.round(r, 9)) for r in counted} == {tuple(np.round(r, 9)) for r in outcomes}
    plus, minus = weight[positive].sum(), weight[~positive].sum()
    for rule, a, b in ((threshold_youden, 1, 1), (threshold_accuracy, plus, minus)):
        sens, spec = rates(scores, positive, rule(*sample), weight)
        assert a * sens + b * spec == pytest.approx(max(a * s + b * t for s, t in outcomes))
    for wanted in (0.1, 0.5, 0.75, 1.0):
        cut = threshold_for_sensitivity(*sample, sensitivity=wanted)
        sens, spec = rates(scores, positive, cut, weight)
        assert sens >= wanted - 1e-9
        assert spec == pytest.approx(max(b for a, b in outcomes if a >= wanted - 1e-9))
        cut = threshold_for_specificity(*sample, specificity=wanted)
        sens, spec = rates(scores, positive, cut, weight)
        assert spec >= wanted - 1e-9
        assert sens == pytest.approx(max(a for a, b in outcomes if b >= wanted - 1e-9))
    assert_repetition(*sample)


def assert_repetition(scores: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> None:
    times = weight.astype(int)
    for rule in EVERY_RULE:
        repeated = rule(np.repeat(scores, times), np.repeat(positive, times), None)
        assert rule(scores, positive, weight) == pytest.approx(repeated, abs=1e-9)
