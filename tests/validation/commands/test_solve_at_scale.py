"""Large files fit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from loops import each
from on_disk import write

_PEAK = """
import resource, sys
from aucert.validation.cli import main
try:
    main(sys.argv[1:])
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def peak_bytes(*args: object) -> int:
    """Peak memory of the command in a process of its own."""
    command = [sys.executable, "-c", _PEAK, *map(str, args)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return int(found.stderr.split()[-1]) * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.slow
@each("kind", ["npz", "parquet", "csv"])
def test_a_million_rows_fit_in_four_times_the_data(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(1_000_000) < 0.2).astype(int)
    X = np.round(rng.normal(size=(1_000_000, 8)) + 0.5 * y[:, None], 5)
    paths = tmp_path / f"data.{kind}", tmp_path / f"small.{kind}"
    for path, n in zip(paths, (1_000_000, 50), strict=True):
        columns = {f"f{k}": X[:n, k] for k in range(8)}
        write(path, ({"X": X[:n]} if kind == "npz" else columns) | {"y": y[:n]})
    weights = write(tmp_path / "w.csv", "0.3\n" * 8)
    basis = peak_bytes("solve", paths[1], "--lam", "0.01")
    for name, *rest in (("solve",), ("certify", "--weights", weights)):
        peak = peak_bytes(name, paths[0], "--lam", "0.01", "--tol", "1e-6", *rest)
        assert peak - basis <= 4 * X.nbytes
