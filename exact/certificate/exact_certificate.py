"""The exact mode: F(w) and a lower bound of the optimum as fractions, without any rounding.

X, y, w, lam and the row weights are taken as the float64 that they are. The primal is F(w), the
dual that of the solution's evidence, whose alpha is feasible in whole numbers, at its best scale:

    F(w) >= p* >= max over 0 <= s <= 1 of s total - s^2 (square + |g|^2 / (2 lam)).

The proof is in `docs/certificates.md`; the sums are those of `pairs.exact_sums`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..errors import CertificateError, InputError, TooLargeError
from ..losses.loss import Loss
from ..losses.registry import HINGE, SQUARE, SQUARED_HINGE
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.exact_sums import ExactAllPairs, ExactPairList, ExactPoint, Form, Grid, exact_pairs
from ..problem.minorant import Alpha, Minorant, Scores, Weights
from ..problem.problem import Problem
from ..tools.exact_numbers import (
    ExactColumns,
    decimal_above,
    decimal_below,
    float_above,
    float_below,
    root_above,
    sum_of_squares,
    whole_numbers_of,
)
from .solution import Solution

MOST_NUMBERS = 20_000_000  # entries of X, or listed pairs: about 10 s

# The losses that exact scores turn into whole numbers, each with its form.
FORMS: tuple[tuple[Loss, Form], ...] = (
    (HINGE, Form(1, clipped=True)),
    (SQUARED_HINGE, Form(2, clipped=True)),
    (SQUARE, Form(2, clipped=False)),
)


@dataclass(frozen=True)
class ExactCertificate:
    """What holds for one point of one problem in exact arithmetic.

    Attributes
    ----------
    primal : Fraction
        F at the point.
    dual : Fraction
        A lower bound of the optimum, >= 0.
    lam : Fraction
    """

    primal: Fraction
    dual: Fraction
    lam: Fraction

    @property
    def gap(self) -> Fraction:
        """primal - dual: the point is at most this far from the optimum."""
        return self.primal - self.dual

    @property
    def primal_float(self) -> float:
        """The least float that is not below the primal."""
        return float_above(self.primal)

    @property
    def dual_float(self) -> float:
        """The largest float that is not above the dual."""
        return float_below(self.dual)

    @property
    def gap_float(self) -> float:
        """The least float that is not below the gap."""
        return float_above(self.gap)

    @property
    def relative_gap(self) -> float | None:
        """gap / primal rounded up; None where the primal is zero."""
        return float_above(self.gap / self.primal) if self.primal else None

    @property
    def radius(self) -> float:
        """sqrt(2 gap / lam) rounded up: |w - w*| is at most this."""
        return float_above(root_above(2 * self.gap / self.lam))

    def in_digits(self) -> dict[str, str]:
        """Return primal, dual and gap as decimal numbers, rounded outward."""
        return {
            "primal": decimal_above(self.primal),
            "dual": decimal_below(self.dual),
            "gap": decimal_above(self.gap),
        }

    @classmethod
    def of(cls, problem: Problem, w: np.ndarray, witness: Minorant) -> ExactCertificate:
        """Return the exact certificate of the weights `w` (dim,) and of any dual point.

        Raises
        ------
        InputError
            As `exact_certificate`.
        """
        rows = _rows(problem)
        w = problem.check_weights(w)
        sums = exact_pairs(problem.pairs, _form_of(problem.loss))
        lam, weights = Fraction(problem.lam), whole_numbers_of(w)
        norm2 = sum_of_squares([(m, weights[1]) for m in weights[0].tolist()])
        primal = sums.value(Grid.of(*rows.scores(w))) + lam / 2 * norm2
        dual = _dual(rows, _point(problem, rows, sums, witness), lam)
        if dual > primal:
            raise CertificateError("the exact dual exceeds the exact primal: please report this")
        return cls(primal, dual, lam)


def _form_of(loss: Loss) -> Form:
    """Return how the loss is made of exact scores, or raise `InputError` for another loss."""
    for known, form in FORMS:
        if loss == known:
            return form
    names = ", ".join(known.name for known, _ in FORMS)
    raise InputError(f"the exact mode knows {names}, not this loss")


def exact_certificate(problem: Problem, solution: Solution) -> ExactCertificate:
    """Return F at the solution and the lower bound of its evidence as fractions, nothing rounded.

    [ScalingUp, eq. (3)]

    Parameters
    ----------
    problem : Problem
        Over linear rows: `linear_problem(X, y, lam, loss, pairs)`; at most 20,000,000 numbers.
        The hinge, its square or the square loss; all pairs (row weights as the floats that they
        are), or a list (its weights as stored, made to add up to one).
    solution : Solution
        Of this problem; its own certificate is not used.

    Raises
    ------
    InputError
        For a kernel, a structure or rows read in blocks, whose numbers are not all known exactly
        or at once; if the solution does not belong to the problem.
    TooLargeError
        If there are too many numbers.
    """
    return ExactCertificate.of(problem, solution.w, solution.witness)


def check_exact(problem: Problem) -> None:
    """Raise an error unless the exact mode supports the problem and it is small enough."""
    space, known = problem.space, "the exact mode is for linear rows that are held in memory"
    if space.gram is not None:
        raise InputError(f"{known}: the values of a kernel are rounded already")
    if space.in_blocks:
        raise InputError(f"{known}, not for rows read in blocks: make the problem of an array")
    if space.given is None:
        raise InputError(f"{known}: leave the structure out")
    _form_of(problem.loss)
    if not isinstance(problem.pairs, AllPairs | PairList):
        raise InputError("the exact mode is for all pairs of two classes, or a list of pairs")
    raw = space.given.raw
    size = int(raw.size if isinstance(raw, np.ndarray) else raw.nnz)
    if isinstance(problem.pairs, PairList):
        size = max(size, int(problem.pairs.i.size))
    if size > MOST_NUMBERS:
        raise TooLargeError(
            f"{size} numbers are too many for the exact mode, which takes {MOST_NUMBERS}: "
            "certify without it, or fewer rows"
        )


def _rows(problem: Problem) -> ExactColumns:
    """Return the rows of the problem, or raise `InputError` where they are not known exactly."""
    check_exact(problem)
    assert problem.space.given is not None
    return ExactColumns(problem.space.given.raw)


def _point(
    problem: Problem, rows: ExactColumns, sums: ExactAllPairs | ExactPairList, witness: Minorant
) -> ExactPoint:
    """Return the dual point of the evidence, made in whole numbers."""
    evidence = witness.evidence
    if isinstance(evidence, Alpha):
        evidence = problem.risk.minorant(evidence).evidence  # with alpha clipped into its box
        assert isinstance(evidence, Alpha) and isinstance(sums, ExactPairList)
        return sums.from_alpha(evidence.alpha, problem.n)
    if isinstance(evidence, Weights):
        grid = Grid.of(*rows.scores(problem.check_weights(evidence.w)))
        return sums.point(grid, Fraction(2 * evidence.half, evidence.bins))
    if isinstance(evidence, Scores):
        scores = np.asarray(evidence.scores, dtype=float)
        if scores.shape != (problem.n,) or not np.isfinite(scores).all():
            raise InputError(f"the evidence must be {problem.n} finite scores")
        return sums.point(Grid.of(*whole_numbers_of(scores)), Fraction(evidence.width))
    witness.renewed(problem)  # it refuses marginals that are none of this problem
    assert isinstance(sums, ExactAllPairs)
    return sums.from_marginals(
        witness.c[problem.pairs.positive], -witness.c[~problem.pairs.positive]
    )


def _dual(rows: ExactColumns, point: ExactPoint, lam: Fraction) -> Fraction:
    """Return the lower bound of the optimum that a dual point proves at its best scale."""
    if point.missing:
        norm2 = _norm2_at_most(rows, point)
    else:
        norm2 = sum_of_squares(rows.pull(point.c)) * point.unit**2
    curvature = 2 * point.square + norm2 / lam
    if point.total <= 0:
        return Fraction(0)  # F >= 0 needs no evidence
    scale = min(Fraction(1), point.total / curvature) if curvature else Fraction(1)
    return max(scale * point.total - scale**2 * curvature / 2, Fraction(0))


def _norm2_at_most(rows: ExactColumns, point: ExactPoint) -> Fraction:
    """Return a bound of |g|^2 for the feasible marginals next to `point.c`.

    They are `missing` away (sum of absolute differences), so coordinate k of g is off by at most
    that times the largest |x_ik - o_k|, for any o; o is the middle of the column.
    """
    total = int(point.c.sum()) * point.unit
    norm2 = Fraction(0)
    for (m, e), (low, high) in zip(rows.pull(point.c), rows.ranges(), strict=True):
        pulled = m * Fraction(2) ** e * point.unit - (low + high) / 2 * total
        norm2 += (abs(pulled) + point.missing * (high - low) / 2) ** 2
    return norm2
