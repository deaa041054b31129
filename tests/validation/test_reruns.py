"""Evidence is run again: what differs is seen, times are not compared, nothing is made up."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation import reruns, suite
from aucert.validation.cli import main
from aucert.validation.effects import EVIDENCE
from aucert.validation.reruns import (
    LONGEST,
    SECONDS,
    Recorded,
    Rerun,
    chosen_otherwise,
    differences,
    recorded_parts,
)
from aucert.validation.store import read_evidence, write_evidence
from aucert.validation.tables.registry import tables
from aucert.validation.tables.table import Experiment, Part, Run
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


def test_other_constants_do_not_excuse_other_data() -> None:
    """With a bare `lam` that differs no other name without a method would be compared."""
    one = {"lam": 1e-5, "full_auc": 0.9, "excess": 2e-4, "sha256": "a", "n_train": 8, "gap A": 1.0}
    tied = {**one, "lam": 0.1, "excess": 3e-4}
    assert list(differences(one, tied)) == []
    assert list(differences(one, {**tied, "sha256": "b"})) == ["/sha256: 'a' recorded, 'b' now"]
    assert len(list(differences(one, {**tied, "n_train": 9}))) == 1
    assert len(list(differences(one, {**tied, "gap A": 2.0}))) == 1
    method = {"cost A": 1.0, "sha256 A": "a", "test_sha256 A": "b"}
    other = {"cost A": 2.0, "sha256 A": "b", "test_sha256 A": "a"}
    assert len(list(differences(method, other))) == 2


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


def test_other_choices_in_most_parts_are_no_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each alone would pass: where a constant was chosen otherwise only an AUC is compared."""
    right = reruns.recorded_parts

    def otherwise(*given: object) -> object:
        parts = right(*given)["sauc-geometry"].parts[:2]  # type: ignore[arg-type]
        chosen = [part._replace(result={**part.result, "lam": -1.0}) for part in parts]
        return {"sauc-geometry": Recorded(chosen)}

    monkeypatch.setattr(reruns, "recorded_parts", otherwise)
    monkeypatch.setattr(reruns, "plain", lambda found: {**found, "lam": 1.0})
    row = reruns.check("SAUC")
    assert row.verdict == "fails" and "2 of 2 parts" in row.details["differences"][-1]


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


def test_one_part_that_is_missing_is_an_error_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = copied(monkeypatch, tmp_path) / "sauc-geometry.jsonl"
    documents = read_evidence(path)
    gone = [*documents][3]
    write_evidence(path, [document for key, document in documents.items() if key != gone])
    with pytest.raises(InputError, match=f"no part {gone} of protocol"):
        reruns.check("SAUC")


@each("change", ["protocol", "budget"])
def test_evidence_of_another_protocol_or_budget_is_none(
    monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    table = tables()["sauc-table-1"]
    lines = tuple(replace(line, full=[-1]) for line in table.experiment.budget)
    changed = {"protocol": {"protocol": 99}, "budget": {"budget": lines}}[change]
    parts = table.experiment.parts(Run("full", 0), table.experiment.spent("full"))
    other = replace(table.experiment, parts=lambda run, budget: parts, **changed)
    monkeypatch.setattr(reruns, "tables", lambda: {"one": replace(table, experiment=other)})
    with pytest.raises(InputError, match=rf"no part .* of protocol {other.protocol}"):
        recorded_parts("SAUC", Run("full", 0))


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


def test_data_that_changed_are_no_reason_not_to_test(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without = recorded_parts("Nonlinear", Run("full", 0)).values()
    for name in {name for known in without for name in known.absent}:
        (tmp_path / f"{name}.npz").write_bytes(b"other")
    monkeypatch.setenv("AUCERT_DATA", str(tmp_path))
    with pytest.raises(InputError, match="made of other data: "):
        reruns.check("Nonlinear")


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


def test_experiments_of_which_nothing_was_run_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {
        "short": recorded({"a": 1.0}),
        "long": recorded({"a": 9.0}),
        "longer": recorded({"a": 99.0}),
        "absent": Recorded(absent={"skin"}),
        "changed": Recorded(changed={"usps"}),
    }
    monkeypatch.setattr(reruns, "recorded_parts", lambda *given: known)
    absent = "; none of absent: their data are not here; none of changed: their data are not those"
    for profile, many, long in (("quick", 1, "long, longer"), ("full", 2, "longer")):
        row = reruns.check("SHT", profile)
        assert row.verdict == "holds" and str(row.measured).startswith(
            f"{many} parts run again, 0 numbers differ; none of {long}: their parts take longer"
            f"{absent}"
        )


def test_data_that_some_parts_lack_are_named_beside_those_that_were_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = recorded({"a": 1.0})
    known.absent, known.changed = {"skin"}, {"wdbc", "usps"}
    long = recorded({"a": 99.0})
    long.absent = {"skin"}
    monkeypatch.setattr(reruns, "recorded_parts", lambda *given: {"some": known, "long": long})
    row = reruns.check("SHT")
    assert row.verdict == "holds" and str(row.measured).endswith(
        "; of some, long no part that needs skin, usps, wdbc: these data are not here, or not "
        "those of the evidence"
    )


def test_long_parts_are_no_want_of_data(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"long": recorded({"a": 99.0}), "other": Recorded(absent={"skin"})}
    monkeypatch.setattr(reruns, "recorded_parts", lambda *given: known)
    assert reruns.check("SHT").verdict == "not-testable"


def test_validate_reports_the_last_check_of_this_evidence() -> None:
    report = suite.run([reruns.name_of(paper) for paper in PAPERS])
    assert [row.verdict for row in report.rows] == ["holds"] * 4
    for row in report.rows:
        assert row.details["date"] in str(row.measured) and row.details["parts"]
        assert "that took 3 s or less" in row.statement


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


def test_few_experiments_have_no_part_that_is_run_again() -> None:
    """Of the project's evidence: what the doc of `LONGEST` says."""
    run = Run("full", 0, reruns.real_data_folder())
    longer: dict[str, float] = {}
    for paper in PAPERS:
        for name, known in recorded_parts(paper, run).items():
            every = [part.seconds for part in known.parts]
            if every and min(every) > SECONDS:
                longer[name] = min(every)
    assert sum(least > LONGEST for least in longer.values()) <= 1, longer
    assert sum(least for least in longer.values() if least <= LONGEST) < 90.0, longer
