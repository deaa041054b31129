"""The hinge to rounding: a small problem over the pairs near their margin, repeated.

Given a point, pairs far from the margin keep alpha in {0, 1}; the optimum over the others (the
window) gives a new dual point, feasible by construction, and a new w. With few pairs the window is
all of them, and one round is the whole problem. Each round is judged by the sums over ALL pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ..certificate.certificate import Witness, dual_value
from ..certificate.solution import Callback, Recorder, Solution, Status
from ..errors import InputError
from ..formulation.equal_rows import equal_rows
from ..losses.registry import HINGE
from ..pairs.all_pairs import AllPairs, PairList
from ..problem.problem import Problem
from ..spaces.rows import Rows
from .line_search import best_on_segment
from .qp_backends import DIRECT_BACKENDS, solve_qp
from .window.multipliers import OpenPairs, multipliers
from .window.window import Window, open_window
from .window.window_qp import window_qp

LARGEST_WINDOW = 2_000_000
"""Pairs that a window never exceeds by itself."""

LARGEST_QP = 40_000
"""The same for the QP solvers, which factor matrices of that side."""

LOOSE = 1e-2
"""A window is solved to this part of the gap while the gap is above `CLOSE`, then to rounding."""

CLOSE = 1e-3
"""Relative gap from which a window is likely to hold all pairs that matter."""


@dataclass(frozen=True)
class ActivePairs:
    """Solve a hinge problem over a window of pairs, again and again.

    Parameters
    ----------
    tol : float
        Relative gap to reach.
    limit : int, optional
        Pairs in a window at most; by default 100 a coordinate, between 5000 and 200,000 (QP
        solvers: 3, at least 1000), and more whenever a round gains little.
    max_rounds : int
    backend : {"multipliers", "CLARABEL", "OSQP"}
        What solves a window: `multipliers`, or a QP solver as a cross-check.
    max_time : float, optional
        Seconds.

    Raises
    ------
    InputError
        For an unknown backend.
    """

    tol: float = 1e-9
    limit: int | None = None
    max_rounds: int = 40
    backend: str = "multipliers"
    max_time: float | None = None

    def __post_init__(self) -> None:
        if self.backend != "multipliers" and self.backend not in DIRECT_BACKENDS:
            known = ", ".join(("multipliers", *DIRECT_BACKENDS))
            raise InputError(f"unknown backend {self.backend!r}: choose one of {known}")

    def solve(
        self, problem: Problem, w0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Solution:
        """Return the solution, started from `w0` (zero by default)."""
        recorder = Recorder(self.max_time, callback, "active-pairs")
        w = np.zeros(problem.space.dim) if w0 is None else problem.check_weights(w0)
        recorder.offer(w, problem.objective(w))
        try:
            reason = self.run(problem, recorder)
        except KeyboardInterrupt:
            reason = Status.INTERRUPTED
        return recorder.finish(problem, self.tol, reason)

    def run(self, problem: Problem, recorder: Recorder) -> Status:
        """Improve on the recorder's best point; return why it stopped.

        Raises
        ------
        InputError
            If the loss is not the hinge or the space has no rows.
        """
        if problem.loss != HINGE:
            raise InputError(f"active pairs solve the hinge, not {problem.loss.name}")
        if not isinstance(problem.space, Rows):
            raise InputError("active pairs need rows: factor the kernel first")
        return _Run(self, problem, recorder).run()


class _Run:
    """One run: the window's size, and the multipliers of the last window."""

    def __init__(self, solver: ActivePairs, problem: Problem, recorder: Recorder):
        self.solver, self.problem, self.recorder = solver, problem, recorder
        quick, dim = solver.backend == "multipliers", problem.space.dim
        self.top = min(LARGEST_WINDOW if quick else LARGEST_QP, problem.n_pairs)
        start = min(max(5000, 100 * dim), 200_000) if quick else max(1000, 3 * dim)
        self.limit = solver.limit or min(start, self.top)
        self.top = solver.limit or self.top
        self.width, self.grouped = np.inf, False
        self.keys, self.alpha = np.zeros(0, dtype=np.int64), np.zeros(0)

    @property
    def gap(self) -> float:
        """The gap of the best points so far."""
        return float(self.recorder.best_primal - self.recorder.best_dual)

    def run(self) -> Status:
        recorder, tol, stalled = self.recorder, self.solver.tol, 0
        for _ in range(self.solver.max_rounds):
            before = self.gap
            if not self._round():
                # More pairs may be tied at the margin than a window of this size can hold.
                arrived = self._in_groups() and recorder.near(tol / 2)
                if not arrived and self._widen():
                    continue
                return Status.STALLED
            recorder.step()
            stalled = stalled + 1 if self.gap > 0.5 * before else 0
            if stalled == 2 and not recorder.near(tol / 2) and self._in_groups():
                stalled = 0
            if recorder.near(tol / 2):
                return Status.STALLED
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            if stalled >= 3 and not self._widen():
                return Status.STALLED
            if stalled >= 2 and self.gap <= 1e-11 * recorder.best_primal:
                return Status.STALLED  # rounding
            if stalled or self.gap > 0.2 * before:
                self._widen()
        return Status.ITERATION_LIMIT

    def _widen(self) -> bool:
        """Make room for more pairs; return whether there is any."""
        self.width = np.inf
        grown = self.limit < self.top
        self.limit = min(4 * self.limit, self.top)
        return grown

    def _in_groups(self) -> bool:
        """Solve with equal rows as one row, which unties their pairs; return whether it was done.

        Coordinates stay what they are, so only the dual point needs a way back.
        """
        problem, recorder, space = self.problem, self.recorder, self.problem.space
        assert isinstance(space, Rows)
        if self.grouped or not isinstance(problem.pairs, AllPairs) or not _is_matrix(space.raw):
            return False
        self.grouped = True
        groups = equal_rows(space.raw, problem.pairs.positive)
        if groups is None:
            return False
        positive = problem.pairs.positive[groups.first]
        few = problem.on_rows(groups.space(space), groups.pairs(problem.pairs).on(positive))
        left = recorder.max_time and max(recorder.max_time - recorder.seconds, 1e-3)
        found = replace(self.solver, max_time=left).solve(few, recorder.best_w)
        witness = groups.witness(problem, found.witness)
        primal = problem.objective(found.w)
        recorder.offer(found.w, primal, witness, dual_value(problem, witness)[0])
        recorder.step()
        return True

    def _round(self) -> bool:
        problem, recorder = self.problem, self.recorder
        space, w = problem.space, recorder.best_w
        assert w is not None
        scores = space.scores(w)
        window = open_window(problem, scores, self.limit, self.width)
        if window is None or window.i.size == 0:
            # All margins alike, as at w = 0: leave along the slope and look again.
            target = space.pull(problem.sums(scores).c) / problem.lam
            w, primal = best_on_segment(problem, w, scores, target)
            recorder.offer(w, primal)
            scores = space.scores(w)
            window = open_window(problem, scores, self.limit, self.width)
        if window is None or window.i.size == 0:
            return False
        if self.solver.backend == "multipliers":
            alpha, target = self._by_multipliers(window, w, scores)
        else:
            alpha, target = self._by_qp(window), None
        if alpha is None:
            return False
        witness = _witness(problem, window, alpha)
        dual, _ = dual_value(problem, witness)
        target = space.pull(witness.c) / problem.lam if target is None else target
        found, primal = best_on_segment(problem, w, scores, target)
        self._set_width(scores, space.scores(target), found is target)
        recorder.offer(found, primal, witness, dual)
        return True

    def _set_width(self, scores: np.ndarray, moved: np.ndarray, arrived: bool) -> None:
        """Steps shrink from round to round, so the next window need not be wider than this one."""
        shift = moved - scores
        reach = float(shift.max() - shift.min())
        self.width = 2 * reach if arrived and reach > 0 else np.inf

    def _by_multipliers(
        self, window: Window, w: np.ndarray, scores: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the window's alpha (m,) and its optimum w."""
        recorder, primal = self.recorder, self.recorder.best_primal
        z = 1.0 - (scores[window.i] - scores[window.j])
        half = max(float(np.abs(z).max()), 1e-9)
        alpha, sigma = np.clip(0.5 + z / (2 * half), 0.0, 1.0), 2 * half
        keys, order = window.keys, np.arange(self.keys.size)
        if self.keys.size:
            place = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
            known = self.keys[place] == keys
            alpha[known], sigma = self.alpha[place[known]], 0.03 * half
        finest = 0.01 * self.solver.tol * primal
        target = finest if self.gap <= CLOSE * primal else LOOSE * min(self.gap, primal)
        pairs = OpenPairs.of(self.problem, window)
        point = multipliers(
            pairs, w, alpha, sigma, max(target, finest), lambda: recorder.out_of_time
        )
        order = np.argsort(keys)
        self.keys, self.alpha = keys[order], point.b[order]
        return point.b, point.w

    def _by_qp(self, window: Window) -> np.ndarray | None:
        """Return the window's alpha (m,), in the box."""
        parts = window_qp(self.problem, window, self.recorder.best_primal)
        answer = solve_qp(*parts, self.solver.backend, max_time=self.solver.max_time)
        alpha = answer.x[: window.i.size]
        return np.clip(alpha, 0.0, 1.0) if np.isfinite(alpha).all() else None


def _is_matrix(rows: object) -> bool:
    return isinstance(rows, np.ndarray) or sp.issparse(rows)


def _witness(problem: Problem, window: Window, alpha: np.ndarray) -> Witness:
    if isinstance(problem.pairs, PairList):
        assert window.chosen is not None and window.frozen_alpha is not None
        whole = window.frozen_alpha.copy()
        whole[window.chosen] = alpha
        return Witness.from_alpha(problem, whole)
    mass = window.c * alpha
    plus = np.bincount(window.i, weights=mass, minlength=problem.n)
    minus = np.bincount(window.j, weights=mass, minlength=problem.n)
    c = window.frozen + plus - minus
    positive = problem.pairs.positive
    return Witness.from_marginals(problem, np.maximum(c[positive], 0), np.maximum(-c[~positive], 0))
