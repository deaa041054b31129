"""NaN is never dropped where something is judged by the largest or smallest of its measures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from aucert.validation import extremes
from aucert.validation.bounds.printed import Bound
from aucert.validation.claims import sauc, sht
from aucert.validation.claims.claim import REGISTRY, Claim, Outcome, Verdict
from aucert.validation.extremes import NaNError, above
from aucert.validation.suite import run_claim
from loops import each

NAN = math.nan


@each("values", [[NAN, 1.0, 2.0], [1.0, NAN, 2.0], [1.0, 2.0, NAN]])
@each("name", ["highest", "lowest"])
def test_nan_is_refused_wherever_it_stands(name: str, values: list[float]) -> None:
    extreme = getattr(extremes, name)
    for given in (values, np.array(values), iter(values), [(value, 1) for value in values]):
        with pytest.raises(NaNError):
            extreme(given)
    with pytest.raises(NaNError):
        extreme(*values)
    with pytest.raises(NaNError):
        extreme(range(3), key=values.__getitem__)


def test_nan_is_never_not_violated() -> None:
    assert above(2.0, 1.0) and above(np.ones(2), 0.5).all()
    for left, right in ((NAN, 1.0), (1.0, NAN), (np.array([1.0, NAN]), 2.0)):
        with pytest.raises(NaNError):
            above(left, right)
    with pytest.raises(NaNError):
        _ = Bound("(1)", {"a": NAN}, left_side=1.0).violated


def as_nan(value: Any) -> Any:
    """The same value with NaN in the place of its numbers."""
    if isinstance(value, dict):
        return dict.fromkeys(value, NAN)
    if isinstance(value, tuple):
        return tuple(map(as_nan, value))
    return np.full_like(value, NAN) if isinstance(value, np.ndarray) else NAN


@each(
    ("name", "module", "function"),
    [
        ("prop-1-pairwise-is-an-average-over-rows", sht, "pair_loss"),
        ("hessian-with-the-factor-two", sht, "pair_loss"),
        ("sht-lemma-2", sht, "hard_threshold"),
        ("sht-lemma-2", sht, "nu_lemma2"),
        ("sht-lemma-3", sht, "least_stretch"),
        ("sht-lemma-4", sht, "tail"),
        ("sht-eq-14-as-printed", sht, "ratio_coefficients"),
        ("sauc-eq-24-chebyshev", sauc, "eq_24"),
    ],
)
def test_a_measure_that_is_nan_turns_the_verdict(
    name: str, module: Any, function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the second call, where there is one: the built-in `max` keeps the first number."""
    right, calls = getattr(module, function), []

    def planted(*given: Any, **named: Any) -> Any:
        calls.append(1)
        found = right(*given, **named)
        return as_nan(found) if len(calls) == 2 or function == "ratio_coefficients" else found

    monkeypatch.setattr(module, function, planted)
    row = run_claim(REGISTRY[name], 0, "quick")
    assert calls and row.verdict == "error" and not row.as_expected and "NaN" in str(row.measured)


@each(
    "outcome",
    [
        Outcome(Verdict.HOLDS, NAN),
        Outcome(Verdict.HOLDS, f"an error of {NAN:.1e}"),
        Outcome(Verdict.HOLDS, 1.0, details={"worst": NAN}),
        Outcome(Verdict.HOLDS, 1.0, details={"worst": f"{NAN:.2f} of 3"}),
        Outcome(Verdict.HOLDS, 1.0, details={"each": [1.0, np.array([0.5, NAN])]}),
        Outcome(Verdict.HOLDS, "Ferdinand", details={"nano": 1}),
    ],
)
def test_nan_in_an_outcome_is_not_a_verdict(outcome: Outcome) -> None:
    claim = Claim("a-claim", "SAUC", "(2)", "suite", "It holds.", Verdict.HOLDS, lambda c: outcome)
    row = run_claim(claim, 0, "quick")
    assert (row.verdict == "holds") == (outcome.measured == "Ferdinand")
    assert row.verdict == "holds" or "NaN" in str(row.measured)
