"""Abstracts and conclusions: each sentence has a claim of its paper, or says why it has none."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from aucert.validation import suite
from aucert.validation.claims.verdicts import PAPER_KINDS, PAPERS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sentences_page", DOCS / "sentences.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_recorded_verdicts() -> None:
    made = script().page()
    assert (DOCS / "sentences.md").read_text(encoding="utf-8") == made, (
        "run python docs/sentences.py"
    )


def test_each_sentence_is_judged_by_claims_of_its_paper_or_says_why_not() -> None:
    claims = {entry.name: entry for entry in suite.claims()}
    rows = script().sentences()
    for row in rows:
        assert row["claims"] or row["remark"], row["sentence"]
        assert all(claims[name].paper == row["paper"] for name in row["claims"]), row["sentence"]
    for paper in PAPERS:
        for part in ("abstract", "conclusion"):
            assert any((row["paper"], row["part"]) == (paper, part) for row in rows)


def test_no_sentence_is_judged_by_our_own_statements_alone() -> None:
    kinds = {entry.name: entry.kind for entry in suite.claims()}
    for row in script().sentences():
        names = row["claims"]
        assert not names or any(kinds[name] in PAPER_KINDS for name in names), row["sentence"]
