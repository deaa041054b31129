"""F on few features in whole numbers: only the final conversion to floats rounds.

With whole numbers x_ij for the columns, a_i for the row weights, their class sums A+ and A-, and s,
P the class sums of a x and of a x x',

    Sigma_int = A-^2 (A+ P+ - s+ s+') + A+^2 (A- P- - s- s-'),    delta_int = A- s+ - A+ s-

are the moments of `row_average.py` times (A+ A-)^2 and A+ A-, each feature in units of a power of
two. Elimination gives q_S as a quotient of two determinants.
"""

from __future__ import annotations

import time
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..tools.rounding import power_of_two, whole_numbers_of


class ExactOptimum(NamedTuple):
    """F*(S) as a fraction, whether a feature is redundant in S, and a minimiser (s,) or None."""

    value: Fraction
    redundant: bool
    w: np.ndarray | None


class ExactMoments:
    """Exact F of given rows, dense or sparse, with row weights and the penalty lam/2 |w|^2."""

    def __init__(self, X: Any, positive: np.ndarray, weight: np.ndarray | None, lam: float):
        self._X, self._csc = X, None if isinstance(X, np.ndarray) else X.tocsc()
        self._sides = np.flatnonzero(positive), np.flatnonzero(~positive)
        self._weights = [np.ones(side.size, dtype=object) for side in self._sides]
        if weight is not None:
            whole, _ = whole_numbers_of(np.asarray(weight, dtype=float))
            self._weights = [whole[side] for side in self._sides]
        self.lam = Fraction(lam) / 2
        self._totals = [int(a.sum()) for a in self._weights]
        self._columns: dict[int, tuple] = {}
        self._entries: dict[tuple[int, int], int] = {}

    def affordable(self, support: np.ndarray, end: float = np.inf) -> bool:
        """Return whether an answer will be ready before `end` (`time.perf_counter`)."""
        s, n = len(support), self._X.shape[0]
        pairs = ((int(i), int(j)) for a, i in enumerate(support) for j in support[a:])
        new = sum(pair not in self._entries for pair in pairs)
        # 1.5e-7, 1.5e-6: seconds of a product in a sum, and of one in elimination
        seconds = new * n * 1.5e-7 + (s + 1) ** 3 * 1.5e-6
        # 5e7: most products spent on one question; a question that needs more gets no answer
        return new * n + s**3 <= 5e7 and time.perf_counter() + seconds <= end

    def optimum(self, support: np.ndarray, upper: float = np.inf) -> ExactOptimum:
        """Return F*(S) = 1 / (1 + q_S), and a minimiser, rounded, where that is below `upper`."""
        S = [int(j) for j in support]
        rows, kept, last, escaping = self._eliminate(S, [self._delta(j) for j in S])
        value = Fraction(0) if escaping is not None else 1 / (1 + Fraction(-rows[-1][-1], last))
        redundant, w = escaping is None and len(kept) < len(S), None
        if value >= upper:
            return ExactOptimum(value, redundant, None)
        basis, whole = [S[a] for a in kept], self._totals[0] * self._totals[1]
        if escaping is None:  # Sigma^-1 delta times F*
            x = self._solve(basis, [self._delta(j) for j in basis])
            found = {j: y * value * whole for j, y in zip(basis, x, strict=True)}
        else:  # what escapes the range: Sigma v = 0 with v'delta other than zero
            out = S[escaping]
            x = self._solve(basis, [self._sigma(j, out) for j in basis])
            found = {j: -y for j, y in zip(basis, x, strict=True)} | {out: Fraction(1)}
            length = sum(y * self._delta(j) for j, y in found.items())
            found = {j: y * whole / length for j, y in found.items()}
        with suppress(OverflowError):
            scaled = {j: y / power_of_two(self._column(j)[0]) for j, y in found.items()}
            w = np.array([float(scaled.get(j, Fraction(0))) for j in S])
        return ExactOptimum(value, redundant, w)

    def value(self, w: np.ndarray) -> Fraction:
        """Return F at the floats w (d,)."""
        S, whole = map(int, np.flatnonzero(w)), self._totals[0] * self._totals[1]
        z = {j: Fraction(w[j]) * power_of_two(self._column(j)[0]) / whole for j in S}
        spread = sum(x * sum(y * self._sigma(i, j) for j, y in z.items()) for i, x in z.items())
        line = sum((x * self._delta(j) for j, x in z.items()), Fraction(0))
        return spread + (1 - line) ** 2

    def _solve(self, basis: list[int], right: list[int]) -> list[Fraction]:
        """Return Sigma_int^-1 right on independent features."""
        s, (rows, *_) = len(basis), self._eliminate(basis, right)
        x = [Fraction(0)] * s
        for a in range(s - 1, -1, -1):
            rest = rows[a][s] - sum(rows[a][b] * x[b] for b in range(a + 1, s))
            x[a] = Fraction(rest) / rows[a][a]
        return x

    def _eliminate(self, S: list[int], right: list[int]) -> tuple[Any, list[int], int, int | None]:
        """Eliminate Sigma_int with a border, without fractions (Bareiss). Return the rows, the
        pivots' places, the last pivot, and the first place where the border is out of range."""
        rows = [[*(self._sigma(i, j) for j in S), x] for i, x in zip(S, right, strict=True)]
        rows.append([*right, 0])
        s, last, kept = len(S), 1, []
        for p in range(s):
            pivot = rows[p][p]
            if pivot == 0:  # then the rest of the row is zero, as the matrix is semidefinite
                if rows[p][s] != 0:
                    return rows, kept, last, p
                continue
            for i in range(p + 1, s + 1):
                factor = rows[i][p]
                for j in range(i, s + 1):
                    rows[i][j] = (pivot * rows[i][j] - factor * rows[p][j]) // last
                    rows[j][i] = rows[i][j]
            last = pivot
            kept.append(p)
        return rows, kept, last, None

    def _column(self, j: int) -> tuple:
        """Return the power of two of a column, and of each class x, a x and the sum of a x."""
        if j not in self._columns:
            values = self._X[:, j] if self._csc is None else self._csc[:, [j]].toarray().ravel()
            x, power = whole_numbers_of(np.asarray(values, dtype=float))
            x = x - x[0]  # pairs do not see the shift, and it makes the numbers shorter
            if self.lam:  # the penalty must be a whole number in these units, too
                top, bottom = self.lam.numerator, self.lam.denominator  # its powers of two
                twos = (top & -top).bit_length() - bottom.bit_length()
                finer = max(0, -((twos - 2 * power) // 2))
                x, power = x * (1 << finer), power - finer
            sides = [x[side] for side in self._sides]
            weighted = [a * y for a, y in zip(self._weights, sides, strict=True)]
            self._columns[j] = (power, sides, weighted, [int(y.sum()) for y in weighted])
        return self._columns[j]

    def _delta(self, j: int) -> int:
        plus, minus = self._column(j)[3]
        return self._totals[1] * plus - self._totals[0] * minus

    def _sigma(self, i: int, j: int) -> int:
        i, j = min(i, j), max(i, j)
        if (i, j) not in self._entries:
            power, _, weighted, first = self._column(i)
            _, sides, _, second = self._column(j)
            A, total = self._totals, 0
            for c in range(2):
                square = int(np.dot(weighted[c], sides[c])) if sides[c].size else 0
                total += A[1 - c] ** 2 * (A[c] * square - first[c] * second[c])
            if i == j and self.lam:
                total += int(self.lam * (A[0] * A[1]) ** 2 * power_of_two(-2 * power))
            self._entries[i, j] = total
        return self._entries[i, j]
