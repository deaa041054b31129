"""Online methods: SPAM, SOLAM, FSAUC, NSAUC and OAM by naive ones, and their certified gaps."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from aucert.approx import Nystrom, nsauc, oam
from aucert.approx.fsauc import FSAUC, MultiStageSaddle, StageWalk, count_stages
from aucert.approx.nsauc import NSAUC, PairSGD, Schedule, Walk, random_pairs, starting_time
from aucert.approx.oam import OAM, UPDATES, OnlineAUC
from aucert.approx.online import from_rows
from aucert.approx.solam import SOLAM, SaddleWalk, StochasticSaddle, auto_step
from aucert.approx.spam import CHUNK, SPAM, ProximalWalk, StochasticProximal, from_paper, steepest
from aucert.exact import HINGE, SQUARED_HINGE, AllPairs, InputError, PairList, Rows, Status, solve
from aucert.exact.estimators.thresholds import threshold_accuracy
from aucert.exact.problem.problem import Problem, Ridge, linear_problem, pair_problem
from aucert.exact.solvers.convex_reference import convex_reference
from loops import each, refuses, seeds
from problems import thin_rows

X, POSITIVE = thin_rows()
KINDS = [np.asarray, sp.csr_matrix]
SHARE = POSITIVE.mean()


# Written down naively: dense vectors, one loop, no tricks, no shared code.


def shrink(u: np.ndarray, cut: float | np.ndarray) -> np.ndarray:
    return np.sign(u) * np.maximum(np.abs(u) - cut, 0.0)


def into_l1_ball(v: np.ndarray, radius: float) -> np.ndarray:
    """The nearest point of the l1 ball, its threshold found by sorting."""
    if np.abs(v).sum() <= radius:
        return v
    sizes = np.sort(np.abs(v))[::-1]
    cuts = (np.cumsum(sizes) - radius) / np.arange(1, sizes.size + 1)
    return shrink(v, cuts[np.flatnonzero(sizes > cuts)[-1]])


def naive_spam(X, positive, order, eta, l1, l2, w0):
    """Last point and the sum of the points."""
    plus, minus, r = X[positive].mean(axis=0), X[~positive].mean(axis=0), positive.mean()
    w, total = w0.copy(), np.zeros_like(w0)
    for i, step in zip(order, eta, strict=True):
        a, b, s = w @ plus, w @ minus, w @ X[i]
        alpha = b - a
        if positive[i]:
            g = (2 * (1 - r) * (s - a) - 2 * (1 + alpha) * (1 - r)) * X[i]
        else:
            g = (2 * r * (s - b) + 2 * (1 + alpha) * r) * X[i]
        w = shrink(w - step * g / (r * (1 - r)), step * l1) / (1 + step * l2)
        total += w
    return w, total


def saddle_slopes(x, is_positive, p, w, a, b, alpha):
    """Slopes of the saddle function of one row in w, a, b, alpha."""
    s, weight = w @ x, -2 * p * (1 - p) * alpha
    if is_positive:
        g = 2 * (1 - p) * (s - a) * x - 2 * (1 + alpha) * (1 - p) * x
        return g, -2 * (1 - p) * (s - a), 0.0, weight - 2 * (1 - p) * s
    g = 2 * p * (s - b) * x + 2 * (1 + alpha) * p * x
    return g, 0.0, -2 * p * (s - b), weight + 2 * p * s


def naive_solam(X, positive, order, step, radius, kappa, exact=None):
    """Weighted mean, last point, and (a, b, alpha)."""
    w, a, b, alpha = np.zeros(X.shape[1]), 0.0, 0.0, 0.0
    points, lengths, wide = [], [], radius * kappa
    for t, i in enumerate(order, start=1):
        p = exact or positive[order[:t]].mean()
        gamma = step / math.sqrt(t)
        points.append(w)
        lengths.append(gamma)
        g, ga, gb, galpha = saddle_slopes(X[i], positive[i], p, w, a, b, alpha)
        w = w - gamma * g
        w = w * min(1.0, radius / max(float(np.linalg.norm(w)), 1e-300))
        a = float(np.clip(a - gamma * ga, -wide, wide))
        b = float(np.clip(b - gamma * gb, -wide, wide))
        alpha = float(np.clip(alpha + gamma * galpha, -2 * wide, 2 * wide))
    return np.average(points, axis=0, weights=lengths), w, (a, b, alpha)


def naive_fsauc(X, positive, order, eta, radius, kappa, n_stages, stage_size, exact=None, w0=0.0):
    """The answer, and how often each of the two balls was left."""
    d, wide, left = X.shape[1], radius * kappa, np.zeros(2, dtype=int)
    centre, alpha0, r = np.zeros(d + 2), 0.0, 2 * math.sqrt(1 + 2 * kappa**2) * radius
    centre[:d] += w0
    D, beta = 2 * math.sqrt(2) * kappa * r, 1 + 8 * kappa**2
    log, at = math.log(12 / 0.1), 0
    for _ in range(n_stages):
        v, alpha, points = centre, alpha0, []
        for _ in range(stage_size):
            i = order[at]
            at += 1
            p = exact or positive[order[:at]].mean()
            g, ga, gb, galpha = saddle_slopes(X[i], positive[i], p, v[:d], v[d], v[d + 1], alpha)
            v, alpha = v - eta * np.append(g, [ga, gb]), alpha + eta * galpha
            left[0] += np.abs(v[:d]).sum() > radius
            v = np.append(into_l1_ball(v[:d], radius), np.clip(v[d:], -wide, wide))
            alpha = np.clip(alpha, -2 * wide, 2 * wide)
            far = np.linalg.norm(v - centre)
            left[1] += far > r
            v = centre + (v - centre) * min(1.0, r / max(far, 1e-300))
            alpha = alpha0 + np.clip(alpha - alpha0, -D, D)
            points.append(v)
        seen = order[:at]
        plus, minus = (X[seen[positive[seen] == sign]].mean(axis=0) for sign in (True, False))
        centre, r = np.mean(points, axis=0), r / 2
        alpha0 = centre[:d] @ (minus - plus)
        p = exact or positive[seen].mean()
        rare, c = min(p, 1 - p), 2 + math.sqrt(2 * log)
        root = rare * stage_size - math.sqrt(2 * stage_size * log)
        D = math.inf
        if root > 0:
            D = 2 * math.sqrt(2) * kappa * r
            D += 4 * math.sqrt(2) * kappa * c * (1 + 2 * kappa) * radius / math.sqrt(root)
        over = rare - math.sqrt(2 * log / stage_size)
        later = 1 + 8 * kappa**2 + 32 * kappa**2 * c**2 * (1 + 2 * kappa) ** 2 / over
        later = later if over > 0 else 1e7
        eta, beta = min(math.sqrt(later / beta) * eta / 2, eta), later
    return centre[:d], left


def assert_naive(rows, positive, order, solver, start) -> None:
    """The steps on rows of either kind give the naive last point, zeros and mean."""
    for kind, parts in ((np.asarray, 3), (sp.csr_matrix, 1)):
        walk = ProximalWalk(solver, from_rows(kind(rows), positive), start.copy())
        for part in filter(len, np.array_split(order, parts)):  # a run may be interrupted
            walk.take(part)
        eta = solver.lengths(walk.steep, 0, order.size)
        last, total = naive_spam(rows, positive, order, eta, solver.l1, solver.l2, start)
        near = {"rtol": 1e-9, "atol": 1e-12 * max(np.abs(last).max(), np.abs(start).max())}
        np.testing.assert_allclose(walk.w, last, **near)
        np.testing.assert_array_equal(walk.w == 0, last == 0)
        if solver.average:
            mean = total / order.size
            near["atol"] = 1e-12 * np.abs(mean).max()
            np.testing.assert_allclose(walk.answer, mean, **near)


@each("seed", seeds(40))
def test_random_problems_of_every_kind_give_the_naive_steps(seed) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 50)), int(rng.integers(2, 200))
    d = 3 * CHUNK if seed % 10 == 9 else d  # longer than what is copied at a time
    popular = rng.random(d) ** rng.choice([0, 1, 3])
    rows = rng.normal(size=(n, d)) * (rng.random((n, d)) < rng.choice([0.02, 0.2, 0.9]) * popular)
    rows[rng.integers(n)] = 0.0  # a row without entries
    rows[:, 0], rows[1] = 0.5, rows[2]  # a constant feature, a row twice
    rows /= np.linalg.norm(rows, axis=1).max()
    positive = rng.random(n) < rng.choice([0.1, 0.5, 0.9])
    positive[0], positive[-1] = True, False
    l1 = float(rng.choice([0.0, 1e-8, 1e-5, 1e-3, 0.03, 0.3, 10.0]))
    l2 = float(rng.choice([0.0, 0.0, 1e-4, 0.1, 40.0, 1e3]))
    schedule = str(rng.choice(["sqrt", "constant", "linear"][: 3 if l2 else 2]))
    solver = StochasticProximal(l1, l2, schedule, average=bool(rng.random() < 0.7))
    start = rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=d) * (rng.random(d) < 0.5)
    assert_naive(rows, positive, rng.integers(n, size=int(rng.integers(1, 700))), solver, start)


@each("average", [False, True])
def test_weights_that_come_to_zero_exactly_at_a_step_vanish_there(average) -> None:
    rng = np.random.default_rng(0)
    rows, positive = thin_rows(n=32, d=400, density=0.01)
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
    assert auto_step("auto", 100.0, 3.0) == 1 / 20 and auto_step("auto", 0.01, 2.0) == 0.005


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
    mean, last, ends = naive_solam(X, POSITIVE, order, step, radius, walk.kappa, exact)
    np.testing.assert_allclose(walk.answer, mean, atol=1e-12)
    np.testing.assert_allclose(walk.w, last, atol=1e-12)
    np.testing.assert_allclose(walk.ends, ends, atol=1e-12)


ODD = {
    "as drawn": lambda rng: X,
    "one feature": lambda rng: rng.normal(size=(40, 1)),
    "empty rows": lambda rng: rng.normal(size=(40, 30)) * (rng.random((40, 1)) < 0.5),
    "one entry per row": lambda rng: np.eye(30)[rng.integers(30, size=40)],
    "the same row": lambda rng: np.outer(rng.choice([-1.0, 1.0, 0.5], 40), np.ones(30)),
    "few values": lambda rng: rng.integers(-1, 2, (40, 30)) * (rng.random((40, 30)) < 0.2),
    "unequal scales": lambda rng: rng.normal(size=(40, 30)) * 10.0 ** rng.integers(-6, 2, 30),
    "nothing": lambda rng: np.zeros((40, 30)),
}
CASES = [(0.3, 0.1, 1500, 0), (3.0, 0.3, 1500, 0), (0.05, 5.0, 4000, 1), (0.01, 0.3, 500, None)]


@pytest.mark.slow
@each("share", ["running", "exact"])
@each("odd", ODD)
@each("kind", KINDS)
def test_fsaucs_compiled_steps_are_the_naive_ones(kind, odd, share) -> None:
    for seed, (radius, step, steps, leaves) in enumerate(CASES):
        rng = np.random.default_rng(seed)
        rows = np.asarray(ODD[odd](rng), dtype=float)
        rows = rows / max(np.linalg.norm(rows, axis=1).max(), 1.0)
        w0 = radius * rng.integers(-2, 3, rows.shape[1]) / rows.shape[1] * (leaves is None)
        loss = from_rows(kind(rows), POSITIVE)
        walk = StageWalk(MultiStageSaddle(radius, step, share), loss, w0, steps)
        order = rng.integers(40, size=walk.n_stages * walk.stage_size)
        for part in np.split(order, [1, 2, 30, 250]):
            walk.take(part)
        answer, left = naive_fsauc(
            rows, POSITIVE, order, step, radius, walk.kappa, walk.n_stages, walk.stage_size,
            POSITIVE.mean() if share == "exact" else None, w0,
        )  # fmt: skip
        assert odd != "as drawn" or leaves is None or left[leaves] > 0  # the ball it is for
        np.testing.assert_allclose(walk.answer, answer, rtol=1e-9, atol=1e-12 * (1 + radius))


@each("kind", KINDS)
@each(
    "solver",
    [
        StochasticProximal(schedule="constant", step=1e3, max_passes=30),
        MultiStageSaddle(1e300, 1e100, max_passes=20),
        StochasticProximal(0.01, schedule="constant", step=1e3, max_passes=125),
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


@each("kind", KINDS)
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
    assert fitted.gap_ == pytest.approx(fitted.objective_ - fitted.lower_bound_)
    assert fitted.gap_ < 0.2 and not fitted.proved_
    assert held.dual <= best + 1e-12 and best <= held.primal + 1e-12
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
    first, _ = naive_spam(X[:30], ill[:30], np.arange(30), eta[:30], 0.02, 0.1, np.zeros(10))
    np.testing.assert_allclose(model.coef_[0], first, atol=1e-12)
    model.partial_fit(X[30:], y[30:])
    second, _ = naive_spam(X, ill, np.arange(30, 90), eta, 0.02, 0.1, first)
    np.testing.assert_allclose(model.coef_[0], second, atol=1e-12)


@pytest.mark.slow
@each("kind", KINDS)
@each("cuts", [[1], [45], [30, 31, 300, 1200]])
def test_fsauc_in_batches_goes_through_the_stages_of_one_call(kind, cuts) -> None:
    X, y = draw(n=1500)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)  # one length: one step
    names, parts = np.unique(y), FSAUC(0.4, n_steps=1500)
    for batch in np.split(np.arange(1500), cuts):
        parts.partial_fit(kind(X[batch]), y[batch], classes=names)
    whole = FSAUC(0.4, n_steps=1500).partial_fit(kind(X), y, classes=names)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9, atol=1e-12)


WALK_RNG = np.random.default_rng(0)
WN = 500
WY = np.arange(WN) % 5 == 0
RAW = WALK_RNG.normal(size=(WN, 4))
RAW += 0.8 * np.where(WY, np.sign(WALK_RNG.normal(size=WN)), 0)[:, None]
WX = Nystrom(gamma=0.25, n_landmarks=30, landmarks="kmeans", random_state=0).fit_transform(RAW)


def problem(lam: float) -> Problem:
    return pair_problem(Rows(WX), WY, AllPairs(), HINGE, Ridge(lam))


def naive_walk(rows: Any, i: Any, j: Any, s: Schedule) -> tuple[list[np.ndarray], list[np.ndarray]]:
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
    i, j = random_pairs(problem(1.0), 200, np.random.default_rng(1))
    seen, points = naive_walk(rows, i, j, schedule)
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
    best, lines = solve(WX, WY, 1e-2).certificate, []
    for epochs in (1, 400):
        found = PairSGD(epochs, t0=t0).solve(problem(1e-2), callback=lines.append)
        held = found.certificate
        assert found.n_iter == epochs * WN
        assert held.dual <= best.primal and held.gap >= held.primal - best.primal
    assert best.dual <= held.primal <= best.dual * (1 + 1e-3)
    assert lines[1:] == found.history
    looks = [400 * WN * (k + 1) // nsauc.LOOKS for k in range(nsauc.LOOKS)]
    assert [line.n_iter for line in lines[1:]] == looks
    assert lines[-1].primal == pytest.approx(held.primal, rel=1e-12)
    assert lines[-1].dual == pytest.approx(held.dual, rel=1e-9)


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
        assert nsauc.mean_square_size(Rows(rows)) == pytest.approx(RAW.var(axis=0).sum(), rel=1e-12)


SN = 240
SY = (np.arange(SN) % 4 == 0).astype(int)
SX = np.random.default_rng(0).normal(size=(SN, 3)) + 0.8 * SY[:, None]


def walked(**parameters) -> NSAUC:
    given = {"lam": 0.01, "gamma": 0.3, "n_landmarks": 20, "max_epochs": 20, "random_state": 0}
    return NSAUC(**{**given, "tol": 0.0, **parameters})


def test_nsauc_is_the_method_on_the_nystrom_features() -> None:
    features = Nystrom(gamma=0.3, n_landmarks=20, landmarks="kmeans", random_state=0)
    task = linear_problem(features.fit_transform(SX), SY, 0.01)
    for average in ("all", "half"):
        model = walked(average=average).fit(SX, SY)
        found = PairSGD(20, average=average, seed=0).solve(task)
        np.testing.assert_allclose(model.coef_[0], found.w, rtol=1e-10)
        assert model.certificate_ == found.certificate and model.n_iter_ == 20 * SN
    given = {"gamma": 0.3, "n_landmarks": 20, "max_epochs": 20, "tol": 0.0, "random_state": 0}
    last = nsauc.NSVMSGD2(0.01, **given).fit(SX, SY)
    plain = PairSGD(20, average="none", seed=0).solve(task)
    np.testing.assert_allclose(last.coef_[0], plain.w, rtol=1e-10)
    refuses("average must be one of all, half", walked(average="none").fit, SX, SY)


def test_a_batch_makes_its_steps_from_where_the_last_one_ended() -> None:
    model, walk, t0 = walked(), Walk.of(np.zeros(20)), 0.0
    for part in (slice(0, 100), slice(100, SN)):
        model.partial_fit(SX[part], SY[part], classes=[0, 1])
        features = model.nystrom_.transform(SX[part])
        task = linear_problem(features, SY[part], 0.01)
        t0 = t0 or starting_time("scaled", 0.01, nsauc.mean_square_size(Rows(features)))
        pairs = random_pairs(task, SY[part].size, np.random.default_rng([0, walk.t]))
        PairSGD().advance(walk, features, pairs, 0.01, t0)
        np.testing.assert_allclose(model.coef_[0], walk.mean, rtol=1e-9)
    assert model.t0_ == pytest.approx(t0, rel=1e-12) and model.n_iter_ == SN


def test_what_cannot_be_walked_is_refused_or_said_and_a_run_ends_early() -> None:
    def stop(line) -> None:
        if line.n_iter >= 3 * WN:
            raise KeyboardInterrupt

    found = PairSGD(50).solve(problem(1e-2), callback=stop)
    assert found.status == Status.INTERRUPTED and found.n_iter == 3 * WN
    assert found.certificate.primal < 1
    model = walked(max_epochs=5000, tol=0.05).fit(SX, SY)
    assert model.status_ == Status.CERTIFIED and model.certificate_.reaches(0.05)
    assert model.n_iter_ < 5000 * SN
    with pytest.warns(ConvergenceWarning, match=r"number of steps is 4\.8e-03, below 1"):
        walked(lam=1e-6).fit(SX, SY)
    refuses("no averaged point", PairSGD(1, askip=501).solve, problem(1e-2))
    squared = pair_problem(Rows(WX), WY, AllPairs(), SQUARED_HINGE, Ridge(1e-2))
    refuses("needs the hinge and rows", PairSGD().solve, squared)
    refuses('average="half"', walked(average="half").partial_fit, SX, SY, classes=[0, 1])


OAM_RNG = np.random.default_rng(0)
ON = 300
OY = np.arange(ON) % 3 == 0
OX = OAM_RNG.normal(size=(ON, 4)) + 0.7 * OY[:, None]
DRAWS = OAM_RNG.random(ON)


def naive_oam(method: OnlineAUC, rows: np.ndarray, positive: np.ndarray, draws: np.ndarray) -> list:
    """OAM as its description has it: the weights after each row, with lists for buffers."""
    w, buffers, seen, path = np.zeros(rows.shape[1]), ([], []), [0, 0], []
    for x, is_positive, draw in zip(rows, positive, draws, strict=True):
        mine, other = (0, 1) if is_positive else (1, 0)
        sign = 1 if is_positive else -1
        seen[mine] += 1
        if len(buffers[mine]) < method.n_buffer:
            buffers[mine].append(x)
        elif int(draw * seen[mine]) < method.n_buffer:
            buffers[mine][int(draw * seen[mine])] = x
        c = method.C / 2 * max(1, seen[other] / method.n_buffer)
        if method.update == "sequential":
            for b in buffers[other]:
                d = sign * (x - b)
                if d @ d > 0:
                    w = w + min(c, max(0.0, 1 - w @ d) / (d @ d)) * d
        else:
            change = [sign * (x - b) for b in buffers[other] if w @ (sign * (x - b)) <= 1]
            w = w + c * np.sum(change, axis=0) if change else w
        if method.radius is not None and np.linalg.norm(w) > method.radius:
            w = w * method.radius / np.linalg.norm(w)
        path.append(w)
    return path


@each("radius", [None, 0.8])
@each("n_buffer", [1, 7, 1000])
@each("update", UPDATES)
def test_the_compiled_stream_is_the_naive_one_row_by_row(update, n_buffer, radius) -> None:
    method = OnlineAUC(0.05, update, n_buffer, radius)
    path = naive_oam(method, OX, OY, DRAWS)
    stream, whole = method.start(4), method.start(4)
    for t in range(ON):
        method.learn(stream, OX[t : t + 1], OY[t : t + 1], DRAWS[t : t + 1])
        np.testing.assert_allclose(stream.w, path[t], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(stream.mean, np.mean(path, axis=0), rtol=1e-9, atol=1e-12)
    assert stream.seen.tolist() == [100, 200]
    method.learn(whole, OX, OY, DRAWS)
    np.testing.assert_allclose(whole.w, stream.w, rtol=1e-12)
    np.testing.assert_array_equal(whole.buffer_neg, stream.buffer_neg)
    for rows, draws in ((OX[:, :3], DRAWS), (OX, DRAWS[:5])):
        refuses("do not fit", method.learn, whole, rows, OY, draws)
    with pytest.raises(InputError, match="take a smaller C"):
        OnlineAUC(1e308, "gradient").learn(method.start(4), 1e10 * OX, OY, DRAWS)


def test_oam_is_the_method_on_shuffled_rows_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    method, rng = OnlineAUC(0.05, n_buffer=10), np.random.default_rng(5)
    stream = method.start(3)
    for _ in range(2):
        order = rng.permutation(SN)
        method.learn(stream, SX[order], SY[order] == 1, rng.random(SN))
    asked: Any = {"n_buffer": 10, "max_epochs": 2, "random_state": 5}
    for average, wanted in ((False, stream.w), (True, stream.mean)):
        model = OAM(0.05, average=average, **asked).fit(SX, SY)
        np.testing.assert_array_equal(model.coef_[0], wanted)
    monkeypatch.setattr(oam, "ROWS", 11)
    np.testing.assert_allclose(OAM(0.05, **asked).fit(SX, SY).coef_[0], stream.w, rtol=1e-12)


def test_the_threshold_of_a_stream_is_that_of_its_buffers() -> None:
    whole = OAM(n_buffer=SN, random_state=0).partial_fit(SX, SY, classes=[0, 1])
    cut = whole.intercept_[0]
    assert whole.set_threshold(SX, SY).intercept_[0] == pytest.approx(cut, rel=1e-12)
    few = OAM(n_buffer=30, threshold="accuracy", random_state=0)
    few.partial_fit(SX, SY, classes=[0, 1])
    kept = np.vstack([few.stream_.buffer_pos, few.stream_.buffer_neg])
    positive, weight = np.arange(60) < 30, np.repeat([60 / 30, 180 / 30], 30)
    cut = threshold_accuracy(kept @ few.coef_[0], positive, weight)
    assert few.intercept_[0] == -cut != -threshold_accuracy(kept @ few.coef_[0], positive)


@each("kind", [np.asarray, sp.csr_matrix])
@each("given", [{}, {"C": 1.0}, {"average": True}, {"radius": 0.1}], ids=str)
def test_the_certificate_is_of_the_objective_that_the_page_states(given, kind) -> None:
    rows, y = np.round(OX[:60], 1), OY[:60]
    model = OAM(random_state=0, **given).fit(kind(rows), y)
    w, held, lam = model.coef_[0], model.certificate_, 1 / (model.C * 20 * 40)
    margins = (rows[y] @ w)[:, None] - (rows[~y] @ w)
    naive_oam = (w @ w / 2 + model.C * np.maximum(0.0, 1 - margins).sum()) / (model.C * 20 * 40)
    assert held.primal == pytest.approx(naive_oam, rel=1e-12)
    best = solve(rows, y, lam, tol=1e-9)
    assert held.dual <= best.certificate.primal and held.primal >= best.certificate.dual
    assert np.linalg.norm(w - best.w) <= held.radius + best.certificate.radius
    assert f"{lam!r} |w|^2 / 2" in held.statement
