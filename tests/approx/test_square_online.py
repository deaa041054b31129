"""SPAM, SOLAM and FSAUC: steps against naive ones, answers against the certified optimum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import online_naive
from aucert.approx.fsauc import (
    FSAUC,
    MultiStageSaddle,
    StageWalk,
    count_stages,
    first_step,
)
from aucert.approx.online import certificate_of, from_rows
from aucert.approx.solam import SOLAM, SaddleWalk, StochasticSaddle, auto_step
from aucert.approx.spam import CHUNK, SPAM, ProximalWalk, StochasticProximal, from_paper, steepest
from aucert.exact.errors import InputError
from aucert.exact.solvers.convex_reference import convex_reference
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss.convex_square import ConvexSquare
from aucert.exact.square_loss.row_average import RowAverage
from loops import each, first_fast, seeds
from sparse_signal import draw as signal

X, POSITIVE = online_naive.draw()
KINDS = [np.asarray, sp.csr_matrix]
PENALTIES = [(0.0, 0.0), (0.0, 0.5), (0.02, 0.0), (0.3, 0.0), (0.02, 0.4), (0.1, 40.0)]


@each("average", [False, True])
@each("schedule", ["sqrt", "linear", "constant"])
@each(("l1", "l2"), PENALTIES)
@each("kind", first_fast(KINDS))
def test_the_compiled_steps_are_the_naive_ones(kind, l1, l2, schedule, average) -> None:
    solver = StochasticProximal(l1, l2, schedule, step=0.05, t0=3.0, average=average)
    loss, rng = from_rows(kind(X), POSITIVE), np.random.default_rng(3)
    order, start = rng.integers(40, size=900), 0.1 * rng.normal(size=25)
    walk = ProximalWalk(solver, loss, start.copy())
    for part in np.split(order, [1, 200, 640]):  # a run may be interrupted anywhere
        walk.take(part)
    eta = solver.lengths(walk.steep, 0, 900)
    last, total = online_naive.spam(X, POSITIVE, order, eta, l1, l2, start)
    np.testing.assert_allclose(walk.w, last, rtol=1e-9, atol=1e-13)
    np.testing.assert_array_equal(walk.w == 0, last == 0)
    if average:
        np.testing.assert_allclose(walk.answer, total / 900, rtol=1e-9, atol=1e-12)


def assert_naive(rows, positive, order, solver, start) -> None:
    """The steps on sparse rows, in one go, give the naive last point, zeros and mean."""
    walk = ProximalWalk(solver, from_rows(sp.csr_matrix(rows), positive), start.copy())
    walk.take(order)
    eta = solver.lengths(walk.steep, 0, order.size)
    last, total = online_naive.spam(rows, positive, order, eta, solver.l1, solver.l2, start)
    scale = max(np.abs(last).max(), np.abs(start).max())
    np.testing.assert_allclose(walk.w, last, rtol=1e-9, atol=1e-12 * scale)
    np.testing.assert_array_equal(walk.w == 0, last == 0)
    if solver.average:
        mean = total / order.size
        np.testing.assert_allclose(walk.answer, mean, rtol=1e-9, atol=1e-12 * np.abs(mean).max())


@each("seed", seeds(40))
def test_random_problems_of_every_kind_give_the_naive_steps(seed) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 50)), int(rng.integers(2, 200))
    popular = rng.random(d) ** rng.choice([0, 1, 3])
    rows = rng.normal(size=(n, d)) * (rng.random((n, d)) < rng.choice([0.02, 0.2, 0.9]) * popular)
    rows[rng.integers(n)] = 0.0  # a row without entries
    rows[:, 0], rows[1] = 0.5, rows[2]  # a constant feature, a row twice
    rows /= np.linalg.norm(rows, axis=1).max()
    positive = rng.random(n) < rng.choice([0.1, 0.5, 0.9])
    positive[0], positive[-1] = True, False
    l1 = float(rng.choice([1e-8, 1e-5, 1e-3, 0.03, 0.3, 10.0]))
    l2 = float(rng.choice([0.0, 0.0, 1e-4, 0.1, 40.0, 1e3]))
    schedule = str(rng.choice(["sqrt", "constant"]))
    solver = StochasticProximal(l1, l2, schedule, average=bool(rng.random() < 0.7))
    start = rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=d) * (rng.random(d) < 0.5)
    assert_naive(rows, positive, rng.integers(n, size=int(rng.integers(1, 700))), solver, start)


@each("average", [False, True])
def test_weights_that_come_to_zero_exactly_at_a_step_vanish_there(average) -> None:
    rng = np.random.default_rng(0)
    rows, positive = online_naive.draw(n=32, d=400, density=0.01)
    solver = StochasticProximal(2.0**-4, 0.0, "constant", step=2.0**-5, average=average)
    start = rng.integers(-300, 301, size=400) * 2.0**-9  # whole numbers of what a step takes off
    assert_naive(rows, positive, rng.integers(32, size=280), solver, start)


def test_the_papers_numbers_are_converted() -> None:
    here = from_paper(beta1=0.01, beta2=0.02, xi=3.0, share=0.25)
    r, w = 0.25, np.array([0.3, -0.2])
    theirs = r * (1 - r) * 0.7 + 0.01 * np.abs(w).sum() + 0.01 * w @ w
    ours = 0.7 + here["l1"] * np.abs(w).sum() + here["l2"] / 2 * w @ w
    assert theirs == pytest.approx(r * (1 - r) * ours)
    assert here["step"] * here["l1"] == pytest.approx(3.0 * 0.01)  # the same shrinking a step


def test_auto_steps_are_one_over_the_largest_curvature_of_a_row() -> None:
    loss, r = from_rows(X, POSITIVE), POSITIVE.mean()
    plus, minus = X[POSITIVE].mean(axis=0), X[~POSITIVE].mean(axis=0)
    other, chance = np.where(POSITIVE[:, None], minus, plus), np.where(POSITIVE, r, 1 - r)
    # The stochastic gradient of row i is its map times w, and a shift.
    maps = 2 / chance[:, None, None] * X[:, :, None] * (X - other)[:, None, :]
    top = max(np.linalg.norm(m, 2) for m in maps)
    assert steepest(loss) == pytest.approx(top)
    assert steepest(from_rows(sp.csr_matrix(X), POSITIVE)) == pytest.approx(top)
    eta = StochasticProximal(0.1, 0.5, "linear").lengths(8.0, 0, 1000)
    assert eta[0] == pytest.approx(1 / 8, rel=0.05)
    np.testing.assert_allclose(eta[-1] * (1000 + 32), 2 / 0.5)
    assert auto_step("auto", 100.0, 3.0) == 1 / 20
    assert auto_step("auto", 0.01, 2.0) == 0.005
    assert auto_step(7.0, 0.01, 2.0) == 7.0
    assert first_step("auto", 1.0, 1.0, 1) == 0.25
    long, short = (first_step("auto", 1.0, 1.0, n0) for n0 in (10**6, 4 * 10**6))
    assert long == pytest.approx(2 * short)
    assert first_step(3.0, 1.0, 1.0, 10) == 3.0
    assert [count_stages(steps) for steps in (1, 3, 10, 100, 1000, 10**6)] == [1, 1, 1, 1, 2, 7]


X, POSITIVE = online_naive.draw()
SHARE = POSITIVE.mean()


@each("share", ["running", "exact"])
@each(("radius", "step"), [(0.3, 1.0), (3.0, 0.3), (1.0, 10.0)])
@each("kind", KINDS)
def test_solams_compiled_steps_are_the_naive_ones(kind, radius, step, share) -> None:
    loss = from_rows(kind(X), POSITIVE)
    walk = SaddleWalk(StochasticSaddle(radius, step, share), loss, np.zeros(25))
    order = np.random.default_rng(0).integers(40, size=800)
    for part in np.split(order, [1, 300]):
        walk.take(part)
    exact = SHARE if share == "exact" else None
    mean, last, ends = online_naive.solam(X, POSITIVE, order, step, radius, walk.kappa, exact)
    np.testing.assert_allclose(walk.answer, mean, atol=1e-12)
    np.testing.assert_allclose(walk.w, last, atol=1e-12)
    np.testing.assert_allclose(walk.ends, ends, atol=1e-12)


def one_step(loss, w, ends, i):
    """The change of w, a, b, alpha by one step of length 0.01, far from all bounds."""
    walk = SaddleWalk(StochasticSaddle(1e6, 0.01, "exact"), loss, w.copy())
    walk.ends[:] = ends
    walk.take(np.array([i]))
    return np.concatenate([w - walk.w, ends[:2] - walk.ends[:2], walk.ends[2:] - ends[2:]]) / 0.01


@each("kind", KINDS)
def test_solams_expected_step_is_the_gradient_of_the_saddle_function(kind) -> None:
    rng = np.random.default_rng(1)
    loss, w, ends = from_rows(kind(X), POSITIVE), rng.normal(size=25), rng.normal(size=3)
    moved = np.mean([one_step(loss, w, ends, i) for i in range(40)], axis=0)

    def saddle(v):
        w, a, b, alpha = v[:-3], *v[-3:]
        s, p, plus = X @ w, SHARE, POSITIVE
        square = np.where(plus, (1 - p) * (s - a) ** 2, p * (s - b) ** 2)
        cross = 2 * (1 + alpha) * np.where(plus, -(1 - p) * s, p * s)
        return np.mean(square + cross) - p * (1 - p) * alpha**2

    at, slopes = np.append(w, ends), []
    for j in range(28):  # quadratic: central differences are exact
        e = np.eye(28)[j] * 0.1
        slopes.append((saddle(at + e) - saddle(at - e)) / 0.2)
    np.testing.assert_allclose(moved, slopes, atol=1e-9)


X, POSITIVE = online_naive.draw()


@each("share", ["running", "exact"])
@each(
    ("radius", "step", "steps", "leaves"),
    [(0.3, 0.1, 1500, 0), (3.0, 0.3, 1500, 0), (0.05, 5.0, 4000, 1)],
)
@each("kind", KINDS)
def test_fsaucs_compiled_steps_are_the_naive_ones(kind, radius, step, steps, leaves, share) -> None:
    loss = from_rows(kind(X), POSITIVE)
    walk = StageWalk(MultiStageSaddle(radius, step, share), loss, np.zeros(25), steps)
    order = np.random.default_rng(0).integers(40, size=walk.n_stages * walk.stage_size)
    for part in np.split(order, [1, 300, 800]):
        walk.take(part)
    answer, left = online_naive.fsauc(
        X, POSITIVE, order, step, radius, walk.kappa, walk.n_stages, walk.stage_size,
        POSITIVE.mean() if share == "exact" else None,
    )  # fmt: skip
    assert walk.n_stages >= 2
    assert left[leaves] > 0  # the ball that this case is for
    np.testing.assert_allclose(walk.answer, answer, rtol=1e-9, atol=1e-12)


ODD = {
    "one feature": lambda rng: rng.normal(size=(20, 1)),
    "empty rows": lambda rng: rng.normal(size=(20, 30)) * (rng.random((20, 1)) < 0.5),
    "one entry per row": lambda rng: np.eye(30)[rng.integers(30, size=20)],
    "the same row": lambda rng: np.outer(rng.choice([-1.0, 1.0, 0.5], 20), np.ones(30)),
    "few values": lambda rng: rng.integers(-1, 2, (20, 30)) * (rng.random((20, 30)) < 0.2),
    "unequal scales": lambda rng: rng.normal(size=(20, 30)) * 10.0 ** rng.integers(-6, 2, 30),
    "nothing": lambda rng: np.zeros((20, 30)),
}


@each("kind", KINDS)
@each("odd", ODD)
def test_odd_rows_a_start_elsewhere_and_short_parts_give_the_naive_steps(odd, kind) -> None:
    for seed, (radius, step) in enumerate([(0.01, 0.3), (0.5, 0.1), (3.0, 2.0)]):
        rng = np.random.default_rng(seed)
        rows, positive = np.asarray(ODD[odd](rng), dtype=float), np.arange(20) % 3 == 0
        rows /= max(np.linalg.norm(rows, axis=1).max(), 1e-300)
        w0 = radius * rng.integers(-2, 3, rows.shape[1]) / rows.shape[1]
        loss = from_rows(kind(rows), positive)
        walk = StageWalk(MultiStageSaddle(radius, step), loss, w0, 500)
        order = rng.integers(20, size=walk.n_stages * walk.stage_size)
        for part in np.split(order, [1, 2, 30, 250]):
            walk.take(part)
        answer, _ = online_naive.fsauc(
            rows, positive, order, step, radius, walk.kappa, walk.n_stages, walk.stage_size, w0=w0
        )
        np.testing.assert_allclose(walk.answer, answer, rtol=1e-9, atol=1e-12 * radius)


CX, CY = signal(n=80, d=8)
LOSS = RowAverage.of(Rows(CX), CY == 1)
PROBLEMS = {
    "l1": ConvexSquare(LOSS, l1=0.2),
    "l2": ConvexSquare(replace(LOSS, lam=0.4)),
    "elastic": ConvexSquare(replace(LOSS, lam=0.3), l1=0.2),
    "l1 ball": ConvexSquare(LOSS, ball="l1", radius=0.2),
    "l2 ball": ConvexSquare(LOSS, ball="l2", radius=0.2),
    "wide l1 ball": ConvexSquare(LOSS, ball="l1", radius=50.0),
    "wide l2 ball": ConvexSquare(LOSS, ball="l2", radius=50.0),
}


def inside(task: ConvexSquare, w: np.ndarray) -> np.ndarray:
    if task.ball == "none":
        return w
    size = np.abs(w).sum() if task.ball == "l1" else np.linalg.norm(w)
    return w * min(1.0, task.radius / max(size, 1e-300))


@each("name", PROBLEMS)
def test_the_optimum_is_between_the_bounds_of_every_certificate(name) -> None:
    task, rng = PROBLEMS[name], np.random.default_rng(3)
    best, points = convex_reference(task), [inside(task, rng.normal(size=8)) for _ in range(20)]
    if "ball" in name and "wide" not in name:  # on the edge of the ball
        points.append(inside(task, 1e3 * best.w) * (1 + 5e-13))
        outside = certificate_of(task, task.judged(2 * points[-1]))
        assert outside.primal == outside.gap == np.inf and outside.dual <= best.objective
    for w in (best.w, np.zeros(8), *points):
        held = certificate_of(task, task.judged(w))
        assert held.dual <= best.objective <= held.primal + 1e-12
        assert 0 <= held.primal - task.value(w) <= held.rounding
        assert held.gap == pytest.approx(task.gap(w), rel=1e-9, abs=1e-13)
        assert (held.radius is None) == (task.loss.lam == 0)
        if held.radius is not None:
            assert np.linalg.norm(w - best.w) <= held.radius + np.sqrt(2e-9 / task.loss.lam)


@each("kind", [StochasticSaddle, MultiStageSaddle, StochasticProximal])
def test_bad_parameters_are_refused(kind) -> None:
    saddle = {"radius": 0, "step": "x", "share": "x", "max_passes": 0}
    proximal = {"l1": -1, "schedule": "linear", "step": 0, "t0": -1, "max_passes": 0}
    for name, value in (proximal if kind is StochasticProximal else saddle).items():
        with pytest.raises(InputError):
            kind(**{name: value})
    with pytest.raises(InputError, match="w0"):
        kind().solve(from_rows(X, POSITIVE), w0=np.ones(3))
    for model in (SOLAM(share="exact"), FSAUC(share="exact"), FSAUC(n_steps=0)):
        with pytest.raises(InputError, match=r"exact|n_steps"):
            model.partial_fit(*draw(), classes=["healthy", "ill"])


@each("kind", KINDS)
@each(
    "solver",
    [
        StochasticProximal(schedule="constant", step=1e3, max_passes=30),
        StochasticProximal(0.01, schedule="constant", step=1e3, max_passes=125),
        MultiStageSaddle(1e300, 1e100, max_passes=20),
    ],
)
def test_steps_that_diverge_are_refused(kind, solver) -> None:
    with pytest.raises(InputError, match="diverged"), np.errstate(all="ignore"):
        solver.solve(from_rows(kind(X), POSITIVE), w0=np.full(25, 1e-3))


def draw(seed: int = 0, n: int = 90, d: int = 10):
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) < n // 3, "ill", "healthy")
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    X[:, 4:7] += 1.5 * (y == "ill")[:, None]
    return X, y


@each("kind", [np.asarray, sp.csr_matrix])
@each(
    ("model", "same"),
    [
        (SPAM(0.1, 0.2, schedule="linear"), StochasticProximal(0.1, 0.2, "linear")),
        (SOLAM(0.7), StochasticSaddle(0.7)),
        (FSAUC(0.7), MultiStageSaddle(0.7)),
        (SPAM(), None),
        (SOLAM(), None),
        (FSAUC(), None),
    ],
)
def test_it_ranks_the_rows_and_its_gap_is_proved(model, same, kind) -> None:
    X, y = draw()
    fitted = clone(model).set_params(max_passes=200, random_state=3).fit(kind(X), y)
    assert fitted.score(kind(X), y) > 0.85
    loss = from_rows(X, y == "ill")
    task = fitted._solver(0).problem(loss)
    best, held = convex_reference(task).objective, fitted.certificate_
    assert fitted.lower_bound_ - 1e-12 <= best <= fitted.objective_ + 1e-12
    assert fitted.gap_ == pytest.approx(fitted.objective_ - fitted.lower_bound_)
    assert fitted.lower_bound_ <= fitted.objective_ - fitted.gap_ or fitted.gap_ > 0
    assert fitted.gap_ < 0.2 and not fitted.proved_
    assert held.dual <= best <= held.primal + 1e-12
    assert 0 <= held.primal - fitted.objective_ <= held.rounding and task.in_words in held.statement
    assert held.gap == pytest.approx(fitted.gap_, rel=1e-9)
    assert fitted.objective_ == pytest.approx(task.value(fitted.coef_[0]), rel=1e-12)
    assert task.ball == "none" or task.judged(fitted.coef_[0]).error < np.inf
    np.testing.assert_array_equal(fitted.support_, np.flatnonzero(fitted.coef_[0]))
    if same is not None and kind is np.asarray:
        looks: list[Any] = []
        found = replace(same, max_passes=200, seed=3).solve(loss, callback=looks.append)
        np.testing.assert_array_equal(fitted.coef_[0], found.w)
        assert not isinstance(same, MultiStageSaddle) or len(looks) == count_stages(200 * 90)
    fitted.partial_fit(kind(X), y)
    removed = {"gap_", "proved_", "objective_", "lower_bound_", "certificate_"}
    assert not removed & set(vars(fitted))
    if isinstance(model, SPAM):  # with so much l1 no row moves anything, and that is proved
        null = SPAM(l1=60 * np.abs(task.loss.delta).max(), l2=0.0, max_passes=5).fit(X, y)
        assert null.proved_ and null.gap_ <= 1e-9 and not null.coef_.any()


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


@each("model", [SPAM, SOLAM, FSAUC])
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


@pytest.mark.slow
@each("l1", [1e-3, 0.1])
def test_rows_and_starts_longer_than_what_is_copied_at_a_time(l1) -> None:
    rng, d = np.random.default_rng(1), 3 * CHUNK
    rows = rng.normal(size=(9, d))
    rows[::2] *= rng.random((5, d)) < 0.2
    rows /= np.linalg.norm(rows, axis=1).max()
    solver = StochasticProximal(l1, 0.01, step=0.1, average=True)
    start = 0.01 * rng.normal(size=d)
    assert_naive(rows, np.arange(9) % 3 == 0, rng.integers(9, size=150), solver, start)
