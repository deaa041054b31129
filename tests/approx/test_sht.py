"""SHT-AUC: its steps, its runs, its refinement and its estimator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from aucert.approx.sht import (
    DIVERGED,
    SHTAUC,
    StochasticHardThresholding,
    Stop,
    refine_weights,
    sparse_problem,
)
from aucert.approx.thresholding import hard_threshold, largest
from aucert.exact import CertificateError, InputError, best_subset
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.problem import linear_problem
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss import support
from aucert.exact.square_loss.row_average import RowAverage
from aucert.exact.square_loss.support import optimum_on
from loops import each, seeds
from pairwise import mean_square
from sparse_signal import draw


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


@each("n_blocks", [1, 6])
@each("seed", seeds(3))
def test_sparse_rows_give_the_same_weights_as_dense_ones(n_blocks, seed) -> None:
    X, y = draw(seed)
    X[np.random.default_rng(9).random(X.shape) < 0.5] = 0.0
    solver = StochasticHardThresholding(3, n_blocks=n_blocks, max_epochs=30, keep="last", tol=0)
    dense = solver.solve(sparse_problem(X, y))
    sparse = solver.solve(sparse_problem(sp.csr_matrix(X), y))
    np.testing.assert_allclose(sparse.w, dense.w, rtol=1e-6, atol=1e-10)


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


def test_the_authors_step_is_scaled_by_the_class_shares() -> None:
    X, y = draw(r=0.25)
    loss = sparse_problem(0.1 * X, y)
    solver = StochasticHardThresholding(4, mode="authors", max_epochs=1)
    found = solver.solve(loss)
    assert found.step == pytest.approx(0.25 * 0.75)
    first = hard_threshold(2 * 0.1875 * loss.delta, 4, paper_literal=True)
    np.testing.assert_allclose(found.w, first, rtol=1e-12)
    assert replace(solver, step=3.0).solve(loss).step == pytest.approx(3 * 0.1875)


def test_the_authors_blocks_leave_the_remainder_to_the_last_one() -> None:
    loss = sparse_problem(*draw())
    for sizes, expected in [
        ({"n_blocks": 7}, [8] * 6 + [12]),  # b = floor(60 / 7) = 8, floor(60 / 8) = 7 blocks
        ({"block_size": 25}, [25, 35]),
        ({"block_size": 100}, [60]),
        ({}, [60]),
    ]:
        blocks = blocks_of(StochasticHardThresholding(2, mode="authors", **sizes), loss)
        assert [block.mass.size for block in blocks] == expected
        rows = np.concatenate([block.X for block in blocks])
        np.testing.assert_array_equal(rows, loss.X)


def test_what_is_reported_belongs_to_the_weights_returned() -> None:
    X, y = draw()
    loss = sparse_problem(X, y)
    for keep in ("best", "last"):
        found = StochasticHardThresholding(3, n_blocks=6, keep=keep).solve(loss)
        assert found.objective == pytest.approx(mean_square(X, y == 1, found.w), rel=1e-11)
        then = hard_threshold(found.w - loss.gradient(found.w) / steepest(loss), 3)
        scale = max(np.linalg.norm(then), np.linalg.norm(found.w))
        residual = np.linalg.norm(then - found.w) / scale
        assert found.stationarity == pytest.approx(residual, rel=1e-6)
        screen = largest(loss.delta, 3)
        assert found.screening_overlap == len(set(screen) & set(found.support)) / 3


def test_the_history_counts_iterations_and_changes_of_the_support() -> None:
    solver = StochasticHardThresholding(3, n_blocks=5, max_epochs=4, tol=0)
    seen = []
    found = solver.solve(sparse_problem(*draw()), callback=seen.append)
    assert [line.n_iter for line in found.history] == [0, 5, 10, 15, 20]
    assert [line.changes for line in found.history[:2]] == [0, 3]
    assert seen == found.history
    assert found.n_iter == 20


@each("n_blocks", [1, 5])
@each("step", [10.0, 1e200])
def test_a_step_too_long_is_noticed_and_the_start_survives(n_blocks, step) -> None:
    solver = StochasticHardThresholding(3, n_blocks=n_blocks, step=step)
    found = solver.solve(sparse_problem(*draw()))
    assert found.status == Stop.DIVERGED
    assert found.objective <= DIVERGED
    assert np.isfinite(found.w).all()
    assert "step" in found.status.advice


def test_time_and_interruption_end_a_run_with_a_valid_point() -> None:
    X, y = draw()
    loss = sparse_problem(X, y)
    timed = StochasticHardThresholding(3, n_blocks=6, max_time=1e-9).solve(loss)
    assert (timed.status, timed.n_iter) == (Stop.TIME_LIMIT, 1)

    def stop(line) -> None:
        if line.n_iter >= 12:
            raise KeyboardInterrupt

    stopped = StochasticHardThresholding(3, n_blocks=6).solve(loss, callback=stop)
    assert (stopped.status, stopped.n_iter) == (Stop.INTERRUPTED, 12)
    for found in (timed, stopped):
        assert found.objective == pytest.approx(mean_square(X, y == 1, found.w), rel=1e-11)


@each(
    ("w0", "message"),
    [
        (np.zeros(7), "8 finite numbers"),
        (np.full(8, np.nan), "8 finite numbers"),
        (np.ones(8), "more than k = 2"),
        (np.eye(8)[0] * 1e200, "overflows"),
    ],
)
def test_a_bad_start_is_refused(w0, message) -> None:
    with pytest.raises(InputError, match=message):
        StochasticHardThresholding(2).solve(sparse_problem(*draw()), w0=w0)


def test_more_blocks_than_rows_and_other_losses_are_refused() -> None:
    with pytest.raises(InputError, match="61 blocks"):
        StochasticHardThresholding(2, n_blocks=61).solve(sparse_problem(*draw()))
    with pytest.raises(InputError, match="square loss"):
        StochasticHardThresholding(2).solve(linear_problem(*draw(), 1.0, "hinge"))


def run(loss: RowAverage, refine: str, k: int = 3, **options):
    return StochasticHardThresholding(k, refine=refine, **options).solve(loss)


@each("form", [np.array, sp.csr_matrix])
@each("pool", [4, 300])
def test_after_swaps_no_exchange_of_one_feature_helps(form, pool) -> None:
    X, y = draw(2, d=12, mu=(0.3, 0.3, 0.2))
    loss = sparse_problem(form(X), y)
    w = refine_weights(loss, np.zeros(12), 3, "swaps", pool)
    S = np.flatnonzero(w)
    value = optimum_on(Rows(X), y == 1, S).value
    assert loss.value(w) == pytest.approx(value, rel=1e-9)
    if pool >= 12:
        for out in S:
            for into in np.setdiff1d(np.arange(12), S):
                other = np.append(S[S != out], into)
                assert optimum_on(Rows(X), y == 1, other).value >= value - 1e-9


# What the estimator says about its gap.
def test_the_estimator_has_a_valid_bound_from_its_own_fit() -> None:
    for seed in range(5):
        X, y = draw(seed)
        model = SHTAUC(k=3, max_epochs=3000).fit(X, y)
        best = best_subset(X, y, 3)
        assert 0 < model.lower_bound_ <= best.upper
        gap = model.objective_ - model.lower_bound_
        assert gap <= model.gap_ <= gap + 1e-11  # with its rounding
        assert model.gap_ >= best.gap_of(model.coef_[0]) - 1e-9
        assert model.proved_ == (model.gap_ <= 1e-9)


def test_a_judge_tightens_the_bound_and_may_prove_the_answer() -> None:
    X, y = draw(5, n=200, d=12)
    model = SHTAUC(k=3, refine="swaps").fit(X, y)
    before, w = model.lower_bound_, model.coef_.copy()
    best = best_subset(X, y, 3)
    assert model.judge(best) is model
    assert model.lower_bound_ == best.lower > before
    assert model.proved_
    assert model.gap_ == pytest.approx(best.gap_of(w[0]), abs=1e-12)
    np.testing.assert_array_equal(model.coef_, w)
    model.judge(best_subset(X, y, 3, max_time=1e-9))  # a worse bound changes nothing
    assert model.lower_bound_ == best.lower


def test_a_bound_of_another_problem_is_refused() -> None:
    X, y = draw(5)
    model = SHTAUC(k=3, max_epochs=3000).fit(X, y)
    for other in (best_subset(X, y, 2), best_subset(X, y, 3, ridge=0.1)):
        with pytest.raises(InputError, match="this model needs"):
            model.judge(other)
    with pytest.raises((InputError, CertificateError)):
        model.judge(best_subset(2 * X, y, 3))
    with pytest.raises((InputError, CertificateError)):
        model.judge(best_subset(*draw(6), 3))


def named_draw(seed: int = 0, n: int = 80, d: int = 10):
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) < n // 4, "ill", "healthy")
    X = rng.normal(size=(n, d))
    X[:, 4:7] += 1.5 * (y == "ill")[:, None]
    return X, y


def test_it_finds_the_features_that_differ() -> None:
    X, y = named_draw()
    model = SHTAUC(k=3).fit(X, y)
    np.testing.assert_array_equal(model.support_, [4, 5, 6])
    assert np.count_nonzero(model.coef_) == 3
    assert model.coef_.shape == (1, 10)
    assert (model.coef_[0, 4:7] > 0).all()  # "ill" is the larger label, so the positive one
    assert model.score(X, y) > 0.8


@each("kind", [np.asarray, sp.csr_matrix])
@each("weight", [None, np.arange(80) % 3 + 1.0], ids=["plain", "weighted"])
def test_its_certificate_holds_among_all_supports(kind, weight) -> None:
    X, y = named_draw()
    model = SHTAUC(k=2).fit(kind(X), y, weight)
    best, held = best_subset(X, y, 2, sample_weight=weight), model.certificate_
    assert held.dual <= best.upper + 1e-12
    assert held.primal >= best.lower - 1e-12
    assert 0 <= held.primal - model.objective_ <= held.rounding and held.dual == model.lower_bound_
    assert held.radius is None and "weights with 2 nonzeros at most" in held.statement
    tighter = model.judge(best).certificate_
    assert tighter.dual == pytest.approx(best.lower) and tighter.gap <= held.gap


@each("kind", [np.asarray, sp.csr_matrix])
@each("weight", [None, np.arange(80) % 3 + 1.0], ids=["plain", "weighted"])
def test_where_moments_take_too_long_the_rows_bound_the_objective(
    kind, weight, monkeypatch
) -> None:
    X, y = named_draw()
    X = X + 1e3  # far from the origin: what centring has lost is charged
    loss = RowAverage.of(Rows(kind(X)), y == "ill", AllPairs(weight))
    w = np.r_[np.zeros(4), 0.3, 0.2, 0.1, np.zeros(3)]
    times = np.ones(80, dtype=int) if weight is None else weight.astype(int)
    true = mean_square(np.repeat(X, times, axis=0), np.repeat(y, times) == "ill", w)
    near = support.objective_above(loss, w)
    monkeypatch.setattr(support, "LARGEST_WORK", 0.0)
    far = support.objective_above(loss, w)
    assert true - 1e-12 <= far <= true + 1e-6
    assert near <= far + 1e-9


def test_its_attributes_are_those_of_the_solver_on_the_same_rows() -> None:
    X, y = named_draw()
    model = SHTAUC(k=4, n_blocks=5, max_epochs=30, random_state=3).fit(X, y)
    solver = StochasticHardThresholding(4, n_blocks=5, max_epochs=30, tol=1e-4, seed=3)
    found = solver.solve(sparse_problem(X, y))
    np.testing.assert_array_equal(model.coef_[0], found.w)
    np.testing.assert_array_equal(model.support_, found.support)
    assert model.objective_ == pytest.approx(mean_square(X, y == "ill", found.w), rel=1e-10)
    assert model.stationarity_ == found.stationarity
    assert model.n_iter_ == found.n_iter == 150
    assert [x.objective for x in model.history_] == [x.objective for x in found.history]


def test_divergence_and_a_run_cut_short_warn_with_advice() -> None:
    X, y = named_draw()
    with pytest.warns(ConvergenceWarning, match='step="auto"'):
        model = SHTAUC(step=100.0).fit(X, y)
    assert model.status_ == Stop.DIVERGED
    assert np.isfinite(model.decision_function(X)).all()
    with pytest.warns(ConvergenceWarning, match="max_epochs"):
        SHTAUC(k=3, max_epochs=1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        SHTAUC(k=3, max_time=1e-9).fit(X, y)
