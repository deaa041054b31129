from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import online_naive
from aucert.approx.fsauc import MultiStageSaddle, StageWalk, count_stages, first_step
from aucert.approx.online import from_rows
from aucert.exact.convex_reference import convex_reference
from aucert.exact.errors import InputError

X, POSITIVE = online_naive.draw()
KINDS = [np.asarray, sp.csr_matrix]


@pytest.mark.parametrize("share", ["running", "exact"])
@pytest.mark.parametrize(
    ("radius", "step", "steps", "leaves"),
    [(0.3, 0.1, 1500, 0), (3.0, 0.3, 1500, 0), (0.05, 5.0, 4000, 1)],
)
@pytest.mark.parametrize("kind", KINDS)
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


@pytest.mark.parametrize(("radius", "step"), [(0.2, 0.05), (1.0, 0.3), (4.0, 0.3), (20.0, 0.3)])
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


@pytest.mark.parametrize("kind", KINDS)
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


@pytest.mark.parametrize("radius", [0.5, 2.0])
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
