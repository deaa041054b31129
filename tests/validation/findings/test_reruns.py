"""Evidence is run again: what differs is seen, times are not compared, nothing is made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from aucert.validation import suite
from aucert.validation.findings import reruns
from aucert.validation.findings.reruns import chosen_otherwise, differences, recorded_parts
from aucert.validation.tables.table import Run


def test_numbers_lists_and_names_are_compared() -> None:
    one = {"auc": 0.5, "seconds": 1.0, "s, SVM": 2.0, "curve": [1.0, 2.0], "n": 3, "name": "a"}
    assert list(differences(one, {**one, "seconds": 9.0, "s, SVM": 8.0})) == []
    assert list(differences(one, {**one, "auc": 0.5 + 1e-9})) == []
    for name, value in (("auc", 0.51), ("curve", [1.0, 2.1]), ("curve", [1.0]), ("n", 4)):
        assert len(list(differences(one, {**one, name: value}))) == 1
    assert len(list(differences(one, {k: v for k, v in one.items() if k != "name"}))) == 1
    assert len(list(differences({"bad": None}, {"bad": 1.0}))) == 1


def test_a_few_steps_more_are_another_version_and_many_are_not() -> None:
    one = {"steps SVM": 100, "steps AUC-SVM": 6}
    for name, now, allowed in (
        ("steps SVM", 119, True),
        ("steps SVM", 201, False),
        ("steps AUC-SVM", 9, True),
        ("steps AUC-SVM", 2, False),
    ):
        assert (list(differences(one, {**one, name: now})) == []) == allowed, name


def test_a_method_of_other_constants_may_differ_a_little_and_no_other_method_may() -> None:
    one = {"auc A": 0.7, "cost A": 1.0, "gap A": 1e-9, "auc B": 0.7, "cost B": 1.0}
    tied = {**one, "cost A": 10.0, "auc A": 0.705}
    assert list(differences(one, tied)) == [] and chosen_otherwise(one, tied) == {"A"}
    assert len(list(differences(one, {**tied, "auc A": 0.76}))) == 1
    assert len(list(differences(one, {**tied, "auc B": 0.705}))) == 1
    assert len(list(differences(one, {**one, "auc A": 0.705}))) == 1
    both = {"lam": 1e-5, "full_auc": 90.5, "excess": 2e-4}
    assert list(differences(both, {"lam": 0.1, "full_auc": 90.6, "excess": 3e-4})) == []
    assert len(list(differences(both, {"lam": 0.1, "full_auc": 60.5, "excess": 3e-4}))) == 1
    assert len(list(differences(both, {**both, "excess": 4e-4}))) == 1
    missing = {name: value for name, value in tied.items() if name != "auc A"}
    assert len(list(differences(one, missing))) == 1


@pytest.mark.slow
def test_the_evidence_of_the_project_repeats() -> None:
    row = suite.run(["evidence-of-sauc-repeats"]).rows[0]
    assert row.verdict == "holds" and row.details["parts"], row.details


def test_a_computation_that_drifts_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = reruns.recorded_parts

    def drifted(*given: object) -> object:
        experiment, part, result = right(*given)["sauc-geometry"][0]  # type: ignore[arg-type]
        doubled = {k: 2 * v if isinstance(v, float) else v for k, v in result.items()}
        return {"sauc-geometry": [(experiment, part, doubled)]}

    monkeypatch.setattr(reruns, "recorded_parts", drifted)
    assert suite.run(["evidence-of-sauc-repeats"]).rows[0].verdict == "fails"


def test_other_choices_in_most_parts_are_no_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each alone would pass: where a constant was chosen otherwise only an AUC is compared."""
    right = reruns.recorded_parts

    def otherwise(*given: object) -> object:
        parts = right(*given)["sauc-geometry"][:2]  # type: ignore[arg-type]
        return {"sauc-geometry": [(e, p, {**result, "lam": -1.0}) for e, p, result in parts]}

    monkeypatch.setattr(reruns, "recorded_parts", otherwise)
    monkeypatch.setattr(reruns, "plain", lambda found: {**found, "lam": 1.0})
    row = suite.run(["evidence-of-sauc-repeats"]).rows[0]
    assert row.verdict == "fails" and "2 of 2 parts" in row.details["differences"][-1]


def test_without_evidence_nothing_is_claimed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert recorded_parts("SAUC", Run("full", 0), tmp_path) == {}
    monkeypatch.setattr(reruns, "recorded_parts", lambda *given: {})
    report = suite.run(["evidence-of-sht-repeats"])
    assert report.rows[0].verdict == "not-testable" and report.exit_code == 0
