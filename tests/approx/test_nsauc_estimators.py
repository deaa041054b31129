from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from aucert.approx import oam
from aucert.approx.nsauc import (
    NSAUC,
    NSVMSGD2,
    PairSGD,
    Walk,
    mean_square_size,
    random_pairs,
    starting_time,
)
from aucert.approx.nystrom import Nystrom
from aucert.approx.oam import OAM, OnlineAUC
from aucert.exact.api.solve import solve
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from aucert.exact.estimators.thresholds import threshold_accuracy
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.spaces.rows import Rows
from loops import each

RNG = np.random.default_rng(0)
N = 240
Y = (np.arange(N) % 4 == 0).astype(int)
X = RNG.normal(size=(N, 3)) + 0.8 * Y[:, None]
FRESH = RNG.normal(size=(20, 3))


def nsauc(**parameters) -> NSAUC:
    given = {"lam": 0.01, "gamma": 0.3, "n_landmarks": 20, "max_epochs": 20, "random_state": 0}
    return NSAUC(**{**given, "tol": 0.0, **parameters})


# NSAUC and NSVMSGD2


def test_nsauc_is_the_method_on_the_nystrom_features() -> None:
    features = Nystrom(gamma=0.3, n_landmarks=20, landmarks="kmeans", random_state=0)
    task = linear_problem(features.fit_transform(X), Y, 0.01)
    for average in ("all", "half"):
        model = nsauc(average=average).fit(X, Y)
        found = PairSGD(20, average=average, seed=0).solve(task)
        np.testing.assert_allclose(model.coef_[0], found.w, rtol=1e-10)
        assert model.certificate_ == found.certificate and model.n_iter_ == 20 * N
    given = {"gamma": 0.3, "n_landmarks": 20, "max_epochs": 20, "tol": 0.0, "random_state": 0}
    last = NSVMSGD2(0.01, **given).fit(X, Y)
    plain = PairSGD(20, average="none", seed=0).solve(task)
    np.testing.assert_allclose(last.coef_[0], plain.w, rtol=1e-10)
    with pytest.raises(InputError, match="average must be one of all, half"):
        nsauc(average="none").fit(X, Y)


def test_its_scores_are_a_sum_of_kernel_functions_of_the_landmarks() -> None:
    model = nsauc().fit(X, Y)
    kernel = model.nystrom_.map_.kernel
    scores = kernel(FRESH, model.nystrom_.landmarks_) @ model.dual_coef_[0]
    np.testing.assert_allclose(
        model.decision_function(FRESH), scores + model.intercept_[0], rtol=1e-9
    )


def test_the_certificate_of_nsauc_is_against_the_optimum_in_the_span() -> None:
    model = nsauc(max_epochs=400).fit(X, Y)
    best = solve(model.nystrom_.transform(X), Y, 0.01).certificate
    assert best.dual - 1e-12 <= model.certificate_.primal <= best.dual * (1 + 2e-3)
    assert model.certificate_.dual <= best.primal


def test_too_few_steps_for_lam_are_said() -> None:
    with pytest.warns(ConvergenceWarning, match=r"number of steps is 4\.8e-03, below 1"):
        nsauc(lam=1e-6).fit(X, Y)


def test_time_that_runs_out_is_said() -> None:
    with pytest.warns(ConvergenceWarning, match="raise max_time"):
        model = nsauc(max_epochs=10**7, max_time=0.1).fit(X, Y)
    assert model.status_ == Status.TIME_LIMIT


def test_a_tolerance_ends_the_run() -> None:
    model = nsauc(max_epochs=5000, tol=0.05).fit(X, Y)
    assert model.status_ == Status.CERTIFIED and model.certificate_.reaches(0.05)
    assert model.n_iter_ < 5000 * N


def test_batches_of_all_rows_come_to_the_fit() -> None:
    fitted, stream = nsauc(max_epochs=150).fit(X, Y), nsauc()
    for _ in range(150):
        stream.partial_fit(X, Y, classes=[0, 1])
    assert stream.n_iter_ == fitted.n_iter_ and stream.t0_ == pytest.approx(fitted.t0_, rel=1e-12)
    assert not hasattr(stream, "certificate_")
    task = linear_problem(stream.nystrom_.transform(X), Y, 0.01)
    assert task.objective(stream.coef_[0]) <= 1.01 * fitted.certificate_.primal


def test_a_batch_makes_its_steps_from_where_the_last_one_ended() -> None:
    model, walk, t0 = nsauc(), None, 0.0
    for part in (slice(0, 100), slice(100, N)):
        model.partial_fit(X[part], Y[part], classes=[0, 1])
        task = linear_problem(model.nystrom_.transform(X[part]), Y[part], 0.01)
        if walk is None:
            walk, t0 = Walk.of(np.zeros(20)), starting_time("scaled", 0.01, size(task))
        pairs = random_pairs(task, Y[part].size, np.random.default_rng([0, walk.t]))
        PairSGD().advance(walk, model.nystrom_.transform(X[part]), pairs, 0.01, t0)
        np.testing.assert_allclose(model.coef_[0], walk.mean, rtol=1e-9)
    assert model.t0_ == pytest.approx(t0, rel=1e-12) and model.n_iter_ == N


def size(task: Problem) -> float:
    assert isinstance(task.space, Rows)
    return mean_square_size(task.space)


def test_batches_go_on_after_a_fit() -> None:
    model = nsauc().fit(X, Y)
    landmarks, before = model.nystrom_.landmarks_.copy(), model.coef_.copy()
    model.partial_fit(X[:60], Y[:60])
    np.testing.assert_array_equal(model.nystrom_.landmarks_, landmarks)
    assert model.n_iter_ == 20 * N + 60
    assert 0 < np.abs(model.coef_ - before).max() < 0.2 * np.abs(before).max()
    assert model.fit(X, Y).n_iter_ == 20 * N
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize("kind", [NSAUC, NSVMSGD2])
def test_a_batch_of_one_class_is_paired_with_the_rows_before_it(kind) -> None:
    model = kind(random_state=0).partial_fit(X[Y == 1], Y[Y == 1], classes=[0, 1])
    assert model.n_iter_ == 0 and not model.decision_function(X).any()
    for _ in range(9):
        model.partial_fit(X[Y == 0], Y[Y == 0]).partial_fit(X[Y == 1], Y[Y == 1])
    assert model.n_iter_ == 9 * N
    both = kind(random_state=0).fit(X, Y).decision_function(X)
    assert roc_auc_score(Y, model.decision_function(X)) > roc_auc_score(Y, both) - 0.05


def test_a_stream_of_nsauc_needs_an_average_that_has_begun() -> None:
    with pytest.raises(InputError, match='average="half"'):
        nsauc(average="half").partial_fit(X, Y, classes=[0, 1])


# OAM


def test_oam_is_the_method_on_shuffled_rows() -> None:
    model = OAM(0.05, n_buffer=10, max_epochs=2, random_state=5).fit(X, Y)
    method, rng = OnlineAUC(0.05, n_buffer=10), np.random.default_rng(5)
    stream = method.start(3)
    for _ in range(2):
        order = rng.permutation(N)
        method.learn(stream, X[order], Y[order] == 1, rng.random(N))
    np.testing.assert_array_equal(model.coef_[0], stream.w)
    averaged = OAM(0.05, n_buffer=10, max_epochs=2, average=True, random_state=5).fit(X, Y)
    np.testing.assert_array_equal(averaged.coef_[0], stream.mean)


def test_a_stream_may_begin_with_one_class() -> None:
    model = OAM(random_state=0).partial_fit(X[Y == 0], Y[Y == 0], classes=[0, 1])
    assert not model.coef_.any() and model.intercept_[0] == 0.0
    model.partial_fit(X[Y == 1], Y[Y == 1])
    assert model.stream_.seen.tolist() == [60, 180]
    assert roc_auc_score(Y, model.decision_function(X)) > 0.8


def test_the_threshold_of_a_stream_is_that_of_its_buffers() -> None:
    whole = OAM(n_buffer=N, random_state=0).partial_fit(X, Y, classes=[0, 1])
    cut = whole.intercept_[0]
    assert whole.set_threshold(X, Y).intercept_[0] == pytest.approx(cut, rel=1e-12)
    few = OAM(n_buffer=30, threshold="accuracy", random_state=0)
    few.partial_fit(X, Y, classes=[0, 1])
    kept = np.vstack([few.stream_.buffer_pos, few.stream_.buffer_neg])
    positive, weight = np.arange(60) < 30, np.repeat([60 / 30, 180 / 30], 30)
    cut = threshold_accuracy(kept @ few.coef_[0], positive, weight)
    assert few.intercept_[0] == -cut != -threshold_accuracy(kept @ few.coef_[0], positive)


def test_pieces_of_a_stream_come_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = OAM(n_buffer=7, random_state=0).fit(X, Y)
    monkeypatch.setattr(oam, "ROWS", 11)
    pieces = OAM(n_buffer=7, random_state=0).fit(X, Y)
    np.testing.assert_allclose(pieces.coef_, whole.coef_, rtol=1e-12)


# All of them.

ALL = [nsauc(), NSVMSGD2(0.01, n_landmarks=20, random_state=0), OAM(random_state=0)]


@each("model", ALL, ids=lambda m: type(m).__name__)
def test_the_random_state_names_the_stream(model) -> None:
    def scores(seed: int | None) -> np.ndarray:
        fresh = clone(model).set_params(random_state=seed)
        fresh.partial_fit(X[:100], Y[:100], classes=[0, 1]).partial_fit(X[100:], Y[100:])
        return fresh.decision_function(FRESH)

    np.testing.assert_array_equal(scores(1), scores(1))
    assert not np.array_equal(scores(1), scores(2))


@each("model", ALL, ids=lambda m: type(m).__name__)
def test_labels_of_batches_are_watched(model) -> None:
    with pytest.raises(InputError, match="first call of partial_fit"):
        clone(model).partial_fit(X, Y)
    with pytest.raises(InputError, match="must be two labels"):
        clone(model).partial_fit(X, Y, classes=[0, 1, 2])
    begun = clone(model).partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(InputError, match="the label 3 is not among"):
        begun.partial_fit(X, 3 * Y)
    with pytest.raises(InputError, match="since the first call"):
        begun.partial_fit(X, Y, classes=[1, 2])
    with pytest.raises(ValueError, match="features"):
        begun.partial_fit(X[:, :2], Y)
