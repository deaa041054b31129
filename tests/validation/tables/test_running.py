"""Running tables: resuming, evidence, the order and the limit, faults, and the command."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aucert.exact.errors import InputError
from aucert.validation import store
from aucert.validation.cli import main
from aucert.validation.store import Log, read_evidence
from aucert.validation.tables import run as runs
from aucert.validation.tables.run import (
    cpu_minutes,
    estimate,
    in_order,
    planned,
    reproduce,
    tables,
)
from aucert.validation.tables.table import Entry, Experiment, Job, Part, Run, Table
from planted_tables import planted


def entry(shown: list[Any]) -> Entry:
    return shown[0].page.entries[0]


def runs_of(log: Path) -> list[str]:
    """The parts that were computed."""
    return log.read_text().split() if log.exists() else []


def the_file(folder: Path) -> Path:
    (path,) = folder.rglob("*.jsonl")
    return path


def changed(**parts: Any) -> dict[str, Table]:
    """One planted table, its experiment changed."""
    table = planted()["one"]
    experiment = dataclasses.replace(table.experiment, **parts)
    return {"one": dataclasses.replace(table, experiment=experiment)}


def test_what_is_finished_is_used_by_tables_profiles_and_seeds_apart(tmp_path: Path) -> None:
    log, out = tmp_path / "log", tmp_path / "out"
    shown = reproduce(out=out, registry=planted(log))
    first = entry(shown)
    assert len(runs_of(log)) == 4 and [item.table.name for item in shown] == ["one", "two"]
    assert {p.name for p in out.glob("*.md")} == {"one.md", "two.md", "index.md"}
    assert entry(reproduce(out=out, registry=planted(log), seed=1)).ours != first.ours
    assert entry(reproduce(out=out, registry=planted(log), profile="full")).count == 6
    assert len(runs_of(log)) == 4 + 4 + 6
    assert entry(reproduce(out=out, registry=planted(log))) == first and len(runs_of(log)) == 14


def test_what_an_interrupt_left_is_shown_used_and_evidence(tmp_path: Path) -> None:
    log, kept = tmp_path / "log", tmp_path / "kept"
    with pytest.raises(KeyboardInterrupt):
        reproduce(out=tmp_path, registry=planted(log, stop="rep=2"), evidence=kept)
    assert "2 of 4 parts are not done" in (tmp_path / "one.md").read_text()
    assert set(read_evidence(the_file(kept))) == {"rep=0", "rep=1"}
    for out in (tmp_path / "b", tmp_path):
        shown = reproduce(out=out, registry=planted(log), evidence=kept)
        assert entry(shown).count == 4 and shown[0].missing == []
    assert runs_of(log) == ["rep=0", "rep=1", "rep=2", "rep=2", "rep=3"]
    assert len(read_evidence(the_file(kept))) == 4


def test_an_interrupt_that_a_solver_would_keep_to_itself_stops_the_part(tmp_path: Path) -> None:
    def compute(job: Job) -> dict[str, Any]:
        try:
            signal.raise_signal(signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:  # as solvers do, which return their best point
            (tmp_path / "kept").touch()
        return {"value": 1.0}

    with pytest.raises(KeyboardInterrupt):
        reproduce(out=tmp_path, registry=changed(compute=compute))
    assert not (tmp_path / "parts").exists() and not (tmp_path / "kept").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_damaged_and_failed_parts_are_run_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    shown = reproduce(out=tmp_path, registry=planted(log, fail="rep=1"))
    assert entry(shown).count == 3
    assert shown[0].missing == ["A part failed: rep=1: ZeroDivisionError: planted"]
    first = entry(reproduce(out=tmp_path, registry=planted(log)))
    assert first.count == 4 and runs_of(log)[4:] == ["rep=1"]
    path = the_file(tmp_path / "parts")
    path.write_text(path.read_text()[:-20])
    assert entry(reproduce(out=tmp_path, registry=planted(log))) == first
    assert runs_of(log)[5:] == ["rep=1"]
    reproduce(out=tmp_path, registry=planted(log))
    assert len(runs_of(log)) == 6
    for many, wrong in ((10, "NaN"), (14, "1e999"), (18, "-Infinity")):
        path.write_text(re.sub(r'"value": ?[^,}\s]*', f'"value": {wrong}', path.read_text()))
        (page, *_) = reproduce(out=tmp_path, registry=planted(log))
        assert page.missing == [] and len(runs_of(log)) == many


def test_a_raised_protocol_discards_finished_parts_and_a_changed_source_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, kept = tmp_path / "log", tmp_path / "kept"
    reproduce(out=tmp_path, registry=planted(log), evidence=kept)
    monkeypatch.setattr(runs, "__version__", "another")
    monkeypatch.setattr(runs, "code_sha256", lambda experiment: "another")
    reproduce(out=tmp_path, registry=planted(log))
    reproduce(out=tmp_path / "fresh", registry=planted(log), evidence=kept)
    assert len(runs_of(log)) == 4
    for evidence in (None, kept):
        reproduce(out=tmp_path, registry=planted(log, protocol=2), evidence=evidence)
        assert len(runs_of(log)) == 8
    document = json.loads(the_file(tmp_path / "parts").read_text().split("\n")[-2])
    assert document["environment"]["version"] == document["environment"]["code"] == "another"
    assert json.loads(the_file(kept).read_text().splitlines()[0])["protocol"] == 2


@pytest.mark.alone
@pytest.mark.slow
def test_a_long_part_keeps_no_others_waiting_where_a_run_goes_on(tmp_path: Path) -> None:
    """By joblib's own batches, grown large on finished parts, it would keep its neighbours."""

    def parts(budget: Mapping[str, Any]) -> list[Part]:
        return [Part(f"rep={k}", {"rep": k}) for k in range(400)]

    def compute(job: Job) -> dict[str, Any]:
        time.sleep({360: 10.0}.get(job["rep"], 0.05 if job["rep"] > 360 else 0.0))
        return {"value": float(os.getpid())}

    registry = changed(parts=parts, compute=compute)
    reproduce(out=tmp_path, registry=registry)
    path = the_file(tmp_path / "parts")
    path.write_text("\n".join([line for line in path.read_text().splitlines() if line][:360]))
    (shown,) = reproduce(out=tmp_path, registry=registry, jobs=2)
    found = [shown.results.done[f"rep={rep}"]["value"] for rep in range(360, 400)]
    assert len(set(found)) == 2 and found.count(found[0]) <= 2


def test_data_that_are_missing_are_named_and_other_data_run_afresh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    log, kept, data = tmp_path / "log", tmp_path / "kept", tmp_path / "data"
    data.mkdir()
    registry = planted(log, needs=("colon",))
    nowhere = reproduce(out=tmp_path / "a", registry=registry)
    empty = reproduce(out=tmp_path / "a", registry=registry, data_dir=data)
    assert nowhere[0].missing == [f"colon: {store.NO_FOLDER}."]
    assert empty[0].missing == ["colon: not in the data folder: colon.npz."]
    assert "missing" in (tmp_path / "a" / "one.md").read_text() and entry(empty).ours is None
    for many, content in ((4, b"first"), (8, b"second, longer")):
        (data / "colon.npz").write_bytes(content)
        reproduce(out=tmp_path / "a", registry=registry, data_dir=data)
        reproduce(out=tmp_path / "b", registry=registry, evidence=kept, data_dir=data)
        assert len(runs_of(log)) == 2 * many
    # Evidence serves without the data.
    (shown, _) = reproduce(out=tmp_path / "c", registry=registry, evidence=kept)
    assert shown.missing == [] and len(shown.data_sha256["colon"]) == 64
    assert len(runs_of(log)) == 16


def test_pages_made_of_evidence_alone_are_those_of_the_run(tmp_path: Path) -> None:
    log, kept = tmp_path / "log", tmp_path / "kept"
    for out in ("a", "b"):
        reproduce(out=tmp_path / out, registry=planted(log), evidence=kept, seed=3)
    assert len(runs_of(log)) == 4 and not (tmp_path / "b" / "parts").exists()
    for name in ("one.csv", "one.md", "two.md", "index.md"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    (found,) = estimate(out=tmp_path / "c", registry=planted(), evidence=kept, seed=3)
    assert (found.done, found.left) == (4, 0)
    path = the_file(kept)
    assert path.relative_to(kept).as_posix() == "quick-seed3/planted.jsonl"
    head = json.loads(path.read_text().splitlines()[0])
    assert head["command"] == "aucert reproduce --profile quick --seed 3 --evidence DIR"
    assert head["experiment"] == "planted" and head["budget"] == {"repetitions": 4}
    assert head["parts"] == 4 and head["made_with"][0]["numpy"]


def signed(text: str, wrong: str) -> str:
    """The evidence with other values, and a checksum that fits."""
    first, _, rest = text.partition("\n")
    rest = re.sub(r'"value":[^,]*', f'"value":{wrong}', rest)
    head = json.loads(first) | {"sha256": hashlib.sha256(rest.encode()).hexdigest()}
    return json.dumps(head) + "\n" + rest


def test_damaged_evidence_is_refused_and_the_pages_stay(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    reproduce(out=tmp_path, registry=planted(), evidence=kept)
    path = the_file(kept)
    text = path.read_text()
    pages = {page: page.read_bytes() for page in tmp_path.iterdir() if page.is_file()}
    assert len(pages) == 5
    for damaged, said in (
        (text.replace('"rep":1', '"rep":7', 1), "checksum does not fit"),
        (text[:-30], "checksum does not fit"),
        ("no JSON\n", "not a file of evidence"),
        ("[]\n", "not a file of evidence"),
        (signed(text, "NaN"), "not a file"),
        (signed(text, '"x"'), "not a number"),
        (signed(text, "1e999"), "not a file"),
        (signed(text, "1" * 400), "not a file"),
    ):
        path.write_text(damaged)
        with pytest.raises(InputError, match=said):
            reproduce(out=tmp_path, registry=planted(), evidence=kept)
        if "number" not in said:
            assert {page: page.read_bytes() for page in pages} == pages


def test_an_error_in_the_middle_of_a_run_leaves_what_was_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = Log.add

    def full_at_the_fourth(log: Log, document: dict[str, Any]) -> dict[str, Any]:
        if document["key"]["part"] == "rep=3":
            raise InputError("planted: the disk is full")
        return add(log, document)

    monkeypatch.setattr(Log, "add", full_at_the_fourth)
    with pytest.raises(InputError, match="disk is full"):
        reproduce(out=tmp_path, registry=planted(), evidence=tmp_path / "evidence")
    assert len(read_evidence(the_file(tmp_path / "evidence"))) == 3
    assert "There are 3 values." in (tmp_path / "one.md").read_text()


@pytest.mark.slow
def test_after_a_kill_the_same_run_goes_on_and_gives_the_same_numbers(tmp_path: Path) -> None:
    killed, whole, log = tmp_path / "killed", tmp_path / "whole", tmp_path / "log"
    code = (
        "from planted_tables import planted\nfrom aucert.validation.tables.run import reproduce\n"
        f"reproduce(out={str(killed)!r}, registry=planted(slow=0.5), profile='full')"
    )
    helpers = str(Path(__file__).parents[2] / "helpers")
    environment = {**os.environ, "PYTHONPATH": helpers}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment)
    parts = killed / "parts" / "full-seed0" / "planted.jsonl"
    try:
        deadline = time.monotonic() + 60
        while len(Log(parts)) < 2:
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    left, before = len(Log(parts)), parts.read_bytes()
    reproduce(out=killed, registry=planted(log), profile="full")
    assert 2 <= left < 6 and len(runs_of(log)) == 6 - left
    assert parts.read_bytes().startswith(before) and len(Log(parts)) == 6
    reproduce(out=whole, registry=planted(), profile="full")
    assert (killed / "one.csv").read_bytes() == (whole / "one.csv").read_bytes()


def test_after_the_limit_nothing_is_begun_and_the_page_says_what_and_why(tmp_path: Path) -> None:
    log = tmp_path / "log"
    shown = reproduce(out=tmp_path, registry=planted(log), max_time=1e-9)
    assert not log.exists() and entry(shown).ours is None
    text = (tmp_path / "one.md").read_text()
    assert "Time limit of 1e-09 s reached: 4 of 4 parts are not done" in text
    assert "They are: rep=0; rep=1; rep=2; rep=3." in text
    assert shown[0].as_json()["unfinished"] == ["rep=0", "rep=1", "rep=2", "rep=3"]


def named(name: str, minutes: float, count: int) -> tuple[str, Table]:
    """An experiment of its own, with its cost."""
    table = planted()["one"]
    budget = (dataclasses.replace(table.experiment.budget[0], quick=count),)
    experiment = changed(name=name, budget=budget, quick_minutes=minutes)["one"].experiment
    return name, dataclasses.replace(table, name=name, experiment=experiment)


def test_cheap_experiments_end_first_and_all_begin_soon() -> None:
    for other, ends in (
        (named("cheap", 3.0, 3), ["cheap 0", "cheap 1", "cheap 2", "costly 0"]),
        (named("middle", 20.0, 2), ["costly 0", "middle 0", "costly 1", "middle 1"]),
    ):
        plan = planned(dict([named("costly", 40.0, 4), other]).values(), Run("quick"))
        order = [f"{one.name} {part.key}" for one, part in in_order(plan, Run("quick"))]
        assert order == [*(e.replace(" ", " rep=") for e in ends), *order[4:]]
        assert order[-1] == "costly rep=3"


def test_every_experiment_begins_with_each_row_once_and_fits_two_processors() -> None:
    counts = {"rep", "split", "shuffle", "trial", "fold", "draw", "reading"}
    experiments = {t.experiment.name: t.experiment for t in tables().values()}.values()
    for profile, hours in (("quick", 1 / 3), ("full", 12.0)):
        for experiment in experiments:
            parts = experiment.parts(experiment.spent(profile))
            kinds = [
                tuple((k, v) for k, v in part.parameters.items() if k not in counts)
                for part in parts
            ]
            assert len(set(kinds[: len(set(kinds))])) == len(set(kinds)), experiment.name
        minutes = [cpu_minutes(experiment, profile) for experiment in experiments]
        assert sum(m or 1e9 for m in minutes) <= 0.8 * 2 * 60 * hours


def test_the_estimate_counts_what_is_done_and_what_has_no_data(tmp_path: Path) -> None:
    registry = dict([named("costly", 40.0, 4)])
    (before,) = estimate(out=tmp_path, registry=registry)
    assert (before.parts, before.left, before.cpu_minutes) == (4, 4, 40.0)
    assert list(tmp_path.iterdir()) == []
    reproduce(out=tmp_path, registry=registry)
    (after,) = estimate(out=tmp_path, registry=registry)
    assert (after.done, after.left, after.cpu_minutes) == (4, 0, 0.0)
    (lacking,) = estimate(out=tmp_path, registry=planted(needs=("colon",)), data_dir=tmp_path)
    assert (lacking.missing, lacking.left, lacking.cpu_minutes) == (4, 0, None)
    assert lacking.tables == ("one", "two")


def test_faults_of_experiments() -> None:
    twice = Experiment("twice", (), lambda budget: [Part("a", {})] * 2, lambda job: {})
    table = dataclasses.replace(planted()["one"], experiment=twice)
    with pytest.raises(ValueError, match="two parts have one key"):
        planned([table], Run())
    with pytest.raises(ValueError, match="name of a file"):
        Part("../up", {})


# The command


def command(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", *arguments])
    return int(ended.value.code or 0)


def test_list_bad_input_and_missing_data(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("--list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)["tables"]
    assert [table["name"] for table in listed] == list(tables())
    assert {"quick", "full", "printed"} == set(listed[0]["minutes"])
    for arguments in (
        ("scaling-up-tabel-1",),
        ("--data-dir", "/nowhere/at/all"),
        ("--jobs", "0"),
        ("--seed", "-1"),
        ("--profile", "slow"),
        ("sauc-fig-1", "--max-time", "0"),
        ("sauc-fig-1", "--max-time", "0", "--estimate"),
    ):
        assert command(*arguments, "--out", str(tmp_path)) == 2
        said = capsys.readouterr()
        assert said.out == "" and said.err.count("\n") == 1 and said.err.startswith("aucert: ")
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    assert command("nonlinear-table-1", "--json", "--out", str(tmp_path)) == 0
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    assert any("--data-dir" in line for line in table["missing"])
    assert all(entry["ours"] is None for entry in table["entries"])


def test_the_estimate_and_the_limit_on_the_command_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    asked = ("sauc-fig-1", "sht-fig-1", "--estimate", "--profile", "full", "--jobs", "2")
    assert command(*asked, "--out", str(out)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines[:-1]] == ["sauc-fig-1", "sht-fig-1"]
    assert lines[-1].startswith("in all: ") and lines[-1].endswith("nothing is begun after 12 h")
    assert command(*asked, "--out", str(out), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    minutes = sum(entry["cpu_minutes"] for entry in document["experiments"])
    assert document["cpu_minutes"] == minutes > 0
    assert document["hours"] == pytest.approx(minutes / 120) and document["max_time"] == 12 * 3600
    assert not out.exists()
    assert command("sauc-fig-1", "--max-time", "1e-9", "--out", str(out), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["complete"] is False and len(document["tables"][0]["unfinished"]) == 40
