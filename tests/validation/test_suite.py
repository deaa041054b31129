"""Running claims: exit status, errors as rows, and which verdicts of an earlier run are kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation import suite
from aucert.validation.claims.claim import Claim, Context, Outcome, Verdict
from aucert.validation.suite import files_sha256
from loops import each

Judge = Callable[[Context], Outcome]


def planted(*entries: tuple[str, Judge], expected: Verdict = Verdict.HOLDS) -> dict[str, Claim]:
    return {
        name: Claim(name, "SAUC", "nowhere", "suite", "Planted.", expected, run)
        for name, run in entries
    }


def holds(context: Context) -> Outcome:
    return Outcome(Verdict.HOLDS, context.rng().random(), details={"numbers": np.arange(3)})


def fails(context: Context) -> Outcome:
    return Outcome(Verdict.FAILS, 0.0)


def raises(context: Context) -> Outcome:
    raise ZeroDivisionError("planted")


def counted(outcome: Outcome | None = None) -> tuple[dict[str, Claim], list[int]]:
    """Return a registry of one claim and the list to which each judgement adds."""
    runs: list[int] = []

    def one(context: Context) -> Outcome:
        runs.append(context.seed)
        return outcome or holds(context)

    return planted(("one", one)), runs


def numbers(report: Any) -> list[tuple[object, ...]]:
    return [(row.name, row.verdict, row.measured, row.details, row.data) for row in report.rows]


@each("expected", [*Verdict])
def test_the_exit_status_is_one_where_a_verdict_is_not_the_recorded_one(expected: Verdict) -> None:
    for judge, verdict in ((holds, "holds"), (fails, "fails"), (raises, "error")):
        report = suite.run(registry=planted(("one", judge), expected=expected))
        assert report.rows[0].verdict == verdict
        assert report.exit_code == len(report.unexpected) == int(verdict != expected)
    assert report.rows[0].measured == "ZeroDivisionError: planted"


@each(
    ("needs", "verdict"),
    [(("no_such_module",), "not-testable"), (("json",), "error"), ((), "error")],
)
def test_a_claim_whose_module_is_missing_is_not_testable(needs: tuple[str], verdict: str) -> None:
    row = suite.run(registry={"one": replace(planted(("one", raises))["one"], needs=needs)}).rows[0]
    assert row.verdict == verdict and row.as_expected == (verdict != "error")
    assert verdict == "error" or "no_such_module" in str(row.measured)


def test_a_claim_is_run_again_once_its_data_are_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    registry = {"one": replace(planted(("one", holds))["one"], needs=("data:a",))}

    def row() -> Any:
        return suite.run(registry=registry, out=tmp_path / "out").rows[0]

    monkeypatch.delenv("AUCERT_DATA", raising=False)
    assert row().verdict == row().expected_verdict == "not-testable"
    assert "set AUCERT_DATA" in str(row().measured)
    monkeypatch.setenv("AUCERT_DATA", str(tmp_path))
    assert "a.npz is not in" in str(row().measured)
    (tmp_path / "a.npz").touch()
    assert row().verdict == "holds"


@each(
    ("absent", "expected"),
    [
        (None, "holds"),
        ([], "holds"),
        (["data:here"], "holds"),
        (["data:here", "data:absent"], "holds"),
        (["json"], "holds"),
        (["data:absent"], "not-testable"),
        (["no_such_module"], "not-testable"),
    ],
)
def test_not_testable_is_expected_only_where_data_or_a_package_are_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, absent: list[str] | None, expected: str
) -> None:
    (tmp_path / "here.npz").touch()
    monkeypatch.setenv("AUCERT_DATA", str(tmp_path))
    details = {} if absent is None else {"absent": absent}
    registry, _ = counted(Outcome(Verdict.NOT_TESTABLE, "it cannot be run", details=details))
    report = suite.run(registry=registry)
    assert report.rows[0].expected_verdict == expected
    assert report.exit_code == (expected != "not-testable")


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    runs, killed = [], True

    def first(context: Context) -> Outcome:
        runs.append("first")
        return holds(context)

    def second(context: Context) -> Outcome:
        runs.append("second")
        if killed:
            raise KeyboardInterrupt
        return holds(context)

    registry = planted(("first", first), ("second", second))
    with pytest.raises(KeyboardInterrupt):
        suite.run(registry=registry, out=tmp_path)
    killed = False
    resumed = suite.run(registry=registry, out=tmp_path)
    assert runs == ["first", "second", "second"]
    assert numbers(resumed) == numbers(suite.run(registry=registry))


def test_the_same_seed_gives_the_same_numbers_and_another_seed_or_profile_is_run_anew(
    tmp_path: Path,
) -> None:
    registry, runs = counted()
    first = suite.run(registry=registry, out=tmp_path)
    assert numbers(suite.run(registry=registry)) == numbers(first)
    other = suite.run(registry=registry, out=tmp_path, seed=1)
    suite.run(registry=registry, out=tmp_path, profile="full")
    assert runs == [0, 0, 1, 0] and other.rows[0].measured != first.rows[0].measured


@each("text", ["", "{}", "[]", '{"row": {}}', '{"key": {}, "row', "edited"])
def test_a_damaged_result_is_made_again(tmp_path: Path, text: str) -> None:
    registry = planted(("one", holds))
    first = suite.run(registry=registry, out=tmp_path)
    path = tmp_path / "claims.jsonl"
    edited = path.read_text().replace('"verdict": "holds"', '"verdict": "fails"')
    assert edited != path.read_text()
    path.write_text(edited if text == "edited" else text)
    assert numbers(suite.run(registry=registry, out=tmp_path)) == numbers(first)


@pytest.mark.slow
def test_two_processes_change_no_number_of_any_claim() -> None:
    assert numbers(suite.run(jobs=2)) == numbers(suite.run(jobs=1))


def test_a_run_of_some_claims_never_overwrites_a_report_of_more(tmp_path: Path) -> None:
    registry = planted(("one", holds), ("two", holds), ("three", holds))

    def named(folder: Path) -> list[str]:
        document = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
        return [row["name"] for row in document["claims"]]

    suite.run(registry=registry, out=tmp_path)
    again = suite.run(["three", "two"], registry=registry, out=tmp_path)
    assert [row.name for row in again.rows] == ["two", "three"] and again.folder == tmp_path
    assert named(tmp_path) == ["one", "two", "three"]
    before = (tmp_path / "claims.json").read_bytes()
    other = suite.run("two", seed=5, registry=registry, out=tmp_path)
    assert other.folder == tmp_path / "only" and named(tmp_path / "only") == ["two"]
    assert (tmp_path / "claims.json").read_bytes() == before
    (tmp_path / "claims.json").write_text("torn")
    suite.run("two", registry=registry, out=tmp_path)
    assert (tmp_path / "claims.json").read_text() == "torn"
    suite.run(registry=registry, out=tmp_path)
    assert named(tmp_path) == ["one", "two", "three"]


@each(
    ("wrong", "said"),
    [
        ({"profile": "slow"}, "profile must be one of"),
        *(({"seed": seed}, "seed must be") for seed in (-1, 1.5, True, "1", None)),
        *(({"jobs": jobs}, "jobs must be") for jobs in (0, -1, 1.5, 1.0, True)),
        *(({"out": out}, "name of a folder") for out in ("", "  ")),
    ],
)
def test_wrong_arguments_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=said):
        suite.run(registry={}, **wrong)
    assert list(tmp_path.iterdir()) == []


# Verdicts are taken over where the files of the library, its evidence and the data are the same.

FILES = {
    "__init__.py": "__version__ = '1'",
    "exact/losses/hinge.py": "x = 1",
    "approx/nystrom.py": "x = 2",
    "validation/evidence/full-seed0/sht-genes.jsonl": "{}\n{}\n",
    "validation/claims/sauc.toml": "{}",
    "validation/data/printed_numbers.csv": "a,b\n",
}


def written(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@each("name", list(FILES))
@each("change", ["a byte", "deleted", "moved"])
def test_a_file_that_changed_leads_to_a_new_judgement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, change: str
) -> None:
    (registry, runs), root = counted(), tmp_path / "library"
    for file, text in FILES.items():
        written(root / file, text)
    monkeypatch.setattr(suite, "library_sha256", lambda: files_sha256(root))

    def taken_over() -> bool:
        return suite.run(registry=registry, out=tmp_path / "out").rows[0].taken_over

    assert not taken_over()
    for made in ("exact/__pycache__/a.cpython-311.pyc", "exact/a.nbi", "validation/.x.json.tmp"):
        written(root / made, "made by Python")
    assert taken_over()
    path = root / name
    if change == "a byte":
        path.write_bytes(path.read_bytes()[:-1] + b"!")
    elif change == "deleted":
        path.unlink()
    else:
        path.rename(path.with_stem("other"))
    assert not taken_over() and len(runs) == 2


@pytest.mark.slow
def test_other_data_lead_to_a_new_judgement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not set, set, a file more, a byte of it changed: and each again is known."""
    (registry, runs), folder = counted(), tmp_path / "data"
    folder.mkdir()

    def taken_over() -> bool:
        return suite.run(registry=registry, out=tmp_path / "out").rows[0].taken_over

    def set_to(value: Path) -> None:
        monkeypatch.setenv("AUCERT_DATA", str(value))

    changes = (
        lambda: monkeypatch.delenv("AUCERT_DATA", raising=False),
        lambda: set_to(folder),
        lambda: (folder / "a.npz").write_bytes(b"one"),
        lambda: (folder / "a.npz").write_bytes(b"other"),
        lambda: (folder / "a.npz").rename(folder / "b.npz"),
        lambda: (folder / "README.md").write_text("no data"),
        lambda: set_to(tmp_path / "nowhere"),
    )
    for number, change in enumerate(changes, start=1):
        change()
        taken_over()
        assert taken_over() and len(runs) == number - (number > 5)  # a text is not data
