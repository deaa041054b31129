"""Claims: each certificate holds the optimum of its problem, written out pair by pair."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from ....exact.api.solve import solve
from ..claim import Context, Outcome
from ..papers import NONLINEAR
from .enumerated import Judged, Objective, judge, mean_loss, outcome, worst_loss

PLACE = "eqs. (3), (5), for other pairs"
LAM = 0.05
DRAWS = 2
"""Problems for each case; the full profile takes ten times as many."""


def _draws(context: Context) -> Iterator[tuple[np.ndarray, np.random.Generator]]:
    """Rows (14, 2) with ties, and a generator for labels."""
    for draw in range(DRAWS if context.quick else 10 * DRAWS):
        rng = context.rng(f"draw {draw}")
        yield np.round(2 * rng.normal(size=(14, 2))) / 2, rng


def _two_classes(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows moved apart by class, and labels of five positives."""
    y = rng.permutation(np.arange(len(X)) < 5).astype(int)
    return X + 1.5 * y[:, None], y


@NONLINEAR.suite(
    PLACE,
    "Over pairs by query and over the comparable pairs of survival, with ties in grades, times and "
    "scores, the certificate's interval holds the optimum of the listed pairs.",
    formula="D - rounding <= min F <= P + rounding,  F = lam/2 |w|^2 + mean of the listed pairs",
)
def ordered_pairs_interval_holds_the_optimum(context: Context) -> Outcome:
    def cases() -> Iterator[Judged]:
        for X, rng in _draws(context):
            qid, grade = rng.integers(0, 3, 14), rng.integers(0, 3, 14)
            time, event = rng.integers(1, 6, 14).astype(float), rng.random(14) < 0.7
            every = [(i, j) for i in range(14) for j in range(14)]
            graded = [(i, j) for i, j in every if qid[i] == qid[j] and grade[i] > grade[j]]
            timed = [
                (i, j)
                for i, j in every
                if event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j]))
            ]
            for loss in ("hinge", "squared_hinge"):
                by_query = solve(X, grade, LAM, loss=loss, qid=qid)
                yield judge(by_query, _with_ridge(mean_loss(X, graded, loss)))
                survival = solve(X, None, LAM, loss=loss, time=time, event=event)
                yield judge(survival, _with_ridge(mean_loss(X, timed, loss)))

    return outcome(cases())


@NONLINEAR.suite(
    PLACE,
    "For partial AUC, one-way and two-way and with row numbers that are not whole, the "
    "certificate's interval holds the optimum of the sorted mean.",
    formula="D - rounding <= min F <= P + rounding,  F with the kp lowest and kq highest rows",
)
def partial_auc_interval_holds_the_optimum(context: Context) -> Outcome:
    def cases() -> Iterator[Judged]:
        for X, rng in _draws(context):
            rows, y = _two_classes(X, rng)
            for loss in ("hinge", "squared_hinge", "logistic"):
                for fpr, tpr in ((0.3, 0.0), (0.5, 0.5)):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", UserWarning)  # that w = 0 is optimal
                        found = solve(rows, y, LAM, loss=loss, fpr_max=fpr, tpr_min=tpr, tol=1e-6)
                    value = worst_loss(rows, y, (1 - tpr) * 5, fpr * 9, loss)
                    yield judge(found, _with_ridge(value))

    return outcome(cases())


@NONLINEAR.suite(
    PLACE,
    "For the logistic loss over all pairs, by one convolution and by queries, the certificate's "
    "interval holds the optimum of the listed pairs.",
    formula="D - rounding <= min F <= P + rounding,  loss(t) = log(1 + exp(-t))",
)
def logistic_interval_holds_the_optimum(context: Context) -> Outcome:
    def cases() -> Iterator[Judged]:
        for X, rng in _draws(context):
            rows, y = _two_classes(X, rng)
            pairs = [(i, j) for i in np.flatnonzero(y == 1) for j in np.flatnonzero(y == 0)]
            value = _with_ridge(mean_loss(rows, pairs, "logistic"))
            yield judge(solve(rows, y, LAM, loss="logistic"), value)
            one = np.zeros(len(y), dtype=int)
            yield judge(solve(rows, y, LAM, loss="logistic", qid=one), value)

    return outcome(cases())


@NONLINEAR.suite(
    PLACE,
    "With the lasso, the elastic net and the group lasso the certificate's interval holds the "
    "optimum of the listed pairs.",
    formula="D - rounding <= min F <= P + rounding,  F = l2/2 |w|^2 + l1 R(w) + mean loss",
)
def penalty_interval_holds_the_optimum(context: Context) -> Outcome:
    l1 = 0.05

    def cases() -> Iterator[Judged]:
        for X, rng in _draws(context):
            rows, y = _two_classes(X, rng)
            pairs = [(i, j) for i in np.flatnonzero(y == 1) for j in np.flatnonzero(y == 0)]
            for loss in ("squared_hinge", "logistic"):
                value = mean_loss(rows, pairs, loss)
                lasso = solve(rows, y, 0.0, loss=loss, l1=l1, tol=1e-7)
                yield judge(lasso, lambda w, f=value: f(w) + l1 * float(np.abs(w).sum()))
                net = solve(rows, y, LAM, loss=loss, l1=l1, tol=1e-7)
                yield judge(net, _with_ridge(lambda w, f=value: f(w) + l1 * float(np.abs(w).sum())))
                group = solve(rows, y, LAM, loss=loss, l1=l1, groups=[0, 0], tol=1e-7)
                whole = l1 * float(np.sqrt(2))
                yield judge(
                    group,
                    _with_ridge(lambda w, f=value, s=whole: f(w) + s * float(np.sqrt(w @ w))),
                )

    return outcome(cases())


def _with_ridge(value: Objective) -> Objective:
    """Return w -> lam/2 |w|^2 + value(w)."""
    return lambda w: LAM / 2 * float(w @ w) + value(w)
