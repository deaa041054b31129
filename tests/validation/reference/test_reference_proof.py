"""The bounds in exact arithmetic, against pairs written out and against linear programming."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from aucert.exact.losses.registry import LOSSES
from loops import each, seeds
from rational_bounds import (
    ExactProblem,
    fractions,
    largest_flow,
)


def random_problem(seed: int, loss: str, whole: bool) -> tuple:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(11, 2))
    X = np.rint(2 * X) if whole else X
    y = (np.arange(11) % 3 == 0).astype(int)
    weight = rng.integers(0, 4, 11).astype(float)
    weight[:2] = 1.0  # both classes count
    return X, y, weight, ExactProblem.of(X, y, weight, 0.25, loss)


def pairs_of(X, y, weight):
    """Fractions c_ij and the differences x_i - x_j of all pairs that weigh something."""
    total = Fraction(float(weight[y == 1].sum() * weight[y == 0].sum()))
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            difference = [a - b for a, b in zip(fractions(X[i]), fractions(X[j]), strict=True)]
            yield Fraction(float(weight[i] * weight[j])) / total, difference


def value(loss: str, t: Fraction) -> Fraction:
    z = 1 - t if loss == "square" else max(1 - t, Fraction(0))
    return z if loss == "hinge" else z**2


@each("whole", [True, False], ids=["ties", "no ties"])
@each("loss", LOSSES)
def test_f_is_the_sum_over_pairs_exactly(loss: str, whole: bool) -> None:
    X, y, weight, problem = random_problem(0, loss, whole)
    w = np.array([0.5, -0.25])
    expected = Fraction(1, 8) * (Fraction(1, 4) + Fraction(1, 16))
    for c, difference in pairs_of(X, y, weight):
        expected += c * value(loss, difference[0] / 2 - difference[1] / 4)
    assert problem.primal(w) == expected


@each("loss", ["squared_hinge", "square"])
def test_the_dual_of_scores_is_the_dual_sum_over_pairs_exactly(loss: str) -> None:
    X, y, weight, problem = random_problem(1, loss, True)
    total, pull = Fraction(0), [Fraction(0), Fraction(0)]
    for c, difference in pairs_of(X, y, weight):
        z = 1 - (difference[0] / 2 - difference[1] / 4)
        alpha = 2 * (z if loss == "square" else max(z, Fraction(0)))
        total += c * (alpha - alpha**2 / 4)
        pull = [g + c * alpha * x for g, x in zip(pull, difference, strict=True)]
    expected = total - sum(g**2 for g in pull) * 2  # 1 / (2 lam) is 2
    assert problem.dual_of_scores(np.array([0.5, -0.25])) == expected


@each("seed", seeds(8))
def test_the_largest_flow_is_that_of_a_linear_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4))
    u, v = a * rng.uniform(0, 1.2, 3), b * rng.uniform(0, 1.2, 4)
    rows, columns = np.kron(np.eye(3), np.ones(4)), np.kron(np.ones(3), np.eye(4))
    answer = linprog(
        -np.ones(12),
        np.vstack([rows, columns]),
        np.concatenate([u, v]),
        bounds=[(0.0, cap) for cap in np.outer(a, b).ravel()],
    )
    found = largest_flow(*map(fractions, (u, v, a, b)))
    assert float(found) == pytest.approx(-answer.fun, abs=1e-12)
