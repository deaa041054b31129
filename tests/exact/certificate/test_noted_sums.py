"""The last sums over pairs are noted where they are made, and serve the certificate there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aucert.exact.certificate.evaluation import noted_sums, noting, sums_at
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.sums.assembled import PairSums

RNG = np.random.default_rng(5)
Y = np.arange(300) % 3 == 0
X = RNG.normal(size=(300, 3)) + Y[:, None]
W = np.array([0.5, 0.2, -0.1])


def some_problem(loss: str = "logistic") -> Problem:
    return linear_problem(X, Y, 0.01, loss, AllPairs(), positive=True)


def same(one: PairSums, other: PairSums) -> bool:
    rest = replace(one, c=np.zeros(0)), replace(other, c=np.zeros(0))
    return np.array_equal(one.c, other.c) and repr(rest[0]) == repr(rest[1])


def test_nothing_that_a_solver_does_afterwards_changes_a_note() -> None:
    problem = some_problem()
    scores = problem.space.scores(W)
    true = problem.risk.sums(scores, 0.1)
    with noting():
        mine = scores.copy()
        found = sums_at(problem, mine, 0.1)
        mine[:] = 7.0
        assert noted_sums(problem, mine, 0.1) is None
        with pytest.raises(ValueError, match="read-only"):
            found.c[:] = 3.0
        held = noted_sums(problem, scores, 0.1)
        assert held is not None and same(held, true)
        with pytest.raises(ValueError, match="read-only"):
            held.c[:] = 0.0


def test_a_note_is_of_one_problem_one_width_and_the_last_scores() -> None:
    problem, other = some_problem(), some_problem()
    scores = problem.space.scores(W)
    assert noted_sums(problem, scores, 0.1) is None
    sums_at(problem, scores, 0.1)
    assert noted_sums(problem, scores, 0.1) is None  # outside of a solve nothing is noted
    with noting():
        sums_at(problem, scores, 0.1)
        assert noted_sums(other, scores, 0.1) is None
        assert noted_sums(problem, scores, 0.2) is None
        sums_at(problem, 2 * scores, 0.1)
        assert noted_sums(problem, scores, 0.1) is None
    assert noted_sums(problem, 2 * scores, 0.1) is None
