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

from ..errors import CertificateError
from ..problem.evidence import Evidence
from ..problem.minorant import Minorant
from ..problem.problem import Problem
from ..tools.rounding import above
from ..tools.wording import at_least, at_most
from .bounds.two_sides import careful_primal, dual_value, evaluated, evaluated_with, score_slip
from .witness import Witness

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
        (primal, primal_rounding, dual, dual_rounding), made = evaluated_with(
            problem, w, witness, tol
        )
        if dual - dual_rounding < 0:
            dual, dual_rounding = 0.0, 0.0  # F >= 0 needs no witness
        rounding = primal_rounding + dual_rounding
        meaning = problem.space.meaning
        return cls.from_bounds(primal, dual, rounding, problem.penalty.l2, meaning), made

    @classmethod
    def from_bounds(
        cls, primal: float, dual: float, rounding: float, l2: float, objective: str = ""
    ) -> Certificate:
        """Return the certificate of an upper and a lower bound with their rounding.

        `l2` is the penalty's weight of |f|^2 / 2; without any there is no radius. An infinite
        `primal` is that of weights which break a constraint.
        """
        difference = primal - dual
        if not difference >= -rounding:
            raise CertificateError(
                f"the gap {difference:g} is below minus its rounding {rounding:g}: "
                "a bound is false, please report this with the data"
            )
        # A difference below zero is rounding, and `rounding` says so already.
        gap, dual = max(difference, 0.0), min(dual, primal)
        relative = gap / primal if np.isfinite(primal) and primal > rounding else None
        # Each step up covers the rounding of one operation: difference, sum, quotient and root.
        whole = above(above(gap) + rounding) if difference > 0 else rounding
        radius = None if l2 == 0 else above(np.sqrt(above(2 * above(whole) / l2)))
        return cls(primal, dual, gap, relative, radius, rounding, objective=objective)

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
        if self.objective:
            text = f"of {self.objective}, {text}"
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
        return proved < np.inf and proved <= max(tol * self.primal, floor)
