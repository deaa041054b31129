"""The hinge to rounding: a small QP over the pairs near their margin, repeated.

Given a point, pairs far from the margin keep alpha in {0, 1}; the QP over the others (the window)
gives a new dual point, feasible by construction, and a new w. With few pairs the window is all of
them, and one QP is the whole problem. Each round is judged by the sums over ALL pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .certificate import Witness, dual_value
from .errors import InputError
from .line_search import best_on_segment
from .pairs import PairList
from .problem import Problem
from .qp_backends import solve_qp
from .solution import Callback, Recorder, Solution, Status
from .spaces import Rows
from .window import Window, open_window

LARGEST_WINDOW = 40_000
"""Pairs that a window never exceeds by itself."""


@dataclass(frozen=True)
class ActivePairs:
    """Solve a hinge problem by QPs over a window of pairs.

    Parameters
    ----------
    tol : float
        Relative gap to reach.
    limit : int, optional
        Pairs in a window at most; by default 3 a coordinate and at least 1000, twice as many
        whenever a round gains little.
    max_rounds : int
    backend : {"CLARABEL", "OSQP"}
    max_time : float, optional
        Seconds.
    """

    tol: float = 1e-9
    limit: int | None = None
    max_rounds: int = 40
    backend: str = "CLARABEL"
    max_time: float | None = None

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
        """Improve on the recorder's best point; return why it stopped."""
        if problem.loss.name != "hinge":
            raise InputError(f"active pairs solve the hinge, not {problem.loss.name}")
        stalled, limit = 0, self.limit or max(1000, 3 * problem.space.dim)
        for _ in range(self.max_rounds):
            before = recorder.best_primal - recorder.best_dual
            if not self._round(problem, recorder, limit):
                # More pairs may be tied at the margin than a window of this size can hold.
                if self.limit is None and limit < min(LARGEST_WINDOW, problem.n_pairs):
                    limit = min(2 * limit, LARGEST_WINDOW)
                    continue
                return Status.STALLED
            recorder.step()
            if recorder.near(self.tol / 2):
                return Status.STALLED
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            gap = recorder.best_primal - recorder.best_dual
            stalled = stalled + 1 if gap > 0.5 * before else 0
            widest = self.limit is not None or limit >= min(LARGEST_WINDOW, problem.n_pairs)
            if stalled >= 3 and widest:
                return Status.STALLED
            if stalled and self.limit is None:
                limit = min(2 * limit, LARGEST_WINDOW)
        return Status.ITERATION_LIMIT

    def _round(self, problem: Problem, recorder: Recorder, limit: int) -> bool:
        space, w = problem.space, recorder.best_w
        assert w is not None
        scores = space.scores(w)
        window = open_window(problem, scores, limit)
        if window is None or window.i.size == 0:
            # All margins alike, as at w = 0: leave along the slope and look again.
            target = space.pull(problem.sums(scores).c) / problem.lam
            w, primal = best_on_segment(problem, w, scores, target)
            recorder.offer(w, primal)
            scores = space.scores(w)
            window = open_window(problem, scores, limit)
        if window is None or window.i.size == 0:
            return False
        alpha = self._window_alpha(problem, window, recorder.best_primal)
        if alpha is None:
            return False
        witness = _witness(problem, window, alpha)
        dual, _ = dual_value(problem, witness)
        target = space.pull(witness.c) / problem.lam
        found, primal = best_on_segment(problem, w, scores, target)
        recorder.offer(found, primal, witness, dual)
        return True

    def _window_alpha(self, problem: Problem, window: Window, primal: float) -> np.ndarray | None:
        """Return the window's alpha (m,), in the box."""
        P, q, A, low, high = window_qp(problem, window, primal)
        answer = solve_qp(P, q, A, low, high, self.backend, max_time=self.max_time)
        alpha = answer.x[: window.i.size]
        return np.clip(alpha, 0.0, 1.0) if np.isfinite(alpha).all() else None


def window_qp(
    problem: Problem, window: Window, primal: float
) -> tuple[sp.csc_matrix, np.ndarray, sp.csc_matrix, np.ndarray, np.ndarray]:
    """Return P, q, A, low, high of the lifted dual over the window, scaled to order one.

    Variables are alpha (m,), the window's marginals of the rows that it touches (divided by the
    largest pair weight and by `spread`), and v = g / sqrt(lam F):

        min |v|^2 / 2 - sum c alpha / F   s.t.  u = A'(c alpha),  v sqrt(lam F) = X'u + g_frozen.
    """
    space = problem.space
    if not isinstance(space, Rows):
        raise InputError("the QP over pairs needs rows: factor the kernel first")
    m = window.i.size
    touched, place = np.unique(np.concatenate([window.i, window.j]), return_inverse=True)
    top = float(window.c.max())
    ratio = window.c / top
    spread = max(float(np.bincount(place, weights=np.tile(ratio, 2)).max()), 1.0)
    signs = np.concatenate([ratio, -ratio]) / spread
    incidence = sp.csr_matrix((signs, (place, np.tile(np.arange(m), 2))), shape=(touched.size, m))
    rows = space.rows(touched)
    unit = np.sqrt(problem.lam * max(primal, 1e-300))
    gain = top * spread / unit
    d, r = space.dim, touched.size
    A = sp.bmat(
        [
            [incidence, -sp.identity(r), None],
            [None, sp.csr_matrix(rows.T * gain), -sp.identity(d)],
            [sp.identity(m), None, None],
        ],
        format="csc",
    )
    fixed = space.pull(window.frozen) / unit
    low = np.concatenate([np.zeros(r), -fixed, np.zeros(m)])
    high = np.concatenate([np.zeros(r), -fixed, np.ones(m)])
    P = sp.block_diag([sp.csc_matrix((m + r, m + r)), sp.identity(d)], format="csc")
    q = np.concatenate([-window.c / max(primal, 1e-300), np.zeros(r + d)])
    return P, q, A, low, high


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
    positive = problem.positive
    return Witness.from_marginals(problem, np.maximum(c[positive], 0), np.maximum(-c[~positive], 0))
