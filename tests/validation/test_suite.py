"""Running claims: exit code, errors as rows, resuming, and the same numbers with more processes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation import suite
from aucert.validation.claims.claim import Claim, Context, Outcome, Verdict
from loops import each

Judge = Callable[[Context], Outcome]


def planted(*entries: tuple[str, Judge], expected: Verdict = Verdict.HOLDS) -> dict[str, Claim]:
    registry: dict[str, Claim] = {}
    for name, run in entries:
        registry[name] = Claim(name, "SAUC", "nowhere", "suite", "Planted.", expected, run)
    return registry


def holds(context: Context) -> Outcome:
    return Outcome(Verdict.HOLDS, context.rng().random(), details={"numbers": np.arange(3)})


def fails(context: Context) -> Outcome:
    return Outcome(Verdict.FAILS, 0.0)


def raises(context: Context) -> Outcome:
    raise ZeroDivisionError("planted")


def numbers(report: object) -> list[tuple[object, ...]]:
    rows = report.rows  # type: ignore[attr-defined]
    return [(row.name, row.verdict, row.measured, row.details, row.data) for row in rows]


def test_exit_code_is_one_when_a_claim_that_should_hold_fails() -> None:
    report = suite.run(registry=planted(("one", holds), ("two", fails)))
    assert report.exit_code == 1
    assert [row.name for row in report.unexpected] == ["two"]


def test_exit_code_is_one_when_a_claim_that_should_fail_holds() -> None:
    assert suite.run(registry=planted(("one", holds), expected=Verdict.FAILS)).exit_code == 1


@each("expected", [*Verdict])
def test_a_claim_that_raises_is_a_row_with_exit_code_one(expected: Verdict) -> None:
    report = suite.run(registry=planted(("one", raises), expected=expected))
    assert report.exit_code == 1
    assert report.rows[0].verdict == "error"
    assert report.rows[0].measured == "ZeroDivisionError: planted"


def test_a_number_that_is_not_finite_is_an_error_and_not_a_result() -> None:
    def nan(context: Context) -> Outcome:
        return Outcome(Verdict.HOLDS, float("nan"))

    assert suite.run(registry=planted(("one", nan))).rows[0].verdict == "error"


def test_a_claim_whose_module_is_missing_is_not_testable_and_that_is_expected() -> None:
    entry = replace(planted(("one", raises))["one"], needs=("no_such_module",))
    report = suite.run(registry={"one": entry})
    assert report.exit_code == 0
    assert report.rows[0].verdict == report.rows[0].expected_verdict == "not-testable"
    assert report.rows[0].measured == "no_such_module is not installed"


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    runs: list[str] = []
    killed = True

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


@each("change", [{"seed": 1}, {"profile": "full"}])
def test_another_seed_or_profile_is_run_anew(tmp_path: Path, change: dict[str, object]) -> None:
    runs: list[int] = []

    def counted(context: Context) -> Outcome:
        runs.append(context.seed)
        return holds(context)

    registry = planted(("one", counted))
    suite.run(registry=registry, out=tmp_path)
    suite.run(registry=registry, out=tmp_path, **change)  # type: ignore[arg-type]
    assert len(runs) == 2


@each("text", ["", "{}", "[]", '{"row": {}}', '{"key": {}, "row', "edited"])
def test_a_damaged_result_is_made_again(tmp_path: Path, text: str) -> None:
    registry = planted(("one", holds))
    first = suite.run(registry=registry, out=tmp_path)
    path = tmp_path / "claims.jsonl"
    edited = path.read_text().replace('"verdict": "holds"', '"verdict": "fails"')
    assert edited != path.read_text()
    path.write_text(edited if text == "edited" else text)
    assert numbers(suite.run(registry=registry, out=tmp_path)) == numbers(first)


def test_the_same_seed_gives_the_same_numbers_and_another_one_others() -> None:
    registry = planted(("one", holds))
    first = suite.run(registry=registry, seed=5)
    assert numbers(suite.run(registry=registry, seed=5)) == numbers(first)
    assert suite.run(registry=registry, seed=6).rows[0].measured != first.rows[0].measured


@pytest.mark.slow
def test_two_processes_change_no_number_of_any_claim() -> None:
    assert numbers(suite.run(jobs=2)) == numbers(suite.run(jobs=1))


def test_only_runs_what_is_named_in_the_order_of_the_registry() -> None:
    registry = planted(("one", holds), ("two", holds), ("three", holds))
    report = suite.run(["three", "one"], registry=registry)
    assert [row.name for row in report.rows] == ["one", "three"]


def test_a_run_of_some_claims_never_overwrites_a_report_of_more(tmp_path: Path) -> None:
    registry = planted(("one", holds), ("two", holds))

    def named(folder: Path) -> list[str]:
        document = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
        return [row["name"] for row in document["claims"]]

    suite.run(registry=registry, out=tmp_path)
    again = suite.run("two", registry=registry, out=tmp_path)
    assert [row.name for row in again.rows] == ["two"] and again.folder == tmp_path
    assert named(tmp_path) == ["one", "two"]
    before = (tmp_path / "claims.json").read_bytes()
    other = suite.run("two", seed=5, registry=registry, out=tmp_path)
    assert other.folder == tmp_path / "only" and named(tmp_path / "only") == ["two"]
    assert (tmp_path / "claims.json").read_bytes() == before
    (tmp_path / "claims.json").write_text("torn")
    suite.run("two", registry=registry, out=tmp_path)
    assert (tmp_path / "claims.json").read_text() == "torn"
    suite.run(registry=registry, out=tmp_path)
    assert named(tmp_path) == ["one", "two"]


WHOLE = "must be a whole number >= {}, not {!r}"


@each(
    ("wrong", "said"),
    [
        ({"profile": "slow"}, "profile must be one of quick, full, not 'slow'"),
        *(({"seed": seed}, f"seed {WHOLE.format(0, seed)}") for seed in (-1, 1.5, True, "1", None)),
        *(({"jobs": jobs}, f"jobs {WHOLE.format(1, jobs)}") for jobs in (0, -1, 1.5, 1.0, True)),
        ({"out": ""}, "out needs the name of a folder ('.' is the one you stand in)"),
        ({"out": "  "}, "out needs the name of a folder ('.' is the one you stand in)"),
    ],
)
def test_wrong_arguments_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, object], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refused:
        suite.run(registry={}, **wrong)  # type: ignore[arg-type]
    assert str(refused.value) == said
    assert list(tmp_path.iterdir()) == []
