"""Two kinds of statement: each with its verdicts, what is recorded of it, and how it was read."""

from __future__ import annotations

import os
import tomllib
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
from loops import each


def test_every_claim_is_recorded_and_nothing_else_is() -> None:
    assert set(recorded.record()["verdicts"]) <= {entry.name for entry in suite.claims()}
    assert recorded.record()["date"] and recorded.record()["version"]


@each("kind", list(KINDS))
def test_a_kind_has_the_verdicts_of_its_vocabulary(kind: str) -> None:
    assert vocabulary(kind) == (FINDINGS if kind == "finding" else STATEMENTS)
    for entry in suite.claims():
        if entry.kind == kind:
            assert entry.expected_verdict in vocabulary(kind), entry.name


@each(("kind", "verdict"), [("theorem", "borne-out"), ("finding", "holds")])
def test_a_verdict_of_the_other_kind_is_an_error(kind: str, verdict: str) -> None:
    def run(context: Context) -> Outcome:
        return Outcome(Verdict(verdict), 1.0)

    entry = Claim("a-claim", "SAUC", "eq. (2)", kind, "It holds.", Verdict(verdict), run)  # type: ignore[arg-type]
    row = suite.run_claim(entry, 0, "quick")
    assert row.verdict == "error" and "not a verdict of a" in str(row.measured)


def test_a_theorem_that_fails_names_the_readings_under_which_it_does() -> None:
    for entry in suite.claims():
        if entry.kind == "theorem" and entry.expected_verdict == Verdict.FAILS:
            assert entry.readings, entry.name


def test_only_statements_of_papers_fail() -> None:
    for entry in suite.claims():
        if entry.kind not in PAPER_KINDS:
            assert entry.expected_verdict != Verdict.FAILS, entry.name


def test_what_fails_has_a_severity_and_what_is_right() -> None:
    found = {entry.name: entry.severity for entry in suite.claims() if entry.severity}
    fails = {e.name for e in suite.claims() if e.expected_verdict == Verdict.FAILS}
    assert set(found) == fails | {"algorithm-3-printed-step-solves-another-problem"}
    assert sum(severity == "A" for severity in found.values()) == 5


def test_what_is_stated_of_our_own_work_is_filed_under_no_paper() -> None:
    for entry in suite.claims():
        assert (entry.kind == "suite") == (entry.paper == "aucert"), entry.name


def test_a_run_can_be_recorded_anew(tmp_path: Path) -> None:
    document = suite.run(["eq-2-of-a-constant-score"]).as_json()
    document["claims"][0]["verdict"] = "fails"
    recorded.write(document, "2026-01-02", tmp_path)
    found = tomllib.loads((tmp_path / "recorded.toml").read_text())
    assert (found["date"], found["profile"]) == ("2026-01-02", "quick")
    changed = {"eq-2-of-a-constant-score": "fails"}
    assert found["verdicts"] == recorded.record()["verdicts"] | changed


PAPERS_OWN = [entry for entry in suite.claims() if entry.kind in PAPER_KINDS]


@each("entry", PAPERS_OWN, ids=lambda entry: entry.name)
def test_a_statement_of_a_paper_carries_what_a_referee_asks_for(entry: Claim) -> None:
    """The words, the place, both regimes, the tuning, the smallest effect that would turn it."""
    assert entry.quote and entry.place and entry.regime and entry.tuning
    if entry.kind == "theorem":  # a finding's is computed: test_findings
        assert entry.turned_by and entry.regime.endswith(".")
    assert entry.readings or entry.kind == "finding" or entry.expected_verdict != Verdict.FAILS


def test_what_we_state_says_what_would_turn_it() -> None:
    """Ours has no words of a paper; what is judged from a page says it with its numbers."""
    ours = [entry for entry in suite.claims() if entry.kind not in PAPER_KINDS]
    silent = {entry.name for entry in ours if not entry.turned_by}
    assert silent == {
        "all-pairs-take-less-time-than-drawn-pairs",
        "all-pairs-are-feasible-beyond-10000",
        "all-pairs-take-less-time-on-real-sets",
        "sht-fig-1-with-one-step-for-all-shares",
    }


PAPERS_TEXTS = Path(os.environ.get("AUCERT_PAPERS", "no such folder"))


@pytest.mark.skipif(not PAPERS_TEXTS.is_dir(), reason="AUCERT_PAPERS names the papers' texts")
def test_quotations_stand_in_the_papers() -> None:
    files = PAPERS_TEXTS.glob("*.txt")
    texts = [" ".join(path.read_text(encoding="utf-8").split()) for path in files]
    for entry in PAPERS_OWN:
        assert any(entry.quote in text for text in texts), entry.name
