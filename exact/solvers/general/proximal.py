"""The general solver: any risk that states its sums, any penalty that states its residual.

With U_h the risk smoothed over a width h, g(w) = pull of its slopes and residual(z) = z - P_C(z),
accelerated proximal gradient steps [Beck & Teboulle, SIAM J. Imaging Sci. 2009, FISTA] are

    x <- residual(L y + g(y)) / (L + l2),      y <- x + (t - 1)/t' (x - last x),

with t restarted where the momentum points uphill [O'Donoghue & Candes, Found. Comput. Math. 2015].
L is doubled until g is no steeper than L between y and x, and falls a little with every step. At
every x the same sums give a minorant, so the gap is known. It has two parts,

    gap = bias + (Omega(w) + Omega*(g) - <g, w>),    bias = U(w) - V + <g, w> >= 0:

once what smoothing costs is the larger one, the width is cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...certificate.solution import Recorder, Status
from ...certificate.solver import Solver
from ...errors import InputError
from ...problem.problem import Problem
from ...problem.risk import Mean
from ...spaces.rows import Rows
from .look import FURTHER, Look, look, offer_zero

WIDEST = 1.0  # First width: the margin that a loss asks for is one.

NARROWER = 0.3  # Factor of the width where smoothing costs more than what is left to optimise.

BOLDER = 0.95  # Factor of L after each step, so that it follows a curvature that falls.

# The solver has stalled after so many steps in a row that leave the gap above `PROGRESS` of what it
# was.
PATIENCE = 3000

PROGRESS = 0.99  # See `PATIENCE`.

# Multiple of the least value so far above which momentum is given up: it may overflow.
TOO_FAR = 1e3

# The first L is this share of its bound. Shorter rows count as of this length, lest squares
# underflow.
GUESS, LEAST_REACH = 0.1, 1e-140

NOISE = 1e-15  # Relative rounding of g, which must not be taken for steepness.


@dataclass(frozen=True)
class Proximal(Solver):
    """Solve any problem over rows by accelerated proximal gradient steps."""

    tol: float = 1e-9
    max_iter: int = 50_000
    max_time: float | None = None

    name: ClassVar[str] = "proximal"

    def check(self, problem: Problem) -> None:
        """Raise `InputError` unless the space has rows and the penalty a residual."""
        if not isinstance(problem.space, Rows):
            raise InputError("the proximal method needs rows: factor the kernel first")
        if not hasattr(problem.penalty, "residual"):
            raise InputError("the proximal method needs a penalty with residual(g)")

    def start(self, problem: Problem, recorder: Recorder) -> None:
        """Offer the first point; of a mean over pairs no sums are needed at zero."""
        if recorder.w0 is not None or not isinstance(problem.risk, Mean):
            return super().start(problem, recorder)
        offer_zero(problem, recorder)

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Improve on `recorder.w0`."""
        assert recorder.w0 is not None
        kinked = not np.isfinite(getattr(problem.risk, "smoothness", np.inf))
        w = recorder.w0 if recorder.best_w is None else recorder.best_w
        return self._descend(problem, recorder, w, WIDEST if kinked else 0.0)

    def _descend(
        self, problem: Problem, recorder: Recorder, w: np.ndarray, width: float
    ) -> Status | None:
        steepness, momentum = first_steepness(problem, width), 1.0
        x, y, idle, least = w, w, 0, np.inf
        for _ in range(self.max_iter):
            here = look(problem, recorder, y, width)
            if not here.primal <= TOO_FAR * recorder.best_primal:
                here, momentum = look(problem, recorder, x, width), 1.0
            y = here.w
            moved, there, steepness = stepped(problem, recorder, here, width, steepness)
            recorder.step()
            if recorder.near(FURTHER * self.tol):
                return None
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            idle += 1
            if recorder.gap < PROGRESS * least:
                idle, least = 0, recorder.gap
            if idle >= PATIENCE:
                return Status.STALLED
            # y - moved points up the slope at y: where the last move does so, too, it went too far.
            uphill = float((y - moved) @ (moved - x)) > 0
            if width > 0 and there.bias > (1 - FURTHER) * (there.primal - there.dual):
                width, uphill = width * NARROWER, True
            momentum, last = (1.0, 1.0) if uphill else (faster(momentum), momentum)
            y = moved if uphill else moved + (last - 1) / momentum * (moved - x)
            x, steepness = moved, steepness * BOLDER
        return Status.ITERATION_LIMIT


def stepped(
    problem: Problem, recorder: Recorder, here: Look, width: float, steepness: float
) -> tuple[np.ndarray, Look, float]:
    """Return the proximal step from `here`, what is seen there, and how steep g may be for it."""
    y, penalty = here.w, problem.penalty
    noise = NOISE * float(np.linalg.norm(here.pull))
    while True:
        moved = penalty.residual(steepness * y + here.pull) / (steepness + penalty.l2)
        there, step = look(problem, recorder, moved, width), moved - y
        length = float(np.linalg.norm(step))
        # How steep g is between the two points. Near the end values of F differ by rounding only.
        bend = float((here.pull - there.pull) @ step) if there.finite else np.inf
        if bend <= (steepness * length + noise) * length:
            return moved, there, steepness
        # So short a step tells rounding only, and doubling would never end.
        if length <= NOISE * float(np.linalg.norm(y)):
            return y, here, steepness
        steepness *= 2


def faster(momentum: float) -> float:
    """Return the next t' = (1 + sqrt(1 + 4 t^2)) / 2 of the acceleration."""
    return (1 + float(np.sqrt(1 + 4 * momentum**2))) / 2


def first_steepness(problem: Problem, width: float) -> float:
    """Return a first guess of how steep g is; doubling and `BOLDER` correct it."""
    bend = 1 / width if width > 0 else getattr(problem.risk, "smoothness", 1.0)
    return GUESS * bend * max(problem.space.reach, LEAST_REACH) ** 2
