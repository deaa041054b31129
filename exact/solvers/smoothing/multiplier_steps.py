"""Multipliers for the pairs near their margin, by quasi-Newton steps in many coordinates.

A narrower ramp is worse conditioned, so that the last digits of a smoothed hinge are dear. With
multipliers a, and a ramp of width sigma around them, the slope of pair k is

    b_k = clip(a_k + (1 - d_k'w) / sigma, 0, 1),

and b becomes the next a: this converges at any sigma (`window/multipliers.py` says more), so that
the width shrinks only where that is cheap. Pairs far from their margin are frozen.

    until the gap is inside the tolerance:
        open the window at the best scores; carry the multipliers of its pairs over
        take L-BFGS steps on the window's problem: one product for the scores, one for the gradient
        where rows are dense: factor the Hessian at the start and every so many steps, as the first
            guess of the inverse
        offer the point, and the dual point of b over all pairs
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ...certificate.certificate import dual_value
from ...certificate.solution import Recorder, Status
from ...certificate.solver import INSIDE
from ...curvature.line_search import root_of_slope
from ...problem.problem import Problem
from ...spaces.rows import Rows
from ..window.window import Window, open_window
from .functions import Functions
from .memory import Memory

FROM_COORDINATES = 600
"""Coordinates from which this pays: with fewer, `ActivePairs` factors in no time."""

LARGEST_FACTOR = 5000
"""Coordinates up to which a Hessian is factored (200 MB)."""

BLOCK = 4096
"""Pairs whose differences are listed at a time."""

REACH, MOST = 5.0, 400_000
"""Half width of the window in widths of the ramp, and pairs in it at most."""

ROUNDS, STEPS = 60, 60
"""Changes of multipliers at most, and steps at most between two of them."""

ENOUGH, FINEST = 0.2, 0.1
"""A round ends where the gradient's part of the gap is this share of the bias, or the second of the
tolerance."""

RENEWED = 25
"""Steps after which the Hessian is factored again; a round that took half as many does so, too."""

EASY, SHRINK, NARROWEST = 8, 0.5, 1e-9
"""A round of so many steps at most lets the width shrink by this factor, down to the last, where
rounding of the scores would show."""

PROGRESS, PATIENCE = 0.95, 6
"""So many rounds that leave more than this share of the gap end the run."""

FLAT, TRIALS = 0.1, 6
"""A search ends at this share of the first slope, or after so many trials."""


@dataclass(frozen=True, eq=False)
class Slopes:
    """Shortfalls z and slopes b of a window's pairs (m,), and the marginals c of all (n,)."""

    z: np.ndarray
    b: np.ndarray
    c: np.ndarray


class MultiplierSteps:
    """One run on a hinge problem with the ridge, over rows.

    Parameters
    ----------
    problem : Problem
    functions : Functions
        Of rows: functions are weights.
    recorder : Recorder
        Keeps the best points.
    tol : float
        Relative gap to reach.
    w : array (dim,)
        Start.
    width : float
        Of the ramp.
    """

    def __init__(
        self,
        problem: Problem,
        functions: Functions,
        recorder: Recorder,
        tol: float,
        w: np.ndarray,
        width: float,
    ):
        self.problem, self.functions, self.recorder, self.tol = problem, functions, recorder, tol
        self.w, self.width, self.steps = w, width, STEPS
        self.scores = functions.scores(w)
        self.memory = Memory(functions.inner)
        self.keys, self.alpha = np.zeros(0, dtype=np.int64), np.zeros(0)

    @staticmethod
    def suits(problem: Problem) -> bool:
        """Return whether there are rows, and so many coordinates that this pays."""
        return isinstance(problem.space, Rows) and problem.space.dim >= FROM_COORDINATES

    def run(self, max_rounds: int = ROUNDS) -> Status | None:
        """Return why it stopped; None if it seems to be there."""
        recorder, idle = self.recorder, 0
        for _ in range(max_rounds):
            before = recorder.gap
            # Opened anew every round: pairs that were frozen may be near their margin by now.
            window = open_window(self.problem, self.scores, MOST, REACH * self.width)
            if window is None or window.i.size == 0:
                return Status.STALLED
            self._offer(window, self._solved(window, self._carried(window)))
            recorder.step()
            if recorder.near(INSIDE * self.tol):
                return None
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            idle = 0 if recorder.gap <= PROGRESS * before else idle + 1
            if idle >= PATIENCE:
                return Status.STALLED
            if self.steps <= EASY:
                self.width = max(SHRINK * self.width, NARROWEST)
        return Status.ITERATION_LIMIT

    def _carried(self, window: Window) -> np.ndarray:
        """Return the multipliers (m,) of the last round, those of new pairs by their side."""
        z, keys = 1.0 - (self.scores[window.i] - self.scores[window.j]), window.keys
        if not self.keys.size:
            return np.clip(0.5 + z / self.width, 0.0, 1.0)
        # A key beyond the last one gets any place: the comparison that follows refuses it.
        place = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        return np.where(self.keys[place] == keys, self.alpha[place], (z > 0).astype(float))

    def _slopes(self, window: Window, a: np.ndarray, scores: np.ndarray) -> Slopes:
        z = 1.0 - (scores[window.i] - scores[window.j])
        b = np.clip(a + z / self.width, 0.0, 1.0)
        mass, n = window.c * b, self.problem.n
        c = window.frozen + np.bincount(window.i, mass, n) - np.bincount(window.j, mass, n)
        return Slopes(z, b, c)

    def _solved(self, window: Window, a: np.ndarray) -> Slopes:
        """Take steps until the window's problem is solved; return the slopes there."""
        lam, functions, recorder = self.problem.lam, self.functions, self.recorder
        found = self._slopes(window, a, self.scores)
        gradient = lam * self.w - functions.pull(found.c)
        least, before = FINEST * self.tol * recorder.best_primal, self.steps
        self.steps = 0
        while self.steps < STEPS and not recorder.out_of_time:
            bias = float(window.c @ (np.maximum(found.z, 0.0) - found.b * found.z))
            if float(gradient @ gradient) / (2 * lam) <= ENOUGH * max(bias, least):
                break
            # A factor is dear: it is made only where steps alone have been slow.
            slow = self.steps == 0 and before > RENEWED // 2
            if slow or (self.steps and self.steps % RENEWED == 0):
                self._factor(window, found.b)
            moved = self._moved(window, a, gradient)
            if moved is None:
                # Old steps may have misled the direction. Without any there is nothing else to try.
                if not self.memory.forget():
                    break
                continue
            found, gradient = moved
            self.steps += 1
        return found

    def _moved(
        self, window: Window, a: np.ndarray, gradient: np.ndarray
    ) -> tuple[Slopes, np.ndarray] | None:
        """Take a step; return the slopes and the gradient there, None without a step."""
        lam, functions = self.problem.lam, self.functions
        p = self.memory.direction(gradient)
        shift = functions.scores(p)
        along, length2 = float(self.w @ p), float(p @ p)

        def slope(t: float) -> float:
            c = self._slopes(window, a, self.scores + t * shift).c
            return lam * (along + t * length2) - float(c @ shift)

        t = root_of_slope(slope, float(gradient @ p), FLAT, TRIALS)
        moved = self.w + t * p
        if t == 0.0 or np.array_equal(moved, self.w):
            return None
        self.w, self.scores = moved, self.scores + t * shift
        found = self._slopes(window, a, self.scores)
        after = lam * moved - functions.pull(found.c)
        self.memory.remember(t * p, after - gradient)
        return found, after

    def _factor(self, window: Window, b: np.ndarray) -> None:
        """Let the memory begin with the inverse of lam I + sum_k (c_k / sigma) d_k d_k'."""
        space, dim = self.problem.space, self.problem.space.dim
        assert isinstance(space, Rows)
        if space.is_sparse or dim > LARGEST_FACTOR:
            return
        H = np.zeros((dim, dim), order="F")
        inside = np.flatnonzero((b > 0.0) & (b < 1.0))
        for start in range(0, inside.size, BLOCK):
            some = inside[start : start + BLOCK]
            D = np.asarray(space.rows(window.i[some]) - space.rows(window.j[some]))
            D *= np.sqrt(window.c[some] / self.width)[:, None]
            # Adds D'D to one triangle of H, in place: half the work, and no copy.
            H = scipy.linalg.blas.dsyrk(1.0, D.T, 1.0, H, lower=1, overwrite_c=1)
        H.flat[:: dim + 1] += self.problem.lam
        try:
            factor = scipy.linalg.cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return
        self.memory.forget()
        self.memory.inverse = lambda v: scipy.linalg.cho_solve(factor, v, check_finite=False)

    def _offer(self, window: Window, found: Slopes) -> None:
        """Offer the point and the dual point of the slopes, both over all pairs."""
        problem, order = self.problem, np.argsort(window.keys)
        # In the order of their keys, which `_carried` searches.
        self.keys, self.alpha = window.keys[order], found.b[order]
        witness = window.witness(problem, found.b)
        # Afresh, because every step has added the rounding of its shift to the scores.
        self.scores = self.functions.scores(self.w)
        primal = problem.sums(self.scores).value + problem.lam / 2 * float(self.w @ self.w)
        dual, _ = dual_value(problem, witness)
        self.recorder.offer(self.functions.weights(self.w), primal, witness, dual)
