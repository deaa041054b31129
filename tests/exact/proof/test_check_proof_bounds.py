"""The checker's bounds hold the exact objective and the optimum, for any dual point."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from aucert.exact.api.solve import solve
from aucert.exact.proof import check_proof
from aucert.exact.proof.write import integer_marginals
from loops import each, seeds
from proofs import NAMES, awkward, by_marginals, by_weights
from rational import exact_dual, exact_objective, exact_scores
from reference import reference_optimum

FORMATS = [np.float64, np.longdouble]


@each("real", FORMATS)
@each("name", NAMES)
@pytest.mark.long_digits
def test_the_bounds_hold_the_exact_objective_and_the_optimum_between_them(
    name: str, real: type
) -> None:
    X, positive, r, lam = awkward(name)
    solution = solve(X, positive, lam, sample_weight=r, tol=1e-9)
    best = exact_objective(X, positive, solution.w, lam, r)
    gap = Fraction(solution.certificate.gap)
    u, v, cap = integer_marginals(solution.witness.c, positive, r)
    for proof in (
        by_marginals(X, solution.w, lam, u, v, cap),
        by_weights(X, solution.w, lam, 1024, 0),
        by_weights(X, solution.w, lam, 64, 9, 0.7),
        by_weights(X, 0.9 * solution.w + 0.01, lam),
    ):
        exact = exact_objective(X, positive, proof["w"], lam, r)
        upper, lower, _ = check_proof.bounds(proof, X, positive, r, real)
        assert lower <= best  # and the optimum is not below best - gap:
        assert upper >= exact >= best - gap
        assert upper - exact <= 1e-12 * (1 + exact)
    first = by_marginals(X, solution.w, lam, u, v, cap)
    upper, lower, _ = check_proof.bounds(first, X, positive, r)
    assert upper - lower <= gap + Fraction(1e-13) * best


@pytest.mark.long_digits
def test_pairs_exactly_at_the_margin_are_told_apart_alike_on_both_sides() -> None:
    X = np.array([[0.0], [1.0], [2.0], [2.0], [3.0], [1.0], [-1.0], [4.0]])
    positive, r = np.array([0, 1, 0, 1, 1, 0, 0, 1]) == 1, np.arange(1, 9)
    for size in (1.0, -1.0, 0.5, 3.0):
        w = np.array([size])
        for offset in (0.0, 0.3):
            proof = by_weights(X, w, 0.1) | {"offset": np.array([offset])}
            upper, _, _ = check_proof.bounds(proof, X, positive, r)
            exact = exact_objective(X, positive, w, 0.1, r)
            assert exact <= upper <= exact + Fraction(1e-15)


@each("half", [0, 1, 7, 500])
@each("name", ["plain", "ties", "repetitions", "offset"])
@pytest.mark.long_digits
def test_the_lower_bound_is_the_exact_dual_value_of_the_binned_alpha(name: str, half: int) -> None:
    X, positive, r, lam = awkward(name)
    w, bins, scale = np.array([0.375, -1.25]), 16, 0.75
    proof = by_weights(X, w, lam, bins, half, scale)
    scores = exact_scores(X - proof["offset"], w)
    a = [scores[i] * bins // 1 for i in np.flatnonzero(positive)]
    b = [scores[j] * bins // 1 for j in np.flatnonzero(~positive)]

    def share(m: Fraction | int) -> Fraction:
        if half == 0:
            return Fraction(int(m >= 1))
        return min(max(Fraction(m) / (2 * half) + Fraction(1, 2), Fraction(0)), Fraction(1))

    alpha = [[Fraction(scale) * share(y - x + bins) for y in b] for x in a]
    exact = max(exact_dual(X, positive, alpha, lam, r), Fraction(0))
    _, lower, _ = check_proof.bounds(proof, X, positive, r)
    assert lower <= exact <= lower + Fraction(1e-14)


@each("seed", seeds(60))
def test_no_dual_point_whatsoever_beats_the_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, positive, r, lam = awkward(NAMES[seed % len(NAMES)])
    solution = solve(X, positive, lam, sample_weight=r, tol=1e-9)
    best = exact_objective(X, positive, solution.w, lam, r)
    u, v, cap = integer_marginals(solution.witness.c, positive, r)
    for _ in range(4):
        left = (u * rng.choice([0.0, 0.5, 1.0, 1.0, 1.5], u.size)).astype(np.int64)
        right = (v * rng.choice([0.0, 0.5, 1.0, 1.0, 1.5], v.size)).astype(np.int64)
        for pair in ((left, right), (u, right), (rng.permutation(u), v), (left[::-1], v)):
            proof = by_marginals(X, solution.w, lam, *pair, max(cap // int(rng.integers(1, 4)), 1))
            assert check_proof.bounds(proof, X, positive, r)[1] <= best
        other = rng.normal(size=2) * 10.0 ** rng.integers(-3, 4)
        proof = by_weights(
            X, solution.w, lam, 2 ** int(rng.integers(0, 12)), int(rng.integers(0, 99))
        )
        proof["w_dual"], proof["offset"] = other, rng.normal(size=2)
        assert check_proof.bounds(proof, X, positive, r)[1] <= best


@each("name", ["plain", "ties", "one positive", "separable", "repetitions"])
def test_a_solver_of_explicit_pairs_agrees(name: str) -> None:
    X, positive, r, lam = awkward(name)
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    mass = float(r[plus].sum() * r[minus].sum())
    pairs = [(int(i), int(j), r[i] * r[j] / mass) for i in plus for j in minus if r[i] * r[j]]
    _, w = reference_optimum(X, pairs, lam, "hinge")
    theirs = exact_objective(X, positive, w, lam, r)
    solution = solve(X, positive, lam, sample_weight=r, tol=1e-11)
    u, v, cap = integer_marginals(solution.witness.c, positive, r)
    proof = by_marginals(X, solution.w, lam, u, v, cap)
    upper, lower, _ = check_proof.bounds(proof, X, positive, r)
    assert lower <= theirs <= upper + Fraction(1e-9) * upper
