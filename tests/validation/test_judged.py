"""Which verdicts of an earlier run are taken over: those of the same files, evidence and data."""

from __future__ import annotations

from pathlib import Path

import pytest

from aucert.validation import suite
from aucert.validation.claims.claim import Claim, Context, Outcome, Verdict
from aucert.validation.suite import data_sha256, files_sha256
from loops import each


def planted(outcome: Outcome) -> tuple[dict[str, Claim], list[int]]:
    """Return a registry of one claim and the list to which each judgement adds."""
    runs: list[int] = []

    def one(context: Context) -> Outcome:
        runs.append(context.seed)
        return outcome

    entry = Claim("one", "SHT", "nowhere", "suite", "It was planted.", Verdict.HOLDS, one)
    return {"one": entry}, runs


HOLDS = Outcome(Verdict.HOLDS, 1.0)


def small_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small library that takes the place of this one where fingerprints are made."""
    root = tmp_path / "library"
    files = {
        "__init__.py": "__version__ = '1'",
        "exact/losses/hinge.py": "x = 1",
        "approx/nystrom.py": "x = 2",
        "validation/evidence/full-seed0/sht-genes.jsonl": "{}\n{}\n",
        "validation/claims/sauc.toml": "{}",
        "validation/data/printed_numbers.csv": "a,b\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.setattr(suite, "library_sha256", lambda: files_sha256(root))
    return root


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return small_library(tmp_path, monkeypatch)


def test_what_is_unchanged_is_taken_over_and_what_python_makes_is_no_change(
    library: Path, tmp_path: Path
) -> None:
    registry, runs = planted(HOLDS)
    assert not suite.run(registry=registry, out=tmp_path / "out").rows[0].taken_over
    for made in ("exact/__pycache__/a.cpython-311.pyc", "exact/a.nbi", "validation/.x.json.tmp"):
        (library / made).parent.mkdir(exist_ok=True)
        (library / made).write_text("made")
    assert suite.run(registry=registry, out=tmp_path / "out").rows[0].taken_over
    assert len(runs) == 1


@each(
    "name",
    [
        "validation/evidence/full-seed0/sht-genes.jsonl",
        "validation/claims/sauc.toml",
        "validation/data/printed_numbers.csv",
        "exact/losses/hinge.py",
        "__init__.py",
    ],
)
@each("change", ["a byte", "deleted", "moved"])
def test_a_file_that_changed_leads_to_a_new_judgement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, change: str
) -> None:
    registry, runs = planted(HOLDS)
    library = small_library(tmp_path, monkeypatch)
    suite.run(registry=registry, out=tmp_path / "out")
    path = library / name
    if change == "a byte":
        path.write_bytes(path.read_bytes()[:-1] + b"!")
    elif change == "deleted":
        path.unlink()
    else:
        path.rename(path.with_stem("other"))
    assert not suite.run(registry=registry, out=tmp_path / "out").rows[0].taken_over
    assert len(runs) == 2


def test_other_data_lead_to_a_new_judgement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not set, set, a file more, a byte of it changed: and each again is known."""
    registry, runs = planted(HOLDS)
    folder = tmp_path / "data"
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
        lambda: set_to(tmp_path / "nowhere"),
    )
    for number, change in enumerate(changes, start=1):
        change()
        assert not taken_over() and taken_over()
        assert len(runs) == number
    (folder / "README.md").write_text("no data")
    set_to(folder)
    one = data_sha256()
    (folder / "README.md").unlink()
    assert data_sha256() == one


@each(
    ("details", "expected"),
    [
        ({}, "holds"),
        ({"absent": []}, "holds"),
        ({"absent": ["data:here"]}, "holds"),
        ({"absent": ["data:here", "data:absent"]}, "holds"),
        ({"absent": ["json"]}, "holds"),
        ({"absent": ["data:absent"]}, "not-testable"),
        ({"absent": ["no_such_module"]}, "not-testable"),
    ],
)
def test_not_testable_is_expected_only_where_data_or_a_package_are_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, details: dict[str, object], expected: str
) -> None:
    (tmp_path / "here.npz").touch()
    monkeypatch.setenv("AUCERT_DATA", str(tmp_path))
    registry, _ = planted(Outcome(Verdict.NOT_TESTABLE, "it cannot be run", details=details))
    report = suite.run(registry=registry)
    assert report.rows[0].expected_verdict == expected
    assert report.exit_code == (expected != "not-testable")
