"""The claims can fail: mistakes planted in the library turn a verdict, and the exit status.

Each is of a kind that is easily made: a wrong sign in a solver, half a constant of a bound, random
numbers that are used twice, exchanged labels, a solver that stops too early.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from aucert.approx.newton import truncated_newton
from aucert.validation import suite
from aucert.validation.claims import scaling_up, sht
from aucert.validation.claims import theorem_4 as prime_claims
from aucert.validation.claims.claim import Context
from aucert.validation.data.labelled_data import Dataset
from loops import each


def turned(name: str) -> bool:
    """Whether the verdict differs from the expected one, and the exit status says so."""
    report = suite.run([name])
    assert report.exit_code == int(not report.rows[0].as_expected)
    return not report.rows[0].as_expected


@pytest.fixture(autouse=True)
def without_earlier_draws() -> Any:
    """Claims keep what several of them look at; here it is made anew, and forgotten after."""
    prime_claims.grid.cache_clear()
    yield
    prime_claims.grid.cache_clear()


def test_a_wrong_sign_in_newtons_method_turns_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    right = truncated_newton.TruncatedNewton.solve

    def wrong(self: Any, problem: Any, *args: Any, **rest: Any) -> Any:
        found = right(self, problem, *args, **rest)
        certificate = type(found.certificate).of(problem, -found.w, found.witness)
        return replace(found, w=-found.w, certificate=certificate)

    monkeypatch.setattr(truncated_newton.TruncatedNewton, "solve", wrong)
    assert turned("newton-with-a-line-search-converges")


def test_half_a_constant_of_a_convergence_bound_turns_a_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = sht.sht_theorem1

    def halved(*args: Any, **rest: Any) -> Any:
        bound = right(*args, **rest)
        return replace(bound, terms={name: value / 2 for name, value in bound.terms.items()})

    monkeypatch.setattr(sht, "sht_theorem1", halved)
    assert turned("sht-theorem-1-bound")


@each("name", ["incomplete-u-variance-with-replacement", "incomplete-u-loss-rate"])
def test_random_numbers_that_are_used_twice_turn_a_verdict(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    right = scaling_up.draw_pairs
    monkeypatch.setattr(
        scaling_up, "draw_pairs", lambda positive, B, rng, *a, **r: right(positive, B, 0, *a, **r)
    )
    assert turned(name)


def test_a_seed_that_does_not_reach_a_claim_is_seen_by_its_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def numbers(seed: int) -> object:
        return suite.run(["population-auc-by-monte-carlo"], seed=seed).rows[0].details

    assert numbers(0) != numbers(1)
    monkeypatch.setattr(Context, "_sequence", lambda self, stream: np.random.SeedSequence(7))
    assert numbers(0) == numbers(1)


def test_exchanged_labels_turn_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dataset, "is_positive", property(lambda self: self.y != 1))
    assert turned("population-auc-by-monte-carlo")
