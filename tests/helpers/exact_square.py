"""The square loss over all pairs in fractions, from the definitions: slow, and nothing rounds."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

Matrix = list[list[Fraction]]


class ExactSquare:
    """Sigma with lam/2 on its diagonal, and delta, of rows and their weights."""

    def __init__(self, X, positive, weight=None, lam: float = 0.0):
        X = np.asarray(X, dtype=float)
        weight = np.ones(len(X)) if weight is None else weight
        self.d = X.shape[1]
        self.sigma = [[Fraction(0)] * self.d for _ in range(self.d)]
        means = []
        for side in (True, False):
            rows = [[Fraction(x) for x in row] for row in X[positive == side].tolist()]
            a = [Fraction(x) for x in weight[positive == side].tolist()]
            total = sum(a)
            mean = [
                sum(w * row[j] for w, row in zip(a, rows, strict=True)) / total
                for j in range(self.d)
            ]
            means.append(mean)
            for i, j in itertools.product(range(self.d), repeat=2):
                spread = sum(
                    w * (row[i] - mean[i]) * (row[j] - mean[j])
                    for w, row in zip(a, rows, strict=True)
                )
                self.sigma[i][j] += spread / total
        for j in range(self.d):
            self.sigma[j][j] += Fraction(lam) / 2
        self.delta = [means[0][j] - means[1][j] for j in range(self.d)]

    def least(self, S) -> Fraction:
        """F*(S) = 1 / (1 + q_S), by elimination; zero where delta_S is outside the range."""
        rows = [[self.sigma[i][j] for j in S] + [self.delta[i]] for i in S]
        q = Fraction(0)
        while rows:
            row = rows.pop(0)
            pivot, right = row[0], row[-1]
            if pivot == 0:
                if right != 0:
                    return Fraction(0)
                rows = [other[1:] for other in rows]
                continue
            q += right**2 / pivot
            rows = [
                [a - other[0] / pivot * b for a, b in zip(other[1:], row[1:], strict=True)]
                for other in rows
            ]
        return 1 / (1 + q)

    def value(self, w) -> Fraction:
        """F(w), the penalty included."""
        x = [Fraction(value) for value in np.asarray(w).tolist()]
        used = [j for j in range(self.d) if x[j]]
        spread = sum((x[i] * x[j] * self.sigma[i][j] for i in used for j in used), Fraction(0))
        return spread + (1 - sum(a * b for a, b in zip(x, self.delta, strict=True))) ** 2

    def best(self, k: int) -> Fraction:
        """The least F* over all supports of k features."""
        supports = itertools.combinations(range(self.d), min(k, self.d))
        return min(self.least(S) for S in supports)
