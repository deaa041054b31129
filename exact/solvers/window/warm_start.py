"""Window after window, each solved from the multipliers of the one before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...problem.problem import Problem
from .multipliers import OpenPairs, WindowPoint, multipliers
from .window import Window

FRESH_WIDTH, WARM_WIDTH = 2.0, 0.03
"""The first width, in units of the largest shortfall: warm multipliers need little smoothing."""

LEAST_SHORTFALL = 1e-9
"""Shortfalls below this count as this: the width must be above zero."""


class WarmMultipliers:
    """Solves windows of one problem, and remembers the multipliers of the last.

    Parameters
    ----------
    problem : Problem
        Hinge, over `Rows`.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.keys, self.alpha = np.zeros(0, dtype=np.int64), np.zeros(0)

    def solve(
        self,
        window: Window,
        w: np.ndarray,
        scores: np.ndarray,
        target: float,
        stop: Callable[[], bool],
    ) -> WindowPoint:
        """Return a point whose window gap is at most `target`, or the best one found.

        Parameters
        ----------
        window : Window
        w : array (dim,)
            Start.
        scores : array (n,)
            Of `w`.
        target : float
            Gap of the window to reach, in units of the objective.
        stop : callable
            Polled between Newton steps; return True to stop early.
        """
        z = 1.0 - (scores[window.i] - scores[window.j])
        half = max(float(np.abs(z).max()), LEAST_SHORTFALL)
        width = FRESH_WIDTH * half
        alpha, keys = np.clip(0.5 + z / width, 0.0, 1.0), window.keys
        if self.keys.size:
            place = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
            known = self.keys[place] == keys
            alpha[known], width = self.alpha[place[known]], WARM_WIDTH * half
        pairs = OpenPairs.of(self.problem, window)
        point = multipliers(pairs, w, alpha, width, target, stop)
        order = np.argsort(keys)
        self.keys, self.alpha = keys[order], point.b[order]
        return point
