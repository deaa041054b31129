"""Small problems with ties that the claims about certificates are judged by."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..claim import Context
from .enumerated import Objective

LAM = 0.05
DRAWS = 2  # Problems for each case; the full profile takes ten times as many.


def draws(context: Context) -> Iterator[tuple[np.ndarray, np.random.Generator]]:
    """Rows (14, 2) with ties, and a generator for labels."""
    for draw in range(DRAWS if context.quick else 10 * DRAWS):
        rng = context.rng(f"draw {draw}")
        yield np.round(2 * rng.normal(size=(14, 2))) / 2, rng


def two_classes(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows moved apart by class, and labels of five positives."""
    y = rng.permutation(np.arange(len(X)) < 5).astype(int)
    return X + 1.5 * y[:, None], y


def every_pair(y: np.ndarray) -> list[tuple[int, int]]:
    """Positives above negatives, one by one."""
    return [(int(i), int(j)) for i in np.flatnonzero(y == 1) for j in np.flatnonzero(y == 0)]


def graded_pairs(qid: np.ndarray, grade: np.ndarray) -> list[tuple[int, int]]:
    """Rows above rows of the same query and a smaller grade, one by one."""
    n = range(len(qid))
    return [(i, j) for i in n for j in n if qid[i] == qid[j] and grade[i] > grade[j]]


def timed_pairs(time: np.ndarray, event: np.ndarray) -> list[tuple[int, int]]:
    """Deaths above what comes later, or is censored at the same time, one by one."""
    n = range(len(time))
    return [
        (i, j)
        for i in n
        for j in n
        if event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j]))
    ]


def with_ridge(value: Objective, l2: float = LAM) -> Objective:
    """Return w -> l2/2 |w|^2 + value(w)."""
    return lambda w: l2 / 2 * float(w @ w) + value(w)
