"""Refits and swaps after SHT-AUC, and the bounds that its estimator reports."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx import SHTAUC
from aucert.approx.sht import StochasticHardThresholding, refine_weights, sparse_problem
from aucert.exact import CertificateError, InputError, best_subset
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss.row_average import RowAverage
from aucert.exact.square_loss.support import forward, optimum_on, support_bounds_of, swap_descent
from loops import each, seeds
from sparse_signal import draw
from subset_problems import draw as draw_problem
from subset_problems import noisy


def run(loss: RowAverage, refine: str, k: int = 3, **options):
    return StochasticHardThresholding(k, refine=refine, **options).solve(loss)


@each("seed", seeds(6))
def test_each_refinement_is_no_worse_than_the_one_before(seed: int) -> None:
    loss = sparse_problem(*draw(seed, mu=(0.3, 0.3, 0.2)))
    plain, refit, swaps = (run(loss, how, max_epochs=3) for how in ("none", "refit", "swaps"))
    assert plain.objective >= refit.objective >= swaps.objective
    np.testing.assert_array_equal(refit.support, plain.support)
    assert swaps.support.size == 3


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


def test_swaps_start_from_the_features_found_and_from_nowhere_else() -> None:
    elsewhere = 0
    for seed in (9, 11, 20, 25):  # pairs of correlated features, so that swaps have several ends
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 9)), np.arange(60) % 3 == 0
        X[:, 1::2] = X[:, ::2][:, :4] + 0.5 * X[:, 1::2]
        X[:, :8] += np.outer(y, rng.normal(size=8))
        loss = sparse_problem(X, y.astype(int))
        few = support_bounds_of(loss).loss
        greedy = swap_descent(few, forward(few, 3)).support
        for S in itertools.combinations(range(9), 3):
            best = few.best_swap(S)
            assert best is not None
            if best.value < few.optimum(S).value or set(S) == set(greedy):
                continue
            elsewhere += 1  # another end of swaps than the greedy one
            w = refine_weights(loss, few.optimum(S).w, 3, "swaps")
            np.testing.assert_array_equal(np.flatnonzero(w), S)
    assert elsewhere >= 3


def test_what_is_reported_after_a_refinement_belongs_to_the_weights_returned() -> None:
    loss = sparse_problem(*draw(3, mu=(0.3, 0.3, 0.2)))
    found = run(loss, "swaps", max_epochs=1)
    assert found.objective == loss.value(found.w)
    np.testing.assert_array_equal(found.support, np.flatnonzero(found.w))
    still = run(loss, "none", max_epochs=1)
    assert found.stationarity != still.stationarity
    assert [line.objective for line in found.history] == [x.objective for x in still.history]


def test_a_penalty_counts_in_refits_and_swaps() -> None:
    X, y = draw(4)
    loss = sparse_problem(X, y, lam=0.5)
    found = run(loss, "swaps")
    best = optimum_on(Rows(X), y == 1, found.support, lam=0.5)
    assert found.objective == pytest.approx(best.value, rel=1e-10)


def test_the_authors_mode_keeps_one_feature_less_in_swaps_too() -> None:
    loss = sparse_problem(*draw(0))
    found = run(loss, "swaps", k=4, mode="authors", step=0.1, max_epochs=3)
    assert found.support.size == 3
    assert run(loss, "swaps", k=1, mode="authors", step=0.1, max_epochs=3).support.size == 0


@each("seed", seeds(10))
def test_swaps_end_at_the_proved_best_subset_of_an_easy_problem(seed: int) -> None:
    X, y = draw(seed, n=200, d=15)
    found = run(sparse_problem(X, y), "swaps")
    best = best_subset(X, y, 3)
    assert best.proved
    assert best.gap_of(found.w) <= 1e-9


def gaps(count: int) -> np.ndarray:
    """Proved gaps of plain and of improved SHT-AUC on random problems: (count, 2)."""
    found = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        d, k, n = int(rng.integers(10, 41)), int(rng.integers(2, 9)), int(rng.integers(200, 1001))
        r, share, mu = (
            rng.choice([0.1, 0.3, 0.5]),
            rng.choice([0.0, 0.3, 0.6]),
            rng.uniform(0.2, 0.5),
        )
        X, y = noisy(n, d, k, r, share, seed, mu)
        best = best_subset(X, y, k, max_time=60)
        assert best.proved
        loss = sparse_problem(X / X.std(axis=0), y)
        row = []
        for refine in ("none", "swaps"):
            w = run(loss, refine, k).w / X.std(axis=0)
            row.append(best.gap_of(w))
        found.append(row)
    return np.array(found)


@pytest.mark.slow
def test_with_swaps_95_of_100_random_problems_are_solved_and_proved() -> None:
    plain, improved = gaps(100).T
    assert (improved <= 1e-9).sum() >= 95
    assert (plain <= 1e-9).sum() < 50
    assert (improved <= plain + 1e-12).all()


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


def test_with_all_features_the_fit_alone_proves_the_answer() -> None:
    X, y = draw(0)
    model = SHTAUC(k=8, refine="refit").fit(X, y)
    assert model.proved_
    assert not SHTAUC(k=3, max_epochs=3000).fit(X, y).proved_


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


def test_dependent_features_leave_the_bound_at_zero() -> None:
    problem = draw_problem(1, "copies")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SHTAUC(k=2, refine="swaps").fit(problem.X, problem.y)
    assert model.lower_bound_ == 0.0
    assert model.objective_ <= model.gap_ <= model.objective_ + 1e-11  # with its rounding
