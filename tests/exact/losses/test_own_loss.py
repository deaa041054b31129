"""A loss written here, in one class, is summed, certified and checked like ours."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.optimize import minimize

from aucert.exact import (
    AllPairs,
    Certificate,
    InputError,
    Minorant,
    PairList,
    TooLargeError,
    linear_problem,
)
from aucert.exact.losses.registry import HINGE, SQUARED_HINGE, Hinge, get_loss
from aucert.exact.pairs import all_pairs as module
from loops import each, first_fast


@dataclass(frozen=True)
class SmoothHinge:
    """0 above 1, quadratic between 1 - r and 1, linear below; dual part alpha - r alpha^2 / 2."""

    r: float = 0.5
    name: str = field(default="smooth_hinge", init=False)
    lipschitz: float = field(default=1.0, init=False)
    nonincreasing: bool = field(default=True, init=False)

    @property
    def smoothness(self) -> float:
        return 1 / self.r

    def value(self, t: np.ndarray) -> np.ndarray:
        z = np.maximum(1 - t, 0.0)
        return np.where(z < self.r, z**2 / (2 * self.r), z - self.r / 2)

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        return np.clip((1 - t) / self.r, 0.0, 1.0)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        return alpha - self.r * alpha**2 / 2

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        return np.clip(alpha, 0.0, 1.0)


@dataclass(frozen=True)
class LateHinge(SmoothHinge):
    """max(0, 1/2 - t) / 1: the best scale of a dual point is not that of the hinge."""

    name: str = field(default="late_hinge", init=False)

    @property
    def smoothness(self) -> float:
        return np.inf

    def value(self, t: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 0.5 - t)

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        return (t < 0.5).astype(float)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        return alpha / 2


def rows(seed: int, n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 3 == 0).astype(int)
    return np.round(rng.normal(size=(n, 3)) + 0.4 * y[:, None], 1), y


def pair_sets(y: np.ndarray) -> list[AllPairs | PairList]:
    rng = np.random.default_rng(1)
    plus, minus = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    listed = PairList(rng.choice(plus, 60), rng.choice(minus, 60), rng.uniform(0.5, 2, 60))
    return [AllPairs(), AllPairs(rng.integers(0, 4, y.size) + 0.0), listed]


@each("which", range(3))
@each("lam", first_fast([10.0, 0.01, 1.0]))
@each("loss", [SmoothHinge(), SmoothHinge(0.05), LateHinge()])
def test_its_certificate_holds_the_optimum(loss, lam: float, which: int) -> None:
    X, y = rows(which)
    problem = linear_problem(X, y, lam, loss, pair_sets(y)[which])

    def objective(w: np.ndarray) -> float:
        return problem.objective(w)

    best = min(
        (minimize(objective, np.full(3, start), method="Powell", tol=1e-12) for start in (0.0, 1)),
        key=lambda found: found.fun,
    )
    witness = Minorant.from_scores(problem, problem.space.scores(best.x))
    found = Certificate.of(problem, best.x, witness)
    assert found.dual <= best.fun <= found.primal
    if np.isfinite(loss.smoothness):
        assert found.gap <= 1e-5 * found.primal


def test_the_reproduction_that_was_false_holds() -> None:
    X, y = rows(5)
    plus, minus = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    pairs = PairList(np.repeat(plus, minus.size), np.tile(minus, plus.size))
    problem = linear_problem(X, y, 10.0, LateHinge(), pairs)
    start = Minorant.from_scores(problem, np.zeros(40))
    found = Certificate.of(problem, problem.space.pull(start.c) / 10, start)
    best = min(
        problem.objective(problem.space.pull(s * start.c) / 10) for s in np.linspace(0, 1, 200)
    )
    assert found.dual <= best


@each("ours", [HINGE, SQUARED_HINGE])
@each("weighted", [False, True])
def test_pair_by_pair_it_sums_to_what_our_forms_say(ours, weighted: bool) -> None:
    _, y = rows(0)
    scores = np.random.default_rng(3).normal(size=40).round(1)
    weight = np.random.default_rng(4).integers(0, 4, 40) + 0.0 if weighted else None
    pairs = AllPairs(weight).on(y == 1)
    quick, plain = pairs.sums(scores, ours), module.enumerated(pairs, scores, ours, 0.0)
    assert plain.value == pytest.approx(quick.value, rel=1e-12)
    assert plain.conjugate == pytest.approx(quick.conjugate, rel=1e-12)
    assert plain.total == pytest.approx(quick.total, rel=1e-12)
    assert plain.c == pytest.approx(quick.c, abs=1e-14)


def test_more_pairs_than_can_be_gone_through_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 100)
    X, y = rows(0)
    problem = linear_problem(X, y, 1.0, SmoothHinge())
    with pytest.raises(TooLargeError, match="all_pairs"):
        problem.sums(np.zeros(40))


@dataclass(frozen=True)
class WrongDual(SmoothHinge):
    def dual(self, alpha: np.ndarray) -> np.ndarray:
        return alpha - self.r * alpha**2 / 4


@dataclass(frozen=True)
class BelowZero(SmoothHinge):
    def value(self, t: np.ndarray) -> np.ndarray:
        return super().value(t) - 0.1


@dataclass(frozen=True)
class Rising(SmoothHinge):
    def value(self, t: np.ndarray) -> np.ndarray:
        return t**2

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        return -2 * t

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        return -(alpha**2) / 4

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        return alpha


@dataclass(frozen=True)
class WrongSums(SmoothHinge):
    def all_pairs(self, pairs, scores, width):
        return HINGE.all_pairs(pairs, scores, width)


class Child(Hinge):
    """Inherits the hinge's sums."""


@each(
    ("loss", "words"),
    [
        (WrongDual(), "breaks loss"),
        (BelowZero(), "value >= 0"),
        (Rising(), "not nonincreasing"),
        (Child(), "child of one of ours"),
        (object(), "it lacks name"),
        ("logistics", "loss must be"),
    ],
)
def test_a_loss_that_breaks_the_contract_is_refused(loss, words: str) -> None:
    with pytest.raises(InputError, match=words):
        get_loss(loss)


def test_sums_of_its_own_are_held_to_those_pair_by_pair() -> None:
    X, y = rows(0)
    with pytest.raises(InputError, match="is not its sum over the pairs"):
        linear_problem(X, y, 1.0, WrongSums())
