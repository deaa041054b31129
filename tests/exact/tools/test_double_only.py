"""Where `long double` is `double`, as on ARM macOS: simulated in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2]
ROOMS = "tools spaces sums losses pairs problem structure certificate proof formulation".split()


def simulated(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python where numpy's long format has the digits of float64."""
    path = os.pathsep.join([str(TESTS / "helpers"), os.environ.get("PYTHONPATH", "")])
    words = {"capture_output": True, "text": True, "cwd": TESTS.parent}
    env = {**os.environ, "PYTHONPATH": path}
    return subprocess.run([sys.executable, *arguments], env=env, **words)  # type: ignore[call-overload]


@pytest.mark.slow
def test_a_solution_is_certified_with_the_wider_rounding() -> None:
    code = """
import double_only
import numpy as np
from aucert.exact import linear_problem, solve
from aucert.exact.certificate.exact_certificate import exact_certificate
from aucert.exact.tools.rounding import LONG_UNIT, UNIT
assert LONG_UNIT == UNIT
X = np.random.default_rng(0).normal(size=(60, 3))
y = X[:, 0] + X[:, 1] > np.sin(np.arange(60))
solution = solve(X, y, 0.01)
exact = exact_certificate(linear_problem(X, y, 0.01), solution)
found = solution.certificate
assert found.primal - found.rounding <= exact.primal <= found.primal
assert found.dual <= exact.dual <= found.primal
print(solution.status)
"""
    done = simulated("-c", code)
    assert (done.stdout, done.stderr) == ("certified\n", "")


@pytest.mark.release
def test_what_states_and_proves_a_problem_passes_its_tests() -> None:
    folders = [str(TESTS / "exact" / room) for room in ROOMS]
    without = "--deselect=tests/exact/tools/test_double_only.py"
    done = simulated("-m", "pytest", "-q", "-p", "double_only", "-n", "0", without, *folders)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
