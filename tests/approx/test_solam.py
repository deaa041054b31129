from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import online_naive
from aucert.approx.online import from_rows
from aucert.approx.solam import SaddleWalk, StochasticSaddle, auto_step
from aucert.exact.errors import InputError
from aucert.exact.solvers.convex_reference import convex_reference
from loops import each

X, POSITIVE = online_naive.draw()
SHARE = POSITIVE.mean()
KINDS = [np.asarray, sp.csr_matrix]


@each("share", ["running", "exact"])
@each(("radius", "step"), [(0.3, 1.0), (3.0, 0.3), (1.0, 10.0)])
@each("kind", KINDS)
def test_the_compiled_steps_are_the_naive_ones(kind, radius, step, share) -> None:
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
def test_the_expected_step_is_the_gradient_of_the_saddle_function(kind) -> None:
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


def test_at_the_best_a_b_alpha_it_is_the_gradient_of_the_pairwise_loss() -> None:
    loss, w = from_rows(X, POSITIVE), np.random.default_rng(2).normal(size=25)
    a, b = w @ loss.means[1], w @ loss.means[0]
    ends = np.array([a, b, b - a])
    moved = np.mean([one_step(loss, w, ends, i) for i in range(40)], axis=0)
    np.testing.assert_allclose(moved[:25], SHARE * (1 - SHARE) * loss.gradient(w), atol=1e-9)
    np.testing.assert_allclose(moved[25:], 0.0, atol=1e-9)


def promised(rows, positive, radius, step, steps) -> float:
    """What the theory of saddle points by stochastic steps promises for the mean of F - F*.

    (|domain|^2 + mean |slope|^2 sum of the squares) / sum of the lengths, over p (1 - p), with
    the largest slopes on the domain.
    """
    kappa, p = np.linalg.norm(rows, axis=1).max(), positive.mean()
    wide, size = radius * kappa, np.linalg.norm(rows, axis=1)
    q = np.where(positive, 2 * (1 - p), 2 * p)
    score = radius * size
    slope = (q * (score + 3 * wide + 1) * size) ** 2 + (q * (score + wide)) ** 2
    slope = np.mean(slope + (q * (score + 2 * wide)) ** 2)
    gamma = step / np.sqrt(np.arange(1, steps + 1))
    domain = radius**2 + 2 * wide**2 + (2 * wide) ** 2
    return float((domain + slope * (gamma @ gamma)) / gamma.sum() / (p * (1 - p)))


@each(("steps", "runs"), [(200_000, 8), (2_000_000, 4)])
def test_it_is_as_near_the_optimum_as_its_theory_says(steps, runs) -> None:
    rows, positive = online_naive.draw(n=60, d=4, density=1.0)
    loss, solver = from_rows(rows, positive), StochasticSaddle(0.5, 0.3, "exact")
    task = solver.problem(loss)
    best, above = convex_reference(task).objective, []
    for seed in range(runs):
        walk = SaddleWalk(solver, loss, np.zeros(4))
        walk.take(np.random.default_rng(seed).integers(60, size=steps))
        above.append(task.value(walk.answer) - best)
    bound = promised(rows, positive, 0.5, 0.3, steps)
    assert np.mean(above) <= bound < (1 - best) * (0.4 if steps == 200_000 else 0.15)
    assert np.mean(above) <= 0.05 * (1 - best)  # it does better than the bound


def test_the_automatic_step_knows_the_scale_and_other_steps_are_kept() -> None:
    assert auto_step("auto", 100.0, 3.0) == 1 / 20
    assert auto_step("auto", 0.01, 2.0) == 0.005
    assert auto_step(7.0, 0.01, 2.0) == 7.0
    some: dict[str, Any]
    for some in ({"radius": 0}, {"step": "x"}, {"step": -1}, {"share": "x"}, {"max_passes": 0}):
        with pytest.raises(InputError):
            StochasticSaddle(**some)
