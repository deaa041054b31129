"""Newton on the smoothed hinge against the other solvers, on hard and degenerate problems."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.certificate.solution import Status, Step
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.problem.subsample import subsample
from aucert.exact.solvers.cutting_plane import CuttingPlane
from aucert.exact.solvers.descent import Descent
from loops import each


def some_problem(seed: int, n: int = 300, d: int = 4, lam: float = 1e-2) -> Problem:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.random(n) < 0.3
    y[:2] = True, False
    return linear_problem(X + y[:, None] * rng.normal(size=d), y, lam)


def agree(problem: Problem, tol: float = 1e-9) -> None:
    """The two solvers' optima differ by no more than their certified gaps add up to."""
    a = Descent(tol=tol).solve(problem).certificate
    b = CuttingPlane(tol=tol).solve(problem).certificate
    assert a.reaches(tol)
    assert abs(a.primal - b.primal) <= a.gap + b.gap + a.rounding + b.rounding


@each("seed", range(12))
def test_newton_and_cutting_planes_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    agree(
        some_problem(
            seed, int(rng.integers(10, 800)), int(rng.integers(1, 12)), 10.0 ** rng.uniform(-5, 1)
        )
    )


def test_many_rows_start_from_a_sample_and_agree() -> None:
    agree(some_problem(1, 60_000, 2, 1e-3))


@each(
    "kind",
    ["ties", "constant", "duplicates", "one positive", "sparse", "weights", "separable", "pairs"],
)
def test_degenerate_problems_are_solved(kind: str) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 3)), rng.random(200) < 0.4
    X[y] += 0.7
    pairs: AllPairs | PairList | None = None
    rows: object = X
    if kind == "ties":
        rows = np.round(X)
    elif kind == "constant":
        rows = np.c_[X, np.ones(200)]
    elif kind == "duplicates":
        rows, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    elif kind == "one positive":
        y = np.arange(200) == 17
    elif kind == "sparse":
        rows = sp.csr_matrix(np.where(np.abs(X) > 0.5, X, 0))
    elif kind == "weights":
        pairs = AllPairs(rng.uniform(0.1, 3, 200))
    elif kind == "separable":
        rows = np.where(y[:, None], X + 20, X - 20)
    else:
        plus, minus = np.flatnonzero(y), np.flatnonzero(~y)
        pairs = PairList(rng.choice(plus, 500), rng.choice(minus, 500))
    agree(linear_problem(rows, y, 1e-2, pairs=pairs), 1e-8)


def test_a_subsample_keeps_both_classes_in_proportion() -> None:
    problem = some_problem(7, 20_000, 2)
    part = subsample(problem, 2000)
    assert part.n == pytest.approx(2000, rel=0.01)
    assert part.n_pos / part.n == pytest.approx(problem.n_pos / problem.n, rel=0.01)
    rare = linear_problem(np.arange(20_000.0)[:, None], np.arange(20_000) % 2000 == 3, 1.0)
    assert subsample(rare, 2000).n_pos == 10


def test_the_time_limit_returns_the_best_point_so_far() -> None:
    solution = Descent(tol=1e-12, max_time=1e-9).solve(some_problem(8, 60_000, 3))
    assert solution.status == Status.TIME_LIMIT
    assert solution.certificate.gap >= 0


def test_an_interrupt_returns_the_best_point_so_far() -> None:
    def stop(step: Step) -> None:
        if step.n_iter == 3:
            raise KeyboardInterrupt

    solution = Descent(tol=1e-12).solve(some_problem(9), callback=stop)
    assert solution.status == Status.INTERRUPTED
    assert solution.certificate.primal < 1


def test_the_same_seed_gives_the_same_numbers() -> None:
    problem = some_problem(10, 60_000, 3)
    first, second = (Descent(tol=1e-8, seed=4).solve(problem) for _ in range(2))
    assert np.array_equal(first.w, second.w)


def test_a_looser_tolerance_takes_no_more_steps() -> None:
    """At a small lam the slopes of coarse bins are too rough for any dual point."""
    problem = some_problem(5, 4000, 20, 1e-4)
    steps = [Descent(tol=tol).solve(problem).n_iter for tol in (1e-3, 1e-9)]
    assert steps[0] <= steps[1]
