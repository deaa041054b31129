"""The steps of the printed proof of Theorem 4: by hand, where they hold, and where they fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.approx.drawn_pairs import draw_pairs
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, Ridge, pair_problem
from aucert.exact.spaces.kernels import Gaussian, Laplacian
from aucert.exact.spaces.rows import Rows
from aucert.validation.bounds.experiment import certified, prepare
from aucert.validation.bounds.kernel import Approximation
from aucert.validation.bounds.steps import (
    DrawnPair,
    eq_17,
    eq_17_objectives,
    eq_18,
    eq_19,
    eq_20,
    eq_21,
    hoeffding,
    least_norm,
)
from aucert.validation.data import datasets
from loops import each, seeds

TOL = 1e-9


def linear(lam: float, seed: int) -> tuple[Problem, Problem, np.ndarray, np.ndarray]:
    """A linear problem over all and over B = n drawn pairs, with both optima."""
    data = datasets.load("linear:60", seed)
    space, positive = Rows(data.X), data.is_positive
    full = pair_problem(space, positive, AllPairs(), HINGE, Ridge(lam))
    pairs = draw_pairs(positive, 60, seed)
    drawn = pair_problem(space, positive, pairs, HINGE, Ridge(lam))
    return full, drawn, certified(full, TOL).w, certified(drawn, TOL).w


def pair_of(lam: float, seed: int, dual: bool = False) -> DrawnPair:
    """f^_B and f~_B of a kernel problem; theta~ of least norm, or that of the dual point."""
    data = datasets.load("linear:40", seed)
    kernel = (Gaussian(5.0), Laplacian(1.0))[seed % 2]
    case = prepare(data.X, data.y, kernel, lam, 8, seed)
    pairs = draw_pairs(data.is_positive, 80, seed)
    exact = certified(pair_problem(case.factor, data.is_positive, pairs, HINGE, Ridge(lam)), TOL)
    near = certified(
        pair_problem(case.projected.space, data.is_positive, pairs, HINGE, Ridge(lam)), TOL
    )
    truth: Any = case.approximation.truth
    hat = np.linalg.solve(truth.K, case.factor.raw @ exact.w)
    tilde = near.witness.c / lam if dual else least_norm(case.approximation.features, near.w)
    drawn = pair_problem(case.full.space, data.is_positive, pairs, HINGE, Ridge(lam))
    return DrawnPair(case.approximation, drawn, 80, hat, tilde)


def hinge(problem: Problem, scores: np.ndarray) -> float:
    """The mean hinge over the listed or over all pairs, by a loop."""
    if isinstance(problem.pairs, PairList):
        pairs = list(zip(problem.pairs.i, problem.pairs.j, strict=True))
    else:
        plus, minus = (
            np.flatnonzero(problem.pairs.positive),
            np.flatnonzero(~problem.pairs.positive),
        )
        pairs = [(i, j) for i in plus for j in minus]
    return sum(max(0.0, 1 - scores[i] + scores[j]) for i, j in pairs) / len(pairs)


@each("seed", seeds(4))
def test_eq_17_by_hand(seed: int) -> None:
    full, drawn, w, w_B = linear(1.0, seed)
    raw: Any = full.space
    f, f_B = raw.raw @ w, raw.raw @ w_B
    U, U_B = [[hinge(p, s) for s in (f, f_B)] for p in (full, drawn)]
    step = eq_17(full, drawn, w, w_B)
    assert step.left == pytest.approx(abs(U[0] - U_B[1]))
    largest = max(abs(U[0] - U_B[0]), abs(U[1] - U_B[1]))
    assert step.right == pytest.approx(largest)
    penalties = abs(w_B @ w_B - w @ w) / 2
    assert step.corrected == pytest.approx(largest + penalties)
    objectives = eq_17_objectives(full, drawn, w, w_B)
    assert objectives.left == pytest.approx(abs(U[0] + w @ w / 2 - U_B[1] - w_B @ w_B / 2))
    assert objectives.right == step.right


def test_hoeffding_by_hand() -> None:
    full, drawn, w, w_B = linear(0.1, 0)
    step = hoeffding(full, drawn, w, w_B, 60, 3.0, 10.0, 0.1)
    assert step.left == pytest.approx(eq_17(full, drawn, w, w_B).right)
    assert step.right == pytest.approx((1 + 6 * 10**0.5) * (np.log(40) / 120) ** 0.5)
    assert step.holds and step.corrected is None


def test_eqs_18_20_21_by_hand() -> None:
    lam, pair = 0.05, pair_of(0.05, 3)
    a = pair.approximation
    truth: Any = a.truth
    K, near = truth.K, a.features @ a.features.T
    hat, tilde, n, B = pair.theta_hat, pair.theta_tilde, 40, 80
    pairs: Any = pair.drawn.pairs
    N = np.bincount(np.concatenate([pairs.i, pairs.j])).max()
    E2 = np.linalg.norm(K - near, 2)
    change = np.sqrt((hat - tilde) @ K @ (hat - tilde))
    lengths = np.linalg.norm(hat) + np.linalg.norm(tilde)

    step = eq_18(pair)
    at_hat, at_tilde = hinge(pair.drawn, K @ hat), hinge(pair.drawn, near @ tilde)
    assert step.left == pytest.approx(abs(at_hat - at_tilde))
    size = n * change + np.sqrt(n) * E2 * np.linalg.norm(tilde)
    assert step.right == pytest.approx(N / B * size)
    assert eq_18(pair, U_full=0.9).left == pytest.approx(abs(0.9 - at_tilde))

    def objective(G: np.ndarray, theta: np.ndarray) -> float:
        return hinge(pair.drawn, G @ theta) + lam / 2 * float(theta @ G @ theta)

    first, last = eq_20(pair), eq_20(pair, "last")
    assert first.left == last.left == pytest.approx(objective(K, tilde) - objective(K, hat))
    sums = hinge(pair.drawn, K @ tilde) - at_tilde + hinge(pair.drawn, near @ hat) - at_hat
    assert first.right == pytest.approx(sums)
    penalty = lam / 2 * (tilde @ (K - near) @ tilde - hat @ (K - near) @ hat)
    assert first.corrected == pytest.approx(sums + penalty)
    assert last.right == pytest.approx(N * E2 * np.sqrt(n) / B * lengths)

    assert eq_19(pair).left == pytest.approx(lam / 2 * change**2)
    assert eq_19(pair).right == first.left and eq_19(pair).holds

    root = np.sqrt(2 * N * E2 * np.sqrt(n) / (B * lam))
    assert eq_21(pair).left == pytest.approx(change)
    assert eq_21(pair).right == pytest.approx(root * np.sqrt(lengths))
    assert eq_21(pair).corrected == pytest.approx(root * np.sqrt(lengths))
    assert eq_21(pair, p=1.0).right == pytest.approx(root * lengths)


def test_the_least_norm_coefficients_give_the_same_function_and_are_shortest() -> None:
    rng = np.random.default_rng(0)
    V, w = rng.normal(size=(12, 3)), rng.normal(size=3)
    theta = least_norm(V, w)
    assert V.T @ theta == pytest.approx(w)
    null = rng.normal(size=12)
    null -= V @ np.linalg.lstsq(V, null, rcond=None)[0]
    assert theta @ null == pytest.approx(0.0, abs=1e-12)


def test_problems_that_do_not_belong_together_are_refused() -> None:
    full, drawn, w, w_B = linear(1.0, 0)
    assert isinstance(full.space, Rows)
    other = pair_problem(
        Rows(full.space.dense()), full.pairs.positive, drawn.pairs, HINGE, Ridge(1)
    )
    with pytest.raises(InputError, match="share their space and lam"):
        eq_17(full, other, w, w_B)
    with pytest.raises(InputError, match="weights shape"):
        eq_17(full, drawn, w[:1], w_B)
    with pytest.raises(InputError, match="delta must be"):
        hoeffding(full, drawn, w, w_B, 60, 1.0, 1.0, delta=2.0)


def test_coefficients_of_other_rows_are_refused() -> None:
    full, drawn, _, _ = linear(1.0, 0)
    X: Any = full.space
    a = Approximation.of_landmarks(Gaussian(1.0), X.raw, X.raw[:4], full.pairs.positive)
    with pytest.raises(InputError, match="theta_tilde must have one number a row: 60"):
        DrawnPair(a, drawn, 60, np.zeros(60), np.zeros(4))
