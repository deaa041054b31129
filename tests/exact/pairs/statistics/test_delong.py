"""DeLong's variance against its definition, a jackknife and a bootstrap."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.exact.pairs.auc import auc
from aucert.exact.pairs.concordance import compare_models, delong
from loops import each, seeds


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
    found = compare_models(one, other)
    variance = wanted[0, 0] + wanted[1, 1] - 2 * wanted[0, 1]
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-9, abs=1e-14)


def test_intervals() -> None:
    positive = np.arange(40) < 10
    scores = np.linspace(0, 1, 40) + positive
    perfect = delong(np.where(positive, 1.0, 0.0), positive)
    assert perfect.interval() == perfect.interval(logit=True) == (1.0, 1.0)
    found = delong(scores * np.where(np.arange(40) % 7 == 3, -1, 1), positive)
    for logit in (False, True):
        low, high = found.interval(logit=logit)
        assert 0 <= low < found.value < high <= 1
    wide = found.interval(0.99)
    assert (wide[0] < found.interval()[0] and found.interval()[1] < wide[1]) or wide[1] == 1


def test_bad_input_is_refused() -> None:
    positive = np.arange(6) < 3
    for scores, mask in (
        (np.zeros(5), positive),
        (np.full(6, np.nan), positive),
        (np.zeros(6), np.arange(6) < 1),
        (np.zeros(6), positive.astype(int)),
    ):
        with pytest.raises(InputError):
            delong(scores, mask)


def test_two_models_without_variance_are_not_said_to_differ() -> None:
    """One parts the classes, one is constant: z was infinite and p = 0, on four rows too."""
    positive = np.array([True, True, False, False])
    apart, flat = delong(np.array([2.0, 2, 1, 1]), positive), delong(np.ones(4), positive)
    found = compare_models(apart, flat)
    assert (found.difference, found.standard_error) == (0.5, 0.0)
    assert np.isnan([found.z, found.p_value, *found.interval]).all()
