"""Bounds of an optimum in exact arithmetic: slow, short, and without any rounding.

Doubles are fractions, so F and its dual can be computed as they stand, with Python's fractions
and nothing of the solvers' code. The proof of both bounds is in `docs/certificates.md`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import isqrt

import numpy as np

from aucert.validation.extremes import highest, lowest

ZERO = Fraction(0)
Vector = list[Fraction]


@dataclass(frozen=True, eq=False)
class ExactProblem:
    """The linear problem over all pairs, in fractions; rows without weight are left out.

    The rows `plus` and `minus` are those at `at_plus` and `at_minus`, less a common one, which
    cancels in every pair; a and b are their weights, each adding up to one.
    """

    plus: list[Vector]
    minus: list[Vector]
    a: Vector
    b: Vector
    at_plus: np.ndarray
    at_minus: np.ndarray
    lam: Fraction
    loss: str

    @classmethod
    def of(
        cls, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None, lam: float, loss: str
    ) -> ExactProblem:
        """Return the problem of X (n, d), y (n,) of 0 and 1, weights (n,) or None."""
        mass = np.ones(y.size) if weight is None else weight
        middle = fractions(X.mean(axis=0))

        def side(label: int) -> tuple[list[Vector], Vector, np.ndarray]:
            at = np.flatnonzero((y == label) & (mass > 0))
            rows = [[x - m for x, m in zip(fractions(row), middle, strict=True)] for row in X[at]]
            masses = fractions(mass[at])
            return rows, [m / sum(masses, ZERO) for m in masses], at

        plus, a, at_plus = side(1)
        minus, b, at_minus = side(0)
        return cls(plus, minus, a, b, at_plus, at_minus, Fraction(lam), loss)

    def primal(self, w: Iterable[float | Fraction]) -> Fraction:
        """Return F(w): an upper bound of the optimum."""
        point = fractions(w)
        return self._sums(point)[0] + self.lam / 2 * dot(point, point)

    def dual_of_scores(self, w: Iterable[float]) -> Fraction:
        """Return the dual value of alpha = -loss'(margin of w): a lower bound of the optimum.

        For the squared losses: sum c (alpha - alpha^2 / 4) is sum u less the mean loss at w.
        """
        loss, u, v = self._sums(fractions(w))
        g = self.pull(u, v)
        return sum(u, ZERO) - loss - dot(g, g) / (2 * self.lam)

    def dual_of_marginals(self, c: np.ndarray) -> Fraction:
        """Return the lower bound that signed marginals c (n,) prove for the hinge.

        What is infeasible in them is paid for: M - (|g| + R eta)^2 / (2 lam).
        """
        u = fractions(np.maximum(c[self.at_plus], 0.0))
        v = fractions(np.maximum(-c[self.at_minus], 0.0))
        flow = largest_flow(u, v, self.a, self.b)
        g = self.pull(u, v)
        reach = root_above(highest(dot(row, row) for row in [*self.plus, *self.minus]))
        slip = reach * (sum(u, ZERO) + sum(v, ZERO) - 2 * flow)
        paid = dot(g, g) + 2 * root_above(dot(g, g)) * slip + slip**2
        return flow - paid / (2 * self.lam)

    def _sums(self, w: Vector) -> tuple[Fraction, Vector, Vector]:
        """Return the mean loss at w, and the marginals of alpha = 2 z over the active pairs.

        A pair is active if z = s - t > 0, with t the positive row's score less one.
        """
        t = [dot(row, w) - 1 for row in self.plus]
        s = [dot(row, w) for row in self.minus]
        mass, first, second, ranked = _running(s, self.b)
        loss, u, v = ZERO, [], []
        for ti, ai in zip(t, self.a, strict=True):
            k = 0 if self.loss == "square" else bisect_right(ranked, ti)
            m, f, q = mass[-1] - mass[k], first[-1] - first[k], second[-1] - second[k]
            loss += ai * (f - ti * m if self.loss == "hinge" else q - 2 * ti * f + ti**2 * m)
            u.append(2 * ai * (f - ti * m))
        mass, first, _, ranked = _running(t, self.a)
        for sj, bj in zip(s, self.b, strict=True):
            k = -1 if self.loss == "square" else bisect_left(ranked, sj)
            v.append(2 * bj * (sj * mass[k] - first[k]))
        return loss, u, v

    def pull(self, u: Vector, v: Vector) -> Vector:
        """Return sum_i u_i x_i - sum_j v_j x_j."""
        plus, minus = zip(*self.plus, strict=True), zip(*self.minus, strict=True)
        return [dot(p, u) - dot(q, v) for p, q in zip(plus, minus, strict=True)]


def largest_flow(u: Vector, v: Vector, a: Vector, b: Vector) -> Fraction:
    """Return the largest mass of 0 <= x_ij <= a_i b_j with row sums <= u, column sums <= v."""
    rows = sorted(zip(u, a, strict=True), key=lambda row: -row[0] / row[1])
    columns = sorted(zip(v, b, strict=True), key=lambda column: column[0] / column[1])
    ratios = [x / cap for x, cap in columns]
    filled = list(accumulate((x for x, _ in columns), initial=ZERO))
    caps = list(accumulate((cap for _, cap in columns), initial=ZERO))
    total = least = sum(u, ZERO)
    taken = cap = ZERO
    for x, ai in rows:
        taken, cap = taken + x, cap + ai
        k = bisect_right(ratios, cap)
        least = lowest(least, total - taken + filled[k] + (caps[-1] - caps[k]) * cap)
    return least


def fractions(values: Iterable[float | Fraction]) -> Vector:
    return [v if isinstance(v, Fraction) else Fraction(float(v)) for v in values]


def dot(p: Sequence[Fraction], q: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(p, q, strict=True) if x and y), ZERO)


def root_above(value: Fraction) -> Fraction:
    """Return a number that is not below the square root of `value`, and hardly above it."""
    if not value:
        return ZERO
    shift = highest(0, 256 - value.numerator.bit_length() + value.denominator.bit_length())
    shift += shift % 2
    return Fraction(isqrt((value.numerator << shift) // value.denominator) + 1, 1 << shift // 2)


def _running(scores: Vector, weights: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Return running sums of weight, weight x score, weight x score^2, and the sorted scores."""
    ranked = sorted(zip(scores, weights, strict=True))

    def sums(power: int) -> Vector:
        return list(accumulate((w * s**power for s, w in ranked), initial=ZERO))

    return sums(0), sums(1), sums(2), [score for score, _ in ranked]
