"""Claims: the certificates of penalties hold the optimum, written out pair by pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....exact.api.solve import solve
from ..claim import Context
from .draws import LAM, draws, every_pair, graded_pairs, two_classes, with_ridge
from .enumerated import Judged, Objective, interval, judge, mean_loss

L1 = 0.05


@interval
def penalty_interval_holds_the_optimum(context: Context) -> Iterator[Judged]:
    for X, rng in draws(context):
        rows, y = two_classes(X, rng)
        for loss in ("squared_hinge", "logistic"):
            more: Any = {"loss": loss, "l1": L1, "tol": 1e-7}
            value = mean_loss(rows, every_pair(y), loss)
            yield judge(solve(rows, y, 0.0, **more), _with_l1(value))
            yield judge(solve(rows, y, LAM, **more), with_ridge(_with_l1(value)))
            group = solve(rows, y, LAM, groups=[0, 0], **more)
            yield judge(group, with_ridge(_with_norm(value, L1 * float(np.sqrt(2)))))


@interval
def sign_interval_holds_the_optimum(context: Context) -> Iterator[Judged]:
    for X, rng in draws(context):
        rows, y = two_classes(X * [1.0, -1.0] - [0.0, 2.0], rng)
        rows = rows * [1.0, -1.0]  # so that the second weight wants to be negative
        qid, grade = rng.integers(0, 3, 14), rng.integers(0, 3, 14)
        for loss in ("hinge", "squared_hinge", "logistic"):
            value = mean_loss(rows, every_pair(y), loss)
            for sign, held in (("nonnegative", [0, 1]), ([1], [1])):
                more: Any = {"loss": loss, "sign": sign, "tol": 1e-7}
                found = solve(rows, y, LAM, **more)
                yield judge(found, _above_zero(with_ridge(value), held))
                found = solve(rows, y, 0.0, l1=L1, **more)
                yield judge(found, _above_zero(_with_l1(value), held))
            graded = mean_loss(rows, graded_pairs(qid, grade), loss)
            found = solve(rows, grade, LAM, qid=qid, loss=loss, sign="nonnegative", tol=1e-7)
            yield judge(found, _above_zero(with_ridge(graded), [0, 1]))


def _with_l1(value: Objective) -> Objective:
    """Return w -> l1 |w|_1 + value(w)."""
    return lambda w: L1 * float(np.abs(w).sum()) + value(w)


def _with_norm(value: Objective, size: float) -> Objective:
    """Return w -> size |w|_2 + value(w)."""
    return lambda w: size * float(np.sqrt(w @ w)) + value(w)


def _above_zero(value: Objective, held: list[int]) -> Objective:
    """Return the objective where the weights in `held` are >= 0, and infinity elsewhere."""
    return lambda w: value(w) if (w[held] >= 0).all() else np.inf
