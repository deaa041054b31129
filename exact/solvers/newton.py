"""Newton's method for the squared hinge over any number of pairs.

The objective is piecewise quadratic with gradient lam w - pull(c); its generalised Hessian is
lam I + 2 X'L X with L the Laplacian of the active pairs. Full steps can cycle (there is a
four-row example in the tests), so each step is searched until the slope along it has clearly
fallen; a test on values would stall in the last digits. At the slope's own dual point the gap is
exactly |gradient|^2 / (2 lam). The method stops where only rounding is left.

With few coordinates, or few rows for them, the Hessian is formed at every step. Otherwise a few
L-BFGS steps come first: they need none, and where the problem is not ill-conditioned they arrive.
Both begin at the optimum of the square loss, which the moments of the rows tell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..certificate.solution import Recorder, Status
from ..certificate.solver import INSIDE, Solver
from ..curvature.newton_equation import Conditioning, hessian
from ..curvature.pair_matrices import factored, solved
from ..curvature.points import NewtonLine, NewtonPoint, sample_problem
from ..errors import InputError
from ..losses.registry import SQUARED_HINGE
from ..problem.problem import Problem
from ..spaces.rows import Rows
from .general.look import offer_zero
from .general.quick_steps import parabola, quick_steps

QUICK_STEPS = 30
"""L-BFGS steps before the first Hessian: about the cost of two Newton steps."""

LEAST_TOL = 1e-11
"""L-BFGS sees the gap as a difference of two values of F, which tells no smaller one."""

DIRECT, DIRECT_FEW, FEW_ROWS = 10, 100, 10
"""Up to the first number of coordinates the Hessian is formed from the first step on: it costs as
much as one or two evaluations, and halves their number. With less than `FEW_ROWS` rows a coordinate
the objective bends suddenly, which L-BFGS takes many steps to learn: up to the second number."""

PATIENCE = 10
"""After so many steps in a row that clearly lower neither F nor the gradient, only rounding is
left."""

DRAWN = 40
"""The preconditioner is made from this many pairs a coordinate."""

FURTHER = 1e-3
"""Share of the tolerance to reach. The one step more leaves room for the certificate's rounding."""

FORCING = 0.1
"""Largest relative residual of a Newton equation; it falls with the root of the gradient."""

MAX_PRODUCTS = 500
"""Products with the Hessian in one step at most."""


@dataclass(frozen=True)
class Newton(Solver):
    """Solve a squared-hinge problem by Newton steps.

    Parameters
    ----------
    tol : float
        Relative gap to reach.
    max_iter : int
    max_time : float, optional
        Seconds.
    """

    tol: float = 1e-9
    max_iter: int = 200
    max_time: float | None = None

    name: ClassVar[str] = "newton"

    def check(self, problem: Problem) -> None:
        """Raise `InputError` if the loss is not the squared hinge or the space has no rows."""
        if problem.loss != SQUARED_HINGE:
            raise InputError(f"Newton solves the squared hinge, not {problem.loss.name}")
        if not isinstance(problem.space, Rows):
            raise InputError("Newton needs rows: factor the kernel first")

    def start(self, problem: Problem, recorder: Recorder) -> None:
        """Start from `w0`, from the solution of a sample of many rows, or where L-BFGS ends."""
        if recorder.w0 is not None:
            return
        offer_zero(problem, recorder)
        sampled = sample_problem(problem, self.tol)
        if sampled is None:
            if self.max_iter > 2 * QUICK_STEPS and self.tol >= LEAST_TOL:
                if _is_direct(problem):
                    found = parabola(problem)
                    recorder.w0 = recorder.w0 if found is None else found.w
                    return
                quick_steps(problem, recorder, self.tol, QUICK_STEPS)
            recorder.w0 = recorder.best_w
        else:
            sample, tol = sampled
            inner, part = replace(self, tol=tol), recorder.part()
            # Not by `solve`: a certificate of the sample would prove nothing of all rows.
            inner.start(sample, part)
            inner.run(sample, part)
            recorder.w0 = part.best_w

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Take Newton steps from `recorder.w0`."""
        assert recorder.w0 is not None
        if recorder.best_w is not None and recorder.near(INSIDE * self.tol):
            return None
        if recorder.history and recorder.out_of_time:
            return Status.TIME_LIMIT
        conditioning, now = Conditioning(DRAWN), NewtonPoint.at(problem, recorder.w0)
        idle, least = 0, np.inf
        for _ in range(self.max_iter):
            now.note(recorder)
            enough = self.tol >= LEAST_TOL and recorder.near(INSIDE * self.tol)
            if enough or now.gap <= FURTHER * self.tol * now.primal or now.size <= now.noise:
                return None
            if idle >= PATIENCE:
                return Status.STALLED
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            # Loose while the gradient is large: the next step changes the equation anyway.
            rtol = FORCING * min(1.0, float(np.sqrt(now.size)))
            if _is_direct(problem):
                step = solved(factored(hessian(problem, now.curved)), -now.gradient)
            else:
                step = conditioning.step(now, rtol, MAX_PRODUCTS)
            least = min(least, now.size)
            found = NewtonLine(now, step).search()
            if found is None:
                return Status.STALLED
            idle = 0 if found.clearly_beats(now, least) else idle + 1
            now = found
        return Status.ITERATION_LIMIT


def _is_direct(problem: Problem) -> bool:
    """Return whether to form Hessians from the first step on."""
    space = problem.space
    few = space.n < FEW_ROWS * space.dim and space.dim <= DIRECT_FEW
    held = isinstance(space, Rows) and isinstance(space.X, np.ndarray)
    return held and (space.dim <= DIRECT or few)
