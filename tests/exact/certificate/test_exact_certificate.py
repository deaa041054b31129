"""The exact mode against double loops in fractions."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import naive
from aucert.exact import (
    AllPairs,
    PairList,
    TooLargeError,
    exact_certificate,
    linear_problem,
    solve,
)
from aucert.exact.certificate.exact_certificate import ExactCertificate
from aucert.exact.losses.registry import LOSSES
from aucert.exact.problem.minorant import Alpha, Evidence, Marginals, Scores, Weights
from aucert.exact.problem.problem import Problem
from loops import each, seeds
from naive import exact


def drawn(seed: int, listed: bool = False) -> tuple[np.ndarray, np.ndarray, float, Any]:
    """Rows with ties, an offset or of far scales, and pairs of every kind."""
    rng = np.random.default_rng([77, seed])
    n, d, kind = int(rng.integers(2, 12)), int(rng.integers(1, 4)), seed % 4
    positive = np.arange(n) < rng.integers(1, n)
    X = rng.normal(size=(n, d)) + 0.7 * positive[:, None]
    X = np.round(X) if kind == 1 else X
    X = X + 1e6 * (kind == 2)
    X = X * 10.0 ** rng.integers(-30, 30, size=d) if kind == 3 else X
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    lists = [None, rng.integers(0, 4, n).astype(float), 10.0 ** rng.uniform(-9, 9, n)]
    choice, lam = int(rng.integers(4)), float(10.0 ** rng.uniform(-4, 2))
    if listed or choice == 3:
        m = int(rng.integers(1, 9))
        weight = None if rng.integers(2) else rng.uniform(0.1, 3, m)
        return X, positive, lam, PairList(rng.choice(plus, m), rng.choice(minus, m), weight)
    weight = lists[choice]
    if weight is not None:
        weight[[plus[0], minus[0]]] = 1.5
    return X, positive, lam, AllPairs(weight)


def exact_weights(pairs: AllPairs | PairList, positive: np.ndarray) -> list[naive.Pair]:
    """The pairs, their weights adding up to one exactly."""
    listed = naive.weighted_pairs(positive.tolist(), pairs)
    mass = sum(c for _, _, c in listed)
    return [(i, j, c / mass) for i, j, c in listed]


def best_scaled(X: Any, pairs: list[naive.Pair], loss: str, lam: float, alpha: Any) -> Fraction:
    """The dual value of the best multiple s alpha, s in [0, 1], or zero."""
    total = sum(c * a for (_, _, c), a in zip(pairs, alpha, strict=True))
    curvature = total - naive.dual_value(exact(X), pairs, loss, Fraction(lam), alpha)
    if total <= 0:  # the value of s alpha is s total - s^2 curvature
        return Fraction(0)
    s = Fraction(1) if curvature <= 0 else min(Fraction(1), total / (2 * curvature))
    return max(s * total - s**2 * curvature, Fraction(0))


def proved(problem: Problem, w: np.ndarray, evidence: Evidence) -> ExactCertificate:
    return ExactCertificate.of(problem, w, problem.risk.minorant(evidence))


@each("kind", ["scores", "alpha", "weights"])
@each("loss", LOSSES)
@each("seed", seeds(24))
def test_both_bounds_are_those_of_the_definitions(seed: int, loss: str, kind: str) -> None:
    if kind == "weights" and loss != "hinge":
        pytest.skip("bins are for the hinge")
    X, positive, lam, pairs = drawn(seed, listed=kind == "alpha")
    pairs = AllPairs() if kind == "weights" else pairs
    rng, (n, d) = np.random.default_rng(seed), X.shape
    w = rng.normal(size=d) * 10.0 ** rng.integers(-3, 3)
    problem, listed = linear_problem(X, positive, lam, loss, pairs), exact_weights(pairs, positive)
    if kind == "alpha":
        given = rng.uniform(0, 1, len(listed))
        found, alpha = proved(problem, w, Alpha(given)), exact(given)
    else:
        half, at = 3 * (seed % 2), np.full(d, 0.3)
        scores, width = rng.normal(size=n), float(rng.choice([0.0, 0.3, 2.0**-40]))
        evidence: Evidence = Scores(scores, width, 0.5)
        true = exact(scores)
        if kind == "weights":
            evidence, width = Weights(at, 64, half), 2 * half / 64
            true = naive.products(exact(X), exact(at))
        found = proved(problem, w, evidence)
        alpha = naive.alphas(true, listed, loss, Fraction(width))
    assert found.primal == naive.primal_value(exact(X), listed, loss, Fraction(lam), exact(w))
    assert found.dual == best_scaled(X, listed, loss, lam, alpha)


@each("seed", seeds(12))
def test_feasible_marginals_prove_what_their_alpha_proves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, positive = rng.normal(size=(6, 2)), np.arange(6) < 2
    # Each class weighs a power of two, so that the marginals are floats.
    weight = np.concatenate([rng.permutation([1.0, 3.0]), rng.permutation([2.0, 1.0, 0.0, 5.0])])
    problem = linear_problem(X, positive, 0.5, pairs=AllPairs(weight))
    listed = exact_weights(problem.pairs, positive)
    alpha = (rng.integers(0, 17, len(listed)) / 16).tolist()
    c = np.array(naive.marginals(exact(alpha), listed, 6), dtype=float)
    found = proved(problem, np.zeros(2), Marginals(c[:2], -c[2:]))
    assert found.dual == best_scaled(X, listed, "hinge", 0.5, exact(alpha))


def test_floats_are_rounded_outward() -> None:
    third, tiny, none = Fraction(1, 3), Fraction(1, 10**400), Fraction(0)
    found = ExactCertificate(2 * third, third, Fraction(3))
    assert Fraction(found.primal_float) > 2 * third and Fraction(found.gap_float) > third
    assert math.nextafter(found.primal_float, 0) < 2 * third
    assert Fraction(found.dual_float) < third < Fraction(math.nextafter(found.dual_float, 1))
    assert found.relative_gap == 0.5
    assert 0 <= Fraction(found.radius) ** 2 - Fraction(2, 9) < Fraction(1, 2**52)
    digits = found.in_digits()
    assert Fraction(digits["primal"]) > 2 * third and Fraction(digits["dual"]) < third
    assert ExactCertificate(tiny, none, third).primal_float == 5e-324
    assert ExactCertificate(1 / tiny, tiny, third).primal_float == math.inf
    assert ExactCertificate(1 / tiny, 1 / tiny, third).dual_float == sys.float_info.max
    assert ExactCertificate(none, none, third).relative_gap is None


def test_too_many_numbers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.eye(4), np.array([1, 0, 1, 0])
    monkeypatch.setattr(sys.modules[ExactCertificate.__module__], "MOST_NUMBERS", 15)
    with pytest.raises(TooLargeError, match="16 numbers are too many"):
        exact_certificate(linear_problem(X, y, 1.0), solve(X, y, 1.0))
