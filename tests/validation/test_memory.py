"""Without enough memory a command ends with one sentence and status 2."""

from __future__ import annotations

import os
import resource
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from aucert.exact.errors import TooLargeError
from aucert.validation import memory
from aucert.validation.memory import check_room, room, shown
from loops import each

LIMIT = 3 * 2**30
"""Bytes: the libraries alone take about one and a half GiB of addresses."""


def refused(*arguments: object, limit: int = LIMIT) -> str:
    """Run the command with little memory, and return its one sentence."""
    done = subprocess.run(
        [sys.executable, "-m", "aucert", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("aucert: "), done.stderr
    return done.stderr


def header(shape: tuple[int, ...]) -> bytes:
    """The beginning of an npy file of such an array."""
    words = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(words)) + words.encode()


@pytest.mark.slow
def test_an_array_that_is_not_there_is_not_made_room_for(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, y=np.arange(4) % 2)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("X.npy", header((4, 10**9)) + bytes(64))
    said = refused("solve", path, "--lam", 1)
    assert "29.8 GiB" in said and "damaged" in said and "'X'" in said


@pytest.mark.slow
def test_weights_that_are_not_there_are_not_made_room_for(tmp_path: Path) -> None:
    path = tmp_path / "weights.npy"
    path.write_bytes(header((4 * 10**9,)) + bytes(64))
    said = refused("certify", "xor", "--lam", 1, "--weights", path)
    assert "29.8 GiB" in said and "damaged" in said


@pytest.mark.slow
def test_a_large_index_is_not_made_room_for(tmp_path: Path) -> None:
    path = tmp_path / "data.svm"
    path.write_text("1 3:1\n0 900000000:2\n1 5:1\n0 6:1\n")
    assert "900,000,00" in refused("solve", path, "--lam", 1)


@pytest.mark.slow
@each("count", [10**12, 10**30])
def test_pairs_that_cannot_be_held_are_not_drawn(count: int) -> None:
    said = refused("solve", "linear:100", "--lam", 1, "--pairs", f"drawn:{count}")
    assert f"--pairs drawn:{count}" in said and "memory" in said


@pytest.mark.slow
def test_a_kernel_matrix_that_does_not_fit_is_one_sentence(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "data.npz"
    np.savez(path, X=rng.normal(size=(30_000, 300)), y=np.arange(30_000) % 2)
    options = ("--lam", 1e-6, "--kernel", "rbf", "--gamma", 1.0)
    said = refused("solve", path, *options, limit=5 * 2**29)
    assert "not enough memory" in said


def test_the_room_is_the_least_of_all_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    found = room()
    assert found is not None and 2**20 < found < 2**60
    monkeypatch.setattr(memory, "room", lambda: 1000)
    check_room("this", 1000, "that")
    with pytest.raises(TooLargeError, match=r"this: 1001 bytes .* 1000 bytes can be had: that"):
        check_room("this", 1001, "that")
    monkeypatch.setattr(memory, "room", lambda: None)
    check_room("this", 10**30, "that")
    assert (shown(3 * 2**29), shown(7)) == ("1.5 GiB", "7 bytes")
