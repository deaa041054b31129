"""Claims: each certificate holds the optimum of its problem, written out pair by pair."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from ....exact.api.solve import solve
from ....exact.losses.registry import ALL_LOSSES
from ....exact.pairs.ordered.kinds import cross_group_pairs
from ....exact.problem.penalties.ridge import Ridge
from ....exact.problem.problem import Problem
from ....exact.problem.risk import Mean
from ....exact.problem.worst import Worst
from ....exact.solvers.choose import choose_solver
from ....exact.spaces.rows import Rows
from ...extremes import max
from ..claim import Context
from .draws import LAM, draws, every_pair, graded_pairs, timed_pairs, two_classes, with_ridge
from .enumerated import Judged, interval, judge, mean_loss, worst_loss


@interval
def ordered_pairs_interval_holds_the_optimum(context: Context) -> Iterator[Judged]:
    for X, rng in draws(context):
        qid, grade = rng.integers(0, 3, 14), rng.integers(0, 3, 14)
        time, event = rng.integers(1, 6, 14).astype(float), rng.random(14) < 0.7
        graded, timed = graded_pairs(qid, grade), timed_pairs(time, event)
        for loss in ("hinge", "squared_hinge"):
            by_query = solve(X, grade, LAM, loss=loss, qid=qid)
            yield judge(by_query, with_ridge(mean_loss(X, graded, loss)))
            survival = solve(X, None, LAM, loss=loss, time=time, event=event)
            yield judge(survival, with_ridge(mean_loss(X, timed, loss)))


@interval
def partial_auc_interval_holds_the_optimum(context: Context) -> Iterator[Judged]:
    for X, rng in draws(context):
        rows, y = two_classes(X, rng)
        for loss in ("hinge", "squared_hinge", "logistic"):
            for fpr, tpr in ((0.3, 0.0), (0.5, 0.5)):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # that w = 0 is optimal
                    found = solve(rows, y, LAM, loss=loss, fpr_max=fpr, tpr_min=tpr, tol=1e-6)
                value = worst_loss(rows, y, (1 - tpr) * 5, fpr * 9, loss)
                yield judge(found, with_ridge(value))


@interval
def worst_group_interval_holds_the_optimum(context: Context) -> Iterator[Judged]:
    for X, rng in draws(context):
        rows, y = two_classes(X, rng)
        member = np.zeros(y.size, dtype=int)  # each group has rows of both classes
        for label, half in ((0, 5), (1, 2)):
            member[rng.permutation(np.flatnonzero(y == label))[:half]] = 1
        parts = [
            [(i, j) for i, j in every_pair(y) if member[i] == member[j] == group]
            for group in (0, 1)
        ]
        for loss in ("hinge", "squared_hinge", "logistic"):
            means = [mean_loss(rows, part, loss) for part in parts]
            pairs = (cross_group_pairs(y, member, group, group) for group in (0, 1))
            risk = Worst(tuple(Mean(one, ALL_LOSSES[loss]) for one in pairs))
            problem = Problem(Rows(rows), risk, Ridge(LAM))
            found = choose_solver(problem, "auto", 1e-6, 5.0).solve(problem)
            yield judge(found, with_ridge(lambda w, f=means: max(one(w) for one in f)))
