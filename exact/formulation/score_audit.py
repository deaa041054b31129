"""The audit of scores: their loss as given, and the norm as far as the scores determine it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..certificate.audit import Audit, Rival, audit_of, audit_without_gap, lower_bound
from ..certificate.certificate import Certificate, score_slip
from ..certificate.order import certified_order
from ..errors import InputError
from ..pairs.all_pairs import PairList
from ..pairs.ordered_pairs import OrderedPairs
from ..problem.minorant import Minorant
from ..problem.problem import Problem
from ..tools.rounding import LONG_UNIT, UNIT, Bound, gamma
from ..tools.wording import at_least, at_most
from .score_fit import ScoreFit

# Largest share of the objective that what scores leave open may cost; beyond, there is no gap.
OPEN_SHARE = 1e-6

FEW_PAIRS = 1_000_000  # Pairs up to which the loss of scores is summed one by one.

# Relative error up to which a given norm still counts as the least one for these scores.
NORM_SHARE = 1e-6


class _Norm(NamedTuple):
    """|f|^2 of the functions meant, its error, and whether it is the least one."""

    value: float
    error: float
    least: bool


def audit_scores(
    problem: Problem,
    scores: np.ndarray,
    fit: ScoreFit,
    witness: Minorant,
    tol: float,
    norm2: float | None = None,
    rival: Rival | None = None,
) -> Audit:
    """Return the audit of scores (n,), with the least norm that they have or one given.

    The loss is that of the scores as given. For every function f meant it is off by what
    `fit.apart` can do to it, and the norm by `fit.moved`; where both together cost more than
    `OPEN_SHARE` of the objective there is no gap.
    """
    loss_bound = loss_of(problem, scores)
    loss = loss_bound.value
    norm = _norm(problem, fit, norm2)
    slip = score_slip(problem, np.full(problem.n, fit.apart), loss)
    primal = loss + problem.lam / 2 * norm.value
    payment = loss_bound.error + slip + problem.lam / 2 * norm.error
    # A large norm must not make scores count as those of functions with another loss: F(0) = 1.
    unit = min(primal, max(loss, 1.0))
    if not (payment <= OPEN_SHARE * primal and slip <= OPEN_SHARE * unit):
        why = _why(fit)
        return audit_without_gap(problem, loss_bound, witness, fit.residual, why)
    dual = lower_bound(problem, witness)
    error = payment * (1 + gamma(8)) + gamma(8) * primal
    if norm2 is not None and primal - dual.value < -(error + dual.error):
        raise InputError(
            f"norm2 = {norm2:g} is impossible: with their mean loss of {loss:g} the scores would "
            f"have objective {primal:g}, and no function has less than {at_least(dual.low, 6)}"
        )
    certificate = Certificate.from_bounds(
        Bound(primal, error, loss_bound.excess), dual, problem.lam
    )
    # The optimum is within the radius of a function whose scores are within `apart` of the given
    # ones, and those of w are within `miss` of them.
    order = certified_order(problem, fit.w, certificate.radius, 2 * (fit.apart + fit.miss))
    kind = "of least norm" if norm.least else f"with |f|^2 = {norm.value:.10g}, as given,"
    meant = (
        f" This holds for every function {kind} whose scores differ from these by at most "
        f"{at_most(fit.apart, 2)}, one constant aside."
    )
    return audit_of(problem, certificate, loss, order, tol, rival, fit.residual, meant)


def loss_of(problem: Problem, scores: np.ndarray) -> Bound:
    """Return the mean loss of scores (n,) as given, and a bound of its rounding.

    Sums over sorted scores lose digits where scores are far from zero, or one from the others. Few
    pairs are gone through one by one, in the long format: margins t and 1 - t then err by
    2 u (1 + |1 - t|) at most, and all terms are >= 0.
    """
    pairs = problem.pairs
    long = scores.astype(np.longdouble)
    if problem.n_pairs > FEW_PAIRS or isinstance(pairs, OrderedPairs):
        centred = long - np.median(long)
        sums = problem.sums(centred)
        error = 2 * LONG_UNIT * (np.abs(scores) + abs(float(np.median(scores))))
        slip = score_slip(problem, error, sums.value + sums.value_rounding)
        plain = problem.sums(scores)
        return min(
            Bound(plain.value, plain.value_rounding, plain.excess),
            Bound(sums.value, sums.value_rounding + slip + gamma(4) * sums.value, sums.excess),
            key=lambda found: found.error,
        )
    if isinstance(pairs, PairList):
        share, t = pairs.c.astype(np.longdouble), long[pairs.i] - long[pairs.j]
    else:
        positive = pairs.positive
        a, b = (side.astype(np.longdouble) for side in pairs.sides())
        share = np.outer(a, b) / (a.sum() * b.sum())
        t = long[positive][:, None] - long[~positive][None, :]
    value = float((share * problem.loss.value(t)).sum())
    return Bound(value, (gamma(t.size + 16, LONG_UNIT) + 2 * UNIT) * (1 + 4 * value))


def _norm(problem: Problem, fit: ScoreFit, norm2: float | None) -> _Norm:
    """Return the norm of the functions meant."""
    value, moved = problem.space.norm2(fit.w), fit.moved
    length = float(np.sqrt(value))
    error = problem.space.norm2_error(fit.w) + moved * (2 * length + moved)
    if norm2 is None:
        return _Norm(value, error, True)
    if norm2 < (value - error) * (1 - NORM_SHARE):
        raise InputError(
            f"norm2 = {norm2:g} is impossible: the least |f|^2 with these scores is {value:g}"
        )
    if abs(norm2 - value) <= NORM_SHARE * value and error <= NORM_SHARE * value:
        return _Norm(value, error, True)
    return _Norm(float(norm2), 0.0, False)


def _why(fit: ScoreFit) -> str:
    """Return why there is no gap."""
    if fit.least_residual > OPEN_SHARE:
        return (
            "Not in this model class: no gap. No function of it leaves less than "
            f"{at_least(fit.least_residual, 3)} of the standard deviation of the scores (root mean "
            "square), so they have no norm here."
        )
    close = (
        f"No gap: the function that least squares found leaves {at_most(fit.residual)} of the "
        "standard deviation of the scores (root mean square), "
    )
    if np.isfinite(fit.moved):
        return close + (
            "and scores that differ by so little can belong to functions of rather different "
            "objectives. Give the scores with more digits, or the weights."
        )
    return close + (
        "and the smallest singular value of the features or the kernel could not be bounded, so "
        "that the scores do not tell the norm of a function. Give the weights, or norm2."
    )
