from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import online_naive
from aucert.approx.fsauc import (
    MultiStageSaddle,
    StageWalk,
    count_stages,
    first_step,
)
from aucert.approx.online import from_rows
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from aucert.exact.solvers.convex_reference import convex_reference
from loops import each

X, POSITIVE = online_naive.draw()
KINDS = [np.asarray, sp.csr_matrix]


@each("share", ["running", "exact"])
@each(
    ("radius", "step", "steps", "leaves"),
    [(0.3, 0.1, 1500, 0), (3.0, 0.3, 1500, 0), (0.05, 5.0, 4000, 1)],
)
@each("kind", KINDS)
def test_the_compiled_steps_are_the_naive_ones(kind, radius, step, steps, leaves, share) -> None:
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


@each(("radius", "step"), [(0.2, 0.05), (1.0, 0.3), (4.0, 0.3), (20.0, 0.3)])
def test_tied_weights_and_blocks_of_every_length_give_the_naive_steps(radius, step) -> None:
    rows, positive = online_naive.tied()
    loss = from_rows(sp.csr_matrix(rows), positive)
    walk = StageWalk(MultiStageSaddle(radius, step), loss, np.zeros(300), 2500)
    order = np.random.default_rng(6).integers(60, size=walk.n_stages * walk.stage_size)
    walk.take(order)
    answer, left = online_naive.fsauc(
        rows, positive, order, step, radius, walk.kappa, walk.n_stages, walk.stage_size
    )
    assert left[0] > 1000 or radius > 10
    np.testing.assert_allclose(walk.answer, answer, rtol=1e-8, atol=1e-11)


ODD = {
    "one feature": lambda rng: rng.normal(size=(20, 1)),
    "empty rows": lambda rng: rng.normal(size=(20, 30)) * (rng.random((20, 1)) < 0.5),
    "one entry a row": lambda rng: np.eye(30)[rng.integers(30, size=20)],
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


@each("radius", [1e-2, 1e-4, 1e-6])
def test_steps_much_longer_than_the_ball_lose_no_more_digits_than_the_naive_ones(radius) -> None:
    if np.finfo(np.longdouble).eps >= np.finfo(float).eps:
        pytest.skip("no longer numbers to compare with")
    lost, lost_naively = [], []
    for seed in range(4):
        rows, positive = online_naive.draw(n=30, d=40, density=0.2, seed=seed)
        walk = StageWalk(
            MultiStageSaddle(radius, 1.0), from_rows(rows, positive), np.zeros(40), 400
        )
        order = np.random.default_rng(seed).integers(30, size=walk.n_stages * walk.stage_size)
        walk.take(order)
        numbers = (order, 1.0, radius, walk.kappa, walk.n_stages, walk.stage_size)
        best, _ = online_naive.fsauc(rows.astype(np.longdouble), positive, *numbers)
        naive, _ = online_naive.fsauc(rows, positive, *numbers)
        lost.append(np.abs(walk.answer - best).max())
        lost_naively.append(np.abs(naive - best).max())
    assert max(lost) <= 3 * max(lost_naively)


@pytest.mark.slow
def test_a_long_run_does_not_drift_from_the_naive_one() -> None:
    rows, positive = online_naive.tied()
    walk = StageWalk(MultiStageSaddle(1.0, 0.3), from_rows(rows, positive), np.zeros(300), 100_000)
    order = np.random.default_rng(7).integers(60, size=walk.n_stages * walk.stage_size)
    walk.take(order)
    answer, left = online_naive.fsauc(
        rows, positive, order, 0.3, 1.0, walk.kappa, walk.n_stages, walk.stage_size
    )
    assert left[0] > 10_000
    np.testing.assert_allclose(walk.answer, answer, rtol=1e-8, atol=1e-11)


@each("kind", KINDS)
def test_the_expected_step_is_the_gradient_of_the_saddle_function(kind) -> None:
    rng = np.random.default_rng(1)
    loss = from_rows(kind(X), POSITIVE)
    w, a, b, alpha = rng.normal(size=25), *rng.normal(size=3)
    moved, slopes = [], []
    for i in range(40):
        walk = StageWalk(MultiStageSaddle(1e6, 0.01, "exact"), loss, w, 10)
        walk.point[25:], walk.duals[0] = (a, b), alpha
        walk.take(np.array([i]))
        up = walk.duals[0] - alpha
        moved.append(np.append(np.append(w, [a, b]) - walk.point, up) / 0.01)
        mean = POSITIVE.mean()
        g, *ends = online_naive.saddle_slopes(X[i], POSITIVE[i], mean, w, a, b, alpha)
        slopes.append(np.append(g, ends))
    # The naive slopes are those that the test of SOLAM holds against central differences.
    np.testing.assert_allclose(np.mean(moved, axis=0), np.mean(slopes, axis=0), atol=1e-7)


@each("radius", [0.5, 2.0])
def test_with_its_theorys_steps_the_distance_falls_like_one_over_the_steps(radius) -> None:
    rows, positive = online_naive.draw(n=60, d=4, density=1.0)
    loss, solver = from_rows(rows, positive), MultiStageSaddle(radius)
    task = solver.problem(loss)
    best, above = convex_reference(task).objective, []
    for steps in (10_000, 300_000):
        runs = []
        for seed in range(6):
            walk = StageWalk(solver, loss, np.zeros(4), steps)
            size = walk.n_stages * walk.stage_size
            walk.take(np.random.default_rng(seed).integers(60, size=size))
            runs.append(task.value(walk.answer) - best)
        above.append(np.mean(runs))
    assert above[1] <= above[0] / 10  # 1 / sqrt(T) would be 5.5 times less, 1 / T 30 times
    assert above[1] <= 1e-3 * (1 - best)


@pytest.mark.slow
def test_with_a_step_that_does_not_know_the_end_it_falls_like_one_over_their_root() -> None:
    rows, positive = online_naive.draw(n=60, d=4, density=1.0)
    loss, solver = from_rows(rows, positive), MultiStageSaddle(0.5, step=0.2)
    task = solver.problem(loss)
    best, above = convex_reference(task).objective, []
    for steps in (10_000, 1_000_000):
        runs = []
        for seed in range(6):
            walk = StageWalk(solver, loss, np.zeros(4), steps)
            walk.take(np.random.default_rng(seed).integers(60, size=steps))
            runs.append(task.value(walk.answer) - best)
        above.append(np.mean(runs))
    assert above[0] / 30 <= above[1] <= above[0] / 4


def test_the_answer_is_in_the_ball_and_its_gap_is_proved() -> None:
    loss, looks = from_rows(sp.csr_matrix(X), POSITIVE), []
    found = MultiStageSaddle(0.5, max_passes=500).solve(loss, callback=looks.append)
    best = convex_reference(MultiStageSaddle(0.5).problem(loss)).objective
    assert np.abs(found.w).sum() <= 0.5 * (1 + 1e-12)
    assert best <= found.objective <= best + found.gap + 1e-12
    assert found.gap <= 0.02
    assert len(looks) == count_stages(20_000)


@each("kind", KINDS)
def test_steps_that_overflow_are_refused_in_one_sentence(kind) -> None:
    with pytest.raises(InputError, match="the steps diverged"), np.errstate(all="ignore"):
        MultiStageSaddle(1e300, 1e100, max_passes=20).solve(from_rows(kind(X), POSITIVE))


@each("radius", [5e-324, 1e-320, 1e-300])
@each("kind", KINDS)
def test_a_radius_next_to_nothing_gives_next_to_nothing(kind, radius) -> None:
    loss = from_rows(kind(np.eye(4)), np.array([True, False, True, False]))
    found = MultiStageSaddle(radius, 0.1, max_passes=5000).solve(loss)
    assert np.abs(found.w).sum() <= radius and np.isfinite(found.gap)


def test_there_is_always_a_stage() -> None:
    assert [count_stages(steps) for steps in (1, 3, 10, 100, 1000, 10**6)] == [1, 1, 1, 1, 2, 7]
    found = MultiStageSaddle(1.0, max_passes=1).solve(from_rows(X, POSITIVE))
    assert found.n_iter == 40


def test_the_first_step_is_that_of_the_theory_and_at_most_stable() -> None:
    assert first_step("auto", 1.0, 1.0, 1) == 0.25
    long, short = (first_step("auto", 1.0, 1.0, n0) for n0 in (10**6, 4 * 10**6))
    assert long == pytest.approx(2 * short)
    assert first_step(3.0, 1.0, 1.0, 10) == 3.0
    some: dict[str, Any]
    for some in ({"radius": 0}, {"step": "x"}, {"share": "x"}, {"max_passes": 0}):
        with pytest.raises(InputError):
            replace(MultiStageSaddle(), **some)


def test_the_time_is_looked_at_after_each_stage() -> None:
    loss = from_rows(X, POSITIVE)
    whole = MultiStageSaddle(1.0, max_passes=1000).solve(loss)
    cut = MultiStageSaddle(1.0, max_passes=1000, max_time=1e-9).solve(loss)
    stages = count_stages(1000 * len(POSITIVE))
    assert stages > 2 and whole.status == Status.ITERATION_LIMIT
    assert cut.status == Status.TIME_LIMIT and cut.n_iter == whole.n_iter // stages
