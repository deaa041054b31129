"""Partial AUC solved and certified: against CVXPY, enumerated subsets and the reduced hulls."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

from aucert.exact import AllPairs, Certificate, InputError, PairList, Rows
from aucert.exact.certificate.certificate import zero_is_optimal
from aucert.exact.certificate.solution import Status
from aucert.exact.losses.registry import HINGE, get_loss
from aucert.exact.problem.minorant import Alpha, Marginals, Minorant, Mix, Scores
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

LOSSES = ["hinge", "squared_hinge", "logistic"]


def rows(seed: int, n: int = 24, shift: float = 1.5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 3 == 0
    X = np.round(rng.normal(size=(n, 3)) + shift * positive[:, None], 1)
    return X, positive


def partial(seed: int, loss: str, lam: float, fpr: float, tpr: float, **more) -> Problem:
    X, positive = rows(seed, **more)
    risk = tail_risk(AllPairs().on(positive), get_loss(loss), fpr, tpr)
    return Problem(Rows(X), risk, Ridge(lam))


def tail(problem: Problem) -> Tail:
    """Return the risk, which is a tail."""
    assert isinstance(problem.risk, Tail)
    return problem.risk


def matrix(problem: Problem) -> np.ndarray:
    """Return the rows."""
    assert isinstance(problem.space, Rows) and isinstance(problem.space.raw, np.ndarray)
    return problem.space.raw


def of_pair(loss: str, t: cp.Expression) -> cp.Expression:
    """Return the loss of margins, for CVXPY."""
    if loss == "logistic":
        return cp.logistic(-t)
    return cp.pos(1 - t) if loss == "hinge" else cp.square(cp.pos(1 - t))


def one_way(problem: Problem, loss: str) -> float:
    """Return the optimum of the CVaR form: min over tau of kq tau + sum (G_j - tau)+."""
    X, risk = matrix(problem), tail(problem)
    P, N = X[risk.positive], X[~risk.positive]
    w, tau, k = cp.Variable(X.shape[1]), cp.Variable(), float(risk.kq)
    means = [cp.sum(of_pair(loss, (P - row) @ w)) / len(P) for row in N]
    worst = tau + cp.sum(cp.pos(cp.hstack(means) - tau)) / k
    ridge = problem.lam / 2 * cp.sum_squares(w)
    return float(cp.Problem(cp.Minimize(worst + ridge)).solve(solver="CLARABEL"))  # type: ignore[arg-type]


def two_way(problem: Problem, loss: str) -> float:
    """Return the optimum of the largest mean over all subsets of kp and kq rows."""
    X, risk = matrix(problem), tail(problem)
    P, N = X[risk.positive], X[~risk.positive]
    w, kp, kq = cp.Variable(X.shape[1]), int(risk.kp), int(risk.kq)
    apart = (P[:, None, :] - N[None, :, :]).reshape(-1, X.shape[1])
    chosen = []
    for rows_p in itertools.combinations(range(len(P)), kp):
        for rows_n in itertools.combinations(range(len(N)), kq):
            mask = np.zeros((len(P), len(N)))
            mask[np.ix_(rows_p, rows_n)] = 1 / (kp * kq)
            chosen.append(mask.ravel())
    means = np.array(chosen) @ of_pair(loss, apart @ w)
    ridge = problem.lam / 2 * cp.sum_squares(w)
    return float(cp.Problem(cp.Minimize(cp.max(means) + ridge)).solve(solver="CLARABEL"))  # type: ignore[arg-type]


@each("loss", LOSSES)
@each(
    ("lam", "fpr"),
    [
        (0.01, 0.3),
        *(pytest.param(*p, marks=pytest.mark.slow) for p in [(1.0, 0.47), (0.1, 1 / 16)]),
    ],
)
def test_one_way_is_the_optimum_of_the_cvar_form(loss: str, lam: float, fpr: float) -> None:
    problem = partial(0, loss, lam, fpr, 0.0)
    found = choose_solver(problem, "auto", 1e-8, None).solve(problem)
    assert found.status == Status.CERTIFIED and found.method == "descent"
    best, bounds = one_way(problem, loss), found.certificate
    assert bounds.dual <= best + 1e-7
    assert best - 1e-7 <= bounds.primal


@each("loss", LOSSES)
def test_two_way_is_the_optimum_of_the_worst_subsets(loss: str) -> None:
    problem = partial(1, loss, 0.1, 0.5, 0.5, n=12, shift=2.0)
    assert tail(problem).kp == 2 and tail(problem).kq == 4
    found = Descent(1e-8).solve(problem)
    assert found.status == Status.CERTIFIED
    best, bounds = two_way(problem, loss), found.certificate
    assert bounds.dual <= best + 1e-7
    assert best - 1e-7 <= bounds.primal


def test_a_sum_of_largest_is_the_same_as_the_cvar_form() -> None:
    problem = partial(3, "hinge", 0.05, 0.25, 0.0)
    X, risk = matrix(problem), tail(problem)
    P, N = X[risk.positive], X[~risk.positive]
    w, k = cp.Variable(3), int(risk.kq)
    means = cp.hstack([cp.sum(cp.pos(1 - (P - row) @ w)) / len(P) for row in N])
    ridge = 0.05 / 2 * cp.sum_squares(w)
    whole = cp.Problem(cp.Minimize(cp.sum_largest(means, k) / k + ridge))
    best = float(whole.solve(solver="CLARABEL"))  # type: ignore[arg-type]
    bounds = Descent(1e-9).solve(problem).certificate
    assert bounds.dual - 1e-7 <= best <= bounds.primal + 1e-7


@pytest.mark.slow
@each("loss", ["hinge", "logistic"])
def test_no_certificate_is_false(loss: str) -> None:
    """Any point with any minorant, good or bad: the optimum lies between."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        fpr, tpr = float(rng.choice([0.1, 0.3, 0.77, 1.0])), float(rng.choice([0.0, 0.2, 0.6]))
        if fpr == 1.0 and tpr == 0.0:
            continue
        problem = partial(seed, loss, 10.0 ** rng.uniform(-3, 1), fpr, tpr)
        best = Descent(1e-6).solve(problem).certificate
        w = rng.normal(size=3)
        parts = tuple((0.3, Scores(rng.normal(size=24) * 3, width)) for width in (0.0, 0.4, 9.0))
        minorants = [problem.risk.minorant(Mix(parts))]
        minorants += [Minorant.from_scores(problem, problem.space.scores(w), h) for h in (0.0, 0.2)]
        for minorant in minorants:
            found = Certificate.of(problem, w, minorant)
            assert found.dual <= best.primal
            assert best.dual <= found.primal


def hulls_meet(problem: Problem) -> bool:
    """Return whether the reduced convex hulls meet, by a linear program."""
    X, risk = matrix(problem), tail(problem)
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


def test_other_methods_penalties_and_evidence_are_refused() -> None:
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


def test_the_proximal_method_takes_other_penalties() -> None:
    problem = partial(0, "logistic", 0.1, 0.3, 0.0)
    sparse = replace(problem, penalty=ElasticNet(0.1, 0.05))
    found = choose_solver(sparse, "auto", 1e-3, None).solve(sparse)
    assert found.method == "proximal" and found.certificate.gap <= 2e-3


@pytest.mark.slow
def test_many_rows_start_from_some_of_them() -> None:
    X, positive = rows(0, 45_000, 1.0)
    risk = tail_risk(AllPairs().on(positive), HINGE, 0.1)
    problem = Problem(Rows(X), risk, Ridge(0.01))
    few = part_of(problem)
    assert (
        few is not None
        and 19_000 < few.n < 21_000
        and float(tail(few).kq) == pytest.approx(0.1 * few.n * 2 / 3, rel=0.01)
    )
    found = Descent(1e-5).solve(problem)
    assert found.status == Status.CERTIFIED and found.n_iter < 40


def test_limits_end_a_run_with_what_it_has() -> None:
    problem = partial(0, "hinge", 1e-4, 0.3, 0.0)
    found = Descent(1e-12, max_iter=2).solve(problem)
    assert found.status == Status.ITERATION_LIMIT and found.certificate.gap <= 1 + 1e-12


@each("tpr", [0.0, 0.5])
def test_steps_in_bins_reach_the_same_optimum(tpr: float, monkeypatch) -> None:
    problem = partial(3, "hinge", 1e-2, 0.2, tpr, n=3000)
    plain = Descent(1e-4).solve(problem)
    monkeypatch.setattr(points, "TAIL_SORTED", 1600)
    binned = tail_in_bins(problem, 0.1)
    assert tail(binned).mean.pairs.form == "binned"
    assert tail_in_bins(problem, 0.0) is problem
    found = Descent(1e-4).solve(problem)
    assert plain.status is found.status is Status.CERTIFIED
    for one, other in ((plain, found), (found, plain)):
        bound = one.certificate.dual
        assert bound <= other.certificate.primal
    # The bound is about the problem itself: the finest sums prove nearly as much of the same point.
    again = Certificate.of(problem, found.w, found.witness)
    assert again.relative_gap is not None and again.relative_gap <= 1e-4


HARD = [
    ("squared_hinge", 0.1, 0.0, 14, 6),
    ("squared_hinge", 0.5, 0.6, 59, 7),
    ("logistic", 0.1, 0.0, 48, 3),
    ("squared_hinge", 0.1, 0.3, 74, 7),
    ("exponential", 0.4, 0.0, 40, 4),
]
"""Loss, rates, rows and features of problems at which smoothing stalls."""


@pytest.mark.slow
@each("case", range(len(HARD)))
def test_small_problems_with_features_of_very_unequal_size_are_solved(case: int) -> None:
    loss, fpr, tpr, n, p = HARD[case]
    rng = np.random.default_rng([9, case])
    positive = np.arange(n) % 2 == 0
    X = (rng.normal(size=(n, p)) + positive[:, None]) * 10.0 ** rng.uniform(-3, 3, size=p)
    risk = tail_risk(AllPairs().on(positive), get_loss(loss), fpr, tpr)
    problem = Problem(Rows(X), risk, Ridge(1e-4))
    found = Descent(1e-7).solve(problem)
    assert found.status is Status.CERTIFIED and found.n_iter < 200
    by_planes = choose_solver(problem, "cutting-plane", 1e-3, None).solve(problem).certificate
    assert by_planes.dual <= found.certificate.primal
    assert found.certificate.dual <= by_planes.primal
