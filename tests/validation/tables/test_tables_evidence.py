"""Evidence: found instead of run, added to, damaged, of other data, the same pages."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from aucert.exact.errors import InputError
from aucert.validation.store import Log, read_evidence
from aucert.validation.tables.run import estimate, reproduce
from loops import each
from planted_tables import planted


def the_file(folder: Path) -> Path:
    (path,) = folder.rglob("*.jsonl")
    return path


def test_pages_made_of_evidence_alone_are_those_of_the_run(tmp_path: Path) -> None:
    log, evidence = tmp_path / "log", tmp_path / "evidence"
    reproduce(out=tmp_path / "a", registry=planted(log), evidence=evidence)
    reproduce(out=tmp_path / "b", registry=planted(log), evidence=evidence)
    assert len(log.read_text().splitlines()) == 4
    assert not (tmp_path / "b" / "parts").exists()
    for name in ("one.csv", "one.md", "two.md", "index.md"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    (found,) = estimate(out=tmp_path / "c", registry=planted(), evidence=evidence)
    assert (found.done, found.left) == (4, 0)


def test_what_an_interrupt_left_is_evidence_and_the_rest_is_added(tmp_path: Path) -> None:
    log, evidence = tmp_path / "log", tmp_path / "evidence"
    with pytest.raises(KeyboardInterrupt):
        reproduce(out=tmp_path / "a", registry=planted(log, stop="rep=2"), evidence=evidence)
    assert set(read_evidence(the_file(evidence))) == {"rep=0", "rep=1"}
    reproduce(out=tmp_path / "b", registry=planted(log), evidence=evidence)
    assert log.read_text().split() == ["rep=0", "rep=1", "rep=2", "rep=2", "rep=3"]
    assert len(read_evidence(the_file(evidence))) == 4


@each(
    ("damage", "message"),
    [
        (lambda text: text.replace('"rep":1', '"rep":7', 1), "checksum does not fit"),
        (lambda text: text[:-30], "checksum does not fit"),
        (lambda text: "no JSON\n", "not a file of evidence"),
        (lambda text: "[]\n", "not a file of evidence"),
    ],
)
def test_damaged_evidence_is_refused(tmp_path: Path, damage: object, message: str) -> None:
    reproduce(out=tmp_path, registry=planted(), evidence=tmp_path / "evidence")
    path = the_file(tmp_path / "evidence")
    text = path.read_text()
    changed = damage(text)  # type: ignore[operator]
    assert changed != text
    path.write_text(changed)
    pages = {page: page.read_bytes() for page in tmp_path.iterdir() if page.is_file()}
    assert len(pages) == 5
    with pytest.raises(InputError, match=message):
        reproduce(out=tmp_path, registry=planted(), evidence=tmp_path / "evidence")
    assert {page: page.read_bytes() for page in pages} == pages  # the good ones stay


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


@each(
    ("wrong", "message"),
    [
        ("NaN", "not a file"),
        ('"x"', "not a number"),
        ("1e999", "not a file"),
        ("1" * 400, "not a file"),
    ],
)
def test_what_is_no_number_is_refused_though_its_checksum_fits(
    tmp_path: Path, wrong: str, message: str
) -> None:
    reproduce(out=tmp_path, registry=planted(), evidence=tmp_path / "kept")
    path = the_file(tmp_path / "kept")
    first, _, rest = path.read_text().partition("\n")
    rest = re.sub(r'"value":[^,]*', f'"value":{wrong}', rest)
    head = json.loads(first) | {"sha256": hashlib.sha256(rest.encode()).hexdigest()}
    path.write_text(json.dumps(head) + "\n" + rest)
    with pytest.raises(InputError, match=message):
        reproduce(out=tmp_path, registry=planted(), evidence=tmp_path / "kept")


@each("wrong", ["NaN", "1e999", "-Infinity"])
def test_a_part_with_what_is_no_number_is_run_again(tmp_path: Path, wrong: str) -> None:
    log = tmp_path / "log"
    reproduce(out=tmp_path, registry=planted(log))
    path = the_file(tmp_path / "parts")
    path.write_text(re.sub(r'"value": ?[^,}\s]*', f'"value": {wrong}', path.read_text(), count=1))
    many = len(log.read_text().splitlines())
    (page, *_) = reproduce(out=tmp_path, registry=planted(log))
    assert page.missing == [] and len(log.read_text().splitlines()) == many + 1


def test_evidence_serves_without_the_data_and_not_for_other_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    log, evidence, data = tmp_path / "log", tmp_path / "evidence", tmp_path / "data"
    data.mkdir()
    (data / "colon.npz").write_bytes(b"rows")
    tables = planted(log, needs=("colon",))
    reproduce(out=tmp_path / "a", registry=tables, evidence=evidence, data_dir=data)
    (shown, _) = reproduce(out=tmp_path / "b", registry=tables, evidence=evidence)
    assert shown.missing == [] and len(shown.data_sha256["colon"]) == 64
    assert len(log.read_text().splitlines()) == 4
    (data / "colon.npz").write_bytes(b"other rows")
    reproduce(out=tmp_path / "c", registry=tables, evidence=evidence, data_dir=data)
    assert len(log.read_text().splitlines()) == 8


def test_the_first_line_tells_what_the_file_is(tmp_path: Path) -> None:
    reproduce(out=tmp_path, registry=planted(), evidence=tmp_path / "evidence", seed=3)
    path = the_file(tmp_path / "evidence")
    assert path.relative_to(tmp_path / "evidence").as_posix() == "quick-seed3/planted.jsonl"
    head = json.loads(path.read_text().splitlines()[0])
    assert head["command"] == "aucert reproduce --profile quick --seed 3 --evidence DIR"
    assert head["experiment"] == "planted" and head["budget"] == {"repetitions": 4}
    assert head["parts"] == 4 and head["made_with"][0]["numpy"]
