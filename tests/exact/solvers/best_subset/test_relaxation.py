from __future__ import annotations

import numpy as np
import pytest

from aucert.exact import InputError, best_subset
from aucert.exact.solvers.best_subset.relaxation import (
    _Cuts,
    outer_approximation,
    perspective_bound,
    split_diagonal,
)
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss.row_average import RowAverage
from aucert.exact.square_loss.support_bounds import support_loss_of
from aucert.exact.square_loss.support_loss import SupportLoss
from loops import each, seeds
from subset_problems import draw, noisy


def loss_of(X: np.ndarray, y: np.ndarray, ridge: float = 0.0) -> SupportLoss:
    return support_loss_of(RowAverage.of(Rows(X), y == 1, lam=ridge))[0]


def check_outer_approximation(seed: int, d: int, k: int, kind: str = "plain") -> None:
    problem = draw(seed, kind, d=d, n=300)
    found = best_subset(problem.X, problem.y, k, problem.ridge)
    cuts = outer_approximation(loss_of(problem.X, problem.y, problem.ridge), k)
    assert found.proved
    assert cuts.upper - cuts.lower <= 2e-6
    assert cuts.lower == pytest.approx(found.upper, abs=5e-6)
    assert cuts.upper == pytest.approx(found.upper, abs=5e-6)


@each(("seed", "d", "k", "kind"), [(0, 10, 3, "plain"), (1, 14, 4, "ridge")])
def test_outer_approximation_finds_what_branch_and_bound_finds(seed, d, k, kind) -> None:
    check_outer_approximation(seed, d, k, kind)


@pytest.mark.slow
@each("seed", seeds(6))
def test_outer_approximation_finds_the_same_up_to_30_features(seed: int) -> None:
    check_outer_approximation(20 + seed, 20 + 2 * seed, 3 + seed % 3)


@pytest.mark.slow
def test_outer_approximation_out_of_time_has_a_valid_interval() -> None:
    X, y = noisy(400, 30, 5, 0.05, 0.0, seed=3)
    found = best_subset(X, y, 5)
    cuts = outer_approximation(loss_of(X, y), 5, diagonal="eigenvalue", max_time=1.0)
    assert cuts.lower <= found.upper + 1e-6
    assert cuts.upper >= found.lower - 1e-6


@each("kind", ["plain", "correlated", "ridge"])
@each("diagonal", ["sdp", "eigenvalue"])
def test_the_perspective_bound_is_below_the_optimum_and_above_the_dense_one(kind, diagonal) -> None:
    problem = draw(5, kind, d=12, n=200)
    loss = loss_of(problem.X, problem.y, problem.ridge)
    found = best_subset(problem.X, problem.y, 3, problem.ridge)
    bound = perspective_bound(loss, 3, diagonal)
    assert bound.lower <= found.upper
    assert bound.upper >= found.lower
    assert bound.lower > loss.optimum(range(12)).value
    assert bound.upper == pytest.approx(loss.optimum(bound.support).value)


def test_the_perspective_bound_with_all_features_is_the_minimum() -> None:
    problem = draw(6, d=8, n=100)
    loss = loss_of(problem.X, problem.y)
    bound = perspective_bound(loss, 8, "eigenvalue")
    assert bound.lower == pytest.approx(loss.optimum(range(8)).value, abs=1e-7)


def test_the_split_leaves_a_semidefinite_matrix() -> None:
    rng = np.random.default_rng(0)
    M, shape = np.cov(rng.normal(size=(30, 6)).T), rng.uniform(0.5, 2.0, size=6)
    for given in (None, shape):
        D = split_diagonal(M, given)
        least = np.linalg.eigvalsh(M - np.diag(D))[0]
        assert 0 <= least < 1e-10
    np.testing.assert_allclose(D / shape, D[0] / shape[0])


def test_dependent_features_need_a_penalty() -> None:
    problem = draw(7, "copies", d=8)
    with pytest.raises(InputError, match="penalty"):
        perspective_bound(loss_of(problem.X, problem.y), 2, "eigenvalue")
    with pytest.raises(InputError, match="penalty"):
        outer_approximation(loss_of(problem.X, problem.y), 2)
    with pytest.raises(InputError, match="diagonal"):
        perspective_bound(loss_of(problem.X, problem.y), 2, "other")


@each("seed", seeds(3))
def test_cuts_are_below_phi_and_touch_it_where_they_are_made(seed: int) -> None:
    problem, k = draw(seed, "correlated", d=7), 3
    loss, rng = loss_of(problem.X, problem.y), np.random.default_rng(seed)
    cuts = _Cuts(loss, k, "eigenvalue")
    points = [rng.random(7) for _ in range(20)]
    points += [np.isin(np.arange(7), rng.choice(7, k, replace=False)) * 1.0 for _ in range(20)]
    values = np.array([cuts.add(z) for z in points])
    lines = np.array(
        [[a + g @ z for z in points] for a, g in zip(cuts.offsets, cuts.rows, strict=True)]
    )
    assert (lines <= values + 1e-12).all()
    np.testing.assert_allclose(lines[1:].diagonal(), values)
    for z, value in zip(points[20:], values[20:], strict=True):
        assert value == pytest.approx(loss.optimum(np.flatnonzero(z)).value)
