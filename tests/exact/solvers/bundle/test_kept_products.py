"""What is kept of cuts and functions, against products made anew."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.solvers.bundle.images import FIRST_ROOM, Images, KernelImages, Place, RowImages
from aucert.exact.solvers.bundle.segment import Evaluated, Segment
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.rows import Rows
from loops import each

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 5)), np.arange(40) % 3 == 0


def problem_of(kernel: bool) -> Problem:
    rows = linear_problem(X, Y, 0.1, "hinge", AllPairs())
    assert isinstance(rows.space, Rows)
    return rows.over(Gram(rows.space.dense() @ rows.space.dense().T)) if kernel else rows


def images_for(problem: Problem) -> Images:
    space = problem.space
    return KernelImages(40, space.K.__matmul__) if isinstance(space, Gram) else RowImages(problem)


@each("kernel", [False, True])
def test_inner_products_and_scores_are_those_of_the_functions(kernel: bool) -> None:
    problem = problem_of(kernel)
    space, images, rng = problem.space, images_for(problem), np.random.default_rng(1)
    cuts = [rng.normal(size=40) for _ in range(FIRST_ROOM + 6)]
    for c in cuts:
        found = images.add(c - c.mean())
    pulls = [space.pull(c - c.mean()) for c in cuts]
    assert found[0] == 0.0
    assert found[1:] == pytest.approx([space.inner(pulls[-1], g) for g in pulls], abs=1e-9)
    kept = np.array([0, 3, 7, FIRST_ROOM + 2])
    images.keep(kept)
    for weights in (np.array([0.3, 0.2, 0.5, 0.1]), np.array([0.0, 0.0, 0.5, 0.0])):
        w, norm2 = images.combined(weights)
        terms = [x * pulls[k - 1] for x, k in zip(weights[1:], kept[1:], strict=True)]
        direct = np.sum(terms, axis=0)
        place = images.place(w, norm2, weights)
        assert w == pytest.approx(direct, abs=1e-12)
        assert norm2 == pytest.approx(space.norm2(direct), rel=1e-10)
        assert place.scores == pytest.approx(space.scores(direct), abs=1e-10)


@each("kernel", [False, True])
def test_a_segment_knows_the_objective_without_a_product(kernel: bool) -> None:
    problem = problem_of(kernel)
    space, images, rng = problem.space, images_for(problem), np.random.default_rng(2)
    a, b = (space.pull(c - c.mean()) for c in rng.normal(size=(2, 40)) / 10)
    ends = [Place(w, space.scores(w), space.norm2(w)) for w in (a, b)]
    way = Segment(problem, images, Evaluated.of(problem, ends[0]), ends[1])
    for t in (0.0, 0.3, 1.0):
        found = way.at(t)
        assert found.place.w == pytest.approx(a + t * (b - a), abs=1e-14)
        assert found.primal == pytest.approx(problem.objective(a + t * (b - a)), rel=1e-12)
    share, best = way.best()
    grid = [problem.objective(a + t * (b - a)) for t in np.linspace(0, 1, 101)]
    assert best.primal <= min(grid) + 0.05 * (max(grid) - min(grid))
    assert best.primal == pytest.approx(problem.objective(a + share * (b - a)), rel=1e-12)
