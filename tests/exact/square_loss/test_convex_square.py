from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

from aucert.exact.errors import InputError, TooLargeError
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.solvers.convex_reference import LARGEST, convex_reference, second_moments
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss.convex_square import ConvexSquare
from aucert.exact.square_loss.row_average import RowAverage
from loops import each, seeds
from pairwise import mean_square
from sparse_signal import draw

X, Y = draw(n=80, d=8)
LOSS = RowAverage.of(Rows(X), Y == 1)
NAMES = ["l1", "l2", "elastic", "l1 ball", "l2 ball", "wide l1 ball", "wide l2 ball"]


def problem(name: str, loss: RowAverage = LOSS) -> ConvexSquare:
    if "ball" in name:
        radius = 50.0 if "wide" in name else 0.2
        return ConvexSquare(loss, ball=name.removeprefix("wide ")[:2], radius=radius)
    lam = {"l1": 0.0, "l2": 0.4, "elastic": 0.3}[name]
    return ConvexSquare(replace(loss, lam=lam), l1=0.0 if name == "l2" else 0.2)


def inside(task: ConvexSquare, w: np.ndarray) -> np.ndarray:
    if task.ball == "none":
        return w
    size = np.abs(w).sum() if task.ball == "l1" else np.linalg.norm(w)
    return w * min(1.0, task.radius / max(size, 1e-300))


@each("name", NAMES)
def test_no_weights_are_below_the_lower_bound_of_any_other(name) -> None:
    task, rng = problem(name), np.random.default_rng(1)
    best = convex_reference(task).w
    points = [inside(task, s * rng.normal(size=8)) for s in (0.01, 0.1, 1.0) for _ in range(20)]
    points += [best, np.zeros(8), *(best + 1e-3 * rng.normal(size=8) for _ in range(9))]
    lowest = min(task.value(inside(task, w)) for w in points)
    assert max(task.lower_bound(w) for w in points) <= lowest + 1e-12


@each("name", NAMES)
def test_the_reference_is_proved_optimal(name) -> None:
    found = convex_reference(problem(name))
    assert found.gap <= 1e-10
    assert found.objective == problem(name).value(found.w)


@each("name", NAMES)
def test_the_value_is_that_of_the_pairs_and_the_penalties(name) -> None:
    task, w = problem(name), np.random.default_rng(2).normal(size=8)
    penalty = task.l1 * np.abs(w).sum() + task.loss.lam / 2 * w @ w
    assert task.value(w) == pytest.approx(mean_square(X, Y == 1, w) + penalty, rel=1e-12)


@each("name", ["l1", "elastic", "l2"])
def test_a_general_minimiser_finds_nothing_lower_than_the_reference(name) -> None:
    task = problem(name)
    split = scipy.optimize.minimize(  # w = u - v, both >= 0: smooth
        lambda z: task.loss.value(z[:8] - z[8:]) + task.l1 * z.sum(),
        np.zeros(16),
        bounds=[(0, None)] * 16,
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000},
    )
    assert convex_reference(task).objective == pytest.approx(split.fun, abs=1e-7)


def test_the_gap_of_weights_outside_the_ball_is_infinite() -> None:
    task = problem("l1 ball")
    assert task.gap(np.full(8, 1.0)) == np.inf
    assert np.isfinite(task.gap(np.full(8, 0.01)))


@each("name", ["l1 ball", "l2 ball"])
def test_weights_a_rounding_outside_of_the_ball_are_charged_for_it(name) -> None:
    task = problem(name)
    beyond = inside(task, 1e3 * convex_reference(task).w) * (1 + 5e-13)
    judged = task.judged(beyond)
    assert 4.9e-13 <= judged.error <= 1e-10  # F falls by less than that on the way out
    assert judged.lower <= judged.value + judged.error
    assert task.judged(2 * beyond).error == np.inf


def test_weights_of_rows_and_sparse_rows_give_the_same_problem() -> None:
    weight = np.arange(80) % 3 + 1.0
    sparse = RowAverage.of(Rows(sp.csr_matrix(X)), Y == 1, AllPairs(weight))
    times = weight.astype(int)
    repeated = RowAverage.of(Rows(np.repeat(X, times, axis=0)), np.repeat(Y, times) == 1)
    np.testing.assert_allclose(second_moments(sparse), second_moments(repeated), atol=1e-12)
    one, two = (convex_reference(problem("elastic", loss)) for loss in (sparse, repeated))
    np.testing.assert_allclose(one.w, two.w, atol=1e-7)


def test_bad_problems_are_refused() -> None:
    some: dict[str, Any]
    for some in ({"l1": -1.0}, {"ball": "l3", "radius": 1.0}, {"ball": "l2", "radius": 0.0}):
        with pytest.raises(InputError):
            ConvexSquare(LOSS, **some)
    with pytest.raises(InputError, match="not both"):
        ConvexSquare(LOSS, 0.1, "l1", 1.0)
    wide = sp.csr_matrix(([1.0, 2.0], ([0, 1], [0, 1])), shape=(3, LARGEST + 1))
    task = ConvexSquare(RowAverage.of(Rows(wide), np.array([True, False, True])), 0.1)
    with pytest.raises(TooLargeError, match="online"):
        convex_reference(task)


@each("scale", [1e-130, 1e-99, 1e-20, 1.0])
@each("seed", seeds(30))
def test_the_reference_in_a_ball_knows_rows_of_any_size(scale: float, seed: int) -> None:
    """With M = 0 to rounding, the largest lam brings w to the ball's edge, or a unit beyond it."""
    rng = np.random.default_rng(seed)
    rows, y = scale * rng.normal(size=(9, 3)), np.arange(9) % 2
    loss = RowAverage.of(Rows(rows), y == 1)
    task = ConvexSquare(loss, ball="l2", radius=float(10.0 ** rng.uniform(-3, 1)))
    found = convex_reference(task)
    assert np.linalg.norm(found.w) <= task.radius * (1 + 1e-12)
    assert found.gap <= 1e-9
