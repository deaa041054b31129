from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import online_naive
from aucert.approx.online import from_rows
from aucert.approx.sht import sparse_problem
from aucert.approx.spam import CHUNK, ProximalWalk, StochasticProximal, from_paper, steepest
from aucert.exact.errors import InputError
from aucert.exact.solvers.convex_reference import convex_reference
from loops import each, first_fast, seeds

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


@each(("l1", "l2"), [(0.003, 0.0), (0.03, 0.1), (0.2, 0.0)])
def test_tied_weights_and_blocks_of_every_length_give_the_naive_steps(l1, l2) -> None:
    rows, positive = online_naive.tied()
    rng, loss = np.random.default_rng(5), from_rows(sp.csr_matrix(rows), positive)
    solver = StochasticProximal(l1, l2, "constant", step=0.02, average=True)
    order, start = rng.integers(60, size=2500), rng.integers(-2, 3, size=300) / 8
    walk = ProximalWalk(solver, loss, start.copy())
    walk.take(order)
    last, total = online_naive.spam(rows, positive, order, np.full(2500, 0.02), l1, l2, start)
    assert 0 < np.count_nonzero(last) < 300 or l1 < 0.01
    np.testing.assert_allclose(walk.w, last, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(walk.answer, total / 2500, rtol=1e-8, atol=1e-11)


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


@each("l1", [1e-3, 0.1])
def test_rows_and_starts_longer_than_what_is_copied_at_a_time(l1) -> None:
    rng = np.random.default_rng(1)
    rows, d = rng.normal(size=(9, 3 * CHUNK)), 3 * CHUNK
    rows[::2] *= rng.random((5, d)) < 0.2
    rows /= np.linalg.norm(rows, axis=1).max()
    solver = StochasticProximal(l1, 0.01, step=0.1, average=True)
    start = 0.01 * rng.normal(size=d)
    assert_naive(rows, np.arange(9) % 3 == 0, rng.integers(9, size=150), solver, start)


@each(("l1", "size"), [(5e-324, 1.0), (1e-200, 1.0), (1e200, 1.0), (1e308, 1.0), (0.02, 1e-310)])
def test_the_smallest_and_the_largest_numbers_give_the_naive_steps(l1, size) -> None:
    rng = np.random.default_rng(2)
    solver, start = StochasticProximal(l1, average=True), size * rng.normal(size=25)
    with np.errstate(over="ignore"):
        assert_naive(X, POSITIVE, rng.integers(40, size=300), solver, start)


@each("l1", [10.0, 1e3, 1e6])
@each("step", [1e10, 1e16, 1e20, 1e100])
def test_steps_and_penalties_so_long_that_all_weights_vanish_leave_zeros(step, l1) -> None:
    rows = np.array([[1.0, 0.3], [0.2, 1.0], [0.7, 0.7]])
    solver = StochasticProximal(l1, schedule="constant", step=step)
    for kind in KINDS:
        loss = from_rows(kind(rows), np.array([True, False, False]))
        walk = ProximalWalk(solver, loss, np.array([0.3, -0.7]))
        walk.take(np.arange(300) % 3)
        np.testing.assert_array_equal(walk.w, 0.0)


def test_steps_that_diverge_do_not_come_back_as_zeros() -> None:
    solver = StochasticProximal(0.01, schedule="constant", step=1e3)
    walk = ProximalWalk(solver, from_rows(sp.csr_matrix(X), POSITIVE), np.ones(25))
    walk.take(np.random.default_rng(3).integers(40, size=5000))
    assert not np.isfinite(walk.w).any()
    with pytest.raises(InputError, match="shorter step"):
        solver.solve(walk.loss)


@each("kind", KINDS)
@each("weighted", [False, True])
def test_the_expected_step_is_the_gradient_of_the_loss(kind, weighted) -> None:
    rng = np.random.default_rng(4)
    y = POSITIVE.astype(int)
    weight = rng.integers(1, 4, size=40) if weighted else None
    loss, w = sparse_problem(kind(X), y, weight), rng.normal(size=25)
    solver = StochasticProximal(schedule="constant", step=0.01)
    moved = []
    for i in range(40):
        walk = ProximalWalk(solver, loss, w.copy())
        walk.take(np.array([i]))
        moved.append((w - walk.w) / 0.01)
    chance = np.ones(40) / 40 if weight is None else weight / weight.sum()
    np.testing.assert_allclose(chance @ np.array(moved), loss.gradient(w), atol=1e-10)


def linear_maps(X, positive):
    """The stochastic gradient of row i is maps[i] w + shifts[i]."""
    plus, minus, r = X[positive].mean(axis=0), X[~positive].mean(axis=0), positive.mean()
    other, chance = np.where(positive[:, None], minus, plus), np.where(positive, r, 1 - r)
    maps = 2 / chance[:, None, None] * X[:, :, None] * (X - other)[:, None, :]
    return maps, np.where(positive, -2.0, 2.0)[:, None] / chance[:, None] * X


def mean_error_bound(X, positive, best, eta, l2) -> float:
    """A bound of the mean of |w_T - w*|^2 from w = 0, step by step.

    The proximal map divides distances by 1 + eta l2, w* is its fixed point, and the squared
    distance before it is at most (1 - 2 eta mu + 2 eta^2 S) e + 2 eta^2 V in the mean.
    """
    maps, shifts = linear_maps(X, positive)
    S = np.linalg.eigvalsh(np.einsum("kij,kil->jl", maps, maps) / len(X))[-1]
    noise = maps @ best + shifts
    V = np.square(noise - noise.mean(axis=0)).sum(axis=1).mean()
    mu = np.linalg.eigvalsh((maps.mean(axis=0) + maps.mean(axis=0).T) / 2)[0]
    error = best @ best
    for h in eta:
        error = ((1 - 2 * h * mu + 2 * h * h * S) * error + 2 * h * h * V) / (1 + h * l2) ** 2
    return float(error)


@each("kind", KINDS)
@each(("l1", "l2"), [(0.05, 0.5), (0.0, 0.5)])
def test_steps_of_order_one_over_t_are_as_near_as_their_theory_says(kind, l1, l2) -> None:
    rows, positive = online_naive.draw(n=60, d=4, density=1.0)
    loss = from_rows(kind(rows), positive)
    solver = StochasticProximal(l1, l2, "linear")
    best = convex_reference(solver.problem(loss)).w
    for steps, factor in ((1000, 10), (20_000, 200)):
        errors = []
        for seed in range(40):
            walk = ProximalWalk(solver, loss, np.zeros(4))
            walk.take(np.random.default_rng(seed).integers(60, size=steps))
            errors.append(np.square(walk.answer - best).sum())
        eta = solver.lengths(walk.steep, 0, steps)
        bound = mean_error_bound(rows, positive, best, eta, l2)
        assert np.mean(errors) <= bound
        assert bound <= best @ best / factor  # and the bound says something


@each(("l1", "l2"), [(0.05, 0.0), (0.05, 0.2), (0.0, 0.2)])
@each("average", [False, True])
def test_it_comes_near_the_optimum_and_its_gap_says_so(l1, l2, average) -> None:
    loss = from_rows(sp.csr_matrix(X), POSITIVE)
    solver = StochasticProximal(l1, l2, average=average, max_passes=3000)
    found, best = solver.solve(loss), convex_reference(solver.problem(loss)).objective
    assert found.objective - best <= 0.01 * (1 - best)
    assert found.objective - best <= found.gap + 1e-12
    assert found.gap <= 0.1


def test_the_papers_numbers_are_converted() -> None:
    here = from_paper(beta1=0.01, beta2=0.02, xi=3.0, share=0.25)
    r, w = 0.25, np.array([0.3, -0.2])
    theirs = r * (1 - r) * 0.7 + 0.01 * np.abs(w).sum() + 0.01 * w @ w
    ours = 0.7 + here["l1"] * np.abs(w).sum() + here["l2"] / 2 * w @ w
    assert theirs == pytest.approx(r * (1 - r) * ours)
    assert here["step"] * here["l1"] == pytest.approx(3.0 * 0.01)  # the same shrinking a step


def test_auto_steps_are_one_over_the_largest_curvature_of_a_row() -> None:
    loss = from_rows(X, POSITIVE)
    norms = [np.linalg.norm(m, 2) for m in linear_maps(X, POSITIVE)[0]]
    assert steepest(loss) == pytest.approx(max(norms))
    assert steepest(from_rows(sp.csr_matrix(X), POSITIVE)) == pytest.approx(max(norms))
    eta = StochasticProximal(0.1, 0.5, "linear").lengths(8.0, 0, 1000)
    assert eta[0] == pytest.approx(1 / 8, rel=0.05)
    np.testing.assert_allclose(eta[-1] * (1000 + 32), 2 / 0.5)


def test_divergence_and_bad_parameters_are_refused() -> None:
    loss = from_rows(X, POSITIVE)
    with pytest.raises(InputError, match="shorter step"):
        StochasticProximal(schedule="constant", step=1e3, max_passes=30).solve(loss)
    wrong: list[dict[str, Any]] = [
        {"l1": -1},
        {"schedule": "x"},
        {"step": "x"},
        {"step": 0},
        {"t0": -1},
    ]
    for some in [*wrong, {"max_passes": 0}, {"schedule": "linear"}]:
        with pytest.raises(InputError):
            StochasticProximal(**some)
    with pytest.raises(InputError, match="w0"):
        StochasticProximal(l2=1.0).solve(loss, w0=np.ones(3))
