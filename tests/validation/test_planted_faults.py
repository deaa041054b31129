"""One planted mistake turns a claim: of each claim that is not arithmetic, by rule or by hand.

The entry of a claim in the TOML names either what was changed and the verdict that it then had,
or the test that plants a mistake by hand. Findings are turned in
tests/validation/findings.
"""

from __future__ import annotations

import pytest

import planted_faults
from aucert.validation import suite
from aucert.validation.claims.claim import REGISTRY
from aucert.validation.claims.recorded import statements
from loops import each, some

FAULTS = {name: entry["fault"] for name, entry in statements().items() if "fault" in entry}
BY_RULE = {name: fault for name, fault in FAULTS.items() if "module" in fault}

FAST = (
    "second-term-order-corrected",
    "gradient-with-the-factor-two",
    "sauc-eq-4-has-no-breakdown-point",
)


def judged() -> set[str]:
    """Names of the claims that a mistake can turn: neither findings, arithmetic, nor re-runs."""
    return {
        entry.name
        for entry in suite.claims()
        if entry.kind != "finding" and not entry.arithmetic and not entry.name.endswith("-repeats")
    }


def test_every_claim_is_turned_or_arithmetic() -> None:
    assert set(FAULTS) == judged()


def test_a_fault_turns_the_verdict_and_does_not_just_raise() -> None:
    for name, fault in BY_RULE.items():
        assert fault["verdict"] not in ("error", str(REGISTRY[name].expected_verdict)), name


def turned(name: str) -> None:
    fault = BY_RULE[name]
    with planted_faults.planted(fault["module"], fault["name"], fault["factor"]):
        found = planted_faults.verdict(name)
    assert found != str(REGISTRY[name].expected_verdict)


@each("name", FAST)
def test_a_fault_turns_a_claim(name: str) -> None:
    turned(name)


@pytest.mark.slow
@each("name", some(sorted(set(BY_RULE) - set(FAST)), 20))
def test_each_fault_turns_its_claim(name: str) -> None:
    turned(name)
