"""The certificate: the gap that a minorant proves, and the rounding of it.

If U(s) >= V - c's for all scores s, and the penalty is l2/2 |f|^2 + sigma_C(f), then

    F(w) >= p* >= V - dist(pull(c), C)^2 / (2 l2),   and   |f - f*| <= sqrt(2 gap / l2).

Nothing here knows which pairs, loss or penalty it is about, and nothing trusts a solver: the risk
makes the minorant anew from its evidence. Proofs are in `docs/certificates.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

import numpy as np

from ..errors import CertificateError, InputError, warn_the_user
from ..losses.registry import HINGE, Loss
from ..problem.penalties import Ridge
from ..problem.problem import Problem
from ..problem.risk import LONG_ROWS, Evidence, Minorant, Scores, Weights, check_width
from ..spaces.rows import Space
from ..sums.swept import PairSums
from ..tools.rounding import UNIT, Bound, above, at_least, at_most, float_above, gamma, root_above
from .evaluation import binned_at, fine_bins, loss_at, noted_scores, noted_sums, within_a_solve

Bounds = tuple[Bound, Bound]  # F and the lower bound.


def evaluated_with(
    problem: Problem, w: np.ndarray, witness: Minorant | Evidence, tol: float = 0.0
) -> tuple[Bounds, Minorant]:
    """Return F(w) and the minorant's lower bound, perhaps below zero, and the minorant made."""
    w, space, risk = problem.check_weights(w), problem.space, problem.risk
    evidence = witness.evidence if isinstance(witness, Minorant) else witness

    def made(sums: PairSums | None = None) -> Minorant:
        if isinstance(witness, Minorant):
            return witness.renewed(problem, sums)
        return risk.minorant(witness, sums)

    if isinstance(evidence, Weights):
        # Binned sums, those noted at these points or new. The loss is that of a fine grid outside
        # of a solve: a coarse one is for the solver that knows what it costs, and that another
        # pass would slow down.
        renewed = made()
        used: Any = renewed.evidence
        weights = problem.check_weights(used.w)
        at_dual = binned_at(problem, weights, used.bins, used.half)
        close = within_a_solve() or used.bins >= fine_bins(problem)
        same = np.array_equal(w, weights) and close
        at_w = at_dual if same else loss_at(problem, w, used.bins)
        return (at_w.primal(problem.lam), at_dual.dual(problem.lam, used.scale)), renewed
    rows, quick, shared = space.given, None, None
    if rows is None:
        renewed, in_floats = made(), space.plain()
        if in_floats is not space:
            quick = _evaluated_carefully(problem.over(in_floats), w, renewed)
    else:
        known = noted_scores(problem, w)
        scores = space.scores(w) if known is None else known
        # At tol = 0 rounding is made as small as it gets: sums of plain floats will not do, unless
        # the risk has no better ones.
        if isinstance(evidence, Scores) and (risk.plain or tol > 0):
            width = check_width(evidence.width)
            if np.array_equal(scores, evidence.scores):
                shared = noted_sums(problem, scores, width) or risk.sums(scores, width)
        renewed = made(shared)
        upper = risk.upper(scores, rows.score_error(w), shared)
        quick = _primal(problem, w, upper), _dual(problem, renewed, careful=False)
    if quick is not None:
        primal, dual = quick
        rounding, gap = primal.error + dual.error, primal.value - dual.value
        # Whether less rounding would tell little more, or more than is asked for.
        # 0.25: share of the gap that rounding has where the long format is worth its cost
        # 0.9: share of the tolerance that must be proved for the plain form to be enough
        if rounding <= 0.25 * gap or max(gap, 0.0) + rounding <= 0.9 * tol * primal.value:
            return quick, renewed
    if rows is not None and shared is not None and not risk.plain:
        renewed = made()  # the minorant was made of plain sums, and is made again with care
    return _evaluated_carefully(problem, w, renewed), renewed


def _evaluated_carefully(problem: Problem, w: np.ndarray, witness: Minorant) -> Bounds:
    if isinstance(problem.penalty, Ridge):
        problem.space.together(w, witness.c)  # both products in one pass over a kernel's values
    dual = dual_value(problem, witness)
    return careful_primal(problem, w), dual


def careful_primal(problem: Problem, w: np.ndarray) -> Bound:
    """Return F(w) and a bound of its error, from scores in the long format while n is moderate."""
    scores, error = problem.space.careful_scores(w)
    if problem.n > LONG_ROWS:
        scores, error = scores.astype(float), error + UNIT * np.abs(scores).astype(float)
    return _primal(problem, w, problem.risk.upper(scores, error))


def _primal(problem: Problem, w: np.ndarray, upper: Bound) -> Bound:
    """Return U + Omega and a bound of its error, with two units to spare."""
    penalty = problem.penalty.value(problem.space, w)
    primal = upper.value + penalty.value
    if not np.isfinite(primal):
        raise InputError("the penalty of these weights is infinite: they break its constraint")
    rounding = upper.error + penalty.error
    error = float((rounding + gamma(6) * primal) * (1 + gamma(16)))
    return Bound(float(primal), error, float(upper.excess))


def dual_value(problem: Problem, witness: Minorant) -> Bound:
    """Return the lower bound that a (renewed) minorant proves, and its rounding."""
    evidence = witness.evidence
    if isinstance(evidence, Weights):
        found = binned_at(problem, evidence.w, evidence.bins, evidence.half)
        return found.dual(problem.lam, evidence.scale)
    return _dual(problem, witness, careful=True)


def _dual(problem: Problem, witness: Minorant, careful: bool) -> Bound:
    """Return V - dist(pull(c), C)^2 / (2 l2) and its rounding, or s V of a shrunk minorant, or zero
    where that overflows. The deficiency moves the true pull by at most reach times it."""
    l2, found = problem.penalty.l2, Bound(0.0, 0.0)
    shrunk = _shrunk_dual(problem, witness, careful)
    if l2 > 0:
        penalty, space = problem.penalty, problem.space
        if careful and type(penalty) is Ridge and space.given is not None:  # column by column
            given = witness.c, witness.deficiency, witness.c_error, witness.c_relative
            square = space.given.careful_norm2(*given)
        else:
            far = (penalty.distance if careful else penalty.quick_distance)(space, witness.c)
            paid = far.value + space.reach * witness.deficiency
            slip = far.error + space.reach * witness.c_error
            square = Bound(paid**2, slip * (2 * paid + slip))
        size = square.value / (2 * l2)
        rounding = witness.value_error + square.error / (2 * l2)
        rounding = (rounding + gamma(10) * (abs(witness.value) + size)) * (1 + gamma(16))
        found = Bound(witness.value - size, rounding)
    # Both are lower bounds, so that the better one is.
    if shrunk is not None and (l2 == 0 or shrunk.low > found.low):
        found = shrunk
    return found if np.isfinite(found.value + found.error) else Bound(0.0, 0.0)


def _shrunk_dual(problem: Problem, witness: Minorant, careful: bool) -> Bound | None:
    """Return s V and its rounding, s so small that C holds the pull of s c, all errors included:
    there Omega* is 0, and as U >= 0 a shrunk minorant is still one."""
    space = problem.space.held
    if isinstance(problem.penalty, Ridge) or space is None:
        return None
    c = witness.c
    g, error = space.careful_pull(c) if careful else (space.pull(c), space.pull_error(c))
    missing = space.reach * (witness.deficiency + witness.c_error)
    scale = problem.penalty.shrink(g, (error + missing) * (1 + gamma(8)))
    if not 0 <= scale <= 1:
        raise CertificateError(f"a penalty shrinks by {scale!r}, which is not between 0 and 1")
    value = scale * witness.value
    return Bound(value, (scale * witness.value_error + gamma(2) * abs(value)) * (1 + gamma(8)))


@dataclass(frozen=True)
class Certificate:
    """What is proved about one point of one problem: every number is true by itself.

    Bounds are rounded outward: nothing is to be added to them or taken off for rounding.

    Attributes
    ----------
    primal : float, an upper bound of F at the point, at most `rounding` above it
    dual : float >= 0, a lower bound of the optimum
    gap : float, primal - dual: the point is at most this far from the optimum
    relative_gap : float or None
        1 - dual / primal: (F - p*) / F is at most this. None where the primal is zero or infinite.
    radius : float or None
        sqrt(2 gap / l2): the distance |f - f*| is at most this. None where the penalty has no part
        l2/2 |f|^2: the optimum need not be one point.
    rounding : float
        How much of the gap floating point and bins may be: F is at least primal - rounding.
    as_saved : bool
        True where it was read from a file and not computed here: it is what the file says, of data
        that nobody has looked at again. `recertify` makes a new one from the model and its data.
    objective : str
        The objective and the models among which the optimum is meant, in words; empty where the
        estimator's page states the only one.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float | None
    radius: Any
    rounding: float
    as_saved: bool = field(default=False, init=False, compare=False)
    objective: str = field(default="", kw_only=True, repr=False)

    @classmethod
    def of(cls, problem: Problem, w: np.ndarray, witness: Minorant, tol: float = 0.0) -> Self:
        """Return the certificate of the coordinates `w` (dim,), everything computed afresh, the
        witness from its evidence. One of another problem raises `InputError`, and a gap below minus
        its rounding, which exact arithmetic excludes, `CertificateError`.

        `tol` >= 0 is a relative gap that is enough: sums are not made in the long format where
        plain ones prove it, rounding included. By default rounding is made as small as it gets.
        """
        return cls.with_minorant(problem, w, witness, tol)[0]

    @classmethod
    def with_minorant(
        cls, problem: Problem, w: np.ndarray, witness: Minorant | Evidence, tol: float = 0.0
    ) -> tuple[Self, Minorant]:
        """Return what `of` does, of evidence too, and the minorant that was made for it."""
        (primal, dual), made = evaluated_with(problem, w, witness, tol)
        return cls.from_bounds(primal, dual, problem.penalty.l2, problem.space.meaning), made

    @classmethod
    def from_bounds(cls, primal: Bound, dual: Bound, l2: float, objective: str = "") -> Self:
        """Return the certificate of F at a point and of a lower bound of the optimum; a radius
        needs `l2`. The primal of weights that break a constraint is infinite. Numbers that exclude
        each other before they are rounded outward raise `CertificateError`."""
        difference, slip = primal.value - dual.value, primal.error + dual.error
        if not difference >= -slip:
            raise CertificateError(
                f"the gap {difference:g} is below minus its rounding {slip:g}: "
                "a bound is false, please report this with the data"
            )
        if dual.low <= 0:
            dual = Bound(0.0, 0.0)  # F >= 0 needs no witness
        upper = float(primal.high)
        lower = min(float(dual.low), upper)
        off = 2 * (primal.error + dual.error) + primal.excess
        rounding = float(above(above(off)) if off else 0.0)
        if not np.isfinite(upper):
            radius = None if l2 == 0 else np.inf
            return cls(upper, lower, np.inf, None, radius, rounding, objective=objective)
        exact = Fraction(upper) - Fraction(lower)
        relative = float_above(exact / Fraction(upper)) if upper > 0 else None
        radius = None if l2 == 0 else float_above(root_above(2 * exact / Fraction(float(l2))))
        gap = float_above(exact)
        return cls(upper, lower, gap, relative, radius, rounding, objective=objective)

    def __format__(self, digits: str) -> str:
        """Return the numbers in words, rounded to the side where they hold: to six digits, and to
        twelve as `f"{certificate:12}"`."""
        n, share, far = int(digits) if digits else 6, self.relative_gap, self.radius
        relative = "" if share is None else f" ({at_most(share, 2)} of F)"
        radius = "" if far is None else f", |f - f*| <= {at_most(far, 2)}"
        return (
            f"F <= {at_most(self.primal, n)}, optimum >= {at_least(self.dual, n)}, "
            f"gap <= {at_most(self.gap, 2)}{relative}{radius}"
        )

    def __str__(self) -> str:
        return format(self)

    @property
    def statement(self) -> str:
        """What is proved, in one sentence; numbers are rounded to the side on which they hold."""
        share = ""
        if self.relative_gap is not None:
            share = f" ({at_most(min(above(100 * self.relative_gap), 100.0), 2)} % of it)"
        text = (
            f"the objective is {at_most(self.primal, 6)} at most, no model "
            f"of this problem has less than {at_least(self.dual, 6)}, and so this one is at most "
            f"{at_most(self.gap, 2)}{share} above the optimum"
        )
        if self.objective:
            text = f"of {self.objective}, {text}"
        if self.as_saved:
            return f"The model file says, of data that were not looked at again, that {text}."
        return f"Proved on the training rows: {text}."

    def reaches(self, tol: float) -> bool:
        """Return whether (F - p*) / F is proved to be at most `tol`."""
        return self.gap == 0 or (self.relative_gap is not None and self.relative_gap <= tol)


WIDTHS = (0.0, *np.geomspace(1e-3, 10.0, 13).tolist())  # of the hinge's kink, to compare


def full_certificate(problem: Problem, w: np.ndarray, space: Space | None = None) -> Certificate:
    """Certify any `w` by its own scores' slopes, smoothed over the width that proves the most."""
    scores = problem.space.scores(problem.check_weights(w))
    widths = WIDTHS if problem.loss == HINGE else WIDTHS[:1]
    witnesses = [Minorant.from_scores(problem, scores, width) for width in widths]
    quick = problem.space if space is None else space

    def bound(witness: Minorant) -> float:
        return witness.value - quick.norm2(quick.pull(witness.c)) / (2 * problem.lam)

    return Certificate.of(problem, w, max(witnesses, key=bound))


TRIVIAL = (
    "The weights zero are optimal here: the worst positive and the worst negative rows overlap so "
    "much that this surrogate tells nothing of the partial AUC. Raise fpr_max, lower tpr_min, or "
    "give other features."
)


def zero_is_optimal(loss: Loss, certificate: Certificate, tol: float) -> bool:
    """Return whether any certificate of the problem proves f = 0 optimal to `tol`: F(0) = loss(0).
    For partial AUC that holds for every lam exactly if the classes' reduced convex hulls meet."""
    at_zero = float(np.asarray(loss.value(np.zeros(1)))[0])
    return at_zero - certificate.dual <= tol * at_zero


def warn_if_trivial(loss: Loss, certificate: Certificate, tol: float) -> None:
    if zero_is_optimal(loss, certificate, tol):
        warn_the_user(TRIVIAL)
