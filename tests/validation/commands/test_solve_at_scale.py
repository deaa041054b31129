"""Large files fit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from loops import each

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


def write(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    if path.suffix == ".npz":
        np.savez(path, X=X, y=y)
    elif path.suffix == ".parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({**{f"f{k}": x for k, x in enumerate(X.T)}, "y": y}), path)
    else:
        np.savetxt(path, np.c_[X, y], fmt=["%.6g"] * 8 + ["%d"], delimiter=",")


@pytest.mark.slow
@each("kind", ["npz", "parquet", "csv"])
def test_a_million_rows_fit_in_four_times_the_data(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(1_000_000) < 0.2).astype(int)
    X = rng.normal(size=(1_000_000, 8)) + 0.5 * y[:, None]
    path, small = tmp_path / f"data.{kind}", tmp_path / f"small.{kind}"
    write(path, X, y)
    write(small, X[:50], y[:50])
    weights = tmp_path / "w.csv"
    weights.write_text("\n".join(["0.3"] * 8) + "\n")
    basis = peak_bytes("solve", str(small), "--lam", "0.01")
    for name, *rest in (("solve",), ("certify", "--weights", str(weights))):
        peak = peak_bytes(name, str(path), "--lam", "0.01", "--tol", "1e-6", *rest)
        assert peak - basis <= 4 * X.nbytes
