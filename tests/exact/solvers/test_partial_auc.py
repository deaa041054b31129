"""Partial AUC: zero weights and reduced hulls, bins, starts, and what is refused.

`test_optimum` compares it with the worst of all subsets of rows.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from aucert.exact import AllPairs, Certificate, InputError, PairList, Rows
from aucert.exact.certificate.certificate import zero_is_optimal
from aucert.exact.certificate.solution import Status
from aucert.exact.losses.registry import HINGE, get_loss
from aucert.exact.problem.minorant import Alpha, Marginals
from aucert.exact.problem.penalties import ElasticNet, Ridge
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.problem.subsample import part_of
from aucert.exact.problem.tail import Tail, tail_risk
from aucert.exact.solvers import points
from aucert.exact.solvers.choose import choose_solver
from aucert.exact.solvers.descent import Descent
from aucert.exact.solvers.points import tail_in_bins
from loops import each


def partial(
    seed: int, loss: str, lam: float, fpr: float, tpr: float, n: int = 24, shift: float = 1.5
) -> Problem:
    positive = np.arange(n) % 3 == 0
    X = np.random.default_rng(seed).normal(size=(n, 3)) + shift * positive[:, None]
    risk = tail_risk(AllPairs().on(positive), get_loss(loss), fpr, tpr)
    return Problem(Rows(np.round(X, 1)), risk, Ridge(lam))


def tail(problem: Problem) -> Tail:
    """Return the risk, which is a tail."""
    assert isinstance(problem.risk, Tail)
    return problem.risk


def hulls_meet(problem: Problem) -> bool:
    """Return whether the reduced convex hulls meet, by a linear program."""
    space: Any = problem.space
    X, risk = space.raw, tail(problem)
    P, N = X[risk.positive], X[~risk.positive]
    A = np.block(
        [[P.T, -N.T], [np.ones(len(P)), np.zeros(len(N))], [np.zeros(len(P)), np.ones(len(N))]]
    )
    b = np.concatenate([np.zeros(X.shape[1]), [1.0, 1.0]])
    caps = [(0, 1 / float(risk.kp))] * len(P) + [(0, 1 / float(risk.kq))] * len(N)
    return linprog(np.zeros(A.shape[1]), A_eq=A, b_eq=b, bounds=caps).status == 0


@pytest.mark.slow
def test_zero_is_optimal_exactly_if_the_reduced_hulls_meet() -> None:
    seen = set()
    for seed, lam in itertools.product(range(4), (0.05, 1.0)):
        problem = partial(seed, "hinge", lam, 0.4, 0.3, shift=0.5 * (seed % 4))
        solution = Descent(1e-8).solve(problem)
        trivial = zero_is_optimal(HINGE, solution.certificate, 1e-7)
        assert trivial == hulls_meet(problem)
        seen.add(trivial)
    assert seen == {True, False}


def test_other_methods_penalties_and_evidence_are_refused_or_suited() -> None:
    problem = partial(0, "hinge", 0.1, 0.3, 0.0)
    for method in ("qp", "lifted", "closed-form"):
        with pytest.raises(InputError):
            choose_solver(problem, method, 1e-6, None).solve(problem)
    with pytest.raises(InputError, match="proximal"):
        Descent().solve(replace(problem, penalty=ElasticNet(0.1, 0.1)))
    for evidence in (Alpha(np.ones(3)), Marginals(np.ones(8), np.ones(16))):
        with pytest.raises(InputError, match="give the scores"):
            problem.risk.minorant(evidence)
    with pytest.raises(InputError, match="needs a mean over pairs"):
        _ = problem.pairs
    pairs = PairList(np.array([0]), np.array([1])).on(tail(problem).positive)
    with pytest.raises(InputError, match="over all pairs"):
        Tail(Mean(pairs, HINGE), Fraction(1), Fraction(1))
    found = choose_solver(problem, "auto", 1e-8, None).solve(problem)
    assert found.status is Status.CERTIFIED and found.method == "descent"
    short = Descent(1e-12, max_iter=2).solve(partial(0, "hinge", 1e-4, 0.3, 0.0))
    assert short.status == Status.ITERATION_LIMIT and short.certificate.gap <= 1 + 1e-12
    sparse = replace(partial(0, "logistic", 0.1, 0.3, 0.0), penalty=ElasticNet(0.1, 0.05))
    other = choose_solver(sparse, "auto", 1e-3, None).solve(sparse)
    assert other.method == "proximal" and other.certificate.gap <= 2e-3


@pytest.mark.slow
def test_many_rows_start_from_some_of_them() -> None:
    problem = partial(0, "hinge", 0.01, 0.1, 0.0, 45_000, 1.0)
    few = part_of(problem)
    assert few is not None and 19_000 < few.n < 21_000
    assert float(tail(few).kq) == pytest.approx(0.1 * few.n * 2 / 3, rel=0.01)
    found = Descent(1e-5).solve(problem)
    assert found.status == Status.CERTIFIED and found.n_iter < 40


@each("tpr", [0.0, 0.5])
def test_steps_in_bins_reach_the_same_optimum(tpr: float, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = partial(3, "hinge", 1e-2, 0.2, tpr, n=3000)
    plain = Descent(1e-4).solve(problem)
    monkeypatch.setattr(points, "TAIL_SORTED", 1600)
    binned = tail_in_bins(problem, 0.1)
    assert tail(binned).mean.pairs.form == "binned"
    assert tail_in_bins(problem, 0.0) is problem
    found = Descent(1e-4).solve(problem)
    assert plain.status is found.status is Status.CERTIFIED
    for one, other in ((plain, found), (found, plain)):
        assert one.certificate.dual <= other.certificate.primal
    # The bound is about the problem itself: the finest sums prove nearly as much of the same point.
    assert Certificate.of(problem, found.w, found.witness).reaches(1e-4)


HARD = [
    ("squared_hinge", 0.1, 0.0, 14, 6),
    ("squared_hinge", 0.5, 0.6, 59, 7),
    ("logistic", 0.1, 0.0, 48, 3),
    ("squared_hinge", 0.1, 0.3, 74, 7),
    ("exponential", 0.4, 0.0, 40, 4),
]
"""Loss, rates, rows and features of problems at which smoothing stalls."""


@pytest.mark.slow
def test_small_problems_with_features_of_very_unequal_size_are_solved() -> None:
    for case, (loss, fpr, tpr, n, p) in enumerate(HARD):
        rng = np.random.default_rng([9, case])
        positive = np.arange(n) % 2 == 0
        X = (rng.normal(size=(n, p)) + positive[:, None]) * 10.0 ** rng.uniform(-3, 3, size=p)
        risk = tail_risk(AllPairs().on(positive), get_loss(loss), fpr, tpr)
        problem = Problem(Rows(X), risk, Ridge(1e-4))
        found = Descent(1e-7).solve(problem)
        assert found.status is Status.CERTIFIED and found.n_iter < 200, case
        by_planes = choose_solver(problem, "cutting-plane", 1e-3, None).solve(problem).certificate
        assert by_planes.dual <= found.certificate.primal
        assert found.certificate.dual <= by_planes.primal
