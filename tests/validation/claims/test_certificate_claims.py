"""The claims about certificates beyond the papers' pairs: their verdicts, and planted mistakes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from aucert.exact import ElasticNet, Estimate, GroupLasso
from aucert.exact.losses.logistic import Logistic
from aucert.exact.pairs.ordered import asked, kinds
from aucert.exact.pairs.statistics import delong as placements
from aucert.exact.problem import tail
from aucert.validation import suite
from aucert.validation.claims import certificates
from aucert.validation.claims.certificates.enumerated import Judged, outcome
from aucert.validation.claims.claim import Verdict
from fast_cases import costly_slow

NAMES = [
    entry.name for entry in suite.claims() if entry.run.__module__.startswith(certificates.__name__)
]

ORDERED = "ordered-pairs-interval-holds-the-optimum"
PARTIAL = "partial-auc-interval-holds-the-optimum"
SMOOTH = "logistic-interval-holds-the-optimum"
PENALTY = "penalty-interval-holds-the-optimum"
DELONG = "delong-variance-is-that-of-the-pairs"


def verdict(name: str, seed: int = 0) -> str:
    return suite.run([name], seed=seed).rows[0].verdict


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NAMES)
def test_the_verdict_about_certificates_is_the_expected_one(name: str, seed: int) -> None:
    row = suite.run([name], seed=seed).rows[0]
    assert row.verdict == row.expected_verdict, (row.measured, row.details)


def test_every_certificate_has_its_claim() -> None:
    assert set(NAMES) == {ORDERED, PARTIAL, SMOOTH, PENALTY, DELONG}


@pytest.mark.slow
def test_censored_rows_of_the_same_time_that_are_left_out_turn_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def key(times: np.ndarray, seen: np.ndarray) -> np.ndarray:
        return -2.0 * np.unique(times, return_inverse=True)[1]

    monkeypatch.setattr(asked, "survival_key", key)
    assert verdict(ORDERED) == "fails"


@pytest.mark.slow
def test_queries_that_are_mixed_turn_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    right = kinds._column
    monkeypatch.setattr(kinds, "_column", lambda values: np.zeros_like(right(values)))
    assert verdict(ORDERED) == "fails"


def test_the_lowest_negatives_in_place_of_the_highest_turn_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = tail.highest
    monkeypatch.setattr(tail, "highest", lambda scores, *rest: right(-scores, *rest))
    assert verdict(PARTIAL) != "holds"


@pytest.mark.slow
def test_a_number_of_rows_that_is_made_whole_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = tail.check_rates

    def floored(fpr_max: Any, tpr_min: Any) -> tuple[Fraction, Fraction]:
        above, below = right(fpr_max, tpr_min)
        return Fraction(int(above * 9), 9), below

    monkeypatch.setattr(tail, "check_rates", floored)
    assert verdict(PARTIAL) == "fails"


def test_a_dual_part_of_the_logistic_loss_that_is_too_large_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = Logistic.dual
    monkeypatch.setattr(Logistic, "dual", lambda self, alpha: right(self, alpha) + 1e-3)
    assert verdict(SMOOTH) != "holds"


@pytest.mark.parametrize("penalty", costly_slow([ElasticNet, GroupLasso], {ElasticNet}))
def test_a_penalty_that_the_dual_overrates_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch, penalty: Any
) -> None:
    right, shrink = penalty.residual, penalty.shrink

    def residual(self: Any, g: np.ndarray) -> np.ndarray:
        return right(replace(self, l1=1.1 * self.l1), g)

    monkeypatch.setattr(penalty, "residual", residual)
    monkeypatch.setattr(
        penalty, "shrink", lambda self, g, error: min(1.0, 1.1 * shrink(self, g, error))
    )
    assert verdict(PENALTY) != "holds"


def test_a_variance_that_divides_by_the_number_of_rows_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def biased(value: float, influence: np.ndarray) -> Estimate:
        return Estimate(value, influence * np.sqrt((influence.size - 1) / influence.size))

    monkeypatch.setattr(placements, "Estimate", biased)
    assert verdict(DELONG) == "fails"


def test_ties_that_the_order_of_rows_breaks_turn_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        placements, "as_float64", lambda scores, name: scores + 1e-9 * np.arange(scores.size)
    )
    assert verdict(DELONG) == "fails"


@pytest.mark.parametrize(
    "case", [Judged(1e-6, -1.0, 0.0), Judged(0.0, 1e-9, 0.0), Judged(0.0, -1.0, 1e-3)]
)
def test_each_part_of_an_interval_can_be_wrong(case: Judged) -> None:
    assert outcome([Judged(0.0, -1.0, 0.0)]).verdict == Verdict.HOLDS
    assert outcome([Judged(0.0, -1.0, 0.0), case]).verdict == Verdict.FAILS
