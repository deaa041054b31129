"""NSAUC's walk over drawn pairs, its estimators, and its streams."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from aucert.approx.nsauc import (
    LOOKS,
    NSAUC,
    NSVMSGD2,
    PairSGD,
    Schedule,
    Walk,
    mean_square_size,
    random_pairs,
    starting_time,
)
from aucert.approx.nystrom import Nystrom
from aucert.exact.api.solve import solve
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE, SQUARED_HINGE
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, Ridge, linear_problem, pair_problem
from aucert.exact.spaces.rows import Rows
from loops import each

RNG = np.random.default_rng(0)
N = 500
Y = np.arange(N) % 5 == 0
RAW = RNG.normal(size=(N, 4)) + 0.8 * np.where(Y, np.sign(RNG.normal(size=N)), 0)[:, None]
X = Nystrom(gamma=0.25, n_landmarks=30, landmarks="kmeans", random_state=0).fit_transform(RAW)


def problem(lam: float, rows: object = X, pairs: AllPairs | PairList | None = None) -> Problem:
    return pair_problem(Rows(rows), Y, pairs or AllPairs(), HINGE, Ridge(lam))


def drawn(size: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    return random_pairs(problem(1.0), size, np.random.default_rng(seed))


def naive(
    rows: np.ndarray, i: np.ndarray, j: np.ndarray, s: Schedule
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Algorithm 3 as a reader would write it: w after each step, and the points averaged."""
    w, points, seen = np.zeros(rows.shape[1]), [], []
    for t in range(1, i.size + 1):
        x = rows[i[t - 1]] - rows[j[t - 1]]
        z = w @ x
        slope = max(0.0, 1 - z) if s.literal_slope else float(z < 1)
        w = w + slope / (s.lam * (t + s.t0)) * x
        if t % s.rskip == 0:
            w = w - s.rskip / (t + s.t0) * w
        if t > s.start and t % s.askip == 0:
            points.append(w)
        seen.append(w)
    return seen, points


SCHEDULES = [
    Schedule(0.01, 31.0),
    Schedule(0.01, 100.0, rskip=1, askip=1),
    Schedule(0.5, 2.0, rskip=3, askip=7, start=50),
    Schedule(0.2, 9.0, literal_slope=True),
]


@each("sparse", [False, True])
@each("schedule", SCHEDULES, ids=str)
def test_the_compiled_steps_are_the_naive_ones_one_by_one(schedule: Schedule, sparse: bool) -> None:
    rows = np.where(np.abs(RAW) > 0.5, RAW, 0.0)
    i, j = drawn(200)
    seen, points = naive(rows, i, j, schedule)
    walk = Walk.of(np.zeros(4))
    for t in range(200):
        pair = (i[t : t + 1], j[t : t + 1])
        walk.advance(sp.csr_matrix(rows) if sparse else rows, pair, schedule)
        np.testing.assert_allclose(walk.w, seen[t], rtol=1e-12, atol=1e-12)
    assert (walk.t, walk.count) == (200, len(points))
    np.testing.assert_allclose(walk.mean, np.mean(points, axis=0), rtol=1e-12, atol=1e-12)
    printed = Walk.of(np.zeros(4))  # the printed average weighs the first snapshots most
    printed.advance(rows, (i, j), replace(schedule, literal_mean=True))
    harmonic = sum(point / (k + 1) for k, point in enumerate(points))
    np.testing.assert_allclose(printed.mean, harmonic, rtol=1e-10, atol=1e-12)
    kink = Walk.of(np.array([2.0]))  # z = 1 exactly has no slope
    kink.advance(np.array([[0.5], [0.0]]), (np.array([0]), np.array([1])), Schedule(0.1, 10.0))
    assert kink.w[0] == 2.0


@each("t0", ["scaled", "inverse", "bottou"])
def test_the_average_comes_within_a_thousandth_of_the_optimum_and_its_gap_holds(t0: str) -> None:
    best, lines = solve(X, Y, 1e-2).certificate, []
    for epochs in (1, 400):
        found = PairSGD(epochs, t0=t0).solve(problem(1e-2), callback=lines.append)
        held = found.certificate
        assert found.n_iter == epochs * N
        assert held.dual <= best.primal and held.gap >= held.primal - best.primal
    assert best.dual <= held.primal <= best.dual * (1 + 1e-3)
    assert lines[1:] == found.history
    assert [line.n_iter for line in lines[1:]] == [400 * N * (k + 1) // LOOKS for k in range(LOOKS)]
    assert lines[-1].primal == pytest.approx(held.primal, rel=1e-12)
    assert lines[-1].dual == pytest.approx(held.dual, rel=1e-9)


@each("average", ["half", "none"])
def test_the_answer_is_the_naive_average_or_the_last_point(average: str) -> None:
    task = problem(1e-2)
    i, j = random_pairs(task, 20 * N, np.random.default_rng(0))
    t0 = starting_time("scaled", 1e-2, mean_square_size(Rows(X)))
    seen, _ = naive(X, i, j, Schedule(1e-2, t0, 1, 1))
    wanted = np.mean(seen[10 * N :], axis=0) if average == "half" else seen[-1]
    found = PairSGD(20, average=average, askip=1, rskip=1).solve(task).w
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_the_printed_slope_runs_away_where_the_right_one_does_not() -> None:
    task = problem(1e-5)
    with_print = PairSGD(5, t0="bottou", paper_literal=True, average="none").solve(task)
    right = PairSGD(5, t0="bottou", average="none").solve(task)
    assert right.certificate.primal < 1e3
    assert with_print.status == Status.STALLED or with_print.certificate.primal > 1e6


@each("listed", [False, True])
def test_pairs_are_drawn_in_proportion_to_their_weights(listed: bool) -> None:
    positive, weight = np.arange(5) < 2, np.array([1.0, 3.0, 2.0, 0.0, 4.0])
    if listed:
        i, j = np.repeat([0, 1], 3), np.tile([2, 3, 4], 2)
        pairs: AllPairs | PairList = PairList(i, j, np.array([2, 0.5, 4, 6, 1.5, 12]))
        share = np.array([2, 0.5, 4, 6, 1.5, 12]) / 26
    else:
        pairs = AllPairs(weight)
        share = np.outer(weight[:2], weight[2:]).ravel() / 24
    task = pair_problem(Rows(RAW[:5]), positive, pairs, HINGE, Ridge(1.0))
    i, j = random_pairs(task, 20_000, np.random.default_rng(2))
    count = np.bincount(3 * i + (j - 2), minlength=6)
    assert (count[share == 0] == 0).all()
    assert chisquare(count[share > 0], 20_000 * share[share > 0]).pvalue > 1e-3


def test_rules_for_the_start_know_the_spread_of_the_rows() -> None:
    assert starting_time("inverse", 1e-4) == pytest.approx(1e4)
    assert starting_time("bottou", 1e-4) == pytest.approx(1e3)
    assert starting_time("scaled", 1e-4, 0.5) == pytest.approx(5e3)
    assert starting_time("scaled", 1e-4, 0.0) == pytest.approx(1e4)
    assert starting_time(7, 1e-4) == 7.0
    for rows in (RAW, sp.csr_matrix(RAW)):
        assert mean_square_size(Rows(rows)) == pytest.approx(RAW.var(axis=0).sum(), rel=1e-12)


FN = 240
FY = (np.arange(FN) % 4 == 0).astype(int)
FX = np.random.default_rng(0).normal(size=(FN, 3)) + 0.8 * FY[:, None]


def nsauc(**parameters) -> NSAUC:
    given = {"lam": 0.01, "gamma": 0.3, "n_landmarks": 20, "max_epochs": 20, "random_state": 0}
    return NSAUC(**{**given, "tol": 0.0, **parameters})


def test_nsauc_is_the_method_on_the_nystrom_features() -> None:
    features = Nystrom(gamma=0.3, n_landmarks=20, landmarks="kmeans", random_state=0)
    task = linear_problem(features.fit_transform(FX), FY, 0.01)
    for average in ("all", "half"):
        model = nsauc(average=average).fit(FX, FY)
        found = PairSGD(20, average=average, seed=0).solve(task)
        np.testing.assert_allclose(model.coef_[0], found.w, rtol=1e-10)
        assert model.certificate_ == found.certificate and model.n_iter_ == 20 * FN
    given = {"gamma": 0.3, "n_landmarks": 20, "max_epochs": 20, "tol": 0.0, "random_state": 0}
    last = NSVMSGD2(0.01, **given).fit(FX, FY)
    plain = PairSGD(20, average="none", seed=0).solve(task)
    np.testing.assert_allclose(last.coef_[0], plain.w, rtol=1e-10)
    with pytest.raises(InputError, match="average must be one of all, half"):
        nsauc(average="none").fit(FX, FY)


def test_a_batch_makes_its_steps_from_where_the_last_one_ended() -> None:
    model, walk, t0 = nsauc(), Walk.of(np.zeros(20)), 0.0
    for part in (slice(0, 100), slice(100, FN)):
        model.partial_fit(FX[part], FY[part], classes=[0, 1])
        features = model.nystrom_.transform(FX[part])
        task = linear_problem(features, FY[part], 0.01)
        t0 = t0 or starting_time("scaled", 0.01, mean_square_size(Rows(features)))
        pairs = random_pairs(task, FY[part].size, np.random.default_rng([0, walk.t]))
        PairSGD().advance(walk, features, pairs, 0.01, t0)
        np.testing.assert_allclose(model.coef_[0], walk.mean, rtol=1e-9)
    assert model.t0_ == pytest.approx(t0, rel=1e-12) and model.n_iter_ == FN


def test_batches_go_on_after_a_fit() -> None:
    model = nsauc().fit(FX, FY)
    landmarks, before = model.nystrom_.landmarks_.copy(), model.coef_.copy()
    model.partial_fit(FX[:60], FY[:60])
    np.testing.assert_array_equal(model.nystrom_.landmarks_, landmarks)
    assert model.n_iter_ == 20 * FN + 60
    assert 0 < np.abs(model.coef_ - before).max() < 0.2 * np.abs(before).max()
    assert model.fit(FX, FY).n_iter_ == 20 * FN
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize("kind", [NSAUC, NSVMSGD2])
def test_a_batch_of_one_class_is_paired_with_the_rows_before_it(kind) -> None:
    model = kind(random_state=0).partial_fit(FX[FY == 1], FY[FY == 1], classes=[0, 1])
    assert model.n_iter_ == 0 and not model.decision_function(FX).any()
    for _ in range(9):
        model.partial_fit(FX[FY == 0], FY[FY == 0]).partial_fit(FX[FY == 1], FY[FY == 1])
    assert model.n_iter_ == 9 * FN
    both = kind(random_state=0).fit(FX, FY).decision_function(FX)
    assert roc_auc_score(FY, model.decision_function(FX)) > roc_auc_score(FY, both) - 0.05


def test_what_cannot_be_walked_is_refused_or_said_and_a_run_ends_early() -> None:
    def stop(line) -> None:
        if line.n_iter >= 3 * N:
            raise KeyboardInterrupt

    found = PairSGD(50).solve(problem(1e-2), callback=stop)
    assert found.status == Status.INTERRUPTED and found.n_iter == 3 * N
    assert found.certificate.primal < 1
    model = nsauc(max_epochs=5000, tol=0.05).fit(FX, FY)
    assert model.status_ == Status.CERTIFIED and model.certificate_.reaches(0.05)
    assert model.n_iter_ < 5000 * FN
    with pytest.warns(ConvergenceWarning, match=r"number of steps is 4\.8e-03, below 1"):
        nsauc(lam=1e-6).fit(FX, FY)
    with pytest.raises(InputError, match="no averaged point"):
        PairSGD(1, askip=501).solve(problem(1e-2))
    squared = pair_problem(Rows(X), Y, AllPairs(), SQUARED_HINGE, Ridge(1e-2))
    with pytest.raises(InputError, match="needs the hinge and rows"):
        PairSGD().solve(squared)
    with pytest.raises(InputError, match='average="half"'):
        nsauc(average="half").partial_fit(FX, FY, classes=[0, 1])
