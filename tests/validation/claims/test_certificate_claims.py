"""The claims about certificates beyond the papers' pairs: their verdicts, and planted mistakes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from aucert.exact import ElasticNet, Estimate, GroupLasso
from aucert.exact.losses import registry
from aucert.exact.losses.registry import Logistic, SmoothHinge
from aucert.exact.pairs import concordance as placements
from aucert.exact.pairs import kinds
from aucert.exact.problem import tail, worst
from aucert.exact.problem.penalties import Sign
from aucert.exact.proof import check_proof, write
from aucert.validation import suite
from aucert.validation.claims.claim import Verdict
from aucert.validation.claims.instrument import Case, outcome
from loops import costly_slow, each

ORDERED = "ordered-pairs-interval-holds-the-optimum"
PARTIAL = "partial-auc-interval-holds-the-optimum"
WORST = "worst-group-interval-holds-the-optimum"
LOGISTIC = "logistic-interval-holds-the-optimum"
ROUNDED = "smooth-hinge-interval-holds-the-optimum"
EXPONENTIAL = "exponential-interval-holds-the-optimum"
PENALTY = "penalty-interval-holds-the-optimum"
SIGN = "sign-interval-holds-the-optimum"
PROOF = "proof-file-of-ordered-pairs-holds-the-optimum"
DELONG = "delong-variance-is-that-of-the-pairs"


def verdict(name: str, seed: int = 0) -> str:
    return suite.run([name], seed=seed).rows[0].verdict


@pytest.mark.slow
def test_censored_rows_of_the_same_time_that_are_left_out_turn_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def key(times: np.ndarray, seen: np.ndarray) -> np.ndarray:
        return -2.0 * np.unique(times, return_inverse=True)[1]

    monkeypatch.setattr(kinds, "survival_key", key)
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


@each(("name", "loss"), [(LOGISTIC, Logistic), (ROUNDED, SmoothHinge)])
def test_a_dual_part_of_a_smooth_loss_that_is_too_large_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch, name: str, loss: Any
) -> None:
    right = loss.dual
    monkeypatch.setattr(loss, "dual", lambda self, alpha: right(self, alpha) + 1e-3)
    assert verdict(name) != "holds"


@pytest.mark.slow
def test_a_product_of_means_that_is_too_large_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = registry.exponential_sums

    def wrong(*args: Any) -> Any:
        found = right(*args)
        return replace(found, value=1.001 * found.value)

    monkeypatch.setattr(registry, "exponential_sums", wrong)
    assert verdict(EXPONENTIAL) != "holds"


def test_groups_that_weigh_more_than_one_together_turn_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = worst.group_weights
    monkeypatch.setattr(worst, "group_weights", lambda *args: 1.01 * right(*args))
    assert verdict(WORST) != "holds"


@pytest.mark.slow
def test_the_best_group_in_place_of_the_worst_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = worst.group_weights
    monkeypatch.setattr(worst, "group_weights", lambda values, width: right(-values, width))
    assert verdict(WORST) != "holds"


@each("penalty", costly_slow([ElasticNet, GroupLasso], {ElasticNet}))
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


def test_a_sign_that_takes_too_much_of_the_pull_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = Sign.residual
    monkeypatch.setattr(Sign, "residual", lambda self, g: right(self, 0.9 * g))
    assert verdict(SIGN) != "holds"


def test_a_file_that_claims_more_than_was_verified_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = write.claims_of

    def wrong(*args: Any) -> tuple[float, float, float]:
        primal, dual, gap = right(*args)
        return primal, 1.001 * dual, gap

    monkeypatch.setattr(write, "claims_of", wrong)
    assert verdict(PROOF) == "fails"


def test_a_checker_that_lets_everything_pass_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(check_proof, "check", lambda *args: "verified")
    assert verdict(PROOF) == "fails"


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


@each("case", [Case(1e-6, -1.0, 0.0), Case(0.0, 1e-9, 0.0), Case(0.0, -1.0, 1e-3)])
def test_each_part_of_an_interval_can_be_wrong(case: Case) -> None:
    assert outcome([Case(0.0, -1.0, 0.0)]).verdict == Verdict.HOLDS
    assert outcome([Case(0.0, -1.0, 0.0), case]).verdict == Verdict.FAILS
