"""`aucert solve --out` writes a proof that the stand-alone checker verifies; large files fit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from aucert.exact import InputError
from aucert.exact.proof import check_proof
from aucert.validation.cli import main
from aucert.validation.commands import solve_path as solve_command
from loops import each


def some_table(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.2).astype(int)
    return rng.normal(size=(n, d)) + 0.5 * y[:, None], y


def test_the_proof_of_a_solution_is_verified_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = some_table(400, 3)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    out = tmp_path / "out"
    main(["solve", str(tmp_path / "data.npz"), "--lam", "0.01", "--out", str(out)])
    written = json.loads((out / "solution.json").read_text())
    assert written["proof"] == "proof.npz"
    capsys.readouterr()
    assert check_proof.main([str(out / "proof.npz"), str(tmp_path / "data.npz")]) == 0
    assert capsys.readouterr().out.startswith("verified gap <= ")


@each("options", [("--kernel", "rbf"), ("--loss", "square")])
def test_a_problem_without_proof_file_says_so(tmp_path: Path, options: tuple[str, ...]) -> None:
    X, y = some_table(60, 2)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    out = tmp_path / "out"
    data = str(tmp_path / "data.npz")
    main(["solve", data, "--lam", "0.1", *options, "--out", str(out)])
    assert json.loads((out / "solution.json").read_text())["proof"] is None
    assert not (out / "proof.npz").exists()


def test_a_refused_proof_leaves_the_solution_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*args: object, **more: object) -> None:
        raise InputError("no proof of these numbers")

    X, y = some_table(60, 2)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    out = tmp_path / "out"
    monkeypatch.setattr(solve_command, "write_proof", refuse)
    main(["solve", str(tmp_path / "data.npz"), "--lam", "0.1", "--out", str(out)])
    assert json.loads((out / "solution.json").read_text())["proof"] is None
    assert (out / "weights.csv").exists() and not (out / "proof.npz").exists()
    assert "aucert: no proof file: no proof of these numbers" in capsys.readouterr().err


_PEAK = """
import resource, sys
from aucert.validation.cli import main
try:
    main(sys.argv[1:])
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def peak_bytes(*args: str) -> int:
    """Peak memory of the command in a process of its own."""
    command = [sys.executable, "-c", _PEAK, *args]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    unit = 1 if sys.platform == "darwin" else 1024
    return int(found.stderr.split()[-1]) * unit


@pytest.mark.slow
@each("kind", ["npz", "parquet", "csv"])
def test_a_million_rows_fit_in_four_times_the_data(tmp_path: Path, kind: str) -> None:
    X, y = some_table(1_000_000, 8)
    path = tmp_path / f"data.{kind}"
    if kind == "npz":
        np.savez(path, X=X, y=y)
    elif kind == "parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({**{f"f{k}": X[:, k] for k in range(8)}, "y": y}), path)
    else:
        with path.open("w") as file:
            for start in range(0, y.size, 50_000):
                rows = slice(start, start + 50_000)
                np.savetxt(file, np.c_[X[rows], y[rows]], fmt=["%.6g"] * 8 + ["%d"], delimiter=",")
    small = tmp_path / f"small.{kind}"
    if kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"f": X[:50, 0], "y": y[:50]}), small)
    elif kind == "npz":
        np.savez(small, X=X[:50], y=y[:50])
    else:
        np.savetxt(small, np.c_[X[:50], y[:50]], fmt=["%.6g"] * 8 + ["%d"], delimiter=",")
    weights = tmp_path / "w.csv"
    weights.write_text("\n".join(["0.3"] * 8) + "\n")
    basis = peak_bytes("solve", str(small), "--lam", "0.01")
    for command in (("solve",), ("certify", "--weights", str(weights))):
        name, *rest = command
        peak = peak_bytes(name, str(path), "--lam", "0.01", "--tol", "1e-6", *rest)
        assert peak - basis <= 4 * X.nbytes
