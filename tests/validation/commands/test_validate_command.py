"""`aucert validate --list`: all claims, or those that are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aucert.validation import suite
from aucert.validation.cli import main
from loops import each

ONE, OTHER = "theorem-4-first-term", "population-auc-of-the-linear-model"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        main(["validate", *arguments])
        status = 0
    except SystemExit as ended:
        status = int(ended.code or 0)
    said = capsys.readouterr()
    return status, said.out, said.err


def names(out: str) -> list[str]:
    return [line.split("\t")[0] for line in out.splitlines()]


def test_all_claims_are_listed_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "--list")
    assert (status, err) == (0, "")
    assert names(out) == [entry.name for entry in suite.claims()]


def test_claims_that_are_named_are_listed_alone(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "--list", "--only", ONE)
    assert (status, names(out), err) == (0, [ONE], "")
    _, out, _ = run(capsys, "--list", "--only", ONE, "--only", OTHER, "--json")
    assert sorted(claim["name"] for claim in json.loads(out)["claims"]) == sorted([ONE, OTHER])


@each("more", [(), ("--list",), ("--list", "--json")])
def test_a_name_that_is_wrong_is_refused_with_and_without_list(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    more: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    for wrong, hint in (("nope", "no claim is called 'nope'"), (ONE[:-1], f"did you mean {ONE}")):
        status, out, err = run(capsys, *more, "--only", ONE, "--only", wrong)
        assert (status, out, err.count("\n")) == (2, "", 1) and hint in err
    assert list(tmp_path.iterdir()) == []
