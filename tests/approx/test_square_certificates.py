"""The certificates of SPAM, SOLAM and FSAUC hold for any weights, next to the optimum of others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aucert.approx.online import certificate_of
from aucert.exact.solvers.convex_reference import convex_reference
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss.convex_square import ConvexSquare
from aucert.exact.square_loss.row_average import RowAverage
from loops import each
from sparse_signal import draw

X, Y = draw(n=80, d=8)
LOSS = RowAverage.of(Rows(X), Y == 1)
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
    best = convex_reference(task)
    for w in (best.w, np.zeros(8), *(inside(task, rng.normal(size=8)) for _ in range(20))):
        held = certificate_of(task, task.judged(w))
        assert held.dual <= best.objective <= held.primal + 1e-12
        assert 0 <= held.primal - task.value(w) <= held.rounding
        assert held.gap == pytest.approx(task.gap(w), rel=1e-9, abs=1e-13)
        assert (held.radius is None) == (task.loss.lam == 0)
        if held.radius is not None:
            assert np.linalg.norm(w - best.w) <= held.radius + np.sqrt(2e-9 / task.loss.lam)


@each("name", ["l1 ball", "l2 ball"])
def test_it_holds_on_the_edge_of_a_ball_and_says_nothing_outside(name) -> None:
    task = PROBLEMS[name]
    best = convex_reference(task)
    beyond = inside(task, 1e3 * best.w) * (1 + 5e-13)
    judged = task.judged(beyond)
    held = certificate_of(task, judged)
    assert held.dual <= best.objective <= held.primal + 1e-12
    outside = certificate_of(task, task.judged(2 * beyond))
    assert outside.primal == np.inf and outside.gap == np.inf and outside.dual <= best.objective
