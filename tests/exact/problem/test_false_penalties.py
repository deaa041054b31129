"""Penalties of one's own that break their contract are caught, and true ones are taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from aucert.exact import AllPairs, InputError, Rows
from aucert.exact.losses.registry import SQUARED_HINGE
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.tools.rounding import Bound
from loops import each
from own_parts import Box, WeightedL1

X, Y = np.round(np.random.default_rng(5).normal(size=(20, 4)), 1), np.arange(20) % 3 == 0


def problem(penalty: Any) -> Problem:
    return Problem(Rows(X), Mean(AllPairs().on(Y), SQUARED_HINGE), penalty)


@dataclass(frozen=True)
class HalfShrunk(Box):
    """Takes off half of what it should: g - residual(g) is outside C."""

    def residual(self, g: np.ndarray) -> np.ndarray:
        return 0.5 * super().residual(g)


@dataclass(frozen=True)
class TooFar(Box):
    """Takes g to a point of C that is not the nearest."""

    def residual(self, g: np.ndarray) -> np.ndarray:
        return g - 0.9 * np.clip(g, self.low, self.high)


@dataclass(frozen=True)
class Forgets(Box):
    """Its value leaves the support out, which would make every lower bound too large."""

    def value(self, space: Any, w: np.ndarray) -> Bound:
        return Bound(self.l2 / 2 * float(w @ w), 0.0)


@dataclass(frozen=True)
class TooNear(Box):
    """Its distance is not that of its residual."""

    def distance(self, space: Any, c: np.ndarray) -> Bound:
        return Bound(0.0, 0.0)


@dataclass(frozen=True)
class QuicklyTooNear(Box):
    """Its quick distance is half of its residual's."""

    def quick_distance(self, space: Any, c: np.ndarray) -> Bound:
        return Bound(super().quick_distance(space, c).value / 2, 0.0)


@dataclass(frozen=True)
class Credited(Box):
    """Its error is below zero, so that other rounding would not be paid."""

    def distance(self, space: Any, c: np.ndarray) -> Bound:
        return Bound(super().distance(space, c).value, -1e-15)


@dataclass(frozen=True)
class CreditedValue(Box):
    """The error of its value is below zero."""

    def value(self, space: Any, w: np.ndarray) -> Bound:
        return Bound(super().value(space, w).value, -1e-15)


@dataclass(frozen=True)
class Zeroing(Box):
    """It says that a weight is zero where the pull is in the box, for any error."""

    def zeros(self, g: np.ndarray, error: np.ndarray) -> np.ndarray:
        return np.abs(g) < self.high


@each(
    ("penalty", "said"),
    [
        (QuicklyTooNear(0.1, -0.1, 0.1), "quick_distance is not the norm"),
        (Credited(0.1, -0.1, 0.1), "error of its distance is -1e-15"),
        (CreditedValue(0.1, -0.1, 0.1), "error of its value is -1e-15"),
        (Zeroing(0.1, -1.0, 1.0), "proves zeros where"),
        (HalfShrunk(0.1, -0.1, 0.1), "outside the set"),
        (TooFar(0.1, -0.1, 0.1), "not the nearest point"),
        (Forgets(0.1, -0.1, 0.1), "outside the set"),
        (TooNear(0.1, -0.1, 0.1), "distance is not the norm"),
        (Box(-0.1, -0.1, 0.1), "l2 = -0.1"),
        (Box(np.nan, -0.1, 0.1), "l2 = nan"),
        (Box(0.0, -0.1, 0.1), "shrink"),
        (object(), "it lacks l2"),
    ],
)
def test_a_false_penalty_is_caught(penalty: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        problem(penalty)


def test_true_penalties_of_ones_own_are_taken() -> None:
    for penalty in (Box(0.1, -0.1, 0.4), WeightedL1(0.1, np.arange(4.0))):
        assert isinstance(problem(penalty).penalty, type(penalty))


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
        problem(penalty)
        return
    with pytest.raises(InputError, match="shrink"):
        problem(penalty)
