from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx.sht import StochasticHardThresholding, Stop, sparse_problem
from aucert.approx.thresholding import hard_threshold
from aucert.exact.problem.problem import linear_problem
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss.row_average import RowAverage
from aucert.exact.square_loss.support import optimum_on
from loops import each, seeds
from pairwise import best_subset, mean_square
from sparse_signal import draw, easy


def blocks_of(solver: StochasticHardThresholding, loss: RowAverage) -> list[RowAverage]:
    return solver.blocks(loss, np.random.default_rng(0))


def steepest(loss: RowAverage) -> float:
    """The largest eigenvalue of the Hessian, from the gradients."""
    zero = loss.gradient(np.zeros(loss.dim))
    columns = [loss.gradient(e) - zero for e in np.eye(loss.dim)]
    return float(np.linalg.eigvalsh(np.array(columns)).max())


def test_three_steps_are_those_of_algorithm_1() -> None:
    X, y = draw()
    loss = sparse_problem(X, y)
    solver = StochasticHardThresholding(2, step=0.07, max_epochs=3, keep="last", tol=0)
    w = np.zeros(8)
    for _ in range(3):
        w = hard_threshold(w - 0.07 * loss.gradient(w), 2)
    found = solver.solve(loss)
    np.testing.assert_allclose(found.w, w, rtol=1e-13)
    assert (found.step, found.n_iter, found.status) == (0.07, 3, Stop.EPOCH_LIMIT)


@each("sizes", [{"n_blocks": 7}, {"block_size": 9}, {"n_blocks": 60}, {}])
def test_the_expected_step_is_along_the_gradient_of_the_objective(sizes) -> None:
    loss = sparse_problem(*draw())  # 60 rows: 7 blocks are unequal
    blocks = blocks_of(StochasticHardThresholding(2, **sizes), loss)
    w = np.linspace(-1, 1, 8)
    mean = np.mean([block.gradient(w) for block in blocks], axis=0)
    np.testing.assert_allclose(mean, loss.gradient(w), rtol=1e-11)


@each(("size", "m"), [(9, 7), (60, 1), (1, 60), (100, 1), (7, 9)])
def test_a_block_size_gives_the_fewest_blocks_of_at_most_that_size(size, m) -> None:
    blocks = blocks_of(StochasticHardThresholding(2, block_size=size), sparse_problem(*draw()))
    sizes = [block.mass.size for block in blocks]
    assert len(blocks) == m
    assert sum(sizes) == 60
    assert max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1


@each("n_blocks", [1, 4, 60])
def test_no_block_is_steeper_than_the_step_allows(n_blocks) -> None:
    loss = sparse_problem(*draw())
    solver = StochasticHardThresholding(2, n_blocks=n_blocks, max_epochs=1)
    step = solver.solve(loss).step
    # The blocks are those of the run: the same seed makes them.
    rng = np.random.default_rng(solver.seed).spawn(1)[0]
    worst = max(steepest(block) for block in solver.blocks(loss, rng))
    assert step <= 1 / worst * (1 + 1e-12)
    assert step == pytest.approx(1 / worst, rel=1e-6)


@each("seed", seeds(6))
@each("k", [1, 2, 3])
def test_one_block_comes_to_a_fixed_point(seed, k) -> None:
    X, y = draw(seed)
    loss = sparse_problem(X, y)
    found = StochasticHardThresholding(k, tol=1e-9, max_epochs=2000).solve(loss)
    assert found.status == Stop.STATIONARY
    moved = hard_threshold(found.w - found.step * loss.gradient(found.w), k)
    np.testing.assert_allclose(moved, found.w, atol=1e-8 * float(np.linalg.norm(found.w)))
    # A fixed point is the minimum on its own support.
    refit = optimum_on(Rows(X), y == 1, found.support)
    assert found.objective == pytest.approx(refit.value, rel=1e-7)


@each("seed", seeds(6))
def test_with_one_block_the_objective_never_rises(seed) -> None:
    found = StochasticHardThresholding(3, keep="last").solve(sparse_problem(*draw(seed)))
    values = [line.objective for line in found.history]
    assert (np.diff(values) <= 1e-12).all()
    assert found.history[0].objective == 1.0


@each("seed", seeds(5))
@each("k", [1, 2, 3])
def test_on_easy_data_it_finds_the_best_subset(seed, k) -> None:
    X, y = easy(seed)
    chosen, value = best_subset(X, y == 1, k)
    found = StochasticHardThresholding(k, tol=1e-9, max_epochs=2000).solve(sparse_problem(X, y))
    assert tuple(found.support.tolist()) == chosen
    assert found.objective == pytest.approx(value, rel=1e-8)


def test_a_fixed_point_need_not_be_the_best_subset() -> None:
    # Feature 1 has no mean difference, but takes the noise out of feature 0; feature 2 helps less.
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    noise, X = rng.normal(size=200), rng.normal(size=(200, 3))
    X[:, 0], X[:, 1] = y + noise, 0.3 * (noise + 0.1 * X[:, 1])
    X[:, 2] += 0.8 * y
    chosen, value = best_subset(X, y == 1, 2)
    found = StochasticHardThresholding(2, max_epochs=5000).solve(sparse_problem(X, y))
    assert chosen == (0, 1)
    assert found.status == Stop.STATIONARY
    assert found.support.tolist() == [0, 2]
    assert found.objective > value + 0.1


@each("seed", seeds(5))
def test_no_answer_is_below_the_best_subset(seed) -> None:
    X, y = draw(seed, mu=(0.2, 0.1, 0.1))
    _, value = best_subset(X, y == 1, 3)
    for n_blocks in (1, 5):
        found = StochasticHardThresholding(3, n_blocks=n_blocks).solve(sparse_problem(X, y))
        assert found.objective >= value - 1e-12


@each("sizes", [{"n_blocks": 5}, {"block_size": 8}])
@each("seed", seeds(3))
def test_with_several_blocks_it_comes_near_the_same_minimum(sizes, seed) -> None:
    X, y = easy(seed)
    loss = sparse_problem(X, y)
    one = StochasticHardThresholding(3).solve(loss)
    several = StochasticHardThresholding(3, **sizes).solve(loss)
    np.testing.assert_array_equal(several.support, one.support)
    assert one.objective <= several.objective <= one.objective + 0.01


def test_blocks_without_positive_rows_do_no_harm() -> None:
    X, y = draw(r=0.05, n=100)  # 5 positives in 50 blocks
    loss = sparse_problem(X, y)
    solver = StochasticHardThresholding(2, n_blocks=50)
    assert sum(not block.positive.any() for block in blocks_of(solver, loss)) >= 45
    found = solver.solve(loss)
    assert found.objective <= StochasticHardThresholding(2).solve(loss).objective + 0.05


@each("n_blocks", [1, 6])
@each("seed", seeds(3))
def test_sparse_rows_give_the_same_weights_as_dense_ones(n_blocks, seed) -> None:
    X, y = draw(seed)
    X[np.random.default_rng(9).random(X.shape) < 0.5] = 0.0
    solver = StochasticHardThresholding(3, n_blocks=n_blocks, max_epochs=30, keep="last", tol=0)
    dense = solver.solve(sparse_problem(X, y))
    sparse = solver.solve(sparse_problem(sp.csr_matrix(X), y))
    np.testing.assert_allclose(sparse.w, dense.w, rtol=1e-6, atol=1e-10)


def test_the_origin_of_the_features_does_not_matter() -> None:
    X, y = draw()
    solver = StochasticHardThresholding(3, n_blocks=4, max_epochs=20, keep="last")
    there = solver.solve(sparse_problem(X, y)).w
    np.testing.assert_allclose(solver.solve(sparse_problem(X + 50.0, y)).w, there, rtol=1e-8)


def test_a_weight_means_repetition() -> None:
    X, y = draw()
    weight = np.arange(60) % 3
    solver = StochasticHardThresholding(3)
    weighted = solver.solve(sparse_problem(X, y, weight.astype(float)))
    repeated = solver.solve(sparse_problem(np.repeat(X, weight, axis=0), np.repeat(y, weight)))
    np.testing.assert_allclose(weighted.w, repeated.w, rtol=1e-8)


def test_a_problem_brings_its_penalty_with_it() -> None:
    X, y = draw()
    problem = linear_problem(X, y, 0.7, "square")
    found = StochasticHardThresholding(3).solve(problem)
    expected = mean_square(X, y == 1, found.w) + 0.35 * found.w @ found.w
    assert found.objective == pytest.approx(expected, rel=1e-11)
    assert found.objective == pytest.approx(problem.objective(found.w), rel=1e-11)
    refit = optimum_on(Rows(X), y == 1, found.support, lam=0.7)
    assert found.objective == pytest.approx(refit.value, rel=1e-8)


def test_rows_all_alike_leave_zero_weights() -> None:
    found = StochasticHardThresholding(2, n_blocks=2).solve(
        sparse_problem(np.ones((6, 3)), [0, 1, 0, 1, 0, 1])
    )
    assert (found.objective, found.stationarity, found.status) == (1.0, 0.0, Stop.STATIONARY)
    assert found.support.size == 0
