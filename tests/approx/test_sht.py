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
    loss, w = sparse_problem(*draw()), np.linspace(-1, 1, 8)  # 60 rows: 7 blocks are unequal
    solver = StochasticHardThresholding(2, max_epochs=1, **sizes)
    # The blocks are those of the run: the same seed makes them.
    blocks = solver.blocks(loss, np.random.default_rng(solver.seed).spawn(1)[0])
    mean = np.mean([block.gradient(w) for block in blocks], axis=0)
    np.testing.assert_allclose(mean, loss.gradient(w), rtol=1e-11)
    step, worst = solver.solve(loss).step, max(map(steepest, blocks))
    assert step <= 1 / worst * (1 + 1e-12) and step == pytest.approx(1 / worst, rel=1e-6)


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


def test_a_problem_brings_its_penalty_with_it() -> None:
    X, y = draw()
    problem = linear_problem(X, y, 0.7, "square")
    found = StochasticHardThresholding(3).solve(problem)
    expected = mean_square(X, y == 1, found.w) + 0.35 * found.w @ found.w
    assert found.objective == pytest.approx(expected, rel=1e-11)
    assert found.objective == pytest.approx(problem.objective(found.w), rel=1e-11)
    refit = optimum_on(Rows(X), y == 1, found.support, lam=0.7)
    assert found.objective == pytest.approx(refit.value, rel=1e-8)


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
        solver = StochasticHardThresholding(2, mode="authors", **sizes)
        blocks = solver.blocks(loss, np.random.default_rng(0))
        assert [block.mass.size for block in blocks] == expected
        np.testing.assert_array_equal(np.concatenate([block.X for block in blocks]), loss.X)


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
    seen = []
    solver = StochasticHardThresholding(3, n_blocks=5, max_epochs=4, tol=0)
    found = solver.solve(loss, callback=seen.append)
    assert [line.n_iter for line in found.history] == [0, 5, 10, 15, 20]
    assert [line.changes for line in found.history[:2]] == [0, 3]
    assert seen == found.history and found.n_iter == 20
    alike = sparse_problem(np.ones((6, 3)), [0, 1, 0, 1, 0, 1])
    found = StochasticHardThresholding(2, n_blocks=2).solve(alike)
    assert (found.objective, found.stationarity, found.status) == (1.0, 0.0, Stop.STATIONARY)
    assert found.support.size == 0


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


def test_a_judge_tightens_the_bound_and_may_prove_the_answer() -> None:
    X, y = draw(5, n=200, d=12)
    model = SHTAUC(k=3, refine="swaps").fit(X, y)
    before, w = model.lower_bound_, model.coef_.copy()
    best = best_subset(X, y, 3)
    assert model.judge(best) is model
    assert model.lower_bound_ == best.lower > before and model.proved_
    assert model.gap_ == pytest.approx(best.gap_of(w[0]), abs=1e-12)
    np.testing.assert_array_equal(model.coef_, w)
    model.judge(best_subset(X, y, 3, max_time=1e-9))  # a worse bound changes nothing
    assert model.lower_bound_ == best.lower
    for other in (best_subset(X, y, 2), best_subset(X, y, 3, ridge=0.1)):
        with pytest.raises(InputError, match="this model needs"):
            model.judge(other)
    for rows in ((2 * X, y), draw(6)):
        with pytest.raises((InputError, CertificateError)):
            model.judge(best_subset(*rows, 3))


@each("kind", [np.asarray, sp.csr_matrix])
@each("weight", [None, np.arange(60) % 3 + 1.0], ids=["plain", "weighted"])
def test_its_certificate_holds_among_all_supports(kind, weight) -> None:
    for seed in range(3):
        X, y = draw(seed)
        names = np.where(y == 1, "ill", "healthy")  # "ill" is the larger label: the positive one
        model = SHTAUC(k=2, max_epochs=3000).fit(kind(X), names, weight)
        best, held = best_subset(X, y, 2, sample_weight=weight), model.certificate_
        assert 0 < held.dual == model.lower_bound_ <= best.upper + 1e-12
        assert held.primal >= best.lower - 1e-12
        assert 0 <= held.primal - model.objective_ <= held.rounding
        assert held.radius is None and "weights with 2 nonzeros at most" in held.statement
        gap = model.objective_ - model.lower_bound_
        assert gap <= model.gap_ <= gap + 1e-11  # with its rounding
        assert model.gap_ >= best.gap_of(model.coef_[0]) - 1e-9
        assert model.proved_ == (model.gap_ <= 1e-9)
        assert np.count_nonzero(model.coef_) == 2 and model.score(X, names) > 0.6
        tighter = model.judge(best).certificate_
        assert tighter.dual == pytest.approx(best.lower) and tighter.gap <= held.gap


@each("kind", [np.asarray, sp.csr_matrix])
@each("weight", [None, np.arange(60) % 3 + 1.0], ids=["plain", "weighted"])
def test_where_moments_take_too_long_the_rows_bound_the_objective(
    kind, weight, monkeypatch
) -> None:
    X, y = draw()
    X = X + 1e3  # far from the origin: what centring has lost is charged
    loss = RowAverage.of(Rows(kind(X)), y == 1, AllPairs(weight))
    w = np.r_[np.zeros(4), 0.3, 0.2, 0.1, 0.0]
    true = mean_square(X, y == 1, w, weight)
    near = support.objective_above(loss, w)
    monkeypatch.setattr(support, "LARGEST_WORK", 0.0)
    far = support.objective_above(loss, w)
    assert true - 1e-12 <= far <= true + 1e-6
    assert near <= far + 1e-9


def test_divergence_and_a_run_cut_short_warn_with_advice() -> None:
    X, y = draw()
    with pytest.warns(ConvergenceWarning, match='step="auto"'):
        model = SHTAUC(step=100.0).fit(X, y)
    assert model.status_ == Stop.DIVERGED
    assert np.isfinite(model.decision_function(X)).all()
    with pytest.warns(ConvergenceWarning, match="max_epochs"):
        SHTAUC(k=3, max_epochs=1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        SHTAUC(k=3, max_time=1e-9).fit(X, y)
    solver = StochasticHardThresholding(4, n_blocks=5, max_epochs=300, tol=1e-4, seed=3)
    model = SHTAUC(k=4, n_blocks=5, max_epochs=300, random_state=3).fit(X, y)
    found = solver.solve(sparse_problem(X, y))
    np.testing.assert_array_equal(model.coef_[0], found.w)
    assert model.stationarity_ == found.stationarity and model.n_iter_ == found.n_iter


def test_time_interruption_and_divergence_end_a_run_with_a_valid_point() -> None:
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
    for n_blocks, step in ((1, 10.0), (5, 10.0), (1, 1e200), (5, 1e200)):
        found = StochasticHardThresholding(3, n_blocks=n_blocks, step=step).solve(loss)
        assert found.status == Stop.DIVERGED and "step" in found.status.advice
        assert found.objective <= DIVERGED and np.isfinite(found.w).all()


def test_what_it_cannot_start_from_is_refused() -> None:
    loss, solver = sparse_problem(*draw()), StochasticHardThresholding(2)
    for w0, message in (
        (np.zeros(7), "8 finite numbers"),
        (np.full(8, np.nan), "8 finite numbers"),
        (np.ones(8), "more than k = 2"),
        (np.eye(8)[0] * 1e200, "overflows"),
    ):
        with pytest.raises(InputError, match=message):
            solver.solve(loss, w0=w0)
    with pytest.raises(InputError, match="61 blocks"):
        replace(solver, n_blocks=61).solve(loss)
    with pytest.raises(InputError, match="square loss"):
        solver.solve(linear_problem(*draw(), 1.0, "hinge"))
