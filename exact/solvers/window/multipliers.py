"""The hinge over a window of pairs, to rounding: proximal multipliers, Newton steps inside.

Over the open pairs k = (i, j) with weights c_k and d_k = x_i - x_j, the others frozen,

    min over w of  lam/2 |w|^2 - g_frozen'w + sum_k c_k max(0, 1 - d_k'w)

is solved by a few smooth problems: with multipliers a and a width sigma the slope of pair k is
b_k = clip(a_k + (1 - d_k'w) / sigma, 0, 1), and b becomes the next a. Where smoothing alone needs
sigma -> 0, multipliers converge at any sigma, so the last digits need no tiny one. Each smooth
problem is piecewise quadratic: Newton steps end at its optimum after finitely many.

At any (w, b) the window's gap is a sum of two terms >= 0, free of cancellation:

    bias      sum_k c_k (max(0, z_k) - b_k z_k),    z_k = 1 - d_k'w,
    residual  |lam w - g(b)|^2 / (2 lam).

    until the gap is at most the target, or six rounds gain little:
        until the residual is small beside the bias and the target:
            p = the Newton step over the pairs with 0 < b_k < 1; go along it until it is flat
        a = b;  sigma = a fifth of what it was

Window after window, `WarmMultipliers` starts from the multipliers of the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...curvature.line_search import root_of_slope
from ...problem.problem import Problem
from ...spaces.rows import Rows
from .linear_systems import NewtonSystem
from .window import Window

SHRINK = 0.2  # Factor of the width from one set of multipliers to the next.

# Changes of multipliers at most, and Newton steps at most between two of them.
ROUNDS, STEPS = 60, 100

# The run ends after so many rounds in a row that each leave more than this share of the gap.
PROGRESS, PATIENCE = 0.9, 6

# A smooth problem is solved once its residual is at most this share of the bias, or of the target.
ENOUGH = 0.1

COMPILED_FROM = 20_000  # From this many pairs on, the passes over them are compiled.

# A step ends where at most this share of the slope along it is left, or after so many trials.
FLAT, TRIALS = 0.1, 60

# The narrowest width, in units of the margin: below it the rounding of the scores would show.
NARROWEST = 1e-9

# The first width in units of the largest shortfall: warm multipliers need little smoothing.
FRESH_WIDTH, WARM_WIDTH = 2.0, 0.03

LEAST_SHORTFALL = 1e-9  # Shortfalls below this count as this: the width must be above zero.


@dataclass(frozen=True, eq=False)
class OpenPairs:
    """The window's problem in the rows that it touches."""

    system: NewtonSystem
    i: np.ndarray
    j: np.ndarray
    c: np.ndarray
    fixed: np.ndarray
    lam: float

    @classmethod
    def of(cls, problem: Problem, window: Window) -> OpenPairs:
        """Return the problem of a window."""
        space = problem.space
        assert isinstance(space, Rows)
        seen = np.zeros(space.n, dtype=bool)
        seen[window.i] = seen[window.j] = True
        touched = np.flatnonzero(seen)
        place = np.cumsum(seen) - 1
        i, j = place[window.i], place[window.j]
        system = NewtonSystem(space.rows(touched), i, j, window.c, problem.lam)
        fixed = space.pull(window.frozen)
        return cls(system, i, j, window.c, fixed, problem.lam)

    def differences(self, values: np.ndarray) -> np.ndarray:
        """Return v_i - v_j of every pair, from values of the touched rows: (m,)."""
        return values[self.i] - values[self.j]

    def pull(self, b: np.ndarray) -> np.ndarray:
        """Return g(b) = g_frozen + sum_k c_k b_k d_k: (dim,)."""
        mass, t = self.c * b, self.system.n
        u = np.bincount(self.i, mass, t) - np.bincount(self.j, mass, t)
        return self.fixed + self.system.rows.T @ u


@dataclass(frozen=True, eq=False)
class WindowPoint:
    """w, its slopes b, the shortfalls z, the gradient lam w - g(b) and the window's gap."""

    w: np.ndarray
    b: np.ndarray
    z: np.ndarray
    gradient: np.ndarray
    bias: float
    residual: float

    @property
    def gap(self) -> float:
        """How far w and b are from the window's optimum, both together."""
        return self.bias + self.residual


def multipliers(
    pairs: OpenPairs,
    w: np.ndarray,
    alpha: np.ndarray,
    sigma: float,
    target: float,
    stop: Callable[[], bool] = lambda: False,
    max_rounds: int = ROUNDS,
) -> WindowPoint:
    """Return a point whose window gap is at most `target`, or the best one found."""
    best, idle = _at(pairs, w, alpha, sigma), 0
    for _ in range(max_rounds):
        point = _minimised(pairs, w, alpha, sigma, target, stop)
        idle = 0 if point.gap < PROGRESS * best.gap else idle + 1
        best = point if point.gap < best.gap else best
        if best.gap <= target or idle >= PATIENCE or stop():
            break
        w, alpha = point.w, point.b
        sigma = max(sigma * SHRINK, NARROWEST)
    return best


def _at(pairs: OpenPairs, w: np.ndarray, alpha: np.ndarray, sigma: float) -> WindowPoint:
    s = pairs.system.rows @ w
    if pairs.c.size >= COMPILED_FROM:
        from .multipliers_compiled import slopes

        z, b, u = np.empty(pairs.c.size), np.empty(pairs.c.size), np.zeros(pairs.system.n)
        bias = slopes(s, pairs.i, pairs.j, pairs.c, alpha, sigma, z, b, u)
        g = pairs.fixed + pairs.system.rows.T @ u
    else:
        z = 1.0 - pairs.differences(s)
        b = np.clip(alpha + z / sigma, 0.0, 1.0)
        bias = pairs.c @ (np.maximum(z, 0.0) - b * z)
        g = pairs.pull(b)
    gradient = pairs.lam * w - g
    return WindowPoint(w, b, z, gradient, float(bias), float(gradient @ gradient) / (2 * pairs.lam))


def _mass_along(
    pairs: OpenPairs,
    point: WindowPoint,
    alpha: np.ndarray,
    sigma: float,
    change: np.ndarray,
    length: float,
) -> float:
    """Return sum_k c_k b_k e_k, b the slopes after a step of this length, e their rates."""
    if pairs.c.size >= COMPILED_FROM:
        from .multipliers_compiled import mass_along

        return float(mass_along(pairs.c, alpha, point.z, change, sigma, length))
    b = np.clip(alpha + (point.z - length * change) / sigma, 0.0, 1.0)
    return float((pairs.c * change) @ b)


def _minimised(
    pairs: OpenPairs,
    w: np.ndarray,
    alpha: np.ndarray,
    sigma: float,
    target: float,
    stop: Callable[[], bool],
) -> WindowPoint:
    """Return the optimum of the smooth problem, as near as its gap asks for."""
    point = _at(pairs, w, alpha, sigma)
    for _ in range(STEPS):
        if point.residual <= ENOUGH * max(point.bias, target) or stop():
            break
        inside = (point.b > 0.0) & (point.b < 1.0)  # at 0 and 1 a pair's slope does not change
        step = pairs.system.solve(np.flatnonzero(inside), sigma, -point.gradient)
        length = _length(pairs, point, alpha, sigma, step)
        moved = point.w + length * step
        if length == 0.0 or np.array_equal(moved, point.w):
            break
        after = _at(pairs, moved, alpha, sigma)
        if after.residual >= point.residual and length == 1.0 and point.residual < target:
            break  # rounding
        point = after
    return point


def _length(
    pairs: OpenPairs, point: WindowPoint, alpha: np.ndarray, sigma: float, step: np.ndarray
) -> float:
    """Return a length at which the slope along `step` has fallen to `FLAT` of what it was."""
    change = pairs.differences(pairs.system.rows @ step)
    along = pairs.lam * float(point.w @ step) - float(pairs.fixed @ step)
    square = pairs.lam * float(step @ step)

    def slope(t: float) -> float:
        return along + t * square - _mass_along(pairs, point, alpha, sigma, change, t)

    return root_of_slope(slope, float(point.gradient @ step), FLAT, TRIALS)


class WarmMultipliers:
    """Solves windows of one problem, and remembers the multipliers of the last."""

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
            The scores of `w`.
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
        order = np.argsort(keys)  # the next window searches them
        self.keys, self.alpha = keys[order], point.b[order]
        return point
