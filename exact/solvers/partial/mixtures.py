"""Cutting planes for any risk: the best mixture of minorants at points seen so far.

Each point gives a minorant (V_k, g_k). The best mixture theta of them proves

    max over theta >= 0, sum theta <= 1 of theta'V - |sum theta_k g_k|^2 / (2 lam),

and w = sum theta_k g_k / lam is where their maximum plus the ridge is least: the next point, or one
on the way to it from the best point so far. That a mixture of minorants is one needs no proof about
pairs or losses, so that ties and kinks, where no single row weights will do, are no matter here.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...certificate.solution import Recorder, Status
from ...errors import OverflowingError
from ...problem.evidence import Mix, Scores
from ...problem.minorant import Minorant
from ...problem.problem import Problem
from ..qp_backends import solve_qp

IDLE = 30  # Rounds after which a cut that no mixture uses is dropped.

PATIENCE = 100  # Rounds in which the gap must halve, or the method stalls.

MASTER_TOL = 1e-13  # Tolerance passed to the solver of the mixture's QP.

WAYS = (1.0, 0.5, 0.2)  # How far to go from the best point to the point of the mixture, in turns.

# Cuts that are steeper than this are of no use to a mixture, and their squares may overflow.
LARGEST_PULL = 1e60

# Shares are made smaller by this times their number, lest rounding lift their sum above one.
ROUNDED = 4e-16

LEAST_PRIMAL = 1e-300  # The mixture's QP is divided by F, or by this where F is zero.

KEPT = 1e-12  # Shares below this are left out of a mixture.


class Cuts:
    """The minorants of one run: where they were made, their values and pulls."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.at: list[np.ndarray] = []
        self.values: list[float] = []
        self.pulls: list[np.ndarray] = []
        self.idle: list[int] = []

    def add(self, w: np.ndarray) -> float:
        """Add the minorant at `w`, unless it is too steep, and return the primal value there.

        The value is infinite where the loss overflows; there is no minorant then.
        """
        problem = self.problem
        try:
            sums = problem.risk.sums(problem.space.scores(w))
        except OverflowingError:
            return np.inf
        pull = problem.space.pull(sums.c)
        if float(np.abs(pull).max(initial=0.0)) <= LARGEST_PULL:
            self.at.append(w)
            self.values.append(sums.conjugate)
            self.pulls.append(pull)
            self.idle.append(0)
        return float(sums.value + problem.penalty.value(problem.space, w).value)

    def mixture(self, unit: float) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the shares of the best mixture, its point and its dual value.

        `unit` is the size of the objective, by which the QP is scaled.
        """
        pulls, values = np.array(self.pulls), np.array(self.values)
        size, lam = values.size, self.problem.lam
        P = sp.csc_matrix(pulls @ pulls.T / (lam * unit))
        A = sp.vstack([sp.identity(size), np.ones((1, size))], format="csc")
        low, high = np.zeros(size + 1), np.full(size + 1, np.inf)
        # The shares may add up to less than one: the minorant U >= 0 takes the rest.
        low[-1], high[-1] = -np.inf, 1.0
        answer = solve_qp(P, -values / unit, A, low, high, "CLARABEL", MASTER_TOL)
        shares = np.maximum(np.nan_to_num(answer.x), 0.0)
        shares[shares < KEPT] = 0.0
        shares *= (1 - ROUNDED * size) / max(float(shares.sum()), 1.0)
        self.idle = [0 if x > 0 else age + 1 for x, age in zip(shares, self.idle, strict=True)]
        pull = shares @ pulls
        return shares, pull / lam, float(shares @ values) - float(pull @ pull) / (2 * lam)

    def minorant(self, shares: np.ndarray) -> Minorant:
        """Return the mixture, made from the scores of its points."""
        space, risk = self.problem.space, self.problem.risk
        used = [(float(x), w) for x, w in zip(shares, self.at, strict=True) if x > 0]
        parts = tuple((x, Scores(space.scores(w))) for x, w in used)
        return risk.minorant(Mix(parts))

    def forget(self) -> None:
        """Drop the cuts that no mixture has used for long."""
        kept = [k for k, age in enumerate(self.idle) if age < IDLE]
        self.at = [self.at[k] for k in kept]
        self.values = [self.values[k] for k in kept]
        self.pulls = [self.pulls[k] for k in kept]
        self.idle = [self.idle[k] for k in kept]


def mix_cuts(problem: Problem, recorder: Recorder, tol: float, max_iter: int) -> Status | None:
    """Offer mixtures and their points to the recorder, from its best point on."""
    cuts, least = Cuts(problem), np.inf
    w = np.zeros(problem.space.dim) if recorder.best_w is None else recorder.best_w
    for k in range(max_iter):
        recorder.offer(w, cuts.add(w))
        if not cuts.at:
            return Status.STALLED
        shares, target, dual = cuts.mixture(max(recorder.best_primal, LEAST_PRIMAL))
        if dual > recorder.best_dual:
            # A copy of the places: the run goes on to add and forget cuts before this is called.
            held = Cuts(problem)
            held.at = list(cuts.at)
            recorder.offer(
                witness=lambda held=held, shares=shares: held.minorant(shares), dual=dual
            )
        recorder.step()
        if recorder.near(tol):
            return None
        if recorder.out_of_time:
            return Status.TIME_LIMIT
        if k % PATIENCE == PATIENCE - 1:
            cuts.forget()
            if recorder.gap > least / 2:
                return Status.STALLED
            least = recorder.gap
        best = recorder.best_w
        assert best is not None
        w = best + WAYS[k % len(WAYS)] * (target - best)
    return Status.ITERATION_LIMIT
