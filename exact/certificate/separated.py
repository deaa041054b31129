"""Separable rows and a tiny lam: the hinge's optimum is the hard margin's, whatever lam is.

While no pair's alpha reaches its bound, w* does not depend on lam, F* and every alpha are
proportional to it, and the loss at w* is zero. So the point and the evidence of a larger lam, where
the loss does not drown in rounding, serve the smaller one with the same relative gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..losses.registry import HINGE
from ..problem.evidence import Alpha, Evidence, Marginals, Mix, Scores, Weights
from ..problem.penalties.ridge import Ridge
from ..problem.problem import Problem
from ..problem.risk import Mean, least_margin
from ..spaces.rows import Rows
from .certificate import Certificate
from .solution import Solution, Status

SMALL = 1e-6  # Above this objective rounding does not stop a solver.

# Objectives at which the hard margin is looked for, the largest first: fewest digits are lost.
LEVELS = (1e-3, 1e-5, 1e-7, 1e-9)

LONGER = 1e-11  # w is made longer by this part, so that rounding leaves no margin below one.


def from_larger_lam(
    problem: Problem, solution: Solution, tol: float, solve: Callable[[Problem], Solution]
) -> Solution:
    """Return the better of a stalled solution and that of a larger lam, scaled down.

    `solve` solves the same problem at another lam.
    """
    hinge = isinstance(problem.risk, Mean) and problem.loss == HINGE
    rows = type(problem.space) is Rows and isinstance(problem.penalty, Ridge)
    if solution.status != Status.STALLED or not (hinge and rows):
        return solution
    with np.errstate(over="ignore", invalid="ignore"):
        norm2 = problem.space.norm2(solution.w)
        primal, penalty = problem.objective(solution.w), problem.lam / 2 * norm2
    if not (penalty > 0 and primal < SMALL):
        return solution
    best = solution
    for level in LEVELS:
        lam = 2 * level / norm2
        if not 4 * problem.lam < lam < np.inf:
            break
        found = solve(replace(problem, penalty=Ridge(lam)))
        scores = problem.space.scores(found.w)
        margin = least_margin(problem.pairs, scores, scores)
        if margin > 0.5:
            w = found.w * ((1 + LONGER) / margin)
            assert found.witness.evidence is not None
            evidence = _scaled(found.witness.evidence, problem.lam / lam)
            held, made = Certificate.with_minorant(problem, w, evidence, tol)
            if held.gap < best.certificate.gap:
                status = Status.CERTIFIED if held.reaches(tol) else Status.STALLED
                best = replace(solution, w=w, witness=made, certificate=held, status=status)
        if best.status == Status.CERTIFIED or found.status == Status.INTERRUPTED:
            break
    return best


def _scaled(evidence: Evidence, share: float) -> Evidence:
    """Return the evidence of `share` times each alpha."""
    if isinstance(evidence, Scores | Weights):
        return replace(evidence, scale=evidence.scale * share)
    if isinstance(evidence, Alpha):
        return Alpha(evidence.alpha * share)
    if isinstance(evidence, Marginals):
        return Marginals(evidence.u * share, evidence.v * share)
    return Mix(tuple((part * share, one) for part, one in evidence.parts))
