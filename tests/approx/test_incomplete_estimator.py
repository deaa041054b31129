from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from aucert.approx import Adamax, IncompleteROCSVM, draw_pairs
from aucert.exact.api.solve import choose_solver, solve
from aucert.exact.certificate.certificate import Certificate, Minorant, full_certificate
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.problem import linear_problem
from loops import each

RNG = np.random.default_rng(0)
Y = (np.arange(90) % 3 == 0).astype(int)
X = RNG.normal(size=(90, 3)) + 0.8 * Y[:, None]


def make(**parameters) -> IncompleteROCSVM:
    return IncompleteROCSVM(**{"lam": 0.05, "random_state": 0, **parameters})


def test_the_fit_is_adamax_on_the_pairs_of_the_seed() -> None:
    model = make(random_state=5).fit(X, Y)
    problem = linear_problem(X, Y, 0.05).with_pairs(draw_pairs(Y == 1, 90, 5))
    solution = Adamax(step=0.05, tol=1e-3, max_iter=5000).solve(problem)
    np.testing.assert_array_equal(model.coef_[0], solution.w)
    assert model.n_pairs_ == 90 and model.n_iter_ == solution.n_iter
    assert model.incomplete_certificate_ == solution.certificate
    assert model.status_ == Status.CERTIFIED


@each("n_pairs", [5, 90, 2000])
@each("loss", ["hinge", "squared_hinge", "square"])
def test_the_full_certificate_is_never_below_the_true_error(n_pairs: int, loss: str) -> None:
    model = make(n_pairs=n_pairs, loss=loss).fit(X, Y)
    exact = solve(X, Y, 0.05, loss=loss)
    assert exact.status == Status.CERTIFIED
    excess = linear_problem(X, Y, 0.05, loss).objective(model.coef_[0]) - exact.certificate.primal
    assert model.certificate_.gap >= excess
    distance = float(np.linalg.norm(model.coef_[0] - exact.w))
    assert model.certificate_.radius + exact.certificate.radius >= distance


def test_the_two_certificates_are_of_two_problems() -> None:
    model = make(n_pairs=30).fit(X, Y)
    full = linear_problem(X, Y, 0.05)
    drawn = full.with_pairs(draw_pairs(Y == 1, 30, 0))
    w = model.coef_[0]
    assert model.certificate_.primal == pytest.approx(full.objective(w), rel=1e-12)
    assert model.incomplete_certificate_.primal == pytest.approx(drawn.objective(w), rel=1e-12)
    assert model.certificate_.gap > model.incomplete_certificate_.gap


def test_with_every_pair_drawn_once_nothing_is_lost_by_sampling() -> None:
    model = make(n_pairs=1800, replace=False).fit(X, Y)
    assert model.certificate_.primal == pytest.approx(
        model.incomplete_certificate_.primal, rel=1e-12
    )
    best = solve(X, Y, 0.05).certificate.dual
    assert model.certificate_.primal <= best * (1 + 1.01e-3)


@pytest.mark.slow
def test_the_excess_over_the_optimum_falls_as_more_pairs_are_drawn() -> None:
    best = solve(X, Y, 0.05).certificate.dual
    few, many = (
        np.mean([make(n_pairs=b, random_state=s).fit(X, Y).certificate_.primal for s in range(8)])
        for b in (40, 1000)
    )
    assert few - best > 5 * (many - best) > 0


def test_smoothing_never_makes_the_full_certificate_worse() -> None:
    problem = linear_problem(X, Y, 0.05)
    near = solve(X, Y, 0.05).w * 1.02
    gap = full_certificate(problem, near).gap
    plain = Minorant.from_scores(problem, problem.space.scores(near))
    assert gap <= Certificate.of(problem, near, plain).gap


@each("optimizer", ["adamax", "adamax-scalar", "gradient"])
def test_every_optimizer_nears_the_optimum_of_the_drawn_pairs(optimizer: str) -> None:
    step = {"adamax": 0.05, "adamax-scalar": 0.02, "gradient": 0.3}[optimizer]
    model = make(optimizer=optimizer, step=step, tol=0.02).fit(X, Y)
    drawn = linear_problem(X, Y, 0.05).with_pairs(draw_pairs(Y == 1, 90, 0))
    best = choose_solver(drawn, "auto", 1e-9, None).solve(drawn).certificate.dual
    assert drawn.objective(model.coef_[0]) <= best * 1.0201


def test_a_gap_that_is_too_large_is_said_with_advice() -> None:
    with pytest.warns(ConvergenceWarning, match=r"not within tol=0\.001.*raise max_iter"):
        model = make(max_iter=3).fit(X, Y)
    assert model.status_ == Status.ITERATION_LIMIT
    assert not model.incomplete_certificate_.reaches(1e-3)


WEIGHT = np.random.default_rng(7).integers(0, 4, size=90).astype(float)


def test_with_weights_both_certificates_are_of_the_weighted_rows() -> None:
    model = make(n_pairs=200).fit(X, Y, sample_weight=WEIGHT)
    w, kept = model.coef_[0], WEIGHT > 0
    repeated = linear_problem(
        np.repeat(X, WEIGHT.astype(int), 0), np.repeat(Y, WEIGHT.astype(int)), 0.05
    )
    assert model.certificate_.primal == pytest.approx(repeated.objective(w), rel=1e-12)
    assert model.certificate_.dual <= solve(X, Y, 0.05, sample_weight=WEIGHT).certificate.primal
    pairs = draw_pairs(Y[kept] == 1, 200, 0, weight=WEIGHT[kept])
    drawn = linear_problem(X[kept], Y[kept], 0.05).with_pairs(pairs)
    assert model.incomplete_certificate_.primal == pytest.approx(drawn.objective(w), rel=1e-12)
    intercept = model.intercept_[0]
    assert model.set_threshold(X, Y).intercept_[0] != intercept
    assert model.set_threshold(X, Y, sample_weight=WEIGHT).intercept_[0] == intercept


def test_on_many_drawn_pairs_a_weight_means_repetition() -> None:
    weighted = make(n_pairs=20_000, tol=1e-4).fit(X, Y, sample_weight=WEIGHT)
    best = solve(X, Y, 0.05, sample_weight=WEIGHT)
    plain = linear_problem(X, Y, 0.05, pairs=AllPairs(WEIGHT)).objective(solve(X, Y, 0.05).w)
    lost = weighted.certificate_.primal - best.certificate.primal
    assert 0 <= lost < 0.1 * (plain - best.certificate.primal)
    repeated = make(n_pairs=20_000, tol=1e-4).fit(
        np.repeat(X, WEIGHT.astype(int), axis=0), np.repeat(Y, WEIGHT.astype(int))
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=0.03)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=0.06)


def test_rows_of_weight_zero_are_not_there() -> None:
    weight = np.where(np.arange(90) < 60, 1.0, 0.0)
    one, other = make().fit(X, Y, sample_weight=weight), make().fit(X[:60], Y[:60])
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.n_pairs_ == 60


def test_weights_without_replacement_are_refused() -> None:
    with pytest.raises(InputError, match="row weights need draws with replacement"):
        make(replace=False).fit(X, Y, sample_weight=1.0 + Y)
