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
