"""The general solver: any risk that states its sums, any penalty that states its residual.

With U_h the risk smoothed over a width h, g(w) = pull of its slopes and residual(z) = z - P_C(z),
accelerated proximal gradient steps [Beck & Teboulle, SIAM J. Imaging Sci. 2009, FISTA] are

    x <- residual(L y + g(y)) / (L + l2),      y <- x + (t - 1)/t' (x - last x),

with t restarted where the momentum points uphill [O'Donoghue & Candes, Found. Comput. Math. 2015].
L is doubled until g is not steeper than L between y and x, and falls a little with every step. At
every x the same sums give a minorant, so the gap is known. It has two parts,

    gap = bias + (Omega(w) + Omega*(g) - <g, w>),    bias = U(w) - V + <g, w> >= 0:

once what smoothing costs is the larger one, the width is cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from ..certificate.evaluation import sums_at
from ..certificate.solution import INSIDE, STALL, Idle, Recorder, Solver, Status
from ..errors import InputError, OverflowingError
from ..problem.problem import Problem
from ..problem.risk import Minorant

NOISE = 1e-15  # relative rounding of g, which must not be taken for steepness


@dataclass(frozen=True)
class Proximal(Solver):
    tol: float = 1e-9
    max_iter: int = 50_000
    max_time: float | None = None
    name = "proximal"

    def check(self, problem: Problem) -> None:
        if problem.space.held is None:
            raise InputError("the proximal method needs rows: factor the kernel first")

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        assert recorder.w0 is not None
        kinked = not np.isfinite(problem.risk.smoothness)
        x = y = recorder.w0 if recorder.best_w is None else recorder.best_w
        width = 1.0 if kinked else 0.0  # the first width: the margin that a loss asks for is one
        bend = 1 / width if kinked else problem.risk.smoothness
        # 0.1, 1e-140: the first L is this share of its bound; shorter rows underflow
        steepness = 0.1 * bend * max(problem.space.reach, 1e-140) ** 2
        momentum, idle = 1.0, Idle(STALL.proximal)
        for _ in range(self.max_iter):
            here = evaluated(problem, recorder, y, width)
            if recorder.out_of_time:
                recorder.step()
                return Status.TIME_LIMIT
            # 1e3: momentum is given up so many times above the least value: it may overflow
            if not here.primal <= 1e3 * recorder.best_primal:
                here, momentum = evaluated(problem, recorder, x, width), 1.0
            y = here.w
            noise, penalty = NOISE * float(np.linalg.norm(here.pull)), problem.penalty
            while True:  # until g is not steeper than L between y and the next point
                moved = penalty.residual(steepness * y + here.pull) / (steepness + penalty.l2)
                there, step = evaluated(problem, recorder, moved, width), moved - y
                length = float(np.linalg.norm(step))
                # Near the end values of F differ by rounding only.
                finite = np.isfinite(there.primal)
                bend = float((here.pull - there.pull) @ step) if finite else np.inf
                if bend <= (steepness * length + noise) * length or recorder.out_of_time:
                    break
                # So short a step tells rounding only, and doubling would never end.
                if length <= NOISE * float(np.linalg.norm(y)):
                    moved, there = y, here
                    break
                steepness *= 2
            recorder.step()
            if recorder.near(INSIDE * self.tol):
                return None
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            if idle.after(recorder.gap):
                return Status.STALLED
            # y - moved points up the slope at y: where the last move does so, too, it went too far.
            uphill = float((y - moved) @ (moved - x)) > 0
            if width > 0 and there.bias > (1 - INSIDE) * (there.primal - there.dual):
                width, uphill = width * 0.3, True  # smoothing costs more than is left to gain
            last, momentum = momentum, (1 + float(np.sqrt(1 + 4 * momentum**2))) / 2
            y = moved + (last - 1) / momentum * (moved - x)
            if uphill:
                y, momentum = moved, 1.0
            x, steepness = moved, steepness * 0.95  # L follows a curvature that falls
        return Status.ITERATION_LIMIT


class Evaluated(NamedTuple):
    """What is known at `w`; where the loss overflows, that `primal` is infinite and no more."""

    w: np.ndarray
    pull: np.ndarray
    primal: float
    dual: float
    bias: float


def evaluated(problem: Problem, recorder: Recorder, w: np.ndarray, width: float) -> Evaluated:
    """Evaluate at `w`, and offer the point and its minorant to the recorder."""
    space, penalty = problem.space, problem.penalty
    try:
        scores = space.scores(w)
        sums = sums_at(problem, scores, width, w)
    except OverflowingError:
        return Evaluated(w, np.zeros_like(w), np.inf, -np.inf, np.inf)
    pull = space.pull(sums.c)
    primal = sums.value + penalty.value(space, w).value
    # About what the minorant proves, rounding aside.
    dual = penalty.shrink(pull, 0.0) * sums.conjugate
    if penalty.l2 > 0:
        left = penalty.residual(pull)
        dual = max(dual, sums.conjugate - float(left @ left) / (2 * penalty.l2))
    # Zero is a bound without any minorant: one that proves less is not worth its risk to overflow.
    made = partial(Minorant.from_scores, problem, scores, width, 1.0, sums)
    recorder.offer(w, primal, made, max(dual, 0.0))
    return Evaluated(w, pull, primal, dual, sums.value - sums.conjugate + float(pull @ w))
