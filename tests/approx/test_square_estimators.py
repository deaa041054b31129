from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import online_naive
from aucert.approx.fsauc import FSAUC, MultiStageSaddle, StageWalk
from aucert.approx.online import from_rows
from aucert.approx.solam import SOLAM, StochasticSaddle
from aucert.approx.spam import SPAM, StochasticProximal
from aucert.exact.errors import InputError
from aucert.exact.solvers.convex_reference import convex_reference
from loops import each

MODELS = [SPAM, SOLAM, FSAUC]
ONLINE = MODELS


def draw(seed: int = 0, n: int = 90, d: int = 10):
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) < n // 3, "ill", "healthy")
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    X[:, 4:7] += 1.5 * (y == "ill")[:, None]
    return X, y


@each("model", MODELS)
@each("kind", [np.asarray, sp.csr_matrix])
def test_it_ranks_the_rows_and_its_gap_is_proved(model, kind) -> None:
    X, y = draw()
    fitted = model(max_passes=200, random_state=0).fit(kind(X), y)
    assert fitted.score(kind(X), y) > 0.85
    task = fitted._solver(0).problem(from_rows(X, y == "ill"))
    best = convex_reference(task).objective
    assert fitted.lower_bound_ - 1e-12 <= best <= fitted.objective_ + 1e-12
    assert fitted.gap_ == pytest.approx(fitted.objective_ - fitted.lower_bound_)
    assert fitted.gap_ < 0.2
    held = fitted.certificate_
    assert held.dual <= best <= held.primal + 1e-12
    assert 0 <= held.primal - fitted.objective_ <= held.rounding and task.in_words in held.statement
    assert held.gap == pytest.approx(fitted.gap_, rel=1e-9)
    assert fitted.objective_ == pytest.approx(task.value(fitted.coef_[0]), rel=1e-12)
    assert not fitted.proved_
    np.testing.assert_array_equal(fitted.support_, np.flatnonzero(fitted.coef_[0]))
    fitted.partial_fit(kind(X), y)
    removed = {"gap_", "proved_", "objective_", "lower_bound_", "certificate_"}
    assert not removed & set(vars(fitted))


def test_an_answer_whose_gap_is_closed_is_called_proved() -> None:
    X, y = draw()
    task = SPAM()._solver(0).problem(from_rows(X, y == "ill"))
    null = SPAM(
        l1=60 * np.abs(task.loss.delta).max(), l2=0.0, max_passes=5
    )  # no row moves anything
    close = SPAM(l1=0.0, l2=200.0, schedule="linear", max_passes=10, random_state=0)
    null.fit(X, y)
    close.fit(X, y)
    assert not close.proved_
    assert null.proved_
    assert null.gap_ <= 1e-9
    assert not null.coef_.any()


def test_the_answers_are_those_of_the_solvers_with_the_same_seed() -> None:
    X, y = draw()
    loss = from_rows(X, y == "ill")
    pairs = [
        (SPAM(0.1, 0.2, schedule="linear", random_state=3, max_passes=5),
         StochasticProximal(0.1, 0.2, "linear", max_passes=5, seed=3)),
        (SOLAM(0.7, random_state=3, max_passes=5), StochasticSaddle(0.7, max_passes=5, seed=3)),
        (FSAUC(0.7, random_state=3, max_passes=5), MultiStageSaddle(0.7, max_passes=5, seed=3)),
    ]  # fmt: skip
    for model, solver in pairs:
        np.testing.assert_array_equal(model.fit(X, y).coef_[0], solver.solve(loss).w)
        assert model.objective_ == pytest.approx(solver.solve(loss).objective)


def test_the_last_point_is_less_sparse_than_the_optimum_but_its_largest_weights_are_right() -> None:
    X, y = draw(n=400)
    fitted = SPAM(l1=0.3, l2=0.1, schedule="linear", max_passes=200, random_state=0).fit(X, y)
    best = convex_reference(fitted._solver(0).problem(from_rows(X, y == "ill"))).w
    assert set(np.flatnonzero(best)) == {4, 5, 6} < set(fitted.support_)
    assert set(np.argsort(np.abs(fitted.coef_[0]))[-3:]) == {4, 5, 6}


@each("make", [int, np.random.RandomState])
@each("model", MODELS)
def test_a_random_state_gives_the_same_model_again(model, make) -> None:
    X, y = draw()
    first, second, other = (
        model(max_passes=2, random_state=make(seed)).fit(X, y).coef_ for seed in (7, 7, 8)
    )
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


@each("model", ONLINE)
def test_rows_in_batches_are_as_good_as_rows_at_once(model) -> None:
    X, y = draw(n=3000)
    whole, parts = model(random_state=0), model(random_state=0)
    whole.fit(X, y)
    for _ in range(4):
        for batch in np.split(np.arange(3000), 10):
            parts.partial_fit(sp.csr_matrix(X[batch]), y[batch], classes=["healthy", "ill"])
    assert parts.n_iter_ == 12_000
    assert not hasattr(parts, "gap_")
    task = whole._solver(0).problem(from_rows(X, y == "ill"))
    assert task.value(parts.coef_[0]) < task.value(np.zeros(10)) - 0.3
    assert parts.score(X, y) > 0.85


def test_spam_in_batches_steps_with_the_means_of_all_rows_so_far() -> None:
    X, y = draw()
    ill, eta = y == "ill", np.full(60, 0.01)
    model = SPAM(0.02, 0.1, step=0.01, schedule="constant", random_state=0)
    model.partial_fit(X[:30], y[:30], classes=np.unique(y))
    first, _ = online_naive.spam(X[:30], ill[:30], np.arange(30), eta[:30], 0.02, 0.1, np.zeros(10))
    np.testing.assert_allclose(model.coef_[0], first, atol=1e-12)
    model.partial_fit(X[30:], y[30:])
    second, _ = online_naive.spam(X, ill, np.arange(30, 90), eta, 0.02, 0.1, first)
    np.testing.assert_allclose(model.coef_[0], second, atol=1e-12)


@each("model", ONLINE)
def test_a_batch_of_one_class_is_taken_and_leaves_the_intercept(model) -> None:
    X, y = draw()
    ill = y == "ill"
    fitted = model(random_state=0).partial_fit(X[ill][:5], y[ill][:5], classes=np.unique(y))
    assert fitted.intercept_ == 0.0
    fitted.partial_fit(X, y)
    intercept = fitted.intercept_.copy()
    assert intercept != 0.0
    fitted.partial_fit(X[ill], y[ill])
    np.testing.assert_array_equal(fitted.intercept_, intercept)
    assert fitted.score(X, y) > 0.6


def test_what_needs_all_rows_is_refused_in_batches() -> None:
    X, y = draw()
    with pytest.raises(InputError, match="exact"):
        SOLAM(share="exact").partial_fit(X, y, classes=np.unique(y))
    with pytest.raises(InputError, match="classes"):
        SPAM().partial_fit(X, y)
    with pytest.raises(InputError, match="exact"):
        FSAUC(share="exact").partial_fit(X, y, classes=np.unique(y))


@each("kind", [np.asarray, sp.csr_matrix])
@each("cuts", [[1], [45], [30, 31, 300, 1200]])
def test_fsauc_in_batches_goes_through_the_stages_of_one_call(kind, cuts) -> None:
    X, y = draw(n=1500)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)  # one length: one step
    names, ill = np.unique(y), y == "ill"
    parts = FSAUC(0.4, n_steps=1500)
    for batch in np.split(np.arange(1500), cuts):
        parts.partial_fit(kind(X[batch]), y[batch], classes=names)
    whole = FSAUC(0.4, n_steps=1500).partial_fit(kind(X), y, classes=names)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
    walk = StageWalk(MultiStageSaddle(0.4), from_rows(X, ill), np.zeros(10), 1500)
    assert walk.n_stages >= 2
    size = walk.n_stages * walk.stage_size
    answer, left = online_naive.fsauc(
        X, ill, np.arange(size), walk.eta, 0.4, 1.0, walk.n_stages, walk.stage_size
    )
    assert left[0] > 0
    stages = FSAUC(0.4, n_steps=1500).partial_fit(X[:size], y[:size], classes=names)
    np.testing.assert_allclose(stages.coef_[0], answer, rtol=1e-9, atol=1e-12)


def test_fsauc_lays_its_stages_out_for_the_first_batch_where_no_number_is_given() -> None:
    X, y = draw(n=400)
    model = FSAUC(max_passes=7).partial_fit(X, y, classes=np.unique(y))
    assert isinstance(model._walk, StageWalk)
    assert model._walk.n_stages * model._walk.stage_size == pytest.approx(7 * 400, abs=10)
    with pytest.raises(InputError, match="n_steps"):
        FSAUC(n_steps=0).partial_fit(X, y, classes=np.unique(y))
