"""Sparse methods: hard thresholding, SHT-AUC, StoIHT, HSG-HT, and baselines of chosen features."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from aucert import approx
from aucert.approx import SHTAUC, StochasticHardThresholding, hard_threshold, sparse_problem
from aucert.approx.logistic_thresholding import LogisticData, block_curvature
from aucert.approx.sht import DIVERGED, Stop, refine_weights
from aucert.approx.sparse_baselines import fisher_scores
from aucert.approx.thresholding import SAMPLED, kth_largest, largest
from aucert.exact import AllPairs, CertificateError, InputError, Rows, best_subset, linear_problem
from aucert.exact.square_loss import support
from aucert.exact.square_loss.row_average import RowAverage
from aucert.exact.square_loss.support import optimum_on
from loops import each, refuses, seeds
from pairwise import differences, least_mean_square, mean_square
from problems import thin_rows
from subset_problems import with_signal

KINDS = [np.asarray, sp.csr_matrix]

# Few different values, so that ties are common.
vectors = st.lists(st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0, 3.5]), min_size=1, max_size=9)


@given(vectors, st.integers(1, 10))
def test_it_keeps_the_k_largest_and_the_lower_index_among_tied_ones(values, k) -> None:
    w = np.array(values)
    order = sorted(range(w.size), key=lambda i: (-abs(w[i]), i))  # by definition, with a sort
    expected = np.zeros(w.size)
    expected[order[:k]] = w[order[:k]]
    kept = hard_threshold(w, k)
    np.testing.assert_array_equal(kept, expected)
    np.testing.assert_array_equal(largest(w, k), sorted(order[:k]))
    if k <= w.size:
        assert kth_largest(w, k) == abs(w[order[k - 1]])
    tied = np.array([3.0, -2.0, 2.0, 2.0, 1.0, 0.0])  # of which the printed formula keeps fewer
    assert hard_threshold(tied, 3, paper_literal=True).tolist() == [3, 0, 0, 0, 0, 0]
    kept[:] = 7.0  # a copy, even if it is the identity
    np.testing.assert_array_equal(w, values)


@each("kind", ["normal", "ties", "sorted", "reversed", "equal", "two values"])
@each("n", [1, 2, 3, 50, SAMPLED, SAMPLED + 1, SAMPLED + 2, 5000, 60_000])
def test_it_is_right_on_long_vectors_of_every_order(n: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    w = {
        "normal": rng.normal(size=n),
        "ties": rng.integers(-4, 5, size=n).astype(float),
        "sorted": np.sort(rng.normal(size=n)),
        "reversed": -np.sort(rng.random(n)),
        "equal": np.full(n, -1.5),
        "two values": rng.choice([-1.0, 2.0, np.inf], size=n),
    }[kind]
    size = -np.sort(-np.abs(w))
    for k in {1, 2, n // 3 + 1, (n + 1) // 2, max(n - 1, 1), n}:
        assert k > n or kth_largest(w, k) == size[k - 1]


def test_what_cannot_be_thresholded_is_refused() -> None:
    wrong: list[tuple[str, Any, Any]] = [
        *(("entry 1 of w", [1.0, bad, 2.0], 2) for bad in (np.nan, np.inf, -np.inf)),
        *(("k must be a whole number", np.ones(3), k) for k in (0, -1, 1.5, True, "2", None)),
        *(("vector", w, 1) for w in (np.ones((2, 2)), np.array(1.0), [])),
    ]
    for match, w, k in wrong:
        refuses(match, hard_threshold, np.array(w), k)
    for w, k in (([1.0, np.nan], 1), ([1.0, 2.0], 3), ([1.0], 0), ([[1.0]], 1), ([], 1)):
        with pytest.raises(InputError):
            kth_largest(np.array(w), k)


WEIGHTS = [None, np.arange(60) % 3 + 1.0]


def steepest(loss: RowAverage) -> float:
    """The largest eigenvalue of the Hessian, from the gradients."""
    zero = loss.gradient(np.zeros(loss.dim))
    columns = [loss.gradient(e) - zero for e in np.eye(loss.dim)]
    return float(np.linalg.eigvalsh(np.array(columns)).max())


def test_three_steps_are_those_of_algorithm_1() -> None:
    X, y = with_signal()
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
    loss, w = sparse_problem(*with_signal()), np.linspace(-1, 1, 8)  # 60 rows: 7 blocks are unequal
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
    X, y = with_signal(seed)
    loss = sparse_problem(X, y)
    found = StochasticHardThresholding(k, tol=1e-9, max_epochs=2000).solve(loss)
    assert found.status == Stop.STATIONARY
    moved = hard_threshold(found.w - found.step * loss.gradient(found.w), k)
    np.testing.assert_allclose(moved, found.w, atol=1e-8 * float(np.linalg.norm(found.w)))
    # A fixed point is the minimum on its own support.
    refit = optimum_on(Rows(X), y == 1, found.support)
    assert found.objective == pytest.approx(refit.value, rel=1e-7)


def test_a_problem_brings_its_penalty_with_it() -> None:
    X, y = with_signal()
    problem = linear_problem(X, y, 0.7, "square")
    found = StochasticHardThresholding(3).solve(problem)
    expected = mean_square(X, y == 1, found.w) + 0.35 * found.w @ found.w
    assert found.objective == pytest.approx(expected, rel=1e-11)
    assert found.objective == pytest.approx(problem.objective(found.w), rel=1e-11)
    refit = optimum_on(Rows(X), y == 1, found.support, lam=0.7)
    assert found.objective == pytest.approx(refit.value, rel=1e-8)


def test_the_authors_step_is_scaled_by_the_class_shares_and_the_last_block_is_longer() -> None:
    X, y = with_signal(r=0.25)
    loss = sparse_problem(0.1 * X, y)
    solver = StochasticHardThresholding(4, mode="authors", max_epochs=1)
    found = solver.solve(loss)
    assert found.step == pytest.approx(0.25 * 0.75)
    first = hard_threshold(2 * 0.1875 * loss.delta, 4, paper_literal=True)
    np.testing.assert_allclose(found.w, first, rtol=1e-12)
    assert replace(solver, step=3.0).solve(loss).step == pytest.approx(3 * 0.1875)
    for sizes, expected in [
        ({"n_blocks": 7}, [8] * 6 + [12]),  # b = floor(60 / 7) = 8, floor(60 / 8) = 7 blocks
        ({"block_size": 25}, [25, 35]),
        ({"block_size": 100}, [60]),
        ({}, [60]),
    ]:
        blocks = replace(solver, **sizes).blocks(loss, np.random.default_rng(0))
        assert [block.mass.size for block in blocks] == expected
        np.testing.assert_array_equal(np.concatenate([block.X for block in blocks]), loss.X)


def test_what_is_reported_belongs_to_the_weights_returned() -> None:
    X, y = with_signal()
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


@each("form", KINDS)
@each("pool", [4, 300])
def test_after_swaps_no_exchange_of_one_feature_helps(form, pool) -> None:
    X, y = with_signal(2, d=12, mu=(0.3, 0.3, 0.2))
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


def test_a_judge_tightens_the_bound_and_may_prove_the_answer() -> None:
    X, y = with_signal(5, n=200, d=12)
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
        refuses("this model needs", model.judge, other)
    for rows in ((2 * X, y), with_signal(6)):
        with pytest.raises((InputError, CertificateError)):
            model.judge(best_subset(*rows, 3))


@each("kind", KINDS)
@each("weight", WEIGHTS, ids=["plain", "weighted"])
def test_its_certificate_holds_among_all_supports(kind, weight) -> None:
    for seed in range(3):
        X, y = with_signal(seed)
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


@each("kind", KINDS)
@each("weight", WEIGHTS, ids=["plain", "weighted"])
def test_where_moments_take_too_long_the_rows_bound_the_objective(kind, weight, monkeypatch):
    X, y = with_signal()
    X = X + 1e3  # far from the origin: what centring has lost is charged
    loss = RowAverage.of(Rows(kind(X)), y == 1, AllPairs(weight))
    w = np.r_[np.zeros(4), 0.3, 0.2, 0.1, 0.0]
    true, near = mean_square(X, y == 1, w, weight), support.objective_above(loss, w)
    monkeypatch.setattr(support, "LARGEST_WORK", 0.0)
    far = support.objective_above(loss, w)
    assert true - 1e-12 <= far <= true + 1e-6 and near <= far + 1e-9


def test_time_interruption_and_divergence_end_a_run_with_a_valid_point_and_advice() -> None:
    X, y = with_signal()
    loss, solver = sparse_problem(X, y), StochasticHardThresholding(3, n_blocks=6)

    def stop(line) -> None:
        if line.n_iter >= 12:
            raise KeyboardInterrupt

    timed, stopped = replace(solver, max_time=1e-9).solve(loss), solver.solve(loss, callback=stop)
    assert (timed.status, timed.n_iter) == (Stop.TIME_LIMIT, 1)
    assert (stopped.status, stopped.n_iter) == (Stop.INTERRUPTED, 12)
    for found in (timed, stopped):
        assert found.objective == pytest.approx(mean_square(X, y == 1, found.w), rel=1e-11)
    for n_blocks, step in ((1, 10.0), (5, 10.0), (1, 1e200), (5, 1e200)):
        found = StochasticHardThresholding(3, n_blocks=n_blocks, step=step).solve(loss)
        assert found.status == Stop.DIVERGED and "step" in found.status.advice
        assert found.objective <= DIVERGED and np.isfinite(found.w).all()
    for advice, more in (
        ('step="auto"', {"step": 100.0}),
        ("max_epochs", {"k": 3, "max_epochs": 1}),
        ("max_time", {"k": 3, "max_time": 1e-9}),
    ):
        with pytest.warns(ConvergenceWarning, match=advice):
            assert np.isfinite(SHTAUC(**more).fit(X, y).decision_function(X)).all()
    solver = StochasticHardThresholding(4, n_blocks=5, max_epochs=300, tol=1e-4, seed=3)
    model = SHTAUC(k=4, n_blocks=5, max_epochs=300, random_state=3).fit(X, y)
    found = solver.solve(loss)
    np.testing.assert_array_equal(model.coef_[0], found.w)
    assert model.stationarity_ == found.stationarity and model.n_iter_ == found.n_iter


X, POSITIVE = thin_rows()


def logistic_slopes(X, positive, w, c):
    """Slope of log(1 + exp(-y (w'x + c))) of each row in (w, c): (n, d + 1)."""
    y = np.where(positive, 1.0, -1.0)
    pull = -y / (1 + np.exp(y * (X @ w + c)))
    return pull[:, None] * np.column_stack([X, np.ones(y.size)])


def keep(w: np.ndarray, k: int) -> np.ndarray:
    """The k largest entries, of tied ones the first."""
    places = sorted(range(w.size), key=lambda j: (-abs(w[j]), j))[:k]
    return np.where(np.isin(np.arange(w.size), places), w, 0.0)


def thresholded(X, positive, batches, factors, step, k, c):
    """Hard-thresholded logistic steps: the last (w, c)."""
    w = np.zeros(X.shape[1])
    for batch, factor in zip(batches, factors, strict=True):
        g = factor * logistic_slopes(X[batch], positive[batch], w, c).sum(axis=0)
        w, c = keep(w - step * g[:-1], k), c - step * g[-1]
    return w, c


@each("k", [1, 4, 25, 100])
@each("kind", KINDS)
def test_the_compiled_logistic_steps_are_the_naive_ones(kind, k) -> None:
    rng = np.random.default_rng(0)
    data = LogisticData(kind(X), POSITIVE, k, 0.3, None)
    batches = [rng.choice(40, size=int(size), replace=False) for size in rng.integers(1, 9, 90)]
    factors = rng.random(90)
    for part in (slice(0, 1), slice(1, 50), slice(50, 90)):
        data.take(batches[part], factors[part], 2.0)
    w, c = thresholded(X, POSITIVE, batches, factors, 2.0, k, 0.3)
    np.testing.assert_allclose(data.w, w, atol=1e-12)
    np.testing.assert_array_equal(data.w != 0, w != 0)
    assert data.c[0] == pytest.approx(c)
    assert (data.n_iter, data.n_rows) == (90, sum(batch.size for batch in batches))


@each("kind", KINDS)
def test_of_tied_features_the_first_are_kept(kind) -> None:
    twin = np.array([[0.0, 1.0, 1.0, -1.0, 1.0], [0.0, -1.0, -1.0, 1.0, -1.0]])
    found = approx.stoiht(kind(twin), [1, 0], 2, max_epochs=3)
    np.testing.assert_array_equal(found.support, [1, 2])


@pytest.mark.slow
def test_without_thresholding_it_reaches_the_convex_optimum() -> None:
    rows, y = with_signal(n=200)
    best = LogisticRegression(C=1e9, tol=1e-12, max_iter=10_000).fit(rows, y)
    found = approx.stoiht(rows, y, 8, max_epochs=2000)
    np.testing.assert_allclose(found.w, best.coef_[0], atol=1e-4)
    assert found.intercept == pytest.approx(best.intercept_[0], abs=1e-4)


def test_the_curvature_of_a_block_is_not_below_that_of_its_loss() -> None:
    rng = np.random.default_rng(0)
    data = LogisticData(X, POSITIVE, 3, "log-odds", None)
    block = np.arange(12)
    ones = np.column_stack([X[block], np.ones(12)])
    top = np.linalg.eigvalsh(ones.T @ ones)[-1] / 4 * 5 / 40
    assert top <= block_curvature(data, block, 5, rng) <= 1.3 * top


@each("kind", KINDS)
def test_it_is_the_naive_method_with_the_same_draws(kind) -> None:
    found = approx.hsg_ht(kind(X), POSITIVE, 4, first=2, ratio=0.9, step=1.5, max_passes=20, seed=5)
    rng, batches = np.random.default_rng(5), []
    while sum(batch.size for batch in batches) < 20 * 40:
        size = min(40, math.ceil(2.0 / 0.9 ** len(batches)))
        batches.append(rng.choice(40, size, replace=False, shuffle=False))
    r, factors = POSITIVE.mean(), [1 / batch.size for batch in batches]
    w, c = thresholded(X, POSITIVE, batches, factors, 1.5, 4, math.log(r / (1 - r)))
    np.testing.assert_allclose(found.w, w, atol=1e-12)
    assert found.intercept == pytest.approx(c)
    assert (found.n_iter, found.n_rows) == (len(batches), sum(b.size for b in batches))


def test_the_authors_batches_begin_anew_in_each_pass_and_stay_small() -> None:
    found = approx.hsg_ht(X, POSITIVE, 3, mode="authors", step=3.0, intercept=0.0, max_passes=2)
    sizes = [math.floor(1.033**t) for t in range(22)] + [2] * 9  # 1 until 1.033^22 > 2
    assert sum(sizes) == 40
    w, _ = thresholded(
        X, POSITIVE, np.split(np.arange(40), np.cumsum(sizes)[:-1]) * 2,
        [1 / size for size in sizes] * 2, 3.0, 3, 0.0,
    )  # fmt: skip
    np.testing.assert_allclose(found.w, w, atol=1e-12)
    assert found.n_rows == 80


BX, BY = with_signal(n=200, mu=(2.0, 1.5, 1.2))


@each("kind", KINDS)
def test_the_mean_difference_is_that_of_the_pairs(kind) -> None:
    wanted = differences(BX, BY == 1).mean(axis=0)
    np.testing.assert_allclose(approx.mean_difference(kind(BX), BY), wanted)
    np.testing.assert_allclose(approx.mean_difference(kind(BX), BY, positive=0), -wanted)
    top = approx.top_mean_difference(kind(BX), BY, 2)
    np.testing.assert_array_equal(np.flatnonzero(top), [0, 1])
    np.testing.assert_allclose(top[:2], wanted[:2])
    for wrong in (
        lambda: approx.top_fisher(BX, BY, 0),
        lambda: approx.oracle_support(BX, BY, [9]),
        lambda: approx.oracle_support(BX, BY, [0.5]),
        lambda: approx.mean_difference(BX, BY[1:]),
    ):
        with pytest.raises(InputError):
            wrong()


@each("kind", KINDS)
def test_fisher_scores_are_the_best_that_one_feature_can_do(kind) -> None:
    scores = fisher_scores(kind(BX), BY)
    for chosen in (*([j] for j in range(8)), [4, 0, 2]):
        w = approx.oracle_support(BX, BY, chosen)
        best, value = least_mean_square(BX, BY == 1, chosen), mean_square(BX, BY == 1, w)
        assert set(np.flatnonzero(w)) == set(chosen) and value == pytest.approx(best, rel=1e-9)
        assert len(chosen) > 1 or 1 / (1 + scores[chosen[0]]) == pytest.approx(best, rel=1e-9)
    both = np.column_stack([BX[:, :2], np.full(200, 0.1), np.where(BY == 1, 3.0, 1.0)])
    scores = fisher_scores(kind(both), BY)  # of a constant feature, and of one that separates
    assert scores[2] == 0 and scores.argmax() == 3
