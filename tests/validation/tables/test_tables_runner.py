"""Running tables: resuming, the same numbers with more processes, missing data, failed parts."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aucert.exact.errors import InputError
from aucert.validation import store
from aucert.validation.tables import run as runs
from aucert.validation.tables.run import reproduce
from aucert.validation.tables.table import Entry, Experiment, Job, Part, Run, Table
from loops import each
from planted_tables import planted


def entry(shown: list[Any]) -> Entry:
    return shown[0].page.entries[0]


def test_two_tables_of_one_experiment_run_it_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    shown = reproduce(out=tmp_path / "out", registry=planted(log))
    assert len(log.read_text().splitlines()) == 4
    assert [item.table.name for item in shown] == ["one", "two"]
    assert {p.name for p in (tmp_path / "out").glob("*.md")} == {"one.md", "two.md", "index.md"}


def test_another_seed_or_profile_is_run_afresh_and_kept_beside(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = entry(reproduce(out=tmp_path, registry=planted(log)))
    assert entry(reproduce(out=tmp_path, registry=planted(log), seed=1)).ours != first.ours
    assert entry(reproduce(out=tmp_path, registry=planted(log), profile="full")).count == 6
    assert len(log.read_text().splitlines()) == 4 + 4 + 6
    assert entry(reproduce(out=tmp_path, registry=planted(log))) == first
    assert len(log.read_text().splitlines()) == 14


def test_what_an_interrupt_left_is_shown_and_used(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with pytest.raises(KeyboardInterrupt):
        reproduce(out=tmp_path, registry=planted(log, stop="rep=2"))
    assert "2 of 4 parts are not done" in (tmp_path / "one.md").read_text()
    shown = reproduce(out=tmp_path, registry=planted(log))
    assert entry(shown).count == 4 and shown[0].missing == []
    assert log.read_text().split() == ["rep=0", "rep=1", "rep=2", "rep=2", "rep=3"]


def test_an_interrupt_that_a_solver_would_keep_to_itself_stops_the_part(tmp_path: Path) -> None:
    def compute(job: Job) -> dict[str, Any]:
        try:
            signal.raise_signal(signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:  # as solvers do, which return their best point
            (tmp_path / "kept").touch()
        return {"value": 1.0}

    (table,) = list(planted().values())[:1]
    stubborn = dataclasses.replace(
        table, experiment=dataclasses.replace(table.experiment, compute=compute)
    )
    with pytest.raises(KeyboardInterrupt):
        reproduce(out=tmp_path, registry={"one": stubborn})
    assert not (tmp_path / "parts").exists()
    assert not (tmp_path / "kept").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_damaged_file_is_computed_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = entry(reproduce(out=tmp_path, registry=planted(log)))
    path = tmp_path / "parts" / "quick-seed0" / "planted.jsonl"
    path.write_text(path.read_text()[:-20])
    assert entry(reproduce(out=tmp_path, registry=planted(log))) == first
    assert log.read_text().split()[4:] == ["rep=3"]
    reproduce(out=tmp_path, registry=planted(log))
    assert len(log.read_text().split()) == 5


def test_a_raised_protocol_discards_finished_parts_and_a_changed_source_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    reproduce(out=tmp_path, registry=planted(log), evidence=tmp_path / "kept")
    monkeypatch.setattr(runs, "__version__", "another")
    monkeypatch.setattr(runs, "code_sha256", lambda experiment: "another")
    reproduce(out=tmp_path, registry=planted(log))
    reproduce(out=tmp_path / "fresh", registry=planted(log), evidence=tmp_path / "kept")
    assert len(log.read_text().splitlines()) == 4
    for evidence in (None, tmp_path / "kept"):
        reproduce(out=tmp_path, registry=planted(log, protocol=2), evidence=evidence)
        assert len(log.read_text().splitlines()) == 8
    document = json.loads(
        (tmp_path / "parts/quick-seed0/planted.jsonl").read_text().split("\n")[-2]
    )
    assert document["environment"]["version"] == document["environment"]["code"] == "another"
    (head,) = (tmp_path / "kept").rglob("*.jsonl")
    assert json.loads(head.read_text().splitlines()[0])["protocol"] == 2


@pytest.mark.slow
def test_processes_change_no_number(tmp_path: Path) -> None:
    alone = reproduce(out=tmp_path / "alone", registry=planted())
    together = reproduce(out=tmp_path / "together", registry=planted(), jobs=2)
    assert entry(alone) == entry(together)
    assert (tmp_path / "alone" / "one.csv").read_text() == (
        tmp_path / "together" / "one.csv"
    ).read_text()


@pytest.mark.alone
@pytest.mark.slow
def test_a_long_part_keeps_no_others_waiting_where_a_run_goes_on(tmp_path: Path) -> None:
    """By joblib's own batches, grown large on finished parts, it would keep its neighbours."""

    def parts(run: Run, budget: Mapping[str, Any]) -> list[Part]:
        return [Part(f"rep={k}", {"rep": k}) for k in range(400)]

    def compute(job: Job) -> dict[str, Any]:
        time.sleep({360: 10.0}.get(job["rep"], 0.05 if job["rep"] > 360 else 0.0))
        return {"value": float(os.getpid())}

    (table,) = list(planted().values())[:1]
    many = dataclasses.replace(table.experiment, parts=parts, compute=compute)
    registry = {"one": dataclasses.replace(table, experiment=many)}
    reproduce(out=tmp_path, registry=registry)
    path = tmp_path / "parts" / "quick-seed0" / "planted.jsonl"
    path.write_text("\n".join([line for line in path.read_text().splitlines() if line][:360]))
    (shown,) = reproduce(out=tmp_path, registry=registry, jobs=2)
    found = [shown.results.done[f"rep={rep}"]["value"] for rep in range(360, 400)]
    assert len(set(found)) == 2 and found.count(found[0]) <= 2


def test_a_failed_part_is_shown_and_run_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    shown = reproduce(out=tmp_path, registry=planted(log, fail="rep=1"))
    assert entry(shown).count == 3
    assert shown[0].missing == ["A part failed: rep=1: ZeroDivisionError: planted"]
    assert entry(reproduce(out=tmp_path, registry=planted(log))).count == 4


def test_missing_data_are_named_with_the_reason_and_nothing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    (tmp_path / "data").mkdir()
    registry = planted(needs=("colon",))
    nowhere = reproduce(out=tmp_path / "a", registry=registry)
    empty = reproduce(out=tmp_path / "b", registry=registry, data_dir=tmp_path / "data")
    assert nowhere[0].missing == [f"colon: {store.NO_FOLDER}."]
    assert empty[0].missing == ["colon: not in the data folder: colon.npz."]
    assert "missing" in (tmp_path / "b" / "one.md").read_text()
    assert entry(empty).ours is None


def test_other_data_under_the_same_name_are_run_afresh(tmp_path: Path) -> None:
    log, data = tmp_path / "log", tmp_path / "data"
    data.mkdir()
    for content in (b"first", b"second, longer"):
        (data / "colon.npz").write_bytes(content)
        reproduce(out=tmp_path, registry=planted(log, needs=("colon",)), data_dir=data)
    assert len(log.read_text().splitlines()) == 8


@each(
    ("arguments", "message"),
    [
        ({"names": ["on"]}, "did you mean one"),
        ({"profile": "slow"}, "profile must be"),
        ({"seed": -1}, "seed must be"),
        ({"jobs": 0}, "jobs must be"),
        ({"data_dir": "/nowhere/at/all"}, "no such folder"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(
    tmp_path: Path, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        reproduce(out=tmp_path / "out", registry=planted(), **arguments)


def test_two_parts_of_one_key_are_a_fault(tmp_path: Path) -> None:
    registry = planted()
    twice = Experiment(
        "twice", (), lambda run, budget: [Part("a", {}), Part("a", {})], lambda job: {}
    )
    table = Table("one", "SAUC", "nowhere", "Twice", twice, registry["one"].render)
    with pytest.raises(ValueError, match="two parts have one key"):
        reproduce(out=tmp_path, registry={"one": table})


def test_a_key_that_is_no_file_name_is_a_fault() -> None:
    with pytest.raises(ValueError, match="name of a file"):
        Part("../up", {})
