"""Cutting planes on the pair sums: a bundle method for the hinge over any number of pairs.

Each evaluation at w_k gives a plane below the loss, U(w) >= m_k - g_k'w, with m_k the mass of the
active pairs and g_k the pull of their marginals. The best combination theta of the planes gives a
dual point (a convex combination of feasible ones is feasible) and the next w = sum theta g / lam.
A line search from the best point keeps the primal from jumping about. The bundle alone is slow in
the last digits; the pairs then left near the margin are few, and `ActivePairs` finishes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..certificate.certificate import Witness
from ..certificate.solution import Callback, Recorder, Solution, Status
from ..errors import InputError
from ..losses.registry import HINGE
from ..pairs.all_pairs import PairList
from ..problem.problem import Problem
from ..spaces.rows import Rows
from .active_pairs import ActivePairs
from .hard_margin import offer_hard_margin
from .line_search import best_on_segment
from .qp_backends import solve_qp

PATIENCE = 60
"""Cuts after which idle cuts are dropped, and without a tenth of progress the run ends."""


@dataclass(frozen=True)
class CuttingPlane:
    """Solve a hinge problem by cutting planes.

    Parameters
    ----------
    tol : float
        Relative gap to reach.
    max_iter : int
        Cuts at most.
    finish_from : float
        Relative gap from which `ActivePairs` takes over; 0 for the bundle alone.
    window : int, optional
        Pairs that `ActivePairs` may hold; see there.
    backend : {"CLARABEL", "OSQP"}
        Solver of the master QP.
    max_time : float, optional
        Seconds.
    """

    tol: float = 1e-9
    max_iter: int = 1000
    finish_from: float = 1e-2
    window: int | None = None
    backend: str = "CLARABEL"
    max_time: float | None = None

    def solve(
        self, problem: Problem, w0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Solution:
        """Return the solution, started from `w0` (zero by default).

        Raises
        ------
        InputError
            If the loss is not the hinge.
        """
        if problem.loss != HINGE:
            raise InputError(f"cutting planes solve the hinge, not {problem.loss.name}")
        recorder = Recorder(self.max_time, callback, "cutting-plane")
        w = np.zeros(problem.space.dim) if w0 is None else problem.check_weights(w0)
        recorder.offer(w, problem.objective(w))
        try:
            reason = self.run(problem, recorder)
        except KeyboardInterrupt:
            reason = Status.INTERRUPTED
        return recorder.finish(problem, self.tol, reason)

    def run(self, problem: Problem, recorder: Recorder) -> Status:
        """Improve on the recorder's best point; return why it stopped."""
        offer_hard_margin(problem, recorder)
        if recorder.near(self.tol / 2):
            return Status.STALLED
        bundle = _Bundle(problem, self.backend)
        finish_at = self.finish_from if isinstance(problem.space, Rows) else 0.0
        w = recorder.best_w
        assert w is not None
        reason, gap_then = Status.ITERATION_LIMIT, np.inf
        for k in range(self.max_iter):
            bundle.cut(w)
            theta, dual = bundle.master(recorder.best_primal)
            recorder.offer(witness=bundle.witness_maker(theta), dual=dual)
            target = bundle.point(theta)
            best = recorder.best_w
            assert best is not None
            found, primal = best_on_segment(
                problem, best, problem.space.scores(best), target, trials=8
            )
            recorder.offer(found, primal)
            recorder.step()
            w = 0.9 * found + 0.1 * target if k % 2 else target
            if recorder.near(self.tol / 2):
                reason = Status.STALLED
                break
            if recorder.out_of_time:
                reason = Status.TIME_LIMIT
                break
            if k % PATIENCE == PATIENCE - 1:
                bundle.drop_idle()
                gap = recorder.best_primal - recorder.best_dual
                if gap > 0.9 * gap_then:
                    reason = Status.STALLED
                    break
                gap_then = gap
            # The window also helps long before the bundle is near, so look now and then.
            if finish_at and (recorder.near(finish_at) or k % 40 == 39):
                reason, finish_at = self._finish(problem, recorder, finish_at)
                if not finish_at:
                    return reason
        return reason

    def _finish(
        self, problem: Problem, recorder: Recorder, finish_at: float
    ) -> tuple[Status, float]:
        """Let `ActivePairs` try; return its reason and when to try next (0: it arrived)."""
        left = None if self.max_time is None else self.max_time - recorder.seconds
        solver = ActivePairs(tol=self.tol, limit=self.window, max_rounds=12, max_time=left)
        reason = solver.run(problem, recorder)
        if recorder.near(self.tol) or recorder.out_of_time:
            return reason, 0.0
        if recorder.near(finish_at):
            finish_at = max(finish_at / 10, 10 * self.tol)
        return reason, finish_at


class _Bundle:
    """The cuts of one run: where they were made, their pulls and masses."""

    def __init__(self, problem: Problem, backend: str):
        self.problem, self.backend = problem, backend
        self.made_at: list[np.ndarray] = []
        self.pulls: list[np.ndarray] = []
        self.masses: list[float] = []
        self.gram = np.zeros((0, 0))
        self.idle_since: list[int] = []

    def cut(self, w: np.ndarray) -> None:
        """Add the plane at `w`."""
        problem = self.problem
        sums = problem.sums(problem.space.scores(w))
        pull = problem.space.pull(sums.c)
        inner = np.array([problem.space.inner(pull, other) for other in [*self.pulls, pull]])
        size = len(self.pulls)
        gram = np.empty((size + 1, size + 1))
        gram[:size, :size] = self.gram
        gram[size, :] = gram[:, size] = inner
        self.gram = gram
        self.made_at.append(w)
        self.pulls.append(pull)
        self.masses.append(sums.conjugate)
        self.idle_since.append(0)

    def master(self, primal: float) -> tuple[np.ndarray, float]:
        """Return the best weights of the cuts (they add up to at most one) and their dual value.

        min theta'G theta / (2 lam) - m'theta,  theta >= 0, sum theta <= 1, scaled by F.
        """
        size, unit = len(self.pulls), max(primal, 1e-300)
        mass = np.array(self.masses)
        P = sp.csc_matrix(self.gram / (self.problem.lam * unit))
        A = sp.vstack([sp.identity(size), np.ones((1, size))], format="csc")
        low, high = np.zeros(size + 1), np.full(size + 1, np.inf)
        low[-1], high[-1] = -np.inf, 1.0
        tol = 1e-12 if self.backend == "CLARABEL" else 1e-8
        answer = solve_qp(P, -mass / unit, A, low, high, self.backend, tol)
        theta = np.maximum(np.nan_to_num(answer.x), 0.0)
        theta /= max(theta.sum(), 1.0)
        self.idle_since = [
            0 if x > 1e-9 else idle + 1 for x, idle in zip(theta, self.idle_since, strict=True)
        ]
        dual = float(mass @ theta) - float(theta @ self.gram @ theta) / (2 * self.problem.lam)
        return theta, dual

    def drop_idle(self, patience: int = 30) -> None:
        """Forget the cuts that no master has used for `patience` rounds."""
        kept = [k for k, idle in enumerate(self.idle_since) if idle < patience]
        self.made_at = [self.made_at[k] for k in kept]
        self.pulls = [self.pulls[k] for k in kept]
        self.masses = [self.masses[k] for k in kept]
        self.idle_since = [self.idle_since[k] for k in kept]
        self.gram = self.gram[np.ix_(kept, kept)]

    def point(self, theta: np.ndarray) -> np.ndarray:
        """Return the w that belongs to the weights `theta`."""
        return (
            sum(
                (x * pull for x, pull in zip(theta, self.pulls, strict=True) if x > 0),
                np.zeros(self.problem.space.dim),
            )
            / self.problem.lam
        )

    def witness_maker(self, theta: np.ndarray) -> Callable[[], Witness]:
        """Return a function that makes the dual point of the weights `theta`.

        Only where the cuts were made is kept: n numbers a cut would be too many.
        """
        kept = [(float(x), self.made_at[k]) for k, x in enumerate(theta) if x > 1e-14]
        return lambda: combined_witness(self.problem, kept)


def combined_witness(problem: Problem, cuts: list[tuple[float, np.ndarray]]) -> Witness:
    """Return the dual point that is the combination of the slopes at several points.

    Parameters
    ----------
    problem : Problem
    cuts : list of (weight, w)
        Weights >= 0 that add up to at most one.
    """
    if isinstance(problem.pairs, PairList):
        alpha = np.zeros(problem.pairs.i.size)
        for x, w in cuts:
            alpha += x * problem.loss.alpha(problem.pairs.margins(problem.space.scores(w)))
        return Witness.from_alpha(problem, alpha)
    c = np.zeros(problem.n)
    for x, w in cuts:
        c += x * problem.sums(problem.space.scores(w)).c
    u, v = c[problem.pairs.positive], -c[~problem.pairs.positive]
    return Witness.from_marginals(problem, np.maximum(u, 0.0), np.maximum(v, 0.0))
