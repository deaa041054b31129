"""The worst group: its value, its minorants, and the optimum by Clarabel."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from aucert.exact.certificate.certificate import Certificate
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import ALL_LOSSES, HINGE, SQUARED_HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.pairs.kinds import cross_group_pairs
from aucert.exact.problem.minorant import Alpha, Mix, Scores
from aucert.exact.problem.penalties import ElasticNet, Ridge
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.problem.worst import Worst, group_weights
from aucert.exact.solvers.choose import choose_solver
from aucert.exact.spaces.rows import Rows
from convex_programs import worst_reference
from decimal_losses import mean_of
from loops import each
from naive import exact

RNG = np.random.default_rng(6)
N = 24
Y, MEMBER = RNG.random(N) < 0.5, RNG.integers(0, 3, N)
X = np.round(RNG.normal(size=(N, 2)) + Y[:, None] * (MEMBER[:, None] - 0.5), 1)


def lists() -> list[list[tuple[int, int, Fraction]]]:
    """The pairs of each group, one by one."""
    found = []
    for group in range(3):
        inside = [
            (int(i), int(j))
            for i in np.flatnonzero(Y & (MEMBER == group))
            for j in np.flatnonzero(~Y & (MEMBER == group))
        ]
        found.append([(i, j, Fraction(1, len(inside))) for i, j in inside])
    return found


def worst(loss: str) -> Worst:
    pairs = [cross_group_pairs(Y, MEMBER, group, group) for group in range(3)]
    return Worst(tuple(Mean(one, ALL_LOSSES[loss]) for one in pairs))


@each("loss", ["hinge", "squared_hinge", "logistic"])
def test_value_and_minorants_are_those_of_the_pairs(loss: str) -> None:
    risk = worst(loss)
    points = [RNG.normal(size=N) * 10.0 ** RNG.integers(-1, 2) for _ in range(8)]
    true = [max(mean_of(loss, exact(s), part) for part in lists()) for s in points]
    for s, value in zip(points, true, strict=True):
        found = risk.sums(s)
        assert abs(Fraction(found.value) - value) <= Fraction(found.value_rounding) + 1e-15 * value
    for width in (0.0, 0.1, 3.0):
        kinds: list[Any] = [Scores(points[0], width), Scores(points[1], width, 0.7)]
        for evidence in (*kinds, Mix(((0.5, kinds[0]), (0.3, kinds[1])))):
            made = risk.minorant(evidence)
            for s, value in zip(points, true, strict=True):
                reach = made.c_error * float(np.abs(s).max()) + made.value_error
                assert value >= made.value - float(made.c @ s) - reach - 1e-12 * (1 + float(value))
    at = risk.upper(points[0], np.full(N, 0.1))
    moved = points[0] + 0.1 * np.where(Y, -1.0, 1.0)
    assert risk.sums(moved).value <= at.value + at.error


@each("penalty", [Ridge(0.05), ElasticNet(0.02, 0.02)], ids=repr)
@each("loss", ["hinge", "squared_hinge", "logistic"])
def test_the_optimum_lies_in_the_interval(loss: str, penalty: Any) -> None:
    problem = Problem(Rows(X), worst(loss), penalty)
    parts = [[(i, j, float(c)) for i, j, c in part] for part in lists()]
    best, _ = worst_reference(X, parts, loss, penalty)
    solution = choose_solver(problem, "auto", 1e-5, 5.0).solve(problem)
    found = solution.certificate
    assert found.dual <= best * (1 + 1e-7)
    assert best * (1 - 1e-7) <= found.primal
    assert found.relative_gap is not None and found.relative_gap < 1e-3
    again = Certificate.of(problem, solution.w, solution.witness)
    assert again.dual == found.dual


def test_group_weights_are_exactly_feasible_and_tend_to_the_worst() -> None:
    for width in (0.0, 1e-300, 1e-3, 1.0, 1e9):
        for values in (RNG.uniform(size=5), np.zeros(3), np.array([1.0]), np.array([1e200, 0.0])):
            q = group_weights(values, width)
            assert sum(map(Fraction, q.tolist())) == 1 and q.min() >= 0
            assert q[np.argmax(values)] == q.max()
    assert group_weights(np.array([0.2, 0.9, 0.1]), 1e-3).tolist() == [0, 1, 0]


def test_one_mean_is_its_own_worst_group() -> None:
    mean, s = Mean(AllPairs().on(Y), HINGE), RNG.normal(size=N)
    one, other = Worst((mean,)).sums(s, 0.2), mean.sums(s, 0.2)
    assert one.value == other.value and one.conjugate == other.conjugate
    np.testing.assert_array_equal(one.c, other.c)


def test_what_makes_no_sense_is_refused() -> None:
    mean = Mean(AllPairs().on(Y), HINGE)
    for means, why in (
        ((), "needs means"),
        ((mean, 3), "needs means"),
        ((mean, Mean(AllPairs().on(Y[:-1]), HINGE)), "same rows"),
        ((mean, Mean(AllPairs().on(Y), SQUARED_HINGE)), "one loss"),
    ):
        with pytest.raises(InputError, match=why):
            Worst(means)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="give the scores"):
        Worst((mean,)).minorant(Alpha(np.ones(3)))
