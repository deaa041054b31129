"""The certificate: the gap that a minorant proves, and the rounding of it.

If U(s) >= V - c's for all scores s, and the penalty is l2/2 |f|^2 + sigma_C(f), then

    F(w) >= p* >= V - dist(pull(c), C)^2 / (2 l2),

so the difference bounds how far any w is from the optimum, and by strong convexity
``|f - f*| <= sqrt(2 gap / l2)``. Nothing here knows which pairs, loss or penalty it is about, and
nothing trusts a solver: the risk makes the minorant anew from its evidence. Proofs are in
`docs/certificates.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import CertificateError, InputError
from ..problem.evidence import Scores, Weights
from ..problem.minorant import Minorant
from ..problem.penalties import Ridge
from ..problem.problem import Problem
from ..problem.risk import Mean
from ..spaces.rows import Rows
from ..sums.assembled import PairSums
from ..tools.rounding import UNIT, Bound, above, gamma
from ..tools.wording import at_least, at_most
from .witness import LONG_ROWS, Witness

WORTHWHILE = 0.25
"""Largest share of the gap that rounding may have before the long format is worth its cost."""

__all__ = [
    "Certificate",
    "Minorant",
    "Witness",
    "careful_primal",
    "dual_value",
    "evaluated",
    "score_slip",
]


@dataclass(frozen=True)
class Certificate:
    """What is proved about one point of one problem.

    Attributes
    ----------
    primal : float
        F at the point.
    dual : float
        A lower bound of the optimum.
    gap : float
        primal - dual: the point is at most this far from the optimum, up to `rounding`.
    relative_gap : float or None
        gap / primal, up to `rounding` as the gap is: (F - p*) / F is at most (gap + rounding) /
        primal. None where the primal is zero to rounding.
    radius : float or None
        sqrt(2 (gap + rounding) / l2), rounded up: the distance |f - f*| is at most this. None where
        the penalty has no part l2/2 |f|^2: the optimum need not be one point.
    rounding : float
        A bound of the floating-point error in the gap.
    as_saved : bool
        True where it was read from a file and not computed here: it is what the file says, of data
        that nobody has looked at again. `recertify` makes a new one from the model and its data.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float | None
    radius: Any
    rounding: float
    as_saved: bool = field(default=False, init=False, compare=False)

    @classmethod
    def of(cls, problem: Problem, w: np.ndarray, witness: Minorant) -> Certificate:
        """Return the certificate of the coordinates `w`, everything computed afresh.

        Parameters
        ----------
        problem : Problem
        w : array (dim,)
        witness : Minorant
            Any minorant; it is made anew from its evidence.

        Raises
        ------
        CertificateError
            If the gap is below minus its rounding, which exact arithmetic excludes.
        InputError
            If the witness does not belong to the problem.
        """
        primal, primal_rounding, dual, dual_rounding = evaluated(problem, w, witness)
        if dual - dual_rounding < 0:
            dual, dual_rounding = 0.0, 0.0  # F >= 0 needs no witness
        rounding = primal_rounding + dual_rounding
        return cls.from_bounds(primal, dual, rounding, problem.penalty.l2)

    @classmethod
    def from_bounds(cls, primal: float, dual: float, rounding: float, l2: float) -> Certificate:
        """Return the certificate of an upper and a lower bound with their rounding.

        `l2` is the penalty's weight of |f|^2 / 2; without any there is no radius.
        """
        difference = primal - dual
        if not difference >= -rounding:
            raise CertificateError(
                f"the gap {difference:g} is below minus its rounding {rounding:g}: "
                "a bound is false, please report this with the data"
            )
        gap, dual = max(difference, 0.0), min(dual, primal)
        relative = gap / primal if primal > rounding else None
        # Each step up covers the rounding of one operation: difference, sum, quotient and root.
        whole = above(above(gap) + rounding) if difference > 0 else rounding
        radius = None if l2 == 0 else above(np.sqrt(above(2 * above(whole) / l2)))
        return cls(primal, dual, gap, relative, radius, rounding)

    @property
    def statement(self) -> str:
        """What is proved, in one sentence; numbers are rounded to the side on which they hold."""
        least = at_least(max(self.dual - self.rounding, 0.0), 6)
        above_it = above(above(self.gap) + self.rounding)
        share = ""
        if self.relative_gap is not None:
            share = f" ({at_most(100 * above(above_it / self.primal), 2)} % of it)"
        text = (
            f"the objective is {at_most(above(self.primal + self.rounding), 6)} at most, no model "
            f"of this problem has less than {least}, and so this one is at most "
            f"{at_most(above_it, 2)}{share} above the optimum"
        )
        if self.as_saved:
            return f"The model file says, of data that were not looked at again, that {text}."
        return f"Proved on the training rows: {text}."

    def reaches(self, tol: float) -> bool:
        """Return whether the gap, rounding included, is proved to be at most `tol` of F.

        (F - p*) / F grows with F, so that it is at most (gap + rounding) / primal wherever F is
        within its rounding. Where F is proved to be at most 1e-6 (separable data), an absolute
        gap of tol / 10 counts: F(0) = 1 is then the only scale.
        """
        proved = above(above(self.gap) + self.rounding)
        floor = tol / 10 if above(self.primal + self.rounding) <= 1e-6 else 0.0
        return proved <= max(tol * self.primal, floor)


def evaluated(
    problem: Problem, w: np.ndarray, witness: Minorant
) -> tuple[float, float, float, float]:
    """Return F(w), its rounding, the minorant's own lower bound, and its rounding.

    The lower bound may be below zero here; a certificate then takes zero.
    """
    w = problem.check_weights(w)
    if isinstance(witness.evidence, Weights):
        return _evaluated_in_bins(problem, w, witness.renewed(problem))
    if type(problem.space) is Rows:
        scores = problem.space.scores(w)
        shared = _shared_sums(problem, scores, witness)
        renewed = witness.renewed(problem, shared)
        bounds = _evaluated_plainly(problem, problem.space, w, renewed, scores, shared)
        if bounds[1] + bounds[3] <= WORTHWHILE * (bounds[0] - bounds[2]):
            return bounds
        return _evaluated_carefully(problem, w, renewed)
    renewed, plain = witness.renewed(problem), getattr(problem.space, "plain", None)
    if plain is not None:
        bounds = _evaluated_carefully(problem.over(plain()), w, renewed)
        if bounds[1] + bounds[3] <= WORTHWHILE * (bounds[0] - bounds[2]):
            return bounds
    return _evaluated_carefully(problem, w, renewed)


def _evaluated_carefully(
    problem: Problem, w: np.ndarray, witness: Minorant
) -> tuple[float, float, float, float]:
    """Return the bounds of `evaluated` from the space's most careful sums."""
    together = getattr(problem.space, "together", None)
    if together is not None and isinstance(problem.penalty, Ridge):
        together(w, witness.c)  # both products in one pass over a kernel's values
    dual, dual_rounding = dual_value(problem, witness)
    return *careful_primal(problem, w), dual, float(dual_rounding)


def careful_primal(problem: Problem, w: np.ndarray) -> tuple[float, float]:
    """Return F(w) and a bound of its error, from scores in the long format while n is moderate."""
    space = problem.space
    scores, error = space.careful_scores(w)
    if problem.n > LONG_ROWS:
        scores, error = scores.astype(float), error + UNIT * np.abs(scores).astype(float)
    return _primal(problem, w, problem.risk.upper(scores, error))


def _primal(problem: Problem, w: np.ndarray, upper: Bound) -> tuple[float, float]:
    """Return U + Omega and a bound of its error, with two units to spare."""
    penalty = problem.penalty.value(problem.space, w)
    primal = upper.value + penalty.value
    if not np.isfinite(primal):
        raise InputError("the penalty of these weights is infinite: they break its constraint")
    rounding = upper.error + penalty.error
    return primal, float((rounding + gamma(6) * primal) * (1 + gamma(16)))


def _evaluated_plainly(
    problem: Problem,
    space: Rows,
    w: np.ndarray,
    witness: Minorant,
    scores: np.ndarray,
    sums: PairSums | None,
) -> tuple[float, float, float, float]:
    """Return the bounds of `evaluated` without the long format: cheap, with more rounding.

    `sums`, where they are known, are those at the plain scores of `w`, at any width.
    """
    error, risk = space.score_error(w), problem.risk
    upper = risk.upper(scores, error) if sums is None else risk.upper(scores, error, sums)
    primal, rounding = _primal(problem, w, upper)
    dual, dual_rounding = _dual(problem, witness, careful=False)
    return primal, rounding, dual, float(dual_rounding)


def _shared_sums(problem: Problem, scores: np.ndarray, witness: Minorant) -> PairSums | None:
    """Return the sums at `scores` if the minorant is to be made from these very numbers.

    The value never depends on the width, so that one evaluation serves both bounds. Where the
    minorant wants its sums in the long format it keeps its own.
    """
    evidence = witness.evidence
    if not isinstance(evidence, Scores) or not 0 <= evidence.width < np.inf:
        return None
    same = getattr(problem.risk, "plain", False) and np.array_equal(scores, evidence.scores)
    return problem.risk.sums(scores, evidence.width) if same else None


def _evaluated_in_bins(
    problem: Problem, w: np.ndarray, witness: Minorant
) -> tuple[float, float, float, float]:
    """Return the bounds of `evaluated` from binned sums, those noted at these points or new."""
    from .evaluate_rows import binned_at, loss_at

    lam, weights = problem.lam, problem.check_weights(witness.weights)
    dual = binned_at(problem, weights, witness.bins, witness.half)
    primal = dual if np.array_equal(w, weights) else loss_at(problem, w, witness.bins)
    scale = witness.scale
    return (
        primal.primal(lam),
        primal.primal_rounding(lam),
        dual.dual(lam, scale),
        dual.dual_rounding(lam, scale),
    )


def score_slip(problem: Problem, error: np.ndarray, upper_loss: float) -> float:
    """Return a bound of the effect of score errors (n,) on the mean loss; see `Mean.slip`."""
    if not isinstance(problem.risk, Mean):
        raise InputError(f"this needs a mean over pairs, not {problem.risk!r}")
    return problem.risk.slip(error, upper_loss)


def dual_value(problem: Problem, witness: Minorant) -> tuple[float, float]:
    """Return the lower bound that a (renewed) minorant proves, and its rounding."""
    if isinstance(witness.evidence, Weights):
        from .evaluate_rows import binned_at

        found = binned_at(problem, witness.evidence.w, witness.bins, witness.half)
        scale, lam = witness.scale, problem.lam
        return found.dual(lam, scale), found.dual_rounding(lam, scale)
    return _dual(problem, witness, careful=True)


def _dual(problem: Problem, witness: Minorant, careful: bool) -> tuple[float, float]:
    """Return V - dist(pull(c), C)^2 / (2 l2) and its rounding, or s V of a shrunk minorant.

    The deficiency of infeasible marginals enters the bound itself: the true pull is at most
    reach * deficiency away, and the distance to C moves by no more than the pull.
    """
    penalty, shrunk = problem.penalty, _shrunk_dual(problem, witness, careful)
    l2 = penalty.l2
    if l2 == 0:
        return (0.0, 0.0) if shrunk is None else shrunk
    quick = None if careful else getattr(penalty, "quick_distance", None)
    apart = (quick or penalty.distance)(problem.space, witness.c)
    reach = problem.space.reach
    paid = apart.value + reach * witness.deficiency
    slip = apart.error + reach * witness.c_error
    dual = witness.value - paid**2 / (2 * l2)
    rounding = witness.value_error + slip * (2 * paid + slip) / (2 * l2)
    size = abs(witness.value) + paid**2 / (2 * l2)
    rounding = (rounding + gamma(10) * size) * (1 + gamma(16))
    if shrunk is not None and shrunk[0] - shrunk[1] > dual - rounding:
        return shrunk
    return dual, rounding


def _shrunk_dual(problem: Problem, witness: Minorant, careful: bool) -> tuple[float, float] | None:
    """Return s V and its rounding, s so small that C holds the pull of s c, all errors included.

    Omega*(s g) is 0 there, whatever l2 is. A shrunk minorant is still a minorant, as U is never
    negative.
    """
    shrink, space = getattr(problem.penalty, "shrink", None), problem.space
    if shrink is None or not isinstance(space, Rows):
        return None
    c = witness.c
    g, error = space.careful_pull(c) if careful else (space.pull(c), space.pull_error(c))
    missing = space.reach * (witness.deficiency + witness.c_error)
    scale = shrink(g, (error + missing) * (1 + gamma(8)))
    if not 0 <= scale <= 1:
        raise CertificateError(f"a penalty shrinks by {scale!r}, which is not between 0 and 1")
    value = scale * witness.value
    return value, (scale * witness.value_error + gamma(2) * abs(value)) * (1 + gamma(8))
