"""How much of the house a reader of one `solve` has to enter, and how often its matrix is checked.

The counts may fall; where one rises, say why.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import aucert
from aucert.exact import solve
from aucert.exact.spaces import incoming
from aucert.validation.data.datasets import load

ROOT = Path(aucert.__file__).parent


def entered(**asked: Any) -> tuple[set[str], Counter[str]]:
    """Return our files that a solve on wdbc enters, and how often each function of theirs runs."""
    data = load("wdbc", 0)
    solve(data.X, data.is_positive, 1e-2, **asked)  # what is compiled is compiled now
    files: set[str] = set()
    calls: Counter[str] = Counter()

    def seen(frame: FrameType, event: str, argument: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(ROOT):
            files.add(path.relative_to(ROOT).as_posix())
            calls[frame.f_code.co_name] += 1

    sys.setprofile(seen)
    try:
        solve(data.X, data.is_positive, 1e-2, **asked)
    finally:
        sys.setprofile(None)
    return files, calls


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_matrix_is_checked_once(kernel: str) -> None:
    _, calls = entered(kernel=kernel)
    assert calls[incoming.check_matrix.__name__] == 1


MOST_FILES = {"linear": 45, "rbf": 46}
"""Files of a whole solve. Of these the way from data to the problem takes 16, see below."""


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_solve_enters_few_files(kernel: str) -> None:
    files, _ = entered(kernel=kernel)
    assert len(files) <= MOST_FILES[kernel], sorted(files)
