"""CPU time of a function, best of several, and the yardstick that everything is divided by."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def timed(function: Callable[[], T], repeats: int = 1) -> tuple[T, float]:
    """Return what the last call returned, and the smallest CPU seconds of `repeats` calls."""
    best = np.inf
    while True:
        start = time.process_time()
        found = function()
        best, repeats = min(best, time.process_time() - start), repeats - 1
        if repeats <= 0:
            return found, best


def on_the_clock(function: Callable[[], T], repeats: int = 1) -> tuple[T, float]:
    """Return what the last call returned, and the smallest seconds by the clock, for threads."""
    best = np.inf
    while True:
        start = time.perf_counter()
        found = function()
        best, repeats = min(best, time.perf_counter() - start), repeats - 1
        if repeats <= 0:
            return found, best


def best_cpu(function: Callable[[], object], repeats: int = 5, least: float = 0.02) -> float:
    """Return the smallest CPU seconds of one call.

    Parameters
    ----------
    function : callable
    repeats : int
        Rounds; the best counts, since noise only ever adds.
    least : float
        Seconds that a round lasts at least: short functions are called several times.
    """
    calls, best = 1, np.inf
    for _ in range(repeats):
        while True:
            start = time.process_time()
            for _ in range(calls):
                function()
            spent = time.process_time() - start
            if spent >= least:
                break
            calls = max(2 * calls, int(calls * least / max(spent, 1e-6)))
        best = min(best, spent / calls)
    return best


def yardstick(X: np.ndarray, w: np.ndarray | None = None) -> Callable[[], object]:
    """Return the function that everything is measured in: one X@w, one argsort, one X'g."""
    w = np.ones(X.shape[1]) if w is None else w

    def once() -> object:
        scores = X @ w
        np.argsort(scores)
        return scores @ X

    return once
