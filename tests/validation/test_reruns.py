"""Evidence is run again: what differs is seen, times are not compared, nothing is made up."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation import reruns
from aucert.validation.cli import main
from aucert.validation.effects import EVIDENCE
from aucert.validation.reruns import (
    LONGEST,
    SECONDS,
    Recorded,
    Rerun,
    chosen_otherwise,
    differences,
)
from aucert.validation.tables.table import Experiment, Part
from loops import each

PAPERS = ("ScalingUp", "SAUC", "SHT", "Nonlinear")


def test_numbers_lists_and_names_are_compared() -> None:
    one = {"auc": 0.5, "seconds": 1.0, "s, SVM": 2.0, "curve": [1.0, 2.0], "n": 3, "name": "a"}
    assert list(differences(one, {**one, "seconds": 9.0, "s, SVM": 8.0})) == []
    assert list(differences(one, {**one, "auc": 0.5 + 1e-9})) == []
    for name, value in (("auc", 0.51), ("curve", [1.0, 2.1]), ("curve", [1.0]), ("n", 4)):
        assert len(list(differences(one, {**one, name: value}))) == 1
    assert len(list(differences(one, {k: v for k, v in one.items() if k != "name"}))) == 1
    assert len(list(differences({"bad": None}, {"bad": 1.0}))) == 1


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


@pytest.mark.release
def test_the_evidence_of_the_project_repeats() -> None:
    row = reruns.check("SAUC")
    assert row.verdict == "holds" and row.details["parts"], row.details


def test_a_computation_that_drifts_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = reruns.recorded_parts

    def drifted(*given: object) -> object:
        part = right(*given)["sauc-geometry"].parts[0]  # type: ignore[arg-type]
        doubled = {k: 2 * v if isinstance(v, float) else v for k, v in part.result.items()}
        return {"sauc-geometry": Recorded([part._replace(result=doubled)])}

    monkeypatch.setattr(reruns, "recorded_parts", drifted)
    assert reruns.check("SAUC").verdict == "fails"


def copied(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a folder of evidence that a test may damage; runs read it instead of the project's."""
    folder = tmp_path / "evidence"
    shutil.copytree(EVIDENCE, folder)
    right = reruns.recorded_parts
    monkeypatch.setattr(reruns, "recorded_parts", lambda paper, run, _: right(paper, run, folder))
    return folder / "full-seed0"


@each("experiment", ["sht-genes", "sht-synthetic", "nonlinear-table-1"])
@each("with_data", [True, False])
def test_evidence_that_is_missing_is_an_error_with_and_without_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, experiment: str, with_data: bool
) -> None:
    if not with_data:
        monkeypatch.delenv("AUCERT_DATA", raising=False)
    (copied(monkeypatch, tmp_path) / f"{experiment}.jsonl").unlink()
    paper = {"sht": "SHT", "nonlinear": "Nonlinear"}[experiment.split("-")[0]]
    with pytest.raises(InputError, match=f"evidence of {experiment}: no part "):
        reruns.check(paper)


def test_evidence_that_is_damaged_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = copied(monkeypatch, tmp_path) / "sht-genes.jsonl"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InputError, match="checksum"):
        reruns.check("SHT")


def test_without_data_what_needs_them_is_not_testable_and_that_is_expected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    row = reruns.check("Nonlinear")
    assert row.verdict == "not-testable"
    assert str(row.measured).endswith("nonlinear-online: their data are not here")
    assert "data:skin" in row.details["absent"]


def recorded(seconds: dict[str, float]) -> Recorded:
    """Return an experiment of which each part took so long, and gives the number 1."""
    made = Experiment("e", (), lambda run, budget: (), lambda job: {"x": 1.0})
    parts = [Rerun(made, Part(key, {}), {"x": 1.0}, took) for key, took in seconds.items()]
    return Recorded(parts)


@each(
    ("seconds", "quick", "full"),
    [
        ({"a": 1.0, "b": SECONDS, "c": 4.0}, {"a", "b"}, {"a", "b"}),
        ({"a": 5.0, "b": 4.0, "c": 90.0}, set(), {"b"}),
        ({"a": 90.0, "b": LONGEST}, set(), {"b"}),
        ({"a": 61.0}, set(), set()),
        ({}, set(), set()),
    ],
)
def test_without_short_parts_the_shortest_is_run_in_the_full_profile(
    seconds: dict[str, float], quick: set[str], full: set[str]
) -> None:
    for is_quick, wanted in ((True, quick), (False, full)):
        drawn = recorded(seconds).drawn(np.random.default_rng(0), is_quick)
        assert {part.part.key for part in drawn} == wanted


def test_a_check_of_other_evidence_does_not_count(tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    shutil.copytree(EVIDENCE, folder)
    assert reruns.last_check("SHT", folder).verdict == "holds"
    path = folder / "full-seed0" / "sht-genes.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
    assert reruns.last_check("SHT", folder).verdict == "fails"
    assert reruns.last_check("SAUC", folder).verdict == "holds"
    path.unlink()
    with pytest.raises(InputError):
        reruns.last_check("SHT", folder)


def test_the_command_says_what_differs_and_keeps_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {"part": recorded({"a": 1.0})}
    monkeypatch.setattr(reruns, "recorded_parts", lambda *given: good)
    for value, status in ((1.0, 0), (2.0, 1)):
        good["part"].parts[0] = good["part"].parts[0]._replace(result={"x": value})
        with pytest.raises(SystemExit) as ended:
            main(["reproduce", "--check", "--out", str(tmp_path)])
            raise SystemExit(0)
        assert ended.value.code == status
        kept = json.loads((tmp_path / "checked.json").read_text())
        assert [len(kept[paper]["differences"]) for paper in PAPERS] == [status] * 4
    assert "SHT: fails: 1 parts run again, 1 numbers differ" in capsys.readouterr().out
    for more in (["sht-table-1"], ["--jobs", "2"]):
        with pytest.raises(SystemExit) as ended:
            main(["reproduce", "--check", *more])
        assert ended.value.code == 2
