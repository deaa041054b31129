"""A claim is checked when it is entered, and hands out random numbers that anybody can repeat."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from aucert.exact.errors import InputError
from aucert.validation import suite
from aucert.validation.claims.claim import REGISTRY, Claim, Context, Outcome, Verdict
from aucert.validation.claims.recorded import enter, statements
from aucert.validation.plots import Figure, Series
from aucert.validation.report.row import Row
from loops import each


def planted(name: str = "a-claim", **changes: Any) -> Claim:
    options: dict[str, Any] = {
        "paper": "ScalingUp",
        "place": "eq. (1)",
        "kind": "suite",
        "statement": "One is one.",
        "expected_verdict": Verdict.HOLDS,
        "run": lambda context: Outcome(Verdict.HOLDS, 1.0),
    }
    return Claim(name, **{**options, **changes})


@each("name", ["A-claim", "a claim", "../a", "a--b", ""])
def test_a_name_that_is_no_file_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="small letters"):
        planted(name)


@each("changes", [{"paper": "Nobody"}, {"kind": "paper"}])
def test_an_unknown_paper_or_kind_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(InputError, match="must be one of"):
        planted(**changes)


def test_two_claims_cannot_have_one_name() -> None:
    name = next(iter(REGISTRY))
    with pytest.raises(InputError, match="two claims"):
        enter({name: REGISTRY[name].run})


def test_every_entry_has_a_judge_and_every_claim_an_entry() -> None:
    judged = {entry.name for entry in suite.claims() if entry.kind != "finding"}
    assert set(statements()) == judged


def test_a_module_that_is_not_installed_is_named() -> None:
    assert planted(needs=("json", "no_such_module")).missing == ("no_such_module is not installed")
    assert planted(needs=("json",)).missing is None


def test_random_numbers_depend_on_seed_claim_and_purpose_only() -> None:
    draw = Context("a-claim", 3).rng("rows").random()
    assert draw == Context("a-claim", 3, "full").rng("rows").random()
    others = [Context("a-claim", 4), Context("b-claim", 3)]
    assert draw not in [context.rng("rows").random() for context in others]
    assert draw != Context("a-claim", 3).rng("pairs").random()


def row(**changes: object) -> Row:
    figure = Figure("f", "t", "x", "y", (Series.of("s", [1.0, 2.0], [3.0, 4.0]),), "c")
    values: dict[str, object] = {
        "name": "a-claim",
        "paper": "ScalingUp",
        "place": "eq. (1)",
        "kind": "suite",
        "statement": "One is one.",
        "formula": "1 = 1",
        "measured": 1.0,
        "printed": None,
        "verdict": "holds",
        "expected_verdict": "holds",
        "seconds": 0.5,
        "tolerance": None,
        "seed": 0,
        "profile": "quick",
        "version": "0",
        "figures": (figure,),
    }
    return Row(**{**values, **changes})  # type: ignore[arg-type]


def test_a_row_comes_back_from_json_as_it_was() -> None:
    assert Row.from_document(json.loads(json.dumps(asdict(row())))) == row()


def test_the_public_keys_of_a_row_are_the_documented_ones() -> None:
    documented = (
        "name paper place kind statement measured printed verdict expected_verdict seconds "
        "data seed tolerance version taken_over quote readings regime tuning turned_by arithmetic "
        "effects protocol severity corrected"
    )
    assert set(row().public) == set(documented.split())


@each("verdict", [*Verdict])
def test_a_row_is_as_expected_exactly_when_the_verdicts_agree(verdict: Verdict) -> None:
    changed = row(verdict=str(verdict), expected_verdict="fails")
    assert changed.as_expected == (verdict is Verdict.FAILS)


def test_a_row_that_raised_is_never_as_expected() -> None:
    for verdict in Verdict:
        assert not row(verdict="error", expected_verdict=str(verdict)).as_expected
