"""The optimum of `solve` against CVXPY on a random family of problems."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.api.solve import solve
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from loops import each, seeds
from naive import weighted_pairs
from problems import random_case
from reference import reference_optimum


def check_case(seed: int) -> None:
    """Solve the problem of that seed twice, independently, and compare the two optima."""
    case = random_case(seed)
    pairs = weighted_pairs(case.positive.tolist(), case.pairs, float)
    expected, _ = reference_optimum(case.X, pairs, case.lam, case.loss)
    solution = solve(case.X, case.y, case.lam, loss=case.loss, pairs=case.pairs, max_time=30)
    certificate = solution.certificate
    assert certificate.reaches(1e-8), f"{case.name}: {certificate}"
    allowed = 1e-9 if expected < 1e-6 else 1e-7 * expected
    assert abs(certificate.primal - expected) <= allowed, f"{case.name}: {certificate}, {expected}"
    assert certificate.dual <= expected, case.name


def test_optimum_agrees_with_cvxpy() -> None:
    for seed in range(10):  # each kind of features once
        check_case(seed)


@pytest.mark.slow
@each("seed", seeds(60))
def test_optimum_agrees_with_cvxpy_on_the_whole_family(seed: int) -> None:
    check_case(seed)


@each("loss", ["hinge", "squared_hinge", "square"])
@each("seed", seeds(4))
def test_a_weight_means_repetition(seed: int, loss: str) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 3 == 0
    times = rng.integers(0, 4, size=30)
    times[:2] = 2
    weighted = solve(X, y, 1e-2, loss=loss, sample_weight=times, tol=1e-10)
    repeated = solve(np.repeat(X, times, axis=0), np.repeat(y, times), 1e-2, loss=loss, tol=1e-10)
    assert weighted.certificate.reaches(1e-9) and repeated.certificate.reaches(1e-9)
    slack = weighted.certificate.gap + repeated.certificate.gap + 1e-12
    assert abs(weighted.certificate.primal - repeated.certificate.primal) <= slack
    reach = weighted.certificate.radius + repeated.certificate.radius
    assert np.linalg.norm(weighted.w - repeated.w) <= reach


@each("loss", ["hinge", "squared_hinge", "square"])
@each("seed", seeds(4))
def test_listed_multiplicities_equal_pair_weights(seed: int, loss: str) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 4 == 0
    i = rng.choice(np.flatnonzero(y), 25)
    j = rng.choice(np.flatnonzero(~y), 25)
    times = rng.integers(1, 5, size=25)
    drawn = PairList(np.repeat(i, times), np.repeat(j, times))
    one = solve(X, y, 1e-2, loss=loss, pairs=drawn, tol=1e-10).certificate
    two = solve(X, y, 1e-2, loss=loss, pairs=PairList(i, j, times), tol=1e-10).certificate
    assert one.reaches(1e-9) and two.reaches(1e-9)
    assert abs(one.primal - two.primal) <= one.gap + two.gap + 1e-12


@each("loss", ["hinge", "squared_hinge", "square"])
def test_a_list_of_all_pairs_equals_all_pairs(loss: str) -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(24, 2)), np.arange(24) % 4 == 0
    i, j = np.meshgrid(np.flatnonzero(y), np.flatnonzero(~y), indexing="ij")
    whole = solve(X, y, 1e-2, loss=loss, pairs=AllPairs(), tol=1e-10).certificate
    listed = solve(X, y, 1e-2, loss=loss, pairs=PairList(i.ravel(), j.ravel()), tol=1e-10)
    assert whole.reaches(1e-9) and listed.certificate.reaches(1e-9)
    assert (
        abs(whole.primal - listed.certificate.primal) <= whole.gap + listed.certificate.gap + 1e-12
    )
