"""The QP forms: every backend agrees with the exact optimum, and nothing too large is tried."""

from __future__ import annotations

import signal
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.reductions.solvers import defines

from aucert.exact.api.solve import solve
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError, TooLargeError
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import linear_problem
from aucert.exact.solvers.qp import BACKENDS, LIMITS, QP, enumerate_pairs
from loops import each

REACHED = {"CLARABEL": 1e-7, "ECOS": 1e-4, "OSQP": 1e-2}
"""Relative gaps that each solver reaches unaided: they differ, and that is the point."""


def small(seed: int = 0, n: int = 24, d: int = 3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, d)) + 0.7 * y[:, None]
    return X, y.astype(int)


@each("backend", BACKENDS)
@each("form", LIMITS)
def test_every_form_and_backend_agrees_with_the_certified_optimum(form, backend):
    if backend not in cp.installed_solvers():
        pytest.skip(f"{backend} is not installed")
    X, y = small()
    exact = solve(X, y, 1e-2).certificate
    found = QP(form, backend).solve(linear_problem(X, y, 1e-2)).certificate
    assert found.dual <= exact.primal
    assert found.primal >= exact.dual
    assert found.relative_gap is not None
    assert found.relative_gap <= REACHED[backend]


def test_osqp_started_and_finished_ends_certified():
    X, y = small(1, n=60)
    solution = solve(X, y, 1e-3, method="qp")
    assert solution.status == Status.CERTIFIED
    assert "osqp" in solution.method


def test_the_lifted_method_ends_certified():
    X, y = small(2, n=60)
    assert solve(X, y, 1e-3, method="lifted").certificate.reaches(1e-9)


def test_a_pair_list_with_multiplicities_is_solved_by_both_forms():
    X, y = small(3)
    rng = np.random.default_rng(3)
    i = rng.choice(np.flatnonzero(y == 1), 40)
    j = rng.choice(np.flatnonzero(y == 0), 40)
    pairs = PairList(i, j, rng.integers(1, 4, 40).astype(float))
    problem = linear_problem(X, y, 1e-2, pairs=pairs)
    exact = solve(X, y, 1e-2, pairs=pairs).certificate
    for form in ("teaching", "lifted"):
        found = QP(form).solve(problem).certificate
        assert found.primal == pytest.approx(exact.primal, rel=1e-6)


def test_row_weights_reach_the_qp():
    X, y = small(4)
    weight = np.random.default_rng(4).integers(0, 3, y.size).astype(float)
    problem = linear_problem(X, y, 1e-2, pairs=AllPairs(weight))
    exact = solve(X, y, 1e-2, sample_weight=weight).certificate
    assert QP("teaching").solve(problem).certificate.primal == pytest.approx(exact.primal, rel=1e-6)


def test_too_many_pairs_are_refused_with_the_limit_and_the_method_that_copes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), (np.arange(300) % 2)
    with pytest.raises(
        TooLargeError, match=rf"22500 pairs .* {LIMITS['teaching']} .*cutting-plane"
    ):
        QP("teaching").solve(linear_problem(X, y, 1.0))


def test_enumerated_pairs_weigh_what_all_pairs_weigh():
    positive = np.array([True, False, True, False, False])
    weight = np.array([1.0, 2.0, 3.0, 1.0, 1.0])
    listed = enumerate_pairs(AllPairs(weight).on(positive))
    a, b = AllPairs(weight).on(positive).normalised()
    np.testing.assert_allclose(listed.c.reshape(2, 3), np.outer(a, b), rtol=1e-15)
    assert listed.i.tolist() == [0, 0, 0, 2, 2, 2]
    assert listed.j.tolist() == [1, 3, 4, 1, 3, 4]


@each(
    ("options", "message"),
    [
        ({"form": "dense"}, "form must be"),
        ({"backend": "GUROBI"}, "unknown QP solver"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        QP(**options)


def test_other_losses_are_refused():
    X, y = small()
    with pytest.raises(InputError, match="for the hinge"):
        QP().solve(linear_problem(X, y, 1.0, "square"))


def test_a_swallowed_interrupt_is_handed_on_without_a_signal(monkeypatch):
    found = SimpleNamespace(info=SimpleNamespace(status="interrupted"))
    solver = type(defines.SOLVER_MAP_QP["OSQP"])
    monkeypatch.setattr(solver, "solve_via_data", lambda *_, **__: found)
    monkeypatch.delattr(signal, "raise_signal")
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        X, y = small()
        solution = QP("lifted", "OSQP").solve(linear_problem(X, y, 1e-2))
    finally:
        signal.signal(signal.SIGINT, before)
    assert solution.status == Status.INTERRUPTED
    assert heard == [signal.SIGINT]
