"""Where `long double` is `double`, as on ARM macOS: simulated in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2]
ROOMS = "tools spaces sums losses pairs problem structure certificate proof formulation".split()


@pytest.mark.release
def test_what_states_and_proves_a_problem_passes_its_tests() -> None:
    path = os.pathsep.join([str(TESTS / "helpers"), os.environ.get("PYTHONPATH", "")])
    folders = [str(TESTS / "exact" / room) for room in ROOMS]
    asked = ["-m", "pytest", "-q", "-p", "double_only", "-n", "0", *folders]
    without = "--deselect=tests/exact/tools/test_double_only.py"
    env = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, *asked, without], capture_output=True, text=True, cwd=TESTS.parent, env=env
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
