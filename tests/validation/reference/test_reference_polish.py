"""The optimum of a hinge problem as a fraction: right, or none at all."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from aucert.exact import solve
from aucert.validation.reference.problems import ReferenceProblem, reference_problems
from loops import each
from polish import exact_optimum
from rational_bounds import ExactProblem


def exactly(p: ReferenceProblem) -> ExactProblem:
    return ExactProblem.of(p.X, p.y, p.sample_weight, p.lam, "hinge")


def near(p: ReferenceProblem) -> np.ndarray:
    return solve(p.X, p.y, p.lam, sample_weight=p.sample_weight, tol=1e-10).w


def test_the_optimum_of_two_rows_is_the_fraction_found_by_hand() -> None:
    """Rows 2 apart: w = 1/2 meets the margin, and costs lam / 8."""
    (problem,) = reference_problems("two-rows:0.1")
    assert exact_optimum(exactly(problem), np.array([0.5])) == Fraction(0.1) / 8
    assert exact_optimum(exactly(problem), np.array([0.5 + 1e-9])) == Fraction(0.1) / 8


@each("name", ["overlap:0.1", "ties", "integers:0.001", "binary", "mirrored"])
def test_the_optimum_is_between_the_bounds_of_the_solver(name: str) -> None:
    (p,) = reference_problems(name)
    problem, found = exactly(p), solve(p.X, p.y, p.lam, tol=1e-10)
    optimum = exact_optimum(problem, found.w)
    assert optimum is not None
    assert problem.dual_of_marginals(found.witness.c) <= optimum <= problem.primal(found.w)


def test_a_point_that_is_not_near_gives_no_value_or_the_right_one() -> None:
    (p,) = reference_problems("overlap:0.1")
    right, rng = exact_optimum(exactly(p), near(p)), np.random.default_rng(1)
    for size in (0.0, 1e-6, 1e-3, 0.1, 10.0):
        w = near(p) + size * rng.normal(size=3)
        assert exact_optimum(exactly(p), w) in (None, right)
