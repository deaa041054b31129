"""How much of the house a reader of one `solve` has to enter, and how often its matrix is checked.

The files that a plain request enters are listed. Whoever makes it enter another one has to name it
here, by what it is for. The counts may fall; where one rises, say why. What bounds them says
`docs/decisions/0018-files-that-a-solve-enters.md`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import aucert
from aucert.exact import solve
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.tools import lossless
from aucert.validation.data.datasets import load
from loops import each

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


@each("kernel", ["linear", "rbf"])
def test_the_matrix_is_checked_once(kernel: str) -> None:
    _, calls = entered(kernel=kernel)
    assert calls[lossless.check_matrix.__name__] == 1


PLAIN = {
    "what was asked": "api/solve api/in_blocks formulation/request formulation/formulation "
    "formulation/partitioned formulation/equal_rows solvers/choose",
    "data become rows and labels": "tools/lossless tools/checks spaces/rows "
    "spaces/blocked/row_blocks pairs/labels",
    "the problem": "problem/problem problem/risk problem/penalties/ridge "
    "problem/penalties/registry pairs/all_pairs losses/registry losses/loss losses/hinge",
    "its sums over pairs": "sums/counted tools/compiling",
    "the solver": "certificate/solver certificate/solution solvers/smoothed_newton "
    "solvers/smoothing/levels solvers/smoothing/evaluations solvers/smoothing/sampled_hessian "
    "certificate/evaluation certificate/notes curvature/pair_matrices curvature/line_search "
    "tools/threads",
    "the last digits": "solvers/active_pairs solvers/window/window "
    "solvers/window/multipliers solvers/window/linear_systems",
    "the certificate": "certificate/certificate certificate/bounds/two_sides problem/minorant "
    "problem/mean_minorant pairs/marginals tools/rounding",
}
"""The files of a linear hinge problem, by what they are for."""

LOOPS = 2
"""Files of its loops beside these: in `tools/plain` until compiling pays, or compiled."""

MOST_FILES = 48
"""Files of a solve with a kernel, loops included."""

TO_THE_PROBLEM = 15
"""Files between the caller's data and the problem that a solver gets."""


def is_loop(name: str) -> bool:
    """Return whether a file holds loops in one of their two forms."""
    return name.startswith("tools/plain/") or name.endswith("_compiled.py")


def test_a_plain_solve_enters_these_files_and_no_others() -> None:
    files, _ = entered()
    loops = {name for name in files if is_loop(name)}
    listed = {f"{name}.py" for names in PLAIN.values() for name in names.split()}
    assert files - loops == listed, sorted((files - loops) ^ listed)
    assert len(loops) <= LOOPS, sorted(loops)


def test_a_solve_with_a_kernel_enters_few_files() -> None:
    files, _ = entered(kernel="rbf")
    assert len(files) <= MOST_FILES, (len(files), sorted(files))


def test_the_way_from_data_to_a_linear_problem_is_short() -> None:
    files, _ = profiled(lambda X, y: formulate(X, y, Request.of(1e-2), collapse=True))
    assert len(files) <= TO_THE_PROBLEM, sorted(files)
