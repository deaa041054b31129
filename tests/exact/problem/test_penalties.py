"""Penalties: their formulas, their refusals, and false ones of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from aucert.exact import AllPairs, Certificate, InputError, Minorant, Ridge, Rows
from aucert.exact.losses.registry import HINGE, SQUARE, SQUARED_HINGE
from aucert.exact.problem.minorant import Scores
from aucert.exact.problem.penalties import ElasticNet, GroupLasso, Sign
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.tools.rounding import Bound
from loops import each
from own_parts import Box, WeightedL1

RNG = np.random.default_rng(5)
X, Y = np.round(RNG.normal(size=(20, 4)), 1), np.arange(20) % 3 == 0
GROUPS = np.array([0, 0, 1, 1])
ALL: list[Any] = [
    Ridge(0.3),
    ElasticNet(0.3, 0.2),
    ElasticNet(0.0, 0.2),
    GroupLasso(0.3, 0.2, GROUPS),
    GroupLasso(0.0, 0.2, np.array(["b", "b", "a", "c"])),
    Sign(ElasticNet(0.3, 0.2), np.array([0, 3])),
    Sign(GroupLasso(0.3, 0.2, GROUPS)),
    Sign(Ridge(0.3)),
]


def problem(penalty: Any, loss: Any = SQUARED_HINGE) -> Problem:
    return Problem(Rows(X), Mean(AllPairs().on(Y), loss), penalty)


@each("penalty", ALL, ids=lambda p: type(p).__name__)
def test_the_residual_is_the_proximal_point_of_the_support_function(penalty: Any) -> None:
    """g - P_C(g) minimises |r - g|^2 / 2 + sigma_C(r); no point near it does better."""
    for _ in range(50):
        g = RNG.normal(size=4) * 10.0 ** RNG.uniform(-2, 1)
        left = penalty.residual(g)
        best = 0.5 * float((left - g) @ (left - g)) + penalty.support(left)
        assert np.isfinite(best)
        for size in (1e-4, 1e-2, 1.0):
            other = left + size * RNG.normal(size=4)
            assert 0.5 * float((other - g) @ (other - g)) + penalty.support(other) >= best - 1e-12
        inside = g - left
        assert penalty.support(left) == pytest.approx(float(inside @ left), abs=1e-12)


@each("penalty", ALL[1:], ids=lambda p: type(p).__name__)
def test_what_is_shrunk_is_inside_for_every_error(penalty: Any) -> None:
    for _ in range(200):
        g, error = RNG.normal(size=4), 10.0 ** RNG.uniform(-12, 0)
        s = getattr(penalty, "shrink", lambda *_: 0.0)(g, error)
        assert 0 <= s <= 1
        for _ in range(5):
            e = RNG.normal(size=4)
            moved = s * (g + error * e / np.linalg.norm(e))
            assert np.abs(penalty.residual(moved)).max() <= 4e-16


def test_the_shrunk_pull_of_the_lasso_is_inside_exactly() -> None:
    """Dividing by |g|_inf alone leaves s g outside for about half of all floats."""
    outside, plain = 0, 0
    for _ in range(500):
        g, l1 = RNG.normal(size=3), float(10.0 ** RNG.uniform(-3, -1))
        s = ElasticNet(0.0, l1).shrink(g, 0.0)
        outside += any(abs(Fraction(s) * Fraction(x)) > Fraction(l1) for x in g.tolist())
        naive = l1 / float(np.abs(g).max())
        plain += any(abs(Fraction(naive) * Fraction(x)) > Fraction(l1) for x in g.tolist())
    assert outside == 0 and plain > 100


def test_a_wrong_sign_costs_infinitely_much_and_is_refused() -> None:
    task = problem(Sign(Ridge(0.1), np.array([1])))
    w = np.array([-1.0, -1e-300, 1.0, 0.0])
    assert task.objective(w) == np.inf and np.isfinite(task.objective(np.abs(w)))
    witness = Minorant.from_scores(task, task.space.scores(np.abs(w)))
    with pytest.raises(InputError, match="break its constraint"):
        Certificate.of(task, w, witness)


@each("penalty", ALL, ids=lambda p: type(p).__name__)
@each("loss", [HINGE, SQUARED_HINGE, SQUARE], ids=lambda loss: loss.name)
def test_the_best_scale_is_no_worse_than_others(loss: Any, penalty: Any) -> None:
    if penalty.l2 == 0 and loss != HINGE:
        pytest.skip("the lasso takes the whole dual point, which any shrinking makes valid")
    task = problem(penalty, loss)
    chosen = Minorant.from_scores(task, np.zeros(20), 0.5).evidence
    assert isinstance(chosen, Scores) and 0 <= chosen.scale <= 1

    def bound(scale: float) -> float:
        given = Minorant.from_scores(task, np.zeros(20), 0.5, scale)
        return Certificate.of(task, np.zeros(4), given).dual

    assert all(bound(chosen.scale) >= bound(s) - 1e-9 for s in np.linspace(0, 1, 21))


FX, FY = np.round(np.random.default_rng(5).normal(size=(20, 4)), 1), np.arange(20) % 3 == 0


def stated(penalty: Any) -> Problem:
    return Problem(Rows(FX), Mean(AllPairs().on(FY), SQUARED_HINGE), penalty)


@dataclass(frozen=True)
class Faulty(Box):
    """A box with a fault planted."""

    fault: str = ""

    def residual(self, g: np.ndarray) -> np.ndarray:
        if self.fault == "half shrunk":  # g - residual(g) is outside C
            return 0.5 * super().residual(g)
        if self.fault == "too far":  # to a point of C that is not the nearest
            return g - 0.9 * np.clip(g, self.low, self.high)
        return super().residual(g)

    def value(self, space: Any, w: np.ndarray) -> Bound:
        own = super().value(space, w)
        left_out = Bound(self.l2 / 2 * float(w @ w), 0.0)
        faults = {"forgets": left_out, "credited value": Bound(own.value, -1e-15)}
        return faults.get(self.fault, own)

    def distance(self, space: Any, c: np.ndarray) -> Bound:
        own = super().distance(space, c)
        faults = {"too near": Bound(0.0, 0.0), "credited": Bound(own.value, -1e-15)}
        return faults.get(self.fault, own)

    def quick_distance(self, space: Any, c: np.ndarray) -> Bound:
        own = super().quick_distance(space, c)
        return Bound(own.value / 2, 0.0) if self.fault == "quickly too near" else own

    def zeros(self, g: np.ndarray, error: np.ndarray) -> np.ndarray | None:
        return np.abs(g) < self.high if self.fault == "zeroing" else super().zeros(g, error)


@each(
    ("penalty", "said"),
    [
        (Faulty(0.1, -0.1, 0.1, "quickly too near"), "quick_distance is not the norm"),
        (Faulty(0.1, -0.1, 0.1, "credited"), "error of its distance is -1e-15"),
        (Faulty(0.1, -0.1, 0.1, "credited value"), "error of its value is -1e-15"),
        (Faulty(0.1, -1.0, 1.0, "zeroing"), "proves zeros where"),
        (Faulty(0.1, -0.1, 0.1, "half shrunk"), "outside the set"),
        (Faulty(0.1, -0.1, 0.1, "too far"), "not the nearest point"),
        (Faulty(0.1, -0.1, 0.1, "forgets"), "outside the set"),
        (Faulty(0.1, -0.1, 0.1, "too near"), "distance is not the norm"),
        (Box(-0.1, -0.1, 0.1), "l2 = -0.1"),
        (Box(np.nan, -0.1, 0.1), "l2 = nan"),
        (Box(0.0, -0.1, 0.1), "shrink"),
        (object(), "it lacks l2"),
    ],
)
def test_a_false_penalty_is_caught(penalty: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        stated(penalty)
    for true in (Faulty(0.1, -0.1, 0.4), WeightedL1(0.1, np.arange(4.0))):
        stated(true)


@dataclass(frozen=True)
class Unshrunk(Box):
    """A box whose `shrink` forgets a part of what it must do."""

    factor: float = 1.0
    part: float = 0.0

    def shrink(self, g: np.ndarray, error: float) -> float:
        size = float(np.abs(g).max()) + self.part * error
        return min(self.factor, 0.999 * min(-self.low, self.high) / size)


@each(("factor", "part", "ok"), [(1, 1, True), (1, 0, False), (2, 1, False)])
@each("l2", [0.0, 0.1])
def test_a_false_shrink_is_caught(factor: float, part: float, ok: bool, l2: float) -> None:
    penalty = Unshrunk(l2, -0.2, 0.2, factor, part)
    if ok:
        stated(penalty)
        return
    with pytest.raises(InputError, match="shrink"):
        stated(penalty)
