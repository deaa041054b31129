"""A smooth loss with the ridge alone: L-BFGS, stopped by the gap |lam w - g|^2 / (2 lam)."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy.optimize import minimize

from ...certificate.solution import Recorder
from ...problem.problem import Problem
from .look import FURTHER, look

MEMORY = 30
"""Pairs of differences that L-BFGS keeps."""

BINNED, LEAST_TOL = 0.2, 1e-12
"""Share of the tolerance that bins may cost: smoothness width^2 / 12 where sums are convolved."""

TOO_FAR = 1.001
"""An overflowing trial is shown as this multiple of the best value: the next goes half as far."""


class _Stop(Exception):
    """Ends L-BFGS from within."""


def bin_width(problem: Problem, recorder: Recorder, tol: float) -> float:
    """Return the width of bins that cost a part of the tolerance; sums without bins ignore it."""
    room = BINNED * max(tol, LEAST_TOL) * recorder.best_primal
    return float(np.sqrt(12 * room / getattr(problem.risk, "smoothness", 1.0)))


def quasi_newton(
    problem: Problem, recorder: Recorder, tol: float, max_iter: int, unit: float | None = None
) -> None:
    """Offer the points of L-BFGS from `recorder.w0`, in a unit of length.

    It ends where the gap or the time will do, or where its line search finds no better point.

    Parameters
    ----------
    problem : Problem
        With a smooth loss and the ridge.
    recorder : Recorder
    tol : float
    max_iter : int
    unit : float, optional
        > 0: the root of a curvature of F; by default the largest norm of a row.
    """
    assert recorder.w0 is not None
    unit = max(problem.space.reach, 1e-140) if unit is None else unit
    width = bin_width(problem, recorder, tol)

    def objective(v: np.ndarray) -> tuple[float, np.ndarray]:
        now = look(problem, recorder, v / unit, width)
        recorder.step()
        if recorder.near(FURTHER * tol) or recorder.out_of_time:
            raise _Stop
        if not now.finite:
            return TOO_FAR * recorder.best_primal, np.zeros_like(v)
        return now.primal, (problem.lam * now.w - now.pull) / unit

    # `objective` ends the run by the gap: scipy's own tests are switched off.
    limits = {"maxcor": MEMORY, "ftol": 0.0, "gtol": 0.0, "maxiter": max_iter}
    with suppress(_Stop):
        minimize(objective, unit * recorder.w0, jac=True, method="L-BFGS-B", options=limits)
