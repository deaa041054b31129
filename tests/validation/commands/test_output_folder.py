"""What `--out` may replace, and what is there when something fails: everything or nothing."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from aucert.validation.cli import main
from aucert.validation.commands import endings
from aucert.validation.commands.endings import output_folder
from command import Command
from loops import each, first_fast

SOLVE = ["solve", "linear:60", "--lam", "0.01"]


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    return Command(capsys).run(*words)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def refused(found: tuple[int, str, str], *words: str) -> None:
    status, out, err = found
    assert (status, out, err.count("\n")) == (2, "", 1), found
    assert err.startswith("aucert: ") and all(word in err for word in words), err


@each("name", ["weights.csv", "proof.npz", "solution.json"])
def test_a_file_of_somebody_else_is_never_replaced(capsys, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("[1, 2, 3]")
    before = contents(tmp_path)
    refused(run(capsys, *SOLVE, "--out", tmp_path), name, "another folder")
    assert contents(tmp_path) == before


@each("name", ["weights.csv", "proof.npz"])
def test_a_file_that_has_changed_since_is_never_replaced(capsys, tmp_path, name: str) -> None:
    assert run(capsys, *SOLVE, "--out", tmp_path)[0] == 0
    (tmp_path / name).write_text("mine now")
    before = contents(tmp_path)
    refused(run(capsys, *SOLVE, "--out", tmp_path), name)
    assert contents(tmp_path) == before


def test_an_earlier_run_is_replaced_and_its_proof_does_not_stay(capsys, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("kept")
    assert run(capsys, *SOLVE, "--out", tmp_path)[0] == 0
    first = contents(tmp_path)
    written = {"notes.txt", "weights.csv", "model.npz", "proof.npz", "data.npz", "solution.json"}
    assert set(first) == written
    assert run(capsys, *SOLVE, "--kernel", "rbf", "--out", tmp_path)[0] == 0
    second = contents(tmp_path)
    assert set(second) == {"notes.txt", "weights.csv", "model.npz", "solution.json"}
    assert json.loads(second["solution.json"])["proof"] is None
    assert second["weights.csv"] != first["weights.csv"] and second["notes.txt"] == b"kept"
    assert run(capsys, *SOLVE, "--out", tmp_path)[0] == 0
    assert contents(tmp_path)["weights.csv"] == first["weights.csv"]


def test_a_full_disk_is_status_2_and_leaves_what_was_there(capsys, tmp_path, monkeypatch) -> None:
    old = tmp_path / "old"
    assert run(capsys, *SOLVE, "--out", old)[0] == 0
    before = contents(old)

    def full(*given: object, **arrays: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    for name in ("old", "new"):  # what was found is printed before the error
        status, out, err = run(capsys, *SOLVE, "--out", tmp_path / name)
        assert "certified" in out
        refused((status, "", err), "No space left")
    assert contents(old) == before
    assert not (tmp_path / "new").exists()


def limited(kind: int, size: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command with a limit of its process."""
    return subprocess.run(
        [sys.executable, "-m", "aucert", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(kind, (size, size)),
        timeout=120,
    )


@pytest.mark.slow
@each("size", first_fast([400, 10, 1500]))
def test_files_limited_in_size_are_one_sentence_that_says_so(tmp_path: Path, size: int) -> None:
    """Of the weights, of the solution, of the proof: an archive adds an error of its own."""
    data = tmp_path / "data.csv"
    rng = np.random.default_rng(0)
    rows = [f"{a},{b},{k % 2}" for k, (a, b) in enumerate(rng.normal(size=(300, 2)))]
    data.write_text("\n".join(["a,b,y", *rows]) + "\n")
    out = tmp_path / "out"
    # The compiler's cache is made before: it would not be written.
    main(["solve", str(data), "--lam", "0.01"])
    done = limited(resource.RLIMIT_FSIZE, size, "solve", data, "--lam", 0.01, "--out", out)
    assert done.returncode == 2 and "certified" in done.stdout, done
    assert done.stderr.count("\n") == 1 and "File too large" in done.stderr, done.stderr
    assert ".aucert-" not in done.stderr and not out.exists()


def test_an_interrupt_waits_for_the_moves(tmp_path: Path, monkeypatch) -> None:
    replace = os.replace

    def interrupted(*given) -> None:
        signal.raise_signal(signal.SIGINT)
        replace(*given)

    monkeypatch.setattr(endings.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), output_folder(str(tmp_path / "new")) as folder:
        assert folder is not None
        for name in "abc":
            (folder / name).write_text(name)
    assert contents(tmp_path / "new") == {"a": b"a", "b": b"b", "c": b"c"}


def test_links_and_permissions_of_what_is_replaced_stay(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "kept.txt"
    target.write_text("old")
    target.chmod(0o600)
    (tmp_path / "a").symlink_to(target)
    with output_folder(str(tmp_path)) as folder:
        assert folder is not None
        (folder / "a").write_text("new")
    assert (tmp_path / "a").is_symlink() and target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o600
