"""How fast this machine is, so that the search starts nothing that would pass its deadline."""

from __future__ import annotations

import time
from functools import cache

import numpy as np

UNIT_SIDE, REPEATS = 200, 3
"""Side of the eigenvalue problem that is timed, and how often: the best time counts."""

SLOW = 5e8
"""Multiplications of a dive that even a slow processor makes in a second."""


class TimeOutError(Exception):
    """The next piece of work would last beyond the end of the search."""


@cache
def eigen_seconds() -> float:
    """Return the seconds of an eigenvalue problem of side `UNIT_SIDE`, measured once."""
    matrix, spent = np.cov(np.random.default_rng(0).normal(size=(UNIT_SIDE, UNIT_SIDE))), []
    for _ in range(REPEATS):
        start = time.perf_counter()
        np.linalg.eigh(matrix)
        spent.append(time.perf_counter() - start)
    return min(spent)


def need_eigenvalues(side: int, times: float, end: float) -> None:
    """Raise `TimeOutError` if so many eigenvalue problems of this side would last beyond `end`."""
    if not np.isfinite(end) or side < UNIT_SIDE:
        return
    if time.perf_counter() + times * eigen_seconds() * (side / UNIT_SIDE) ** 3 > end:
        raise TimeOutError


def affordable_multiplications(end: float) -> float:
    """Return how many multiplications of a dive surely fit before `end`."""
    return SLOW * max(end - time.perf_counter(), 0.0)
