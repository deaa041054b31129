"""How a command ends: what `--out` may replace, what is there when something fails, and why."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest

from aucert.validation.commands import endings
from aucert.validation.commands.endings import output_folder, run
from command import Command
from loops import each

SOLVE = "solve linear:60 --lam 0.01 --out out"
WRITTEN = {"weights.csv", "model.npz", "proof.npz", "data.npz", "solution.json"}


def contents(folder: Path = Path("out")) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_file_of_somebody_else_is_never_replaced(command: Command) -> None:
    for name in ("weights.csv", "proof.npz", "solution.json"):
        Path("out").mkdir()
        Path("out", name).write_text("[1, 2, 3]")
        said = command.refused(SOLVE)
        assert name in said and "another folder" in said
        assert contents() == {name: b"[1, 2, 3]"}
        Path("out", name).unlink()
        Path("out").rmdir()


def test_an_earlier_run_is_replaced_unless_it_has_changed(command: Command) -> None:
    Path("out").mkdir()
    Path("out/notes.txt").write_text("kept")
    command(SOLVE)
    first = contents()
    assert set(first) == WRITTEN | {"notes.txt"}
    command(SOLVE, "--kernel rbf")
    second = contents()
    assert set(second) == {"notes.txt", "weights.csv", "model.npz", "solution.json"}
    assert json.loads(second["solution.json"])["proof"] is None
    assert second["weights.csv"] != first["weights.csv"] and second["notes.txt"] == b"kept"
    for name in ("weights.csv", "proof.npz"):
        command(SOLVE)
        assert contents()["weights.csv"] == first["weights.csv"]
        Path("out", name).write_text("mine now")
        before = contents()
        assert name in command.refused(SOLVE)
        assert contents() == before
        Path("out", name).write_bytes(first[name])


def test_a_full_disk_is_status_2_and_leaves_what_was_there(command: Command, monkeypatch) -> None:
    command(SOLVE)
    before = contents()

    def full(*given: object, **arrays: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    for name in ("out", "new"):  # what was found is printed before the error
        status, out, err = command.run(SOLVE.replace(" out", f" {name}"))
        assert (status, err.count("\n")) == (2, 1) and "certified" in out and "No space" in err
    assert contents() == before and not Path("new").exists()


@pytest.mark.slow
def test_files_limited_in_size_are_one_sentence_that_says_so(command: Command) -> None:
    """Of the weights, of the solution, of the proof: an archive adds an error of its own."""
    rows = np.c_[np.random.default_rng(0).normal(size=(300, 2)), np.arange(300) % 2]
    np.savetxt("data.csv", rows, delimiter=",", header="a,b,y", comments="")
    words = "solve data.csv --lam 0.01".split()
    command(*words)  # the compiler's cache is made before: it would not be written
    for size in (400, 10, 1500):
        done = subprocess.run(
            [sys.executable, "-m", "aucert", *words, "--out", "out"],
            capture_output=True,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            preexec_fn=lambda k=size: resource.setrlimit(resource.RLIMIT_FSIZE, (k, k)),
            timeout=120,
        )
        assert done.returncode == 2 and "certified" in done.stdout, done
        assert done.stderr.count("\n") == 1 and "File too large" in done.stderr, done.stderr
        assert ".aucert-" not in done.stderr and not Path("out").exists()


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


def numpys() -> ImportError:
    """As numpy raises it: a page of advice, and the reason as its cause."""
    error = ImportError("\n\nIMPORTANT: PLEASE READ THIS\n\n" * 20)
    error.__cause__ = ImportError("libblas.so: failed to map segment from shared object")
    return error


FULL = (errno.ENOSPC, "No space left on device")
ENDINGS = {
    "libblas.so: failed to map segment": (2, numpys()),
    "compiled library cannot be loaded": (2, OSError("Could not find/load shared object file 'x'")),
    "no thread": (2, RuntimeError("can't start new thread")),
    "the output cannot be written: No space": (2, OSError(*FULL)),
    "m.npz: No space left": (2, OSError(*FULL, "m.npz")),
    "": (141, BrokenPipeError(errno.EPIPE, "Broken pipe")),  # what read the output has stopped
    "\n": (1, SystemExit(1)),  # a verdict
}


@each("said", ENDINGS)
def test_what_gives_out_is_one_sentence(said: str, monkeypatch, capsys) -> None:
    status, error = ENDINGS[said]

    @click.command()
    def fails() -> None:
        raise error

    for name in ("stdout", "stderr"):  # click puts others in their place
        monkeypatch.setattr(sys, name, getattr(sys, name))
    with pytest.raises(SystemExit) as found:
        run(fails, [])
    out, err = capsys.readouterr()
    assert (found.value.code, out) == (status, "") and said.strip() in err
    assert err.count("\n") == (status == 2), err


def test_a_module_that_is_not_there_is_a_defect() -> None:
    @click.command()
    def fails() -> None:
        raise ModuleNotFoundError("No module named 'aucert.nowhere'")

    with pytest.raises(ModuleNotFoundError):
        run(fails, [])
