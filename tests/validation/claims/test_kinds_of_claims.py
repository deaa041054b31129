"""Two kinds of statement: each with its verdicts, what is recorded of it, and how it was read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from aucert.validation import suite
from aucert.validation.claims import recorded
from aucert.validation.claims.claim import Claim, Context, Outcome
from aucert.validation.claims.verdicts import (
    FINDINGS,
    KINDS,
    PAPER_KINDS,
    STATEMENTS,
    Verdict,
    vocabulary,
)


def test_every_claim_is_recorded_and_nothing_else_is() -> None:
    assert set(recorded.record()["verdicts"]) == {entry.name for entry in suite.claims()}
    assert recorded.record()["date"] and recorded.record()["version"]


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_kind_has_the_verdicts_of_its_vocabulary(kind: str) -> None:
    assert vocabulary(kind) == (FINDINGS if kind == "finding" else STATEMENTS)
    for entry in suite.claims():
        if entry.kind == kind:
            assert entry.expected_verdict in vocabulary(kind), entry.name


@pytest.mark.parametrize(("kind", "verdict"), [("theorem", "borne-out"), ("finding", "holds")])
def test_a_verdict_of_the_other_kind_is_an_error(kind: str, verdict: str) -> None:
    def run(context: Context) -> Outcome:
        return Outcome(Verdict(verdict), 1.0)

    entry = Claim("a-claim", "SAUC", "eq. (2)", kind, "It holds.", Verdict(verdict), run)  # type: ignore[arg-type]
    row = suite.run_claim(entry, 0, "quick")
    assert row.verdict == "error" and "no verdict of a" in str(row.measured)


def test_a_theorem_that_fails_names_the_readings_under_which_it_does() -> None:
    for entry in suite.claims():
        if entry.kind == "theorem" and entry.expected_verdict == Verdict.FAILS:
            assert entry.readings, entry.name


def test_readings_name_claims_that_exist_and_sources_are_of_claims() -> None:
    names = {entry.name for entry in suite.claims()}
    sources = json.loads(recorded.SOURCES.read_text(encoding="utf-8"))
    assert set(sources) <= names
    for entry in suite.claims():
        for reading in entry.readings:
            for word in reading.replace(",", " ").replace(";", " ").split():
                if word.count("-") >= 4 and word.islower() and word.isascii():
                    assert word in names, (entry.name, word)


def test_only_statements_of_papers_fail() -> None:
    for entry in suite.claims():
        if entry.kind in ("corrected", "suite"):
            assert entry.expected_verdict != Verdict.FAILS, entry.name


def test_a_run_can_be_recorded_anew(tmp_path: Path) -> None:
    name = "eq-2-of-a-constant-score"
    path = tmp_path / "recorded.json"
    recorded.write(suite.run([name]).as_json(), "2026-01-02", path)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["verdicts"] == {name: "holds"}
    assert (document["date"], document["profile"]) == ("2026-01-02", "quick")


PAPERS_OWN = [entry for entry in suite.claims() if entry.kind in PAPER_KINDS]


@pytest.mark.parametrize("entry", PAPERS_OWN, ids=lambda entry: entry.name)
def test_a_statement_of_a_paper_carries_what_a_referee_asks_for(entry: Claim) -> None:
    """The words, the place, both regimes, the tuning, the smallest effect that would turn it."""
    assert entry.quote and entry.place and entry.regime and entry.tuning
    if entry.kind == "theorem":  # a finding's is computed: test_findings
        assert entry.turned_by and entry.regime.endswith(".")
    assert entry.readings or entry.kind == "finding" or entry.expected_verdict != Verdict.FAILS


@pytest.mark.slow
@pytest.mark.parametrize("entry", PAPERS_OWN, ids=lambda entry: entry.name)
def test_a_judged_statement_of_a_paper_says_what_decided_and_what_would_turn_it(
    entry: Claim,
) -> None:
    row = suite.run_claim(entry, 0, "quick")
    if row.verdict != Verdict.NOT_TESTABLE:
        assert row.tolerance and row.turned_by


PAPERS_TEXTS = Path(os.environ.get("AUCERT_PAPERS", "no such folder"))


@pytest.mark.skipif(not PAPERS_TEXTS.is_dir(), reason="AUCERT_PAPERS names the papers' texts")
def test_quotations_stand_in_the_papers() -> None:
    files = PAPERS_TEXTS.glob("*.txt")
    texts = [" ".join(path.read_text(encoding="utf-8").split()) for path in files]
    for entry in PAPERS_OWN:
        assert any(entry.quote in text for text in texts), entry.name
