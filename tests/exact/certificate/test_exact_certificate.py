"""The exact mode against double loops in fractions, and the float certificate against both."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from aucert.exact import (
    AllPairs,
    Gram,
    InputError,
    Minorant,
    PairList,
    Ridge,
    StreamedRows,
    TooLargeError,
    exact_certificate,
    linear_problem,
    pair_problem,
    solve,
)
from aucert.exact.certificate.exact_certificate import ExactCertificate
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.losses.registry import HINGE, LOSSES
from loops import each, first_fast, seeds


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, float, AllPairs | PairList]:
    """Rows with ties, an offset or of far scales, and pairs of every kind."""
    rng = np.random.default_rng([77, seed])
    n, d = int(rng.integers(2, 12)), int(rng.integers(1, 4))
    positive = np.arange(n) < rng.integers(1, n)
    X = rng.normal(size=(n, d)) + 0.7 * positive[:, None]
    kind = seed % 4
    if kind == 1:
        X = np.round(X)
    elif kind == 2:
        X = X + 1e6
    elif kind == 3:
        X = X * 10.0 ** rng.integers(-30, 30, size=d)
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    lists = [None, rng.integers(0, 4, n).astype(float), 10.0 ** rng.uniform(-9, 9, n)]
    choice = int(rng.integers(4))
    if choice == 3:
        m = int(rng.integers(1, 9))
        weight = None if rng.integers(2) else rng.uniform(0.1, 3, m)
        pairs = PairList(rng.choice(plus, m), rng.choice(minus, m), weight)
    else:
        weight = lists[choice]
        if weight is not None:
            weight[[plus[0], minus[0]]] = 1.5
        pairs = AllPairs(weight)
    return X, positive, float(10.0 ** rng.uniform(-4, 2)), pairs


def exact_weights(pairs: AllPairs | PairList, positive: np.ndarray) -> list[naive.Pair]:
    """The pairs, their weights adding up to one exactly."""
    listed = naive.weighted_pairs(positive.tolist(), pairs)
    mass = sum(c for _, _, c in listed)
    return [(i, j, c / mass) for i, j, c in listed]


def best_scaled(X: Any, pairs: list[naive.Pair], loss: str, lam: Fraction, alpha: Any) -> Fraction:
    """The dual value of the best multiple s alpha, s in [0, 1], or zero."""
    total = sum(c * a for (_, _, c), a in zip(pairs, alpha, strict=True))
    whole = naive.dual_value(X, pairs, loss, lam, alpha)
    curvature = total - whole  # the value of s alpha is s total - s^2 curvature
    if total <= 0:
        return Fraction(0)
    s = Fraction(1) if curvature <= 0 else min(Fraction(1), total / (2 * curvature))
    return max(s * total - s**2 * curvature, Fraction(0))


@each("loss", LOSSES)
@each("seed", seeds(24))
def test_both_bounds_are_those_of_the_definitions(seed: int, loss: str) -> None:
    X, positive, lam, pairs = drawn(seed)
    rng = np.random.default_rng(seed)
    w = rng.normal(size=X.shape[1]) * 10.0 ** rng.integers(-3, 3)
    scores, width = rng.normal(size=len(X)), float(rng.choice([0.0, 0.3, 2.0**-40]))
    problem = linear_problem(X, positive, lam, loss, pairs)
    witness = Minorant.from_scores(problem, scores, width, 0.5)
    found = ExactCertificate.of(problem, w, witness)
    listed, rows = exact_weights(pairs, positive), naive.exact(X)
    assert found.primal == naive.primal_value(rows, listed, loss, Fraction(lam), naive.exact(w))
    alpha = naive.alphas(naive.exact(scores), listed, loss, Fraction(width))
    assert found.dual == best_scaled(rows, listed, loss, Fraction(lam), alpha)


@each("loss", LOSSES)
@each("seed", seeds(8))
def test_an_alpha_a_pair_is_taken_as_it_is(seed: int, loss: str) -> None:
    X, positive, lam, _ = drawn(seed)
    rng = np.random.default_rng(seed)
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    pairs = PairList(rng.choice(plus, 7), rng.choice(minus, 7), rng.uniform(0.1, 1, 7))
    problem = linear_problem(X, positive, lam, loss, pairs)
    alpha = rng.uniform(0, 1, 7)
    found = ExactCertificate.of(problem, np.zeros(X.shape[1]), Minorant.from_alpha(problem, alpha))
    listed = exact_weights(pairs, positive)
    expected = best_scaled(naive.exact(X), listed, loss, Fraction(lam), naive.exact(alpha))
    assert found.dual == expected


@each("seed", seeds(12))
def test_feasible_marginals_prove_what_their_alpha_proves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, positive = rng.normal(size=(6, 2)), np.arange(6) < 2
    # Each class weighs a power of two, so that the marginals are floats.
    weight = np.concatenate([rng.permutation([1.0, 3.0]), rng.permutation([2.0, 1.0, 0.0, 5.0])])
    problem = linear_problem(X, positive, 0.5, pairs=AllPairs(weight))
    listed = exact_weights(problem.pairs, positive)
    alpha = (rng.integers(0, 17, len(listed)) / 16).tolist()
    c = [float(x) for x in naive.marginals(naive.exact(alpha), listed, 6)]
    witness = Minorant.from_marginals(problem, np.array(c[:2]), -np.array(c[2:]))
    found = ExactCertificate.of(problem, np.zeros(2), witness)
    expected = best_scaled(naive.exact(X), listed, "hinge", Fraction(0.5), naive.exact(alpha))
    assert found.dual == expected


@each("seed", first_fast(range(20), 8))
def test_infeasible_marginals_never_prove_more_than_the_optimum(seed: int) -> None:
    X, positive, lam, pairs = drawn(seed)
    if isinstance(pairs, PairList):
        pairs = AllPairs()
    rng = np.random.default_rng(seed)
    problem = linear_problem(X, positive, lam, pairs=pairs)
    solution = solve(X, positive, lam, pairs=pairs, tol=1e-12)
    c = Minorant.from_scores(problem, problem.space.scores(solution.w)).c
    c = c + np.where(positive, 1, -1) * rng.uniform(0, 1e-3, c.size)
    witness = Minorant.from_marginals(problem, c[positive], -c[~positive])
    found = ExactCertificate.of(problem, solution.w, witness)
    assert 0 <= found.dual <= found.primal


@each("half", [0, 3])
def test_the_evidence_of_rows_in_blocks_is_made_from_its_weights(half: int) -> None:
    X, positive, lam, _ = drawn(5)
    problem, w = linear_problem(X, positive, lam), np.full(X.shape[1], 0.3)
    found = ExactCertificate.of(problem, w, Minorant.from_weights(problem, w, 64, half))
    listed, rows = exact_weights(AllPairs(), positive), naive.exact(X)
    scores = naive.products(rows, naive.exact(w))
    alpha = naive.alphas(scores, listed, "hinge", Fraction(2 * half, 64))
    assert found.dual == best_scaled(rows, listed, "hinge", Fraction(lam), alpha)


def test_repeated_entries_of_sparse_rows_add_up() -> None:
    data, columns = np.array([0.5, 0.5, 3.0, -3.0, 2.0]), np.array([1, 1, 0, 0, 1])
    X = sp.csr_matrix((data, columns, np.array([0, 2, 4, 5])), shape=(3, 2))
    y, w = np.array([1, 0, 0]), np.array([5.0, 0.25])
    problem = linear_problem(X, y, 1.0)
    found = ExactCertificate.of(problem, w, Minorant.from_scores(problem, np.zeros(3)))
    dense = np.array([[0.0, 1.0], [0.0, 0.0], [0.0, 2.0]])
    listed = exact_weights(AllPairs(), y == 1)
    rows = naive.exact(dense)
    assert found.primal == naive.primal_value(rows, listed, "hinge", 1, naive.exact(w))
    assert found.dual == best_scaled(rows, listed, "hinge", Fraction(1), [1, 1])


def test_floats_are_rounded_outward() -> None:
    third, tiny = Fraction(1, 3), Fraction(1, 10**400)
    found = ExactCertificate(2 * third, third, Fraction(3))
    assert Fraction(found.primal_float) > 2 * third and Fraction(found.gap_float) > third
    assert math.nextafter(found.primal_float, 0) < 2 * third
    assert Fraction(found.dual_float) < third < Fraction(math.nextafter(found.dual_float, 1))
    assert found.relative_gap == 0.5
    assert 0 <= Fraction(found.radius) ** 2 - Fraction(2, 9) < Fraction(1, 2**52)
    digits = found.in_digits()
    assert Fraction(digits["primal"]) > 2 * third and Fraction(digits["dual"]) < third
    assert ExactCertificate(tiny, Fraction(0), Fraction(1)).primal_float == 5e-324
    assert ExactCertificate(1 / tiny, tiny, Fraction(1)).primal_float == math.inf
    assert ExactCertificate(1 / tiny, 1 / tiny, Fraction(1)).dual_float == 1.7976931348623157e308
    assert ExactCertificate(Fraction(0), Fraction(0), Fraction(1)).relative_gap is None


def test_problems_whose_numbers_are_not_known_exactly_are_refused(monkeypatch) -> None:
    X, y = np.eye(4), np.array([1, 0, 1, 0])
    linear = linear_problem(X, y, 1.0)
    solution = solve(X, y, 1.0)
    kernel = pair_problem(Gram(np.eye(4)), y == 1, AllPairs(), HINGE, Ridge(1.0))
    with pytest.raises(InputError, match="kernel"):
        exact_certificate(kernel, solution)
    with pytest.raises(InputError, match="structure"):
        exact_certificate(formulate(X, y, Request.of(1.0, structure=2.0)).meant, solution)
    with pytest.raises(InputError, match="structure"):
        exact_certificate(formulate(X, y, Request.of(1.0, structure=2.0)).work, solution)
    with pytest.raises(InputError, match="in blocks"):
        exact_certificate(linear.over(StreamedRows(X)), solution)
    with pytest.raises(InputError, match="the weights shape"):
        exact_certificate(linear_problem(X[:, :2], y, 1.0), solution)
    with pytest.raises(InputError, match=r"finite scores|are needed"):
        exact_certificate(linear_problem(np.eye(4)[:3], y[:3], 1.0), solution)
    monkeypatch.setattr(sys.modules[ExactCertificate.__module__], "MOST_NUMBERS", 15)
    with pytest.raises(TooLargeError, match="16 numbers are too many"):
        exact_certificate(linear, solution)
