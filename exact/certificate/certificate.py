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
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import CertificateError
from ..problem.evidence import Evidence
from ..problem.minorant import Minorant
from ..problem.problem import Problem
from ..tools.exact_numbers import float_above, root_above
from ..tools.rounding import Bound, above
from ..tools.wording import at_least, at_most
from .bounds.two_sides import careful_primal, dual_value, evaluated, evaluated_with, score_slip

__all__ = [
    "Certificate",
    "Minorant",
    "careful_primal",
    "dual_value",
    "evaluated",
    "score_slip",
]


@dataclass(frozen=True)
class Certificate:
    """What is proved about one point of one problem: every number is true by itself.

    Bounds are rounded outward: nothing is to be added to them or taken off for rounding.

    Attributes
    ----------
    primal : float
        An upper bound of F at the point, at most `rounding` above it.
    dual : float
        A lower bound of the optimum, >= 0.
    gap : float
        primal - dual, rounded up: the point is at most this far from the optimum.
    relative_gap : float or None
        1 - dual / primal, rounded up: (F - p*) / F is at most this. None where the primal is zero
        or infinite.
    radius : float or None
        sqrt(2 gap / l2), rounded up: the distance |f - f*| is at most this. None where the penalty
        has no part l2/2 |f|^2: the optimum need not be one point.
    rounding : float
        How much of the gap floating point and bins may be: F at the point is at least primal -
        rounding.
    as_saved : bool
        True where it was read from a file and not computed here: it is what the file says, of data
        that nobody has looked at again. `recertify` makes a new one from the model and its data.
    objective : str
        The objective and the models among which the optimum is meant, in words; empty where the
        estimator has one problem only, the one that its page states.
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
    def of(
        cls, problem: Problem, w: np.ndarray, witness: Minorant, tol: float = 0.0
    ) -> Certificate:
        """Return the certificate of the coordinates `w`, everything computed afresh.

        Parameters
        ----------
        problem : Problem
        w : array (dim,)
        witness : Minorant
            Any minorant; it is made anew from its evidence.
        tol : float
            >= 0, a relative gap that is enough: sums are not made in the long format where plain
            ones prove it, rounding included. By default rounding is made as small as it gets.

        Raises
        ------
        CertificateError
            If the gap is below minus its rounding, which exact arithmetic excludes.
        InputError
            If the witness does not belong to the problem.
        """
        return cls.with_minorant(problem, w, witness, tol)[0]

    @classmethod
    def with_minorant(
        cls, problem: Problem, w: np.ndarray, witness: Minorant | Evidence, tol: float = 0.0
    ) -> tuple[Certificate, Minorant]:
        """Return what `of` does, and the minorant that was made for it.

        For callers that have only evidence, this makes the minorant once and returns it too.
        """
        (primal, dual), made = evaluated_with(problem, w, witness, tol)
        l2, meaning = problem.penalty.l2, problem.space.meaning
        return cls.from_bounds(primal, dual, l2, meaning), made

    @classmethod
    def from_bounds(cls, primal: Bound, dual: Bound, l2: float, objective: str = "") -> Certificate:
        """Return the certificate of F at a point and of a lower bound of the optimum.

        `l2` is the penalty's weight of |f|^2 / 2; without any there is no radius. An infinite
        `primal` is that of weights which break a constraint.

        Raises
        ------
        CertificateError
            If the numbers themselves, before they are rounded outward, exclude each other.
        """
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
        apart = Fraction(upper) - Fraction(lower)
        relative = float_above(apart / Fraction(upper)) if upper > 0 else None
        radius = None if l2 == 0 else float_above(root_above(2 * apart / Fraction(float(l2))))
        gap = float_above(apart)
        return cls(upper, lower, gap, relative, radius, rounding, objective=objective)

    def __format__(self, digits: str) -> str:
        """Return the numbers in words, to so many digits (6), rounded to the side where they hold.

        `f"{certificate:12}"` has twelve.
        """
        n = int(digits) if digits else 6
        relative = ""
        if self.relative_gap is not None:
            relative = f" ({at_most(self.relative_gap, 2)} of F)"
        radius = "" if self.radius is None else f", |f - f*| <= {at_most(self.radius, 2)}"
        return (
            f"F <= {at_most(self.primal, n)}, optimum >= {at_least(self.dual, n)}, "
            f"gap <= {at_most(self.gap, 2)}{relative}{radius}"
        )

    def __str__(self) -> str:
        """Return the numbers to six digits, rounded to the side where they hold."""
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
        """Return whether the relative gap is at most `tol`: (F - p*) / F is proved to be."""
        return self.gap == 0 or (self.relative_gap is not None and self.relative_gap <= tol)
