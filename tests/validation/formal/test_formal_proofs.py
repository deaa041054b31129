"""The Coq proofs: what needs no Coq here, what needs it at the end, for a release."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from aucert.validation.formal import check
from aucert.validation.formal.check import Planted, Source, coq_text, planted, sources, vectors
from checker_vectors import evaluated, inputs
from loops import each

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")


def stated() -> set[str]:
    return {f"{source.name}.{theorem}" for source in sources() for theorem in source.theorems}


def test_nothing_is_left_unproved() -> None:
    found = sources()
    assert [(source.name, source.unproved) for source in found if source.unproved] == []


def test_the_pages_name_every_theorem_and_no_other() -> None:
    root = Path(__file__).resolve().parents[3]
    pages = [*root.glob("docs/*.md"), root / "validation/formal/README.md"]
    text = " ".join(page.read_text("utf-8") for page in pages)
    assert set(re.findall(r"`formal:(\w+\.\w+)`", text)) == stated()


@each("word", ["Admitted", "Axiom", "admit", "Parameter"])
def test_a_planted_gap_in_a_proof_is_seen(word: str) -> None:
    hidden = Source("X", f"(* no {word} here, (* nor {word} *) here *)\nLemma one : True.")
    assert hidden.unproved == []
    assert Source("X", f"Lemma one : False.\n{word}.").unproved == [word]


def test_the_vectors_are_what_the_checker_computes() -> None:
    cases = vectors()
    assert [case["given"] for case in cases] == [inputs(seed) for seed in range(len(cases))]
    assert [case["found"] for case in cases] == [evaluated(case["given"]) for case in cases]


def test_axioms_are_read_as_coq_prints_them() -> None:
    printed = (
        "=== A.one\nA.one\n  : True\n---\nClosed under the global context\n"
        "=== A.two\nA.two\n  : McDiarmid Lam -> True\n---\nAxioms:\n"
        "ClassicalDedekindReals.sig_not_dec : forall P : Prop, {~ ~ P} + {~ P}\n"
        "FunctionalExtensionality.functional_extensionality_dep\n  : forall x,\n    x = x\n"
    )
    found = check.parsed_axioms(printed)
    assert found["A.one"] == [] and len(found["A.two"]) == 3
    assert set(found["A.two"]) <= {*check.ALLOWED, "McDiarmid"}
    check.check_axioms(found, lambda line: None)


def test_a_foreign_axiom_is_refused() -> None:
    with pytest.raises(check.Refused, match=r"A\.one rests on .*cheat"):
        check.check_axioms({"A.one": ["A.cheat"]}, lambda line: None)


def test_without_coq_it_says_not_run(monkeypatch, capsys) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert check.main() == check.NOT_RUN != 0
    assert capsys.readouterr().out.startswith("not run: coqc is not installed")


@needs_coq
@pytest.mark.release
def test_all_proofs_hold_and_all_planted_statements_are_refused(tmp_path: Path) -> None:
    lines: list[str] = []
    assert check.run_all(tmp_path, lines.append) == len(stated())
    assert sum(": refused, line" in line for line in lines) == len(planted())

    changed = vectors()[:1]
    changed[0]["found"]["missing"] += 1
    (tmp_path / "Changed.v").write_text(coq_text(changed), encoding="utf-8")
    assert check.compile_file(tmp_path, "Changed").returncode != 0

    (tmp_path / "Cheat.v").write_text(
        "Axiom cheat : False.\nTheorem one : 1 = 2.\nProof. destruct cheat. Qed.", "utf-8"
    )
    assert check.compile_file(tmp_path, "Cheat").returncode == 0
    (axiom,) = check.axioms_of(["Cheat.one"], tmp_path)["Cheat.one"]
    assert axiom.endswith("cheat") and axiom not in check.ALLOWED

    losses = next(source for source in sources() if source.name == "Losses")
    true = Planted("Losses", "dual_hinge", "0 <= alpha <= 1", "0 <= alpha <= 1 ", "true")
    with pytest.raises(check.Refused, match="accepts a false statement"):
        check.check_planted(true, losses, tmp_path)


@needs_coq
@pytest.mark.slow
def test_a_file_that_does_not_compile_is_refused(tmp_path: Path) -> None:
    wrong = Source("Wrong", "Theorem one : 1 = 2.\nProof. reflexivity. Qed.")
    with pytest.raises(check.Refused, match=r"Wrong\.v does not compile"):
        check.compile_all([wrong], tmp_path, lambda line: None)
