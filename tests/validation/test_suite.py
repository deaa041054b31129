"""Running claims: exit status, errors as rows, NaN, and which earlier verdicts are kept."""

import json
import math
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.validation import extremes, suite
from aucert.validation.bounds.printed import Bound
from aucert.validation.claims.claim import Claim, Context, Outcome, Verdict
from aucert.validation.extremes import NaNError, above
from aucert.validation.report.document import headlines
from aucert.validation.suite import ROOT, files_sha256, run_claim
from loops import each, refuses

Judge = Callable[[Context], Outcome]


def planted(*entries: tuple[str, Judge], expected: Verdict = Verdict.HOLDS) -> dict[str, Claim]:
    about = "SAUC", "nowhere", "suite", "Planted."
    return {name: Claim(name, *about, expected, run) for name, run in entries}


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


def test_what_is_missing_makes_a_claim_not_testable_until_it_is_there(monkeypatch, tmp_path):
    def row(judge: Judge, *needs: str) -> Any:
        claim = replace(planted(("one", judge))["one"], needs=needs)
        return suite.run(registry={"one": claim}, out=tmp_path / "out").rows[0]

    found = row(raises, "no_such_module")
    assert found.verdict == "not-testable" and found.as_expected
    assert "no_such_module" in str(found.measured)
    assert {row(raises, "json").verdict, row(raises).verdict} == {"error"}
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    assert row(holds, "data:a").verdict == row(holds, "data:a").expected_verdict == "not-testable"
    assert "set AUCERT_DATA" in str(row(holds, "data:a").measured)
    monkeypatch.setenv("AUCERT_DATA", str(tmp_path))
    assert "a.npz is not in" in str(row(holds, "data:a").measured)
    (tmp_path / "a.npz").touch()
    assert row(holds, "data:a").verdict == "holds"
    # Only then is it expected, whoever says it.
    report = suite.run(registry=counted(Outcome(Verdict.NOT_TESTABLE, "it cannot be run"))[0])
    assert report.rows[0].expected_verdict == "holds" and report.exit_code == 1


def test_the_same_seed_gives_the_same_numbers_and_another_seed_or_profile_is_run_anew(tmp_path):
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
    alone = suite.run(jobs=1)
    assert numbers(suite.run(jobs=2)) == numbers(alone)
    assert len(headlines({row.name: row for row in alone.rows})) == 10


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
def test_wrong_arguments_are_refused(tmp_path, monkeypatch, wrong, said: str) -> None:
    monkeypatch.chdir(tmp_path)
    refuses(said, suite.run, registry={}, **wrong)
    assert list(tmp_path.iterdir()) == []


# Verdicts are taken over where the files of the library, its evidence and the data are the same.

FILES = {
    "__init__.py": "__version__ = '1'",
    "exact/losses/hinge.py": "x = 1",
    "validation/evidence/full-seed0/sht-genes.jsonl": "{}\n{}\n",
    "validation/claims/sauc.toml": "{}",
    "validation/data/printed_numbers.csv": "a,b\n",
}


def test_a_file_that_changed_leads_to_a_new_judgement(tmp_path: Path, monkeypatch) -> None:
    (registry, runs), root = counted(), tmp_path / "library"
    monkeypatch.setattr(suite, "library_sha256", lambda: files_sha256(root))

    def written(name: str, text: str) -> Path:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
        return root / name

    def taken_over() -> bool:
        return suite.run(registry=registry, out=tmp_path / "out").rows[0].taken_over

    paths = [written(name, text) for name, text in FILES.items()]
    assert not taken_over()
    for made in ("exact/__pycache__/a.cpython-311.pyc", "exact/a.nbi", "validation/.x.json.tmp"):
        written(made, "made by Python")
    assert taken_over()
    for path in paths:
        path.write_bytes(path.read_bytes()[:-1] + b"!")
        assert not taken_over()
        path = path.rename(path.with_stem("other"))
        assert not taken_over()
        path.unlink()
        assert not taken_over()
    assert len(runs) == 1 + 3 * len(FILES)


@pytest.mark.slow
def test_other_data_lead_to_a_new_judgement(tmp_path: Path, monkeypatch) -> None:
    """Not set, set, a file more, a byte of it changed: and each again is known."""
    (registry, runs), folder = counted(), tmp_path / "data"
    folder.mkdir()
    changes = (
        lambda: monkeypatch.delenv("AUCERT_DATA", raising=False),
        lambda: monkeypatch.setenv("AUCERT_DATA", str(folder)),
        lambda: (folder / "a.npz").write_bytes(b"one"),
        lambda: (folder / "a.npz").write_bytes(b"other"),
        lambda: (folder / "a.npz").rename(folder / "b.npz"),
        lambda: (folder / "README.md").write_text("no data"),
        lambda: monkeypatch.setenv("AUCERT_DATA", str(tmp_path / "nowhere")),
    )
    for number, change in enumerate(changes, start=1):
        change()
        rows = [suite.run(registry=registry, out=tmp_path / "out").rows[0] for _ in range(2)]
        assert rows[1].taken_over and len(runs) == number - (number > 5)  # a text is not data


# NaN is never dropped where something is judged by the largest or smallest measure.

NAN = math.nan


@each("name", ["highest", "lowest"])
def test_nan_is_refused_wherever_it_stands_and_never_not_violated(name: str) -> None:
    extreme = getattr(extremes, name)
    for values in ([NAN, 1.0, 2.0], [1.0, NAN, 2.0], [1.0, 2.0, NAN]):
        for given in (values, np.array(values), iter(values), [(value, 1) for value in values]):
            with pytest.raises(NaNError):
                extreme(given)
        with pytest.raises(NaNError):
            extreme(*values)
        with pytest.raises(NaNError):
            extreme(range(3), key=values.__getitem__)
    assert above(2.0, 1.0) and above(np.ones(2), 0.5).all()
    for left, right in ((NAN, 1.0), (1.0, NAN), (np.array([1.0, NAN]), 2.0)):
        with pytest.raises(NaNError):
            above(left, right)
    with pytest.raises(NaNError):
        _ = Bound("(1)", {"a": NAN}, left_side=1.0).violated


@each(
    "outcome",
    [
        Outcome(Verdict.HOLDS, NAN),
        Outcome(Verdict.HOLDS, f"an error of {NAN:.1e}"),
        Outcome(Verdict.HOLDS, 1.0, details={"worst": NAN}),
        Outcome(Verdict.HOLDS, 1.0, details={"worst": f"{NAN:.2f} of 3"}),
        Outcome(Verdict.HOLDS, 1.0, details={"each": [1.0, np.array([0.5, NAN])]}),
        Outcome(Verdict.HOLDS, "Ferdinand", details={"nano": 1}),
    ],
)
def test_nan_in_an_outcome_is_not_a_verdict(outcome: Outcome) -> None:
    claim = Claim("a-claim", "SAUC", "(2)", "suite", "It holds.", Verdict.HOLDS, lambda c: outcome)
    row = run_claim(claim, 0, "quick")
    assert (row.verdict == "holds") == (outcome.measured == "Ferdinand")
    assert row.verdict == "holds" or "NaN" in str(row.measured)


# A full run killed ten times: of claims whose full profile takes seconds.

NAMES = (
    *("sht-theorem-1-bound", "prop-1-pairwise-is-an-average-over-rows", "sht-eq-14-as-printed"),
    *("sht-jaccard-column", "second-term-with-its-eigenvalues", "gradient-as-printed"),
    *("population-auc-of-the-linear-model", "algorithm-1-map-as-printed"),
    *("sgd-step-costs-its-nonzeros", "sauc-eq-24-chebyshev", "full-newton-steps-converge"),
    "sauc-prop-1-needs-division-by-n",
)


def finished(out: Path) -> list[dict[str, Any]]:
    """Return the rows in the log, without their seconds; a kill may have torn a line."""
    path = out / "claims.jsonl"
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    whole = [line for line in lines if line.endswith(b"}") and b'"sha256"' in line[-90:]]
    return [json.loads(line)["row"] | {"seconds": 0} for line in whole]


@pytest.mark.release
@each("jobs", [1, 2])
def test_a_full_run_killed_ten_times_loses_no_part_and_changes_no_number(tmp_path, jobs) -> None:
    source, moments = files_sha256(ROOT), random.Random(jobs)
    at_once, killed = tmp_path / "at once", tmp_path / "killed"
    assert suite.run(NAMES, profile="full", out=at_once).exit_code == 0
    command = f"-m aucert validate --profile full --jobs {jobs} --json --out {killed}".split()
    command = [sys.executable, *command, *(f"--only={name}" for name in NAMES)]
    for _ in range(10):
        before = finished(killed)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # A random number of parts later, and then at a random moment: sometimes in the start-up.
        goal = len(before) + moments.randint(0, 2)
        while process.poll() is None and len(finished(killed)) < goal:
            time.sleep(0.02)
        time.sleep(moments.uniform(0, 1))
        process.kill()
        process.wait()
        if files_sha256(ROOT) != source:
            pytest.skip("the library was edited meanwhile: results of other code are not reused")
        assert finished(killed)[: len(before)] == before
    assert finished(killed)
    subprocess.run(command, check=True, capture_output=True)
    found, wanted = ({row["name"]: row for row in finished(out)} for out in (killed, at_once))
    assert found == wanted and found.keys() == set(NAMES)
