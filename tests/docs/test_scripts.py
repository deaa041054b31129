"""The scripts of the docs run: benchmarks on few rows, and the picture of the README."""

from __future__ import annotations

import csv
import itertools
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"

SCRIPTS = {
    "scale": "--only threads",
    "peers": "--only peers --only goals --only rows",
    "partitions": "--only files --n 100000 --jobs 1",
    "pair_problems": "--only survival",
    "methods": "--only sets --set wdbc --method RankSVM --method ROCSVM",
}


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_benchmark_runs_on_few_rows(script: str, tmp_path: Path) -> None:
    asked = SCRIPTS[script].split()
    parts = [word for before, word in itertools.pairwise(asked) if before == "--only"]
    page = tmp_path / "page.md"
    page.write_text("".join(f"<!-- table {part} -->\n\n```text\nold\n```\n" for part in parts))
    command = [sys.executable, str(DOCS / "benchmarks" / f"{script}.py"), "--quick", *asked]
    run = subprocess.run([*command, "--out", tmp_path, "--page", page], capture_output=True)
    assert run.returncode == 0, run.stderr.decode()[-2000:]
    for part in parts:
        with (tmp_path / f"{part}.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert rows
        assert all(title in page.read_text() for title in rows[0])
    assert "old" not in page.read_text().split()


@pytest.mark.slow
def test_the_picture_of_the_readme_shows_what_its_script_finds(tmp_path: Path) -> None:
    script = runpy.run_path(str(DOCS / "how_far.py"))
    found = script["rows"]()
    drawn = (DOCS / "_static" / "how-far.svg").read_text("utf-8")
    assert all(name in drawn and f"AUC {area:.4f}" in drawn for name, area, _ in found)
    script["draw"](found, tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").stat().st_size > 1000
