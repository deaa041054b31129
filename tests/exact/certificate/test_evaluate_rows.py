"""Evaluations along a line are those at its points, and Newton's own steps rest on them."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.certificate.evaluation import Evaluator
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.solvers.descent import Descent
from aucert.exact.spaces.blocks import StreamedRows
from loops import each


def some_problem(streamed: bool = False) -> Problem:
    rng = np.random.default_rng(0)
    y = np.arange(400) % 3 == 0
    X = rng.normal(size=(400, 3)) + 0.7 * y[:, None]
    problem = linear_problem(X, y, 1e-2)
    return problem.over(StreamedRows(X)) if streamed else problem


GRID = 1 << 10, 1 << 8  # bins a unit, and half the width in bins


def evaluator(kind: str) -> Evaluator:
    return Evaluator(some_problem(kind == "streamed"))


@each("kind", ["held", "streamed"])
@each("asked", [False, True])
def test_a_point_on_a_line_is_the_start_and_t_times_the_direction(kind: str, asked: bool) -> None:
    """Its weights, its numbers, and what is evaluated at these weights next."""
    rng, chosen = np.random.default_rng(1), evaluator(kind)
    for t in (0.0, 0.7, -1.3):
        w, p = rng.normal(size=3), rng.normal(size=3)
        line = chosen.line(chosen.at(w, *GRID), p)
        if asked:
            line.slope(t)
        found = line.at(t)
        np.testing.assert_allclose(found.w, w + t * p, rtol=1e-15, atol=1e-15)
        again = chosen.at(found.w, *GRID)  # may take the scores that the line left behind
        fresh = evaluator(kind).at(w + t * p, *GRID)
        for one in (found, again):
            # Scores moved along the line round otherwise than those of the point.
            assert one.loss == pytest.approx(fresh.loss, rel=1e-9)
            assert one.total == pytest.approx(fresh.total, rel=1e-9)
            np.testing.assert_allclose(one.pull, fresh.pull, atol=1e-9)


@each("kind", ["held", "streamed"])
def test_the_slope_of_a_line_is_that_of_the_smoothed_objective_along_it(kind: str) -> None:
    rng, chosen = np.random.default_rng(2), evaluator(kind)
    lam = chosen.problem.lam
    for t in (0.0, 0.7, -1.3):
        w, p = rng.normal(size=3), rng.normal(size=3)
        at = evaluator("held").at(w + t * p, *GRID)
        slope = chosen.line(chosen.at(w, *GRID), p).slope(t)
        room = 1e-9 if kind == "held" else 2e-2  # other bins move a score by 2^-10 at most
        assert slope == pytest.approx(float(p @ (lam * (w + t * p) - at.pull)), abs=room)


@each("streamed", [False, True])
def test_newtons_own_steps_come_near_the_optimum_without_its_finish(streamed: bool) -> None:
    """The finish repairs wrong steps, so it is left out here."""
    for seed in range(3):
        solver = Descent(tol=1e-4, finish=False, seed=seed)
        found = solver.solve(some_problem(streamed), np.full(3, 0.3)).certificate
        assert found.reaches(1e-4)
