"""Cutting planes on the pair sums: a bundle method for the hinge over any number of pairs.

Each evaluation at w_k gives a plane below the loss, U(w) >= m_k - g_k'w, with m_k the mass of the
active pairs and g_k the pull of their marginals. The best combination theta of the planes gives a
dual point (a convex combination of feasible ones is feasible) and a point sum theta g / lam.

    try the hard-margin point, which may be the optimum already
    w = the start; for every cut:
        add the plane at w
        theta = the best combination of the planes, by a small QP;  target = sum theta g / lam
        best = the best point on the way from the best one to target
        w = target, every second time nearer to best
        every PATIENCE cuts: forget idle planes; stalled if the gap has hardly fallen
        if the gap is small enough, or every LOOK cuts: let `ActivePairs` try to finish

The line search keeps the primal from jumping about. The bundle alone is slow in the last digits;
the pairs then left near the margin are few, and `ActivePairs` is quick.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from ..certificate.certificate import Witness
from ..certificate.solution import Recorder, Status
from ..certificate.solver import INSIDE, Solver
from ..errors import InputError
from ..losses.registry import HINGE
from ..pairs.all_pairs import PairList
from ..problem.problem import Problem
from ..spaces.rows import Rows
from .active_pairs import ActivePairs
from .hard_margin import offer_hard_margin
from .line_search import best_on_segment
from .qp_backends import BACKENDS, solve_qp

PATIENCE, PROGRESS = 60, 0.9
"""The run has stalled where so many cuts leave more than this share of the gap."""

IDLE = 30
"""A plane that no master has used for so many cuts is forgotten."""

USED, COUNTED = 1e-9, 1e-14
"""A plane is in use from the first weight on; smaller ones than the second are left out."""

TRIALS = 8
"""Evaluations of one line search at most: the next cut is worth more than the last digits."""

NEAR_BEST = 0.9
"""Every second cut is made so much nearer to the best point: targets alone zigzag."""

LOOK = 40
"""`ActivePairs` is tried every so many cuts: it also helps long before the bundle is near."""

FINISH_ROUNDS = 12
"""Rounds of `ActivePairs` in one try."""

CLOSER, LAST = 0.1, 10.0
"""A try that fails makes the next wait for this share of the gap, down to the last times tol."""

LEAST_PRIMAL = 1e-300
"""The master is scaled by F, or by this where F is zero."""


@dataclass(frozen=True)
class CuttingPlane(Solver):
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

    name: ClassVar[str] = "cutting-plane"

    def check(self, problem: Problem) -> None:
        """Raise `InputError` if the loss is not the hinge."""
        if problem.loss != HINGE:
            raise InputError(f"cutting planes solve the hinge, not {problem.loss.name}")

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Improve on the recorder's best point; return why it stopped."""
        offer_hard_margin(problem, recorder)
        if recorder.near(INSIDE * self.tol):
            return None
        bundle = _Bundle(problem, self.backend)
        finish_at = self.finish_from if isinstance(problem.space, Rows) else 0.0
        w, gap_then = recorder.best_w, np.inf
        for k in range(1, self.max_iter + 1):
            assert w is not None
            found, target = bundle.improve(w, recorder)
            w = target if k % 2 else NEAR_BEST * found + (1 - NEAR_BEST) * target
            if recorder.near(INSIDE * self.tol):
                return None
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            if k % PATIENCE == 0:
                bundle.drop_idle()
                if recorder.gap > PROGRESS * gap_then:
                    return Status.STALLED
                gap_then = recorder.gap
            if finish_at and (recorder.near(finish_at) or k % LOOK == 0):
                reason = self._finish(recorder.time_left).run(problem, recorder)
                if recorder.near(self.tol) or recorder.out_of_time:
                    return reason
                if recorder.near(finish_at):
                    finish_at = max(CLOSER * finish_at, LAST * self.tol)
        return Status.ITERATION_LIMIT

    def _finish(self, left: float | None) -> ActivePairs:
        return ActivePairs(self.tol, self.window, FINISH_ROUNDS, max_time=left)


class _Bundle:
    """The cuts of one run: where they were made, their pulls and masses."""

    def __init__(self, problem: Problem, backend: str):
        self.problem, self.backend = problem, backend
        self.made_at: list[np.ndarray] = []
        self.pulls: list[np.ndarray] = []
        self.masses: list[float] = []
        self.gram = np.zeros((0, 0))
        self.idle_since: list[int] = []

    def improve(self, w: np.ndarray, recorder: Recorder) -> tuple[np.ndarray, np.ndarray]:
        """Cut at `w` and offer what follows; return the point found, and the planes' own."""
        self.cut(w)
        theta, dual = self.master(recorder.best_primal)
        recorder.offer(witness=self.witness_maker(theta), dual=dual)
        best, target = recorder.best_w, self.point(theta)
        assert best is not None
        scores = self.problem.space.scores(best)
        found, primal = best_on_segment(self.problem, best, scores, target, TRIALS)
        recorder.offer(found, primal)
        recorder.step()
        return found, target

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
        size, unit = len(self.pulls), max(primal, LEAST_PRIMAL)
        mass = np.array(self.masses)
        P = sp.csc_matrix(self.gram / (self.problem.lam * unit))
        A = sp.vstack([sp.identity(size), np.ones((1, size))], format="csc")
        low, high = np.zeros(size + 1), np.full(size + 1, np.inf)
        low[-1], high[-1] = -np.inf, 1.0
        finest = BACKENDS[self.backend].finest
        answer = solve_qp(P, -mass / unit, A, low, high, self.backend, finest)
        theta = np.maximum(np.nan_to_num(answer.x), 0.0)
        theta /= max(theta.sum(), 1.0)
        self.idle_since = [
            0 if x > USED else idle + 1 for x, idle in zip(theta, self.idle_since, strict=True)
        ]
        dual = float(mass @ theta) - float(theta @ self.gram @ theta) / (2 * self.problem.lam)
        return theta, dual

    def drop_idle(self) -> None:
        """Forget the cuts that no master has used for a while."""
        kept = [k for k, idle in enumerate(self.idle_since) if idle < IDLE]
        self.made_at = [self.made_at[k] for k in kept]
        self.pulls = [self.pulls[k] for k in kept]
        self.masses = [self.masses[k] for k in kept]
        self.idle_since = [self.idle_since[k] for k in kept]
        self.gram = self.gram[np.ix_(kept, kept)]

    def point(self, theta: np.ndarray) -> np.ndarray:
        """Return the w that belongs to the weights `theta`."""
        w = np.zeros(self.problem.space.dim)
        for x, pull in zip(theta, self.pulls, strict=True):
            if x > 0:
                w += x * pull
        return w / self.problem.lam

    def witness_maker(self, theta: np.ndarray) -> Callable[[], Witness]:
        """Return a function that makes the dual point of the weights `theta`.

        Only where the cuts were made is kept: n numbers a cut would be too many.
        """
        kept = [(float(x), self.made_at[k]) for k, x in enumerate(theta) if x > COUNTED]
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
