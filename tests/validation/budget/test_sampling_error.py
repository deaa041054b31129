"""Standard errors of pair means, against the formula over explicit pairs and against draws."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.losses.registry import HINGE, SQUARED_HINGE
from aucert.exact.pairs.auc import auc
from aucert.validation.budget import terms as finite_test
from aucert.validation.budget.terms import loss_mean, order_mean
from loops import each


def sample(rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[np.ndarray, np.ndarray]:
    positive = np.arange(n_pos + n_neg) < n_pos
    return np.round(rng.normal(size=positive.size) + positive, 1), positive


@each("block", [1, 50, 10**6])
def test_means_are_those_of_the_explicit_pairs(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finite_test, "BLOCK_PAIRS", block)
    scores, positive = sample(np.random.default_rng(0), 17, 23)
    s, r = scores[positive], scores[~positive]
    ordered = [[1.0 if a > b else 0.5 if a == b else 0.0 for b in r] for a in s]
    losses = [[max(0.0, 1 - (a - b)) for b in r] for a in s]
    for found, pairs in (
        (order_mean(scores, positive), np.array(ordered)),
        (loss_mean(scores, positive, HINGE), np.array(losses)),
    ):
        np.testing.assert_allclose(found.plus, pairs.mean(axis=1), atol=1e-14)
        np.testing.assert_allclose(found.minus, pairs.mean(axis=0), atol=1e-14)
        assert found.value == pytest.approx(pairs.mean(), rel=1e-13)
        spread = pairs.mean(axis=1).var(ddof=1) / 17 + pairs.mean(axis=0).var(ddof=1) / 23
        assert found.error == pytest.approx(np.sqrt(spread), rel=1e-12)
    assert order_mean(scores, positive).value == pytest.approx(auc(scores, positive), rel=1e-13)


@each("kind", ["auc", "hinge", "squared_hinge"])
def test_the_standard_error_is_the_spread_over_fresh_samples(kind: str) -> None:
    rng = np.random.default_rng(1)

    def once():
        scores, positive = sample(rng, 60, 90)
        if kind == "auc":
            return order_mean(scores, positive)
        return loss_mean(scores, positive, HINGE if kind == "hinge" else SQUARED_HINGE)

    found = [once() for _ in range(600)]
    true = np.std([mean.value for mean in found])
    assert np.median([mean.error for mean in found]) == pytest.approx(true, rel=0.12)


def test_one_row_of_a_class_has_no_standard_error() -> None:
    scores, positive = sample(np.random.default_rng(0), 1, 9)
    assert np.isnan(order_mean(scores, positive).error)
