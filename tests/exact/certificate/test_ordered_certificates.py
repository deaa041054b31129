"""Certificates over ordered pairs: Clarabel's optimum on listed pairs is inside the interval."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.certificate.certificate import Certificate
from aucert.exact.errors import InputError
from aucert.exact.losses.loss import Loss
from aucert.exact.losses.registry import HINGE, SQUARE, SQUARED_HINGE
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from aucert.exact.problem.minorant import Minorant
from aucert.exact.problem.penalties import Ridge
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.solvers.proximal import Proximal
from aucert.exact.spaces.rows import Rows
from loops import each, seeds
from ordered_naive import Naive, naive_ordered

OURS = (HINGE, SQUARED_HINGE, SQUARE)


def some_problem(seed: int) -> tuple[Problem, Naive, np.ndarray]:
    """A problem of few rows with ties, its listed pairs, and its rows."""
    rng = np.random.default_rng(seed)
    n, dim = int(rng.integers(4, 25)), int(rng.integers(1, 5))
    X = np.round(rng.normal(size=(n, dim)), int(rng.integers(0, 4))) + rng.integers(0, 2) * 10.0
    X[0, 0] += 1.0
    group, key = rng.integers(0, 1 + seed % 3, n), rng.integers(0, 4, n)
    a, b = rng.integers(0, 4, n), rng.integers(0, 4, n)
    a[:2], b[:2], group[:2], key[:2] = 1, 1, 0, [0, 1]
    gain = key**2 if seed % 5 == 3 else None
    share = 1.0 + group if seed % 5 == 4 else None
    pairs = OrderedPairs(group, key, a, b, gain=gain, share=share)
    lam = float(10.0 ** rng.uniform(-3, 1))
    problem = Problem(Rows(X), Mean(pairs, OURS[seed % 3]), Ridge(lam))
    return problem, naive_ordered(group, key, a, b, gain, share), X


def by_clarabel(naive: Naive, X: np.ndarray, loss: Loss, lam: float) -> tuple[np.ndarray, float]:
    """The optimum of the listed pairs, and its value as Clarabel says it."""
    c, D = np.array([float(w) for w in naive.weight]), X[naive.i] - X[naive.j]
    m, dim = D.shape
    if loss == SQUARE:
        w = np.linalg.solve(2 * D.T @ (c[:, None] * D) + lam * np.eye(dim), 2 * D.T @ c)
        return w, float(c @ (1 - D @ w) ** 2 + lam / 2 * w @ w)
    squared = loss == SQUARED_HINGE
    P = sp.diags(np.concatenate([np.full(dim, lam), 2 * c if squared else np.zeros(m)])).tocsc()
    q = np.concatenate([np.zeros(dim), np.zeros(m) if squared else c])
    A = sp.bmat([[-sp.csc_matrix(D), -sp.eye(m)], [None, -sp.eye(m)]]).tocsc()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(2 * m)]
    rhs = np.concatenate([-np.ones(m), np.zeros(m)])
    found = clarabel.DefaultSolver(P, q, A, rhs, cones, settings).solve()
    return np.array(found.x)[:dim], float(found.obj_val)


def objective(naive: Naive, X: np.ndarray, loss: Loss, lam: float, w: np.ndarray) -> float:
    """F(w) by the listed pairs."""
    return naive.sums(X @ w, loss, 0.0)[0] + lam / 2 * float(w @ w)


def check(seed: int) -> None:
    """The optimum is in the interval of any point and any minorant, and near that of a solver."""
    rng = np.random.default_rng(seed)
    problem, naive, X = some_problem(seed)
    best, stated = by_clarabel(naive, X, problem.loss, problem.lam)
    upper = objective(naive, X, problem.loss, problem.lam, best)
    slack = 1e-12 * (1 + upper)
    points = [best, best + rng.normal(size=best.size), rng.normal(size=best.size)]
    for w in points:
        of = points[int(rng.integers(3))]
        width = float(rng.choice([0.0, 1e-3, 0.5, 3.0]))
        evidence = Minorant.from_scores(problem, X @ of, width, None)
        proved = Certificate.of(problem, w, evidence)
        assert proved.dual <= upper + slack
        assert proved.primal >= stated - 1e-6 * (1 + stated)
        mine = objective(naive, X, problem.loss, problem.lam, w)
        assert abs(proved.primal - mine) <= proved.rounding + 1e-13 * (1 + mine) * np.abs(X).max()
    solution = Proximal(1e-5, max_iter=300).solve(problem)
    found = solution.certificate
    assert found.dual <= upper + slack
    assert found.primal >= stated - 1e-6 * (1 + stated)
    # Few pairs at their margin make the hinge slow for the general solver.
    assert problem.loss == HINGE or found.gap <= 1e-3 * found.primal


@each("seed", seeds(30))
def test_the_optimum_is_inside(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@each("start", range(30, 330, 100))
def test_the_optimum_is_inside_in_three_hundred_draws(start: int) -> None:
    for seed in range(start, start + 100):
        check(seed)


def test_a_dual_value_too_large_would_be_caught() -> None:
    """The same rows with groups merged prove a bound that is false for the true pairs."""
    false = 0
    for seed in range(1, 60, 3):
        problem, naive, X = some_problem(seed)
        pairs = problem.pairs
        a, b = np.empty((2, pairs.n))
        a[pairs.arrangement.order], b[pairs.arrangement.order] = pairs.a, pairs.b
        other = Problem(
            problem.space, Mean(OrderedPairs(None, pairs.key, a, b), problem.loss), problem.penalty
        )
        best, _ = by_clarabel(naive, X, problem.loss, problem.lam)
        upper = objective(naive, X, problem.loss, problem.lam, best)
        found = Proximal(1e-6, max_iter=3000).solve(other).certificate
        false += found.dual > upper
    assert false > 0


def test_other_pairs_of_other_rows_are_refused() -> None:
    pairs = OrderedPairs(None, [1, 2, 3])
    with pytest.raises(InputError, match="rows"):
        Problem(Rows(np.eye(4)), Mean(pairs, HINGE), Ridge(1.0))
