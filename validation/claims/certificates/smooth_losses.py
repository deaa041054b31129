"""Claims: the certificates of smooth losses hold the optimum, written out pair by pair."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....exact.api.solve import solve
from ....exact.pairs.all_pairs import AllPairs
from ..claim import Context
from .draws import LAM, draws, every_pair, two_classes, with_ridge
from .enumerated import Judged, interval, judge, mean_loss

CONVOLVED = ("logistic", "smooth_hinge")
# A unit of score: what bins add to the value, L / (12 bins^2), is below the tolerance of sums.
BINS = 1 << 18


@interval
def logistic_interval_holds_the_optimum(context: Context) -> Iterator[Judged]:
    return _cases(context, "logistic")


@interval
def smooth_hinge_interval_holds_the_optimum(context: Context) -> Iterator[Judged]:
    return _cases(context, "smooth_hinge")


@interval
def exponential_interval_holds_the_optimum(context: Context) -> Iterator[Judged]:
    return _cases(context, "exponential")


def _cases(context: Context, loss: str) -> Iterator[Judged]:
    """Judge each way of summing the loss over all pairs."""
    for X, rng in draws(context):
        rows, y = two_classes(X, rng)
        value = with_ridge(mean_loss(rows, every_pair(y), loss))
        yield judge(solve(rows, y, LAM, loss=loss), value)
        if loss in CONVOLVED:  # so few pairs are convolved only where that is asked for
            fine = AllPairs(form="binned", bins=BINS)
            yield judge(solve(rows, y, LAM, loss=loss, pairs=fine), value)
        yield judge(solve(rows, y, LAM, loss=loss, qid=np.zeros(len(y), dtype=int)), value)
