"""Whether a problem says nothing: f = 0 is optimal, whatever the rows tell."""

from __future__ import annotations

import numpy as np

from ..problem.problem import Problem
from .certificate import Certificate
from .solution import Solution


def zero_is_optimal(problem: Problem, solution: Solution, tol: float) -> bool:
    """Return whether f = 0 is proved optimal to `tol`, from a solution's minorant.

    For partial AUC with a loss that falls at 0 that is so, whatever lam is, exactly if the reduced
    convex hulls of the classes meet: the means of the positives with weights at most 1 / kp, and of
    the negatives with weights at most 1 / kq. The surrogate then tells nothing of the partial AUC:
    take a larger part or more features.

    Parameters
    ----------
    problem : Problem
    solution : Solution
    tol : float
        Relative gap, as in `Certificate.reaches`.
    """
    zero = np.zeros(problem.space.dim)
    return Certificate.of(problem, zero, solution.witness).reaches(tol)
