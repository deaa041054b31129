"""The largest flow against a linear programme, and the bound that pays for infeasibility."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.api.solve import solve
from aucert.exact.certificate.certificate import Certificate, Minorant
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.pairs.marginals import deficiency, largest_flow
from aucert.exact.problem.problem import linear_problem
from loops import each, seeds
from reference import largest_flow_lp

Flow = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def random_flow(seed: int) -> Flow:
    """Return u, v, a, b: ties, zeros, marginals of a true alpha, or nearly, or not at all."""
    rng = np.random.default_rng(seed)
    p, q = int(rng.integers(1, 9)), int(rng.integers(1, 9))
    a, b = rng.uniform(0.1, 1, p), rng.uniform(0.1, 1, q)
    if seed % 3 == 0:  # whole numbers: many ties and zeros
        a, b = rng.integers(0, 3, p).astype(float), rng.integers(0, 3, q).astype(float)
        a[0], b[0] = 1.0, 1.0
    a, b = a / a.sum(), b / b.sum()
    alpha = np.clip(rng.normal(0.5, 0.6, size=(p, q)), 0, 1) * np.outer(a, b)
    u, v = alpha.sum(axis=1), alpha.sum(axis=0)
    kind = seed % 4
    if kind == 1:
        u = u * rng.uniform(0.5, 2, p)
    elif kind == 2:
        u, v = rng.permutation(u), rng.permutation(v)
    elif kind == 3:
        u = rng.integers(0, 3, p) / 2 * a
        v = rng.integers(0, 3, q) / 2 * b
    return u, v, a, b


@each("start", range(0, 300, 50))
def test_largest_flow_is_that_of_the_linear_programme(start: int) -> None:
    for seed in range(start, start + 50):
        flow = random_flow(seed)
        assert largest_flow(*flow) == pytest.approx(largest_flow_lp(*flow), abs=1e-9), seed


@each("seed", range(0, 300, 12))
def test_marginals_of_a_true_alpha_lack_nothing(seed: int) -> None:
    u, v, a, b = random_flow(seed - seed % 4)
    flow, missing, rounding = deficiency(u, v, a, b)
    assert flow == pytest.approx(u.sum(), abs=1e-14) and missing <= rounding


def test_the_order_is_that_of_the_ratios() -> None:
    """One row of weight .9 with u = .5 and one of weight .1 with u = .2, twice its cap."""
    u, v = np.array([0.5, 0.2]), np.array([0.7])
    assert largest_flow(u, v, np.array([0.9, 0.1]), np.ones(1)) == pytest.approx(0.6)


@each("noise", [1e-9, 1e-3, 0.3])
@each("weighted", [False, True])
@each("seed", seeds(6))
def test_perturbed_duals_never_beat_the_optimum(seed: int, weighted: bool, noise: float) -> None:
    rng = np.random.default_rng([5, seed])
    X, y = np.round(rng.normal(size=(25, 2)) * 2) / 2, np.arange(25) % 3 == 0
    pairs = AllPairs(rng.integers(1, 4, 25).astype(float) if weighted else None)
    problem = linear_problem(X, y, 0.05, "hinge", pairs)
    best = solve(X, y, 0.05, pairs=pairs, tol=1e-11)
    assert best.certificate.reaches(1e-9)
    for _ in range(20):
        c = best.witness.c * (1 + noise * rng.normal(size=25))
        u, v = np.maximum(c[y], 0), np.maximum(-c[~y], 0)
        witness = Minorant.from_marginals(problem, u, v)
        found = Certificate.of(problem, best.w, witness)
        assert found.dual <= best.certificate.primal


@each("seed", seeds(20))
def test_counts_from_two_comparisons_are_paid_for(seed: int) -> None:
    """b > a - 1 on one side and a < b + 1 on the other disagree in floats: such (u, v) lack mass.

    Tenths are not floats, so at scores of one decimal the two comparisons round differently.
    """
    rng = np.random.default_rng(seed)
    X = rng.integers(-30, 30, size=(40, 1)) / 10
    y = np.arange(40) % 2 == 0
    a, b = X[y, 0], X[~y, 0]
    u = (b[None, :] > a[:, None] - 1).sum(axis=1) / 400
    v = (a[:, None] < b[None, :] + 1).sum(axis=0) / 400
    problem = linear_problem(X, y, 0.05)
    witness = Minorant.from_marginals(problem, u, v)
    assert witness.deficiency >= abs(u.sum() - v.sum()) - witness.c_error
    best = solve(X, y, 0.05, tol=1e-10).certificate
    found = Certificate.of(problem, np.zeros(1), witness)
    assert found.dual <= best.primal


def test_tiny_weights_beside_large_ones_keep_the_flow_accurate() -> None:
    """What is left of the caps is added up: subtracted from the whole it would be lost."""
    a, b = np.ones(10), np.concatenate([[1.0], np.full(1000, 7e-20)])
    u, v = np.zeros(10), 0.15 * b
    u[0], v[0] = 1.0, 0.0
    flow = largest_flow(u, v, a, b)
    assert flow == pytest.approx(1000 * 0.15 * 7e-20, rel=1e-12)


def test_what_marginals_determine_beside_the_hinge_over_all_pairs() -> None:
    # Two positive and two negative rows: two alpha with the same marginals.
    c, flat, crossed = np.full((2, 2), 0.25), np.full((2, 2), 0.5), np.eye(2)
    for axis in (0, 1):
        assert ((c * flat).sum(axis=axis) == (c * crossed).sum(axis=axis)).all()
    assert (c * flat).sum() == (c * crossed).sum()  # the hinge: one dual value
    squared = [(c * (alpha - alpha**2 / 4)).sum() for alpha in (flat, crossed)]
    assert squared[0] > squared[1] + 0.05  # the squared hinge and the square: two

    # A list of the pairs (0, 0) and (1, 1) with the hinge: these are marginals of an alpha over all
    # pairs, so the sorted test lets them pass, and of none over the list.
    u, v, half = np.array([0.2, 0.0]), np.array([0.0, 0.2]), np.array([0.5, 0.5])
    assert largest_flow(u, v, half, half) == pytest.approx(0.2)
    assert max(min(u[k], v[k]) for k in (0, 1)) == 0.0  # the flow over the list
