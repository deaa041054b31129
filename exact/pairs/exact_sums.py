"""Sums over all pairs, or over listed ones, in whole numbers: nothing is rounded.

Scores are whole numbers on a grid that holds every one of them, so a comparison of two is right and
a sum over pairs is an integer. The forms are those of `sums.swept`: one sort and running sums.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np

from ..tools.exact_numbers import power_of_two, whole_numbers_of
from .all_pairs import AllPairs, PairList


@dataclass(frozen=True, eq=False)
class ExactPoint:
    """A dual point, given by what the alpha of its pairs contribute to the bound."""

    c: np.ndarray
    unit: Fraction
    total: Fraction
    square: Fraction = Fraction(0)
    missing: Fraction = Fraction(0)


@dataclass(frozen=True, eq=False)
class Grid:
    """Scores as whole numbers of 2^exponent, one being a whole number too."""

    scores: np.ndarray
    exponent: int

    @classmethod
    def of(cls, scores: np.ndarray, exponent: int) -> Grid:
        """Return the grid of whole numbers times 2^exponent."""
        return cls(scores << max(exponent, 0), min(exponent, 0))

    @property
    def one(self) -> int:
        """The number one."""
        return 1 << -self.exponent

    def fine(self, width: Fraction) -> tuple[Grid, int]:
        """Return a grid that holds half the width, a power of two as its unit, and that half."""
        steps = width.denominator.bit_length()
        more = max(0, steps + self.exponent)
        grid = Grid(self.scores << more, self.exponent - more)
        return grid, int(width / 2 * grid.one)


class _Ladder:
    """Values in ascending order with running sums of their weights, and of weight times value."""

    def __init__(self, values: list[int], weights: list[int], clipped: bool = True):
        order = sorted(range(len(values)), key=values.__getitem__)
        self.clipped = clipped
        self.values = [values[k] for k in order]
        ranked = [weights[k] for k in order]
        self.mass = [0, *accumulate(ranked)]
        first = [a * x for a, x in zip(ranked, self.values, strict=True)]
        self.first = [0, *accumulate(first)]
        second = (a * x for a, x in zip(first, self.values, strict=True))
        self.second = [0, *accumulate(second)]

    def ramp(self, at: int, cap: int) -> int:
        """Return the sum of weight * clip(value - at, 0, cap)."""
        i, k = bisect_right(self.values, at), bisect_right(self.values, at + cap)
        mass, first = self.mass, self.first
        inside = first[k] - first[i] - at * (mass[k] - mass[i])
        return inside + cap * (mass[-1] - mass[k])

    def _from(self, at: int) -> int:
        return bisect_right(self.values, at) if self.clipped else 0

    def above(self, at: int) -> int:
        """Return the sum of weight * (value - at), positive parts only where `clipped`."""
        i = self._from(at)
        return self.first[-1] - self.first[i] - at * (self.mass[-1] - self.mass[i])

    def above2(self, at: int) -> int:
        """Return the sum of weight * (value - at)^2, positive parts only where `clipped`."""
        i = self._from(at)
        mass, first = self.mass[-1] - self.mass[i], self.first[-1] - self.first[i]
        return self.second[-1] - self.second[i] - 2 * at * first + at * at * mass


@dataclass(frozen=True)
class Form:
    """A loss of the shortfall z = 1 - t: max(0, z)^power, or z^power where it is not clipped."""

    power: int
    clipped: bool


@dataclass(frozen=True, eq=False)
class ExactAllPairs:
    """Sums over all pairs, row weights taken exactly as the floats that they are."""

    positive: np.ndarray
    a: list[int]
    b: list[int]
    form: Form

    @property
    def mass(self) -> int:
        """What all pairs weigh."""
        return sum(self.a) * sum(self.b)

    def _sides(self, grid: Grid) -> tuple[list[int], list[int]]:
        scores = grid.scores
        return (scores[self.positive] - grid.one).tolist(), scores[~self.positive].tolist()

    def value(self, grid: Grid) -> Fraction:
        """Return the mean loss."""
        t, b = self._sides(grid)
        ladder = _Ladder(b, self.b, self.form.clipped)
        sums = ladder.above if self.form.power == 1 else ladder.above2
        total = sum(a * sums(at) for a, at in zip(self.a, t, strict=True))
        return Fraction(total, self.mass) * power_of_two(self.form.power * grid.exponent)

    def point(self, grid: Grid, width: Fraction) -> ExactPoint:
        """Return alpha = -loss'(margin), the hinge's slope smoothed over `width`."""
        if self.form.power == 1:
            grid, half = grid.fine(width)
            t, b = self._sides(grid)
            cap = 2 * half or 1  # at width 0 clip(z, 0, 1) is 1[z > 0], z being whole
            # Mirrored for the negative rows: z = b - t = (-t) - (-b).
            up, down = _Ladder(b, self.b), _Ladder([-x for x in t], self.a)
            u = [a * up.ramp(at - half, cap) for a, at in zip(self.a, t, strict=True)]
            v = [a * down.ramp(-at - half, cap) for a, at in zip(self.b, b, strict=True)]
            unit, square = Fraction(1, cap * self.mass), Fraction(0)
        else:
            t, b = self._sides(grid)
            clipped = self.form.clipped
            up, down = _Ladder(b, self.b, clipped), _Ladder([-x for x in t], self.a, clipped)
            u = [a * up.above(at) for a, at in zip(self.a, t, strict=True)]
            v = [a * down.above(-at) for a, at in zip(self.b, b, strict=True)]
            unit, square = 2 * power_of_two(grid.exponent) / self.mass, self.value(grid)
        return ExactPoint(self.signed(u, v), unit, sum(u) * unit, square)

    def signed(self, u: list[int], v: list[int]) -> np.ndarray:
        """Return u on positive rows and -v on negative ones."""
        c = np.empty(self.positive.size, dtype=object)
        c[self.positive], c[~self.positive] = u, [-x for x in v]
        return c

    def from_marginals(self, u: np.ndarray, v: np.ndarray) -> ExactPoint:
        """Return the point of the largest flow within given marginals, for the hinge.

        [docs/certificates.md, "Any marginals give a bound"], in whole numbers.
        """
        both, exponent = whole_numbers_of(np.concatenate([u, v]))
        numbers = both.tolist()
        u_whole, v_whole = numbers[: u.size], numbers[u.size :]
        # A pair's cap is a_i b_j / mass, in whole numbers of 2^exponent / mass after scaling.
        up = 1 << max(exponent, 0)
        rows, columns = ([x * self.mass * up for x in side] for side in (u_whole, v_whole))
        cap = 1 << max(-exponent, 0)
        flow = _largest_flow(rows, columns, self.a, self.b, cap)
        unit = Fraction(1, cap * self.mass)
        missing = sum(rows) + sum(columns) - 2 * flow
        return ExactPoint(self.signed(rows, columns), unit, flow * unit, missing=missing * unit)


def _largest_flow(u: list[int], v: list[int], a: list[int], b: list[int], cap: int) -> int:
    """Return the largest mass within the caps cap a_i b_j and the row sums u, v. [Gale-Ryser]"""

    def ratio(x: int, weight: int) -> tuple[bool, Fraction]:
        return (weight == 0, Fraction(0) if weight == 0 else Fraction(x, weight))

    # A row of weight zero has no pairs, so nothing flows through it.
    rows = sorted(((ratio(x, r), x, r) for x, r in zip(u, a, strict=True) if r), reverse=True)
    columns = sorted((ratio(x, r), x, r) for x, r in zip(v, b, strict=True) if r)
    ratios = [key for key, _, _ in columns]
    filled = [0, *accumulate(x for _, x, _ in columns)]
    weight = [0, *accumulate(r for _, _, r in columns)]
    left, chosen = sum(x for _, x, _ in rows), 0
    best = left
    for _, x, r in rows:
        left, chosen = left - x, chosen + r
        k = bisect_right(ratios, (False, Fraction(cap * chosen)))
        best = min(best, left + filled[k] + cap * chosen * (weight[-1] - weight[k]))
    return best


@dataclass(frozen=True, eq=False)
class ExactPairList:
    """Sums over listed pairs, their weights taken as stored and made to add up to one exactly."""

    i: np.ndarray
    j: np.ndarray
    weight: np.ndarray
    form: Form

    @property
    def mass(self) -> int:
        """What all pairs weigh."""
        return int(self.weight.sum())

    def _shortfalls(self, grid: Grid) -> np.ndarray:
        z = grid.one - grid.scores[self.i] + grid.scores[self.j]
        return np.maximum(z, 0) if self.form.clipped else z

    def value(self, grid: Grid) -> Fraction:
        """Return the mean loss."""
        total = int(self.weight.dot(self._shortfalls(grid) ** self.form.power))
        return Fraction(total, self.mass) * power_of_two(self.form.power * grid.exponent)

    def point(self, grid: Grid, width: Fraction) -> ExactPoint:
        """Return alpha = -loss'(margin), the hinge's slope smoothed over `width`."""
        if self.form.power == 2:
            unit = 2 * power_of_two(grid.exponent)
            return self._point(self._shortfalls(grid), unit, grid.scores.size)
        grid, half = grid.fine(width)
        z, cap = grid.one - grid.scores[self.i] + grid.scores[self.j] + half, 2 * half or 1
        return self._point(np.minimum(np.maximum(z, 0), cap), Fraction(1, cap), grid.scores.size)

    def from_alpha(self, alpha: np.ndarray, n: int) -> ExactPoint:
        """Return the point of an alpha (m,) in its box."""
        numbers, exponent = whole_numbers_of(alpha)
        return self._point(numbers, power_of_two(exponent), n)

    def _point(self, alpha: np.ndarray, unit: Fraction, n: int) -> ExactPoint:
        c, carried = np.zeros(n, dtype=object), self.weight * alpha
        np.add.at(c, self.i, carried)
        np.subtract.at(c, self.j, carried)
        total = Fraction(int(carried.sum()), self.mass) * unit
        square = Fraction(0)
        if self.form.power == 2:
            square = Fraction(int(carried.dot(alpha)), self.mass) * unit**2 / 4
        return ExactPoint(c, unit / self.mass, total, square)


def exact_pairs(pairs: AllPairs | PairList, form: Form) -> ExactAllPairs | ExactPairList:
    """Return the exact form of a pair set."""
    if isinstance(pairs, PairList):
        return ExactPairList(pairs.i, pairs.j, whole_numbers_of(pairs.c)[0], form)
    a, b = (whole_numbers_of(side)[0].tolist() for side in pairs.sides())
    return ExactAllPairs(pairs.positive, a, b, form)
