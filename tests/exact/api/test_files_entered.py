"""How much of the house a reader must know who follows one plain request through it.

A linear hinge problem on wdbc is profiled. The files whose functions ran are listed here, by what
they are for. Whoever makes a plain request enter another file has to name it here.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import aucert.exact
from aucert.exact import solve

ROOT = Path(aucert.exact.__file__).parent

ENTERED = {
    "what was asked": "api/solve formulation/request formulation/formulation "
    "formulation/partitioned formulation/equal_rows solvers/choose",
    "data become rows and labels": "tools/lossless tools/checks spaces/incoming spaces/rows "
    "spaces/blocked/long_sums pairs/labels",
    "the problem": "problem/problem problem/risk problem/penalties pairs/all_pairs losses/registry "
    "losses/loss losses/hinge",
    "its sums over pairs": "sums/assembled sums/sorted sums/counted sums/binned tools/compiling",
    "the solver": "certificate/solver certificate/solution solvers/smoothed_newton "
    "solvers/smoothing/levels solvers/smoothing/evaluations solvers/smoothing/sampled_hessian "
    "certificate/evaluation certificate/evaluate_rows curvature/pair_matrices tools/root_of_slope "
    "tools/threads",
    "the last digits": "solvers/active_pairs solvers/line_search solvers/window/window "
    "solvers/window/multipliers solvers/window/linear_systems",
    "the certificate": "certificate/certificate certificate/bounds/two_sides problem/minorant "
    "problem/mean_minorant pairs/marginals tools/rounding",
}


def entered(X: object, y: object) -> set[str]:
    """Return the files of `exact` in which a function ran during one solve."""
    seen: set[str] = set()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: seen.add(frame.f_code.co_filename))
    try:
        solve(X, y, lam=1e-2)
    finally:
        sys.setprofile(before)
    ours = (Path(name) for name in seen)
    return {str(p.relative_to(ROOT).with_suffix("")) for p in ours if p.is_relative_to(ROOT)}


def test_a_plain_request_enters_these_files_and_no_others() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    solve(X, y, lam=1e-2)  # what is imported at the first call runs as a module
    known = set(" ".join(ENTERED.values()).split())
    found = {name for name in entered(X, y) if not is_loop(name)}
    assert found == known, sorted(found ^ known)
    assert len(known) <= 46


def is_loop(name: str) -> bool:
    """Whether a file holds loops in one of their two forms: three files beside those listed.

    In plain numpy they are `tools/plain/binned`, `counted` and `scans`, until compiling pays;
    compiled they stand beside the sums.
    """
    return name.startswith("tools/plain/") or name.endswith("_compiled")
