"""Verdicts at another seed than that of `aucert validate`, which judges every claim."""

from __future__ import annotations

from aucert.validation import suite
from aucert.validation.claims.verdicts import PAPER_KINDS, Verdict
from loops import each, first_fast, some

JUDGED = [entry for entry in suite.claims() if entry.kind != "finding"]
FAST = [entry for entry in JUDGED if entry.arithmetic][:6]


@each("entry", first_fast([*FAST, *some((e for e in JUDGED if e not in FAST), 12)], len(FAST)))
def test_the_verdict_is_the_expected_one_and_says_what_decided_it(entry: suite.Claim) -> None:
    row = suite.run_claim(entry, 1, "quick")
    assert row.verdict == row.expected_verdict, (row.measured, row.details)
    if entry.kind in PAPER_KINDS and row.verdict != Verdict.NOT_TESTABLE:
        assert row.turned_by
