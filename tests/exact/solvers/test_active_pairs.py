"""The hinge to rounding: windows of pairs, for any data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.certificate.certificate import Certificate
from aucert.exact.certificate.solution import Solution, Status, Step
from aucert.exact.errors import InputError
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.line_search import best_on_segment
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.solvers.finish import ActivePairs
from loops import each
from naive import weighted_pairs
from reference import reference_optimum


def rows_of_two_classes(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([11, seed])
    X, y = rng.normal(size=(n, d)), rng.uniform(size=n) < 0.25
    y[:2] = [True, False]
    X[y] += 1.0 / np.sqrt(d)
    return X, y


def check(problem: Problem, tol: float = 1e-11) -> Solution:
    """Solve, and hold the certificate to the tolerance, from its evidence."""
    solution = ActivePairs(tol=tol).solve(problem)
    certificate = Certificate.of(problem, solution.w, solution.witness)
    separable = certificate.primal <= 1e-6  # the gap is then absolute, as in `reaches`
    enough = max(tol * certificate.primal, tol / 10 if separable else 0.0)
    assert certificate.gap <= enough, (certificate, solution.history)
    return solution


@each("lam", [1e-1, 1e-3, 1e-5])
@each(("n", "d"), [(3000, 2), (1000, 40)])
def test_the_gap_ends_at_rounding(n: int, d: int, lam: float) -> None:
    check(linear_problem(*rows_of_two_classes(n, d), lam), 1e-12)


@each("seed", range(4))
def test_the_optimum_is_that_of_cvxpy(seed: int) -> None:
    X, y = rows_of_two_classes(60, 4, seed)
    weight = np.random.default_rng(seed).integers(0, 4, 60) + (np.arange(60) < 2)
    problem = linear_problem(X, y, 10.0 ** -(seed + 1), "hinge", AllPairs(weight))
    listed = [
        (i, j, float(c)) for i, j, c in weighted_pairs(y.tolist(), problem.pairs, float) if c > 0
    ]
    value, _ = reference_optimum(X, listed, problem.lam, "hinge")
    assert check(problem).certificate.primal == pytest.approx(value, rel=1e-8)


def awkward(kind: str) -> tuple[object, np.ndarray]:
    """Return rows and labels that are hard in their own way."""
    X, y = rows_of_two_classes(300, 3)
    if kind == "repeated four times":
        return np.tile(X, (4, 1)), np.tile(y, 4)
    if kind == "one positive":
        return X, np.arange(300) == 17
    if kind == "one of each":
        return X[:2], y[:2]
    if kind == "constant features":
        return np.hstack([X, np.full((300, 2), 5.0)]), y
    if kind == "all features constant":
        return np.ones((300, 2)), y
    if kind == "three levels":
        return np.clip(np.round(X), -1, 1), y
    if kind == "one binary feature":
        return (X[:, :1] > 0).astype(float), y
    if kind == "sparse":
        return sp.csr_matrix(X * (np.abs(X) > 0.7)), y
    if kind == "heavy tails":
        return X * np.exp(2 * np.random.default_rng(3).normal(size=(300, 1))), y
    assert kind == "separable"
    return X + 8.0 * y[:, None], y


@each("lam", [1e-1, 1e-4])
@each(
    "kind",
    [
        "repeated four times",
        "one positive",
        "one of each",
        "constant features",
        "all features constant",
        "three levels",
        "one binary feature",
        "sparse",
        "heavy tails",
        "separable",
    ],
)
def test_awkward_data_are_solved_all_the_same(kind: str, lam: float) -> None:
    check(linear_problem(*awkward(kind), lam))


@pytest.mark.slow
@each("sparse", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_more_features_than_rows(sparse: bool) -> None:
    rng = np.random.default_rng(4)
    n, d = (400, 2000) if sparse else (160, 800)
    X, y = rng.normal(size=(n, d)) * (rng.uniform(size=(n, d)) < 0.05), np.arange(n) < 40
    X[y, :20] += 0.3
    for lam in (1e-1, 1e-3):
        task = formulate(sp.csr_matrix(X) if sparse else X, y, Request.of(lam))
        assert task.work.space.dim <= n
        found = task.judge(ActivePairs(tol=1e-11).solve(task.work), 1e-10)
        assert found.status == Status.CERTIFIED and found.w.shape == (d,)


def test_ties_beyond_the_first_window_are_solved() -> None:
    """Tens of thousands of pairs at the margin, several times what the first window holds."""
    rng = np.random.default_rng(5)
    levels = rng.integers(0, 3, size=(1500, 3)).astype(float)
    y = rng.uniform(size=1500) < 1 / (1 + np.exp(5 - levels.sum(axis=1)))
    problem = linear_problem(levels, y, 1e-3)
    solution = check(problem, 1e-9)
    s = problem.space.scores(solution.w)
    tied = np.abs(1 - s[y][:, None] + s[~y][None, :]) < 1e-9
    assert tied.sum() > 20_000


def test_where_even_the_largest_window_is_too_small_it_says_so() -> None:
    rng = np.random.default_rng(5)
    levels, y = rng.integers(0, 2, size=(400, 3)).astype(float), rng.uniform(size=400) < 0.3
    solution = ActivePairs(largest=50).solve(linear_problem(levels, y, 1e-3))
    assert solution.status == Status.STALLED and solution.certificate.gap >= 0


def test_a_run_at_rounding_stops_by_itself() -> None:
    steps: list[Step] = []
    problem = linear_problem(*rows_of_two_classes(2000, 2), 1e-3)
    solution = ActivePairs(tol=1e-18).solve(problem, callback=steps.append)
    assert solution.status == Status.STALLED and len(steps) < 15
    assert solution.certificate.relative_gap is not None
    assert solution.certificate.relative_gap <= 1e-12


def test_a_time_limit_is_kept_inside_a_window() -> None:
    X, y = rows_of_two_classes(4000, 60)
    solution = ActivePairs(tol=1e-12, max_time=1e-9).solve(linear_problem(X, y, 1e-5))
    assert solution.status == Status.TIME_LIMIT and solution.n_iter == 1
    assert solution.certificate.gap >= 0


def test_a_start_near_the_optimum_takes_few_rounds() -> None:
    problem = linear_problem(*rows_of_two_classes(2000, 10), 1e-3)
    first = ActivePairs(tol=1e-6).solve(problem)
    again = ActivePairs(tol=1e-12).solve(problem, w0=first.w)
    assert again.certificate.gap <= 1e-12 * again.certificate.primal
    assert again.n_iter <= 3


def test_what_it_cannot_do_is_refused() -> None:
    X, y = rows_of_two_classes(20, 2)
    with pytest.raises(InputError, match="the hinge, not square"):
        ActivePairs().solve(linear_problem(X, y, 1.0, "square"))
    task = formulate(X, y, Request.of(1.0, kernel="rbf"))
    with pytest.raises(InputError, match="factor the kernel"):
        ActivePairs().solve(task.meant)


@each("lam", [1e-2, 1e-5, 1e-8])
def test_the_line_search_finds_the_near_end_of_a_long_way(lam: float) -> None:
    """From w = 0 along the slope the best point is near lam of the way."""
    problem = linear_problem(*rows_of_two_classes(500, 2), lam)
    scores = np.zeros(500)
    target = problem.space.pull(problem.sums(scores).c) / lam
    _, value = best_on_segment(problem, np.zeros(2), scores, target)
    best = min(problem.objective(step * target) for step in np.geomspace(1e-10, 1, 400))
    assert value <= best + 0.02 * (1 - best)


@pytest.mark.slow
def test_a_kernel_of_nearly_full_rank_is_solved() -> None:
    """2,000 rows, a rank of about 1,600, hundreds of thousands of open pairs."""
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 3 == 0
    X = rng.normal(size=(2000, 2)) * 0.39
    X[np.arange(2000), np.where(y, 0, 1)] += 0.8 * rng.choice([-1, 1], 2000)
    for lam in (1e-1, 1e-3):
        task = formulate(X, y, Request.of(lam, kernel="rbf", gamma=30.0))
        assert task.work.space.dim > 1200
        found = task.judge(ActivePairs(tol=1e-11).solve(task.work), 1e-9)
        assert found.status == Status.CERTIFIED
