"""The optimum of a hinge problem as a fraction: right, or none at all."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from aucert.exact import solve
from aucert.validation.reference.problems import ReferenceProblem, reference_problems
from loops import each, seeds
from polish import alpha_of, exact_optimum, independent, solved
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


@each("name", ["overlap:0.01", "ties", "weights"])
def test_it_does_not_depend_on_the_solvers_last_digits(name: str) -> None:
    (p,) = reference_problems(name)
    w, rng = near(p), np.random.default_rng(0)
    moved = [w * (1 + 1e-9 * rng.normal(size=w.size)) for _ in range(3)]
    assert len({exact_optimum(exactly(p), point) for point in [w, *moved]}) == 1


def test_a_point_that_is_not_near_gives_no_value_or_the_right_one() -> None:
    (p,) = reference_problems("overlap:0.1")
    right, rng = exact_optimum(exactly(p), near(p)), np.random.default_rng(1)
    for size in (0.0, 1e-6, 1e-3, 0.1, 10.0):
        w = near(p) + size * rng.normal(size=3)
        assert exact_optimum(exactly(p), w) in (None, right)


def test_elimination_solves_what_has_one_solution() -> None:
    F = Fraction
    square = [[F(0), F(2)], [F(3), F(1)]]
    assert solved(square, [F(1), F(1)]) == [F(1, 6), F(1, 2)]
    tall = [*square, [F(3), F(3)]]
    assert solved(tall, [F(1), F(1), F(2)]) == [F(1, 6), F(1, 2)]
    assert solved(tall, [F(1), F(1), F(1)]) is None  # the third line contradicts
    assert solved([[F(1), F(1)], [F(2), F(2)]], [F(1), F(2)]) is None  # many solutions
    assert solved([], []) == []


def test_independent_rows_span_all_of_them() -> None:
    rng = np.random.default_rng(2)
    rows = [[Fraction(int(x)) for x in row] for row in rng.integers(-2, 3, (12, 4))]
    rows += [[a + b for a, b in zip(rows[0], rows[1], strict=True)], [Fraction(0)] * 4]
    chosen = np.array(independent(rows), dtype=float)
    assert len(chosen) == np.linalg.matrix_rank(chosen)
    assert len(chosen) == np.linalg.matrix_rank(np.array(rows, dtype=float))


@each("seed", seeds(5))
def test_alpha_is_in_its_box_and_meets_the_equations_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [[Fraction(int(x), 7) for x in row] for row in rng.integers(-5, 6, (9, 3))]
    share = [Fraction(int(x), 10) for x in rng.integers(0, 11, 9)]
    wanted = [
        sum((s * column[k] for s, column in zip(share, columns, strict=True)), Fraction(0))
        for k in range(3)
    ]
    alpha = alpha_of(columns, wanted)
    assert alpha is not None and all(0 <= x <= 1 for x in alpha)
    for k in range(3):
        assert sum(x * column[k] for x, column in zip(alpha, columns, strict=True)) == wanted[k]


def test_alpha_out_of_the_box_is_not_found() -> None:
    column = [[Fraction(1), Fraction(2)]]
    assert alpha_of(column, [Fraction(3), Fraction(6)]) is None
    assert alpha_of([], [Fraction(1)]) is None
    assert alpha_of([], [Fraction(0)]) == []
