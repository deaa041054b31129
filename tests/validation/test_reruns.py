"""Evidence is run again: what differs is seen, times are not compared, nothing is made up."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation import reruns
from aucert.validation.cli import main
from aucert.validation.effects import EVIDENCE
from aucert.validation.reruns import LONGEST, SECONDS, Recorded, Rerun, differences
from aucert.validation.tables.table import Experiment, Part
from loops import each

PAPERS = ("ScalingUp", "SAUC", "SHT", "Nonlinear")
ONE = {"auc": 0.5, "seconds": 1.0, "s, SVM": 2.0, "curve": [1.0, 2.0], "n": 3, "name": "a"}
TWO = {"auc A": 0.7, "cost A": 1.0, "gap A": 1e-9, "auc B": 0.7, "cost B": 1.0}
TIED = {"cost A": 10.0, "auc A": 0.705}  # other constants were chosen
BOTH = {"lam": 1e-5, "full_auc": 90.5, "excess": 2e-4}


@each(
    ("recorded", "change", "count"),
    [
        (ONE, {"seconds": 9.0, "s, SVM": 8.0}, 0),
        (ONE, {"auc": 0.5 + 1e-9}, 0),
        *((ONE, change, 1) for change in ({"auc": 0.51}, {"curve": [1.0, 2.1]}, {"curve": [1.0]})),
        *((ONE, change, 1) for change in ({"n": 4}, {"name": None}, {"auc": None})),
        (TWO, TIED, 0),
        *((TWO, TIED | change, 1) for change in ({"auc A": 0.76}, {"auc B": 0.705})),
        (TWO, {"auc A": 0.705}, 1),
        (TWO, TIED | {"auc A": None}, 1),
        (BOTH, {"lam": 0.1, "full_auc": 90.6, "excess": 3e-4}, 0),
        (BOTH, {"lam": 0.1, "full_auc": 60.5, "excess": 3e-4}, 1),
        (BOTH, {"excess": 4e-4}, 1),
    ],
)
def test_numbers_lists_and_names_are_compared(
    recorded: dict[str, Any], change: dict[str, Any], count: int
) -> None:
    """A method of other constants may differ a little, and no other method may."""
    now = {name: value for name, value in (recorded | change).items() if value is not None}
    assert len(list(differences(recorded, now))) == count
    assert len(list(differences(now, recorded))) == count


@pytest.mark.release
def test_the_evidence_of_the_project_repeats() -> None:
    row = reruns.check("SAUC")
    assert row.verdict == "holds" and row.details["parts"], row.details


def test_a_computation_that_drifts_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = reruns.recorded_parts

    def drifted(*given: Any) -> object:
        part = right(*given)["sauc-geometry"].parts[0]
        doubled = {k: 2 * v if isinstance(v, float) else v for k, v in part.result.items()}
        return {"sauc-geometry": Recorded([part._replace(result=doubled)])}

    monkeypatch.setattr(reruns, "recorded_parts", drifted)
    assert reruns.check("SAUC").verdict == "fails"


@each(("damage", "word"), [("missing", "evidence of {}: no part "), ("cut short", "checksum")])
def test_evidence_that_is_missing_or_damaged_is_an_error_with_and_without_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, damage: str, word: str
) -> None:
    folder, right, file = tmp_path / "evidence", reruns.recorded_parts, "sht-genes"
    shutil.copytree(EVIDENCE, folder)
    path = folder / "full-seed0" / f"{file}.jsonl"
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-3])
    monkeypatch.setattr(reruns, "recorded_parts", lambda paper, run, _: right(paper, run, folder))
    for _ in range(2):
        with pytest.raises(InputError, match=word.format(file)):
            reruns.check("SHT")
        monkeypatch.delenv("AUCERT_DATA", raising=False)


def test_without_data_what_needs_them_is_not_testable_and_that_is_expected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    row = reruns.check("Nonlinear")
    assert row.verdict == "not-testable" and "data:skin" in row.details["absent"]
    assert "nonlinear-online: their data are not here" in str(row.measured)


def recorded(seconds: dict[str, float], result: float = 1.0) -> Recorded:
    """Return an experiment of which each part took so long, and gives the number 1."""
    made = Experiment("e", (), lambda budget: (), lambda job: {"x": 1.0})
    parts = [Rerun(made, Part(key, {}), {"x": result}, took) for key, took in seconds.items()]
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
    def status(*words: str) -> object:
        with pytest.raises(SystemExit) as ended:
            main(["reproduce", "--check", *words])
            raise SystemExit(0)
        return ended.value.code

    for value, differ in ((1.0, 0), (2.0, 1)):
        parts = {"part": recorded({"a": 1.0}, value)}
        monkeypatch.setattr(reruns, "recorded_parts", lambda *given, parts=parts: parts)
        assert status("--out", str(tmp_path)) == differ
        kept = json.loads((tmp_path / "checked.json").read_text())
        assert [len(kept[paper]["differences"]) for paper in PAPERS] == [differ] * 4
    assert "SHT: fails" in capsys.readouterr().out
    assert status("sht-table-1") == status("--jobs", "2") == 2
