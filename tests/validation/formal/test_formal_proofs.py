"""The Coq proofs: what needs no Coq here, what needs it at the end, for a release."""

import re
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from aucert.exact.proof import check_proof
from aucert.validation.formal import check
from aucert.validation.formal.check import Planted, Source, coq_text, planted, sources, vectors

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")


def stated() -> set[str]:
    return {f"{source.name}.{theorem}" for source in sources() for theorem in source.theorems}


def test_nothing_is_left_unproved() -> None:
    found = sources()
    assert [(source.name, source.unproved) for source in found if source.unproved] == []
    for word in ("Admitted", "Axiom", "admit", "Parameter"):
        hidden = Source("X", f"(* no {word} here, (* nor {word} *) here *)\nLemma one : True.")
        assert hidden.unproved == []
        assert Source("X", f"Lemma one : False.\n{word}.").unproved == [word]


def test_the_pages_name_every_theorem_and_no_other() -> None:
    root = Path(__file__).resolve().parents[3]
    pages = [*root.glob("docs/*.md"), root / "validation/formal/README.md"]
    text = " ".join(page.read_text("utf-8") for page in pages)
    assert set(re.findall(r"`formal:(\w+\.\w+)`", text)) == stated()


# Inputs of the arithmetic of exact/proof/check_proof.py, and what that file makes of them. What it
# does in floating point (`scores`, `pull`) is given; whole numbers and fractions are its own.
Case = dict[str, Any]


def inputs(seed: int) -> Case:
    """Return the inputs of one case: ties, rows that do not count, marginals that lack mass."""
    rng = np.random.default_rng([7, seed])
    n, q = int(rng.integers(3, 8)), int(rng.integers(2, 7))
    positive = rng.permutation(np.arange(n) < rng.integers(1, n))
    weight = rng.integers(1 - seed % 2, 4, n)
    weight[[positive.argmax(), (~positive).argmax()]] = 2
    case: Case = {
        "q": q,
        "scores": rng.integers(-(2**q), 2**q, n).tolist(),
        "slip": f"{int(rng.integers(1, 9))}/1024",
        "lam": f"{int(rng.integers(1, 9))}/8",
        "w": [f"{int(k)}/4" for k in rng.integers(-8, 9, 2)],
        "positive": positive.tolist(),
        "weight": weight.tolist(),
        "scale": f"{int(rng.integers(1, 5))}/4",
        "pull": [f"{int(k)}/16" for k in rng.integers(0, 40, 2)],
    }
    if seed % 2:
        return {**case, "bins": int(rng.integers(0, q + 1)), "half": int(rng.integers(0, 5))}
    cap = int(rng.integers(1, 5))
    most = cap * int(weight.sum())
    u, v = (rng.integers(0, most, k).tolist() for k in (positive.sum(), (~positive).sum()))
    return {**case, "cap": cap, "u": u, "v": v}


def evaluated(case: Case) -> Case:
    """Return what `check_proof.bounds` computes: u and v, what is missing, and both bounds."""
    positive, weight = np.array(case["positive"]), np.array(case["weight"])
    numbers = {name: float(Fraction(case[name])) for name in ("lam", "scale")}
    w = np.array([float(Fraction(x)) for x in case["w"]])
    proof: dict[str, Any] = {
        **{name: np.array(value) for name, value in numbers.items()},
        **{"w": w, "w_dual": w, "offset": np.zeros(w.size), "kind": np.array("weights")},
    }
    if "bins" in case:
        proof |= {"bins": np.array(2 ** case["bins"]), "half": np.array(case["half"])}
    else:
        proof |= {name: np.array(case[name]) for name in ("cap", "u", "v")}
        proof["kind"] = np.array("marginals")
    seen: Case = {}

    def scores(*_: object) -> tuple[int, np.ndarray, Fraction]:
        return case["q"], np.array(case["scores"]), Fraction(case["slip"])

    def pull(X: object, c: np.ndarray, r: object, offset: object, missing: int, *_: object) -> Any:
        seen["u"], seen["v"] = c[positive].tolist(), (-c[~positive]).tolist()
        seen["missing"] = int(missing)
        return np.array([float(Fraction(x)) for x in case["pull"]])

    X = np.zeros((positive.size, w.size))
    with mock.patch.multiple(check_proof, scores=scores, pull=pull):
        upper, lower, _ = check_proof.bounds(proof, X, positive, weight)
    return {**seen, "upper": str(upper), "lower": str(lower)}


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
    assert check.compile_file(tmp_path, "Changed", coq_text(changed)).returncode != 0
    cheat = "Axiom cheat : False.\nTheorem one : 1 = 2.\nProof. destruct cheat. Qed."
    assert check.compile_file(tmp_path, "Cheat", cheat).returncode == 0
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
