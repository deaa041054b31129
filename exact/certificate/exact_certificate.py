"""The exact mode: F(w) and a lower bound of the optimum as fractions, without any rounding.

X, y, w, lam and the row weights are taken as the float64 that they are. The dual point is that of
the solution's evidence in whole numbers, at its best scale; scores are whole numbers on a grid that
holds every one of them, so that a sum over pairs is an integer. See `docs/certificates.md`.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from ..errors import CertificateError, InputError, TooLargeError
from ..losses.registry import HINGE, SQUARE, SQUARED_HINGE, Loss
from ..pairs.all_pairs import AllPairs, PairList
from ..problem.problem import Problem
from ..problem.risk import Alpha, Minorant, Scores, Weights
from ..tools import rounding
from ..tools.rounding import ExactColumns, float_above, power_of_two, whole_numbers_of
from .solution import Solution

MOST_NUMBERS = 20_000_000  # entries of X, or listed pairs: about 10 s

# The losses that exact scores turn into whole numbers: max(0, z)^power of the shortfall z = 1 - t,
# or z^power where they are not clipped.
FORMS = (HINGE, 1, True), (SQUARED_HINGE, 2, True), (SQUARE, 2, False)


@dataclass(frozen=True)
class ExactCertificate:
    """What holds for one point of one problem in exact arithmetic: `primal`, F at the point, `dual`
    >= 0, a lower bound of the optimum, and `lam`, all fractions. Floats are rounded outward."""

    primal: Fraction
    dual: Fraction
    lam: Fraction

    @property
    def gap(self) -> Fraction:
        return self.primal - self.dual

    @property
    def primal_float(self) -> float:
        return float_above(self.primal)

    @property
    def dual_float(self) -> float:
        return rounding.float_below(self.dual)

    @property
    def gap_float(self) -> float:
        return float_above(self.gap)

    @property
    def relative_gap(self) -> float | None:
        """gap / primal; None where the primal is zero."""
        return float_above(self.gap / self.primal) if self.primal else None

    @property
    def radius(self) -> float:
        """sqrt(2 gap / lam): |w - w*| is at most this."""
        return float_above(rounding.root_above(2 * self.gap / self.lam))

    def in_digits(self) -> dict[str, str]:
        ways = {"primal": ROUND_CEILING, "dual": ROUND_FLOOR, "gap": ROUND_CEILING}
        return {name: rounding.decimal(getattr(self, name), way) for name, way in ways.items()}

    @classmethod
    def of(cls, problem: Problem, w: np.ndarray, witness: Minorant) -> ExactCertificate:
        """Certify `w` (dim,) by any dual point; see `exact_certificate`."""
        check_exact(problem)
        assert problem.space.given is not None
        rows = ExactColumns(problem.space.given.raw)
        w = problem.check_weights(w)
        pairs, form = problem.pairs, _form_of(problem.loss)
        sums = _Listed(pairs, *form) if isinstance(pairs, PairList) else _AllPairs(pairs, *form)
        lam, (weights, exponent) = Fraction(problem.lam), whole_numbers_of(w)
        norm2 = rounding.sum_of_squares([(m, exponent) for m in weights.tolist()])
        primal = _mean(sums, *_grid(*rows.scores(w))) + lam / 2 * norm2
        dual = _dual(rows, _point(problem, rows, sums, witness), lam)
        if dual > primal:
            raise CertificateError("the exact dual exceeds the exact primal: please report this")
        return cls(primal, dual, lam)


def _form_of(loss: Loss) -> tuple[int, bool]:
    for known, power, clipped in FORMS:
        if loss == known:
            return power, clipped
    names = ", ".join(known.name for known, _, _ in FORMS)
    raise InputError(f"the exact mode has the losses {names}, not this one")


def exact_certificate(problem: Problem, solution: Solution) -> ExactCertificate:
    """Return F at the solution and the lower bound of its evidence as fractions, nothing rounded.

    [ScalingUp, eq. (3)]. Other problems than these, say of a kernel, a structure or rows read in
    blocks, raise `InputError`, and too many numbers `TooLargeError`.

    Parameters
    ----------
    problem : Problem
        Over linear rows: `linear_problem(X, y, lam, loss, pairs)`; at most 20,000,000 numbers.
        The hinge, its square or the square loss; all pairs (row weights as the floats that they
        are), or a list (its weights as stored, made to add up to one).
    solution : Solution of this problem; its own certificate is not used
    """
    return ExactCertificate.of(problem, solution.w, solution.witness)


def check_exact(problem: Problem) -> None:
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
        raise TooLargeError(f"{size} numbers are too many for exact mode: at most {MOST_NUMBERS}")


def _point(problem: Problem, rows: ExactColumns, sums: _Sums, witness: Minorant) -> _ExactPoint:
    evidence = witness.evidence
    if isinstance(evidence, Alpha):
        evidence = problem.risk.minorant(evidence).evidence  # with alpha clipped into its box
        assert isinstance(evidence, Alpha) and isinstance(sums, _Listed)
        alpha, exponent = whole_numbers_of(evidence.alpha)
        return sums.of_alpha(alpha, power_of_two(exponent), problem.n)
    if isinstance(evidence, Weights):
        exact, width = rows.scores(problem.check_weights(evidence.w)), 2 * evidence.half
        return sums.point(*_halved(*exact, Fraction(width, evidence.bins)))
    if isinstance(evidence, Scores):
        scores = np.asarray(evidence.scores, dtype=float)
        if scores.shape != (problem.n,) or not np.isfinite(scores).all():
            raise InputError(f"the evidence must be {problem.n} finite scores")
        return sums.point(*_halved(*whole_numbers_of(scores), Fraction(evidence.width)))
    witness.renewed(problem)  # it refuses marginals that are none of this problem
    assert isinstance(sums, _AllPairs)
    positive = problem.pairs.positive
    return sums.of_marginals(witness.c[positive], -witness.c[~positive])


def _dual(rows: ExactColumns, point: _ExactPoint, lam: Fraction) -> Fraction:
    """Return the lower bound that a dual point proves at its best scale."""
    pull, norm2 = rows.pull(point.c), Fraction(0)
    if point.missing:
        # A bound for the feasible marginals next to `point.c`. They are `missing` away (sum of
        # absolute differences), so coordinate k of g is off by at most that times the largest
        # |x_ik - o_k|, for any o; o is the middle of the column.
        total = int(point.c.sum()) * point.unit
        for (m, e), (low, high) in zip(pull, rows.ranges(), strict=True):
            pulled = m * Fraction(2) ** e * point.unit - (low + high) / 2 * total
            norm2 += (abs(pulled) + point.missing * (high - low) / 2) ** 2
    else:
        norm2 = rounding.sum_of_squares(pull) * point.unit**2
    curvature = 2 * point.square + norm2 / lam
    if point.total <= 0:
        return Fraction(0)  # F >= 0 needs no evidence
    scale = min(Fraction(1), point.total / curvature) if curvature else Fraction(1)
    return max(scale * point.total - scale**2 * curvature / 2, Fraction(0))


@dataclass(frozen=True, eq=False)
class _ExactPoint:
    """A dual point by what its pairs contribute to the bound; c in multiples of unit, `missing`
    away from feasible marginals (sum of absolute differences)."""

    c: np.ndarray
    unit: Fraction
    total: Fraction
    square: Fraction = Fraction(0)
    missing: Fraction = Fraction(0)


def _grid(scores: np.ndarray, exponent: int) -> tuple[np.ndarray, int]:
    """Return scores (n,), whole numbers times 2^exponent, so that one is a whole number too."""
    return scores << max(exponent, 0), min(exponent, 0)


def _halved(scores: np.ndarray, exponent: int, width: Fraction) -> tuple[np.ndarray, int, int]:
    """Return a grid that holds half the width, a power of two as its unit, and that half."""
    scores, exponent = _grid(scores, exponent)
    more = max(0, width.denominator.bit_length() + exponent)
    exponent -= more
    return scores << more, exponent, int(width / 2 * (1 << -exponent))


def _mean(sums: _Sums, scores: np.ndarray, exponent: int) -> Fraction:
    lost = sums.lost(scores, 1 << -exponent)
    return Fraction(lost, sums.mass) * power_of_two(sums.power * exponent)


class _AllPairs:
    """Sums over all pairs, row weights taken exactly as the floats that they are."""

    def __init__(self, pairs: AllPairs, power: int, clipped: bool):
        self.power, self.clipped, self.positive = power, clipped, pairs.positive
        self.a, self.b = (whole_numbers_of(side)[0] for side in pairs.sides)
        self.mass = int(self.a.sum()) * int(self.b.sum())

    def lost(self, scores: np.ndarray, one: int) -> int:
        """Return the sum of the losses of scores of which `one` is the number one."""
        t = scores[self.positive] - one
        mass, first, second = self._above(scores[~self.positive], self.b, t)
        if self.power == 1:
            return int(self.a.dot(first - t * mass))
        return int(self.a.dot(second - 2 * t * first + t * t * mass))

    def _above(self, values: np.ndarray, weight: np.ndarray, at: np.ndarray) -> list[Any]:
        """Return sum weight value^p, p = 0, 1, 2, of values above `at`, or of all."""
        order = np.argsort(values, kind="stable")
        values, weight = values[order], weight[order]
        first = np.searchsorted(values, at, side="right") if self.clipped else 0
        running = [np.append(0, np.cumsum(weight * values**p)) for p in range(3)]
        return [sums[-1] - sums[first] for sums in running]

    def point(self, scores: np.ndarray, exponent: int, half: int) -> _ExactPoint:
        """Return alpha = -loss'(margin), the hinge's slope smoothed by `half` on either side."""
        t, b = scores[self.positive] - (1 << -exponent), scores[~self.positive]
        # Mirrored for the negative rows: z = b - t = (-t) - (-b).
        sides = (self.a, b, self.b, t), (self.b, -t, self.a, -b)
        if self.power == 2:
            u, v = (own * self._lacking(values, others, at) for own, values, others, at in sides)
            unit = 2 * power_of_two(exponent) / self.mass
            return self._signed(u, v, unit, int(u.sum()), _mean(self, scores, exponent))
        low, cap = -half, 2 * half or 1  # at width 0 clip(z, 0, 1) is 1[z > 0], z being whole
        u, v = (
            own * (self._lacking(x, others, at + low) - self._lacking(x, others, at + low + cap))
            for own, x, others, at in sides
        )
        return self._signed(u, v, Fraction(1, cap * self.mass), int(u.sum()))

    def _lacking(self, values: np.ndarray, weight: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Return the sum of weight * (value - at), of positive parts only where clipped."""
        mass, first, _ = self._above(values, weight, at)
        return first - at * mass

    def _signed(
        self, u: np.ndarray, v: np.ndarray, unit: Fraction, total: int, square: Fraction | int = 0
    ) -> _ExactPoint:
        """Return the point of u on positive rows and -v on negative ones, both whole numbers."""
        c = np.empty(self.positive.size, dtype=object)
        c[self.positive], c[~self.positive] = u, -v
        missing = int(u.sum()) + int(v.sum()) - 2 * total
        return _ExactPoint(c, unit, total * unit, Fraction(square), missing * unit)

    def of_marginals(self, u: np.ndarray, v: np.ndarray) -> _ExactPoint:
        """Return the point of the largest flow within a hinge's marginals."""
        both, exponent = whole_numbers_of(np.concatenate([u, v]))
        # A pair's cap is a_i b_j / mass, in whole numbers of 2^exponent / mass after scaling.
        both = both * (self.mass << max(exponent, 0))
        rows, columns, cap = both[: u.size], both[u.size :], 1 << max(-exponent, 0)
        flow = _largest_flow(rows.tolist(), columns.tolist(), self.a.tolist(), self.b.tolist(), cap)
        return self._signed(rows, columns, Fraction(1, cap * self.mass), flow)


def _largest_flow(u: list[int], v: list[int], a: list[int], b: list[int], cap: int) -> int:
    """Return the largest mass within the caps cap a_i b_j and the row sums u, v. [Gale-Ryser]"""
    # A row of weight zero has no pairs, so nothing flows through it.
    rows = sorted(((Fraction(x, r), x, r) for x, r in zip(u, a, strict=True) if r), reverse=True)
    columns = sorted((Fraction(x, r), x, r) for x, r in zip(v, b, strict=True) if r)
    ratios = [ratio for ratio, _, _ in columns]
    filled = [0, *accumulate(x for _, x, _ in columns)]
    weight = [0, *accumulate(r for _, _, r in columns)]
    left, chosen = sum(x for _, x, _ in rows), 0
    best = left
    for _, x, r in rows:
        left, chosen = left - x, chosen + r
        k = bisect_right(ratios, cap * chosen)
        best = min(best, left + filled[k] + cap * chosen * (weight[-1] - weight[k]))
    return best


class _Listed:
    """The same over listed pairs, their weights as stored and made to add up to one exactly."""

    def __init__(self, pairs: PairList, power: int, clipped: bool):
        self.power, self.clipped = power, clipped
        self.i, self.j, self.weight = pairs.i, pairs.j, whole_numbers_of(pairs.c)[0]
        self.mass = int(self.weight.sum())

    def _shortfalls(self, scores: np.ndarray, one: int) -> np.ndarray:
        z = one - scores[self.i] + scores[self.j]
        return np.maximum(z, 0) if self.clipped else z

    def lost(self, scores: np.ndarray, one: int) -> int:
        return int(self.weight.dot(self._shortfalls(scores, one) ** self.power))

    def point(self, scores: np.ndarray, exponent: int, half: int) -> _ExactPoint:
        one = 1 << -exponent
        if self.power == 2:
            alpha, unit = self._shortfalls(scores, one), 2 * power_of_two(exponent)
        else:
            z, cap = one - scores[self.i] + scores[self.j] + half, 2 * half or 1
            alpha, unit = np.minimum(np.maximum(z, 0), cap), Fraction(1, cap)
        return self.of_alpha(alpha, unit, scores.size)

    def of_alpha(self, alpha: np.ndarray, unit: Fraction, n: int) -> _ExactPoint:
        """Return the point of an alpha in its box, whole numbers (m,) of the unit."""
        c, carried = np.zeros(n, dtype=object), self.weight * alpha
        np.add.at(c, self.i, carried)
        np.subtract.at(c, self.j, carried)
        total, square = Fraction(int(carried.sum()), self.mass) * unit, Fraction(0)
        if self.power == 2:
            square = Fraction(int(carried.dot(alpha)), self.mass) * unit**2 / 4
        return _ExactPoint(c, unit / self.mass, total, square)


_Sums = _AllPairs | _Listed
