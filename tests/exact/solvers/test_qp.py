"""The QP forms: every backend agrees with the exact optimum, and nothing too large is tried."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from aucert.exact.api.solve import solve
from aucert.exact.certificate.solution import Status
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import linear_problem
from aucert.exact.solvers.qp import BACKENDS, LIMITS, QP, enumerate_pairs
from loops import each

REACHED = {"CLARABEL": 1e-7, "ECOS": 1e-4, "OSQP": 1e-2}
"""Relative gaps that each solver reaches unaided: they differ, and that is the point."""

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3 == 0
X = RNG.normal(size=(60, 3)) + 0.7 * Y[:, None]
UP, LOW = RNG.choice(np.flatnonzero(Y[:24]), 40), RNG.choice(np.flatnonzero(~Y[:24]), 40)
PAIRS: dict[str, Any] = {
    "all": AllPairs(),
    "weights": AllPairs(RNG.integers(0, 3, 24).astype(float)),
    "listed": PairList(UP, LOW, RNG.integers(1, 4, 40).astype(float)),
}


@each("kind", PAIRS)
@each("backend", BACKENDS)
@each("form", LIMITS)
def test_every_form_and_backend_has_the_optimum(form: str, backend: str, kind: str) -> None:
    if backend not in cp.installed_solvers():
        pytest.skip(f"{backend} is not installed")
    problem = linear_problem(X[:24], Y[:24], 1e-2, pairs=PAIRS[kind])
    exact = solve(X[:24], Y[:24], 1e-2, pairs=PAIRS[kind]).certificate
    found = QP(form, backend).solve(problem).certificate  # type: ignore[arg-type]
    assert found.dual <= exact.primal and found.primal >= exact.dual
    assert found.reaches(REACHED[backend])


def test_both_methods_end_certified() -> None:
    for method in ("qp", "lifted"):
        found = solve(X, Y, 1e-3, method=method)
        assert found.status == Status.CERTIFIED and found.certificate.reaches(1e-9)
        assert method == "lifted" or "osqp" in found.method


def test_enumerated_pairs_weigh_what_all_pairs_weigh() -> None:
    positive = np.array([True, False, True, False, False])
    pairs = AllPairs(np.array([1.0, 2.0, 3.0, 1.0, 1.0])).on(positive)
    listed, (a, b) = enumerate_pairs(pairs), pairs.normalised()
    np.testing.assert_allclose(listed.c.reshape(2, 3), np.outer(a, b), rtol=1e-15)
    assert listed.i.tolist() == [0, 0, 0, 2, 2, 2]
    assert listed.j.tolist() == [1, 3, 4, 1, 3, 4]
