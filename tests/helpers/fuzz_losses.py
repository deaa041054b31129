"""Kinds of the fuzzer: losses of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from aucert.exact import AllPairs, Certificate, Minorant, PairList, Ridge, Rows, pair_problem, solve
from fuzz_rows import hard_rows
from fuzz_truth import TIGHT, LinearTruth
from fuzzing import Found


@dataclass(frozen=True)
class ShiftedHinge:
    """max(0, level - t): a convex loss of somebody's own, dual part level alpha."""

    level: float
    name: str = "of one's own"
    lipschitz: float = 1.0
    smoothness: float = np.inf
    nonincreasing: bool = True

    def value(self, t: np.ndarray) -> np.ndarray:
        """Return max(0, level - t)."""
        return np.maximum(0.0, self.level - t)

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        """Return 1[t < level]."""
        return (t < self.level).astype(float)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        """Return level alpha."""
        return self.level * alpha

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha clipped to [0, 1]."""
        return np.clip(alpha, 0.0, 1.0)


def own_loss(rng: np.random.Generator, found: Found) -> None:
    """A loss of one's own over a list of pairs, or all: certified truly.

    max(0, q - t) at w is q times the hinge at w / q, and |w|^2 is q^2 |w / q|^2: so its optimum is
    q times that of the hinge with q lam.
    """
    hard = hard_rows(rng, 30, "gaussian", "plain")
    plus, minus = np.flatnonzero(hard.positive), np.flatnonzero(~hard.positive)
    listed = PairList(rng.choice(plus, 40), rng.choice(minus, 40))
    pairs = listed if rng.random() < 0.5 else AllPairs()
    level, lam = float(rng.choice([0.25, 0.5, 2.0, 4.0])), float(10.0 ** rng.uniform(-2, 2))
    found.name = f"a loss of one's own, {hard.name}, level {level}, lam {lam:.2g}"
    best = solve(hard.true, hard.y, level * lam, pairs=pairs, **TIGHT)
    loss: Any = ShiftedHinge(level)
    problem = pair_problem(Rows(hard.true), hard.positive, pairs, loss, Ridge(lam))
    witness = Minorant.from_scores(problem, problem.space.scores(level * best.w))
    certificate = Certificate.of(problem, level * best.w, witness)
    truth = LinearTruth(hard.true, hard.positive, level * lam, "hinge", pairs)
    least = Fraction(level) * truth.objective(best.w)
    wrong = []
    if Fraction(certificate.dual) > least:
        wrong.append(f"the dual {certificate.dual:.6g} exceeds F(best) = {float(least):.6g}")
    found.judged(wrong)
