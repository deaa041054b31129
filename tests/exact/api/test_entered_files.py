"""How much of the house a reader of one `solve` has to enter, and how often its matrix is checked.

The counts may fall; where one rises, say why.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import aucert
from aucert.exact import solve
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.spaces import incoming
from aucert.validation.data.datasets import load

ROOT = Path(aucert.__file__).parent / "exact"


def entered(**asked: Any) -> tuple[set[str], Counter[str]]:
    """Return what a solve on wdbc enters."""
    return profiled(lambda X, y: solve(X, y, 1e-2, **asked))


def profiled(work: Callable[[Any, Any], object]) -> tuple[set[str], Counter[str]]:
    """Return our files that work on wdbc enters, and how often each function of theirs runs."""
    data = load("wdbc", 0)
    work(data.X, data.is_positive)  # what is compiled is compiled now
    files: set[str] = set()
    calls: Counter[str] = Counter()

    def seen(frame: FrameType, event: str, argument: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(ROOT):
            files.add(path.relative_to(ROOT).as_posix())
            calls[frame.f_code.co_name] += 1

    sys.setprofile(seen)
    try:
        work(data.X, data.is_positive)
    finally:
        sys.setprofile(None)
    return files, calls


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_matrix_is_checked_once(kernel: str) -> None:
    _, calls = entered(kernel=kernel)
    assert calls[incoming.check_matrix.__name__] == 1


MOST_FILES = 58
"""Files of a whole solve, the solver's own included.

One is new where the certificate's two sides were cut out of `certificate.py`, one where sums in the
long format were cut out of `rows.py`, and two ask for partitions and for screened features. Two are
those that choose between a compiled loop and its plain form, and hold the latter.
Two more than before there were other penalties and partial AUC: each has one file of its own, which
checks what was asked for.
"""

TO_THE_PROBLEM = 17
"""Files between the caller's data and the problem that a solver gets.

One more than before there was partial AUC: its rates are checked in the file of its risk.
"""


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_solve_enters_few_files(kernel: str) -> None:
    files, _ = entered(kernel=kernel)
    assert len(files) <= MOST_FILES, sorted(files)


def test_the_way_from_data_to_a_linear_problem_is_short() -> None:
    files, _ = profiled(lambda X, y: formulate(X, y, Request.of(1e-2), collapse=True))
    assert len(files) <= TO_THE_PROBLEM, sorted(files)
