"""Squared-hinge sums and Laplacian products in all their forms, against explicit pairs."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from aucert.approx.newton.curvature import curvature
from aucert.approx.newton.newton_equation import hessian, sampled_hessian
from aucert.approx.newton.points import NewtonLine, NewtonPoint
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.sums.swept import swept
from loops import each, seeds

KINDS = ["numpy", "compiled", "weighted", "weighted compiled", "listed"]


def problem_of(kind: str, seed: int, n: int = 24, d: int = 3) -> Problem:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    weight = rng.integers(0, 4, n).astype(float) if "weighted" in kind else None
    if weight is not None:
        weight[:2] = 1.0
    pairs: AllPairs | PairList = AllPairs(weight, "compiled" if "compiled" in kind else "numpy")
    if kind == "listed":
        pairs = PairList(rng.choice(np.flatnonzero(y), 40), rng.choice(np.flatnonzero(~y), 40))
    return linear_problem(rng.normal(size=(n, d)), y, 0.01, "squared_hinge", pairs)


def tied_scores(problem: Problem, seed: int) -> np.ndarray:
    """Scores with ties and pairs exactly at the margin."""
    return np.round(np.random.default_rng(seed).normal(size=problem.n) * 2) / 2


@each("kind", KINDS)
@each("seed", seeds(6))
def test_value_marginals_and_laplacian_are_those_of_the_explicit_pairs(
    seed: int, kind: str
) -> None:
    problem = problem_of(kind, seed)
    scores, n = tied_scores(problem, seed), problem.n
    value, c, laplacian = 0.0, np.zeros(n), np.zeros((n, n))
    for i, j, share in naive.weighted_pairs(problem.pairs.positive.tolist(), problem.pairs, float):
        z = max(0.0, 1 - (scores[i] - scores[j]))
        value += share * z**2
        c[[i, j]] += 2 * share * z * np.array([1, -1])
        if z > 0:
            laplacian[[i, j, i, j], [i, j, j, i]] += share * np.array([1, 1, -1, -1])
    found = curvature(problem, scores)
    assert found.value == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(found.c, c, atol=1e-14)
    many = np.random.default_rng(seed).normal(size=(n, 3))
    np.testing.assert_allclose(found.times(many), laplacian @ many, atol=1e-14)
    np.testing.assert_allclose(found.times(many[:, 0]), laplacian @ many[:, 0], atol=1e-14)


@each("kind", KINDS)
def test_all_active_pairs_are_drawn_once_where_they_are_few(kind: str) -> None:
    problem = problem_of(kind, 1)
    scores = tied_scores(problem, 1)
    i, j, share = curvature(problem, scores).drawn(10_000, np.random.default_rng(0))
    mass = np.zeros((problem.n, problem.n))
    np.add.at(mass, (i, j), share)
    expected = np.zeros_like(mass)
    for a, b, weight in naive.weighted_pairs(problem.pairs.positive.tolist(), problem.pairs, float):
        expected[a, b] += weight * (1 - (scores[a] - scores[b]) > 0)
    np.testing.assert_allclose(mass, expected, atol=1e-15)


@each("kind", KINDS)
def test_the_hessian_of_drawn_pairs_is_unbiased(kind: str) -> None:
    problem = problem_of(kind, 2)
    curved, rng = curvature(problem, tied_scores(problem, 2)), np.random.default_rng(0)
    whole = hessian(problem, curved)
    draws = np.array([sampled_hessian(problem, curved, 8, rng) for _ in range(3000)])
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - whole) <= 5 * error + 1e-12).all()


@each("kind", ["compiled", "weighted compiled"])
@each("shift", [0.0, 1e6])
def test_the_compiled_sums_are_the_readable_ones(kind: str, shift: float) -> None:
    rng = np.random.default_rng(0)
    t, b = rng.normal(size=4000) + shift, rng.normal(size=9000) + shift
    most = 5 if "weighted" in kind else 2
    u, v = (rng.integers(1, most, side.size).astype(float) for side in (t, b))
    fast = swept(t, b, u, v, squared=True, fast=True)
    slow = swept(t.astype(np.longdouble), b.astype(np.longdouble), u, v, squared=True)
    size = 1.0 if shift == 0 else shift**2  # callers centre; without it digits go
    assert fast.value == pytest.approx(float(slow.value), rel=1e-14 * size)
    if shift == 0:
        np.testing.assert_allclose(fast.u, slow.u, rtol=1e-13, atol=1e-13 * fast.u.max())
        np.testing.assert_allclose(fast.v, slow.v, rtol=1e-13, atol=1e-13 * fast.v.max())


@pytest.mark.long_digits
def test_the_compiled_sums_do_not_lose_digits_with_the_rows() -> None:
    rng = np.random.default_rng(0)
    t, b = rng.normal(size=100_000), rng.normal(size=300_000)
    ones = np.ones(t.size), np.ones(b.size)
    fast = swept(t, b, *ones, squared=True, fast=True)
    slow = swept(t.astype(np.longdouble), b.astype(np.longdouble), *ones, squared=True)
    assert fast.value == pytest.approx(float(slow.value), rel=4e-16)
    assert float(fast.u.sum()) == pytest.approx(float(fast.v.sum()), rel=1e-14)


@each("kind", KINDS)
def test_the_slope_of_a_line_is_the_derivative_of_the_objective(kind: str) -> None:
    problem, rng = problem_of(kind, 4), np.random.default_rng(4)
    w, step = rng.normal(size=3), rng.normal(size=3)
    line = NewtonLine(NewtonPoint.at(problem, w), step)
    for t in (0.0, 0.3, 2.0):
        h = 1e-6
        change = problem.objective(w + (t + h) * step) - problem.objective(w + (t - h) * step)
        assert line.slope(t) == pytest.approx(change / (2 * h), rel=1e-6, abs=1e-8)
        assert line.at(t).primal == pytest.approx(problem.objective(w + t * step), rel=1e-12)


@each("kind", KINDS)
@each("seed", seeds(10))
def test_a_searched_point_is_lower_and_flatter(seed: int, kind: str) -> None:
    problem, rng = problem_of(kind, seed), np.random.default_rng(seed)
    start = NewtonPoint.at(problem, rng.normal(size=3))
    for step in (
        -start.gradient * 10.0 ** rng.uniform(-3, 3),
        -np.linalg.solve(hessian(problem, start.curved), start.gradient),
    ):
        found = NewtonLine(start, step).search()
        assert found is not None and found.primal < start.primal
        assert abs(found.gradient @ step) <= 0.3 * abs(start.gradient @ step) * (1 + 1e-9)
        np.testing.assert_allclose(
            found.gradient, NewtonPoint.at(problem, found.w).gradient, atol=1e-12
        )
