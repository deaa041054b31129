"""A full run killed ten times loses no finished part and changes no number; nor do two processes.

The claims are those whose full profile takes seconds.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from aucert.validation import suite
from aucert.validation.suite import ROOT, files_sha256
from loops import each

NAMES = (
    *("sht-theorem-1-bound", "prop-1-pairwise-is-an-average-over-rows", "sht-eq-14-as-printed"),
    *("sht-jaccard-column", "second-term-with-its-eigenvalues", "gradient-as-printed"),
    *("population-auc-of-the-linear-model", "algorithm-1-map-as-printed"),
    *("sgd-step-costs-its-nonzeros",),
    *("sauc-eq-24-chebyshev", "full-newton-steps-converge", "sauc-prop-1-needs-division-by-n"),
)


def command(out: Path, jobs: int) -> list[str]:
    only = [part for name in NAMES for part in ("--only", name)]
    rest = ["--profile", "full", "--jobs", str(jobs), "--out", str(out), "--json"]
    return [sys.executable, "-m", "aucert", "validate", *only, *rest]


def finished(out: Path) -> list[dict[str, Any]]:
    """Return the whole lines of the log; a kill may have torn others."""
    path = out / "claims.jsonl"
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith(b"}") and b'"sha256"' in line[-90:]]


def numbers(out: Path) -> dict[str, object]:
    """What must not change: everything but seconds."""
    rows = [document["row"] for document in finished(out)]
    return {row["name"]: {k: v for k, v in row.items() if k != "seconds"} for row in rows}


@pytest.mark.release
@each("jobs", [1, 2])
def test_a_full_run_killed_ten_times_loses_no_part_and_changes_no_number(
    tmp_path: Path, jobs: int
) -> None:
    source = files_sha256(ROOT)
    at_once, killed = tmp_path / "at once", tmp_path / "killed"
    report = suite.run(NAMES, profile="full", out=at_once)
    moments, kept = random.Random(jobs), 0
    for _ in range(10):
        before = finished(killed)
        process = subprocess.Popen(
            command(killed, jobs), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        # A random number of parts later, and then at a random moment: sometimes in the start-up.
        goal = len(before) + moments.randint(0, 2)
        while process.poll() is None and len(finished(killed)) < goal:
            time.sleep(0.02)
        time.sleep(moments.uniform(0, 1))
        process.send_signal(signal.SIGKILL)
        process.wait()
        after = finished(killed)
        if files_sha256(ROOT) != source:
            pytest.skip("the library was edited meanwhile: results of other code are not reused")
        assert after[: len(before)] == before
        kept = max(kept, len(after))
    assert kept > 0
    subprocess.run(command(killed, jobs), check=True, capture_output=True)
    assert numbers(killed) == numbers(at_once)
    assert len(numbers(killed)) == len(NAMES) and report.exit_code == 0
