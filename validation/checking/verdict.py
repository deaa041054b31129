"""The verdict on one answer: F at the weights against the proved optimum."""

from __future__ import annotations

import numpy as np

from ...exact.certificate.certificate import Certificate, Minorant
from ...exact.errors import CertificateError
from ...exact.pairs.all_pairs import AllPairs
from ...exact.problem.problem import Problem, linear_problem
from ...exact.tools.rounding import above
from ..reference.problems import ReferenceProblem
from .report import CheckRow, CheckVerdict
from .worker import Answer

SMALL_OPTIMUM = 1e-6  # Below this an optimum is no scale; F(0) = 1 is.


def judged(problem: ReferenceProblem, loss: str, tol: float, answer: Answer) -> CheckRow:
    """Return the row of an answer."""
    lower, upper = problem.optimum[loss]
    seconds = float(answer["seconds"])
    if answer["kind"] != "w":
        kind: CheckVerdict = answer["kind"]
        return CheckRow(problem, kind, lower, upper, seconds=seconds, message=answer["message"])
    w = np.array(answer["w"], dtype=float)
    if not np.isfinite(w).all():
        at = int(np.flatnonzero(~np.isfinite(w))[0])
        message = f"weight {at} is {w[at]}"
        return CheckRow(problem, "not finite", lower, upper, seconds=seconds, message=message)
    value = upper_value(problem, loss, w)
    if value is None:
        message = f"weights up to {np.abs(w).max():.3g}: F(w) overflows"
        return CheckRow(problem, "fail", lower, upper, seconds=seconds, message=message, w=w)
    gap = above(value - lower)
    share = excess(problem, loss, gap)
    verdict: CheckVerdict = "pass" if share <= tol else "fail"
    return CheckRow(problem, verdict, lower, upper, value, gap, share, seconds, "", w)


def excess(problem: ReferenceProblem, loss: str, gap: float) -> float:
    """Return the gap over the optimum, or ten times the gap where the optimum is below 1e-6."""
    lower, upper = problem.optimum[loss]
    return gap / lower if upper >= SMALL_OPTIMUM else 10 * gap


def upper_value(problem: ReferenceProblem, loss: str, w: np.ndarray) -> float | None:
    """Return an upper bound of F(w), rounding included; None where it overflows."""
    whole = whole_problem(problem, loss)
    with np.errstate(all="ignore"):
        scores, norm2 = whole.space.scores(w), whole.space.norm2(w)
        if not (np.isfinite(scores).all() and np.isfinite(norm2 + scores @ scores)):
            return None
        own = Certificate.of(whole, w, Minorant.from_scores(whole, 0 * scores, scale=0.0))
    lower = problem.optimum[loss][0]
    if lower > own.primal:
        raise CertificateError(
            f"F(w) is at most {own.primal!r}, below the proved lower bound {lower!r}: please report"
        )
    return own.primal


def whole_problem(problem: ReferenceProblem, loss: str, lam: float | None = None) -> Problem:
    """Return the problem as the library states it, perhaps at another lam."""
    pairs = AllPairs(problem.sample_weight)
    return linear_problem(problem.X, problem.y, problem.lam if lam is None else lam, loss, pairs)
